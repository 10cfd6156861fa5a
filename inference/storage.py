"""Fits on disk: one netCDF file that opens into a working fit with nothing else."""

import functools
import json
import os
import tempfile
from pathlib import Path

import xarray as xr

from ..datasets import KINDS
from ..errors import InputError
from ..models import law

KEY = "bayescaling"
SCHEMA = 3  # of a fit: 1 held no draws on the real line, 2 named the range of sizes otherwise


def metadata(fit):
    """Say what a fit was: law, priors, data fingerprint, seed, sampler, settings, versions, seconds, diagnostics.

    Raises
    ------
    InputError
        If the tree was not made by `fit`.
    """
    text = getattr(fit, "attrs", {}).get(KEY)
    if text is None:
        raise InputError(f"{place_of(fit)} is no fit of bayescaling; pass what fit() or open_fit() returned")
    return json.loads(text)


def place_of(fit):
    """Where a fit came from, for messages."""
    source = getattr(fit, "encoding", {}).get("source") if isinstance(fit, xr.DataTree) else None
    return source or f"a {type(fit).__name__}"


def with_metadata(fit, record):
    """Attach `record` to a tree as JSON."""
    fit.attrs[KEY] = json.dumps(record)
    return fit


def diagnose(fit):
    """Return the stored diagnostics of a fit: figures, ``ok`` and ``warnings``.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> bs.diagnose(fit)["divergences"]
    0
    """
    return metadata(fit)["diagnostics"]


def law_of(fit, kind=None):
    """Return the law of a fit.

    Parameters
    ----------
    fit : DataTree
    kind : str, optional
        The kind of law that is needed, a key of `datasets.KINDS`.

    Raises
    ------
    InputError
        If the tree is no fit, or its law is of another kind.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> bs.law_of(fit).label
    'chinchilla'
    """
    entry = metadata(fit)["law"]
    found = _law(entry["name"], json.dumps(entry["options"]))
    if kind is not None and found.kind != kind:
        raise InputError(f"{place_of(fit)} is a fit of {found.name}; {NEEDED[kind]}")
    return found


NEEDED = {
    "runs": "sizes and losses of runs need a law such as chinchilla",
    "evaluations": "growth rates need one of progress-1 to progress-20",
    "counts": "lengths need a fit of the law 'lengths'",
}


@functools.lru_cache(maxsize=64)
def _law(name, options):
    """Laws cannot be changed, so that one object serves every fit with the same options."""
    return law(name, **json.loads(options))


def table_of(fit):
    """Return the table that a fit saw, as a DataFrame: every column, as `read` gave it.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> bs.table_of(fit).equals(runs)
    True
    """
    frame = KINDS[law_of(fit).kind].from_dataset(fit["constant_data"].to_dataset())
    frame.attrs = {name: x for name, x in metadata(fit)["data"].items() if name in ("source", "reading")}
    return frame


def draws_of(fit, kind=None):
    """Return the `Draws` of a fit; parameters and errors as for `law_of`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> bs.draws_of(fit).log_likelihood().sizes["run"]
    245
    """
    law = law_of(fit, kind)
    sampled = fit["posterior"].to_dataset().assign(z=fit["unconstrained_posterior"]["z"])
    return law.draws(sampled, table_of(fit), metadata(fit)["law"]["reference"])


def _temporary(path):
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
        os.close(handle)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    if path.is_dir():
        os.unlink(temporary)
        raise InputError(f"{path}: is a folder; name a file")
    return temporary


def check_writable(path):
    """Refuse a path that could not be written, before the work that leads to it.

    Raises
    ------
    InputError
        If the folder does not exist or cannot be written, or the path is a folder.
    """
    os.unlink(_temporary(Path(path)))


def replace(path, write):
    """Call `write` with a temporary name beside `path`, then rename: a file is whole or absent.

    Raises
    ------
    InputError
        If the folder does not exist or cannot be written.
    """
    path = Path(path)
    temporary = _temporary(path)
    try:
        write(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}); choose another place") from None
    finally:
        Path(temporary).unlink(missing_ok=True)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save_fit(fit, path):
    """Write a fit to a netCDF file.

    Parameters
    ----------
    fit : DataTree
        From `fit`.
    path : path-like
        Replaced if it exists.

    Raises
    ------
    InputError
        If `fit` is no fit, or the file cannot be written.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bs.save_fit(fit, f"{folder}/chinchilla.nc")
    ...     bs.law_of(bs.open_fit(f"{folder}/chinchilla.nc")).name
    'chinchilla'
    """
    metadata(fit)
    replace(path, lambda temporary: fit.to_netcdf(temporary, engine="h5netcdf"))


def open_fit(path):
    """Open a fit that `save_fit` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    DataTree
        In memory, as `fit` returned it.

    Raises
    ------
    InputError
        If the file is missing, is no netCDF file, or is no fit of this package, or one of a version that stored
        fits otherwise.

    Examples
    --------
    >>> open_fit("missing.nc")
    Traceback (most recent call last):
        ...
    bayescaling.errors.InputError: missing.nc: there is no such file
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            fit = tree.load()
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: not a netCDF file that can be read ({str(error).splitlines()[0]})") from None
    if KEY not in fit.attrs or "posterior" not in fit.children:
        raise InputError(f"{path}: a netCDF file, but no fit of bayescaling; make one with 'bayescaling fit'")
    record = metadata(fit)
    if record.get("schema") != SCHEMA:
        made = record.get("versions", {}).get("bayescaling", "unknown")
        raise InputError(
            f"{path}: a fit stored in form {record.get('schema')}, by version {made}; this version reads form "
            f"{SCHEMA}: fit the table again"
        )
    return fit

"""Fits on disk: one netCDF file that opens into a working fit with nothing else."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from .. import sealed
from ..datasets import KINDS, sha256
from ..datasets.wording import printable, quoted, shortened
from ..errors import InputError
from ..models import law

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

    from ..models.draws import Draws
    from ..models.law import Law

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


def diagnose(fit: xr.DataTree) -> dict[str, Any]:
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


def law_of(fit: xr.DataTree, kind: str | None = None) -> Law:
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
    "scores": "capabilities need a fit of the law 'scores'",
}


@functools.lru_cache(maxsize=64)
def _law(name, options):
    """Laws cannot be changed, so that one object serves every fit with the same options."""
    return law(name, **json.loads(options))


def table_of(fit: xr.DataTree) -> pd.DataFrame:
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


def draws_of(fit: xr.DataTree, kind: str | None = None) -> Draws:
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


def save_fit(fit: xr.DataTree, path: str | PathLike[str]) -> None:
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
    sealed.write(fit, path)


def open_fit(path: str | PathLike[str]) -> xr.DataTree:
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
        If the file is missing or damaged, is no netCDF file, or is no fit of this package, or one of a version that
        stored fits otherwise.

    Examples
    --------
    >>> open_fit("missing.nc")
    Traceback (most recent call last):
        ...
    bayescaling.errors.InputError: missing.nc: there is no such file
    """
    from . import records

    fit, place = sealed.read(path, xr.open_datatree), printable(path)
    if KEY not in fit.attrs or "posterior" not in fit.children:
        raise InputError(f"{place}: a netCDF file, but no fit of bayescaling; make one with 'bayescaling fit'")
    record = records.parsed(fit.attrs[KEY], path)
    if record.get("schema") != SCHEMA:
        versions = record.get("versions")
        made = versions.get("bayescaling", "unknown") if isinstance(versions, dict) else "unknown"
        raise InputError(
            f"{place}: a fit stored in form {shortened(record.get('schema'))}, by version {shortened(made)}; this "
            f"version reads form {SCHEMA}: fit the table again"
        )
    records.check(record, records.FitRecord, path)
    try:
        _check_whole(fit, record)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    # Other entries of the record and attributes of the variables say what is computed, so anything may be raised.
    except Exception as error:
        raise InputError(f"{place}: a fit that cannot be used ({sealed.reason(error)}); fit the table again") from None
    return fit


def _check_whole(fit, record):
    """Check that a fit has its table and all that one draw of it needs."""
    law, table = law_of(fit), table_of(fit)
    if sha256(table) != record["data"]["sha256"]:
        raise InputError("its table is not the one that was fitted (the SHA-256 is another); fit the table again")
    expected = json.loads(json.dumps(law.reference(law.rows(table))))
    if _shape(record["law"]["reference"]) != _shape(expected):
        raise InputError("what its quantities refer to is not what its law needs; fit the table again")
    posterior, first = fit["posterior"].to_dataset(), {"chain": [0], "draw": [0]}
    if "log_likelihood" in fit.children:
        density = fit["log_likelihood"][law.scale]
        if any(density.sizes[name] != posterior.sizes[name] for name in first):
            raise InputError("its posterior and its densities are of other numbers of draws; fit the table again")
    for group in ("importance_sampling", "leave_one_out"):
        if group in fit.children and law.unit_is_row and fit[group].sizes.get(law.unit) != len(table):
            raise InputError(f"its group {quoted(group)} is not of the rows of its table; fit the table again")
    one = posterior.assign(z=fit["unconstrained_posterior"]["z"]).isel(first)
    for name, values in law.draws(one, table, record["law"]["reference"]).named().items():
        if posterior[name].dims != values.dims or posterior[name].dtype.kind not in "fiub":
            raise InputError(f"its quantity {quoted(name)} is of another form; fit the table again")
        if not np.allclose(values, posterior[name].isel(first), rtol=1e-6, atol=0, equal_nan=True):
            raise InputError(f"its quantity {quoted(name)} is not what its law makes of its draws; fit the table again")


def _shape(reference):
    """Names and sorts of the entries of a reference."""
    return {name: "number" if isinstance(x, int | float) else type(x).__name__ for name, x in reference.items()}

"""Fits in other forms: opened from the netCDF file that they were saved to, and as what ArviZ takes."""

from __future__ import annotations

from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ..datasets import netcdf, sha256
from ..datasets.wording import command, printable, quoted, reason, shortened
from ..errors import InputError
from ..models.backend import pymc
from .fitted import KEY, Fit, recomputed
from .record import SCHEMA


def open(path: str | PathLike[str]) -> Fit:
    """Open a fit that `Fit.save` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Fit
        In memory, as `fit` returned it.

    Raises
    ------
    InputError
        If the file is missing or damaged, is no netCDF file, or is no fit of this package, or one of a version that
        stored fits otherwise.

    Examples
    --------
    >>> import bayescaling as bs
    >>> bs.open("missing.nc")
    Traceback (most recent call last):
        ...
    bayescaling.errors.InputError: missing.nc: there is no such file
    """
    place = printable(path)
    try:
        tree = netcdf.read(path, xr.open_datatree)
    except InputError as error:
        raise _explain_table(path, error) from None
    if KEY not in tree.attrs or "posterior" not in tree.children:
        raise InputError(f"{place}: a netCDF file, but no fit of bayescaling; make one with 'bayescaling fit'")
    try:
        fit = Fit(tree)
        form, version = fit.record["schema"], fit.record["versions"]["bayescaling"]
        if form == SCHEMA:
            _check_whole(fit)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    # What is computed depends on entries of the record: anything may be raised.
    except Exception as error:
        raise InputError(f"{place}: a fit that cannot be used ({reason(error)}); fit the table again") from None
    if form != SCHEMA:
        raise InputError(
            f"{place}: a fit stored in form {shortened(form)}, by version {shortened(version)}; this version reads "
            f"form {SCHEMA}: fit the table again"
        )
    posterior = fit["posterior"].to_dataset()
    if single := [name for name, x in posterior.data_vars.items() if x.dtype == np.float32]:
        quantities = recomputed(fit, posterior)
        tree["posterior"] = xr.DataTree(posterior.assign({name: quantities[name] for name in single}))
        return Fit(tree)
    return fit


def _explain_table(path, error):
    """Return the error of a file that is no fit, with the command that makes one where it is a table."""
    from ..datasets.formats import open_table

    if Path(path).suffix == ".nc":
        return error
    try:
        open_table(path)
    except InputError:
        return error
    way = command("fit", "--data", path, "--out", Path(path).with_suffix(".nc"))
    sentence = f"{printable(path)}: this is a table, and a fit of it is needed"
    error = InputError(f"{sentence}: {way}", sentence)
    error.commands[""] = way
    return error


def to_inferencedata(fit: Fit) -> Any:
    """Return what the functions of the installed ArviZ take: the groups of ``fit.tree``.

    ArviZ below 1, which Python 3.11 has, takes no DataTree. arviz-plots and arviz-stats take ``fit.tree`` itself.

    Returns
    -------
    arviz.InferenceData or DataTree
        InferenceData below ArviZ 1, and ``fit.tree`` from ArviZ 1 on.

    Examples
    --------
    >>> import arviz as az
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> summary = az.summary(fit.to_inferencedata(), var_names=["alpha", "beta"])
    >>> list(summary.index)
    ['alpha', 'beta']
    """
    pymc()  # imports ArviZ without its announcement
    import arviz

    if not version("arviz").startswith("0."):
        return fit.tree
    return arviz.InferenceData(**{name: group.to_dataset() for name, group in fit.tree.children.items()})


def _check_whole(fit):
    """Check that a fit has the table that was fitted, and that its law still makes its quantities of its draws."""
    if sha256(fit.rows) != fit.record["data"]["sha256"]:
        raise InputError("its table is not the one that was fitted (the SHA-256 is another); fit the table again")
    posterior, first = fit["posterior"].to_dataset(), {"chain": [0], "draw": [0]}
    # Of the coordinates alone: the file may hold quantities in single precision.
    quantities = recomputed(fit, posterior.isel(first), fit["unconstrained_posterior"]["z"].isel(first))
    for name, values in quantities.items():
        if not np.allclose(values, posterior[name].isel(first), rtol=1e-6, atol=0, equal_nan=True):
            raise InputError(f"its quantity {quoted(name)} is not what its law makes of its draws; fit the table again")

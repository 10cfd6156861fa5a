"""A fit: a law, the rows that it was fitted to, its draws and its record, each made once."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ..datasets import KINDS, netcdf
from ..datasets.printed import Printed
from ..datasets.wording import quoted
from ..errors import InputError
from ..models import law as named_law
from ..models.draws import Draws
from ..models.law import Law
from . import densities
from .kinds import find_record
from .methods import Methods
from .workers import one_thread

KEY = "bayescaling"  # attribute of the tree that holds the record
FITTER = "fitter"
LEFT_OUT = "leave_one_out"
LOG_WEIGHTS = "log_weights"
ANSWERS = "answers"
FORMS = "rival_forms"
SUGGESTION = "suggestion"
VERDICT = "verdict"
WEIGHTED = "importance_sampling"
HEAVY = (LOG_WEIGHTS, "exchangeable", FITTER)  # results that are as large as the log densities, or compiled
NOTED = (VERDICT, SUGGESTION, FORMS, ANSWERS)  # results in plain values, which a file holds next to the record
SAVED = (WEIGHTED, LEFT_OUT)  # results that a file of a fit holds as groups
PRIOR = "log_prior"
PACKED = 100_000  # values, beyond which a variable of a file is compressed


def _single(values):
    """Return whether single precision holds values, to its rounding."""
    with np.errstate(over="ignore", under="ignore"):
        return values.dtype == np.float64 and np.allclose(
            values.astype("f4"), values, rtol=1e-6, atol=0, equal_nan=True
        )


@functools.lru_cache(maxsize=64)
def _law(name, options):
    """Make a law; laws cannot be changed, so that one object serves every fit with the same options."""
    return named_law(name, **json.loads(options))


class Fit(Methods, Printed):
    """A law fitted to a table.

    `fit` and `open` return it. Densities follow from the draws and the rows: they are evaluated when they are first
    needed, and a file or another process evaluates them again.

    Parameters
    ----------
    tree : DataTree
        With the groups that `fit` describes.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> fit.law.label, len(fit.rows), fit.diagnostics["divergences"]
    ('chinchilla', 245, 0)
    """

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree = tree
        self._results: dict[str, Any] = {name: tree[name].to_dataset() for name in SAVED if name in tree.children}
        record = json.loads(tree.attrs[KEY])
        self._results |= {name: record.pop(name) for name in NOTED if name in record}
        self._record: dict[str, Any] = record

    def __getstate__(self):
        """Leave out what follows from the rest, and what another process makes for itself."""
        cached = {
            name for name, attribute in vars(type(self)).items() if isinstance(attribute, functools.cached_property)
        }
        state = {n: x for n, x in vars(self).items() if n not in cached}
        return state | {"_results": light_results(self), "_tree": self._stored({})}

    def __getitem__(self, group: str) -> xr.DataTree:
        """Return a group of the tree."""
        if group in self._following and group not in self._tree.children:
            draws, seed = self.draws, self.record["seed"]
            density = draws.log_prior() if group == PRIOR else densities.evaluated(draws, seed)[0]
            self._tree[group] = xr.DataTree(density)
        return self._tree[group]

    def __contains__(self, group: str) -> bool:
        """Return whether the tree has a group."""
        return group in self._tree.children or group in self._following

    @property
    def tree(self) -> xr.DataTree:
        """What ArviZ takes: ``posterior``, ``sample_stats``, ``log_likelihood``, ``observed_data`` and others.

        ``fit["posterior"]`` is a group of it. ArviZ below version 1 takes `to_inferencedata` instead.
        """
        for group in self._following:
            self[group]
        return self._tree

    @property
    def _following(self):
        """Return names of the groups that follow from others."""
        evaluated = self.record.get(densities.GROUP) == densities.MADE
        return (densities.GROUP, PRIOR) if evaluated else (PRIOR,)

    def _encoding(self):
        """Return how a file holds the draws: in single precision where `open` restores the same numbers."""
        posterior = self["posterior"].to_dataset()
        quantities = recomputed(self, posterior.astype("float32"))
        exact = {name for name, x in posterior.data_vars.items() if np.array_equal(quantities[name], x, equal_nan=True)}
        encoding = {"/posterior": {}, "/unconstrained_posterior": {}, "/constant_data": {}}
        for group in encoding:
            for name, x in self[group[1:]].data_vars.items():
                encoding[group][name] = {"zlib": True, "complevel": 1, "shuffle": True} if x.size > PACKED else {}
                if group == "/posterior" and name in exact and _single(x.values):
                    encoding[group][name]["dtype"] = "float32"
        return encoding

    def _stored(self, more):
        """Return a tree of the groups that do not follow from others, and of more."""
        nodes = {name: node for name, node in self._tree.children.items() if name not in self._following}
        tree = xr.DataTree.from_dict({name: node.to_dataset() for name, node in nodes.items()} | more)
        tree.attrs, tree.encoding = dict(self._tree.attrs), dict(self._tree.encoding)
        return tree

    # What it was made of ----------------------------------------------------------------------------------------------

    @property
    def record(self) -> dict[str, Any]:
        """What the fit was: law, priors, fingerprint of the table, seed, sampler, settings, versions, diagnostics."""
        return self._record

    @functools.cached_property
    def law(self) -> Law:
        """The law, with its options and priors."""
        entry = self.record["law"]
        return _law(entry["name"], json.dumps(entry["options"]))

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """The rows that were fitted, with every column of the table as it was read."""
        table = KINDS[self.law.kind].from_dataset(self["constant_data"].to_dataset())
        table.attrs = {name: x for name, x in self.record["data"].items() if name in ("source", "reading")}
        return table

    @functools.cached_property
    def draws(self) -> Draws:
        """The draws of the posterior, which evaluate the law at rows."""
        sampled = self["posterior"].to_dataset().assign(z=self["unconstrained_posterior"]["z"])
        return self.law.draws(sampled, self.rows, self.record["law"]["reference"])

    @property
    def diagnostics(self) -> dict[str, Any]:
        """Diagnostics of the chains: figures, ``ok`` and ``warnings``."""
        return self.record["diagnostics"]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fit to a netCDF file, with its check, its answers and the refits that were made; `open` opens it.

        The pointwise log likelihood is in the file if `fit` was called with ``log_likelihood=True``. Otherwise `open`
        evaluates it again from the draws and the rows, as it does the log prior.

        Parameters
        ----------
        path : path-like
            Replaced if it exists.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        results = self._results
        groups = {name: results[name] for name in SAVED if name in results and name not in self}
        tree = self._stored(groups)
        checks = {name: results[name] for name in NOTED if name in results}
        tree.attrs |= {KEY: json.dumps(self.record | checks)}
        netcdf.write(tree, path, encoding=self._encoding())


def new_fit(groups: dict[str, xr.Dataset], record: dict[str, Any]) -> Fit:
    """Make a fit of the groups of its tree and its record."""
    tree = xr.DataTree.from_dict(groups)
    tree.attrs[KEY] = json.dumps(record)
    return Fit(tree)


def changed_fit(fit: Fit, groups: dict[str, xr.Dataset], record: dict[str, Any]) -> Fit:
    """Return a fit with other groups and another record, of the results of this one with its fitter alone."""
    present = {name: node.to_dataset() for name, node in fit._stored({}).children.items()}
    other = new_fit(present | groups, record)
    other._results |= {name: x for name, x in fit._results.items() if name == FITTER}
    return other


def recomputed(fit: Fit, posterior: xr.Dataset, z: xr.DataArray | None = None) -> dict[str, xr.DataArray]:
    """Return named quantities as the coordinates of the draws make them, given a rounded posterior."""
    z = fit["unconstrained_posterior"]["z"] if z is None else z
    draws = fit.law.draws(posterior.assign(z=z), fit.rows, fit.record["law"]["reference"])
    quantities = draws.from_real_line(z).named()
    return {name: quantities[name].transpose(*x.dims) for name, x in posterior.data_vars.items()}


def results_of(fit: Fit) -> dict[str, Any]:
    """Return the results of methods by name, each computed once; `Fit.save` writes those that took long."""
    return fit._results


def light_results(fit: Fit) -> dict[str, Any]:
    """Return the results that another process takes, which are small."""
    return {name: x for name, x in fit._results.items() if name not in HEAVY}


def once(fit: Fit, name: str, make: Callable[[], Any]) -> Any:
    """Return a result by name, computed by `make` the first time."""
    if name not in fit._results:
        with one_thread():
            fit._results[name] = make()
    return fit._results[name]


def name_fits(fits: Any) -> dict[str, Any]:
    """Return one or several fits by name, a dict; one without a name is called by the label of its law."""
    if isinstance(fits, Mapping):
        return {str(name): of_kind(fit) for name, fit in fits.items()}
    several = [of_kind(fit) for fit in (fits if isinstance(fits, Iterable) and not isinstance(fits, str) else [fits])]
    names = [fit.law.label for fit in several]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two fits are called {quoted(twice)}; pass a dict that gives each another name")
    return dict(zip(names, several, strict=True))


def place_of(fit: Fit) -> str:
    """Return where a fit came from, for messages."""
    return fit._tree.encoding.get("source") or f"a {type(fit).__name__}"


def table_named(fit: Fit) -> str:
    """Return how many rows of which table were fitted, in words."""
    return f"{len(fit.rows):,} rows of {fit.record['data']['source']}"


def of_kind(fit, kind=None):
    """Return a fit, refusing what is none or of a law of another kind of table than one of `datasets.KINDS`."""
    law = getattr(fit, "law", None)
    if law is None:
        raise InputError(f"a {type(fit).__name__} is no fit of bayescaling; pass what fit() or open() returned")
    if kind is not None and KINDS[law.kind] is not kind:
        raise InputError(f"{place_of(fit)} is a fit of {law.name}; {find_record(kind.name).needed}{command_of(fit)}")
    return fit


def command_of(fit):
    """Return the first command that may follow a fit, for a message that refuses another."""
    place = fit._tree.encoding.get("source", "FILE.nc")
    return f"; of this fit: {find_record(fit.law.kind).next_commands(fit, place)[0]}"


def record_of(fit):
    """Return what answers need of the kind of table that a fit is of, refusing what is no fit."""
    return find_record(of_kind(fit).law.kind)

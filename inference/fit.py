"""A fit: a law, the rows that it was fitted to, its draws and its record, each made once."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from ..datasets import KINDS, netcdf
from ..models import law as named_law
from . import densities
from . import summary as summaries
from .checks.check import KEY as VERDICT
from .checks.check import Check, checked
from .checks.law_tests import law_tests
from .checks.sandwich import robust, robust_sd
from .checks.wider_laws import wider_laws
from .comparison.groups import loo_by_group
from .comparison.importance import STORED as WEIGHTED
from .comparison.importance import WEIGHTS
from .comparison.loo import loo
from .comparison.refits import STORED as LEFT_OUT
from .estimands.allocate import allocate
from .estimands.predict import predict
from .estimands.predict_group import predict_group
from .estimands.study_exponents import study_exponents
from .estimands.tuning import tuning
from .printed import Printed, Text
from .workers import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    import pandas as pd

    from ..models.draws import Draws
    from ..models.law import Law
    from .fitter import Fitter

KEY = "bayescaling"  # attribute of the tree that holds the record
HEAVY = (WEIGHTS, "exchangeable")  # results that are as large as the log densities
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


class Fit(Printed):
    """A law fitted to a table.

    `fit` and `open` return it. Densities follow from the draws and the rows: they are evaluated when they are first
    needed, and a file or another process evaluates them again.

    Parameters
    ----------
    tree : DataTree
        With the groups that `fit` describes.
    make_fitter : callable
        Makes the `Fitter` of this fit's law and rows where a method fits again.
    fitter : Fitter, optional
        The one that made it.

    Attributes
    ----------
    computed : dict of str
        Results of methods, each computed once; `save` writes those that took long.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> fit.law.label, len(fit.rows), fit.diagnostics["divergences"]
    ('chinchilla', 245, 0)
    """

    def __init__(self, tree: xr.DataTree, make_fitter: Callable[[Fit], Fitter], fitter: Fitter | None = None) -> None:
        self._tree = tree
        self.computed: dict[str, Any] = {}
        self._make_fitter, self._fitter = make_fitter, fitter
        self.computed |= {name: tree[name].to_dataset() for name in SAVED if name in tree.children}
        self.computed |= {VERDICT: Check(self.record[VERDICT])} if VERDICT in self.record else {}

    @classmethod
    def of(
        cls,
        groups: dict[str, xr.Dataset],
        record: dict[str, Any],
        make_fitter: Callable[[Fit], Fitter],
        fitter: Fitter | None = None,
    ) -> Fit:
        """Make a fit of the groups of its tree and its record."""
        tree = xr.DataTree.from_dict(groups)
        tree.attrs[KEY] = json.dumps(record)
        return cls(tree, make_fitter, fitter)

    def __getstate__(self):
        """Leave out what follows from the rest, and the fitter, which another process makes for itself."""
        cached = {
            name for name, attribute in vars(type(self)).items() if isinstance(attribute, functools.cached_property)
        }
        state = {n: x for n, x in vars(self).items() if n not in cached}
        return state | {"_fitter": None, "computed": self.light, "_tree": self._stored({})}

    def __getitem__(self, group: str) -> xr.DataTree:
        """Return a group of the tree."""
        if group in self._following and group not in self._tree.children:
            self._tree[group] = xr.DataTree(self._density(group))
        return self._tree[group]

    def __contains__(self, group: str) -> bool:
        """Return whether the tree has a group."""
        return group in self._tree.children or group in self._following

    @property
    def tree(self) -> xr.DataTree:
        """What ArviZ takes: ``posterior``, ``sample_stats``, ``log_likelihood``, ``observed_data`` and others.

        ``fit["posterior"]`` is a group of it.
        """
        for group in self._following:
            self[group]
        return self._tree

    @property
    def _following(self):
        """Return names of the groups that follow from others."""
        evaluated = self.record.get(densities.GROUP) == densities.MADE
        return (densities.GROUP, PRIOR) if evaluated else (PRIOR,)

    def _density(self, group):
        """Evaluate a group that follows from others."""
        if group == PRIOR:
            return self.draws.log_prior()
        return densities.evaluated(self.draws, self.record["seed"])[0]

    def recomputed(self, posterior: xr.Dataset) -> dict[str, xr.DataArray]:
        """Return named quantities as the coordinates of the draws make them, given a rounded posterior."""
        z = self["unconstrained_posterior"]["z"]
        quantities = self.law.draws(posterior.assign(z=z), self.rows, self.reference).from_real_line(z).named()
        return {name: quantities[name].transpose(*x.dims) for name, x in posterior.data_vars.items()}

    def _encoding(self):
        """Return how a file holds the draws: in single precision where `open` restores the same numbers."""
        posterior = self["posterior"].to_dataset()
        quantities = self.recomputed(posterior.astype("float32"))
        exact = {name for name, x in posterior.data_vars.items() if np.array_equal(quantities[name], x, equal_nan=True)}
        encoding = {"/posterior": {}, "/unconstrained_posterior": {}}
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

    @functools.cached_property
    def record(self) -> dict[str, Any]:
        """What the fit was: law, priors, fingerprint of the table, seed, sampler, settings, versions, diagnostics."""
        return json.loads(self._tree.attrs[KEY])

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

    @property
    def reference(self) -> dict[str, Any]:
        """What the sampled quantities refer to, such as the geometric means of sizes."""
        return self.record["law"]["reference"]

    @functools.cached_property
    def draws(self) -> Draws:
        """The draws of the posterior, which evaluate the law at rows."""
        sampled = self["posterior"].to_dataset().assign(z=self["unconstrained_posterior"]["z"])
        return self.law.draws(sampled, self.rows, self.reference)

    @property
    def diagnostics(self) -> dict[str, Any]:
        """Diagnostics of the chains: figures, ``ok`` and ``warnings``."""
        return self.record["diagnostics"]

    @property
    def table_named(self) -> str:
        """How many rows of which table were fitted, in words."""
        return f"{len(self.rows):,} rows of {self.record['data']['source']}"

    @property
    def place(self) -> str:
        """Where the fit came from, for messages."""
        return self._tree.encoding.get("source") or f"a {type(self).__name__}"

    @property
    def fitter(self) -> Fitter:
        """The `Fitter` of the law and its rows."""
        if self._fitter is None:
            self._fitter = self._make_fitter(self)
        return self._fitter

    @property
    def light(self) -> dict[str, Any]:
        """The results of `computed` but for those that are as large as the log densities."""
        return {name: x for name, x in self.computed.items() if name not in HEAVY}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a result by name, computed by `make` the first time."""
        if name not in self.computed:
            with one_thread():
                self.computed[name] = make()
        return self.computed[name]

    def changed(self, groups: dict[str, xr.Dataset], record: dict[str, Any]) -> Fit:
        """Return a fit with other groups and another record, and without the results of this one."""
        present = {name: node.to_dataset() for name, node in self._stored({}).children.items()}
        return Fit.of(present | groups, record, self._make_fitter, self._fitter)

    # Results ----------------------------------------------------------------------------------------------------------

    def check(self) -> Check:
        """Check the law of a fit by its rows: whether it fits, how large its misfit is, and what its prior decides.

        A law fits where none of its tests has a p below 0.01. Where one has, the size of the largest misfit decides:
        from the law's ``tolerance`` on, it does not fit; below that it is ``"off"`` by a known size. The tolerance is
        1% of the loss for runs. It is 5% for evaluations, and 0.05 for counts and scores. These lines are our choice.

        Returns
        -------
        Check
            A dict that prints its sentence and its tests; ``.table()`` returns these. ``verdict`` is ``"fits"``,
            ``"off"`` or ``"does not fit"``, and ``p`` the least of the tests. ``size`` is the largest of the tests that
            reject, a mean over rows as in `law_tests`, None where none has one. ``share_of`` is what it is a share of,
            and ``rejected_by`` has names of tests. ``tests``, by name, are those of `law_tests`, with ``worst_size``
            and ``worst_where``. Where the table allows it, they include the exponent of the optimal size, by iso-FLOP
            parabolas and by the frontier. It is compared with the same estimates of tables drawn from the law.
            ``prior_driven`` has the quantities whose posterior is no more than a fifth narrower than their prior, with
            the ratio of widths.

        Examples
        --------
        >>> import bayescaling as bs
        >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
        >>> fit.check()["verdict"]
        'off'
        """
        return self.once(VERDICT, lambda: checked(self))

    summary = one_thread()(summaries.summary)

    def loo(self, by: str | None = None, *, seed: int = 1, progress: bool = False, **options: Any) -> Any:
        """Estimate the expected log predictive density by leave-one-out, or by leave-one-group-out.

        Importance sampling, and refits bridged to the draws of the fit where the Pareto k is above 0.7. What is left
        out is a run, an evaluation, a score or, of a law of counts, all counts of a run.

        Parameters
        ----------
        by : str, optional
            Column whose rows of one value are left out together, such as ``"parameters"``; single units by default.
        seed : int
            Of refits.
        progress : bool
            Name what runs on standard error, with a bar for refits and for large tables.
        **options
            ``high_k`` is what to do where the Pareto k is above 0.7: ``"refit"``, ``"none"`` or, of single units,
            ``"moment_matching"``. ``most`` limits how many groups are refitted, those of the highest values of the
            column. Other options are settings of refits, 4 x (500 + 500) by default.

        Returns
        -------
        arviz_stats.ELPDData, or DataFrame by group
            ``elpd``, ``se``, ``p`` and, pointwise, ``elpd_i`` and ``pareto_k``, on the scale of the fit's residuals. By
            group in order of the column's values ``elpd``, the log density of its rows together, ``pareto_k``,
            ``refitted`` and, of refits, ``elpd_se`` and ``overlap``.

        Raises
        ------
        InputError
            If an option is unknown, the table lacks the column or a row has no value in it.

        Warns
        -----
        DiagnosticWarning
            If a Pareto k above 0.7 remains, or draws of a refit diverged.

        Examples
        --------
        >>> import bayescaling as bs
        >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
        >>> bool(fit.loo().elpd > 840), bool(fit.loo(by="parameters")["elpd"].sum() < fit.loo().elpd)
        (True, True)
        """
        options = {name: x for name, x in options.items() if x is not None} | {"seed": seed}
        name = f"loo {by} {json.dumps(options, sort_keys=True, default=str)}"
        if by is not None:
            return self.once(name, lambda: loo_by_group(self, by, **options))
        return self.once(name, lambda: loo(self, progress=progress, **options))

    law_tests = one_thread()(law_tests)
    robust = one_thread()(robust)
    robust_sd = one_thread()(robust_sd)
    wider_laws = one_thread()(wider_laws)
    predict = one_thread()(predict)
    predict_group = one_thread()(predict_group)
    allocate = one_thread()(allocate)
    study_exponents = one_thread()(study_exponents)
    tuning = one_thread()(tuning)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fit to a netCDF file, with the check and the refits that were made; `open` opens it.

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
        groups = {name: self.computed[name] for name in SAVED if name in self.computed and name not in self}
        tree = self._stored(groups)
        checks = {VERDICT: self.computed[VERDICT]} if VERDICT in self.computed else {}
        tree.attrs |= {KEY: json.dumps(self.record | checks)}
        netcdf.write(tree, path, encoding=self._encoding())

    def text(self) -> Text:
        """Return what the fit prints."""
        return summaries.brief(self)

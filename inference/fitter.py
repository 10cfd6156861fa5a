"""Fit laws to tables: each law is compiled once, and sampled as often as rows and observations change."""

from __future__ import annotations

import functools
import json
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ..datasets import KINDS
from ..datasets.progress_messages import announced, counted, lasting, say
from ..datasets.reader import TableSource, as_table
from ..errors import InputError
from ..models.draws import Draws
from ..models.law import Law
from ..models.laws import as_law
from . import densities
from .adaptive import sample_enough
from .checks import chains
from .cut import fit_cut
from .fitted import FITTER, Fit, new_fit, once, results_of
from .record import record
from .samplers.choose import choose, compiled
from .settings import Settings, seed_of, settings_of
from .workers import mapped, one_thread

OF_WHITENED = {"target_accept": 0.7, "tune": 200}  # which serve a posterior that is nearly a standard normal
MOST_KEPT = 8
_KEPT = OrderedDict()  # compiled programs of this process, the least recently used first


@dataclass(frozen=True)
class SamplerResult:
    """Draws of one fit, by name in the posterior, with the sampler's statistics.

    The settings are those of the last try, the seconds are of sampling, all tries together, and the diagnostics are
    from `chains.diagnose_chains`.
    """

    draws: Draws
    posterior: xr.Dataset
    sample_stats: xr.Dataset
    settings: Settings
    seconds: float
    diagnostics: dict


class Fitter:
    """A law compiled for one table, to be fitted again to other rows without compiling.

    Parameters
    ----------
    law : Law or str
        A law or its name.
    table : DataFrame, path, str or mapping
        As for `fit`. The table that the sampled quantities refer to, in every refit.
    sampler : {"nutpie", "numpyro", "pymc"}, optional
        nutpie alone reuses its compiled program from one fit to the next.
    reference : dict, optional
        What the sampled quantities refer to, where it is not that of the table, such as that of an earlier fit.

    Raises
    ------
    InputError
        If the table cannot inform the law, or the law is unknown.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fitter = bs.Fitter(bs.laws.Chinchilla(noise="normal"), runs)
    >>> again = fitter.fit(runs.iloc[5:], seed=1, draws=500, tune=500)
    """

    def __init__(
        self,
        law: Law | str,
        table: TableSource,
        *,
        sampler: str | None = None,
        reference: dict[str, Any] | None = None,
    ) -> None:
        self.law = as_law(law)
        self.table = as_table(table, self.law.kind, self.law.needed)
        self.sampler, self._reference = choose(sampler), reference
        self._seen, self._densities, self._compiled = {}, {}, {}
        _, self.rows, self.reference = self.of()

    def __getstate__(self):
        """Leave out what is compiled, which another process compiles for itself."""
        return vars(self) | {"_densities": {}, "_compiled": {}}

    def other(self, law, table=None):
        """Return a fitter of another law, by default on the same table."""
        return Fitter(law, self.table if table is None else table, sampler=self.sampler)

    def of(self, law=None):
        """Return a law, by default this one, the rows of the table for it, and what its quantities refer to."""
        law = self.law if law is None else law
        # What a law is follows from its name and options alone; its rows are taken once.
        key = law.name, json.dumps(law.options)
        if key not in self._seen:
            rows = law.rows(self.table)
            other = self._reference is None or law != self.law
            self._seen[key] = rows, law.reference(rows) if other else self._reference
        return law, *self._seen[key]

    def density(self, law=None, rows=None, **changed):
        """Return the `Density` of a law on rows, by default this one's on all of the table.

        Entries of the reference that are other than those of the table are given by `changed`.
        """
        law, table_rows, reference = self.of(law)
        if rows is not None or changed:
            return law.density(table_rows if rows is None else rows, reference | changed)
        key = law.name, json.dumps(law.options)
        if key not in self._densities:
            self._densities[key] = law.density(table_rows, reference)
        return self._densities[key]

    def compiled(self, law=None, *, progress=False):
        """Return the compiled program that serves a law, by default this one's."""
        (law, rows, reference), density = self.of(law), self.density(law)
        if density.program not in self._compiled:
            law.check_priors(rows, reference)
            say(f"compiling {law.label}", progress)
            self._compiled[density.program] = _compiled(law, rows, reference, density, self.sampler)
        return self._compiled[density.program]

    def draws(self, rows=None, *, law=None, settings=None, seed=1, changed=None):
        """Sample once, with the settings unchanged: `Draws`, the sampler's statistics and the seconds that it took.

        Rows that inform the law are by default all of the table.
        Entries of the reference that are other than those of the table are given by `changed`.
        """
        (law, table_rows, reference), changed = self.of(law), changed or {}
        density = self.density(law, rows, **changed)
        sampled, stats, seconds = self.compiled(law).sample(density, settings or Settings(), seed)
        return law.draws(sampled, table_rows if rows is None else rows, reference | changed), stats, seconds

    @one_thread()
    def sample(self, rows=None, *, law=None, seed=1, progress=False, least_ess=None, **settings):
        """Sample until the law's `Effort` is content, see `sample_enough`: `SamplerResult`.

        Rows and law are as for `draws`, and settings as for `fit`. `least_ess` replaces the least ESS of the law.
        """
        (law, table_rows, reference), density = self.of(law), self.density(law, rows)
        rows, seconds, tries = table_rows if rows is None else rows, [], []
        program, effort = self.compiled(law, progress=progress), law.effort
        if large := program.whitened(density, seed):
            program, density = large
            effort = replace(effort, **OF_WHITENED, careful=(effort.target_accept, *effort.careful))

        def draw(asked, piece):
            tries.append(asked)
            with announced(_trying(law, len(rows), tries, seconds), progress):
                *drawn, took = program.sample(density, asked, _seed_of(seed, piece), progress)
            seconds.append(took)
            return drawn

        def named(sampled):
            draws = law.draws(sampled, rows, reference)
            return draws, draws.named()

        *drawn, asked, diagnostics = sample_enough(draw, named, effort, least_ess=least_ess, **settings)
        return SamplerResult(*drawn, asked, sum(seconds), diagnostics)

    @one_thread()
    def fit(
        self,
        table: pd.DataFrame | None = None,
        *,
        law: Law | None = None,
        seed: int = 1,
        prior_predictive: bool = False,
        posterior_predictive: bool = False,
        log_likelihood: bool | None = None,
        progress: bool = False,
        least_ess: int | None = None,
        **settings: Any,
    ) -> Fit:
        """Fit to a table, by default that of the fitter; see `fit` for the parameters and the result.

        Parameters
        ----------
        table : DataFrame, optional
        law : Law, optional
            Another law of the table, compiled at its first fit; by default the fitter's.
        least_ess : int, optional
            See `sample`.
        """
        law = law or self.law
        make = functools.partial(fit_cut, self) if law.upstream else self.fit_at_point
        settings |= {"prior_predictive": prior_predictive, "posterior_predictive": posterior_predictive}
        settings |= {"log_likelihood": log_likelihood, "progress": progress, "least_ess": least_ess}
        return make(table, law=law, seed=seed_of(seed), **settings)

    def fit_at_point(self, table, *, law, seed, log_likelihood, progress, least_ess, **settings):
        """Fit as `fit` does; quantities from upstream are held at their point estimates."""
        predictive = {name: settings.pop(name) for name in ("prior_predictive", "posterior_predictive")}
        settings_of(settings)
        rows = None if table is None or table is self.table else law.rows(table)
        # A table that no file can hold is refused before hours of sampling, not after.
        stored = KINDS[law.kind].to_dataset(self.of(law)[1] if rows is None else rows)
        if rows is None:
            _refuse_computed(*self.of(law))
        sampled = self.sample(rows, law=law, seed=seed, progress=progress, least_ess=least_ess, **settings)
        draws = sampled.draws
        units = len(draws.rows) if law.unit_is_row else draws.rows[law.unit].nunique()
        storage = densities.held(log_likelihood, law, units, sampled.diagnostics["draws"])
        groups, figures = name_groups(sampled, stored, seed, storage=storage, **predictive)
        diagnosed = chains.with_figures(sampled.diagnostics, figures)
        entry = record(
            law=law,
            reference=sampled.draws.reference,
            rows=sampled.draws.rows,
            seed=seed,
            sampler=self.sampler,
            settings=sampled.settings,
            seconds={"compile": self.compiled(law).seconds, "sample": sampled.seconds},
            diagnostics=diagnosed,
            log_likelihood=storage,
        )
        chains.warn(law, diagnosed)
        fit = new_fit(groups, entry)
        results_of(fit)[FITTER] = self
        return fit

    def fit_each(self, laws, *, progress=False, text="laws", **options):
        """Fit several laws of the table, in parallel where `parallel` allows it: fits by name.

        With `progress` there is a bar, which calls them `text`; other options are as for `fit`.
        """
        fits = mapped(_fitted, (self, options), list(laws.values()))
        return dict(zip(laws, counted(fits, text, progress, total=len(laws)), strict=True))


def _fitted(shared, law):
    fitter, options = shared
    return fitter.fit(law=law, **options)


def name_groups(sampled, stored, seed, *, storage, prior_predictive=False, posterior_predictive=False):
    """Name the groups of a fit as ArviZ names them, and figures of how exact densities are."""
    draws, law = sampled.draws, sampled.draws.law
    kind, rng = KINDS[law.kind], np.random.default_rng(seed)
    numbered = {kind.dimension: np.arange(len(draws.rows))}
    density, figures = None, {}
    if storage == densities.KEPT or not law.unit_is_row:
        density, figures = densities.evaluated(draws, seed)
    observed = law.on_scale(draws.rows[law.observed].to_numpy(float))
    groups = {
        "posterior": sampled.posterior,
        "unconstrained_posterior": draws.real_line().to_dataset(name="z"),
        "sample_stats": sampled.sample_stats,
        **({} if density is None or storage == densities.LEFT_OUT else {densities.GROUP: density}),
        "observed_data": xr.Dataset({law.scale: (kind.dimension, observed)}, numbered),
        "constant_data": stored,
    }
    if posterior_predictive:
        groups["posterior_predictive"] = draws.replicate(rng).to_dataset(name=law.scale).assign_coords(numbered)
    if prior_predictive:
        prior = law.prior_draws(rng, draws.reference, draws.rows, sampled.settings.draws)
        groups["prior"] = prior.named()
        groups["prior_predictive"] = prior.replicate(rng).to_dataset(name=law.scale).assign_coords(numbered)
    return groups, figures


def _refuse_computed(law, rows, reference):
    """Refuse observations that were computed from the law, in which no sampler finds a noise."""
    constants = law.exact_constants(rows, reference)
    if constants is not None:
        listed = ", ".join(f"{name} {value:.6g}" for name, value in constants.items())
        raise InputError(
            f"{rows.attrs.get('source', 'the table')}: the {law.observed} of every row lies on the {law.name} law to "
            f"rounding ({listed}): it was computed, not measured, and there is no noise to estimate; fit measured "
            "values, or add noise to simulate them"
        )


def _trying(law, count, tries, seconds):
    """Return what is sampled and, of another try, why and how long it should take."""
    length = tries[-1]
    text = f"sampling {law.label}: {count:,} rows, {length.chains} chains of {length.tune} + {length.draws} iterations"
    if not seconds:
        return text
    before = tries[-2]
    smaller = length.target_accept != before.target_accept
    why = "smaller steps after divergences" if smaller else "longer for more effective draws"
    expected = seconds[-1] * (length.tune + length.draws) / (before.tune + before.draws)
    return f"{text}, {why}, {'at least' if smaller else 'up to'} {lasting(expected)}"


def _seed_of(seed, piece):
    """Return the seed of a part of the chains; the first part has the seed of the fit."""
    return seed if piece == 0 else int(np.random.SeedSequence([seed, piece]).generate_state(1)[0] >> 1)


def _compiled(law, rows, reference, density, sampler):
    """Compile a law's program, or take the one that this process compiled before for tables that differ by data."""
    if sampler != "nutpie":
        return compiled(law, rows, reference, density, sampler)
    key = density.program
    if key not in _KEPT:
        _KEPT[key] = compiled(law, rows, reference, density, sampler)
    _KEPT.move_to_end(key)
    if len(_KEPT) > MOST_KEPT:
        _KEPT.popitem(last=False)
    return _KEPT[key]


def fitter_of(fit):
    """Return the `Fitter` of the law and rows of a fit: the one that made it, or one that is made the first time."""
    reference = fit.draws.reference if "update" in fit.record else None
    return once(fit, FITTER, lambda: Fitter(fit.law, fit.rows, sampler=fit.record["sampler"], reference=reference))

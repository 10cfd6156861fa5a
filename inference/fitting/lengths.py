"""Fit the law of length generalisation: compiled once, fitted to any counts of the same runs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import gammaln

from ...datasets import counts as count_tables
from ...errors import InputError
from ...models import Lengths
from ...models.lengths import design as lengths_design
from ...models.lengths.integrals import integrated
from ...models.lengths.law import RUN, UNITS
from .. import diagnostics
from ..storage import law_of, metadata, place_of, with_metadata
from .fit import check_options, document, seed_of, settings_of
from .samplers import Compiled, choose

DRAWS = ("chain", "draw")
TARGET_ACCEPT = 0.95
CAREFUL = 0.99
OF_A_CELL = ("length_a", "length_b", "total", "split")


class LengthsFitter:
    """A law of lengths compiled for the runs of one table.

    Parameters
    ----------
    law : Lengths
    counts : DataFrame
        Its runs and conditions hold in every refit.
    sampler : {"nutpie", "numpyro", "pymc"}, optional
        nutpie alone keeps its compiled program from one fit to the next.
    """

    def __init__(self, law, counts, *, sampler=None):
        law.check(counts)
        self.law = law
        self.rows = law.rows(counts)
        self.reference = law.reference(self.rows)
        self.runs = lengths_design.runs_of_counts(self.rows)
        self.sampler = choose(sampler)
        self.compiled = Compiled(law.model(self.rows, self.reference), self.sampler)

    def sample(self, rows, settings, seed, progress=False):
        """Draw from the posterior given some rows; a run that has none is one that nobody has seen.

        Returns
        -------
        State, sample_stats, seconds
        """
        design = self.law.design(rows, self.reference, self.runs)
        sampled, stats, seconds = self.compiled.sample(settings, seed, design, progress)
        return State(self.law, self.reference, rows, self.runs, sampled, design), stats, seconds

    def sample_carefully(self, rows, settings, seed, progress=False):
        """`sample` with a target acceptance of 0.95 and, where that leaves a divergence, once more with 0.99.

        Parameters
        ----------
        settings : dict
            Options of the sampler; a target acceptance among them is kept to.

        Returns
        -------
        State, sample_stats, seconds, Settings
        """
        asked = settings_of({"target_accept": TARGET_ACCEPT} | settings)
        state, stats, seconds = self.sample(rows, asked, seed, progress)
        if stats["diverging"].any() and "target_accept" not in settings:
            asked = replace(asked, target_accept=CAREFUL)
            state, stats, again = self.sample(rows, asked, seed, progress)
            seconds += again
        return state, stats, seconds, asked

    def fit(self, counts=None, *, seed=None, progress=False, **settings):
        """Fit to counts, by default those that it was compiled for; see `fit` for the parameters and the result.

        See `sample_carefully` for the target acceptance.

        Raises
        ------
        InputError
            If the runs are not those of the table that this was compiled for.
        """
        check_options(seed, self.sampler, settings)
        seed = seed_of(seed)
        rows = self.rows if counts is None else self.law.rows(counts)
        if counts is not None and self.law.reference(rows) != self.reference:
            raise InputError(
                f"{rows.attrs.get('source', 'the table')}: the runs and conditions are not those of the table that was "
                "compiled for; make a new LengthsFitter"
            )
        state, stats, seconds, asked = self.sample_carefully(rows, settings, seed, progress)
        posterior = state.posterior()
        verdict = diagnostics.judge(posterior, stats)
        densities, efficiency = integrated(state, seed=seed)
        tree = xr.DataTree.from_dict(
            {
                "posterior": posterior,
                "sample_stats": stats,
                "log_likelihood": densities.to_dataset(name=self.law.scale),
                "observed_data": xr.Dataset({self.law.scale: ("cell", rows["correct"].to_numpy())}),
                "constant_data": _constant_data(rows, self.runs),
            }
        )
        said = document(
            law=self.law,
            reference=self.reference,
            priors={name: str(prior) for name, prior in self.law.prior_of.items()},
            table=rows,
            seed=seed,
            sampler=self.sampler,
            settings=asked,
            seconds={"compile": self.compiled.seconds, "sample": seconds},
            verdict=verdict | {"integration_efficiency_min": efficiency},
        )
        diagnostics.warn(self.law, verdict)
        return with_metadata(tree, said)


class State:
    """Draws under a law of lengths: coefficients, the curves of runs, those of conditions.

    Parameters
    ----------
    law : Lengths
    reference : dict
    rows : DataFrame
        Cells that were fitted.
    runs : DataFrame
        Conditions of the runs, in order of the reference.
    sampled : Dataset
        Coefficients and, where runs differ, ``z``.
    design : dict, optional
        From `Lengths.design`; needed with ``z``.
    curve : dict of str to ndarray, shape (chain, draw, run), optional
        Parameters of the runs, where they are known and ``z`` is not.
    """

    def __init__(self, law, reference, rows, runs, sampled, design=None, curve=None):
        self.law, self.reference, self.rows, self.runs = law, reference, rows, runs
        self.values = {name: x.values for name, x in sampled.data_vars.items()}
        self.sampled = sampled.drop_vars(
            [n for n in (*sampled.data_vars, *sampled.coords) if str(n).partition("_")[0] == UNITS]
        )
        self.curve = law.curve(self.values, design)[0] if curve is None else curve

    @classmethod
    def of(cls, fit):
        """State of a stored fit.

        Raises
        ------
        InputError
            If the fit is of another law.
        """
        law = law_of(fit)
        if not isinstance(law, Lengths):
            raise InputError(f"{place_of(fit)} is a fit of {law.name}; lengths need a fit of the law 'lengths'")
        posterior = fit["posterior"].to_dataset()
        reference = metadata(fit)["law"]["reference"]
        rows = counts_of(fit)
        runs = lengths_design.runs_of_counts(rows).loc[reference["runs"]]
        curve = curve_of(law, posterior, runs, reference)
        own = [f"{part}_{RUN}" for part in law.parts]
        return cls(law, reference, rows, runs, posterior.drop_vars(own, errors="ignore"), curve=curve)

    def posterior(self):
        """Coefficients and, where runs differ, each run's parameters, as a Dataset."""
        if not self.law.seeds:
            return self.sampled
        runs = {RUN: self.reference["runs"]}
        own = {f"{part}_{RUN}": xr.DataArray(x, dims=(*DRAWS, RUN), coords=runs) for part, x in self.curve.items()}
        return self.sampled.assign(own)

    def typical(self, conditions):
        """Parameters of the median run of each condition: dict of (chain, draw, condition)."""
        return self.law.typical(self.values, self.law.matrices(conditions, self.reference))

    def new(self, conditions, rng):
        """Parameters of a new run of each condition, one for each draw: dict of (chain, draw, condition)."""
        curve = self.typical(conditions)
        if not self.law.seeds:
            return curve
        return {p: x + self.values[f"{p}_sd"][..., None] * rng.standard_normal(x.shape) for p, x in curve.items()}

    def log_choose(self):
        """Add up the logs of the binomial coefficients of the counts by run, (run,)."""
        k, m = (self.rows[c].to_numpy(float) for c in ("correct", "total"))
        run = pd.Index(self.reference["runs"]).get_indexer(self.rows["run"])
        return np.bincount(run, gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1), len(self.reference["runs"]))


def curve_of(law, posterior, runs, reference):
    """Parameters of the curves of runs, (chain, draw, run) each, from what `State.posterior` gave."""
    if law.seeds:
        return {part: posterior[f"{part}_{RUN}"].values for part in law.parts}
    values = {name: x.values for name, x in posterior.data_vars.items()}
    return law.typical(values, law.matrices(runs, reference))


def _constant_data(rows, runs):
    of_cells = {name: ("cell", _stored(rows[name])) for name in OF_A_CELL if name in rows}
    of_cells["run_number"] = ("cell", runs.index.get_indexer(rows["run"]))
    of_runs = {name: (RUN, _stored(runs[name])) for name in runs}
    coords = {RUN: runs.index.to_numpy(object), "cell": np.arange(len(rows))}
    return xr.Dataset(of_cells | of_runs, coords)


def _stored(column):
    return column.to_numpy() if column.dtype.kind in "iufb" else column.astype(str).to_numpy(object)


def counts_of(fit):
    """Table of counts that a fit saw, as `read_counts` gave it."""
    data = fit["constant_data"].to_dataset()
    run = data["run_number"].values
    table = pd.DataFrame({"run": data[RUN].values[run].astype(object)})
    for name, x in data.data_vars.items():
        if name != "run_number":
            table[name] = x.values if x.dims == ("cell",) else x.values[run]
    table["correct"] = fit["observed_data"][law_of(fit).scale].values
    if "split" not in table:
        table["split"] = count_tables.split(table)
    table.attrs["source"] = metadata(fit)["data"]["source"]
    return table

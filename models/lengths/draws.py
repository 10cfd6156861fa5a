"""Draws under the law of length generalisation: coefficients, the curves of runs, those of conditions."""

from functools import cached_property

import numpy as np
import pandas as pd

from ...datasets.deferred import special, xr
from ..draws import Draws
from ..member_draws import MemberDraws
from . import design
from .counts import between, cumulative, spread
from .curve import log_likelihood
from .integrals import Points, of_draws, of_run, without_spread


class LengthsDraws(MemberDraws):
    """Draws of the coordinates z of a law of lengths; see `MemberDraws`.

    Where runs of a condition differ, its `units` are the parameters of their curves, (chain, draw, run, part). It has
    the `runs` in order of the reference, with their conditions, and the parameters of their `curve` by name, (chain,
    draw, run).
    """

    blocks = Draws.blocks

    def __init__(self, law, reference, rows, z):
        super().__init__(law, reference, rows, z)
        self.runs, self._own_points = design.runs_of(reference), {}
        of_runs = np.moveaxis(self.units[0], -1, 0) if law.seeds else ()
        self.curve = dict(zip(law.parts, of_runs, strict=True)) if law.seeds else self.typical(self.runs)

    @classmethod
    def at_random(cls, law, reference, rows, values, rng):
        """Return draws from coefficients and spreads, by name; draw runs given them."""
        curve = law.new(values, law.matrices(design.runs_of(reference), reference), rng)
        return cls.of(law, reference, rows, values, [np.stack([*curve.values()], -1)] if law.seeds else [])

    def named(self):
        """Return the coefficients and, where runs differ, each run's parameters."""
        runs, curve = {"run": self.reference["runs"]}, self.curve if self.law.seeds else {}
        return xr.Dataset(self.parameters() | {f"{p}_run": self._array(x, "run", **runs) for p, x in curve.items()})

    # Curves ----------------------------------------------------------------------------------------------------------

    def typical(self, conditions):
        """Return the parameters of the median run of each condition: dict of (chain, draw, condition)."""
        return self.law.typical(self.values, self.law.matrices(conditions, self.reference))

    def new(self, conditions, rng):
        """Return the parameters of a new run of each condition, one for each draw: dict of (chain, draw, condition)."""
        return self.law.new(self.values, self.law.matrices(conditions, self.reference), rng)

    # Densities -------------------------------------------------------------------------------------------------------

    def mean(self, rows=None):
        """Return the mean number of problems right in each cell: dims (chain, draw, cell)."""
        rows = self.rows if rows is None else rows
        right, _, _ = self.law.probabilities(self.curve, rows, self.runs)
        return self._array(right * rows["total"].to_numpy(float), "cell", cell=np.arange(len(rows)))

    def log_choose(self):
        """Return the logarithms of the binomial coefficients of the counts, added up by run, (run,)."""
        k, m = (self.rows[c].to_numpy(float) for c in ("correct", "total"))
        run = pd.Index(self.reference["runs"]).get_indexer(self.rows["run"])
        of_cells = special.gammaln(m + 1) - special.gammaln(k + 1) - special.gammaln(m - k + 1)
        return np.bincount(run, of_cells, len(self.reference["runs"]))

    @cached_property
    def present(self):
        """Return the places in the reference of the runs that have rows: the units that can be left out."""
        names = set(self.rows["run"])
        return [place for place, run in enumerate(self.reference["runs"]) if run in names]

    def log_likelihood(self, rows=None, *, seed=0):
        """Return the log density of each run's counts, the run's parameters integrated out: dims (chain, draw, run).

        The runs are those that have rows, in order of the reference.

        ``attrs["integration_efficiency_min"]`` is that of importance sampling, as a number of points: the tenth
        percentile over draws, of the run where it is least. It is None where runs of a condition do not differ.
        """
        at = self._at(rows)
        names = [self.reference["runs"][run] for run in at.present]
        if self.law.seeds:
            points = Points(at, seed=seed)
            results = [of_run(at, points, run, seed) for run in at.present]
            efficiency = min(effective for _, effective in results)
            densities = [density for density, _ in results]
        else:
            densities, efficiency = [without_spread(at, at, run) for run in at.present], None
        array = self._array(np.stack(densities, -1), "run", run=names).rename(self.law.scale)
        return array.assign_attrs(integration_efficiency_min=efficiency)

    def total_log_likelihood(self, rows=None):
        """Return the log density of all counts given the runs' curves, without binomial coefficients: (chain, draw)."""
        data = self._at(rows).design
        return self._array(log_likelihood(self.curve, data["log_train"], data, self.law.shape))

    def terms(self):
        """Return the log densities of runs, up to a constant, and of counts, by name."""
        densities = {"counts": self.total_log_likelihood().values[..., None] + self.log_choose().sum()}
        if self.law.seeds:
            for part, typical in self.typical(self.runs).items():
                sd = self.values[f"{part}_sd"][..., None]
                densities[part] = -0.5 * ((self.curve[part] - typical) / sd) ** 2 - np.log(sd)
        return densities

    def replicate(self, rng, rows=None):
        """Draw counts of new problems of the same runs: dims (chain, draw, cell)."""
        rows = self.rows if rows is None else rows
        counts = self.law.simulate(self.curve, rows, rng, self.runs)
        return self._array(counts, "cell", cell=np.arange(len(rows))).rename(self.law.scale)

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the place of each count between the probabilities of fewer and of at most it: (chain, draw, cell)."""
        rows = self.rows if rows is None else rows
        below, at = cumulative(
            *self.law.probabilities(self.curve, rows, self.runs), *(rows[c].to_numpy() for c in ("correct", "total"))
        )
        return self._array(between(below, at), "cell", cell=np.arange(len(rows)))

    def relative_scatter(self, rows=None):
        """Return the sd of the share of each cell's problems that are right, an ndarray (chain, draw, cell)."""
        rows = self.rows if rows is None else rows
        return spread(*self.law.probabilities(self.curve, rows, self.runs), rows["total"].to_numpy(float))

    def coordinate_names(self):
        """List the coordinates: coefficients, spreads and the parameters of runs."""
        runs = self.reference["runs"] if self.law.seeds else []
        return [*super().coordinate_names(), *(f"{part}_run[{run}]" for run in runs for part in self.law.parts)]

    # Leaving out -----------------------------------------------------------------------------------------------------

    def _of_models(self, by):
        return False

    def _name(self, i):
        return self.reference["runs"][self.present[i]]

    def without(self, i):
        """Return the cells of all runs but the `i`-th that has rows."""
        return self.rows[self.rows["run"] != self._name(i)].reset_index(drop=True)

    def left_out_mean(self, fitted, i):
        """Return the mean number of problems that run `i` gets right under draws fitted to the others."""
        cells = self.rows[self.rows["run"] == self._name(i)]
        return float(fitted.mean(cells).values.mean((0, 1)).sum())

    def left_out_density(self, fitted, i, *, seed=0):
        """Return the log predictive density of run `i`'s counts under draws fitted to the others, (chain, draw)."""
        run = self.present[i]
        if not self.law.seeds:
            return fitted._array(without_spread(fitted, self, run))
        if seed not in self._own_points:
            self._own_points[seed] = Points(self, seed=seed)
        return fitted._array(of_draws(fitted, self._own_points[seed], run)[0])

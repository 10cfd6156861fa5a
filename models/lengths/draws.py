"""Draws under the law of length generalisation: coefficients, the curves of runs, those of conditions."""

from functools import cached_property

import numpy as np
import pandas as pd

from ...datasets.deferred import special, xr
from ..draws import COORDINATE, DRAWS, Draws, draw_coordinates, flatten
from . import design
from .counts import between, cumulative, spread
from .curve import log_likelihood
from .integrals import Points, of_draws, of_run, without_spread

RUN = "run"
UNITS = "z"


class LengthsDraws(Draws):
    """Draws of the coefficients of a law of lengths, a Dataset, with the curve of each run.

    The curve has parameters (chain, draw, run), runs in order of the reference, whose conditions are in `runs`. `real`
    has the coordinates of the draws on the real line, (chain, draw, coordinate). `log_units` is the log density of the
    units in which runs were sampled, (chain, draw), and worked out from `real` where it is absent.
    """

    def __init__(self, law, reference, rows, sampled, curve, real=None, log_units=None):
        super().__init__(law, reference, rows)
        self.sampled, self.curve = sampled, curve
        self.values = {name: x.values for name, x in sampled.data_vars.items()}
        self.runs = design.runs_of(reference)
        self._real, self._log_units, self._own_points = real, log_units, {}

    @classmethod
    def of(cls, law, reference, rows, sampled):
        """Read a Dataset: coefficients, and the units ``z`` of a sampler or the runs' parameters of a stored fit."""
        coefficients = sampled[[name for name in law.prior_of if name in sampled]]
        coefficients = coefficients.drop_vars([n for n in coefficients.coords if n not in coefficients.dims])
        curve = {part: sampled[f"{part}_{RUN}"].values for part in law.parts if f"{part}_{RUN}" in sampled}
        units = sampled[UNITS].values if UNITS in sampled else None
        if curve:
            return cls(law, reference, rows, coefficients, curve, real=units)
        return cls._from_units(law, reference, rows, coefficients, units)

    @classmethod
    def _from_units(cls, law, reference, rows, coefficients, units, real=None):
        values = {name: x.values for name, x in coefficients.data_vars.items()}
        if not law.seeds:
            curve = law.typical(values, law.matrices(design.runs_of(reference), reference))
            return cls(law, reference, rows, coefficients, curve, real, 0.0)
        arrays = law.design_arrays(rows, reference)
        curve, log_units = law.curves(values | {UNITS: units}, arrays)
        draws = cls(law, reference, rows, coefficients, curve, real, log_units.sum(-1))
        if real is None:
            draws._real = np.concatenate([draws._real_coefficients(), units.reshape(*units.shape[:2], -1)], axis=-1)
        return draws

    def _array(self, values, **coords):
        coords = {name: self.sampled[name].values for name in DRAWS} | coords
        return xr.DataArray(values, dims=tuple(coords), coords=coords)

    def named(self):
        """Return the coefficients and, where runs differ, each run's parameters."""
        if not self.law.seeds:
            return self.sampled
        runs = {RUN: self.reference["runs"]}
        return self.sampled.assign({f"{part}_{RUN}": self._array(x, **runs) for part, x in self.curve.items()})

    # Curves ----------------------------------------------------------------------------------------------------------

    def typical(self, conditions):
        """Return the parameters of the median run of each condition: dict of (chain, draw, condition)."""
        return self.law.typical(self.values, self.law.matrices(conditions, self.reference))

    def new(self, conditions, rng):
        """Return the parameters of a new run of each condition, one for each draw: dict of (chain, draw, condition)."""
        curve = self.typical(conditions)
        if not self.law.seeds:
            return curve
        return {p: x + self.values[f"{p}_sd"][..., None] * rng.standard_normal(x.shape) for p, x in curve.items()}

    # Densities -------------------------------------------------------------------------------------------------------

    def mean(self, rows=None):
        """Return the mean number of problems right in each cell: dims (chain, draw, cell)."""
        rows = self.rows if rows is None else rows
        right, _, _ = self.law.probabilities(self.curve, rows, self.runs)
        return self._array(right * rows["total"].to_numpy(float), cell=np.arange(len(rows)))

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
        at = self if rows is None else LengthsDraws(self.law, self.reference, rows, self.sampled, self.curve)
        names = [self.reference["runs"][run] for run in at.present]
        if self.law.seeds:
            points = Points(at, seed=seed)
            results = [of_run(at, points, run, seed) for run in at.present]
            efficiency = min(effective for _, effective in results)
            densities = [density for density, _ in results]
        else:
            densities, efficiency = [without_spread(at, at, run) for run in at.present], None
        array = self._array(np.stack(densities, -1), **{RUN: names}).rename(self.law.scale)
        return array.assign_attrs(integration_efficiency_min=efficiency)

    def total_log_likelihood(self, rows=None):
        """Return the log density of all counts given the runs' curves, without binomial coefficients: (chain, draw)."""
        groups = self.law.groups(self.rows if rows is None else rows, self.reference)
        return self._array(log_likelihood(self.curve, design.log_train(self.runs), groups, self.law.shape))

    def log_prior(self):
        """Return the log prior density of each coefficient and spread; runs' deviations have the law's density."""
        priors = self.law.prior_of
        return xr.Dataset({n: xr.apply_ufunc(priors[n].log_density, x) for n, x in self.sampled.data_vars.items()})

    def log_density(self):
        """Return the log joint density of coordinates and counts, with binomial coefficients: dims (chain, draw)."""
        if self._log_units is None:
            return self.from_real_line(self.real_line()).log_density()
        real, at, total = self.real_line().values, 0, 0.0
        for name, x in self.sampled.data_vars.items():
            prior, values = self.law.prior_of[name], x.values.reshape(*real.shape[:2], -1)
            _, log_slope = prior.from_unconstrained(real[..., at : at + values.shape[-1]])
            total, at = total + (prior.log_density(values) + log_slope).sum(-1), at + values.shape[-1]
        return total + self._log_units + self.total_log_likelihood() + self.log_choose().sum()

    def replicate(self, rng, rows=None):
        """Draw counts of new problems of the same runs: dims (chain, draw, cell)."""
        rows = self.rows if rows is None else rows
        counts = self.law.simulate(self.curve, rows, rng, self.runs)
        return self._array(counts, cell=np.arange(len(rows))).rename(self.law.scale)

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the place of each count between the probabilities of fewer and of at most it: (chain, draw, cell)."""
        rows = self.rows if rows is None else rows
        below, at = cumulative(
            *self.law.probabilities(self.curve, rows, self.runs), *(rows[c].to_numpy() for c in ("correct", "total"))
        )
        return self._array(between(below, at), cell=np.arange(len(rows)))

    def relative_scatter(self, rows=None):
        """Return the sd of the share of each cell's problems that are right, an ndarray (chain, draw, cell)."""
        rows = self.rows if rows is None else rows
        return spread(*self.law.probabilities(self.curve, rows, self.runs), rows["total"].to_numpy(float))

    # The real line ---------------------------------------------------------------------------------------------------

    def _real_coefficients(self):
        priors, shape = self.law.prior_of, tuple(self.sampled.sizes[name] for name in DRAWS)
        values = [priors[n].to_unconstrained(x.values).reshape(*shape, -1) for n, x in self.sampled.data_vars.items()]
        return np.concatenate(values, axis=-1)

    @cached_property
    def _coordinates(self):
        names = [*flatten(self.sampled)]
        if self.law.seeds:
            names += [f"{UNITS}[{run},{part}]" for run in self.reference["runs"] for part in self.law.parts]
        return names

    def real_line(self):
        """Return the coordinates on the real line: coefficients, their spreads' logarithms and the runs' units."""
        values = self._real_coefficients() if self._real is None else self._real
        return self._array(values, **{COORDINATE: self._coordinates})

    def from_real_line(self, z):
        """Return draws at coordinates as `real_line` gives them."""
        values, coordinates = z.transpose(*DRAWS, COORDINATE).values, self.law.coordinates(self.reference)
        at, levels = len(coordinates), {d: self.sampled[d].values for d in self.sampled.dims if d not in DRAWS}
        variables = coordinates.named(values[..., :at])
        coefficients = xr.Dataset(variables, draw_coordinates(*values.shape[:2]) | levels)
        units = values[..., at:].reshape(*values.shape[:2], -1, len(self.law.parts)) if self.law.seeds else None
        return self._from_units(self.law, self.reference, self.rows, coefficients, units, values)

    # Leaving out -----------------------------------------------------------------------------------------------------

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
            return xr.DataArray(without_spread(fitted, self, run), dims=DRAWS)
        if seed not in self._own_points:
            self._own_points[seed] = Points(self, seed=seed)
        return xr.DataArray(of_draws(fitted, self._own_points[seed], run)[0], dims=DRAWS)

"""Draws under a law of the loss: means, log densities, replicated losses. Nothing here compiles."""

from functools import cached_property

import numpy as np
import pandas as pd

from ...datasets.deferred import xr
from .. import effects
from ..draws import BLOCK, COORDINATE, Draws

STEP = 1e-4  # of a derivative, as a share of the quantity
PARTS = 4  # of `BLOCK` log densities: arrays so small stay in a processor's cache, and evaluating them takes 80 MiB


def _variables(dataset):
    """Return variables by name, whose arithmetic takes a twentieth of the time: their coordinates are not compared."""
    return {name: x.variable for name, x in dataset.items()}


class LossDraws(Draws):
    """Draws of the sampled quantities of a law of the loss, a Dataset of any dims.

    They may include those that the law takes from upstream; other variables are ignored. The coordinates on the real
    line are given where they are at hand.
    """

    def __init__(self, law, reference, rows, sampled, real=None):
        super().__init__(law, reference, rows)
        self.sampled = sampled[list(law.prior_of)]
        self.upstream = sampled[[name for name in law.upstream if name in sampled]]
        self._real = real

    @cached_property
    def _named(self):
        values, upstream = (_variables(of) for of in (self.sampled, self.upstream))
        return self.sampled.merge(xr.Dataset(self.law.derived(values, self.reference | upstream)))

    def named(self):
        """Name the sampled quantities, the law's constants and the noise's."""
        return self._named

    def mean(self, rows=None):
        """Return the mean loss at each row, nats per token: the dims of the draws and ``run``."""
        rows = self.rows if rows is None else rows
        sizes = {name: xr.Variable("run", x) for name, x in self.law.sizes(rows).items()}
        mean = self.law.mean(_variables(self._constants(rows)), sizes)
        coords = {name: self.sampled.coords[name] for name in mean.dims if name in self.sampled.coords}
        return xr.DataArray(mean, coords) if isinstance(mean, xr.Variable) else mean

    def _constants(self, rows):
        """Return the named quantities that broadcast against the rows by their dims."""
        return self._named

    def _values(self, rows, *, of_effects=False):
        """Return the quantities of the law as arrays that broadcast against the rows or, of effects, against these."""
        return {name: x.values[..., None] for name, x in self.sampled.items()}

    def _origin(self, rows):
        """Return the reference of the quantities at the rows."""
        return self.reference

    def _mean_on_scale(self, rows):
        mean = self.mean(rows).transpose(..., "run")
        return mean.copy(data=self.law.on_scale(mean).values)

    def noise_arguments(self, rows, *, of_effects=False):
        """Return the noise's arguments at each row: the dims of the draws and ``run``; see `Noise.arguments`."""
        values = self._values(rows, of_effects=of_effects)
        return self.law.residuals.arguments(values, self._origin(rows), self.law.sizes(rows))

    def _observed(self, rows):
        """Return the residuals at the rows, as a DataArray of the dims of the draws and ``run``."""
        mean = self._mean_on_scale(rows)
        return mean.copy(data=self.law.on_scale(rows[self.law.observed].to_numpy(float)) - mean.values)

    def _conditional(self, residual, rows, conditioning):
        """Return residuals and the arguments of their noise, with effects given ``"others"`` or ``"earlier"`` rows."""
        arguments = self.noise_arguments(rows)
        if not self.law.effects_of:
            return residual, *arguments
        return effects.conditional(
            residual, self._values(rows)[self.law.residuals.effect_sd], self.law.groups(rows), conditioning, *arguments
        )

    def blocks(self, rows=None):
        """Cut rows that have more than `BLOCK` log densities; those that share an effect stay together, in order."""
        rows = self.rows if rows is None else rows
        first = next(iter(self.sampled.data_vars.values()))
        most = max(1, BLOCK // max(1, first.size))
        codes = self.law.groups(rows).codes if self.law.effects_of else np.arange(len(rows))
        if len(rows) <= most:
            return [np.arange(len(rows))]
        most = max(1, most // PARTS)
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))  # of the effects; a block holds one at least
        cuts, begun = [], 0
        for start, end in zip(starts, np.append(starts[1:], len(rows)), strict=True):
            if end - begun > most and start > begun:
                cuts, begun = [*cuts, start], start
        return np.split(order, cuts)

    def log_likelihood(self, rows=None, *, seed=0):
        """Return the log density of each observed loss on the residuals' scale: the dims of the draws and ``run``.

        Where rows share effects, each is conditional on the others of its run or size, which is what leave-one-out
        needs. Their sum is not the density of all, which `total_log_likelihood` returns.
        """
        law, rows = self.law, self.rows if rows is None else rows
        observed = self._observed(rows)
        residual, *arguments = self._conditional(observed.values, rows, "others")
        halfwidth = law.halfwidth(rows)
        if halfwidth is None:
            values = law.residuals.logp(residual, *arguments)
        else:
            values = np.empty_like(residual)
            for chain in range(residual.shape[0]):  # one at a time: the quadrature holds every node of every density
                values[chain] = law.residuals.logp(residual[chain], *(a[chain] for a in arguments), halfwidth=halfwidth)
        return observed.copy(data=values).rename(law.scale)

    def of_groups(self):
        """Return the log density of each effect's rows: the dims of the draws and ``run_id`` or ``size_id``."""
        if not self.law.effects_of:
            return None
        return xr.concat([self._by_effect(self.rows.iloc[block]) for block in self.blocks()], dim=self._effect_id)

    @property
    def _effect_id(self):
        return f"{self.law.effects_of}_id"

    def _by_effect(self, rows):
        observed, groups = self._observed(rows), self.law.groups(rows)
        effect_sd = self._values(rows, of_effects=True)[self.law.residuals.effect_sd]
        values = effects.joint_logp(observed.values, effect_sd, groups, *self.noise_arguments(rows, of_effects=True))
        names = pd.unique(self.law._effect_labels(rows))
        effect_id = self._effect_id
        coords = {name: x for name, x in observed.coords.items() if "run" not in x.dims}
        return xr.DataArray(values, dims=(*observed.dims[:-1], effect_id), coords=coords | {effect_id: names})

    def total_log_likelihood(self, rows=None):
        """Return the log density of all rows together; rows that share an effect are not independent."""
        rows = self.rows if rows is None else rows
        density, dim = (self._by_effect, self._effect_id) if self.law.effects_of else (self.log_likelihood, "run")
        return sum(density(rows.iloc[block]).sum(dim) for block in self.blocks(rows))

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the probability of a loss of at most each one observed: the dims of the draws and ``run``.

        With effects it is given other rows of the run or size; see `Draws.cdf`.
        """
        rows = self.rows if rows is None else rows
        observed = self._observed(rows)
        residual, *arguments = self._conditional(observed.values, rows, conditioning)
        return observed.copy(data=self.law.residuals.cdf(residual, *arguments, halfwidth=self.law.halfwidth(rows)))

    def relative_scatter(self):
        """Return the residuals' scale as a share of the mean loss, an ndarray of the draws' dims and ``run``."""
        observed = self._observed(self.rows)
        _, sigma, *_ = self._conditional(observed.values, self.rows, "earlier")
        shares = sigma if self.law.scale.startswith("log_") else sigma / self.mean().transpose(..., "run").values
        return np.broadcast_to(shares, observed.shape)

    def standardised(self, values):
        """Divide what is on the scale of the residuals, (..., run), by sigma.

        Where rows share effects, the part that the earlier rows of its run or size do not predict is divided. The
        divisor is the scatter that is left under normal noise: this makes normal residuals independent and standard.
        """
        sigma = self.noise_arguments(self.rows)[0]
        if not self.law.effects_of:
            return values / sigma
        effect_sd = self._values(self.rows)[self.law.residuals.effect_sd]
        residual, scale = effects.conditional(values, effect_sd, self.law.groups(self.rows), "earlier", sigma)
        return residual / scale

    def slopes(self, law, names, **held):
        """Differentiate the mean on the scale of the residuals by sampled quantities of a law: dict of (..., run).

        It is this law, or one that has it as a special case at values of further quantities, which are `held`.
        Derivatives are by the logarithms of the named quantities.
        """
        values = self._values(self.rows) | held
        upstream = {name: x.values[..., None] for name, x in self.upstream.items()}
        sizes, origin = law.sizes(self.rows), self._origin(self.rows) | upstream

        def mean(name, factor):
            shifted = values | {name: values[name] * factor}
            return law.on_scale(law.mean(law.constants(shifted, origin), sizes))

        return {name: (mean(name, 1 + STEP) - mean(name, 1 - STEP)) / (2 * STEP) for name in names}

    def log_prior(self):
        """Return the log prior density of each sampled quantity, on the quantity's scale."""
        priors = self.law.prior_of
        return xr.Dataset({n: xr.apply_ufunc(prior.log_density, self.sampled[n]) for n, prior in priors.items()})

    def log_potential(self):
        """Return the log density of what informs the law besides the rows, else 0: the dims of the draws."""
        name, place = next(iter(self.law.labels(self.reference).values()))
        first = self.sampled[name].isel(place, drop=True)
        values = {name: x.values[..., None] for name, x in self._named.items()}
        potential = self.law.potential and self.law.potential(values, self.reference)
        return xr.zeros_like(first) if potential is None else first.copy(data=potential)

    def log_prior_of(self, labels):
        """Return the log prior density, on the real line, of these labels' coordinates: the dims of the draws."""
        real, priors, total = self.real_line(), self.law.prior_of, 0.0
        places = self.law.labels(self.reference)
        for label in labels:
            name, place = places[label]
            _, slope = priors[name].from_unconstrained(real.sel({COORDINATE: label}, drop=True))
            value = self.sampled[name].isel(place, drop=True)
            total = total + xr.apply_ufunc(priors[name].log_density, value) + slope
        return total

    def log_density(self):
        """Return the log posterior density on the real line up to a constant, the Jacobian included."""
        log_prior = self.log_prior_of(self.law.labels(self.reference))
        return log_prior + self.log_potential() + self.total_log_likelihood()

    def replicate(self, rng, rows=None):
        """Draw losses of new runs on the scale of the residuals: the dims of the draws and ``run``.

        Where rows share effects, each run or size draws a new effect, one that was fitted too.
        """
        rows = self.rows if rows is None else rows
        mean, values = self._mean_on_scale(rows), self._values(rows, of_effects=True)
        scattered = self.law._scattered(mean.values, values, self._origin(rows), rows, rng)
        return mean.copy(data=scattered).rename(self.law.scale)

    def real_line(self):
        """Return the coordinates on the real line: logarithms and log-odds of the sampled quantities."""
        if self._real is not None:
            return self._real
        priors, labels = self.law.prior_of, self.law.labels(self.reference)
        unconstrained = [
            priors[name].to_unconstrained(self.sampled[name].isel(place, drop=True)) for name, place in labels.values()
        ]
        return xr.concat(unconstrained, dim=pd.Index(list(labels), name=COORDINATE)).transpose(..., COORDINATE)

    def from_real_line(self, z):
        """Return draws at coordinates as `real_line` gives them."""
        priors = self.law.prior_of
        pairs = {name: prior.from_unconstrained(z.sel({COORDINATE: name}, drop=True)) for name, prior in priors.items()}
        values = xr.Dataset({name: x for name, (x, _) in pairs.items()})
        return type(self)(self.law, self.reference, self.rows, values.merge(self.upstream, join="left"), z)

    def unit_log_likelihood(self, i):
        """Return the log density of row `i`, given the other rows of its effect: of the dims of the draws."""
        return self.left_out_density(self, i)

    def left_out_density(self, fitted, i, *, seed=0):
        """Return the log predictive density of row `i` under draws fitted to the others, given those of its effect."""
        rows, place = self._company(i)
        return fitted.log_likelihood(rows).isel(run=place, drop=True)

    def _company(self, i):
        """Return the rows that share an effect with row `i`, itself among them, and its place there."""
        if not self.law.effects_of:
            return self.rows.iloc[[i]], 0
        codes = self.law.groups(self.rows).codes
        group = np.flatnonzero(codes == codes[i])
        return self.rows.iloc[group], int(np.searchsorted(group, i))

"""Draws under a law of the loss: means, log densities, replicated losses. Nothing here compiles."""

from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from ..draws import Draws

COORDINATE = "coordinate"


class LossDraws(Draws):
    """Draws of the sampled quantities of a law of the loss.

    Parameters
    ----------
    law : LossLaw
    reference : dict
    rows : DataFrame
    sampled : Dataset
        The sampled quantities and, where it has them, those that the law takes from upstream, of any dims; other
        variables are passed over.
    real : DataArray, optional
        The draws' coordinates on the real line, where they were moved there.
    """

    def __init__(self, law, reference, rows, sampled, real=None):
        super().__init__(law, reference, rows)
        self.sampled = sampled[list(law.prior_of)]
        self.upstream = sampled[[name for name in law.upstream if name in sampled]]
        self._real = real

    @cached_property
    def _named(self):
        values = {name: self.sampled[name] for name in self.sampled.data_vars}
        upstream = {name: self.upstream[name] for name in self.upstream.data_vars}
        return self.sampled.merge(xr.Dataset(self.law.derived(values, self.reference | upstream)))

    def named(self):
        """Name the sampled quantities, the law's constants and the noise's."""
        return self._named

    def mean(self, rows=None):
        """Mean loss at each row, nats per token: the dims of the draws and ``run``."""
        rows = self.rows if rows is None else rows
        return self.law.mean(
            self._named, {name: xr.DataArray(x, dims="run") for name, x in self.law.sizes(rows).items()}
        )

    def _mean_on_scale(self, rows):
        mean = self.mean(rows).transpose(..., "run")
        return mean.copy(data=self.law.on_scale(mean).values)

    def noise_arguments(self, rows):
        """Arguments of the noise at each row, of the dims of the draws and ``run``; see `Noise.arguments`."""
        values = {name: x.values[..., None] for name, x in self.sampled.items()}
        return self.law.residuals.arguments(values, self.reference, self.law.sizes(rows))

    def log_likelihood(self, rows=None, *, seed=0):
        """Log density of each observed loss on the scale of the residuals: the dims of the draws and ``run``."""
        law, rows = self.law, self.rows if rows is None else rows
        mean = self._mean_on_scale(rows)
        residual = law.on_scale(rows[law.observed].to_numpy(float)) - mean.values
        arguments = self.noise_arguments(rows)
        halfwidth = law.halfwidth(rows)
        if halfwidth is None:
            values = law.residuals.logp(residual, *arguments)
        else:
            values = np.empty_like(residual)
            for chain in range(residual.shape[0]):  # one at a time: the quadrature holds every node of every density
                values[chain] = law.residuals.logp(residual[chain], *(a[chain] for a in arguments), halfwidth=halfwidth)
        return mean.copy(data=values).rename(law.scale)

    def cdf(self, rows=None):
        """Probability of a loss of at most each one observed: the dims of the draws and ``run``."""
        rows = self.rows if rows is None else rows
        mean, halfwidth = self._mean_on_scale(rows), self.law.halfwidth(rows)
        residual = self.law.on_scale(rows[self.law.observed].to_numpy(float)) - mean.values
        arguments = self.noise_arguments(rows)
        return mean.copy(data=self.law.residuals.cdf(residual, *arguments, halfwidth=halfwidth))

    def slopes(self, law, names, *, step=1e-4, **held):
        """Differentiate the mean on the scale of the residuals by sampled quantities of a law: dict of (..., run).

        Parameters
        ----------
        law : LossLaw
            This law, or one that has it as a special case.
        names : sequence of str
            Of the quantities, by the logarithm of which it is differentiated.
        step : float
        **held : float
            Values of the quantities that this law does not sample.
        """
        values = {name: x.values[..., None] for name, x in self.sampled.items()} | held
        upstream = {name: x.values[..., None] for name, x in self.upstream.items()}
        sizes = law.sizes(self.rows)

        def mean(name, factor):
            moved = values | {name: values[name] * factor}
            return law.on_scale(law.mean(law.constants(moved, self.reference | upstream), sizes))

        return {name: (mean(name, 1 + step) - mean(name, 1 - step)) / (2 * step) for name in names}

    def log_prior(self):
        """Log prior density of each sampled quantity, on its own scale."""
        priors = self.law.prior_of
        return xr.Dataset({n: xr.apply_ufunc(prior.frozen.logpdf, self.sampled[n]) for n, prior in priors.items()})

    def log_potential(self):
        """Log density of what informs the law besides the rows, 0 where nothing does: the dims of the draws."""
        first = next(iter(self.sampled.data_vars.values()))
        values = {name: x.values[..., None] for name, x in self._named.items()}
        found = self.law.potential(values, self.reference)
        return xr.zeros_like(first) if found is None else first.copy(data=found)

    def log_density(self):
        """Log posterior density on the real line up to a constant, the Jacobian included."""
        real, priors = self.real_line(), self.law.prior_of
        slopes = {n: prior.from_unconstrained(real.sel({COORDINATE: n}, drop=True))[1] for n, prior in priors.items()}
        log_prior = sum(xr.apply_ufunc(priors[n].frozen.logpdf, self.sampled[n]) + slopes[n] for n in priors)
        return log_prior + self.log_potential() + self.log_likelihood().sum("run")

    def replicate(self, rng, rows=None):
        """Losses of new runs on the scale of the residuals: the dims of the draws and ``run``."""
        rows = self.rows if rows is None else rows
        mean = self._mean_on_scale(rows)
        values = {name: x.values[..., None] for name, x in self.sampled.items()}
        return mean.copy(data=self.law.scattered(mean.values, values, self.reference, rows, rng)).rename(self.law.scale)

    def real_line(self):
        """Coordinates on the real line: logarithms and log-odds of the sampled quantities."""
        if self._real is not None:
            return self._real
        priors = self.law.prior_of
        moved = [prior.to_unconstrained(self.sampled[name]) for name, prior in priors.items()]
        return xr.concat(moved, dim=pd.Index(list(priors), name=COORDINATE)).transpose(..., COORDINATE)

    def from_real_line(self, z):
        """Return draws at coordinates as `real_line` gives them."""
        priors = self.law.prior_of
        pairs = {name: prior.from_unconstrained(z.sel({COORDINATE: name}, drop=True)) for name, prior in priors.items()}
        values = xr.Dataset({name: x for name, (x, _) in pairs.items()})
        return LossDraws(self.law, self.reference, self.rows, values.merge(self.upstream), z)

    def unit_log_likelihood(self, i):
        """Log density of run `i`, of the dims of the draws."""
        return self.log_likelihood(self.rows.iloc[[i]]).isel(run=0, drop=True)

    def left_out_density(self, fitted, i, *, seed=0):
        """Log predictive density of run `i` under draws fitted to the others."""
        return fitted.log_likelihood(self.rows.iloc[[i]]).isel(run=0, drop=True)

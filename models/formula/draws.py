"""Draws under a formula: constants, means, densities, new responses."""

import numpy as np

from ...datasets.deferred import special, xr
from ..lengths.counts import between, cumulative, draw_counts, spread
from ..member_draws import MemberDraws


class FormulaDraws(MemberDraws):
    """Draws of the coordinates z of a formula; `MemberDraws` describes what they hold."""

    def named(self):
        """Return the constants of the formula by name, then what is sampled in their place and the noise."""
        constants = self.law.placing.constants(self.values, self.reference)
        levels = dict(self.law.levels)
        variables = {}
        for name, x in constants.items():
            key = self.law.groups.get(name)
            if key is None:
                variables[name] = self._array(np.broadcast_to(x, self.z.shape[:2]))
            else:
                dim = ", ".join(key)
                variables[name] = self._array(x, dim, **{dim: [*levels[key]]})
        sampled = {name: x for name, x in self.parameters().items() if name not in variables}
        return xr.Dataset(variables | sampled)

    def _mean(self):
        return self.law.mean(self.values, self.design, self.reference)

    def mean(self, rows=None):
        """Return the mean response at rows, of counts the mean number: dims (chain, draw, row)."""
        at = self._at(rows)
        mean = at._mean()
        return self._array(mean * at.design["row_n"] if self.law.counts else mean, "row")

    def rowwise(self):
        """Return the log densities of rows, an ndarray (chain, draw, row)."""
        density = self.law.logp(self._mean(), self.values, self.design, self.reference)
        return np.broadcast_to(density, (*self.z.shape[:2], len(self.rows)))

    def terms(self):
        """Return the log density of rows by name."""
        return {"rows": self.rowwise()}

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the probability of at most each response."""
        at = self._at(rows)
        mean = at._mean()
        if self.law.counts:
            counts, precision = (at.design["row_y"], at.design["row_n"]), self.law.precision(self.values)
            return self._array(between(*cumulative(mean, 1 - mean, precision, *counts)), "row")
        u = (at.design["row_y"] - self.law.on_scale(mean)) / self.law.scatter(self.values, at.design, self.reference)
        if self.law.tails == "student_t":
            return self._array(special.stdtr(1 + self.values["nu_minus_one"][..., None], u), "row")
        return self._array(special.ndtr(u), "row")

    def relative_scatter(self):
        """Return the scatter of each response as a share of the mean, an ndarray (chain, draw, row)."""
        mean = self._mean()
        if self.law.counts:
            return spread(mean, 1 - mean, self.law.precision(self.values), self.design["row_n"]) / mean
        sigma = self.law.scatter(self.values, self.design, self.reference)
        return np.broadcast_to(sigma if self.law.noise == "relative" else sigma / np.abs(mean), mean.shape)

    def replicate(self, rng, rows=None):
        """Draw responses of new rows on the scale of the law."""
        at = self._at(rows)
        mean = at._mean()
        if self.law.counts:
            mean, total = np.clip(mean, 0, 1), at.design["row_n"].astype(int)
            counts = draw_counts(mean, 1 - mean, self.law.precision(self.values), total, rng)
            return self._array(counts.astype(float), "row")
        sigma = self.law.scatter(self.values, at.design, self.reference)
        if self.law.tails == "student_t":
            noise = rng.standard_t(1 + self.values["nu_minus_one"][..., None], mean.shape)
        else:
            noise = rng.standard_normal(mean.shape)
        return self._array(self.law.on_scale(mean) + sigma * noise, "row").rename(self.law.scale)

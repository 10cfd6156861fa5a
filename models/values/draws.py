"""Draws under the law of dated values: means, densities, new values."""

import numpy as np

from ...datasets.deferred import special, xr
from .. import effects
from ..loss.noise import normal_logp
from ..member_draws import MemberDraws
from ..trends import WithTrend


def groups_of(data):
    """Return the groups of rows from the arrays of the model."""
    return effects.Groups(data["row_group"], data["group_rows"])


class TrendDraws(WithTrend, MemberDraws):
    """Draws of the coordinates z of a law of dated values; `MemberDraws` describes what they hold."""

    def of_trend(self):
        """Return the values that the functions of `trends` take, each (chain, draw)."""
        values = super().of_trend()
        if self.law.trend == "logistic":
            values["midpoint"] = self.values["midpoint_after"] + self.reference["last"]
        return values

    def named(self):
        """Return the free parameters, and ``doubling_rate`` by period, doublings a year, of a log scale.

        Of a linear scale ``gain`` by period is the gain a year in the values' unit. With a break also ``break_date``,
        with a logistic trend ``midpoint``, years.
        """
        variables = {name: self._array(x) for name, x in self.values.items()}
        unit = self.law.linear_unit
        if unit is None:
            variables["doubling_rate"] = self.gain() / np.log(2)
        else:
            variables["gain"] = self.gain() * unit
        if self.law.trend == "break":
            variables["break_date"] = self._array(self.break_dates())
        if self.law.trend == "logistic":
            variables["midpoint"] = self._array(self.of_trend()["midpoint"])
        return xr.Dataset(variables)

    @property
    def _by_row(self):
        return {name: x[..., None] for name, x in self.values.items()}

    def _mean(self):
        return self.law._mean_at(self._by_row, self.design)

    def _conditional(self, conditioning):
        """Return residuals and scatter; with effects of groups given a group's ``"others"`` or ``"earlier"`` rows."""
        residual, sigma = self.design["row_y"] - self._mean(), self.law.sigma(self._by_row, self.design)
        if not self.law.groups:
            return residual, sigma
        return effects.conditional(residual, self._by_row["group_sd"], groups_of(self.design), conditioning, sigma)

    def mean(self, rows=None):
        """Return the mean value at the rows, the median on a log scale: dims (chain, draw, row)."""
        return self._array(self.law.from_scale(self._at(rows)._mean()), "row")

    def rowwise(self):
        """Return rows' log densities, an ndarray (chain, draw, row), given their group's others under effects."""
        residual, sigma = self._conditional("others")
        return normal_logp(residual, sigma)

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the probability of at most each value; with effects given its group's other rows."""
        residual, sigma = self._at(rows)._conditional(conditioning)
        return self._array(special.ndtr(residual / sigma), "row")

    def relative_scatter(self):
        """Return the scatter of each value as a share of the mean, an ndarray (chain, draw, row)."""
        residual, sigma = self._conditional("earlier")
        shares = sigma if self.law.linear_unit is None else sigma / np.abs(self._mean())
        return np.broadcast_to(shares, residual.shape)

    def terms(self):
        """Return the log density of rows, or of groups of rows, by name."""
        return self.law._rest(self.values, self.design)

    def of_groups(self):
        """Return the log density of each group's rows under effects, (chain, draw, group), else None."""
        if not self.law.groups:
            return None
        names = self.rows[self.law.groups].drop_duplicates().tolist()  # in the order of codes
        return self._array(self.terms()["groups"], self.law.groups, **{self.law.groups: names})

    def total_log_likelihood(self, rows=None):
        """Return the log density of all rows together; under effects rows of a group are not independent."""
        (density,) = self._at(rows).terms().values()
        return self._array(density.sum(-1))

    def replicate(self, rng, rows=None):
        """Draw values of new rows on the scale of the law, each group's effect drawn again."""
        at = self._at(rows)
        mean, sigma = at._mean(), at.law.sigma(at._by_row, at.design)
        if self.law.groups:
            noise = effects.draw(rng, mean.shape, at._by_row["group_sd"], groups_of(at.design), sigma)
        else:
            noise = sigma * rng.standard_normal(mean.shape)
        return self._array(mean + noise, "row").rename(self.law.scale)

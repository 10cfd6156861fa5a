"""Draws under the law of a run's loss: means, densities, new readings."""

import numpy as np

from ...datasets.deferred import special, xr
from ..loss.noise import normal_logp
from ..member_draws import MemberDraws


class CurveDraws(MemberDraws):
    """Draws of the coordinates z of the law of a run's loss; `MemberDraws` describes what they hold."""

    @property
    def by_row(self):
        """Return the free parameters by name, (chain, draw, 1)."""
        return {name: x[..., None] for name, x in self.values.items()}

    def named(self):
        """Return the free parameters, and ``E``: the loss that more training without annealing does not reach."""
        values = self.values
        floor = values["loss_centre"] * (1 - values["reducible_share"])
        return xr.Dataset({name: self._array(x) for name, x in (values | {"E": floor}).items()})

    def mean(self, rows=None):
        """Return the mean loss at the rows: dims (chain, draw, row)."""
        data = self._at(rows).design
        return self._array(self.law.mean_at(self.by_row, data["row_s"], data["row_v"]), "row")

    def innovations(self):
        """Return what each block has besides what those before it in its run predict, and its sd, (..., row)."""
        seen = np.nonzero(self.design["run_seen"])
        residual, total = (x[..., *seen] for x in self.law.filtered(self.by_row, self.design)[:2])
        return residual, np.sqrt(total)

    def rowwise(self):
        """Return the log density of each block given those before it, an ndarray (chain, draw, row)."""
        return normal_logp(*self.innovations())

    def blocks(self, rows=None):
        """Return the positions of the rows of each run."""
        rows = self.rows if rows is None else rows
        return [np.flatnonzero(rows["run"] == run) for run in rows["run"].unique()]

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the probability of at most each loss given the blocks before it."""
        residual, sd = self._at(rows).innovations()
        return self._array(special.ndtr(residual / sd), "row")

    def relative_scatter(self, rows=None):
        """Return the sd of each block given those before it as a share of the mean, an ndarray (chain, draw, row)."""
        at = self._at(rows)
        return at.innovations()[1] / at.mean().values

    def terms(self):
        """Return the log density of blocks by name."""
        return {"rows": self.rowwise()}

    def total_log_likelihood(self, rows=None):
        """Return the log density of all blocks together."""
        return self._array(self._at(rows).rowwise().sum(-1))

    def ahead(self, run, area, annealed, clock, rng):
        """Draw mean losses of a run at later places of its schedule, (chain, draw, place), and what annealing removes.

        The slow deviation of a run of the table persists; None is another run of the model. The second array is the
        part of the loss that annealing after the last reading removes.
        """
        values, rows = self.by_row, self.rows
        mean = self.law.mean_at(values, np.log(area / self.reference["area"]), annealed)
        drift = (values["loss_centre"] * values["drift"]) ** 2
        slow, variance, last = 0.0, drift, 0.0
        if run is not None:
            of = rows[rows["run"] == run]
            slow, variance = (x[..., len(of) - 1] for x in self.law.filtered(values, self._at(of).design)[2:])
            alike = np.exp(-np.log(clock / float(of["clock"].iloc[-1])) / values["drift_range"])
            slow, variance = alike * slow, drift + alike**2 * (variance - drift)
            last = float(of["annealed"].iloc[-1])
        deviation = slow + np.sqrt(variance) * rng.standard_normal(mean.shape)
        gain = values["loss_centre"] * values["anneal"] * (annealed - last)
        return self._array(mean + deviation, "place"), self._array(gain, "place")

    def replicate(self, rng, rows=None):
        """Draw losses of new blocks, whose slow deviations follow each other along each run."""
        at = self._at(rows)
        data, values = at.design, at.by_row
        mean = at.mean().values
        alike = np.exp(-data["row_gap"] / values["drift_range"])
        slow = values["drift"] * np.sqrt(1 - alike**2) * rng.standard_normal(mean.shape)
        for i in range(1, mean.shape[-1]):
            slow[..., i] += alike[..., i] * slow[..., i - 1]
        shares = data["run_share"][np.nonzero(data["run_seen"])]
        fast = values["noise"] * np.sqrt(shares) * rng.standard_normal(mean.shape)
        return self._array(mean + values["loss_centre"] * (slow + fast), "row").rename(self.law.scale)

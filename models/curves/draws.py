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

    def rowwise(self):
        """Return the log density of each block given the one before it, an ndarray (chain, draw, row)."""
        return normal_logp(*self.law.innovations(self.by_row, self.design))

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the probability of at most each loss given the block before it."""
        at = self._at(rows)
        residual, sd = at.law.innovations(at.by_row, at.design)
        return self._array(special.ndtr(residual / sd), "row")

    def relative_scatter(self, rows=None):
        """Return the sd of each block given the one before it as a share of the mean, an ndarray (chain, draw, row)."""
        at = self._at(rows)
        return at.law.innovations(at.by_row, at.design)[1] / at.mean().values

    def terms(self):
        """Return the log density of blocks by name."""
        return self.law.parts(self.values, self.design)

    def total_log_likelihood(self, rows=None):
        """Return the log density of all blocks together."""
        return self._array(self._at(rows).rowwise().sum(-1))

    def exchangeable(self):
        """Return None: blocks follow each other."""

    def ahead(self, run, area, annealed, clock, rng):
        """Draw the losses of a run at later places of its schedule, dims (chain, draw, place).

        Parameters
        ----------
        run : str or None
            A run of the table, whose slow deviation persists; None for another run of the model.
        area, annealed, clock : ndarray, shape (place,)
        rng : numpy.random.Generator

        Returns
        -------
        tuple of DataArray
            The mean loss, and the part of it that annealing after the last reading removes.
        """
        values, rows = self.by_row, self.rows
        mean = self.law.mean_at(values, np.log(area / self.reference["area"]), annealed)
        scale, white = values["loss_centre"], rng.standard_normal(mean.shape)
        alike, expected, last = np.zeros_like(mean), 0.0, 0.0
        if run is not None:
            at = np.flatnonzero(rows["run"] == run)[-1]
            last = rows["annealed"].to_numpy(float)[at]
            data = {name: x[at] for name, x in self.design.items() if name in ("row_y", "row_s", "row_v", "row_n")}
            residual = data["row_y"] - self.law.mean_at(values, data["row_s"], data["row_v"])
            certain = values["drift"] ** 2 / (values["drift"] ** 2 + values["noise"] ** 2 / data["row_n"])
            alike = np.exp(-np.log(clock / rows["clock"].to_numpy(float)[at]) / values["drift_range"])
            expected, alike = alike * certain * residual, alike**2 * certain
        slow = expected + scale * values["drift"] * np.sqrt(1.0 - alike) * white
        gain = scale * values["anneal"] * (annealed - last)
        return self._array(mean + slow, "place"), self._array(gain, "place")

    def replicate(self, rng, rows=None):
        """Draw losses of new blocks, whose slow deviations follow each other along each run."""
        at = self._at(rows)
        data, values = at.design, at.by_row
        mean = at.mean().values
        alike = np.exp(-data["row_gap"] / values["drift_range"])
        slow = values["drift"] * np.sqrt(1 - alike**2) * rng.standard_normal(mean.shape)
        for i in range(1, mean.shape[-1]):
            slow[..., i] += alike[..., i] * slow[..., i - 1]
        fast = values["noise"] / np.sqrt(data["row_n"]) * rng.standard_normal(mean.shape)
        return self._array(mean + values["loss_centre"] * (slow + fast), "row").rename(self.law.scale)

    def coordinate_names(self):
        """List the coordinates: the free parameters."""
        return list(self.law.prior_of)

    def _of_models(self, by):
        return False

    def left_out_density(self, fitted, i, *, seed=0):
        """Return the log predictive density of row `i` under draws fitted to the others, (chain, draw)."""
        return fitted.log_likelihood(self.rows).isel(row=i, drop=True)

"""Laws of the loss as simulators: draws of the prior, of known values, and losses of runs."""

import numpy as np

from ...datasets.deferred import xr
from .. import effects
from ..draws import DRAWS, draw_coordinates


class Simulates:
    """What a law of the loss draws."""

    def _drawn(self, values, reference, rows, rng):
        sampled = {name: (DRAWS, x) for name, x in values.items()}
        return self.draws(xr.Dataset(sampled, draw_coordinates(1, next(iter(values.values())).size)), rows, reference)

    def simulate(self, values, rows, rng, reference=None):
        """Draw losses of runs from the law and its noise.

        Parameters
        ----------
        values : dict of str to float or ndarray, shape (...,)
            Sampled quantities.
        rows : DataFrame
            The runs' sizes (and reading errors, where the law has them).
        rng : numpy.random.Generator
        reference : dict, optional
            Centre of the sampled quantities; by default that of the rows.

        Returns
        -------
        ndarray, shape (..., run)
            Losses in nats per token.

        Raises
        ------
        InputError
            If a quantity lacks a value.
        """
        self._check_all_known(values)
        values = {name: np.asarray(v, float)[..., None] for name, v in values.items()}
        constants = self.constants(values, reference or self.reference(rows))
        mean = self.on_scale(self.mean(constants, self.sizes(rows)))
        return self.from_scale(self._scattered(mean, values, reference or self.reference(rows), rows, rng))

    def _scattered(self, mean, values, reference, rows, rng):
        """Add noise to means on the scale of the residuals, (..., run), and one effect for each run or size."""
        arguments = self.residuals.arguments(values, reference, self.sizes(rows))
        if self.effects_of:
            effect_sd = values[self.residuals.effect_sd]
            return mean + effects.draw(rng, np.shape(mean), effect_sd, self.groups(rows), *arguments)
        return mean + self.residuals.draw(rng, np.shape(mean), *arguments, halfwidth=self.halfwidth(rows))

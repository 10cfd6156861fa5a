"""Laws of the loss as simulators: draws of the prior, of known values, and losses of runs."""

import numpy as np

from ...datasets.deferred import xr
from ...errors import InputError
from .. import effects
from ..draws import DRAWS, draw_coordinates


class Simulates:
    """What a law of the loss draws."""

    def prior_draws(self, rng, reference, rows, draws=1):
        """Return the draws of the prior, dims (chain, draw) with one chain."""
        sampled = {
            name: (DRAWS, prior.frozen.rvs((1, draws), random_state=rng)) for name, prior in self.prior_of.items()
        }
        return self.draws(xr.Dataset(sampled, draw_coordinates(1, draws)), rows, reference)

    def known_draws(self, values, reference, rows, rng=None):
        """Return one draw that holds known values of the sampled quantities, by name.

        Raises
        ------
        InputError
            If a quantity lacks a value.
        """
        self._check_all_known(values)
        variables = {name: (DRAWS, [[float(values[name])]]) for name in self.prior_of}
        return self.draws(xr.Dataset(variables), rows, reference)

    def check_calibration(self, truth):
        """Refuse a law that has no one posterior, or whose prior alone gives no truths.

        Raises
        ------
        InputError
        """
        if self.upstream:
            raise InputError(
                f"{self.name} takes {' and '.join(self.upstream)} from sizes alone and has no one posterior to "
                "calibrate; calibrate it with joint=True (--option joint=true)"
            )

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
        return self.from_scale(self.scattered(mean, values, reference or self.reference(rows), rows, rng))

    def scattered(self, mean, values, reference, rows, rng):
        """Add noise to means on the scale of the residuals, (..., run), and one effect for each run or size."""
        arguments = self.residuals.arguments(values, reference, self.sizes(rows))
        if self.effects_of:
            effect_sd = values[self.residuals.effect_sd]
            return mean + effects.draw(rng, np.shape(mean), effect_sd, self.groups(rows), *arguments)
        return mean + self.residuals.draw(rng, np.shape(mean), *arguments, halfwidth=self.halfwidth(rows))

"""The density of all scores of a model, its capability integrated out: what leaving out a model needs."""

import numpy as np
from scipy.special import logsumexp

from . import design
from .item import normal
from .noise import NOISES

NODES, WIDTH = 19, 4.5


class Nodes:
    """Capabilities of each model at which the density of its scores is evaluated, evenly spaced about its own draws.

    Given the free parameters and the benchmarks, the scores y of a model that nobody has seen have density
    ``integral of p(y | c) N(c; mean, sd) dc``, mean and sd as its compute and date say. The integrand is smooth and
    falls off on either side, where a sum at even steps is all but exact.

    Parameters
    ----------
    draws : ScoresDraws
        Whose draws of the capabilities say where the nodes lie.
    """

    def __init__(self, draws):
        spread = np.linspace(-WIDTH, WIDTH, NODES)
        centre, sd = draws.capability.mean((0, 1)), draws.capability.std((0, 1))
        self.capability = centre[:, None] + sd[:, None] * spread
        self.log_step = np.log(sd * (spread[1] - spread[0]))

    def log_densities(self, draws):
        """Log density of the scores of each model that has rows, by its name: dict of ndarray (chain, draw)."""
        reference, rows = draws.reference, draws.rows
        mean, sd = draws.expected()
        found = {}
        for name, own in rows.groupby("model", sort=False).groups.items():
            model = reference["models"].index(name)
            density = self._of_model(draws, rows.loc[own], model)
            density = density + normal(self.capability[model], mean[..., [model]], sd[..., [model]] ** 2)
            found[name] = logsumexp(density, axis=-1) + self.log_step[model]
        return found

    def _of_model(self, draws, rows, model):
        """Log density of the rows of one model at its nodes, (chain, draw, node)."""
        noise, total = NOISES[draws.law.noise], 0.0
        _, items = design.codes(rows, draws.reference)
        for item, score in zip(items, rows["score"].to_numpy(float), strict=True):
            log_noise = draws.log_noise[..., [item]]
            eta = draws.slope[..., [item]] * (self.capability[model] - draws.difficulty[..., [item]])
            if design.at_low(score) or design.at_high(score):
                total = total + noise.log_below(eta if design.at_low(score) else -eta, log_noise)
            else:
                total = total + noise.log_density(eta, log_noise, np.log(score), np.log1p(-score))
        return total

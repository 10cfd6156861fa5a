"""The density of all scores of a model, its capability integrated out: what leaving out a model needs."""

import numpy as np

from ...datasets.deferred import special
from ..member_draws import nodes
from . import design
from .item import logits
from .noise import NOISES, SCATTERS, Normal

NODES, WIDTH = 19, 4.5
FINER = 2  # Times as many nodes of a version: given its model's capability its density is narrower than its draws.
NARROW = 0.25  # Of the sd of a version's draws: nodes about these would miss a smaller spread of versions.
POINTS, WEIGHTS = np.array([-(3**0.5), 0.0, 3**0.5]), np.array([1 / 6, 2 / 3, 1 / 6])  # of Gauss and Hermite


class Nodes:
    """Capabilities of each model at which the density of its scores is evaluated, evenly spaced about its draws.

    Given the free parameters and the benchmarks, the scores y of a model that nobody has seen have density ``integral
    of p(y | c) p(c) dc``, p(c) about what compute and date predict. The integrand is smooth and falls off on either
    side, where a sum at even steps is all but exact. Where versions of a model have effects, p(y | c) is the product
    over versions of ``integral of p(y' | v) N(v; c, sd) dv``. Its nodes are about the draws of the version, or about c
    where sd is far smaller than their spread.
    """

    def __init__(self, draws):
        self.capability, self.log_step = nodes(draws.capability, NODES, WIDTH)
        if draws.versions is not None:
            model, _ = design.codes(draws.rows, draws.reference)
            version, nested = design.of_versions(draws.rows, draws.reference)
            of = np.zeros(len(draws.reference["versions"]), int)
            of[version[nested > 0]] = model[nested > 0]
            self.version, self.version_log_step = nodes(
                draws.capability[..., of] + draws.versions, FINER * NODES, WIDTH
            )

    def log_densities(self, draws):
        """Return the log density of each model's scores, by name of the model: dict of ndarray (chain, draw)."""
        reference, rows = draws.reference, draws.rows
        scatter, (mean, sd) = SCATTERS[draws.law.scatter].log_density, draws.expected()
        densities = {}
        for name, group in rows.groupby("model", sort=False).groups.items():
            model = reference["models"].index(name)
            several = draws.versions is not None and not reference["one_version"][model]
            density_of = self._of_versions if several else self._of_rows
            density = density_of(draws, rows.loc[group], self.capability[model])
            density = density + scatter(self.capability[model], mean[..., [model]], sd[..., [model]] ** 2)
            densities[name] = special.logsumexp(density, axis=-1) + self.log_step[model]
        return densities

    def _of_versions(self, draws, rows, capability):
        """Return one model's log density at its capabilities, (chain, draw, node), its versions integrated out."""
        total, sd = 0.0, draws.values["version_sd"]
        versions, _ = design.of_versions(rows, draws.reference)
        for version in np.unique(versions):
            group, at = rows[versions == version], self.version[version]
            integral = np.empty((*sd.shape, len(capability)))
            narrow = sd < NARROW * np.exp(self.version_log_step[version]) * (len(at) - 1) / (2 * WIDTH)
            if not narrow.all():
                density = self._of_rows(draws, group, at)[..., None, :]
                density = density + Normal.log_density(at, capability[:, None], sd[..., None, None] ** 2)
                integral[:] = special.logsumexp(density, axis=-1) + self.version_log_step[version]
            if narrow.any():
                near = capability[:, None] + sd[..., None, None] * POINTS
                density = self._of_rows(draws, group, near.reshape(*sd.shape, -1)).reshape(near.shape)
                integral[narrow] = special.logsumexp(density[narrow], axis=-1, b=WEIGHTS)
            total = total + integral
        return total

    def _of_rows(self, draws, rows, capability):
        """Return rows' log density at capabilities, (..., node), of their model or version: (chain, draw, node)."""
        noise, total = NOISES[draws.law.noise], 0.0
        _, items = design.codes(rows, draws.reference)
        for item, score, per_item in zip(items, rows["score"].to_numpy(float), design.per_item(rows), strict=True):
            log_noise = draws.items.log_noise[..., [item]]
            eta = logits(capability, draws.items, [item])
            if per_item:
                log_noise = noise.with_sampling(eta, log_noise, per_item)
            if design.at_low(score) or design.at_high(score):
                total = total + noise.log_below(eta if design.at_low(score) else -eta, log_noise)
            else:
                total = total + noise.log_density(eta, log_noise, np.log(score), np.log1p(-score))
        return total

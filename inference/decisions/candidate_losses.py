"""Losses of runs that may be made, by posterior draw: their means, their noise, and how far a law may miss them."""

import numpy as np

from ...models.draws import DRAWS
from ...models.loss.budget import training_flop
from ..estimands.beyond import decades_beyond, drift_of


def on_scale(law, means):
    """Return what variances of log loss are multiplied by on the scale of the residuals."""
    return 1.0 if law.scale.startswith("log_") else np.median(means, axis=0) ** 2


def candidate_means(draws, table, error=0.0):
    """Compute mean losses of candidates on the scale of the law's residuals, an ndarray (sample, candidate).

    An `error` of log loss, which broadcasts to that shape, is added.
    """
    mean = draws.mean(table).transpose(*DRAWS, "run").values.reshape(-1, len(table))
    return np.asarray(draws.law.on_scale(mean * np.exp(error)))


def noise_variance(draws, table):
    """Compute the variance that stands for a run's noise, at the posterior median: the inverse of its information.

    The information of the mean in a Student-t loss is ``(nu + 1) / ((nu + 3) sigma**2)``. An effect that rows of a run
    or a size share is added as if each candidate had another.
    """
    law = draws.law
    sigma, *rest = draws.noise_arguments(table)
    sigma = np.median(np.broadcast_to(sigma, (*np.shape(sigma)[:-1], len(table))).reshape(-1, len(table)), axis=0)
    variance = sigma**2
    if law.residuals.family == "student_t":
        nu = float(np.median(rest[0]))
        variance = variance * (nu + 3) / (nu + 1)
    if law.effects_of:
        variance = variance + float(np.median(draws.named()[law.residuals.effect_sd])) ** 2
    return variance


def misfit_variance(draws, ratio, table):
    """Compute the variance by which a law may miss the log loss of candidates: an ndarray (candidate,).

    The law misses runs above or below the compute of the fitted ones by its drift. The same scale a decade stands for
    runs off the target's tokens per parameter, where a misfit of the law teaches nothing about the target.
    """
    scales = drift_of(draws.law)
    decades = decades_beyond(draws.law, draws.rows, table) + _below(draws.rows, table)
    far = decades**2 + off_ratio(table, ratio) ** 2
    return scales.mean_square() * far + scales.step**2 * (decades > 0)


def _below(rows, table):
    """Compute by how many decades of compute candidates lie below the least fitted run: an ndarray (candidate,)."""
    spent, fitted = training_flop(table), training_flop(rows)
    return np.zeros(len(table)) if spent is None or fitted is None else np.log10(np.nanmin(fitted) / spent).clip(0)


def off_ratio(table, ratio):
    """Compute decades, (candidate,), between tokens per parameter and those of the target, 0 where either has none."""
    if np.isnan(ratio) or not {"parameters", "tokens"} <= set(table):
        return np.zeros(len(table))
    return np.abs(np.log10(table["tokens"].to_numpy(float) / table["parameters"].to_numpy(float) / ratio))

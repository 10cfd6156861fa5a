"""What the law says of scores: logits of slope times capability less difficulty, and capability by compute and date.

Everything takes arrays of any library of `arrays`: of one draw, in vectors by benchmark and by model, or of many
draws, whose axes are in front of these.
"""

import numpy as np

from ..arrays import exp, log, maximum, pick, sum_by, where

PARTS = ("log_slope", "difficulty", "log_noise")  # of a benchmark, in the order of its coordinates


def centred(raw, d):
    """Values by benchmark less their mean, (..., item).

    Independent normals less their mean are normals that add up to 0; what the mean was says nothing of any score.

    Parameters
    ----------
    raw : array_like, shape (..., benchmark)
    d : mapping of str to array_like
        From `design.arrays`.
    """
    mean = sum_by(raw, d["benchmark_whole"], d["whole_benchmarks"]) / d["whole_benchmarks"]
    return pick(raw, d["item_benchmark"]) - pick(mean, d["item_whole"])


def items(values, raw, d):
    """Slope, difficulty and log noise of each benchmark, (..., item).

    Parameters
    ----------
    values : mapping of str to array_like, shape (...)
        Free parameters.
    raw : array_like, shape (..., benchmark, 3)
        Coordinates of the benchmarks, see `PARTS`.
    d : mapping of str to array_like

    Returns
    -------
    tuple of array_like
    """
    return exp(centred(raw[..., 0], d)), centred(raw[..., 1], d), pick(raw[..., 2], d["item_benchmark"])


def logits(capability, slope, difficulty, model, item):
    """Logits of mean scores at rows, (..., row), of the models and items that codes say."""
    return pick(slope, item) * (pick(capability, model) - pick(difficulty, item))


def normal(x, mean, variance):
    """Log density of a normal."""
    return -0.5 * (np.log(2 * np.pi) + log(variance) + (x - mean) ** 2 / variance)


def prior_of_items(values, raw):
    """Log density of the coordinates of benchmarks, (..., benchmark)."""
    variances = [values[f"{part}_sd"][..., None] ** 2 for part in PARTS]
    centres = 0.0, 0.0, values["log_noise_centre"][..., None]
    return sum(normal(raw[..., i], centre, variances[i]) for i, centre in enumerate(centres))


def expected(values, pace, d, families=None):
    """Mean and variance of capabilities given date and compute, (..., model).

    Parameters
    ----------
    values : mapping of str to array_like, shape (...)
    pace : {None, "linear", "break"}
        Whether compute and date are looked at, and whether what a year brings changes.
    d : mapping of str to array_like
    families : array_like, shape (..., family), optional
        Standardised effects of families.

    Notes
    -----
    With F the stated compute over 1e24 FLOP, of variance v about the true one in logarithms, and t the date less
    2024.5, the mean is ``centre + slope log F + gain t + change max(t - break, 0)`` and the variance
    ``sd**2 + slope**2 v``: the true compute is integrated out, its prior flat. Where compute is not known the mean is
    ``centre' + gain' t`` and the variance ``sd'**2``.
    """
    values = {name: x[..., None] for name, x in values.items()}
    mean, variance = values["capability_centre"] + 0.0 * d["model_year"], values["capability_sd"] ** 2
    if pace is not None:
        slope = values["compute_slope"]
        mean = mean + slope * d["model_log_compute"] + values["yearly_gain"] * d["model_year"]
        if pace == "break":
            mean = mean + values["yearly_gain_change"] * maximum(d["model_since_break"], 0.0)
        known, variance = d["model_known"] > 0.5, variance + slope**2 * d["model_compute_variance"]
        mean = where(known, mean, values["unknown_centre"] + values["unknown_yearly_gain"] * d["model_year"])
        variance = where(known, variance, values["unknown_sd"] ** 2)
    if families is not None:
        mean = mean + pick(values["family_sd"] * families, d["model_family"])
    return mean, variance

"""The mean of scores: logits of slope times capability minus difficulty, and capability by compute and date.

All functions take arrays of any library of `arrays`. Arrays of one draw are vectors by benchmark and by model; arrays
of many draws have the axes of the draws in front of these.
"""

from typing import Any, NamedTuple

from ..arrays import exp, logaddexp, maximum, pick, spread, sum_by, where
from .scatter import Normal

DIFFICULTY, CEILING = "difficulty", "logit_ceiling"
PARTS = ("log_slope", DIFFICULTY, "log_noise", CEILING)  # of a benchmark, in the order of its coordinates


class Items(NamedTuple):
    """Of each benchmark, (..., item); ``logit_ceiling`` where ceilings are free."""

    slope: Any
    difficulty: Any
    log_noise: Any
    logit_ceiling: Any = None


def parts_of(values):
    """Return those of `PARTS` that a law has, by its free parameters."""
    return tuple(part for part in PARTS if f"{part}_sd" in values)


def centred(raw, d):
    """Return the values by benchmark minus their mean, (..., item).

    Independent normals minus their mean are normals that add up to 0; no score depends on that mean.

    Parameters
    ----------
    raw : array_like, shape (..., benchmark)
    d : mapping of str to array_like
        From `design.arrays`.
    """
    mean = sum_by(raw, d["benchmark_whole"], d["whole_benchmarks"]) / d["whole_benchmarks"]
    return pick(raw, d["item_benchmark"]) - pick(mean, d["item_whole"])


def items(values, raw, d):
    """Return each benchmark's slope, difficulty and log noise, and its ceiling's logit where ceilings are free.

    Parameters
    ----------
    values : mapping of str to array_like, shape (...)
        Free parameters.
    raw : array_like, shape (..., benchmark, part)
        Coordinates of the benchmarks, see `parts_of`.
    d : mapping of str to array_like

    Returns
    -------
    Items
    """
    rest = (pick(raw[..., i], d["item_benchmark"]) for i in range(2, len(parts_of(values))))
    return Items(exp(centred(raw[..., 0], d)), centred(difficulties(raw, d), d), *rest)


def difficulties(raw, d):
    """Return the difficulties of benchmarks before their mean is taken away, (..., benchmark).

    Their coordinates are logits: slope times difficulty minus an origin, where the models that have scores should be.
    Scores of few models inform these logits and leave the slope open, from which the difficulty follows.
    """
    return d["benchmark_origin"] + raw[..., 1] * exp(-raw[..., 0])


def coordinates_of(difficulty, raw, d):
    """Return the coordinates of difficulties, given the others of their benchmarks: the inverse of `difficulties`."""
    return (difficulty - d["benchmark_origin"]) * exp(raw[..., 0])


def logits(ability, items, item):
    """Return the logits of mean scores at rows, (..., row).

    With a ceiling c the mean is c times the logistic function of slope times capability less difficulty.

    Parameters
    ----------
    ability : array_like, shape (..., row)
        Capabilities of what the rows are scores of.
    items : Items
    item : array_like of int, shape (row,)
        Benchmarks of the rows.
    """
    eta = pick(items.slope, item) * (ability - pick(items.difficulty, item))
    if items.logit_ceiling is None:
        return eta
    ceiling = pick(items.logit_ceiling, item)
    # Logarithms of c and of 1 - c, of which neither is lost where the ceiling is near 1.
    return eta - logaddexp(0.0, -ceiling) - logaddexp(0.0, eta - logaddexp(0.0, ceiling))


def centres(values):
    """Return the means of the coordinates of a benchmark, by part."""
    return {part: values.get(f"{part}_centre", 0.0) for part in parts_of(values)}


def prior_of_items(values, raw, d):
    """Return the log density of the coordinates of benchmarks, (..., benchmark)."""
    total = -raw[..., 0]  # the logarithm of how a difficulty changes with its coordinate
    for i, (part, centre) in enumerate(centres(values).items()):
        centre = centre[..., None] if f"{part}_centre" in values else centre
        x = difficulties(raw, d) if part == DIFFICULTY else raw[..., i]
        total = total + Normal.log_density(x, centre, values[f"{part}_sd"][..., None] ** 2)
    return total


def expected(values, pace, d, families=None, steps=()):
    """Return the mean and variance of capabilities given date and compute, (..., model).

    Parameters
    ----------
    values : mapping of str to array_like, shape (...)
    pace : {None, "linear", "break", "sampled_break", "acceleration", "random_walk"}
        Whether capability depends on compute and date, and how the yearly gain changes.
    d : mapping of str to array_like
    families : array_like, shape (..., family), optional
        Standardised effects of families.
    steps : sequence of array_like, shape (...)
        Standardised changes of the yearly gain from one half-year to the next, of a random walk.

    Notes
    -----
    F is the stated compute over 1e24 FLOP, of variance v about the true one in logarithms, and t the date minus 2024.5.
    Then the mean is ``centre + slope log F + gain t + change max(t - break, 0)`` and the variance
    ``sd**2 + slope**2 v``: the true compute is integrated out, its prior flat. Where compute is not known the mean is
    ``centre' + gain' t`` and the variance ``sd'**2``. A model of one version has that of versions added.

    In place of the term of the break, an acceleration adds ``acceleration t**2 / 2``. A random walk adds for each
    half-year that begins at b ``step (max(t - b, 0) - max(-b, 0))``, the integral of the gain from mid-2024 to t.
    """
    values = {name: x[..., None] for name, x in values.items()}
    mean, variance = spread(values["capability_centre"], d["model_year"]), values["capability_sd"] ** 2
    if pace is not None:
        slope = values["compute_slope"]
        if "log_slope_ratio" in values:
            slope = slope * exp(where(d["model_since_break"] >= 0, values["log_slope_ratio"], 0.0))
        mean = mean + slope * d["model_log_compute"] + values["yearly_gain"] * d["model_year"]
        mean = mean + _changed(values, pace, d, steps)
        measured, variance = d["model_known"] > 0.5, variance + slope**2 * d["model_compute_variance"]
        mean = where(measured, mean, values["unknown_centre"] + values["unknown_yearly_gain"] * d["model_year"])
        variance = where(measured, variance, values["unknown_sd"] ** 2)
    if "version_sd" in values:
        variance = variance + d["model_one_version"] * values["version_sd"] ** 2
    if families is not None:
        mean = mean + pick(values["family_sd"] * families, d["model_family"])
    return mean, variance


def _changed(values, pace, d, steps):
    """Return the capability that the change of the yearly gain adds by each model's date, (..., model)."""
    if pace == "break":
        return values["yearly_gain_change"] * maximum(d["model_since_break"], 0.0)
    if pace == "sampled_break":
        since = d["model_since_first_break"] - values["break_place"] * d["model_break_span"]
        return values["yearly_gain_change"] * maximum(since, 0.0)
    if pace == "acceleration":
        return values["acceleration"] * (0.5 * d["model_year"] ** 2)
    exposures = (values["gain_step_sd"] * step[..., None] * d["model_walk"][..., i] for i, step in enumerate(steps))
    return sum(exposures, 0.0)

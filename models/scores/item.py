"""The mean of scores: logits of slope times capability minus difficulty, and capability by compute and date.

All functions take arrays of any library of `arrays`. Arrays of one draw are vectors by benchmark and by model; arrays
of many draws have the axes of the draws in front of these.
"""

from typing import Any, NamedTuple

import numpy as np

from ..arrays import clip, exp, log, logaddexp, maximum, pick, spread, sum_by, where
from ..density import place
from .noise import Normal

DIFFICULTY, CEILING = "difficulty", "logit_ceiling"
LEAST = 1e-100  # of information, where there may be none
RIDGE, RELATIVE = 0.05, (0.2, 5.0)  # of estimates of slopes, near that of the typical benchmark
BINS = 6  # of scores of a benchmark, by size
SMOOTH = 0.02  # of a score near a ceiling: below that, how far it is from there is noise
FLAT, BEND = 0.2, 0.3  # how a coordinate of a ceiling is compressed below the highest scores, and within which logits
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
    """Return the values by benchmark minus their mean, (..., item), from (..., benchmark) and the arrays of `design`.

    Independent normals minus their mean are normals that add up to 0; no score depends on that mean.
    """
    return pick(raw, d["item_benchmark"]) - pick(_mean(raw, d), d["item_whole"])


def _mean(x, d):
    return sum_by(x, d["benchmark_whole"], d["whole_benchmarks"]) / d["whole_benchmarks"]


def items(raw, d):
    """Return the `Items` of coordinates of draws of benchmarks, (..., benchmark, part), in the order of `parts_of`."""
    rest = (pick(raw[..., i], d["item_benchmark"]) for i in range(2, raw.shape[-1]))
    return Items(exp(centred(raw[..., 0], d)), centred(raw[..., 1], d), *rest)


def logits(ability, items, item):
    """Return the logits of mean scores at rows, (..., row), from capabilities and the benchmarks of the rows.

    With a ceiling c the mean is c times the logistic function of slope times capability less difficulty.
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


def prior_of_items(values, raw):
    """Return the log density of the coordinates of benchmarks, (..., benchmark), by part in the order of `parts_of`."""
    total = 0.0
    for x, (part, centre) in zip(raw, centres(values).items(), strict=True):
        centre = centre[..., None] if f"{part}_centre" in values else centre
        total = total + Normal.log_density(x, centre, values[f"{part}_sd"][..., None] ** 2)
    return total


def expected(values, pace, d, families=None, steps=()):
    """Return the mean and variance of capabilities given date and compute, (..., model).

    `pace` states how the yearly gain changes, None that capability depends on neither. Values are (...), effects of
    families, (..., family), are standardised, as are the steps, (...) each, from one half-year to the next of a random
    walk.

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


def place_of_noise(values, d):
    """Return the mean and the log sd of log noises given how many scores tell of each."""
    precision = d["benchmark_freedom"] + 1 / values["log_noise_sd"][..., None] ** 2
    return values["log_noise_centre"][..., None], -0.5 * log(precision)


def place_of_slopes(values, log_noise, d):
    """Return the mean and the log sd of log slopes given log noises, as scores and the prior tell."""
    information = d["benchmark_steepness"] / _variance(values, log_noise, d)
    return place(0.0, values["log_slope_sd"][..., None] ** 2, d["benchmark_log_slope"], information)


def place_of_difficulties(values, log_noise, log_slope, d):
    """Return the mean and the log sd of difficulties given log noises and log slopes, as scores and the prior tell."""
    information = exp(2 * log_slope) * d["benchmark_spread"] / _variance(values, log_noise, d)
    estimate = d["benchmark_ability"] - d["benchmark_logit"] * exp(-log_slope)
    return place(0.0, values["difficulty_sd"][..., None] ** 2, estimate, information)


def _variance(values, log_noise, d):
    """Return the variance of scores over that of a single question: of their benchmark, and of what the others tell."""
    others = 4 * exp(2 * values["log_noise_centre"][..., None]) * d["benchmark_weight"]
    return 4 * exp(2 * log_noise) + d["benchmark_per_item"] + others


def placed_items(values, units, d):
    """Return benchmarks from what is sampled of them, coordinates of draws by part, logs of derivatives, (..., item).

    What is sampled is standardised by what scores and priors tell of each benchmark. Scores tell nothing of the means
    of log slopes and of difficulties, which have their priors; these follow from a weighted mean of what is sampled.
    The unit of capability is relative to all slopes, and difficulties are sampled in that of the estimates.
    """
    mean, of_noise = place_of_noise(values, d)
    log_noise, ceilings, d = mean + exp(of_noise) * units[..., 2], [], dict(d)
    if f"{CEILING}_sd" in values:
        sd = values[f"{CEILING}_sd"][..., None]
        ceiling, log_bend = _bent(values[f"{CEILING}_centre"][..., None] + sd * units[..., 3], d["benchmark_edge"])
        ceilings, of_noise, d = [ceiling], of_noise + log(sd) + log_bend, d | _under_ceilings(ceiling, d)
    slopes = place_of_slopes(values, log_noise, d)
    log_slope = slopes[0] + exp(slopes[1]) * units[..., 0]
    difficulties = place_of_difficulties(values, log_noise, log_slope, d)
    difficulty = difficulties[0] + exp(difficulties[1]) * units[..., 1]
    rest = [pick(x, d["item_benchmark"]) for x in (log_noise, *ceilings)]
    count, log_unit = d["whole_benchmarks"], _mean(log_slope, d)
    slope, difficulty = centred(log_slope, d), pick(exp(log_unit), d["item_whole"]) * centred(difficulty, d)
    log_scale, raw = pick(of_noise, d["item_benchmark"]) + pick((count - 1) / count * log_unit, d["item_whole"]), []
    for i, (x, (_, log_sd)) in enumerate(((slope, slopes), (difficulty, difficulties))):
        ratio, whole = _ratio(values, PARTS[i], log_sd, d), _weighted(exp(log_sd) * units[..., i], d)
        raw.append(x + pick(ratio * whole, d["item_whole"]))
        log_scale = log_scale + pick(log_sd, d["item_benchmark"]) + pick(log(ratio) / count, d["item_whole"])
    return Items(exp(slope), difficulty, *rest), [*raw, *rest], log_scale


def _bent(x, edge):
    """Return logits of ceilings from coordinates, and logs of derivatives: a hyperbola.

    Scores pin a ceiling from below, about where the highest of them lie, and leave it open above.
    """
    away = x - edge
    root = (away**2 + BEND**2) ** 0.5
    derivative = (1 + FLAT) / 2 + (1 - FLAT) / 2 * away / root
    return edge + ((1 + FLAT) * away + (1 - FLAT) * root) / 2, log(derivative)


def _straight(ceiling, edge):
    """Return the coordinates of logits of ceilings: the inverse of `_bent`."""
    away = ceiling - edge
    return edge + ((1 + FLAT) * away - (1 - FLAT) * (away**2 + FLAT * BEND**2) ** 0.5) / (2 * FLAT)


def _relative(ceiling, logit, spread):
    """Return logits of scores relative to their ceilings, and what scores tell of these, from the same without."""
    ratio = exp(logaddexp(0.0, -ceiling) - logaddexp(0.0, -logit))
    rest = SMOOTH * logaddexp(0.0, (1 - ratio) / SMOOTH)
    return log(ratio / rest), spread * (rest * (1 + exp(logit))) ** 2


def _under_ceilings(ceiling, d):
    """Return what places slopes and difficulties if benchmarks have these ceilings; see `design.placing`."""
    bins = [[d[f"benchmark_bin_{name}"][..., i] for name in ("ability", "logit", "spread")] for i in range(BINS)]
    bins = [(ability, *_relative(ceiling, logit, spread)) for ability, logit, spread in bins]
    total = sum(spread for *_, spread in bins) + LEAST
    of_ability = sum(spread * ability for ability, _, spread in bins) / total
    steepness = sum(spread * (ability - of_ability) ** 2 for ability, _, spread in bins)
    rising = sum(spread * (ability - of_ability) * logit for ability, logit, spread in bins)
    slope = clip((rising + RIDGE) / (steepness + RIDGE), *RELATIVE)
    return {
        "benchmark_log_slope": log(slope),
        "benchmark_spread": total,
        "benchmark_ability": of_ability,
        "benchmark_logit": sum(spread * logit for _, logit, spread in bins) / total,
        "benchmark_steepness": slope**2 * steepness,
    }


def _weighted(x, d):
    return sum_by(d["benchmark_weight"] * x, d["benchmark_whole"], d["whole_benchmarks"])


def _ratio(values, part, log_sd, d):
    """Return the sd of the mean of coordinates of draws, over that of the weighted mean of what is sampled."""
    variance = sum_by((d["benchmark_weight"] * exp(log_sd)) ** 2, d["benchmark_whole"], d["whole_benchmarks"])
    return values[f"{part}_sd"][..., None] / (d["whole_benchmarks"] * variance) ** 0.5


def sampled_items(values, raw, d):
    """Return what is sampled of benchmarks, (..., benchmark, part): the inverse of `placed_items`; arrays of NumPy."""

    def sampled(x, part, mean, log_sd):
        """Return a part and its coordinates, given its deviations from its mean and this one's place."""
        middle = x.mean(-1, keepdims=True)
        away = x - middle - mean
        level = middle / _ratio(values, part, log_sd, d) - _weighted(away, d)
        return (away + level) + mean, (away + level) * exp(-log_sd)

    mean, log_sd = place_of_noise(values, d)
    log_noise, ceilings, d = raw[..., 2], [], dict(d)
    if f"{CEILING}_sd" in values:
        centre, sd = (values[f"{CEILING}_{name}"][..., None] for name in ("centre", "sd"))
        ceilings = [(_straight(raw[..., 3], d["benchmark_edge"]) - centre) / sd]
        d |= _under_ceilings(raw[..., 3], d)
    slope, of_slope = sampled(raw[..., 0], PARTS[0], *place_of_slopes(values, log_noise, d))
    middle, unit = raw[..., 1].mean(-1, keepdims=True), np.exp(-slope.mean(-1, keepdims=True))
    difficulty = (raw[..., 1] - middle) * unit + middle
    _, of_difficulty = sampled(difficulty, PARTS[1], *place_of_difficulties(values, log_noise, slope, d))
    return np.stack([of_slope, of_difficulty, (log_noise - mean) * exp(-log_sd), *ceilings], -1)


def place_of_capabilities(values, items, mean, variance, d):
    """Return the mean and the log sd of capabilities given benchmarks and scores, as if logits of these were normal.

    The mean and variance given, (..., model), are those of `expected`; the arrays are those of `design.placing` too.
    """
    item, model, logit, spread = d["row_item"], d["row_model"], d["row_logit"], d["row_spread"]
    if items.logit_ceiling is not None:
        logit, spread = _relative(pick(items.logit_ceiling, item), logit, spread)
    slope = pick(items.slope, item)
    noise = 4 * exp(2 * pick(items.log_noise, item)) + d["row_per_item"]
    information = slope**2 * spread / noise
    if "version_sd" in values:
        information = information / (1 + information * d["row_nested"] * values["version_sd"][..., None] ** 2)
    estimate = logit / slope + pick(items.difficulty, item)
    of_model = model, d["model_rows"]
    total = sum_by(information, *of_model)
    estimate = sum_by(information * estimate, *of_model) / (total + LEAST)
    return place(mean, variance, estimate, total)

"""The arrays of a table of scores: what is known of its models, and its rows by where their scores lie."""

import numpy as np
import pandas as pd

from ...datasets.deferred import special
from ..member_draws import places as places_of
from .item import BINS, RELATIVE, RIDGE
from .noise import END

COMPUTE, YEAR = 1e24, 2024.5  # FLOP and the date that capabilities are relative to
CONFIDENCES = ("Confident", "Likely", "Speculative")
USUAL = "Likely"  # for a compute of unstated confidence
KNOWN = ("Confident", "Likely")
BREAK_QUANTILES = (0.1, 0.9)  # of the dates of models of known compute, between which a sampled break lies
WHERE = ("inner", "low", "high")
SWEEPS = 30  # of estimates of slopes
HIGHEST, ABOVE = 3, 0.4  # scores of a benchmark, and logits above their mean: from there on its ceiling is open
ITEMS = "items"  # column of the number of questions of a benchmark


def reference(law, rows):
    """Name models, benchmarks and families, and state what is known of each model, in plain values."""
    models = rows.drop_duplicates("model").sort_values("model")
    entries = {"models": models["model"].tolist(), "benchmarks": sorted(rows["benchmark"].unique())}
    if law.pace is not None:
        log_compute, error = computes(law, models)
        entries["years"] = (models["year"] - YEAR).tolist()
        entries["log_compute"] = [None if np.isnan(x) else float(x) for x in log_compute]
        entries["compute_error"] = [None if np.isnan(x) else float(x) for x in error]
        if law.compute_prior == "normal":
            entries["compute_trend"] = trend(models["year"].to_numpy(float) - YEAR, log_compute, error)
        known_years = models["year"].to_numpy(float)[~np.isnan(log_compute)]
        if law.pace == "sampled_break":
            entries["break_span"] = np.quantile(known_years, BREAK_QUANTILES).tolist()
        if law.pace == "random_walk":
            entries["half_years"] = half_years(known_years)
    if law.family_effects:
        entries["families"] = sorted(models["family"].unique())
        entries["family_of"] = pd.Index(entries["families"]).get_indexer(models["family"]).tolist()
    if law.version_effects:
        several = rows.groupby("model")["version"].nunique() > 1
        entries["one_version"] = (~several[models["model"]]).tolist()
        entries["versions"] = sorted(versions(rows[rows["model"].map(several)]).unique())
    return entries


def half_years(years):
    """List the starts of half-years between the first and the last of some dates, where a random walk steps.

    Examples
    --------
    >>> half_years(np.array([2023.1, 2024.7]))
    [2023.5, 2024.0, 2024.5]
    """
    return (np.arange(np.floor(2 * years.min()) + 1, np.ceil(2 * years.max())) / 2).tolist()


def trend(year, log_compute, error):
    """Estimate where true log computes lie: mean in mid-2024, its change a year, and variance, in plain values.

    The mean is the least-squares line of stated log computes on the date. The variance is that of the residuals less
    the mean variance of the errors.
    """
    measured = np.isfinite(log_compute)
    columns = np.column_stack([np.ones(measured.sum()), year[measured]])
    line, *_ = np.linalg.lstsq(columns, log_compute[measured])
    residuals = log_compute[measured] - columns @ line
    variance = residuals @ residuals / (measured.sum() - 2) - np.mean(error[measured] ** 2)
    return [*line.tolist(), max(float(variance), 0.0)]


def versions(rows):
    """Name the version of a model that each row is of, a Series of str."""
    return rows["model"].astype(str) + ": " + rows["version"].astype(str)


def computes(law, models):
    """Return logs of computes over 1e24 FLOP and their errors in e-folds, (model,), NaN where unknown."""
    nothing = pd.Series(np.nan, models.index)
    compute = models.get("training_compute_flop", nothing).to_numpy(float)
    stated = models.get("compute_confidence", nothing.astype(object)).fillna(USUAL)
    error = stated.map(dict(zip(CONFIDENCES, law.compute_errors, strict=True))).to_numpy(float)
    used = stated.isin(CONFIDENCES if law.speculative else KNOWN).to_numpy()
    measured = used & np.isfinite(compute)
    return np.where(measured, np.log(compute / COMPUTE), np.nan), np.where(measured, np.log(10) * error, np.nan)


def arrays(law, rows, reference):
    """Return the arrays that the model holds as data, each named after what its first axis is of.

    ``model_...`` is by model. ``benchmark_whole`` and ``whole_benchmarks`` average benchmarks, and ``item_benchmark``
    and ``item_whole`` separate them again. ``inner_...``, ``low_...`` and ``high_...`` are rows of scores between the
    ends, at 0 and at 1. Their ``..._per_item`` is 1 over the number of questions, if the table has any. With effects of
    families and of versions there are ``family_one`` and ``version_one``, where ``..._nested`` marks the rows whose
    model has several. Models and benchmarks of the reference without rows here follow their priors.
    """
    count = len(reference["benchmarks"])
    data = {
        "benchmark_whole": np.zeros(count, int),
        "whole_benchmarks": np.array([float(count)]),
        "item_benchmark": np.arange(count),
        "item_whole": np.zeros(count, int),
    } | _of_models(law, reference)
    places = dict(zip(("model", "item"), codes(rows, reference), strict=True))
    if law.version_effects:
        data["version_one"] = np.ones(len(reference["versions"]))
        places["version"], places["nested"] = of_versions(rows, reference)
    score = rows["score"].to_numpy(float)
    for name, selected in zip(WHERE, (~at_low(score) & ~at_high(score), at_low(score), at_high(score)), strict=True):
        data |= {f"{name}_{what}": place[selected] for what, place in places.items()}
        if ITEMS in rows:
            data[f"{name}_per_item"] = per_item(rows)[selected]
        if name == "inner":
            data |= {"inner_log_score": np.log(score[selected]), "inner_log_rest": np.log1p(-score[selected])}
    return data


def placing(law, rows, reference):
    """Return the arrays that place what is sampled: rows of logits of scores, and estimates of benchmarks.

    Logits of scores are a slope of the benchmark times the ability of the model less a difficulty. Least squares
    estimate these in turn, weighted by how much scores spread about their mean. A score at an end counts for nothing.
    Each model has a row of no information in addition, so that none is without.

    By score there are ``row_...``, and ``model_rows``, their number. By benchmark there are ``log_slope``, and the
    weighted means ``ability`` and ``logit``. ``spread``, ``steepness`` and ``freedom`` are what scores tell of its
    difficulty, log slope and log noise. ``weight`` is that of its slope in the mean of all. With ceilings, ``bin_...``
    are means over bins of its scores, and below ``edge`` its scores pin its ceiling.
    """
    models, benchmarks = len(reference["models"]), len(reference["benchmarks"])
    (model, item), questions = codes(rows, reference), per_item(rows)
    score = rows["score"].to_numpy(float)
    inner = ~at_low(score) & ~at_high(score)
    score = np.clip(score, END, 1 - END)
    logit, weight = np.log(score) - np.log1p(-score), inner * score * (1 - score)
    slope, difficulty = np.ones(benchmarks), np.zeros(benchmarks)

    def mean(x, codes, weight=weight):
        total = np.bincount(codes, weight, minlength=models if codes is model else benchmarks)
        return np.bincount(codes, weight * x, len(total)) / np.where(total > 0, total, 1.0)

    for _ in range(SWEEPS):
        ability = mean(logit / slope[item] + difficulty[item], model, weight * slope[item] ** 2)
        of_ability, of_logit = mean(ability[model], item), mean(logit, item)
        away = ability[model] - of_ability[item]
        steepness = np.bincount(item, weight * away**2, benchmarks) + RIDGE
        slope = np.clip((np.bincount(item, weight * away * logit, benchmarks) + RIDGE) / steepness, *RELATIVE)
        slope = slope / np.exp(np.log(slope).mean())
        difficulty = of_ability - of_logit / slope
        difficulty = difficulty - difficulty.mean()
    free = max(1 - (models + 2 * benchmarks) / len(rows), 0.2)
    data = {
        "row_model": np.append(model, np.arange(models)),
        "row_item": np.append(item, np.zeros(models, int)),
        "model_rows": np.bincount(model, minlength=models) + 1.0,
        "benchmark_log_slope": np.log(slope),
        "benchmark_spread": np.bincount(item, weight, benchmarks),
        "benchmark_ability": of_ability,
        "benchmark_logit": of_logit,
        "benchmark_steepness": slope**2 * (steepness - RIDGE),
        "benchmark_weight": steepness / steepness.sum(),
        "benchmark_freedom": 2 * np.bincount(item, inner, benchmarks) * free,
        "benchmark_per_item": mean(questions, item, 1.0 * inner),
    }
    of_rows = {"logit": logit, "spread": weight, "per_item": questions}
    if law.ceilings:
        data |= _bins(score, {"ability": ability[model], "logit": logit, "spread": weight}, item, benchmarks)
    if "versions" in reference:
        of_rows["nested"] = of_versions(rows, reference)[1]
    return data | {f"row_{name}": np.append(x, np.zeros(models)) for name, x in of_rows.items()}


def _bins(score, of_rows, item, benchmarks):
    """Return means over bins of each benchmark's scores by size, (benchmark, bin), and its highest scores' logit."""
    rank = pd.Series(score).groupby(item).rank(method="first").to_numpy() - 1
    count = np.bincount(item, minlength=benchmarks)
    bins = item * BINS + (rank * BINS / count[item]).astype(int)
    spread = np.bincount(bins, of_rows["spread"], benchmarks * BINS)
    data = {"spread": spread} | {
        name: np.bincount(bins, of_rows["spread"] * of_rows[name], len(spread)) / np.where(spread > 0, spread, 1.0)
        for name in ("ability", "logit")
    }
    highest = np.bincount(item, score * (rank >= count[item] - HIGHEST), benchmarks) / np.clip(count, 1, HIGHEST)
    data = {f"benchmark_bin_{name}": x.reshape(benchmarks, BINS) for name, x in data.items()}
    return data | {"benchmark_edge": special.logit(np.maximum(highest, END)) + ABOVE}


def per_item(rows):
    """Return 1 over the number of questions whose mean each score is, 0 where it is not known, (row,)."""
    items = rows[ITEMS].to_numpy(float) if ITEMS in rows else np.full(len(rows), np.nan)
    return np.nan_to_num(1 / items)


def _of_models(law, reference):
    count = len(reference["models"])
    data = {"model_year": np.zeros(count)}
    if law.pace is not None:
        log_compute, error = (np.array(reference[name], float) for name in ("log_compute", "compute_error"))
        year, variance = np.array(reference["years"]), np.nan_to_num(error) ** 2
        measured = np.isfinite(log_compute)
        if law.compute_prior == "normal":
            centre, yearly, spread = reference["compute_trend"]
            share = spread / (spread + variance)
            log_compute = share * log_compute + (1 - share) * (centre + yearly * year)
            variance = share * variance
        data = {
            "model_year": year,
            "model_known": measured.astype(float),
            "model_log_compute": np.nan_to_num(log_compute),
            "model_compute_variance": variance,
        }
        if law.pace == "break":
            data["model_since_break"] = year + YEAR - law.break_year
        if law.pace == "sampled_break":
            low, high = reference["break_span"]
            data["model_since_first_break"] = year + YEAR - low
            data["model_break_span"] = np.full(count, high - low)
        if law.pace == "random_walk":
            starts = np.array(reference["half_years"]) - YEAR
            data["model_walk"] = np.maximum(year[:, None] - starts, 0) - np.maximum(-starts, 0)
    if law.version_effects:
        data["model_one_version"] = np.array(reference["one_version"], float)
    if law.family_effects:
        data |= {"model_family": np.array(reference["family_of"]), "family_one": np.ones(len(reference["families"]))}
    return data


def at_low(score):
    """Return whether scores are at the lower end."""
    return score <= END


def at_high(score):
    """Return whether scores are at the upper end."""
    return score >= 1 - END


def codes(rows, reference):
    """Return the places of the rows' models and benchmarks in the reference, refusing one that is not there."""
    return [places_of(rows, column, reference[f"{column}s"]) for column in ("model", "benchmark")]


def of_versions(rows, reference):
    """Return versions' places in the reference and whether models have several; the place is 0 for those of one."""
    model, _ = codes(rows, reference)
    nested = ~np.array(reference["one_version"], bool)[model]
    places = np.zeros(len(rows), int)
    places[nested] = places_of(rows[nested], "version", reference["versions"], versions(rows[nested]))
    return places, nested.astype(float)

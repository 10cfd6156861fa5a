"""The arrays of a table of scores: what is known of its models, and its rows by where their scores lie."""

import numpy as np
import pandas as pd

from ...datasets.wording import quoted
from ...errors import InputError
from .item import expected
from .noise import END

COMPUTE, YEAR = 1e24, 2024.5  # FLOP and the date that capabilities are relative to
CONFIDENCES = ("Confident", "Likely", "Speculative")
USUAL = "Likely"  # a compute that no one says how sure they are of
KNOWN = ("Confident", "Likely")
WHERE = ("inner", "low", "high")


def reference(law, rows):
    """Name models, benchmarks and families, and say what is known of each model, in plain values."""
    models = rows.drop_duplicates("model").sort_values("model")
    found = {"models": models["model"].tolist(), "benchmarks": sorted(rows["benchmark"].unique())}
    if law.pace is not None:
        log_compute, error = computes(law, models)
        found["years"] = (models["year"] - YEAR).tolist()
        found["log_compute"] = [None if np.isnan(x) else float(x) for x in log_compute]
        found["compute_error"] = [None if np.isnan(x) else float(x) for x in error]
    if law.family_effects:
        found["families"] = sorted(models["family"].unique())
        found["family_of"] = pd.Index(found["families"]).get_indexer(models["family"]).tolist()
    if law.version_effects:
        several = rows.groupby("model")["version"].nunique() > 1
        found["one_version"] = (~several[models["model"]]).tolist()
        found["versions"] = sorted(versions(rows[rows["model"].map(several)]).unique())
    found["origins"] = _origins(law, rows, found)
    return found


def _origins(law, rows, found):
    """Mean capability that the priors' medians expect of the models with scores on each benchmark, in plain values."""
    medians = {name: np.array(prior.frozen.median()) for name, prior in law.prior_of.items()}
    mean, _ = expected(medians, law.pace, _of_models(law, found))
    of_model = dict(zip(found["models"], mean.tolist(), strict=True))
    return rows["model"].map(of_model).groupby(rows["benchmark"]).mean()[found["benchmarks"]].tolist()


def versions(rows):
    """Name the version of a model that each row is of, a Series of str."""
    return rows["model"].astype(str) + ": " + rows["version"].astype(str)


def computes(law, models):
    """Logarithms of computes over 1e24 FLOP and their errors in e-folds, (model,), NaN where one is not known."""
    nothing = pd.Series(np.nan, models.index)
    compute = models.get("training_compute_flop", nothing).to_numpy(float)
    stated = models.get("compute_confidence", nothing.astype(object)).fillna(USUAL)
    error = stated.map(dict(zip(CONFIDENCES, law.compute_errors, strict=True))).to_numpy(float)
    used = stated.isin(CONFIDENCES if law.speculative else KNOWN).to_numpy()
    known = used & np.isfinite(compute)
    return np.where(known, np.log(compute / COMPUTE), np.nan), np.where(known, np.log(10) * error, np.nan)


def arrays(law, rows, reference):
    """Arrays that the model holds as data, each named after what its first axis is of.

    Parameters
    ----------
    law : Scores
    rows : DataFrame
        Of models and benchmarks of the reference; those that have none here have what their priors say.
    reference : dict

    Returns
    -------
    dict of str to ndarray
        ``model_...`` by model; ``benchmark_origin``, where difficulties are counted from; ``benchmark_whole`` and
        ``whole_benchmarks``, by which benchmarks are averaged, and ``item_benchmark`` and ``item_whole``, by which they
        are then told apart again; ``inner_...``, ``low_...`` and ``high_...``, rows of scores between the ends, at 0
        and at 1; ``family_one`` and ``version_one`` with effects of families and of versions, where ``..._nested`` says
        of which rows the model has several.
    """
    count = len(reference["benchmarks"])
    found = {
        "benchmark_whole": np.zeros(count, int),
        "whole_benchmarks": np.array([float(count)]),
        "item_benchmark": np.arange(count),
        "item_whole": np.zeros(count, int),
        "benchmark_origin": np.array(reference["origins"]),
    } | _of_models(law, reference)
    places = dict(zip(("model", "item"), codes(rows, reference), strict=True))
    if law.version_effects:
        found["version_one"] = np.ones(len(reference["versions"]))
        places["version"], places["nested"] = of_versions(rows, reference)
    score = rows["score"].to_numpy(float)
    for name, own in zip(WHERE, (~at_low(score) & ~at_high(score), at_low(score), at_high(score)), strict=True):
        found |= {f"{name}_{what}": place[own] for what, place in places.items()}
        if name == "inner":
            found |= {"inner_log_score": np.log(score[own]), "inner_log_rest": np.log1p(-score[own])}
    return found


def _of_models(law, reference):
    count = len(reference["models"])
    found = {"model_year": np.zeros(count)}
    if law.pace is not None:
        log_compute, error = (np.array(reference[name], float) for name in ("log_compute", "compute_error"))
        year = np.array(reference["years"])
        found = {
            "model_year": year,
            "model_known": np.isfinite(log_compute).astype(float),
            "model_log_compute": np.nan_to_num(log_compute),
            "model_compute_variance": np.nan_to_num(error) ** 2,
        }
        if law.pace == "break":
            found["model_since_break"] = year + YEAR - law.break_year
    if law.version_effects:
        found["model_one_version"] = np.array(reference["one_version"], float)
    if law.family_effects:
        found |= {"model_family": np.array(reference["family_of"]), "family_one": np.ones(len(reference["families"]))}
    return found


def at_low(score):
    """Whether scores are at the lower end."""
    return score <= END


def at_high(score):
    """Whether scores are at the upper end."""
    return score >= 1 - END


def codes(rows, reference):
    """Places of the rows' models and benchmarks in the reference.

    Raises
    ------
    InputError
        If one is not there.
    """
    columns = (("model", reference["models"]), ("benchmark", reference["benchmarks"]))
    return [_places(rows, column, rows[column], names) for column, names in columns]


def of_versions(rows, reference):
    """Places of the rows' versions in the reference, and whether their models have several; 0 for those of one."""
    model, _ = codes(rows, reference)
    nested = ~np.array(reference["one_version"], bool)[model]
    found = np.zeros(len(rows), int)
    found[nested] = _places(rows[nested], "version", versions(rows[nested]), reference["versions"])
    return found, nested.astype(float)


def _places(rows, column, own, names):
    places = pd.Index(names).get_indexer(own)
    if (places < 0).any():
        row = int(np.argmax(places < 0))
        raise InputError(
            f"{rows.attrs.get('source', 'the table')}: {column} {quoted(own.iloc[row])} in row {rows.index[row] + 1} "
            "is none of those fitted; fit a table that has it"
        )
    return places

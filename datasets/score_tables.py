"""The built-in tables of scores of models on benchmarks, and of the models."""

from .cells import fractional_years
from .table import Table

MODEL = {
    "date": "release of the model, of several versions that of the first",
    "year": "the same in fractional years, derived",
    "family": "models of one name but for their sizes and dates, derived from the name",
    "training_compute_flop": "training compute, FLOP, where known in April 2026",
    "compute_confidence": "how sure it is: Confident, Likely or Speculative",
}
ECI = (
    "Epoch AI, Epoch Capabilities Index, August 2026; training compute, its Benchmarking Hub, April 2026",
    "CC-BY 4.0",
)
ECI_SCORES = (
    ECI[0],
    "CC-BY 4.0 as Epoch AI states for its file; scores collected from others may have other terms, see the notes",
)
ROSETTA = (
    "Ho et al. 2025 (arXiv 2512.00193), epoch-research/benchmark-stitching at f87d3cc; training compute, Epoch AI",
    "MIT (scores and models) and CC-BY 4.0 (training compute)",
)


def _year(table):
    return fractional_years(table["date"])


SCORE_TABLES = (
    Table(
        "eci_scores",
        2249,
        "scores",
        "Scores of 222 models on 57 benchmarks, corrected for chance, February 2023 to July 2026",
        *ECI_SCORES,
        {
            "model": "name of the model",
            "benchmark": "name of the benchmark",
            "score": "score, 0 (chance) to 1",
            "version": "version of the model that the score is of",
            "score_source": "where Epoch AI has the score from, where its file names it",
            **MODEL,
            "organization": "who made the model, where known",
        },
        {"year": _year},
        joined="eci_models",
    ),
    Table(
        "eci_models",
        222,
        "models",
        "The models of eci_scores: dates, training compute and the published index",
        *ECI,
        {
            "model": "name of the model",
            **MODEL,
            "organization": "who made the model, where known",
            "accessibility": "how the model can be had",
            "eci": "published Epoch Capabilities Index",
            "eci_low": "lower end of its 90% bootstrap interval; the two anchors have none",
            "eci_high": "upper end of its 90% bootstrap interval; the two anchors have none",
        },
        {"year": _year},
    ),
    Table(
        "rosetta_scores",
        1324,
        "scores",
        "Scores of 179 model versions on 38 benchmarks, not corrected for chance, to November 2025",
        *ROSETTA,
        {
            "model": "version of the model",
            "benchmark": "name of the benchmark",
            "score": "score, 0 to 1, the best of several sources",
            "optimized": "1 for a benchmark that models were trained to do well on, else 0",
            "is_math": "1 for a benchmark of mathematics, else 0",
            "is_coding": "1 for a benchmark of coding, else 0",
            **MODEL,
            "model_name": "name of the model that the version is of, where known",
        },
        {"year": _year},
        joined="rosetta_models",
    ),
    Table(
        "rosetta_models",
        179,
        "models",
        "The model versions of rosetta_scores: dates, training compute of two tables, and whether distilled",
        *ROSETTA,
        {
            "model": "version of the model",
            "model_name": "name of the model that the version is of, where known",
            **MODEL,
            "compute_2025_flop": "training compute in tables of 2025, FLOP, closed models included",
            "compute_2025_confidence": "how sure that is, as the tables say it",
            "distilled": "1 for a model distilled from another, as the paper has it, else 0",
            "distilled_confidence": "how sure that is: high, medium or low",
        },
        {"year": _year},
    ),
)

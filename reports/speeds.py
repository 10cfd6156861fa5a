"""Speeds of AI progress side by side: what doubles or halves, from which data, and what others published."""

from ..datasets import load
from ..datasets.files import evidence
from ..inference.words import HIGH, LOW, MIDDLE, months

MONTH = 365.25 / 12  # days
STUDIES = ("horizons_weirdml", "values_horizons", "values_compute")
WEIRDML, BEST, COMPUTE = STUDIES
SINCE = "2023"
HO = "progress.doubling_months.closed_form"


def of_studies():
    """Return the months in which horizons and training compute double, from long studies, by study."""
    results = {name: evidence(name)["result"] for name in STUDIES}
    days = {
        WEIRDML: results[WEIRDML]["fits"]["linear"]["doubling_days"]["all"],
        BEST: results[BEST][SINCE]["days"],
        COMPUTE: results[COMPUTE]["latest_days"],
    }
    rows = {WEIRDML: None, BEST: results[BEST][SINCE]["rows"], COMPUTE: results[COMPUTE]["rows"]}
    studies = {name: {"months": in_months(of), "rows": rows[name]} for name, of in days.items()}
    studies[BEST]["published"] = in_months(published(f"horizons.doubling_days.since_{SINCE}"))
    return studies


def rows(loss, evaluations, capability, models, studies):
    """Return what doubles or halves, its months, its data and published months, in words: a list of tuples.

    `loss` and `capability` are quantiles of the months in which the compute for a given perplexity, or capability,
    halves. They are of so many evaluations, or models; `studies` is from `of_studies`.
    """
    return [
        ("compute for a given perplexity halves", months(loss),
         f"{evaluations} evaluations of language models, 2012 to 2023", f"{months(published(HO))} (Ho et al. 2024)"),
        ("compute for a given capability on benchmarks halves", months(capability),
         f"scores of {models} models, 2023 to 2026, one constant rate", "–"),
        ("time horizon of all models doubles, calibrated on timed tasks", months(studies[WEIRDML]["months"]),
         "WeirdML: 87 models on 17 tasks, 2023 to 2026", "about 6 (WeirdML 2026)"),
        ("time horizon of models that were best at release doubles", months(studies[BEST]["months"]),
         f"{studies[BEST]['rows']} published horizons with their limits, from {SINCE}",
         f"{months(studies[BEST]['published'])} (METR 2026)"),
        ("training compute of the ten largest models doubles", months(studies[COMPUTE]["months"]),
         f"{studies[COMPUTE]['rows']} models, 2018 to 2025, one change of the rate",
         "5.2 to 6.0 (Sevilla and Roldán 2024)"),
    ]  # fmt: skip


def published(quantity):
    """Return a published estimate with its limits, as quantiles are named."""
    row = load("published").set_index("quantity").loc[quantity]
    return {LOW: row["low"], MIDDLE: row["estimate"], HIGH: row["high"]}


def in_months(days):
    """Return quantiles of days in months, None where there is none."""
    return {end: None if days[end] is None else days[end] / MONTH for end in (LOW, MIDDLE, HIGH)}

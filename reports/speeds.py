"""Speeds of AI progress from long studies, and what others published."""

from ..datasets import load
from ..datasets.files import evidence
from ..inference.words import HIGH, LOW, MIDDLE

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


def published(quantity):
    """Return a published estimate with its limits, as quantiles are named."""
    row = load("published").set_index("quantity").loc[quantity]
    return {LOW: row["low"], MIDDLE: row["estimate"], HIGH: row["high"]}


def in_months(days):
    """Return quantiles of days in months, None where there is none."""
    return {end: None if days[end] is None else days[end] / MONTH for end in (LOW, MIDDLE, HIGH)}

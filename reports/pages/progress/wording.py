"""The names of specifications and variants on pages on algorithmic progress, and doubling times in words."""

import numpy as np

from ....models.progress.specifications import NO_PROGRESS, SPECIFICATIONS
from ...laws import EFFECTS, INDEPENDENT
from .specifications import TEN_BEST, TOP

REMARKS = {
    1: "one intercept",
    2: "one intercept, data only",
    3: "one intercept, parameters only",
    4: "one intercept, years by benchmark in N",
    5: "one intercept, years by benchmark in D",
    6: "one intercept, years by benchmark",
    7: "main one of the paper",
    8: "progress in data only",
    9: "progress in parameters only",
    10: "years by benchmark",
    11: "years and exponents by benchmark",
    12: "one year slope for both terms",
    13: "exponents by architecture",
    14: "progress through exponents only",
    15: "progress through exponents too",
    16: "no progress",
    17: "no progress, exponents by architecture",
    18: "compute only",
    19: "with vocabulary",
    20: "diminishing returns of epochs",
}
COMPUTE_ONLY = 18
EFFECTS_WORDS = {EFFECTS: "with random effects by paper", INDEPENDENT: "without random effects by paper"}
POOLED = {
    "stacking": "stacking",
    "by_paper_stacking": "stacking by paper",
    "pseudo_bma": "pseudo-BMA+",
    "equal": "equal weights",
    TEN_BEST: f"{TOP} best of 1 to 15",
}
VARIANT_NAMES = {
    "main": "specification 7",
    "student_t": "Student-t residuals",
    "log_loss": "residuals of log loss",
    "pooling": "benchmarks' spread estimated",
    "paper_effects": "paper effects",
    "scatter": "scatter by benchmark",
    "paper_effects_scatter": "paper effects, scatter by benchmark",
    "irreducible": "irreducible loss by benchmark",
    "transformer_exp": "transformer factor exp(γ)",
    "transformer_sigmoid": "transformer factor σ(γ)",
    "non_transformers": "non-transformers only",
    "tokens_seen_imputed": "tokens seen, unknown epochs 1",
    "tokens_seen": "tokens seen, unknown epochs dropped",
    "diminishing_imputed": "diminishing returns, unknown epochs 1",
    "diminishing": "diminishing returns, unknown epochs dropped",
    "repeated_imputed": "repeated data, unknown epochs 1",
    "repeated": "repeated data, unknown epochs dropped",
    "vocabulary": "vocabulary (specification 19)",
}


def months(x):
    """Write a doubling time; infinite is "never"."""
    if not np.isfinite(x):
        return "never"
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}"


def finite(rate):
    """Return the finite draws of a rate: those with an optimum."""
    values = np.ravel(rate)
    return values[np.isfinite(values)]


def quantiles_of(q):
    """Return the quantiles of a doubling time of results.json, with infinity for null."""
    return {name: np.inf if x is None else x for name, x in q.items()}


def words(q):
    """Return the median and 95% interval of a doubling time in words; null and infinity are never."""
    return spanned(*(months(np.inf if q[name] is None else q[name]) for name in ("q2.5", "q50", "q97.5")))


def far_times(findings, k):
    """Return the doubling time of a specification at the optimum, under its first label."""
    return next(iter(findings.compared["times"][str(k)].values()))


def draws_interval(draws, form="{:.3f}"):
    """Return the median and 95% interval of draws in words; draws that are NaN are left out."""
    return spanned(*(form.format(x) for x in np.nanquantile(np.ravel(draws), [0.025, 0.5, 0.975])))


def spanned(low, middle, high):
    """Write an interval that no line break splits."""
    return f"{middle}\u00a0[{low},\u00a0{high}]"


def formula(k):
    """Return both predictors of a specification in one line."""
    spec = SPECIFICATIONS[k]
    return spec.parameters + (f" | {spec.data}" if spec.data else "")


def name_of(k):
    """Return the number and name of a specification; a variant has only a name."""
    return f"{k}  {REMARKS[k]}" if k in REMARKS else k


def with_progress(findings):
    """Return the specifications with progress, best elpd first."""
    return [k for k in findings.comparison.index if k not in NO_PROGRESS]


def in_a_row(values):
    """Write values one after the other, "none" if there are none."""
    return ", ".join(map(str, values)) or "none"


def quoted_times(findings):
    """Return the label of the specification that is quoted, and its doubling time as `times` gives it."""
    entry = findings.document["compute_equivalent_gain"]["quoted"]
    q = quantiles_of(entry["doubling_months"]) | {"p_progress": entry["p_progress"]}
    return f"specification {entry['specification']} (quoted)", q

"""Priors of the quantities of algorithmic progress, and the reasons for them."""

import re
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ..priors import NUMBER, Prior, shown


@dataclass(frozen=True)
class Judged:
    """The prior of a quantity: its location and spread on the sampled scale, its form, and the reason for it."""

    location: float
    spread: float
    form: str
    rationale: str


JUDGED = {
    "loss_centre": Judged(
        1.3, 0.3, "LogNormal", "Loss at the centre of a benchmark's rows: 2.0 to 6.6 nats, perplexity 8 to 730."
    ),
    "share": Judged(
        0.0,
        0.5,
        "LogitNormal",
        "Share of the parameter term there: common mean of sd 1.5 (5% to 95%), benchmarks within sd 0.5 of it.",
    ),
    "elasticity_parameters": Judged(
        -3.0,
        1.0,
        "LogNormal",
        "Fall of log loss per e-fold of parameters: 0.7% to 35%, so tenfold lowers the loss by 2% to 55%.",
    ),
    "elasticity_data": Judged(-3.0, 1.0, "LogNormal", "The same for data."),
    "yearly_total": Judged(
        0.0,
        0.05,
        "Normal",
        "Yearly fall of log loss at fixed size, through both terms: -10% to 10%, no sign preferred; where "
        "benchmarks differ, most of it in common.",
    ),
    "yearly_split": Judged(
        0.0, 0.1, "Normal", "Difference of the two terms' yearly falls: either term may carry the progress."
    ),
    "irreducible_share": Judged(-1.0, 1.5, "LogitNormal", "Share of the loss that no size removes: 2% to 87%."),
    "vocabulary": Judged(0.0, 0.1, "Normal", "Nats of loss per e-fold of vocabulary."),
    "transformer": Judged(
        0.0, 0.3, "Normal", "Log factor of a transformer on the reducible loss (or the log-odds of the factor, sd 3)."
    ),
    "sigma": Judged(
        -1.6, 0.7, "LogNormal", "Scatter about the law: 0.05 to 0.8 nats (or a quarter of that on log loss)."
    ),
    "nu_minus_one": Judged(2.3, 1.0, "LogNormal", "Degrees of freedom above 1: from nearly Cauchy to nearly normal."),
    "sigma_benchmark": Judged(
        0.0, 0.5, "Normal", "Log of a benchmark's scatter over the common one: a third to three times as large."
    ),
    "pace_sd": Judged(
        -3.9,
        0.8,
        "LogNormal",
        "Change of the yearly fall of log loss from one two-year stretch to the next: 0.4% to 10%, as large at most as "
        "the fall itself.",
    ),
    "paper_sd": Judged(-1.9, 0.8, "LogNormal", "Scatter between papers: 0.03 to 0.7 nats."),
    "pooled_loss_centre": Judged(
        -1.6, 0.8, "LogNormal", "Scatter of benchmarks' log loss centres, where it is estimated: 0.04 to 1.0."
    ),
    "pooled_share": Judged(
        -0.7, 0.8, "LogNormal", "Scatter of benchmarks' logit shares, where it is estimated: 0.1 to 2.4."
    ),
    "pooled_yearly": Judged(
        -3.7, 0.8, "LogNormal", "Scatter of benchmarks' yearly falls, where it is estimated: 0.5% to 12%."
    ),
}
SHARE_MEAN_SD = 1.5
# The share of the prior sd of a yearly fall that is specific to one benchmark, where falls differ by benchmark.
# Benchmarks have the rest in common, since what made one easier helped the others: a correlation of 0.75.
OWN_YEARLY = 0.5


def judged_prior(name, prior):
    """Return the location and spread of a prior: a pair, or text such as ``"LogNormal(-3, 1)"`` of its form."""
    form = JUDGED[name].form
    fix = f"write {form}({JUDGED[name].location:g}, {JUDGED[name].spread:g}) or another location and spread"
    if isinstance(prior, str):
        match = re.fullmatch(r"(\w+)\(\s*(?:mu\s*=\s*)?([^,=]+),\s*(?:sigma\s*=\s*)?([^,=]+)\)", prior.strip())
        if not match or match[1] != form:
            raise InputError(f"prior {name}={shown(prior)}: {name} has a {form} prior; {fix}")
        prior = match[2].strip(), match[3].strip()
    try:
        if not all(NUMBER.fullmatch(str(x)) for x in prior):
            raise ValueError
        location, spread = (float(x) for x in prior)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"prior {name}={shown(prior)} cannot be read; {fix}") from None
    if not (np.isfinite(location) and 0 < spread < np.inf):
        raise InputError(f"prior {name}=({location:g}, {spread:g}): the spread must be positive; {fix}")
    # On the sampled scale, every form is a normal.
    Prior.parse(f"Normal({location!r}, {spread!r})")
    return location, spread


def locations_and_spreads(law):
    """Return the location and spread of the priors of all coordinates z under a law, (coordinate,) each."""
    location, spread = np.repeat([_prior(law, name) for name in law.blocks], list(law.blocks.values()), axis=0).T
    if law.drifts and not law.pooling:
        spread[law.slices["yearly_total"]][[drift.of_benchmarks for drift in law.drifts]] *= OWN_YEARLY
    return location, spread


def _prior(law, name):
    if name in law.priors:
        return law.priors[name]
    judged = JUDGED[name]
    if name == "transformer" and law.transformer == "sigmoid":
        return 0.0, 3.0
    if name == "sigma" and law.scale == "log_loss":
        return judged.location - np.log(4), judged.spread
    return judged.location, judged.spread


def between(law):
    """Return the prior sd of what benchmarks have in common, (3,): loss centre, share and yearly total."""
    centre, yearly = (_prior(law, name)[1] for name in ("loss_centre", "yearly_total"))
    return np.array([centre * law.pooling, SHARE_MEAN_SD, yearly * (1 if law.pooling else np.sqrt(1 - OWN_YEARLY**2))])


def described_priors(law):
    """Return the prior of each sampled quantity whose prior can be set, in words."""
    return {name: "{}({:.4g}, {:.4g})".format(JUDGED[name].form, *_prior(law, name)) for name in law.blocks}

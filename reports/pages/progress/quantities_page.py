"""Pages on what follows from algorithmic progress: attribution, frontiers, the data themselves and scaling rules."""

import numpy as np

from ....inference.intervals import QUANTILES
from ....inference.progress import contributions
from ....inference.words import HIGH, LOW, MIDDLE, probability, si
from ....models.draws import DRAWS
from ....models.loss.rules import chinchilla_over_kaplan
from ...drawing import tables
from . import figures
from . import quantities_figures as quantities
from .analysis import MAIN
from .published import DIRECT_PUBLISHED, DOUBLING
from .wording import draws_interval, finite, words

SCALES = {"GPT-2 scale": ("gpt2", 1.5e21), "PaLM scale": ("palm", 2.5e24)}
FRONTIER_SYSTEM, FRONTIER_YEARS = "GPT-2 (1542M)", (2013.0, 2015.0, 2017.0, 2019.0, 2021.0, 2023.0)


def _published_shares(found, published):
    shares = found.attribution
    return {
        (pair, move): published(f"attribution.{pair}.{move}")[0]
        for pair in shares["pair"].values
        for move in shares["move"].values
    }


def _attribution_text(found, published):
    low, _, high = (100 * found.attribution["share"].quantile([0.025, 0.5, 0.975], DRAWS)).values
    theirs = np.array(
        [[published[p, m] for m in found.attribution["move"].values] for p in found.attribution["pair"].values]
    )
    known = np.isfinite(theirs)
    inside = int(((theirs >= low) & (theirs <= high) & known).sum())
    last = found.document["attribution"][-1]
    share = tables.interval({name: 100 * last["progress"][name] for name in QUANTILES}, "{:.0f}")
    return [
        "Shapley shares of four moves in the fall of predicted loss between two systems, over all orders: more "
        "parameters, more data, and progress in the use of each. "
        f"{inside} of {int(known.sum())} published shares lie within our 95% intervals.",
        f"Progress of both kinds made {share}% of the fall from {last['from']} to {last['to']}; the split "
        "between its two kinds is the ridge again.",
    ]


def _frontier_system(found):
    table = found.table
    chosen = table[(table["system"] == FRONTIER_SYSTEM) & (table["benchmark"] == "wt103")]
    return None if chosen.empty else chosen.iloc[0]


def _build_up_text(found, published):
    made = found.document["effective_compute_since_2014"]
    factor = np.exp(finite(contributions.effective_compute(found.fits[MAIN], [2023.0])))
    theirs = published("progress.effective_compute_since_2014")[0]
    physical = float(np.exp(contributions.physical_compute(2023.0)))
    above = float((factor >= theirs).mean())
    middle, low, high = (si(made[name], "{:.2g}".format) for name in (MIDDLE, LOW, HIGH))
    said = f"{middle} [{low}, {high}]"
    return [
        f"From 2014 to 2023 algorithms multiplied effective compute by {said}; published "
        f"{theirs:,.0f} (P(≥ published) {probability(above)}). Physical compute, as the paper has it, grew by a factor "
        f"of {si(physical)}."
    ]


def _direct_table(found, published):
    header = ("reference", "perplexity within", "systems", "doubling (months)", "published (months)", "P(progress)")
    rows = []
    for system, estimate in found.direct.items():
        theirs = published.words(f"{DOUBLING}direct.{DIRECT_PUBLISHED.get(system)}")
        ours, sure = estimate.message, "–"
        if estimate.posterior is not None:
            ours = words(dict(zip(("q2.5", "q50", "q97.5"), estimate.doubling_quantiles(), strict=True)))
            sure = probability(estimate.p_progress)
        rows.append((system, f"{estimate.factor:g}×", str(len(estimate.rows)), ours, theirs, sure))
    note = "Systems dated after the reference with known compute, one of each paper; a line of log compute in the date."
    return tables.of_rows(header, rows, note)


def _gain_text(found, published):
    gains = []
    for name, (key, budget) in SCALES.items():
        gain = draws_interval(found.gains["gain"].sel(compute=budget), "{:.2f}")
        implied = f"{chinchilla_over_kaplan(budget, **published.hoffmann):.2f}"
        theirs = published.words("chinchilla_over_kaplan." + key)
        gains.append(
            f"{gain} at {budget:.2g} FLOP ({name}; published {theirs}, by the constants of Hoffmann et al. {implied})"
        )
    return (
        "The factor of compute that Chinchilla's rule saves over Kaplan's at its published constants, under our "
        f"posterior of Chinchilla's law: {' and '.join(gains)}."
    )


def sections(found, published):
    """Sections on what follows from the main specification, in order.

    Parameters
    ----------
    found : Analysis
    published : Published
    """
    fit = found.fits[MAIN]
    shares = _published_shares(found, published)
    system = _frontier_system(found)
    frontier = [] if system is None else [quantities.frontiers(fit, system, FRONTIER_YEARS)]
    reached = (
        []
        if system is None
        else [
            f"Sizes that reach the wt103 perplexity of {system['system']}, {system['perplexity']:g} "
            f"({np.log(system['perplexity']):.2f} nats), by year, for N and D within a factor "
            f"{quantities.WITHIN:,.0f} of its own."
        ]
    )
    theirs = published("progress.effective_compute_since_2014")[0]
    rules = {name: (budget, published(f"chinchilla_over_kaplan.{key}")[0]) for name, (key, budget) in SCALES.items()}
    gain = [] if found.gains is None else [_gain_text(found, published)]
    return [
        {
            "title": "Attribution of progress",
            "text": _attribution_text(found, shares),
            "blocks": [
                quantities.shares(found.attribution, shares),
                quantities.share_intervals(found.attribution, shares),
            ],
        },
        {
            "title": "Frontiers and the build-up of compute",
            "text": [*reached, *_build_up_text(found, published)],
            "blocks": [*frontier, quantities.build_up(fit, theirs)],
        },
        {
            "title": "Straight from the data, and scaling rules",
            "text": [
                "Compute of systems near the perplexity of a reference, by date: few rows, and a reference known for "
                "its size need not have spent the least. Read it as description.",
                *gain,
            ],
            "blocks": [
                figures.direct(found, published),
                quantities.direct_rows(found.direct),
                _direct_table(found, published),
                *([] if found.gains is None else [quantities.rule_gain(found.gains, rules)]),
            ],
        },
    ]

"""The analysis of arithmetic models trained for this package: fits, comparison, generalisation in length."""

from dataclasses import dataclass, field

import numpy as np

from ....datasets import load
from ....inference import fit, intervals
from ....inference.lengths.quantities import (
    LEARNED,
    accuracy_at_length,
    conditions,
    embedding_contrasts,
    length_at_accuracy,
    region_accuracy,
)
from ....inference.lengths.quantities import summary as length_summary
from ....models import Lengths
from ... import results
from ...findings import Findings
from .entries import lengths_entry

STUDIES = ("arithmetic_left_out",)
STAGES = (
    "arithmetic: fits",
    "arithmetic: lengths",
    "arithmetic: equal cost",
    "arithmetic: numbers",
)
MAIN = "lengths"
EQUAL = "lengths, equal cost"
EQUAL_LAW = Lengths(operands="longest")  # both operands are as long in every cell: what the shorter weighs is unknown
ABACUS = "abacus"
JUDGED = (0, 8)  # offsets of Abacus embeddings in the comparison at equal cost: the paper's, and an inner one
NOTHING = 0.05  # share right within the training lengths; who has less learned nothing and has no length to fit
DRAWN = 60
BEYOND = 1.5


@dataclass
class ArithmeticFindings(Findings):
    """What `analyse` returns."""

    counts: object
    arms: object
    fits: dict
    equal: object
    seed: int
    lengths: dict = field(default_factory=dict)
    contrasts: object = None
    regions: object = None
    curves: object = None
    beyond: object = None
    reach: object = None
    entry: dict = field(default_factory=dict)


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the law of lengths and compute how far models go; see `Page.analyse`."""
    counts = load("arithmetic_runs")
    fits = stage("arithmetic: fits", lambda: {MAIN: fit(Lengths(), counts, seed=seed, sampler=sampler, **settings)})
    arms = load("arithmetic_offsets")
    equal = stage("arithmetic: equal cost", lambda: fit(EQUAL_LAW, counts_of(arms), seed=seed, **settings))
    findings = ArithmeticFindings(counts, arms, fits, equal, seed, studies=STUDIES)
    vars(findings).update(stage("arithmetic: lengths", lambda: _lengths(findings)))
    findings.document = stage("arithmetic: numbers", lambda: _document(findings))
    findings.entry = findings.document["lengths"]
    findings.posteriors = {MAIN: fits[MAIN], EQUAL: equal}
    return findings


def _document(findings):
    return {
        "lengths": _entry(findings),
        "abacus_offsets": offsets_entry(abacus(findings.arms)),
        "equal_cost": equal_entry(findings),
    }


def abacus(arms):
    """Return the rows of Abacus embeddings, at every offset."""
    return arms[arms["embedding"] == ABACUS].reset_index(drop=True)


def counts_of(arms):
    """Take what is compared at equal cost: counts of embeddings that learned something, of Abacus at two offsets."""
    something = [name for name, share in shares_within(arms).items() if share >= NOTHING]
    rows = arms[arms["offset"].isin(JUDGED) & arms["embedding"].isin(something)].reset_index(drop=True)
    split = np.where(rows["length"] > rows["train_digits"], "ood", "id")
    counts = rows.assign(length_a=rows["length"], length_b=rows["length"], split=split)
    counts.attrs = {"source": "arithmetic_offsets"}
    return counts


def shares_within(arms):
    """Return the share of sums right within the training lengths, by embedding."""
    within = arms[arms["offset"].isin(JUDGED) & (arms["length"] <= arms["train_digits"])]
    sums = within.groupby("embedding")[["correct", "total"]].sum()
    return (sums["correct"] / sums["total"]).to_dict()


def equal_entry(findings):
    """Return how far each embedding goes at equal cost, and how probably Abacus goes further than each other.

    A contrast of generalisation counts only conditions that learned to add: ``p_abacus_further`` is of these, and
    ``p_abacus_further_all`` of all that are fitted. ``confounded`` has the share right within the training lengths of
    the others, and of those that learned nothing.
    """
    conditions_of = findings.reach["condition"].values
    first = findings.reach.sel(condition=ABACUS, share=0.5)
    others = [name for name in conditions_of if not str(name).startswith(ABACUS)]
    further = {str(name): float((first > findings.reach.sel(condition=name, share=0.5)).mean()) for name in others}
    trained = int(findings.arms["train_digits"].iloc[0])
    entry = lengths_entry(findings.equal, seed=findings.seed)
    nothing = {name: share for name, share in shares_within(findings.arms).items() if share < NOTHING}
    entry["learned"] |= nothing
    learned = {name for name, share in entry["learned"].items() if share is not None and share >= LEARNED}
    return (
        {"data": "arithmetic_offsets", "train_digits": trained}
        | _judged(findings.equal)
        | entry
        | {
            "p_abacus_further": {name: p for name, p in further.items() if {name, ABACUS} <= learned},
            "p_abacus_further_all": further,
            "confounded": {name: share for name, share in entry["learned"].items() if name not in learned},
            "confounded_effects": entry["confounded"],
        }
    )


def _judged(fit):
    return {"verdict": results.verdict_entry(fit), "misfit": results.misfit_entries(fit)}


def _lengths(findings):
    """Return attributes of the findings by name."""
    main, counts, seed = findings.fits[MAIN], findings.counts, findings.seed
    longest = max(counts["length_a"].max(), counts["length_b"].max())
    return {
        "lengths": {seeds: length_summary(main, seeds=seeds, seed=seed) for seeds in ("typical", "new", "runs")},
        "contrasts": embedding_contrasts(main, seed=seed),
        "regions": region_accuracy(main),
        "curves": accuracy_at_length(main, np.linspace(1, longest, DRAWN)),
        "beyond": accuracy_at_length(main, np.ceil(BEYOND * longest), seeds="new", seed=seed),
        "reach": length_at_accuracy(findings.equal, [0.5, 0.95]),
    }


def observed(counts):
    """Return the share right by embedding, run and cell, with the columns of the condition."""
    return counts.assign(accuracy=counts["correct"] / counts["total"])


def offsets_entry(offsets):
    """Return the share right at each length and offset, over all runs and of each seed."""
    entry = {}
    for (length, offset), rows in offsets.groupby(["length", "offset"]):
        shares = dict(zip(rows["seed"].tolist(), (rows["correct"] / rows["total"]).tolist(), strict=True))
        share = float(rows["correct"].sum() / rows["total"].sum())
        entry.setdefault(str(length), {})[str(offset)] = {"share": share, "by_seed": shares}
    return {"data": "arithmetic_offsets", "share_right": entry}


def _entry(findings):
    main = findings.fits[MAIN]
    table = conditions(main)
    entry = {
        "data": "arithmetic_runs",
        "rows": len(findings.counts),
        "conditions": {str(label): row.to_dict() for label, row in table.iterrows()},
        "accuracy": {
            str(label): {
                str(region): intervals.summary(findings.regions.sel(condition=label, region=region))
                for region in findings.regions["region"].values
            }
            for label in table.index
        },
    }
    entry["comparison"] = findings.study("arithmetic_left_out")["models"]
    return entry | _judged(main) | lengths_entry(main, seed=findings.seed)

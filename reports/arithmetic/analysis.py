"""The analysis of arithmetic models trained for this package: fits, comparison, generalisation in length."""

from dataclasses import dataclass, field

import numpy as np

from ...datasets import load
from ...inference import Fitter, compare, loo
from ...inference.quantities.lengths import (
    accuracy_at_length,
    conditions,
    embedding_contrasts,
    length_summary,
    region_accuracy,
)
from ...models import Lengths
from .. import results
from ..findings import Findings
from .entries import lengths_entry

STAGES = ("arithmetic: fits", "arithmetic: leave-one-run-out", "arithmetic: lengths", "arithmetic: numbers")
MAIN = "lengths"
SHAPES = {
    MAIN: Lengths(),
    "logit linear in length": Lengths(shape="linear"),
    "binomial": Lengths(noise="binomial"),
}
DRAWN = 60
BEYOND = 1.5


@dataclass
class ArithmeticFindings(Findings):
    """What `analyse` found."""

    counts: object
    fits: dict
    elpd: dict
    comparison: object
    seed: int
    lengths: dict = field(default_factory=dict)
    contrasts: object = None
    regions: object = None
    curves: object = None
    beyond: object = None
    offsets: object = None
    entry: dict = field(default_factory=dict)


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the law of lengths and simpler ones, compare them, and read how far models go; see `Page.analyse`."""
    counts = load("arithmetic_runs")
    fitters = {name: Fitter(law, counts, sampler=sampler) for name, law in SHAPES.items()}
    fits = stage(
        "arithmetic: fits",
        lambda: {name: fitter.fit(seed=seed, **settings) for name, fitter in fitters.items()},
    )
    elpd = stage(
        "arithmetic: leave-one-run-out",
        lambda: {name: loo(f, fitter=fitters[name]) for name, f in fits.items()},
    )
    found = ArithmeticFindings(counts, fits, elpd, compare(fits, results=elpd), seed)
    stage.update(found, "arithmetic: lengths", _lengths)
    found.offsets = load("arithmetic_offsets")
    found.posteriors = {MAIN: fits[MAIN]}
    found.entry = stage("arithmetic: numbers", lambda: _entry(found))
    found.document = {"lengths": found.entry, "abacus_offsets": offsets_entry(found.offsets)}
    return found


def _lengths(found):
    main, counts, seed = found.fits[MAIN], found.counts, found.seed
    found.lengths = {seeds: length_summary(main, seeds=seeds, seed=seed) for seeds in ("typical", "new", "runs")}
    found.contrasts = embedding_contrasts(main, seed=seed)
    found.regions = region_accuracy(main)
    longest = max(counts["length_a"].max(), counts["length_b"].max())
    found.curves = accuracy_at_length(main, np.linspace(1, longest, DRAWN))
    found.beyond = accuracy_at_length(main, np.ceil(BEYOND * longest), seeds="new", seed=seed)


def observed(counts):
    """Share right by embedding, run and cell, with the condition's columns."""
    return counts.assign(accuracy=counts["correct"] / counts["total"])


def offsets_entry(offsets):
    """Say which share is right at each length and offset, over all runs and of each seed."""
    entry = {}
    for (length, offset), rows in offsets.groupby(["length", "offset"]):
        shares = dict(zip(rows["seed"].tolist(), (rows["correct"] / rows["total"]).tolist(), strict=True))
        share = float(rows["correct"].sum() / rows["total"].sum())
        entry.setdefault(str(length), {})[str(offset)] = {"share": share, "by_seed": shares}
    return {"data": "arithmetic_offsets", "share_right": entry}


def _entry(found):
    main = found.fits[MAIN]
    known = conditions(main)
    entry = {
        "data": "arithmetic_runs",
        "rows": len(found.counts),
        "conditions": {str(label): row.to_dict() for label, row in known.iterrows()},
        "accuracy": {
            str(label): {
                str(region): results.summary(found.regions.sel(condition=label, region=region))
                for region in found.regions["region"].values
            }
            for label in known.index
        },
        "comparison": results.comparison_entries(found.comparison),
    }
    return entry | lengths_entry(main, seed=found.seed)

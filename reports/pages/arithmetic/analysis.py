"""The analysis of how far beyond training arithmetic models of this package go: a fit, and shares of small models."""

import numpy as np

from ....datasets import load
from ....datasets.files import evidence
from ....inference import fit, intervals
from ....inference.kinds.counts import details
from ....inference.lengths.quantities import (
    LEARNED,
    conditions,
    region_accuracy,
)
from ....models.laws import Lengths
from ... import results
from ...findings import Findings

STUDIES = ("arithmetic_left_out",)
STAGES = ("arithmetic: fit", "arithmetic: numbers")
MAIN = "lengths"
TABLE, SMALL = "arithmetic_gpu", "arithmetic_small"
ABACUS = "abacus"
BEYOND = "ood"  # longer than in training, up to 100 digits: the region that McLeish et al. report


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the law of lengths and compute how far models go; see `Page.analyse`."""
    rows = shown_in_training(load(TABLE))
    fitted = stage("arithmetic: fit", lambda: fit(Lengths(), rows, seed=seed, sampler=sampler, check=False, **settings))
    document = stage("arithmetic: numbers", lambda: _numbers(fitted, load(SMALL), seed))
    return Findings(studies=STUDIES, posteriors={MAIN: fitted}, document=document)


def shown_in_training(counts):
    """Return the sums of which training shows every row of the table of Abacus embeddings."""
    longest = counts[["length_a", "length_b"]].max(axis=1)
    return counts[longest < counts["train_digits"] + counts["k_max"]].reset_index(drop=True)


def _numbers(fitted, small, seed):
    """Return the entries of results.json."""
    longest = fitted.rows[["length_a", "length_b"]].max(axis=None)
    entry = details(fitted, seed)
    return {
        "lengths": {
            "data": TABLE,
            "rows": len(fitted.rows),
            "train_digits": int(fitted.rows["train_digits"].max()),
            "longest": int(longest),
            "conditions": {str(label): row.to_dict() for label, row in conditions(fitted).iterrows()},
            "accuracy": accuracies(fitted),
            "rivals": rivals(entry["contrasts"]),
            "other_laws": evidence(*STUDIES)["result"],
            **results.check_entries(fitted),
            **entry,
        },
        "lengths_on_cpu": small_entry(small),
    }


def accuracies(fitted):
    """Return summaries of the mean share right by condition and region."""
    shares = region_accuracy(fitted)
    return {
        str(label): {
            str(region): intervals.summary(shares.sel(condition=label, region=region))
            for region in shares["region"].values
        }
        for label in shares["condition"].values
    }


def rivals(contrasts):
    """Return the contrasts of lengths of Abacus with embeddings that learned their task and are no variant of it."""
    return {
        row["second"]: row
        for row in contrasts
        if row["of"] == "length" and row["first"] == ABACUS and not row["second"].startswith(ABACUS) and row["learned"]
    }


def small_entry(counts):
    """Return the share right within and beyond the lengths of training at offset 0, by embedding and seed."""
    rows = counts[counts["offset"] == 0]
    place = np.where(rows["length"] <= rows["train_digits"], "within", "beyond")
    sums = rows.groupby(["embedding", "seed", place])[["correct", "total"]].sum()
    shares = (sums["correct"] / sums["total"]).unstack()
    by_embedding = {str(name): of.droplevel("embedding") for name, of in shares.groupby("embedding")}
    return {
        "data": SMALL,
        "train_digits": int(rows["train_digits"].max()),
        "longest": int(rows["length"].max()),
        "runs": int(rows["run"].nunique()),
        "share_right": {name: of.rename(str).to_dict("index") for name, of in by_embedding.items()},
        "learned": {name: bool(of["within"].mean() >= LEARNED) for name, of in by_embedding.items()},
    }

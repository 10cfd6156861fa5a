"""The page on arithmetic: how far beyond the lengths of training a model goes, by its embedding of positions."""

import numpy as np

from ....datasets import load
from ....datasets.files import evidence
from ....inference import fit, intervals
from ....inference.kinds.counts import details
from ....inference.lengths.quantities import LEARNED, conditions, region_accuracy
from ....inference.words import digits, plain, position, probability
from ....models.laws import Lengths
from ....plots import plot_lengths
from ... import results
from ...findings import Findings
from ...html import prose, tables
from ...html.illustrations import pictured

STUDIES = ("arithmetic_left_out",)
STAGES = ("arithmetic: fit", "arithmetic: numbers")
MAIN = "lengths"
TABLE, SMALL = "arithmetic_gpu", "arithmetic_small"
ABACUS = "abacus"
BEYOND = "ood"  # longer than in training, up to 100 digits: the region that McLeish et al. report
PUBLISHED = "arithmetic.addition20.{}.ST+injection.ood"
SURE = 0.975  # posterior probability from which a direction is taken as known


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


def settled(rivals):
    """Return whether Abacus surely goes further than every rival that learned, of which there is at least one."""
    return bool(rivals) and min(row["p_first"] for row in rivals.values()) >= SURE


def _chart(findings):
    entry = findings.document["lengths"]
    share = plain(entry["accuracy"][ABACUS][BEYOND], "{:.0%}")
    return pictured(
        plot_lengths,
        findings.posteriors[MAIN],
        title=f"Trained on {entry['train_digits']} digits, Abacus has {share} of longer sums right, up to 100 digits",
        code=f'import bayescaling as bs\n\nbs.plot_lengths(bs.open("posteriors/{MAIN}.nc"))',
    )


def _table(entry, estimates):
    rows = []
    for name, of in entry["lengths"]["typical"].items():
        rival, estimate = entry["rivals"].get(name), estimates.get(PUBLISHED.format(name))
        rows.append({
            "embedding": position(name),
            "longer sums right": tables.interval(entry["accuracy"][name][BEYOND], "{:.1%}"),
            "McLeish et al. 2024": None if estimate is None else f"{estimate:.1f}%",
            "half left at (digits)": digits(of["0.5"]),
            "95% left at (digits)": digits(of["0.95"]),
            "times further with Abacus": None if rival is None else tables.interval(rival, "{:.1f}"),
            "P(Abacus goes further)": None if rival is None else probability(rival["p_first"]),
        })  # fmt: skip
    note = (
        "Of the median run: median and 95% interval. Longer sums have an operand longer than in training, and none "
        "above 100 digits. Lengths: of both operands, at which half, or 95%, of the accuracy at short lengths is left. "
        "McLeish et al.: means of three runs of 16 layers with input injection. Embeddings that did not learn their "
        "task, and variants of Abacus, are not compared."
    )
    return tables.html(rows, note=note, title="How far each embedding goes at equal cost", fits=MAIN)


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry, counts = findings.document["lengths"], load(TABLE)
    estimates = published.set_index("quantity")["estimate"]
    longer = counts[counts["split"] == BEYOND].groupby(["embedding", "run"])[["correct", "total"]].sum()
    shares = (longer["correct"] / longer["total"]).groupby("embedding")
    paper = evidence("experiments")["result"]["arithmetic"]["addition"]
    return prose.sections(
        __file__,
        {"chart": _chart(findings), "lengths": _table(entry, estimates)},
        entry=entry,
        rivals=entry["rivals"],
        settled=settled(entry["rivals"]),
        runs=counts.drop_duplicates("run"),
        seeds={name: (of.min(), of.max()) for name, of in shares},
        last=counts.loc[counts["correct"] > 0, ["length_a", "length_b"]].max(axis=None),
        others=[of["beyond"]["q50"] for of in entry["other_laws"]["abacus"].values()],
        paper_flop=paper["flop"] / paper["runs"],
        provenance=findings.provenance(*STUDIES),
        position=position,
        LEARNED=LEARNED,
        SURE=SURE,
    )

"""The page on arithmetic: how far beyond the lengths of training a model goes, by its embedding of positions."""

from ....datasets import load
from ....datasets.files import evidence
from ....inference.lengths.quantities import LEARNED
from ....inference.words import digits, plain, position, probability
from ....plots import plot_lengths
from ...html import prose, tables
from ...html.illustrations import pictured
from .analysis import ABACUS, BEYOND, MAIN, STUDIES, TABLE

PUBLISHED = "arithmetic.addition20.{}.ST+injection.ood"
SURE = 0.975  # posterior probability from which a direction is taken as known


def settled(rivals):
    """Return whether Abacus surely goes further than every rival that learned, of which there is at least one."""
    return bool(rivals) and min(row["p_first"] for row in rivals.values()) >= SURE


def _chart(findings):
    """Draw accuracy by length, with the share of longer sums right as the finding."""
    entry = findings.document["lengths"]
    share = plain(entry["accuracy"][ABACUS][BEYOND], "{:.0%}")
    return pictured(
        plot_lengths,
        findings.posteriors[MAIN],
        title=f"Trained on {entry['train_digits']} digits, Abacus has {share} of longer sums right, up to 100 digits",
        code=f'import bayescaling as bs\n\nbs.plot_lengths(bs.open("posteriors/{MAIN}.nc"))',
    )


def _table(entry, estimates):
    """Return the table of accuracy and length by embedding, with contrasts to Abacus."""
    rows = []
    for name, of in entry["lengths"]["typical"].items():
        rival, estimate = entry["rivals"].get(name), estimates.get(PUBLISHED.format(name))
        rows.append(
            {
                "embedding": position(name),
                "longer sums right": tables.interval(entry["accuracy"][name][BEYOND], "{:.1%}"),
                "McLeish et al. 2024": None if estimate is None else f"{estimate:.1f}%",
                "half left at (digits)": digits(of["0.5"]),
                "95% left at (digits)": digits(of["0.95"]),
                "times further with Abacus": None if rival is None else tables.interval(rival, "{:.1f}"),
                "P(Abacus goes further)": None if rival is None else probability(rival["p_first"]),
            }
        )
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

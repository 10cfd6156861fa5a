"""The page on arithmetic: how far beyond the lengths of training a model goes, by its embedding of positions."""

from ....datasets.files import evidence
from ....inference.lengths.quantities import LEARNED
from ....inference.words import digits, position, probability
from ...html import tables, verdicts
from ...html import prose
from . import figures
from .analysis import ABACUS, BEYOND, MAIN, STUDIES, shown_in_training

PUBLISHED = "arithmetic.addition20.{}.ST+injection.ood"
SURE = 0.975  # posterior probability from which a direction is taken as known
REGIONS = {"id": "as long as in training", "ood": "longer, up to 100 digits", "ood100": "beyond 100 digits"}


def settled(rivals):
    """Return whether Abacus surely goes further than every rival that learned, of which there is at least one."""
    return bool(rivals) and min(row["p_first"] for row in rivals.values()) >= SURE


def _lengths_table(entry, published):
    rows = []
    for name, of in entry["lengths"]["typical"].items():
        rival, estimate = entry["rivals"].get(name), published.get(PUBLISHED.format(name))
        rows.append(
            {
                "embedding": position(name),
                "longer sums right": tables.interval(entry["accuracy"][name][BEYOND], "{:.1%}"),
                "McLeish et al. 2024": "–" if estimate is None else f"{estimate:.1f}%",
                "half of the accuracy left at (digits)": digits(of["0.5"]),
                "95% left at (digits)": digits(of["0.95"]),
                "right at short lengths": tables.interval(of["plateau"], "{:.1%}"),
                "Abacus goes further by a factor of": "–" if rival is None else tables.interval(rival, "{:.1f}"),
                "P(Abacus goes further)": "–" if rival is None else probability(rival["p_first"]),
            }
        )
    note = (
        "Of the median run: median [95%]. Longer sums have an operand longer than in training, and none above 100 "
        "digits. Lengths are of both operands, and accuracy is counted from that at short lengths. McLeish et al.: "
        "means of three runs of 16 layers with input injection."
    )
    return tables.html(rows, note=note, title="How far each embedding goes at equal cost", fits=MAIN)


def _run_table(findings):
    counts, entry, rows = findings.counts, findings.entry, []
    sums = counts.groupby(["run", "split"], sort=False)[["correct", "total"]].sum()
    shares = (sums["correct"] / sums["total"]).unstack()
    for run, of in entry["lengths"]["runs"].items():
        observed = {text: f"{shares.at[run, region]:.1%}" for region, text in REGIONS.items()}
        fitted = {"half of the accuracy left at (digits)": digits(of["0.5"])}
        rows.append({"run": position(entry["runs"][run])} | observed | fitted)
    note = "Sums right to the last token, by the longer operand, and the length of each fitted run."
    return tables.html(rows, note=note, title="Share of sums right, each run", fits=MAIN)


def _laws_table(study):
    rows = []
    for name, of in study["abacus"].items():
        law = study["models"].get(name)
        difference = "–" if law is None else f"{law['elpd_diff']:.1f} ± {law['dse']:.1f}" if law["dse"] else "best"
        rows.append(
            {
                "law or rows": name,
                "elpd": difference,
                "longer sums right": tables.interval(of["beyond"], "{:.1%}"),
                "half of the accuracy left at (digits)": digits(of["half"]),
            }
        )
    note = (
        "Of the median run with Abacus. Elpd: difference to the best law when runs are left out whole; with so few "
        "runs its standard error is unreliable."
    )
    return tables.html(rows, note=note, title="Abacus under other laws and rows")


def _small_table(small):
    rows = [
        {
            "embedding": position(name),
            f"up to {small['train_digits']} digits, by seed": ", ".join(f"{of['within']:.0%}" for of in seeds.values()),
            f"longer, up to {small['longest']} digits": ", ".join(f"{of['beyond']:.0%}" for of in seeds.values()),
        }
        for name, seeds in small["share_right"].items()
    ]
    return tables.html(rows, title="Share of sums right, small models on a CPU", note="Both operands are equally long.")


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry, counts = findings.entry, findings.counts
    estimates = published.set_index("quantity")["estimate"]
    blocks = {
        "curves": figures.curves(findings),
        "lengths": _lengths_table(entry, estimates),
        "runs": _run_table(findings),
        "heat_maps": figures.heat_maps(counts[counts["split"] != "ood100"]),
        "laws": _laws_table(entry["other_laws"]),
        "small": _small_table(findings.document["lengths_on_cpu"]),
    }
    return prose.sections(__file__, blocks, **named(findings, estimates))


def named(findings, published):
    """Return what the page's template names."""
    entry, counts = findings.entry, findings.counts
    longer = counts[counts["split"] == BEYOND].groupby(["embedding", "run"])[["correct", "total"]].sum()
    shares = (longer["correct"] / longer["total"]).groupby("embedding")
    longest = shown_in_training(counts[(counts["split"] == "ood100") & (counts["embedding"] == ABACUS)])
    paper = evidence("experiments")["result"]["arithmetic"]["addition"]
    small = findings.document["lengths_on_cpu"]
    return {
        "findings": findings,
        "entry": entry,
        "rivals": entry["rivals"],
        "settled": settled(entry["rivals"]),
        "runs": counts.drop_duplicates("run"),
        "seeds": {name: (of.min(), of.max()) for name, of in shares},
        "last": counts.loc[counts["correct"] > 0, ["length_a", "length_b"]].max(axis=None),
        "longest_right": longest["correct"].sum() / longest["total"].sum(),
        "published": {name: published.get(PUBLISHED.format(name)) for name in (ABACUS, *entry["rivals"])},
        "paper_flop": paper["flop"] / paper["runs"],
        "small": small,
        "able": [name for name, learned in small["learned"].items() if learned and name != ABACUS],
        "unable": [name for name, learned in small["learned"].items() if not learned],
        "provenance": findings.provenance(*STUDIES),
        "digits": digits,
        "position": position,
        "verdicts": verdicts,
        "BEYOND": BEYOND,
        "LEARNED": LEARNED,
        "SURE": SURE,
    }

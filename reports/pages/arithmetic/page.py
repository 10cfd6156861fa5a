"""The page on arithmetic: how far beyond the lengths of training a model goes, by its embedding of positions."""

import pandas as pd

from ....inference.intervals import summary
from ....inference.lengths.quantities import LEARNED, conditions
from ....inference.words import digits as words_of
from ....inference.words import equal_to, position, probability
from ....training.arithmetic.exposure import rows_trained
from ...drawing import tables, verdicts
from ...html import prose
from . import figures
from .analysis import ABACUS, BEYOND, JUDGED, MAIN, NOTHING, abacus, observed

REGIONS = {"id": "in distribution", "ood": "longer", "ood100": "beyond 100 digits"}
PREFIX = "arithmetic.addition20."
ARCHITECTURE = "ST+injection"


MOST = 4  # lengths beyond training that are written out
SURE = 0.975  # posterior probability from which a direction is taken as known
KINDS = {"typical": "median run", "new": "a new seed", "runs": "fitted run"}


def _digits(row):
    low, middle, high = ("none" if row[q] == 0 else f"{row[q]:.1f}" for q in ("q2.5", "q50", "q97.5"))
    return f"{middle} [{low}, {high}]"


def _lengths_table(findings):
    rows = []
    for seeds, label in KINDS.items():
        table = findings.lengths[seeds]
        rows += [
            {
                "of": position(findings.entry["runs"].get(name, name)),
                "which": label,
                "50% length (digits)": _digits(table.loc[(name, 0.5)]),
                "P(none)": probability(table.loc[(name, 0.5), "p_none"]),
                "95% length (digits)": _digits(table.loc[(name, 0.95)]),
                "P(none) ": probability(table.loc[(name, 0.95), "p_none"]),
            }
            for name in table.index.get_level_values(0).unique()
        ]
    note = (
        "Length of both operands at which that share of problems is right: median [95%]. None: the share is not "
        "reached at any length. A few seeds barely inform how much seeds differ, so the interval of a new seed depends "
        "on its prior."
    )
    return tables.html(rows, note=note, fits="lengths")


def _contrast_table(findings):
    rows = []
    for row in findings.contrasts.to_dict("records"):
        form = "{:.2f}" if row["of"] == "length" else "{:+.3f}"
        rows.append(
            {
                "first": position(row["first"]),
                "second": position(row["second"]),
                "of": "ratio of 50% lengths"
                if row["of"] == "length"
                else f"difference in accuracy, {REGIONS[row['of']]}",
                "median [95%]": tables.interval(row, form),
                "P(first above)": probability(row["p_first"]),
            }
        )
    return tables.html(
        rows,
        note="Contrasts of the median run of each condition. Accuracy: the mean over cells.",
        title="Conditions in pairs",
        fits="lengths",
    )


def _region_table(findings, published):
    estimates = published[published["quantity"].str.startswith(PREFIX)].set_index("quantity")["estimate"]
    rows = []
    for label, row in conditions(findings.fits[MAIN]).iterrows():
        of_condition = findings.counts[findings.counts["embedding"] == row["embedding"]]
        for region in findings.regions["region"].values:
            cells = of_condition[of_condition["split"] == region]
            key = f"{PREFIX}{row['embedding']}.{ARCHITECTURE}.{region}"
            rows.append(
                {
                    "condition": position(label),
                    "region": REGIONS[region],
                    "observed": f"{cells['correct'].sum() / cells['total'].sum():.1%}",
                    "posterior, median run": tables.interval(
                        summary(findings.regions.sel(condition=label, region=region)), "{:.1%}"
                    ),
                    "McLeish et al. 2024": f"{estimates[key]:.1f}%" if key in estimates else "–",
                }
            )
    note = (
        "McLeish et al. 2024: means of three runs with input injection and 16 layers of width 1,024, trained on up to "
        "20 digits and tested on up to 100 and 160. Their regions are not ours: compare only the order of embeddings."
    )
    return tables.html(rows, note=note, fits="lengths")


def _sorted(learned):
    shares = {name: share for name, share in learned.items() if share is not None}
    return sorted(shares.items(), key=lambda item: -item[1])


def settled(entry):
    """Return whether Abacus surely goes further than every rival that learned, of which there is at least one."""
    return bool(entry["p_abacus_further"]) and min(entry["p_abacus_further"].values()) >= SURE


def _by_seed(arms):
    rows = []
    for (embedding, offset, seed), group in arms[arms["offset"].isin(JUDGED)].groupby(["embedding", "offset", "seed"]):
        at = position(f"{embedding} at offset {offset}" if offset else embedding)
        shares = group.set_index("length")
        rows.append(
            {"embedding": f"{at}, seed {seed}"}
            | {f"{n} digits": f"{row['correct'] / row['total']:.0%}" for n, row in shares.iterrows()}
        )
    return tables.html(
        rows, note="Share of sums right to the last token.", title="Share of sums right by length, each seed"
    )


def by_offset(offsets):
    """Return the share of sums right at the first lengths beyond those of training, by offset and seed.

    Returns
    -------
    list of dict
        ``length``; ``share``, a DataFrame of offsets by seeds, and its ``mean`` over seeds. ``others`` is the mean at
        offsets other than 0, and ``ahead`` counts the seeds in which it exceeds the share at offset 0. ``best`` is the
        offset of the highest mean.
    """
    shares = offsets.assign(share=offsets["correct"] / offsets["total"])
    summaries = []
    for length in sorted(set(shares.loc[shares["length"] > shares["train_digits"], "length"]))[:MOST]:
        share = shares[shares["length"] == length].pivot(index="offset", columns="seed", values="share")
        mean, ahead = share.mean(axis=1), share.drop(index=0).mean() > share.loc[0]
        summaries.append(
            {"length": length, "share": share, "mean": mean, "others": mean.drop(0).mean(), "ahead": ahead.sum()}
            | {"best": mean.idxmax()}
        )
    return summaries


def _comparison(findings):
    """Return the comparison of laws by runs left out, as `compare` returned it."""
    study = findings.study("arithmetic_left_out")
    table = pd.DataFrame.from_dict(study["models"], orient="index")
    table.attrs["sentence"] = study["sentence"]
    return table


def _comparison_note(counts):
    return (
        f"Each of the {counts['run'].nunique()} runs is left out whole, with the parameters of the run integrated out; "
        "fits with a Pareto k above 0.7 are repeated without it. With so few runs, standard errors are unreliable."
    )


def _equal_table(findings):
    entry = findings.document["equal_cost"]
    rows = []
    for name, of in entry["lengths"]["typical"].items():
        shown = (words_of(of[share]) for share in ("0.5", "0.95"))
        p = entry["p_abacus_further"].get(name)
        share = entry["learned"][name]
        within = "–" if share is None else f"{share:.0%}"
        rows.append((position(name), within, *shown, "–" if p is None else probability(p)))
    rows += [
        (position(name), f"{share:.0%}", "–", "–", "–")
        for name, share in entry["learned"].items()
        if name not in entry["lengths"]["typical"]
    ]
    header = ("embedding", "right within training lengths", "half of sums right up to (digits)",
              "95% right up to (digits)", "P(Abacus goes further)")  # fmt: skip
    note = (
        f"Lengths of both operands, of the median run: median [95%]. None: at no length. Embeddings that are right in "
        f"fewer than {NOTHING:.0%} of sums within the lengths of training are not fitted. P is given for embeddings "
        f"that are right in at least {LEARNED:.0%} of sums within the lengths of training."
    )
    title = "How far each embedding goes at equal cost"
    return tables.of_rows(header, rows, note=note, title=title, fits="lengths, equal cost")


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    offsets = abacus(findings.arms)
    blocks = {
        "by_seed": figures.by_seed(findings.arms, JUDGED),
        "equal": _equal_table(findings),
        "heat_maps": figures.heat_maps(observed(findings.counts)),
        "regions": _region_table(findings, published),
        "curves": figures.curves(findings, conditions(findings.fits[MAIN])),
        "own_runs": figures.own_runs(findings),
        "lengths": _lengths_table(findings),
        "contrasts": _contrast_table(findings),
        "comparison": tables.comparison(_comparison(findings), note=_comparison_note(findings.counts)),
        "each_seed": _by_seed(findings.arms),
        "by_offset": figures.by_offset(offsets),
        "rows_seen": figures.rows_seen(offsets),
    }
    return prose.sections(__file__, blocks, **named(findings, published))


def named(findings, published):
    """Return what the page's template names."""
    equal, offsets, typical = findings.document["equal_cost"], abacus(findings.arms), findings.lengths["typical"]
    of_lengths = [row for row in findings.document["lengths"]["contrasts"] if row["of"] == "length" and row["learned"]]
    first = offsets.iloc[0]
    return {
        "findings": findings,
        "settled": settled(equal),
        "learned": _sorted(equal["learned"]),
        "not_learned": [item for item in _sorted(equal["confounded"]) if not item[0].startswith(ABACUS)],
        "pairs": [row for row in of_lengths if row["first"].startswith(ABACUS)],
        "published": published.set_index("quantity")["estimate"][f"{PREFIX}abacus.{ARCHITECTURE}.ood"],
        "reached": {label: _digits(typical.loc[(label, 0.5)]) for label in typical.index.unique(0)},
        "offsets": offsets,
        "seen": rows_trained(int(first["train_digits"]), int(first["k_max"])),
        "by_offset": by_offset(offsets),
        "digits": words_of,
        "equal_to": equal_to,
        "position": position,
        "summary": summary,
        "verdicts": verdicts,
        "BEYOND": BEYOND,
        "LEARNED": LEARNED,
        "SURE": SURE,
    }

"""The page on arithmetic: how far beyond the lengths of training a model goes, by its embedding of positions."""

import pandas as pd

from ....datasets.wording import plural
from ....inference.intervals import summary
from ....inference.lengths.quantities import LEARNED, conditions
from ....inference.words import digits as words_of
from ....inference.words import equal_to, position, probability
from ....training.arithmetic.exposure import rows_trained
from ...drawing import tables, verdicts
from ...findings import section
from . import figures
from .analysis import ABACUS, BEYOND, JUDGED, LEFT_OUT, MAIN, abacus, observed

REGIONS = {"id": "in distribution", "ood": "longer", "ood100": "beyond 100 digits"}
PREFIX = "arithmetic.addition20."
ARCHITECTURE = "ST+injection"


SURE = 0.975  # posterior probability from which a direction is taken as known
KINDS = {"typical": "median run", "new": "a new seed", "runs": "fitted run"}


def _digits(row):
    low, middle, high = ("none" if row[q] == 0 else f"{row[q]:.1f}" for q in ("q2.5", "q50", "q97.5"))
    return f"{middle} [{low}, {high}]"


def _findings(found):
    typical = found.lengths["typical"]
    reach = "; ".join(
        f"{position(label)} {_digits(typical.loc[(label, 0.5)])}"
        for label in typical.index.get_level_values(0).unique()
    )
    points = [f"Digits of both operands at which the median run of a condition has half of its sums right: {reach}."]
    points += [
        f"{position(row['first'])} goes further than {position(row['second'])} with P {equal_to(row['p_first'])}: "
        f"{row['q50']:.2f} [{row['q2.5']:.2f}, {row['q97.5']:.2f}] times the length."
        for row in found.contrasts.to_dict("records")
        if row["of"] == "length"
    ]
    at = float(found.beyond["length_a"].values[0])
    foretold = "; ".join(
        f"{position(label)} {tables.interval(summary(found.beyond.sel(condition=label)), '{:.0%}')}"
        for label in found.beyond["condition"].values
    )
    points.append(
        f"Share right at {at:.0f} digits, {BEYOND:g} times the longest asked, foretold of a new seed: {foretold}."
    )
    return points


def _lengths_table(found):
    rows = []
    for seeds, label in KINDS.items():
        table = found.lengths[seeds]
        rows += [
            {
                "of": position(found.entry["runs"].get(name, name)),
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
        "reached at any length. Few seeds hardly inform how much seeds differ: the interval of a new seed leans on its "
        "prior."
    )
    return tables.html(pd.DataFrame(rows), note=note, fits="lengths")


def _contrast_table(found):
    rows = []
    for row in found.contrasts.to_dict("records"):
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
        pd.DataFrame(rows),
        note="Of the median run of each condition. Accuracy: the mean over cells.",
        title="Conditions in pairs",
        fits="lengths",
    )


def _region_table(found, published):
    theirs = published[published["quantity"].str.startswith(PREFIX)].set_index("quantity")["estimate"]
    rows = []
    for label, row in conditions(found.fits[MAIN]).iterrows():
        of_condition = found.counts[found.counts["embedding"] == row["embedding"]]
        for region in found.regions["region"].values:
            cells = of_condition[of_condition["split"] == region]
            key = f"{PREFIX}{row['embedding']}.{ARCHITECTURE}.{region}"
            rows.append(
                {
                    "condition": position(label),
                    "region": REGIONS[region],
                    "observed": f"{cells['correct'].sum() / cells['total'].sum():.1%}",
                    "posterior, median run": tables.interval(
                        summary(found.regions.sel(condition=label, region=region)), "{:.1%}"
                    ),
                    "McLeish et al. 2024": f"{theirs[key]:.1f}%" if key in theirs else "–",
                }
            )
    note = (
        "McLeish et al. 2024: means of three runs with input injection and 16 layers of 1,024, trained on up to 20 "
        "digits and asked up to 100 and 160; not of these regions, and to be set beside ours only in their order."
    )
    return tables.html(pd.DataFrame(rows), note=note, fits="lengths")


def _equal_section(found):
    arms, first = found.arms, found.arms.iloc[0]
    trained = int(first["train_digits"])
    entry = found.document["equal_cost"]
    reach = "; ".join(
        f"{position(name)} {_digits({key: q[key] or 0 for key in ('q2.5', 'q50', 'q97.5')})}"
        for name, q in ((name, of["0.5"]) for name, of in entry["lengths"]["typical"].items())
    )
    return {
        "title": "At equal cost: Abacus, FIRE, no positions, rotary",
        "text": [
            f"{arms['run'].nunique()} transformers of one size, each trained on the same sums of up to {trained} "
            "digits at the same rate, batches and number of updates, a few minutes of one core each; "
            f"{int(first['total'])} sums of operands of equal length are asked at each length. So short a training "
            "says which embeddings learn soon as much as which go far."
        ],
        "points": [
            "Right within the lengths of training: "
            + "; ".join(f"{position(name)} {share:.0%}" for name, share in _sorted(entry["learned"]))
            + f". A contrast of generalisation counts only those of at least {LEARNED:.0%}.",
            f"Digits at which the median run has half of its sums right: {reach}. None: at no length.",
            f"Does Abacus go further than the others that learned? {_further(entry)}",
        ],
        "blocks": [_by_seed(arms)],
    }


def _sorted(learned):
    known = {name: share for name, share in learned.items() if share is not None}
    return sorted(known.items(), key=lambda item: -item[1])


def _further(entry):
    """Write how probably Abacus goes further than each rival that learned."""
    further = ", ".join(f"{position(name)} (P {equal_to(p)})" for name, p in entry["p_abacus_further"].items())
    return f"Than {further}." if further else "None of them learned, so that there is nothing to compare."


def settled(entry):
    """Whether Abacus surely goes further than every rival that learned, of which there is one at least."""
    return bool(entry["p_abacus_further"]) and min(entry["p_abacus_further"].values()) >= SURE


def _answer(found):
    """Write whether Abacus embeddings generalise further, by the rivals that learned to add."""
    entry = found.document["equal_cost"]
    rivals = [item for item in _sorted(entry["confounded"]) if not item[0].startswith(ABACUS)]
    said = "Abacus goes further, at this scale." if settled(entry) else "Not settled at this scale."
    text = [f"<b>{said}</b>"]
    if rivals:
        shares = ", ".join(f"{share:.0%} with {position(name)}" for name, share in rivals)
        text.append(
            f"At equal cost {plural(len(rivals), 'rival')} of Abacus did not learn to add: the share of sums right "
            f"within the lengths of training is {shares}. Their lengths do not tell how they generalise."
        )
    if entry["p_abacus_further"]:
        text.append(f"Does Abacus go further than the others that learned? {_further(entry)}")
    trained = found.document["lengths"]
    pairs = [row for row in trained["contrasts"] if row["of"] == "length" and row["learned"]]
    pairs = [row for row in pairs if row["first"].startswith(ABACUS)]
    if pairs:
        typical = trained["lengths"]["typical"]
        against = "; ".join(
            f"{position(row['second'])} {words_of(typical[row['second']]['0.5'])} (P {equal_to(row['p_first'])})"
            for row in pairs
        )
        text.append(
            "In another sweep, in which these learned, Abacus has half of sums right to "
            f"{words_of(typical[pairs[0]['first']]['0.5'])} digits. Its rivals have, with the probability P that "
            f"Abacus goes further: {against}."
        )
    return [" ".join(text)]


def _by_seed(arms):
    rows = []
    for (embedding, offset, seed), own in arms[arms["offset"].isin(JUDGED)].groupby(["embedding", "offset", "seed"]):
        at = position(f"{embedding} at offset {offset}" if offset else embedding)
        shares = own.set_index("length")
        rows.append(
            {"embedding": f"{at}, seed {seed}"}
            | {f"{n} digits": f"{row['correct'] / row['total']:.0%}" for n, row in shares.iterrows()}
        )
    return tables.html(
        pd.DataFrame(rows),
        rowname="embedding",
        note="Share of sums right to the last token.",
        title="Share of sums right by length, each seed",
    )


def _offset_points(offsets):
    trained = int(offsets["train_digits"].iloc[0])
    shares = offsets.assign(share=offsets["correct"] / offsets["total"])
    longer = sorted(length for length in shares["length"].unique() if length > trained)
    points = []
    for length in longer[:4]:
        rows = shares[shares["length"] == length].pivot(index="offset", columns="seed", values="share")
        mean, first = rows.mean(axis=1), rows.loc[0]
        best = mean.idxmax()
        ahead = int((rows.drop(index=0).mean() > first).sum())
        points.append(
            f"{length} digits: {mean[0]:.0%} right at offset 0 ({_each(first)} by seed), {mean.drop(0).mean():.0%} on "
            f"average at the other offsets, which are ahead in {ahead} of {rows.shape[1]} seeds; most at offset "
            f"{best}, {mean[best]:.0%} ({_each(rows.loc[best])})."
        )
    return points


def _each(shares):
    return ", ".join(f"{share:.0%}" for share in shares)


def _offset_section(offsets):
    first = offsets.iloc[0]
    trained, k_max = int(first["train_digits"]), int(first["k_max"])
    seen = rows_trained(trained, k_max)
    return {
        "title": "Abacus embeddings: where they are judged",
        "text": [
            f"The same weights, judged at other offsets: {offsets['run'].nunique()} models trained on sums of up to "
            f"{trained} digits, whose digit k was given row k + offset, offset 0 to {k_max - 1}. The paper judges at "
            f"offset 0, with rows 1, 2, 3 and so on. Training shows row 1 to {seen[1]:.2f} digits a problem and row "
            f"{trained} to {seen[trained]:.2f}, {seen[trained] / seen[1]:.1f} times as many. If a short "
            "training left the first rows behind, offset 0 would be worse than others in every seed. What lies beyond "
            "the lengths of training swings between seeds and offsets, and the best of ten offsets is better by "
            "chance alone.",
        ],
        "points": _offset_points(offsets),
        "blocks": [figures.by_offset(offsets), figures.rows_seen(offsets)],
    }


def _comparison_note(counts):
    return (
        f"Each of the {counts['run'].nunique()} runs left out whole, its own parameters integrated out; Pareto k "
        "above 0.7 refitted. So few runs hardly give standard errors a meaning."
    )


def _checks(found):
    entry = found.document["equal_cost"]
    further = entry["p_abacus_further"]
    return [
        verdicts.marked(
            bool(further),
            f"At equal cost {len(further)} of {len(entry['p_abacus_further_all'])} rivals of Abacus learned to add: "
            f"they are right in at least {LEARNED:.0%} of sums within the lengths of training.",
        ),
        *(
            [
                verdicts.marked(
                    settled(entry),
                    f"At equal cost Abacus is surely ahead of {sum(p >= SURE for p in further.values())} of "
                    f"{len(further)} rivals that learned (P of at least {SURE:g}).",
                )
            ]
            if further
            else []
        ),
        verdicts.of_law("Law of lengths, embeddings at equal cost", entry),
        verdicts.of_law("Law of lengths, all runs", found.document["lengths"]),
        "Few seeds of each condition: the interval of a new seed leans on its prior, and leaving runs out says little.",
    ]


def sections(found, published):
    """Sections of the page, in order; see `Page.sections`."""
    equal = _equal_section(found)
    return [
        {
            "role": "answer",
            "title": "Answer",
            "text": [*_answer(found), *equal["text"]],
            "blocks": [figures.by_seed(found.arms, JUDGED), _equal_table(found)],
        },
        {
            "role": "moves",
            "title": "What could change it",
            "points": [
                *(point for i, point in enumerate(equal["points"]) if i != 1),
                "<b>Where Abacus is judged.</b> At offset 0, as in the paper, or where training shows more: the "
                "share of sums right swings with it (folded below).",
                f"<b>The scale.</b> McLeish et al. (2024) report {_published(published)}% right on sums longer than in "
                "training, of up to 100 digits, with input injection and 16 layers of 1,024; nothing here tests that.",
            ],
            "blocks": [],
        },
        {"role": "checks", "title": "Checks", "points": _checks(found), "blocks": []},
        *({"role": "details"} | each for each in _details(found, published, equal)),
    ]


def _published(published):
    rows = published.set_index("quantity")["estimate"]
    return f"{rows[f'{PREFIX}abacus.{ARCHITECTURE}.ood']:g}"


def _equal_table(found):
    entry = found.document["equal_cost"]
    rows = []
    for name, of in entry["lengths"]["typical"].items():
        shown = (words_of(of[share]) for share in ("0.5", "0.95"))
        p = entry["p_abacus_further"].get(name)
        share = entry["learned"][name]
        within = "–" if share is None else f"{share:.0%}"
        rows.append((position(name), within, *shown, "–" if p is None else probability(p)))
    header = ("embedding", "right within training lengths", "half of sums right to (digits)", "95% right to (digits)",
              "P(Abacus goes further)")  # fmt: skip
    note = (
        "Lengths of both operands, of the median run: median [95%]. None: at no length. P is of embeddings that are "
        f"right in at least {LEARNED:.0%} of sums within the lengths of training."
    )
    title = "How far each embedding goes at equal cost"
    return tables.of_rows(header, rows, note=note, title=title, fits="lengths, equal cost")


def _details(found, published, equal):
    counts = found.counts
    runs = counts.drop_duplicates("run")
    digits = ", ".join(f"{n:g}" for n in sorted(runs["train_digits"].unique()))
    return [
        {
            "title": "Arithmetic: how far beyond training",
            "text": [
                f"{len(runs)} transformers of {runs['parameters'].min():,.0f} to {runs['parameters'].max():,.0f} "
                f"parameters, trained on a CPU to add numbers of up to {digits} digits, after McLeish et al. (2024), "
                f"with {runs['seed'].nunique()} seeds of each condition; {counts['total'].iloc[0]} sums for each pair "
                "of lengths. A demonstration, far below the paper's scale."
            ],
            "points": _findings(found),
            "blocks": [figures.heat_maps(observed(counts)), _region_table(found, published)],
        },
        {
            "title": "Accuracy by length",
            "text": [
                "Beta-binomial counts, their accuracy falling from a plateau with the length of the operands; each "
                "run's curve pooled with those of its condition."
            ],
            "blocks": [
                figures.curves(found, conditions(found.fits[MAIN])),
                figures.own_runs(found),
                _lengths_table(found),
                _contrast_table(found),
            ],
        },
        section(
            found,
            LEFT_OUT,
            "Which law of lengths? Runs left out",
            lambda: {"blocks": [tables.comparison(found.comparison, note=_comparison_note(counts))]},
        ),
        {"title": equal["title"], "blocks": equal["blocks"]},
        _offset_section(abacus(found.arms)),
    ]

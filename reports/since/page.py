"""The page on progress since 2023: how fast capability grows at fixed compute, and what the yearly factor rests on."""

import pandas as pd

from ..drawing import tables, verdicts
from ..drawing.words import HIGH, LOW, MIDDLE, factor, month, months, plain, probability
from ..findings import section
from . import figures
from .analysis import BREAK, FIRST, LEFT_OUT, LINEAR, RESTS

UNIT_WORDS = {"model": "models", "family": "families"}
NAMES = {LINEAR: "One pace throughout", BREAK: "A pace that changes"}


def said(change, sure=0.975):
    """Say whether progress is faster than it was."""
    return (
        "Faster than before; by how much is not known."
        if change["p_progress"] > sure
        else "Not surely faster than before."
    )


def _answer(entry):
    before, after, change = (entry["periods"][name]["model"] for name in ("before", "after", "change"))
    year = month(entry["break_year"])
    return (
        f"<b>{said(change)}</b> At fixed training compute capability grew "
        f"by {plain(before['gain'], '{:.1f}')} logits a year to {year} and by {plain(after['gain'], '{:.1f}')} from "
        f"then on; that the second is larger has probability {probability(change['p_progress'])}. The compute that a "
        f"given capability takes fell {factor(before['factor'])} times a year, then {factor(after['factor'])} times."
    )


def _moves(entry):
    families = entry["periods"]["change"].get("family")
    one, slopes = entry["periods"]["all"]["model"], entry["slope_a_decade"]
    two, joint = (entry["least_squares"][name] for name in ("two stages", "one regression"))
    year = month(entry["break_year"])
    found = [
        f"<b>One pace throughout</b> reads {factor(one['factor'])} times a year, a mean of two periods that differ. It "
        "is no summary of them.",
        f"<b>What compute buys.</b> A gain of capability is turned into compute by what a decade of compute buys: "
        f"{plain(slopes[BREAK], '{:.1f}')} logits with a change of pace, {plain(slopes[LINEAR], '{:.1f}')} without. "
        f"On one table of scores two stages give {two['factor']:.1f} times a year and one regression "
        f"{joint['factor']:.0f} times, by this alone: both are points of the second figure.",
    ]
    if families is not None:
        before, after = (entry["periods"][name]["family"] for name in ("before", "after"))
        found.append(
            f"<b>Models are not independent.</b> With families as the unit the factors are {factor(before['factor'])} "
            f"and {factor(after['factor'])} times a year, and faster after {year} has probability "
            f"{probability(families['p_progress'])}."
        )
    found += [
        "<b>What compute means.</b> Of reasoning models the training compute is mostly that of pretraining. What "
        "reinforcement learning and thinking at length took is not in it, so that part of what looks like progress "
        "at fixed compute is compute of another kind.",
        f"<b>What is known of computes.</b> {entry['rows']['computes']} of {entry['rows']['models']} models, the last "
        f"of {entry['rows']['last_compute']}, have one that is Confident or Likely; what came after rests on dates "
        "alone. Those without are mostly closed models near the frontier, so they are not missing at random.",
        "<b>Beside the page on 2012 to 2023.</b> That page asks for the compute of a given loss on a given text, here "
        "it is that of a given capability on tests that changed over the years. Both say how fast compute at a fixed "
        "result falls; that a loss and a capability are worth the same is an assumption of the reader's.",
    ]
    return found


def _checks(entry):
    found = []
    for pace, name in NAMES.items():
        law = entry["laws"][pace]
        found += [verdicts.of_law(name, law), verdicts.of_pit(name, law)]
        of = law["benchmarks"]
        found.append(
            verdicts.marked(
                of["below_0.01"] <= 0.05 * of["tested"],
                f"{name}: of {of['tested']} benchmarks {of['below_0.01']} have leave-one-out PIT values so uneven that "
                "p is below 0.01.",
            )
        )
    return [each for each in found if each]


def _periods_table(entry):
    rows = []
    for period, label in figures.labels(entry).items():
        for unit, found in entry["periods"][period].items():
            rows.append(
                {
                    "period": f"{label}, {UNIT_WORDS[unit]} as the unit",
                    "gain, logits a year": plain(found["gain"], "{:.2f}"),
                    "fall of compute, times a year": factor(found["factor"]),
                    "halving time of compute, months": months(found["halving"]),
                    "P(any progress)": probability(found["p_progress"]),
                }
            )
    note = (
        "Medians and 95% intervals. A logit is that of the typical benchmark. With families as the unit, draws are "
        "spread until their sd is the infinitesimal jackknife's with families left out whole."
    )
    return tables.html(pd.DataFrame(rows), rowname="period", note=note, title="By period")


def _left_out_table(entry):
    rows = [
        {
            "pace": NAMES[pace],
            "elpd": f"{found['elpd']:.1f}",
            "difference": f"{found['elpd_diff']:.1f}",
            "its standard error": f"{found['dse']:.1f}" if found["dse"] is not None else "–",
            "models of Pareto k above 0.7": f"{found['k_above_0.7']} of {found['models']}",
        }
        for pace, found in entry["left_out"].items()
    ]
    note = "Log predictive density of all scores of a model given those of the others, summed over models, in nats."
    return {"text": [], "blocks": [tables.html(pd.DataFrame(rows), rowname="pace", note=note)]}


def _rests_table(entry):
    names, rows = figures.labels(entry), []
    for what, found in entry["rests"].items():
        row = {"what is changed": what}
        for period, label in names.items():
            row[label] = factor(found[period]["model"]["factor"]) if period in found else "–"
        change = found.get("change")
        row["P(faster)"] = probability(change["model"]["p_progress"]) if change else "–"
        row["chains"] = "converged" if found["ok"] else "not to be trusted"
        rows.append(row)
    note = (
        f"Fall of compute at fixed capability, times a year; medians and 95% intervals. {FIRST.capitalize()}: one pace."
    )
    return {"text": [], "blocks": [tables.html(pd.DataFrame(rows), rowname="what is changed", note=note)]}


def sections(found, published):
    """Sections of the page, in order; see `Page.sections`."""
    entry = found.document["since"]
    rows = entry["rows"]
    shown = published[published["quantity"].str.startswith("progress_since.factor.")]
    lines = [
        {"label": f"{each.source}:<br>{each.note}", MIDDLE: each.estimate}
        | {end: None if pd.isna(x) else x for end, x in ((LOW, each.low), (HIGH, each.high))}
        for each in shown.itertuples()
    ]  # fmt: skip
    return [
        {
            "role": "answer",
            "title": "Answer",
            "text": [
                _answer(entry),
                f"{rows['scores']:,} scores of {rows['models']} models, released {rows['first']} to {rows['last']}, on "
                f"{rows['benchmarks']} benchmarks (Epoch Capabilities Index).",
            ],
            "blocks": [figures.factors(entry, lines), figures.joint(entry), _periods_table(entry)],
        },
        {"role": "moves", "title": "What could change it", "points": _moves(entry), "blocks": []},
        {"role": "checks", "title": "Checks", "points": _checks(entry), "blocks": []},
        {"role": "details"} | section(found, RESTS, "One thing changed at a time", lambda: _rests_table(entry)),
        {"role": "details"} | section(found, LEFT_OUT, "One pace or two?", lambda: _left_out_table(entry)),
        *(
            {
                "role": "details",
                "title": f"Does the law fit? {NAMES[pace]}",
                "text": [],
                "blocks": [tables.tests_of_law(entry["laws"][pace])],
            }
            for pace in NAMES
        ),
    ]

"""Figures and tables of the groups of rows of a custom table."""

import html

from ...html import tables
from ...drawing.intervals import intervals, rows_named, spanned
from ...drawing.style import BLUE, figure
from ...groups import NEW, TYPICAL

UNSEEN = {TYPICAL: "the typical group", NEW: "a new group"}
MOST_DRAWN = 40
NUMBER = "{:.4g}"


def shown(entry):
    """Return figures and tables of the groups of a law, of its entry of results.json."""
    groups = entry["groups"]
    unseen = {name: groups["exponent"][name] for name in UNSEEN if name in groups.get("exponent", {})}
    blocks = []
    if "exponent" in groups:
        summaries = groups["exponent"]["by_group"] | {UNSEEN[name]: q for name, q in unseen.items()}
        blocks += [_exponents(summaries)] if len(summaries) <= MOST_DRAWN else []
        blocks += [_exponents_table(groups, unseen)]
    return [*blocks, _quantities_table(entry, groups), *_spread_table(groups)]


def _interval(q):
    return tables.interval(q, "{:.3f}")


def _exponents(summaries):
    labels = [html.escape(label) for label in summaries]
    traces = intervals(list(summaries.values()), range(len(labels)), BLUE, "median, 95%", text=labels)
    drawn = figure(*traces, x={"title": "Exponent of N* in C", "range": spanned(traces)}, height=130 + 34 * len(labels))
    return rows_named(drawn, labels).update_layout(showlegend=False)


def _exponents_table(groups, unseen):
    rows = [[name, str(groups["rows"][name]), _interval(q)] for name, q in groups["exponent"]["by_group"].items()]
    rows += [[UNSEEN[name], "–", _interval(q)] for name, q in unseen.items()]
    note = (
        "Median and 95% interval. The typical group has pooled quantities at the middle of the population. A new "
        "group is drawn from the population."
    )
    return tables.of_rows(["group", "rows", "exponent of N* in C"], rows, note=note if unseen else None)


def _quantities_table(entry, groups):
    rows = []
    for name, by_group in groups["quantities"].items():
        for group, q in by_group.items():
            robust = entry["robust"].get(f"{name}[{group}]")
            sd = robust["posterior_sd"] if robust else q["sd"]
            sds = ["–" if x is None else NUMBER.format(x) for x in (sd, robust and robust["robust_sd"])]
            rows.append([name, group, tables.interval(q), *sds])
    note = "Robust sd is the sandwich standard error, by row, by run or by model size."
    return tables.of_rows(["quantity", "group", "median [95%]", "sd", "robust sd"], rows, note=note)


def _spread_table(groups):
    if not groups["spread"]:
        return []
    rows = [[name, tables.interval(q), tables.interval(q["prior"])] for name, q in groups["spread"].items()]
    note = "Sd of what is pooled between groups, on log scale (log-odds of shares). Few groups say little of it."
    return [tables.of_rows(["spread of", "median [95%]", "prior"], rows, note=note)]

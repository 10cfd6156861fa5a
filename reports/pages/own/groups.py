"""The figure and the tables of the groups of rows of a custom table."""

from ....plots import plot_groups
from ...groups import NEW, TYPICAL
from ...html import tables

UNSEEN = {TYPICAL: "the typical group", NEW: "a new group"}
MOST_DRAWN = 40
NUMBER = "{:.4g}"


def shown(custom):
    """Return figures and tables of the groups of the best fit."""
    groups, blocks = custom.entry["groups"], []
    if "exponent" in groups:
        unseen = {name: groups["exponent"][name] for name in UNSEEN if name in groups["exponent"]}
        figure = custom.drawn(plot_groups) if len(groups["rows"]) <= MOST_DRAWN else None
        blocks += [*filter(None, [figure]), _exponents_table(groups, unseen)]
    return [*blocks, _quantities_table(custom.entry, groups), *_spread_table(groups)]


def _exponents_table(groups, unseen):
    named = {(name, str(groups["rows"][name])): q for name, q in groups["exponent"]["by_group"].items()}
    named |= {(UNSEEN[name], tables.MISSING): q for name, q in unseen.items()}
    rows = [[*label, tables.interval(q, "{:.3f}")] for label, q in named.items()]
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

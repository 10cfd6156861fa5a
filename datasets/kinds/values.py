"""Tables of dated values: prices, ratings, training compute, values of an index."""

import re

from ..cells import as_days, as_names, as_numbers, fractional_years, with_halfwidths
from ..checks import Fault, in_file, refuse, refuse_duplicate_rows
from ..schemas import FINITE, NONNEGATIVE, check
from .kind import Kind, register_kind

NUMBERS = ("value", "low", "high", "halfwidth")
EITHER_WAY = re.compile(r"\s*(?:±|\+/-|\+-)\s*([0-9.]+)\s*")  # of a halfwidth
UP_AND_DOWN = re.compile(r"\s*\+\s*([0-9.]+)\s*[/,]\s*[-\u2212]\s*([0-9.]+)\s*")


def parse(table, changes, columns, where, drop_missing):
    """Check a table of dated values, and add the year of each."""
    label = changes.label
    table, headers = VALUES.select(table, changes, columns, where, drop_missing)
    if "halfwidth" in table:
        table = table.assign(halfwidth=table["halfwidth"].map(_halfwidth, na_action="ignore"))
    cells, faults = as_numbers(table, VALUES.present(table, NUMBERS))
    names, nameless = as_names(table, VALUES.present(table, VALUES.text))
    cells["date"], halfwidths, undated = as_days(table["date"], changes, headers.get("date", "date"))
    faults = in_file([*faults, *nameless, *undated], headers)
    table = check(table.assign(**cells, **names), VALUES, label=label, names=headers, faults=faults)
    refuse(_outside(table), table, label)
    table = with_halfwidths(table, "date", headers.get("date", "date"), halfwidths, changes)
    if "model" in table:
        text = "{} has a value at {:%Y-%m-%d} before; delete one or give them different names"
        refuse_duplicate_rows(table, ["model", "date"], text, label)
    return table.assign(year=fractional_years(table["date"]))


def _halfwidth(cell):
    """Return the number in "±5", "+/-5" or "+5/-4", of which the last has two that are averaged; else the cell."""
    if match := EITHER_WAY.fullmatch(str(cell)):
        return match[1]
    if match := UP_AND_DOWN.fullmatch(str(cell)):
        return f"{(float(match[1]) + float(match[2])) / 2:g}"
    return cell


def _outside(table):
    """Yield faults of limits that do not hold the value."""
    for name, sign in (("low", 1), ("high", -1)):
        if name in table:
            for row in table.index[(sign * (table[name] - table["value"]) > 0).fillna(False)]:
                limit = f"found {table[name][row]:g}, which the value {table['value'][row]:g} lies outside"
                yield Fault(row, name, limit, "correct one of them or leave the limit blank")


VALUES = Kind(
    name="values",
    built_in="training_compute",
    dimension="row",
    parse=parse,
    needed=("date", "value"),
    optional=("model", "low", "high", "halfwidth"),
    cells={"value": FINITE, "halfwidth": NONNEGATIVE.optional} | dict.fromkeys(("low", "high"), FINITE.optional),
    text=("model",),
    days=("date",),
    aliases={
        "date": "releasedate publicationdate modelreleasedate released day month year",
        "value": "price rating elo arenascore y trainingcompute trainingcomputeflop trainingflop p50minutes",
        "model": "name modelname modelid llm system",
        "low": "lower cilow lowerbound cilower p50low",
        "high": "upper cihigh upperbound ciupper p50high",
        "halfwidth": "95ci ci95 plusminus margin 95cihalfwidth",
    },
)
register_kind(VALUES)

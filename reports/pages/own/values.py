"""The page of laws of dated values fitted to a custom table."""

import math

from ....inference.checks.verdict import NOT
from ....inference.intervals import ends
from ....inference.intervals import entries as entries_of
from ....inference.progress.trends import by_form, changes, yearly_gain
from ....inference.words import HIGH, LOW, MIDDLE, months, plain, probability
from ....plots import plot_trend
from ...html import tables
from ..front.answers import ratio, width

QUESTION = "How fast does the value grow?"


def entry(fit):
    """Return what the entry of a law has here: ``gain`` and, on a log scale, ``days`` of doubling or halving."""
    gains = {"gain": entries_of(yearly_gain(fit)), "form": fit.law.trend, "forms": entries_of(by_form(fit))}
    if fit.law.linear_unit is not None:
        return gains
    changed = changes(fit)
    return gains | {
        "days": {str(period): ends(row) for period, (_, row) in changed.items()},
        "change": {str(period): change for period, (change, _) in changed.items()},
    }


def first_screen(custom, stage):
    """Answer how fast values grow, and draw them by date."""
    of, log = custom.entry, custom.fit.law.linear_unit is None
    period, forms = list(of["gain"])[-1], of["forms"]
    gain = of["gain"][period]
    rivals = {name: row[MIDDLE] for name, row in forms.items() if name != of["form"] and row["rival"] and row["ok"]}
    beaten = not forms[of["form"]]["rival"]
    named = {
        "gain": gain,
        "days": of["days"][period] if log else None,
        "change": of["change"][period] if log else None,
        "period": None if len(of["gain"]) == 1 else period,
        "count": len(custom.fit.rows),
        "rivals": ", ".join(f"{name} {rate:.3g}" for name, rate in rivals.items()),
        "beaten": beaten,
    }
    quoted = named["days"] if log else gain if gain[MIDDLE] > 0 else {LOW: -gain[HIGH], HIGH: -gain[LOW]}
    rates = [math.log(x) if log else x for x in (gain[MIDDLE], *rivals.values())]
    apart = ratio(map(abs, rates)) if min(rates) * max(rates) > 0 else math.inf
    facts = {"width": width(quoted), "sensitivity": apart} | ({"verdict": NOT} if beaten else {})
    custom.document["answers"] = [custom.answered("values", named, **facts)]
    return [custom.drawn(plot_trend)]


def sections(custom):
    """Return the sections of the page."""
    blocks = {"rates": _rates_table(custom.document["laws"]), "forms": tables.of_answer(by_form(custom.fit), "form")}
    return custom.sections("values.md.jinja", blocks)


def _rates_table(laws):
    rows = []
    for name, of in laws.items():
        for period, gain in of["gain"].items():
            row = {"law": name, "period": period, "gain a year": plain(gain, "{:.3g}")}
            if "days" in of:
                row["days to double or halve"] = months(of["days"][period])
            rows.append(row | {"P(growth)": probability(gain["p_growth"])})
    note = "Factors a year on a log scale, gains in the unit of the values on a linear one; medians and 95% intervals."
    return tables.html(rows, note=note)

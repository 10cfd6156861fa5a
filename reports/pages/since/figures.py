"""Figures of progress since 2023: yearly falls of compute by period, and the yearly gain against what compute buys."""

import numpy as np

from ....inference.words import month, months, plain, times, yearly
from ...drawing.intervals import HIGH, LOW, MIDDLE, rows_named
from ...drawing.style import BLACK, BLUE, GREY, ORANGE, PURPLE, figure, line, points
from .forms import DEFAULT, FAMILIES, OF_SCORES, PLAIN, form_name

COLOURS = {"all": GREY, "before": BLUE, "after": ORANGE}
UNITS = {"model": ("circle", "models as the unit"), "family": ("diamond", "families as the unit")}
FACTORS = (3, 10, 30, 100, 300)  # yearly factors of lines
REACH = 1.25  # end of those lines, over the largest slope
WIDEST, LEAST = 1e5, 0.3  # axis of factors
MONTHS = (0.5, 100)  # axis of halving times
EARLIER = {"rows": ("circle", "evaluations as the unit"), "papers": ("diamond", "papers as the unit")}


def labels(entry):
    """Name the periods, by their keys."""
    year = month(entry["break_year"])
    if entry.get("pace") in ("acceleration", "random_walk"):
        return {"before": "in mid-2023", "after": "in mid-2025"}
    if entry.get("pace") == "sampled_break":
        return {"before": "before the break", "after": "after the break"}
    return {"before": f"to {year}", "after": f"from {year}", "all": "constant gain"}


def gains(entry):
    """Plot the yearly gain of capability at fixed compute before and after a break, and by form of the trend."""
    traces, rows = [], []
    for unit, (symbol, words) in UNITS.items():
        if unit in entry["periods"]["change"]:
            by_period = {period: entry["periods"][period][unit]["gain"] for period in ("before", "after")}
            traces += _pair(by_period, len(rows), symbol)
            added = "" if entry["quoted"] == PLAIN else f", with {OF_SCORES[entry['quoted']]}"
            rows.append(f"break in {month(entry['break_year'])}{added}<br>{words}")
    for variant in (DEFAULT, FAMILIES):
        for form, of in entry["forms"]["answers"][variant].items():
            if (variant, form, entry["quoted"]) != (DEFAULT, "break", PLAIN):
                traces += _pair(of["gains"], len(rows), "square")
                rows.append(form_name(variant, form))
    title = "Gain of capability at fixed training compute (logits a year)"
    caption = "Gain of capability a year before (blue) and after a change (orange), by form of the trend"
    drawn = figure(*traces, x={"title": title}, height=120 + 42 * len(rows), caption=caption)
    drawn.add_shape(type="line", x0=0, x1=0, y0=-0.5, y1=len(rows) - 0.5, line={"color": GREY, "dash": "dot"})
    return rows_named(drawn, rows).update_layout(showlegend=False)


def _pair(by_period, place, symbol):
    shift = {"before": -0.12, "after": 0.12}
    words = {"before": "earlier", "after": "later"}
    return [
        trace
        for period, q in by_period.items()
        for trace in _interval(
            q, place + shift[period], COLOURS[period], symbol, words[period], f"{plain(q, '{:.2f}')} logits a year"
        )
    ]


def factors(entry, published):
    """Plot the yearly factor by which the compute of a capability falls, by period and unit, and as published."""
    named, traces, rows, ends = labels(entry), [], [], []
    for period, label in named.items():
        for unit, (symbol, words) in UNITS.items():
            if unit not in entry["periods"][period]:
                continue
            q, place = entry["periods"][period][unit]["factor"], len(rows)
            rows.append(f"{label}<br>{words}")
            ends.append(q[HIGH] or WIDEST)
            traces += _interval(q, place, COLOURS[period], symbol, label, _factor(q))
    for estimate in published:
        place = len(rows)
        rows.append(estimate["label"])
        traces += _interval(estimate, place, BLACK, "x", "published", _factor(estimate))
    widest = min(2 * max(ends), WIDEST)
    axis = {"type": "log", "range": [np.log10(LEAST), np.log10(widest)]}
    drawn = figure(
        *traces,
        x={"title": "Fall of compute at fixed capability (times a year)"} | axis,
        height=120 + 42 * len(rows),
        caption="How fast the compute of a given capability falls, by period; crosses are published",
    )
    drawn.add_shape(type="line", x0=1, x1=1, y0=-0.5, y1=len(rows) - 0.5, line={"color": GREY, "dash": "dot"})
    return rows_named(drawn, rows).update_layout(showlegend=False)


def bridge(entry, published):
    """Plot the months in which compute at a fixed result halves: at fixed loss to 2023, at fixed capability since."""
    named, traces, rows = labels(entry), [], []
    for unit, (symbol, words) in EARLIER.items():
        traces += _months(
            entry["earlier"]["units"][unit]["halving"], len(rows), PURPLE, symbol, "fixed loss, 2012–2023"
        )
        rows.append(f"fixed loss, 2012–2023<br>{words}")
    for period, label in named.items():
        for unit, (symbol, words) in UNITS.items():
            if unit in entry["periods"][period]:
                halving = entry["periods"][period][unit]["halving"]
                traces += _months(halving, len(rows), COLOURS[period], symbol, f"fixed capability, {label}")
                rows.append(f"fixed capability, {label}<br>{words}")
    for estimate in published:
        traces += _months(estimate, len(rows), BLACK, "x", "published")
        rows.append(estimate["label"])
    drawn = figure(*traces, x={"title": "Halving time of compute at a fixed result (months)", "type": "log",
                               "range": list(np.log10(MONTHS))}, height=120 + 42 * len(rows),
                   caption="Halving time of compute, at fixed loss to 2023 and at fixed capability since")  # fmt: skip
    return rows_named(drawn, rows).update_layout(showlegend=False)


def _months(q, place, colour, symbol, label):
    """Draw an interval of months, to the end of the axis if it has no upper end, because progress may be zero."""
    if q[MIDDLE] is None:
        return []
    return _interval(q | {HIGH: q[HIGH] or MONTHS[1]}, place, colour, symbol, label, f"{months(q)} months")


def _factor(q):
    return f"{times(q[MIDDLE])} times a year" if q[LOW] is None else yearly(q)


def _interval(q, place, colour, symbol, label, words):
    """Draw a median with its interval, if there is one, and a hover text."""
    low, middle, high = q[LOW], q[MIDDLE], q[HIGH]
    dots = points([middle], [place], colour, None, f"{label}<br>{words}<extra></extra>", size=9, symbol=symbol)
    if low is None or high is None:
        return [dots]
    return [line([low, high], [place, place], colour, label, hoverinfo="skip", width=3), dots]


def joint(entry):
    """Plot draws of the yearly gain against what a decade of compute buys, with lines of one yearly factor."""
    named, traces = labels(entry), []
    reach = REACH * max(max(pairs["slope"]) for pairs in entry["pairs"].values())
    top = 1.1 * max(max(pairs["gain"]) for pairs in entry["pairs"].values())
    for period, pairs in entry["pairs"].items():
        name, look = named[period], {"size": 5, "opacity": 0.5}
        hover = "%{x:.2f} logits a decade, %{y:.2f} a year<extra>" + name + "</extra>"
        traces.append(points(pairs["slope"], pairs["gain"], COLOURS[period], name, hover, **look))
    for name, estimate in _points(entry):
        hover = f"{name}: {times(estimate['factor'])} times a year<extra></extra>"
        colour, at = PURPLE if name.startswith("two") else BLACK, ([estimate["slope"]], [estimate["gain"]])
        traces.append(points(*at, colour, name, hover, size=12, symbol="x"))
    drawn = figure(
        *traces,
        x={"title": "What a decade of compute buys (logits)", "range": [0, reach]},
        y={"title": "Gain at fixed compute (logits a year)", "range": [min(0, 1.1 * _least(entry)), top]},
        height=520,
        caption="Why the yearly factor is uncertain: draws of the gain and of what compute buys; dotted: equal factor",
    )
    for factor in FACTORS:
        slope = np.log10(factor)
        x = min(reach, top / slope)
        drawn.add_shape(type="line", x0=0, y0=0, x1=x, y1=slope * x, line={"color": GREY, "width": 1, "dash": "dot"})
        drawn.add_annotation(x=0.96 * x, y=0.96 * slope * x, text=f"{factor}×", showarrow=False, font={"size": 11})
    return drawn.update_layout(legend={"orientation": "h", "y": -0.18, "yanchor": "top"})


def _points(entry):
    return [(name, entry["least_squares"][name]) for name in ("two stages", "one regression")]


def _least(entry):
    return min(min(pairs["gain"]) for pairs in entry["pairs"].values())

"""What a figure says of the point under the pointer: the quantity and its unit, never a raw pair of numbers."""

import re

POINTS = ("scatter", "bar")
SHORT = re.compile(r"^(Optimal )?(parameters|tokens|training tokens)\b", re.IGNORECASE)


def named(drawn):
    """Give each trace that has no words of its own those of its axes.

    Parameters
    ----------
    drawn : plotly Figure

    Examples
    --------
    >>> from bayescaling.reports.drawing.style import figure, line
    >>> drawn = figure(line([1], [2], "#000000", "median"), x={"title": "Date"}, y={"title": "Loss (nats/token)"})
    >>> named(drawn)
    >>> drawn.data[0].hovertemplate
    'Date %{x:.4~g}<br>Loss %{y:.4~g} nats/token<extra>median</extra>'
    """
    for trace in drawn.data:
        if trace.type in POINTS and trace.hovertemplate is None and trace.hoverinfo != "skip":
            axes = ((letter, drawn.layout[_axis(trace, letter)]) for letter in "xy")
            said = [_said(letter, axis) for letter, axis in axes if axis.showticklabels is not False]
            trace.hovertemplate = "<br>".join(said) + f"<extra>{trace.name or ''}</extra>"


def _axis(trace, letter):
    return f"{letter}axis{(trace[f'{letter}axis'] or letter)[1:]}"


def _said(letter, axis):
    title = axis.title.text or ""
    name, _, unit = title.partition(" (")
    unit = unit.rstrip(")")
    percent = "%" in (axis.tickformat or "")
    form = axis.tickformat if percent else ".3s" if SHORT.match(title) else ".4~g"
    number = f"%{{{letter}:{form}}}" + ("%" if unit == "%" else f" {unit}" if unit else "")
    return f"{name} {number}".strip()

"""What a figure shows, in words: its caption, its text alternative, and the text of the point under the pointer."""

import html
import re

POINTS = ("scatter", "bar")
SHORT = re.compile(r"^(Optimal )?(parameters|tokens|training tokens)\b", re.IGNORECASE)
TAGS = re.compile(r"<br ?/?>|<(?!/?su[bp]>)[^>]*>")
LOWERED = re.compile(r"</?su[bp]>")


def caption(drawn):
    """Return the caption of a figure: the one that it has, or what is drawn against what.

    Parameters
    ----------
    drawn : plotly Figure
        Its ``layout.meta["caption"]``, if it has one, is returned unchanged.

    Returns
    -------
    str
        Text, which may contain ``<sub>`` and ``<sup>``.
    """
    if drawn.layout.meta and "caption" in drawn.layout.meta:
        return drawn.layout.meta["caption"]
    across, up = _titles(drawn.select_xaxes()), _titles(drawn.select_yaxes())
    panels = [_plain(a.text) for a in drawn.layout.annotations if a.showarrow is False and a.yref == "paper"]
    if across and up:
        return f"{_listed([up[0], *map(_lowered, up[1:])])} against {_lowered(_listed(across))}"
    if across or up:
        return _listed(across or up)
    if drawn.data and drawn.data[0].type == "splom":
        return f"Joint posterior of {_listed([d.label for d in drawn.data[0].dimensions])}"
    return _listed(panels) or "Figure"


def alternative(drawn):
    """Return what a figure shows, for readers who do not see it: its caption, rows and the names in its legend."""
    rows = [_plain(label) for axis in drawn.select_yaxes() for label in axis.ticktext or ()]
    names = [_plain(trace.name) for trace in drawn.data if trace.name and trace.showlegend is not False]
    shown = dict.fromkeys(name for name in names if name)
    sentences = [f"Graph: {caption(drawn)}."]
    if rows and any(re.search("[a-z]", label, re.IGNORECASE) for label in rows):
        sentences.append(f"Rows: {', '.join(rows)}.")
    if shown:
        sentences.append(f"Shown: {', '.join(shown)}.")
    return LOWERED.sub("", _plain(" ".join(sentences)))


def named(drawn):
    """Give each trace without a hover text that of its axes.

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
            lines = [_hover_line(letter, axis) for letter, axis in axes if axis.showticklabels is not False]
            trace.hovertemplate = "<br>".join(lines) + f"<extra>{trace.name or ''}</extra>"


def _axis(trace, letter):
    return f"{letter}axis{(trace[f'{letter}axis'] or letter)[1:]}"


def _hover_line(letter, axis):
    title = axis.title.text or ""
    name, _, unit = title.partition(" (")
    unit = unit.rstrip(")")
    percent = "%" in (axis.tickformat or "")
    form = axis.tickformat if percent else ".3s" if SHORT.match(title) else ".4~g"
    number = f"%{{{letter}:{form}}}" + ("%" if unit == "%" else f" {unit}" if unit else "")
    return f"{name} {number}".strip()


def _titles(axes):
    return list(dict.fromkeys(_plain(axis.title.text) for axis in axes if axis.title.text))


def _plain(text):
    return " ".join(html.unescape(TAGS.sub(" ", text or "")).split())


def _lowered(text):
    """Return text that starts in lower case, if the first word is no symbol or name."""
    return text[0].lower() + text[1:] if re.match(r"[A-Z][a-z]+\b", text) else text


def _listed(words):
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}" if words else ""

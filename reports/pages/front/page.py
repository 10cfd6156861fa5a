"""The first screen of a report, as HTML."""

from html import escape
from pathlib import Path

import jinja2

from ....inference.words import months, plain, probability, symbols
from ...drawing.tables import lowered
from .picture import panels
from .quote import not_quotable, quotable

HERE = Path(__file__).parent
DOTS = {"strong": "●●●", "fair": "●●○", "weak": "●○○"}


def front(document):
    """Write the first screen, or None where no question was answered.

    Parameters
    ----------
    document : dict
        The content of results.json, with its ``answers`` and ``claims``.

    Returns
    -------
    str or None
    """
    if not document["answers"]:
        return None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([HERE, HERE.parents[1] / "html"]), undefined=jinja2.StrictUndefined,
        autoescape=True, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("front.html.jinja").render(
        answers=document["answers"],
        dots=DOTS,
        own_budget=bool(document.get("optimum")),
        panels=panels(document),
        quotable=quotable(document),
        not_quotable=not_quotable(document),
        claims=[_row(claim) for claim in document["claims"]],
    )


def _row(claim):
    theirs, ours = claim["published"], claim["ours"]
    form = _form(claim["claim"])
    said = form({"q2.5": theirs["low"], "q50": theirs["estimate"], "q97.5": theirs["high"]})
    # An estimate without an interval is printed as it was published.
    return claim | {
        "claim": ", ".join(filter(None, (claim["claim"], claim.get("of")))),
        "note": lowered(escape(symbols(claim["note"] or ""))),
        "theirs": said if theirs["low"] is not None else f"{theirs['estimate']:,g}",
        "shown": form(ours),
        "p": "–" if claim["p_at_least"] is None else probability(claim["p_at_least"]),
    }


def _form(claim):
    if "months" in claim:
        return months
    return lambda q: plain(q, "{:,.0f}" if abs(q["q50"]) >= 1000 else "{:.1f}" if abs(q["q50"]) >= 5 else "{:.3f}")

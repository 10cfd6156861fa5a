"""The first screen of the report on the built-in tables."""

from html import escape

from ....inference.words import months, plain, probability, size, sizes, symbols
from ... import optimum
from ...html.front import Front, misfit_note
from ...html.tables import lowered
from .quote import not_quotable, quotable

CHARTS = ("progress", "horizons", "chinchilla")  # The parts whose charts are on the first screen.
SIZES = "chinchilla"  # The page of the best size.
LARGE, SMALL = 1000, 5  # Numbers are written as 47k, with one decimal or with three.


def front(document):
    """Put the first `Front` together from the content of results.json; None where no question was answered."""
    if not document["answers"]:
        return None
    sized = next((answer for answer in document["answers"] if answer["page"] == SIZES), None)
    return Front(
        document["answers"],
        [],
        CHARTS,
        sized if document.get("optimum") else None,
        quotable(document),
        not_quotable(document),
        [_row(claim) for claim in document["claims"]],
        misfit_note([document["laws"][name] for name in optimum.planned(document)] if "allocation" in document else []),
    )


def _row(claim):
    published, ours = claim["published"], claim["ours"]
    form = _form(claim)
    if published["low"] is not None:
        estimate = form({"q2.5": published["low"], "q50": published["estimate"], "q97.5": published["high"]})
    else:
        estimate = size(published["estimate"]) if form is sizes else f"{published['estimate']:g}"
    return claim | {
        "claim": ", ".join(filter(None, (claim["claim"], claim.get("of")))),
        "note": lowered(escape(symbols(claim["note"] or ""))),
        "theirs": estimate,
        "shown": form(ours),
        "p": "–" if claim["p_at_least"] is None else probability(claim["p_at_least"]),
    }


def _form(claim):
    """Return the function that writes a summary of a claim, with no more digits than its size bears."""
    if "months" in claim["claim"]:
        return months
    if abs(claim["ours"]["q50"]) >= LARGE:
        return sizes
    return lambda q: plain(q, "{:.1f}" if abs(q["q50"]) >= SMALL else "{:.3f}")

"""The first screen of a report: cards, a budget field, figures, and what to quote and what not."""

from dataclasses import dataclass, field
from html import escape

from ....inference.checks.verdict import percent
from ....inference.decisions.price import PREFIXES, UNITS
from ....inference.estimands.strength import EXTRAPOLATION, SENSITIVITY, WIDTH
from ....inference.words import MIDDLE, months, plain, probability, size, sizes, symbols
from ... import optimum
from ...html import prose
from ...html.tables import lowered

LIMITS = {"width": WIDTH, "sensitivity": SENSITIVITY, "extrapolation": EXTRAPOLATION}
FIXED = ("chains", "law")  # facts of an answer that do not depend on the budget
CHARTS = ("progress", "horizons", "chinchilla")  # The parts whose charts are on the first screen.
SIZES = "chinchilla"  # The page of the best size.
LARGE, SMALL = 1000, 5  # Numbers are written as 47k, with one decimal or with three.


@dataclass(frozen=True)
class Front:
    """The first screen.

    Attributes
    ----------
    answers : list of dict
        From `answers`: one card for each.
    figures : list of Illustration
    shown : tuple of str
        Names of the parts whose charts are on the first screen too.
    sized : dict or None
        The answer whose strength follows the budget that a reader types, None where there is no budget field.
    quotable, not_quotable : list of str
    claims : list of dict
        Rows of the table of published estimates.
    note : str or None
        How far the laws miss their rows, and what follows for the reader.
    unexplained : tuple of str
        Names of terms of the glossary that are columns of the user here.
    """

    answers: list
    figures: list = field(default_factory=list)
    shown: tuple = ()
    sized: dict | None = None
    quotable: list = field(default_factory=list)
    not_quotable: list = field(default_factory=list)
    claims: list = field(default_factory=list)
    note: str | None = None
    unexplained: tuple = ()

    @property
    def grading(self):
        """Return what a page needs to read a budget and to grade its size: units, grades of what is fixed, limits."""
        grades = {name: grade for name, grade in self.sized["grades"].items() if name in FIXED}
        return {"fixed": grades, "limits": LIMITS, "units": UNITS, "prefixes": PREFIXES}


def misfit_note(entries):
    """Return a sentence on how far laws miss their rows, from their entries of results.json.

    It is None where no size of a misfit is known.

    Examples
    --------
    >>> misfit_note([{"verdict": {"size": 0.002, "share_of": "the loss"}}])
    'The misfit of the best is 0.2% of the loss; intervals allow for it.'
    """
    checks = [entry["verdict"] for entry in entries if entry["verdict"].get("size") is not None]
    if not checks:
        return None
    sizes = sorted({percent(check["size"]): check["size"] for check in checks}.items(), key=lambda pair: pair[1])
    ends = dict.fromkeys((sizes[0][0], sizes[-1][0]))
    return f"The misfit of the best is {' to '.join(ends)} of {checks[0]['share_of']}; intervals allow for it."


def quotable(document):
    """Return sentences that carry all that a reader needs to repeat them."""
    return _texts(document)["quotable"] or []


def not_quotable(document):
    """Return sentences on what is not to be repeated, and why."""
    return _texts(document)["not_quotable"] or []


def _texts(document):
    named = {"document": document, "answers": document["answers"], "optimum": optimum}
    if "published" in document and "allocation" in document:
        law = optimum.preferred(document)
        last = optimum.budgets(document, law)[-2]["compute"]
        optima = [optimum.at_budget(document, last, name)["parameters"] for name in optimum.planned(document)]
        named |= {"law": law, "rivals": optimum.rivals(document), "last": last}
        named["medians"] = [q[MIDDLE] for q in optima]
    return prose.texts(__file__, "quote.md.jinja", **named)


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

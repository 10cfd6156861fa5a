"""What of a report can be quoted unchanged, and what cannot."""

from ....inference.words import MIDDLE
from ... import optimum
from ...html import prose


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

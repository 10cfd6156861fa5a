"""Published estimates beside those of a report, one row a claim."""

import math

from ....inference.words import HIGH, LOW, MIDDLE
from ...drawing.optimum import NAMES
from ...laws import DEFAULT

WIDER = 1.25  # ratio of the widths of two intervals from which one is called wider

# What is claimed, the quantity of ``load("published")``, its source (all where None), the page that says more, and
# where the content of results.json has ours.
CLAIMS = (
    ("Doubling time, specification 7 (months)", "progress.doubling_months.closed_form", None, "progress",
     ("progress", "7", "doubling_months", "all")),
    ("Doubling time, ten best specifications (months)", "progress.doubling_months.top10", None, "progress",
     ("pooled_doubling_months", "top10")),
    ("Doubling time with a vocabulary term (months)", "progress.doubling_months.vocabulary", None, "progress",
     ("progress", "19", "doubling_months", "all")),
    ("Doubling time with effects of papers (months)", "progress.doubling_months.autocorrelation", None, "progress",
     ("variants", "paper_effects", "doubling_months")),
    ("Doubling time without transformers (months)", "progress.doubling_months.non_transformers", None, "progress",
     ("variants", "non_transformers", "doubling_months")),
    ("Loss saved by the transformer (%)", "transformer.loss_reduction_percent", None, "progress",
     ("transformer", "loss_reduction_percent")),
    ("Gain by the transformer at 1e25 FLOP (times)", "transformer.gain_1e25", None, "progress",
     ("transformer", "gain_1e25")),
    ("Irreducible loss E (nats/token)", "chinchilla.E", None, "chinchilla", ("laws", "chinchilla", "parameters", "E")),
    ("α, exponent of parameters", "chinchilla.alpha", None, "chinchilla",
     ("laws", "chinchilla", "parameters", "alpha")),
    ("β, exponent of tokens", "chinchilla.beta", None, "chinchilla", ("laws", "chinchilla", "parameters", "beta")),
    ("Exponent of N* in compute", "chinchilla.exponent_parameters", None, "chinchilla",
     ("laws", "chinchilla", "parameters", "exponent_parameters")),
    ("Exponent of N* without embeddings", "reconciliation.kaplan_exponent", None, "embeddings",
     ("reconciliation", "by_law", DEFAULT, "nonembedding")),
    ("Exponent of N* without embeddings", "reconciliation.local_exponent", None, "embeddings",
     ("reconciliation", "by_law", DEFAULT, "nonembedding")),
    ("γ of the sizes of embeddings", "reconciliation.gamma", None, "embeddings",
     ("reconciliation", "configurations", "posterior", "gamma")),
    ("Width over depth", "reconciliation.aspect_ratio", None, "embeddings",
     ("reconciliation", "configurations", "posterior", "aspect_ratio")),
)  # fmt: skip


def claims(document, published):
    """Entries of published estimates beside ours, where ours were made.

    Parameters
    ----------
    document : dict
        The content of results.json.
    published : DataFrame
        From ``load("published")``.

    Returns
    -------
    list of dict
        ``claim``, ``of`` (the law or the place that ours is of, or null), ``source``, ``note``, ``page``,
        ``published`` (estimate, low, high), ``ours`` (a summary),
        ``p_at_least`` (null where it was not made) and ``verdict``.
    """
    found = []
    for claim, quantity, source, page, path in CLAIMS:
        ours = _at(document, path)
        rows = published[published["quantity"] == quantity]
        for row in rows.itertuples() if ours else ():
            if source in (None, row.source):
                theirs = {name: _finite(getattr(row, name)) for name in ("estimate", "low", "high")}
                at_least = _p_at_least(document, quantity, row.source)
                found.append(
                    {"claim": claim, "of": _estimand(path), "source": row.source, "note": _text(row.note),
                     "page": page, "published": theirs, "ours": ours, "p_at_least": at_least,
                     "verdict": verdict(theirs, ours)}
                )  # fmt: skip
    return found


def _estimand(path):
    """Name the law that an entry of results.json is of, or the place that a doubling time is at."""
    if path[0] in ("progress", "pooled_doubling_months", "variants"):
        return "at 1e25 FLOP in 2023"
    law = next((NAMES[name] for name in path if name in NAMES), None)
    return law and f"{law} law"


def verdict(theirs, ours):
    """Say whether a published estimate lies within our interval, and which interval is wider.

    Examples
    --------
    >>> verdict({"estimate": 8.4, "low": 4.5, "high": 14.3}, {"q2.5": 4.5, "q50": 9.1, "q97.5": 27.0})
    'holds, ours is wider'
    """
    low, high = ours[LOW], ours[HIGH]
    inside = (low is None or theirs["estimate"] >= low) and (high is None or theirs["estimate"] <= high)
    said = "holds" if inside else "moved"
    if theirs["low"] is None or low is None:
        return said
    ratio = math.inf if high is None else (high - low) / (theirs["high"] - theirs["low"])
    return said + (", ours is wider" if ratio > WIDER else ", ours is narrower" if ratio < 1 / WIDER else "")


def _at(document, path):
    for key in path:
        document = document.get(key, {})
    return document if MIDDLE in document else None


def _p_at_least(document, quantity, source):
    """Probability of a value at least as large as published, where the content of results.json has it."""
    if quantity == "reconciliation.kaplan_exponent":
        return document["reconciliation"]["by_law"][DEFAULT]["p_above_0.73"]
    known = {(e["quantity"], e["source"]): e["p_at_least"] for e in document.get("published", ())}
    return known.get((quantity, source))


def _finite(x):
    return float(x) if math.isfinite(x) else None


def _text(note):
    return note if isinstance(note, str) else ""

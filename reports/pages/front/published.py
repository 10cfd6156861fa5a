"""Published estimates and those of a report, one row a claim."""

import math
from typing import NamedTuple

from ....inference.words import HIGH, LOW, MIDDLE
from ...laws import DEFAULT
from ...optimum import NAMES

WIDER = 1.25  # ratio of the widths of two intervals from which one is called wider

LAST_PAIR = {"from": "RNN (2012)", "to": "Gopher (2021)"}
SHARES = tuple(f"attribution.RNN (2012)>Gopher (2021).{part}_efficiency" for part in ("parameter", "data"))


class Claim(NamedTuple):
    """One finding that is published.

    Attributes
    ----------
    claim : str
        With its unit.
    quantity : str or tuple of str
        Of ``load("published")``; of several the sum is the claim.
    source : str or None
        All sources where None.
    page : str
        The page with more.
    path : tuple
        Where ours is in the content of results.json: keys, or of a list what an entry must have.
    scale : float
        Of ours in the unit of the claim.
    of : str, optional
        What ours is of.
    """

    claim: str
    quantity: str | tuple
    source: str | None
    page: str
    path: tuple
    scale: float = 1.0
    of: str | None = None


CLAIMS = tuple(Claim(*entry) for entry in (
    ("Doubling time, specification 7 (months)", "progress.doubling_months.closed_form", None, "progress",
     ("progress", "7", "doubling_months", "all")),
    ("Doubling time, ten best specifications (months)", "progress.doubling_months.top10", None, "progress",
     ("pooled_doubling_months", "top10")),
    ("Doubling time with a vocabulary term (months)", "progress.doubling_months.vocabulary", None, "progress",
     ("progress", "19", "doubling_months", "all")),
    ("Doubling time with random effects by paper (months)", "progress.doubling_months.autocorrelation", None,
     "progress", ("variants", "paper_effects", "doubling_months")),
    ("Doubling time without transformers (months)", "progress.doubling_months.non_transformers", None, "progress",
     ("variants", "non_transformers", "doubling_months")),
    ("Effective compute from 2014 to 2023 (times)", "progress.effective_compute_since_2014", None, "progress",
     ("effective_compute_since_2014",)),
    ("Share of progress in the fall of loss, RNN (2012) to Gopher (2021) (%)", SHARES, None, "progress",
     ("attribution", LAST_PAIR, "progress"), 100.0),
    ("Gain of Chinchilla's rule over Kaplan's (times)", "chinchilla_over_kaplan.gpt2", None, "progress",
     ("chinchilla_over_kaplan", {"compute": 1.5e21}, "gain"), 1.0, "at 1.5e21 FLOP"),
    ("Gain of Chinchilla's rule over Kaplan's (times)", "chinchilla_over_kaplan.palm", None, "progress",
     ("chinchilla_over_kaplan", {"compute": 2.5e24}, "gain"), 1.0, "at 2.5e24 FLOP"),
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
    ("Sums right beyond the training lengths, Abacus (%)", "arithmetic.addition20.abacus.ST+injection.ood", None,
     "arithmetic", ("lengths", "accuracy", "abacus", "ood"), 100.0, "other layers, a 400th of the compute"),
))  # fmt: skip


def claims(document, published):
    """Return entries of published estimates with ours, where the content of results.json has ours.

    Returns
    -------
    list of dict
        ``claim``, ``of`` (the law or the place that ours is of, or null), ``source``, ``note`` and ``page``. Numbers
        are ``published`` (estimate, low, high), ``ours`` (a summary) and ``p_at_least`` (null where there is none).
        ``verdict`` compares them.
    """
    entries = []
    for claim in CLAIMS:
        ours = _at(document, claim.path, claim.scale)
        for row in _rows(published, claim) if ours else ():
            estimate = {name: _finite(getattr(row, name)) for name in ("estimate", "low", "high")}
            entries.append(
                {
                    "claim": claim.claim,
                    "of": claim.of or _estimand(claim.path),
                    "source": row.source,
                    "note": _text(row.note),
                    "page": claim.page,
                    "published": estimate,
                    "ours": ours,
                    "p_at_least": _p_at_least(document, claim.quantity, row.source),
                    "verdict": verdict(estimate, ours),
                }
            )
    return entries


def _rows(published, claim):
    """Return the published rows of a claim, of several quantities their sum."""
    if isinstance(claim.quantity, tuple):
        rows = published[published["quantity"].isin(claim.quantity)]
        return list(rows.groupby("source", as_index=False).agg(_summed).itertuples())
    rows = published[published["quantity"] == claim.quantity]
    return [row for row in rows.itertuples() if claim.source in (None, row.source)]


def _summed(column):
    return column.sum(min_count=len(column)) if column.dtype.kind == "f" else column.iloc[0]


def _estimand(path):
    """Name the law that an entry of results.json is of, or the place that a doubling time is at."""
    if path[0] in ("progress", "pooled_doubling_months", "variants"):
        return "at 1e25 FLOP in 2023"
    law = next((NAMES[name] for name in path if isinstance(name, str) and name in NAMES), None)
    return law and f"{law} law"


def verdict(published, ours):
    """Return whether a published estimate lies within our interval, and which interval is wider, as text.

    Examples
    --------
    >>> verdict({"estimate": 8.4, "low": 4.5, "high": 14.3}, {"q2.5": 4.5, "q50": 9.1, "q97.5": 27.0})
    'inside, ours is wider'
    """
    low, high = ours[LOW], ours[HIGH]
    inside = (low is None or published["estimate"] >= low) and (high is None or published["estimate"] <= high)
    place = "inside" if inside else "outside"
    if published["low"] is None or low is None:
        return place
    ratio = math.inf if high is None else (high - low) / (published["high"] - published["low"])
    return place + (", ours is wider" if ratio > WIDER else ", ours is narrower" if ratio < 1 / WIDER else "")


def _at(document, path, scale):
    """Return the summary at a place of the content of results.json, None where there is none."""
    for key in path:
        if isinstance(key, dict):
            document = next((entry for entry in document if all(entry.get(k) == x for k, x in key.items())), {})
        else:
            document = document.get(key, {})
    if MIDDLE not in document:
        return None
    return {name: x if x is None else scale * x for name, x in document.items() if isinstance(x, int | float | None)}


def _p_at_least(document, quantity, source):
    """Return the probability of a value at least as large as published, None where results.json has none."""
    if quantity == "reconciliation.kaplan_exponent":
        return document["reconciliation"]["by_law"][DEFAULT]["p_above_0.73"]
    probabilities = {(e["quantity"], e["source"]): e["p_at_least"] for e in document.get("published", ())}
    return probabilities.get((quantity, source))


def _finite(x):
    return float(x) if math.isfinite(x) else None


def _text(note):
    return note if isinstance(note, str) else ""

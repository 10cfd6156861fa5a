"""Published estimates and those of a report, one row a claim."""

import math
import tomllib
from pathlib import Path

from ....inference.intervals import finite
from ....inference.words import HIGH, LOW, MIDDLE
from ...laws import DEFAULT
from ...optimum import NAMES

WIDER = 1.25  # ratio of the widths of two intervals from which one is called wider

CLAIMS = tomllib.loads(Path(__file__).with_name("claims.toml").read_text(encoding="utf-8"))["claims"]


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
        ours, quantity = _at(document, claim["path"], claim.get("scale", 1.0)), claim["quantity"]
        for row in _rows(published, quantity) if ours else ():
            estimate = {name: finite(getattr(row, name)) for name in ("estimate", "low", "high")}
            entries.append({
                "claim": claim["claim"],
                "of": claim.get("of") or _estimand(claim["path"]),
                "source": row.source,
                "note": row.note if isinstance(row.note, str) else "",
                "page": claim["page"],
                "published": estimate,
                "ours": ours,
                "p_at_least": _p_at_least(document, quantity, row.source),
                "verdict": verdict(estimate, ours),
            })  # fmt: skip
    return entries


def _rows(published, quantity):
    """Return the published rows of a quantity, of several their sum by source."""
    if isinstance(quantity, list):
        rows = published[published["quantity"].isin(quantity)]
        return list(rows.groupby("source", as_index=False).agg(_summed).itertuples())
    return list(published[published["quantity"] == quantity].itertuples())


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
    return probabilities.get((quantity, source)) if isinstance(quantity, str) else None

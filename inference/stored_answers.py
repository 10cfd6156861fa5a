"""The answers of a fit as it holds them, in plain values, which what it prints, documents and pages read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from ..datasets.printed import Text
from .checks.verdict import FITS
from .fitted import ANSWERS, Fit, once
from .kinds import find_record
from .standing import lines, rivals_of

RIVALS = "{rivals}"  # stands in a sentence to quote for other forms of the law that predict as well


def stored_answers(fit: Fit) -> dict[str, Any]:
    """Return the answers that a fit holds, made the first time for a fit without them, such as one of an older file."""
    return once(fit, ANSWERS, lambda: fit._make_answers())


def text(fit: Fit) -> Text:
    """Return what a fit prints: its answers, whether its chains converged, and whether its law fits."""
    stored = stored_answers(fit)
    held = stored["standing"] | {"rivals": rivals_of(fit)}
    rows = {one["label"]: one["text"] for one in stored["answers"]}
    chains = [held["chains"]] if held["converged"] else []  # else among the lines
    check = [held["check"]] if held["verdict"] == FITS else []
    sentences = dict.fromkeys((*chains, *check, *lines(held), *stored["remarks"], *stored.get("facts", ())))
    table = pd.DataFrame({"median [95% interval]": rows}) if rows else None
    return Text(f"{held['law']} on {held['data']}", table, tuple(sentences))


def document(fit: Fit) -> dict[str, Any]:
    """Return what a fit prints as JSON holds it: ``answers`` by label, ``quote``, and what holds (`standing`)."""
    stored, quote = stored_answers(fit), [*quotes(fit)]
    values = {one["label"]: one["value"] for one in stored["answers"]}
    return {"answers": values, "quote": quote, "standing": stored["standing"] | {"rivals": rivals_of(fit)}}


def quotes(fit: Fit) -> Iterator[str]:
    """Yield sentences that can be quoted unchanged; those of a trend name the other forms that predict as well."""
    stored = stored_answers(fit)
    quoted = [one["quote"] for one in stored["answers"] if one["quote"]]
    find_rivals = find_record(fit.law.kind).rival_forms
    rivals = find_rivals(fit) if find_rivals and any(RIVALS in sentence for sentence in quoted) else ""
    yield from (sentence.replace(RIVALS, f"; {rivals}" if rivals else "") for sentence in quoted)
    if stored["answers"]:
        yield from (f"{remark[:1].upper()}{remark[1:]}." for remark in stored["remarks"])

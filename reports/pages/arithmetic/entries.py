"""Rows for people of the entry of results.json of a fitted law of lengths."""

from ....inference.intervals import QUANTILES
from ....inference.lengths.quantities import SHARES
from ....inference.words import digits, plain


def lengths_rows(entry, kind):
    """Return rows of a table of lengths for people: label, share right at short lengths, lengths at 50% and 95%."""
    names = {label: f"{label} ({who})" for label, who in entry["runs"].items()} if kind == "runs" else {}
    return [
        (names.get(label, label), plain(of["plateau"], "{:.1%}"), *(digits(of[f"{share:g}"]) for share in SHARES))
        for label, of in entry["lengths"][kind].items()
    ]


def contrast_rows(entry):
    """Return rows of a table of contrasts for people."""
    return [
        (
            f"{c['first']} / {c['second']}" if c["of"] == "length" else f"{c['first']} - {c['second']}",
            "length at 50%" if c["of"] == "length" else f"accuracy, {c['of']}",
            *("-" if c[k] is None else f"{c[k]:.3g}" for k in (*QUANTILES, "p_first")),
        )
        for c in entry["contrasts"]
    ]

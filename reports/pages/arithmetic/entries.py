"""The entry of results.json of a fitted law of lengths, and its rows for people."""

import numpy as np

from ....errors import InputError
from ....inference.intervals import QUANTILES, finite
from ....inference.lengths.quantities import SHARES, embedding_contrasts, learned_shares, length_at_accuracy, quantiles

KINDS = ("typical", "new", "runs")


def lengths_entry(fit, *, seed=1):
    """Return the lengths at 50% and 95% and the contrasts of embeddings of one fit.

    Returns
    -------
    dict
        ``lengths``: quantiles in digits (null for none) and ``p_none``, for typical runs, new seeds and the fitted
        runs, by condition or run and share. ``runs``: their descriptions. ``contrasts``: a list, empty where no two
        conditions differ in the embedding alone. ``learned``: the share right within the training lengths by condition,
        null where the table has no such problem. ``confounded``: effects that have no coefficient, because the runs
        cannot tell them from others.
    """
    try:
        contrasts = embedding_contrasts(fit, seed=seed).to_dict("records")
    except InputError:
        contrasts = []
    return {
        "lengths": {kind: _lengths(fit, kind, seed) for kind in KINDS},
        "runs": {str(run): _description(row) for run, row in fit.draws.runs.iterrows()},
        "learned": {name: finite(share) for name, share in learned_shares(fit).items()},
        "contrasts": [{k: x if isinstance(x, str | bool) else finite(x) for k, x in row.items()} for row in contrasts],
        "confounded": fit.record["law"]["reference"]["confounded"],
    }


def _description(row):
    return f"{row['embedding']}, seed {row['seed']}" if "seed" in row else str(row["embedding"])


def _lengths(fit, kind, seed):
    lengths = length_at_accuracy(fit, SHARES, seeds=kind, seed=seed)
    dimension = lengths.dims[2]
    return {
        str(label): {f"{share:g}": _quantiles(lengths.sel({dimension: label, "share": share})) for share in SHARES}
        for label in lengths[dimension].values
    }


def _quantiles(draws):
    values = quantiles(draws, list(QUANTILES.values()))
    digits = {name: finite(x) if x > 0 else None for name, x in zip(QUANTILES, values, strict=True)}
    return {"mean": None, "sd": None} | digits | {"p_none": float(np.mean(draws == 0))}


def lengths_rows(entry, kind):
    """Return rows of a table of lengths for people: label, share, 2.5%, 50%, 97.5%, P(none)."""
    names = {label: f"{label} ({who})" for label, who in entry["runs"].items()} if kind == "runs" else {}
    return [
        (
            names.get(label, label),
            f"{float(share):.0%}",
            *("none" if q[k] is None else f"{q[k]:.1f}" for k in QUANTILES),
            f"{q['p_none']:.3f}",
        )
        for label, of_label in entry["lengths"][kind].items()
        for share, q in of_label.items()
    ]


def contrast_rows(entry):
    """Return rows of a table of contrasts for people."""
    return [
        (
            f"{c['first']} / {c['second']}" if c["of"] == "length" else f"{c['first']} - {c['second']}",
            "50% length" if c["of"] == "length" else f"accuracy, {c['of']}",
            *("-" if c[k] is None else f"{c[k]:.3g}" for k in (*QUANTILES, "p_first")),
        )
        for c in entry["contrasts"]
    ]

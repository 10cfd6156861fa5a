"""The entry of results.json of a fitted law of lengths, and its rows for people."""

from ....errors import InputError
from ....inference.intervals import QUANTILES, finite, summary
from ....inference.lengths.quantities import SHARES, embedding_contrasts, learned_shares, length_at_accuracy, plateau
from ....inference.words import digits, plain

KINDS = ("typical", "new", "runs")


def lengths_entry(fit, *, seed=1):
    """Return the lengths at which 50% and 95% of the accuracy is left, and the contrasts of embeddings, of one fit.

    Returns
    -------
    dict
        ``lengths``: quantiles in digits by condition or run and share, for typical runs, new seeds and the fitted runs.
        ``plateau`` next to them is the share right at short lengths. ``runs``: their descriptions. ``contrasts``: a
        list, empty where no two conditions differ in the embedding alone. ``learned``: the share right within the
        training lengths by condition, null where the table has no such problem. ``confounded``: effects that have no
        coefficient, because the runs cannot tell them from others.
    """
    try:
        contrasts = embedding_contrasts(fit, seed=seed).to_dict("records")
    except InputError:
        contrasts = []
    return {
        "lengths": {kind: _lengths(fit, kind, seed) for kind in KINDS},
        "runs": {
            str(run): f"{row['embedding']}, seed {row['seed']}" if "seed" in row else str(row["embedding"])
            for run, row in fit.draws.runs.iterrows()
        },
        "learned": {name: finite(share) for name, share in learned_shares(fit).items()},
        "contrasts": [{k: x if isinstance(x, str | bool) else finite(x) for k, x in row.items()} for row in contrasts],
        "confounded": fit.record["law"]["reference"]["confounded"],
    }


def _lengths(fit, kind, seed):
    lengths, highest = length_at_accuracy(fit, SHARES, seeds=kind, seed=seed), plateau(fit, seeds=kind, seed=seed)
    entry, dimension = {}, lengths.dims[2]
    for label in lengths[dimension].values:
        of = lengths.sel({dimension: label})
        entry[str(label)] = {f"{share:g}": summary(of.sel(share=share), ratio=True) for share in SHARES}
        entry[str(label)]["plateau"] = summary(highest.sel({dimension: label}))
    return entry


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

"""What answers need of tables of problems that runs get right, and of the law of lengths."""

from ...errors import InputError
from .. import intervals
from ..lengths.quantities import (
    SEEDS,
    SHARES,
    embedding_contrasts,
    learned_shares,
    length_at_accuracy,
    plateau,
    summary,
)
from ..words import digits
from . import register_answers
from .record import HALF, Answer, KindAnswers, escape


def _answers(fit):
    for name, row in summary(fit, HALF).droplevel("share").iterrows():
        template = f"{escape(name)}: accuracy has halved at {{x}} digits ({{of}}, median run)."
        yield Answer(f"digits at which accuracy has halved, {name}", intervals.ends(row), digits, template)


def details(fit, seed=1):
    """Return the lengths at which 50% and 95% of the accuracy is left, and the contrasts of embeddings, of one fit.

    In the dict, ``lengths`` has quantiles in digits by condition or run and share, for typical runs, new seeds and the
    fitted runs. ``plateau`` next to them is the share right at short lengths. ``runs`` has their descriptions.
    ``contrasts`` is a list, empty where no two conditions differ in the embedding alone. ``learned`` is the share right
    within the training lengths by condition, null where the table has no such problem. ``confounded`` lists effects
    that have no coefficient, because the runs cannot tell them from others.
    """
    try:
        contrasts = embedding_contrasts(fit, seed=seed).to_dict("records")
    except InputError:
        contrasts = []
    return {
        "lengths": {of: _lengths_of(fit, of, seed) for of in SEEDS},
        "runs": {
            str(run): f"{row['embedding']}, seed {row['seed']}" if "seed" in row else str(row["embedding"])
            for run, row in fit.draws.runs.iterrows()
        },
        "learned": {name: intervals.finite(share) for name, share in learned_shares(fit).items()},
        "contrasts": [
            {k: x if isinstance(x, str | bool) else intervals.finite(x) for k, x in row.items()} for row in contrasts
        ],
        "confounded": fit.record["law"]["reference"]["confounded"],
    }


def _lengths_of(fit, seeds, seed):
    lengths, highest = length_at_accuracy(fit, SHARES, seeds=seeds, seed=seed), plateau(fit, seeds=seeds, seed=seed)
    entry, dimension = {}, lengths.dims[2]
    for label in lengths[dimension].values:
        of = lengths.sel({dimension: label})
        entry[str(label)] = {f"{x:g}": intervals.summary(of.sel(share=x), ratio=True) for x in SHARES}
        entry[str(label)]["plateau"] = intervals.summary(highest.sel({dimension: label}))
    return entry


register_answers(
    KindAnswers(
        name="counts",
        needed="lengths need a fit of the law 'lengths'",
        answers=_answers,
        figure="lengths",
        tables={"lengths": "lengths.quantities.summary"},
        details=details,
    )
)

"""What a report says of specifications of progress fitted to evaluations of one's own."""

import html

from ....inference.progress.rate_at_optimum import doubling_times
from ....inference.progress.rate_at_rows import compute_equivalent_gain
from ....inference.words import probability, si
from ....models.progress.growth import doubling_quantiles
from ...drawing import checks, tables
from ...drawing.style import BLUE
from ...entries import fit_entry
from ...results import comparison_entries
from ..progress.forest import forest
from ..progress.wording import PROBABILITIES, finite, words
from .runs import laws_table, main_of, said_of

QUESTION = "How fast do these models improve?"


def entries(fits):
    """Entries of results.json: each law, with its doubling times in months.

    Under ``doubling`` those at the evaluations' own sizes and dates, ``months`` (quantiles) and ``p_progress``; under
    ``optimum`` those of `doubling_times`.
    """
    return {
        "laws": {
            name: fit_entry(fit) | {"doubling": _doubling(fit), "optimum": comparison_entries(doubling_times(fit))}
            for name, fit in fits.items()
        }
    }


def _doubling(fit):
    """Quantiles of the doubling time at the evaluations, in months, and the probability of any progress."""
    rate = finite(compute_equivalent_gain(fit))
    quantiles = doubling_quantiles(rate, list(PROBABILITIES.values()))
    months = {key: float(x) if x < float("inf") else None for key, x in zip(PROBABILITIES, quantiles, strict=True)}
    return {"months": months, "p_progress": float((rate > 0).mean())}


def sections(fits, document, elpd, comparison, backdrop):
    """Sections of the page; parameters as for `runs.sections`, and a backdrop is a fit of built-in evaluations."""
    best = main_of(fits, comparison)
    rows = fits[best].rows
    times = {name: _months(document["laws"][name]["doubling"]) for name in fits}
    shown = [_row(name, q, "your evaluations") for name, q in times.items()]
    if backdrop is not None:
        shown.append(_row(backdrop[0], _months(_doubling(backdrop[1])), "built in"))
    return [
        {
            "title": "How fast do algorithms improve?",
            "text": [
                "Months in which the compute for a given loss halves, at the sizes and dates of the evaluations. "
                "A rate that may be zero or less has no such time: never."
            ],
            "points": [
                f"{html.escape(name)}: {words(q)} months, probability of any progress "
                f"{probability(document['laws'][name]['doubling']['p_progress'])}. {said_of(document['laws'][name])}"
                for name, q in times.items()
            ],
            "blocks": [forest(shown)],
        },
        {"role": "details", "title": "The evaluations", "text": [_of_table(rows)], "blocks": []},
        {
            "title": "The specifications",
            "text": [] if not isinstance(comparison, str) else [f"Not compared: {html.escape(comparison)}."],
            "blocks": [
                laws_table(fits, document, comparison),
                checks.pareto_k(elpd),
            ],
        },
        {
            "title": f"Does {best} fit?",
            "text": [said_of(document["laws"][best])],
            "blocks": [tables.tests_of_law(document["laws"][best]), checks.loo_pit(fits[best])],
        },
    ]


def _months(doubling):
    return {key: float("inf") if x is None else x for key, x in doubling["months"].items()}


def _row(name, q, group):
    return {"label": html.escape(name), "group": group, "colour": BLUE if group != "built in" else "#6b7280", **q}


def _of_table(rows):
    benchmarks = ", ".join(html.escape(str(name)) for name in rows["benchmark"].unique())
    return (
        f"{len(rows)} evaluations of {html.escape(str(rows.attrs.get('source', 'a table')))}, {rows['year'].min():.1f} "
        f"to {rows['year'].max():.1f}, on {benchmarks}; {si(rows['parameters'].min())} to "
        f"{si(rows['parameters'].max())} parameters."
    )

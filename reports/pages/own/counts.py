"""What a report says of laws of lengths fitted to counts of one's own."""

import html

from ...drawing import checks, tables
from ...entries import fit_entry
from ..arithmetic.entries import contrast_rows, lengths_rows
from .runs import laws_table, main_of, said_of

QUESTION = "How far do these models get?"
LENGTHS = ("which", "accuracy", "2.5%", "50%", "97.5%", "P(none)")
CONTRASTS = ("median runs", "of", "2.5%", "50%", "97.5%", "P(first above)")
KINDS = {"typical": "of the median run", "new": "of a run with a new seed", "runs": "of each run"}


def entries(fits):
    """Entries of results.json: each law, with its lengths."""
    return {"laws": {name: fit_entry(fit) for name, fit in fits.items()}}


def sections(fits, document, elpd, comparison, backdrop):
    """Sections of the page; parameters as for `runs.sections`; there is no backdrop of counts."""
    best = main_of(fits, comparison)
    entry, rows = document["laws"][best], fits[best].rows
    lengths = [tables.of_rows(LENGTHS, lengths_rows(entry, kind), note=f"Digits, {of}.") for kind, of in
               KINDS.items()]  # fmt: skip
    contrasts = [tables.of_rows(CONTRASTS, contrast_rows(entry))] if entry["contrasts"] else []
    return [
        {
            "title": "How long do the models get?",
            "text": [
                f"{len(rows)} cells of {rows['run'].nunique()} runs of "
                f"{html.escape(str(rows.attrs.get('source', 'a table')))}, under {html.escape(best)}. {said_of(entry)}"
            ],
            "blocks": [*lengths, *contrasts],
        },
        {
            "title": "The laws of length",
            "text": [] if not isinstance(comparison, str) else [f"Not compared: {html.escape(comparison)}."],
            "blocks": [
                laws_table(fits, document, comparison),
                tables.tests_of_law(entry),
                checks.pareto_k(elpd),
            ],
        },
    ]

"""The page of laws of lengths fitted to a custom table of counts."""

from ...drawing import checks, tables
from ...entries import fit_entry
from ...html import prose
from ...output import file_name
from ..arithmetic.entries import contrast_rows, lengths_rows
from . import fronts
from .runs import laws_table, main_of

QUESTION = "How far do these models get?"
STEPS = ()
LENGTHS = ("which", "accuracy", "2.5%", "50%", "97.5%", "P(none)")
CONTRASTS = ("median runs", "of", "2.5%", "50%", "97.5%", "P(first above)")
KINDS = {"typical": "of the median run", "new": "of a run with a new seed", "runs": "of each run"}


def entries(fits):
    """Return entries of results.json: each law, with its lengths."""
    return {"laws": {name: fit_entry(fit) for name, fit in fits.items()}}


def first_screen(stage, fits, document, comparison):
    """Add the answers to the document, and return the figures; `stage` is not needed here."""
    document["answers"] = fronts.counts_answers(fits, document, comparison)
    document["optimum"] = None
    return fronts.counts_figures(fits, comparison, file_name)


def sections(fits, document, elpd, comparison, backdrop):
    """Return the sections of the page; parameters as for `runs.sections`; there is no backdrop of counts."""
    best = main_of(fits, comparison)
    entry = document["laws"][best]
    blocks = {
        "lengths": [
            tables.of_rows(LENGTHS, lengths_rows(entry, kind), note=f"Digits, {of}.") for kind, of in KINDS.items()
        ],
        "contrasts": tables.of_rows(CONTRASTS, contrast_rows(entry)) if entry["contrasts"] else None,
        "laws": laws_table(fits, document, comparison),
        "tests_of_law": tables.tests_of_law(entry),
        "pareto_k": checks.pareto_k(elpd),
    }
    named = {"best": best, "entry": entry, "rows": fits[best].rows, "comparison": comparison}
    return prose.sections(__file__, blocks, template="counts.md.jinja", escaped=True, **named)

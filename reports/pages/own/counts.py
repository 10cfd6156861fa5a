"""The page of laws of lengths fitted to a custom table of counts."""

from ....datasets.wording import printable
from ....inference.lengths.quantities import IN_WORDS
from ....inference.words import MIDDLE, digits
from ....plots import plot_lengths
from ...html import tables
from ...entries import fit_entry
from ..arithmetic.entries import contrast_rows, lengths_rows
from ..front.answers import width
from . import fronts
from .runs import main_of, short_sections

QUESTION = "How far do these models get?"
STEPS = ()
LENGTHS = ("which", "right at short lengths", "half of it left at (digits)", "95% of it left at (digits)")
CONTRASTS = ("median runs", "of", "2.5%", "50%", "97.5%", "P(first above)")


def entries(fits):
    """Return entries of results.json: each law, with its lengths."""
    return {"laws": {name: fit_entry(fit) for name, fit in fits.items()}}


def first_screen(stage, fits, document, comparison):
    """Answer how far the condition that gets furthest does, and draw accuracy by length."""
    best = main_of(fits, comparison)
    lengths = {name: shares["0.5"] for name, shares in document["laws"][best]["lengths"]["typical"].items()}
    first, *others = sorted(lengths, key=lambda name: -lengths[name][MIDDLE])
    following = [(printable(name), digits(lengths[name]).partition(" ")[0]) for name in others[:1]]
    named = {
        "best": printable(first),
        "q": lengths[first],
        "next": following[0] if following else None,
        "trained": float(fits[best].rows["train_digits"].max()),
    }
    document["answers"] = [fronts.answered("lengths", document, best, named, width=width(lengths[first]))]
    return [fronts.drawn(plot_lengths, fits, best)]


def sections(fits, document, elpd, comparison, backdrop):
    """Return the sections of the page; parameters as for `runs.sections`; there is no backdrop of counts."""
    entry = document["laws"][main_of(fits, comparison)]
    blocks = {
        "lengths": [
            tables.of_rows(LENGTHS, lengths_rows(entry, kind), note=f"Medians and 95% intervals {of}.")
            for kind, of in IN_WORDS.items()
        ],
        "contrasts": tables.of_rows(CONTRASTS, contrast_rows(entry)) if entry["contrasts"] else None,
    }
    return short_sections("counts.md.jinja", fits, document, elpd, comparison, blocks)

"""The page of laws of lengths fitted to a custom table of counts."""

from ....datasets.wording import printable
from ....inference.lengths.quantities import IN_WORDS
from ....inference.words import MIDDLE, digits
from ....plots import plot_lengths
from ...html import tables
from ..arithmetic.entries import contrast_rows, lengths_rows
from ..front.answers import width

QUESTION = "How far do these models get?"
LENGTHS = ("which", "right at short lengths", "half of it left at (digits)", "95% of it left at (digits)")
CONTRASTS = ("median runs", "of", "2.5%", "50%", "97.5%", "P(first above)")


def entry(fit):
    """Return nothing that the entry of a law has not in any case."""
    return {}


def first_screen(custom, stage):
    """Answer how far the condition that gets furthest does, and draw accuracy by length."""
    lengths = {name: shares["0.5"] for name, shares in custom.entry["lengths"]["typical"].items()}
    first, *others = sorted(lengths, key=lambda name: -lengths[name][MIDDLE])
    following = [(printable(name), digits(lengths[name]).partition(" ")[0]) for name in others[:1]]
    named = {
        "best": printable(first),
        "q": lengths[first],
        "next": following[0] if following else None,
        "trained": float(custom.fit.rows["train_digits"].max()),
    }
    custom.document["answers"] = [custom.answered("lengths", named, width=width(lengths[first]))]
    return [custom.drawn(plot_lengths)]


def sections(custom):
    """Return the sections of the page."""
    blocks = {
        "lengths": [
            tables.of_rows(LENGTHS, lengths_rows(custom.entry, kind), note=f"Medians and 95% intervals {of}.")
            for kind, of in IN_WORDS.items()
        ],
        "contrasts": tables.of_rows(CONTRASTS, contrast_rows(custom.entry)) if custom.entry["contrasts"] else None,
    }
    return custom.sections("counts.md.jinja", blocks)

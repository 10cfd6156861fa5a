"""The first screen of a report, whatever it is on: answers as cards, a budget field, figures, and what to quote."""

from dataclasses import dataclass, field

from ...inference.estimands.strength import EXTRAPOLATION, SENSITIVITY, WIDTH

LIMITS = {"width": WIDTH, "sensitivity": SENSITIVITY, "extrapolation": EXTRAPOLATION}
FIXED = ("chains", "law")  # facts of an answer that do not depend on the budget


@dataclass(frozen=True)
class Panel:
    """A figure of plain SVG, which needs no script.

    Attributes
    ----------
    title, caption, alternative : str
        The finding, what to see, and what a reader who cannot see it must know.
    wide, narrow : str
        The drawing at two widths.
    rows : list of list
        Its numbers below their header.
    """

    title: str
    caption: str
    alternative: str
    wide: str
    narrow: str
    rows: list


@dataclass(frozen=True)
class Front:
    """The first screen.

    Attributes
    ----------
    answers : list of dict
        From `answers`: one card for each.
    figures : list of Panel or plotly Figure
    sized : dict or None
        The answer whose strength follows the budget that a reader types, None where there is no budget field.
    quotable, not_quotable : list of str
    claims : list of dict
        Rows of the table of published estimates.
    """

    answers: list
    figures: list = field(default_factory=list)
    sized: dict | None = None
    quotable: list = field(default_factory=list)
    not_quotable: list = field(default_factory=list)
    claims: list = field(default_factory=list)

    @property
    def grading(self):
        """Return what a page needs to grade a size at any budget: the grades of what is fixed, and the limits."""
        grades = {name: grade for name, grade in self.sized["grades"].items() if name in FIXED}
        return {"fixed": grades, "limits": LIMITS}

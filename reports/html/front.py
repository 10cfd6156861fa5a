"""The first screen of a report, whatever it is on: answers as cards, a budget field, figures, and what to quote."""

from dataclasses import dataclass, field

from ...inference.checks.verdict import percent
from ...inference.decisions.price import PREFIXES, UNITS
from ...inference.estimands.strength import EXTRAPOLATION, SENSITIVITY, WIDTH

LIMITS = {"width": WIDTH, "sensitivity": SENSITIVITY, "extrapolation": EXTRAPOLATION}
FIXED = ("chains", "law")  # facts of an answer that do not depend on the budget


@dataclass(frozen=True)
class Front:
    """The first screen.

    Attributes
    ----------
    answers : list of dict
        From `answers`: one card for each.
    figures : list of Illustration
    shown : tuple of str
        Names of the parts whose charts are on the first screen too.
    sized : dict or None
        The answer whose strength follows the budget that a reader types, None where there is no budget field.
    quotable, not_quotable : list of str
    claims : list of dict
        Rows of the table of published estimates.
    note : str or None
        How far the laws miss their rows, and what follows for the reader.
    """

    answers: list
    figures: list = field(default_factory=list)
    shown: tuple = ()
    sized: dict | None = None
    quotable: list = field(default_factory=list)
    not_quotable: list = field(default_factory=list)
    claims: list = field(default_factory=list)
    note: str | None = None

    @property
    def grading(self):
        """Return what a page needs to read a budget and to grade its size: units, grades of what is fixed, limits."""
        grades = {name: grade for name, grade in self.sized["grades"].items() if name in FIXED}
        return {"fixed": grades, "limits": LIMITS, "units": UNITS, "prefixes": PREFIXES}


def misfit_note(entries):
    """Return a sentence on how far laws miss their rows, from their entries of results.json.

    It is None where no size of a misfit is known.

    Examples
    --------
    >>> misfit_note([{"verdict": {"size": 0.002, "share_of": "the loss"}}])
    'The misfit of the best is 0.2% of the loss; intervals allow for it.'
    """
    checks = [entry["verdict"] for entry in entries if entry["verdict"].get("size") is not None]
    if not checks:
        return None
    sizes = sorted({percent(check["size"]): check["size"] for check in checks}.items(), key=lambda pair: pair[1])
    ends = dict.fromkeys((sizes[0][0], sizes[-1][0]))
    return f"The misfit of the best is {' to '.join(ends)} of {checks[0]['share_of']}; intervals allow for it."

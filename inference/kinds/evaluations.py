"""What answers need of tables of dated evaluations, and of the specifications of progress."""

from .. import intervals
from ..progress.rate_at_rows import gain_times
from ..words import months, probability
from . import register_answers
from .record import Answer, KindAnswers


def _answers(fit):
    gain = gain_times(fit).loc["all"]
    p = probability(gain["p_progress"])
    template = (
        "Algorithmic progress halves the compute for a given loss every {x} months, progress having posterior "
        f"probability {p} ({{of}}, at the evaluations' own sizes and dates)."
    )
    yield Answer("doubling time of effective compute, months", intervals.ends(gain), months, template)
    yield Answer("probability of progress", float(gain["p_progress"]), probability)


register_answers(
    KindAnswers(
        name="evaluations",
        needed="growth rates need one of progress-1 to progress-20",
        answers=_answers,
        figure="doubling",
        tables={
            "doubling_months": "progress.rate_at_rows.gain_times",
            "at_a_budget": "progress.rate_at_optimum.doubling_times",
        },
        widens=True,
    )
)

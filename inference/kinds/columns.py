"""What answers need of tables of any columns, and of the formulas that are fitted to them."""

from __future__ import annotations

from ..words import plain
from . import register_answers
from .record import Answer, KindAnswers


def _answers(fit):
    for name, x in fit["posterior"].data_vars.items():
        if name in fit.law.roles and x.ndim == 2:
            low, median, high = x.quantile([0.025, 0.5, 0.975]).values
            yield Answer(name, {"q2.5": low, "q50": median, "q97.5": high}, lambda q: plain(q, "{:.3g}"))


register_answers(KindAnswers(name="columns", needed="this needs a fit of a formula", answers=_answers, widens=True))

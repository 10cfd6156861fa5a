"""What answers need of tables of successes on timed tasks, and of the law of time horizons."""

import numpy as np
import pandas as pd

from ...datasets.kinds.horizons import HORIZONS
from ...errors import InputError
from .. import intervals
from ..fitted import of_kind, place_of
from ..forecasts import NEW, entry, near, release, straight_line
from ..horizons.quantities import margins, summary
from ..progress.trends import doubling_days
from ..words import durations, months
from . import register_answers
from .record import HALF, MOST_ANSWERS, Answer, Forecasts, KindAnswers, escape, list_usual

WORK = {"a working day": 480.0, "a week of work": 2400.0, "a month of work": 10_020.0}  # 8, 40 and 167 hours


def _answers(fit):
    if fit.law.trend is not None:
        for period, row in doubling_days(fit).iterrows():
            template = f"Time horizons double in {{x}} days ({period}, {{of}})."
            yield Answer(f"days in which horizons double, {period}", intervals.ends(row), months, template)
    for i, ((model, _), row) in enumerate(summary(fit, [HALF]).head(MOST_ANSWERS).iterrows()):
        template = f"{escape(model)} does the typical task that takes people {{x}} in half of its runs ({{of}})."
        yield Answer(f"horizon of {model}", intervals.ends(row), durations, "" if i else template)


def _forecast(fit, at, benchmarks, plan, seed):
    of, draws, rng = release(fit, at, plan), fit.draws, np.random.default_rng(seed)
    if len(benchmarks):
        raise InputError("a forecast of time horizons takes no benchmarks")
    if draws.law.trend is None:
        raise InputError(
            f"{place_of(fit)} was fitted with trend=None, which forecasts nothing; fit with trend='linear'"
        )
    rows = draws.rows[draws.rows["model"] == draws.rows["model"].iloc[0]].assign(model=NEW, year=of["year"])
    new = draws.of_unseen(rows.reset_index(drop=True), rng).horizon[..., 0].ravel()
    line = straight_line(np.array(draws.reference["years"]), np.median(draws.horizon, (0, 1)), of["year"])
    return [entry("time horizon", np.exp(new), None if line is None else np.exp(line))], of | {"log": True}


def _outcomes(document, later, within):
    if not hasattr(later, "law"):
        raise InputError("a forecast of time horizons is scored on a fit to later data, not on a table")
    draws = of_kind(later, HORIZONS).draws
    values = pd.Series(np.exp(np.median(draws.horizon, (0, 1))), draws.reference["models"])
    frame = pd.DataFrame({"name": "time horizon", "model": values.index, "value": values.to_numpy()})
    return frame[near(document, np.array(draws.reference["years"]), within)]


register_answers(
    KindAnswers(
        name="horizons",
        needed="horizons need a fit of the law 'horizons'",
        answers=_answers,
        figure="horizons",
        commands=lambda fit: list_usual("ranks" if fit.law.trend is None else "horizons"),
        tables={
            "minutes": "horizons.quantities.summary",
            "doubling_days": "progress.trends.doubling_days",
            "dates_reached": "progress.trends.dates_reached",
            "ranks": "scores.ranks.ranks",
        },
        widens=True,
        grows="time horizons",
        levels=WORK,
        margins=margins,
        ranked_by=("horizon", "time horizon"),
        forecasts=Forecasts("minutes", durations, _forecast, _outcomes, from_fit=True),
    )
)

"""What answers need of tables of dated values, and of the law of their trend."""

import numpy as np
import pandas as pd

from ...errors import InputError
from .. import intervals
from ..forecasts import NEW, entry, near, release, straight_line, with_columns
from ..progress.trends import changes, rival_forms, yearly_gain
from ..words import months, plain
from . import register_answers
from .record import Answer, Forecasts, KindAnswers


def _three_digits(q):
    return plain(q, "{:.3g}")


def _answers(fit):
    log = fit.law.linear_unit is None
    if log:
        for period, (change, row) in changes(fit).items():
            template = f"Values {change} in {{x}} days ({period}, {{of}}){{rivals}}."
            yield Answer(f"days in which values {change}, {period}", intervals.ends(row), months, template)
    for period, row in yearly_gain(fit).iterrows():
        what = "factor a year" if log else "gain a year"
        template = "" if log else f"Values grow by {{x}} a year ({period}, {{of}}){{rivals}}."
        yield Answer(f"{what}, {period}", intervals.ends(row), _three_digits, template)


def _forecast(fit, at, benchmarks, plan, seed):
    of, rng = release(fit, at, plan), np.random.default_rng(seed)
    if len(benchmarks):
        raise InputError("a forecast of dated values takes no benchmarks")
    law, rows = fit.law, fit.draws.rows
    blank = {name: np.nan for name in ("low", "high", "halfwidth") if name in rows}
    new = rows.head(1).assign(year=of["year"], **blank, **({law.groups: NEW} if law.groups else {}))
    draws = law.from_scale(fit.draws.replicate(rng, new).values.ravel())
    line = straight_line(rows["year"].to_numpy(float), law.on_scale(rows["value"].to_numpy(float)), of["year"])
    line = None if line is None else law.from_scale(line)
    return [entry("value", draws, line)], of | {"log": law.linear_unit is None}


def _outcomes(document, later, within):
    rows = with_columns(later, document, ("value", "year"))
    label = rows["model"] if "model" in rows else rows["date"].dt.strftime("%Y-%m-%d")
    came = near(document, rows["year"], within)
    return pd.DataFrame({"name": "value", "model": label, "value": rows["value"]})[came]


register_answers(
    KindAnswers(
        name="values",
        needed="trends of dated values need a fit of the law 'trend'",
        answers=_answers,
        figure="trend",
        tables={
            "yearly_gain": "progress.trends.yearly_gain",
            "days": "progress.trends.days_to_change",
            "by_form": "progress.trends.by_form",
            "dates_reached": "progress.trends.dates_reached",
        },
        widens=True,
        rival_forms=rival_forms,
        grows="values",
        forecasts=Forecasts("that of the value", _three_digits, _forecast, _outcomes),
    )
)

"""What answers need of tables of scores of models on benchmarks, and of the law of scores."""

import numpy as np
import pandas as pd

from ...datasets.wording import unknown
from ...errors import InputError
from ...models.draws import DRAWS
from .. import intervals
from ..fitted import place_of
from ..forecasts import NEW, entry, near, release, straight_line, with_columns
from ..scores.compute import summary
from ..words import HIGH, LOW, MIDDLE, plain, yearly
from . import register_answers
from .record import MOST_ANSWERS, Answer, Forecasts, KindAnswers, escape, list_usual


def _answers(fit):
    capability = fit.draws.named()["capability"]
    best = capability.median(DRAWS).to_series().nlargest(MOST_ANSWERS)
    for model in best.index:
        q = intervals.summary(capability.sel(model=model))
        yield Answer(f"capability of {model}, logits", q, lambda q: plain(q, "{:.2f}"))
    if fit.law.pace is None:
        return
    for (period, unit), row in summary(fit).iterrows():
        if period != "change":
            name = f"{period}, by {unit}"
            template = f"The fall of compute at fixed capability is {{x}} ({escape(name)}, {{of}})."
            q = {end: row[f"factor_{end}"] for end in (LOW, MIDDLE, HIGH)}
            yield Answer(f"fall of compute, {name}", q, yearly, template)


def _forecast(fit, at, benchmarks, plan, seed):
    of, draws, rng = release(fit, at, plan), fit.draws, np.random.default_rng(seed)
    if draws.law.pace is None:
        raise InputError(f"{place_of(fit)} was fitted with pace=None, which forecasts nothing; fit with pace='linear'")
    fitted = draws.reference["benchmarks"]
    for name in benchmarks:
        if name not in fitted:
            raise InputError(f"{place_of(fit)}: {unknown('benchmark', name, fitted)}")
    chosen = list(benchmarks) or fitted
    rows = draws.rows.drop_duplicates("benchmark").set_index("benchmark").loc[chosen].reset_index()
    blank = {"training_compute_flop": np.nan, "family": NEW, "version": NEW}
    blank = {name: x for name, x in blank.items() if name in rows}
    new = draws.of_unseen(rows.assign(model=NEW, year=of["year"], **blank), rng).replicate(rng)
    entries = []
    for name, values in zip(chosen, new.transpose("row", ...).values.reshape(len(chosen), -1), strict=True):
        past = draws.rows[draws.rows["benchmark"] == name]
        line = straight_line(past["year"].to_numpy(float), past["score"].to_numpy(float), of["year"])
        entries.append(entry(name, values, None if line is None else np.clip(line, 0, 1)))
    return entries, of | {"log": False}


def _outcomes(document, later, within):
    rows = with_columns(later, document, ("model", "benchmark", "score", "year"))
    named = rows["benchmark"].isin([entry["name"] for entry in document["entries"]])
    rows = rows[near(document, rows["year"], within) & named]
    return pd.DataFrame({"name": rows["benchmark"], "model": rows["model"], "value": rows["score"]})


register_answers(
    KindAnswers(
        name="scores",
        needed="capabilities need a fit of the law 'scores'",
        answers=_answers,
        figure="capability",
        commands=lambda fit: list_usual(
            "capability" if "year" in fit.rows and fit.rows["year"].notna().all() else "ranks"
        ),
        tables={"ranks": "scores.ranks.ranks", "fall_of_compute": "scores.compute.summary"},
        ranked_by=("capability", "capability"),
        forecasts=Forecasts("share", lambda q: plain(q, "{:.0%}"), _forecast, _outcomes),
    )
)

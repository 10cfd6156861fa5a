"""Trends of dated values: training compute, and the published table of time horizons."""

import bayescaling as bs
from bayescaling.inference import intervals
from study import register, selected

TABLE = "training_compute"
LARGEST, FIRST = 10, 2018  # models among the so many largest when they were published, from a year on
HORIZONS = "metr_horizons_2026_02.csv"
COLUMNS = {"value": "p50_minutes", "low": "p50_low", "high": "p50_high"}


def largest():
    """Return the models that were among the ten largest when they were published."""
    compute = bs.load(TABLE)
    return selected(compute, (compute["larger_before"] < LARGEST) & (compute["year"] >= FIRST))


def _laws():
    return [(bs.laws.Trend(trend=trend), largest()) for trend in ("linear", "break", "acceleration", "logistic")]


@register("growth of the training compute of the largest models", _laws, seed=1)
def values_compute(parts, *, seed, **settings):
    """Fit all forms of the trend to the largest models, and compare them."""
    table = largest()
    fit = bs.fit("trend", table, seed=seed, **settings)
    forms = bs.progress.by_form(fit)
    best = bs.fit(bs.laws.Trend(trend=forms.index[0]), table, seed=seed, **settings)
    return {"rows": len(table), "forms": intervals.entries(forms), "best": forms.index[0], "latest_days": _days(best)}


@register("the published table of time horizons as dated values", _laws, foreign=True, seed=1)
def values_horizons(parts, *, seed, tables, **settings):
    """Fit the published horizons of models that were best at their release, from each of two dates on."""
    result = {}
    for first in (2019, 2023):
        named = bs.read(tables / HORIZONS, "values", columns=COLUMNS, where="is_sota")
        rows = selected(named, named["year"] >= first)
        fit = bs.fit("trend", rows, seed=seed, **settings)
        result[f"{first}"] = {
            "rows": len(rows),
            "days": _days(fit),
            "forms": intervals.entries(bs.progress.by_form(fit)),
            "ok": fit.diagnostics["ok"],
        }
    return result


def _days(fit):
    row = bs.progress.doubling_days(fit).iloc[-1]
    return {column: intervals.finite(x) for column, x in row.items()}

"""The analysis of time horizons: one law of successes on tasks, next to the other trends of a study."""

from functools import partial

import numpy as np

from ....datasets import load
from ....inference import fit, intervals
from ....inference.comparison.differences import is_apart
from ....inference.horizons.quantities import summary
from ....inference.progress.trends import dates_reached, doubling_days
from ....inference.words import HIGH, LOW, MIDDLE
from ....models.laws import Horizons
from ... import results
from ...findings import Findings
from ...speeds import BEST, SINCE, WEIRDML, in_months
from ...speeds import published as published_days

TABLE, NAME, LINE = "weirdml", "time horizons", "linear"
LAW = Horizons(trend=LINE, estimates=True, family_effects=True)
FIT, NUMBERS = "horizons: fit", "horizons: numbers"
STAGES = (FIT, NUMBERS)
FORECASTS, RECOVERY = "horizons_forecasts", "horizons_recovery"
STUDIES = (WEIRDML, BEST, FORECASTS, RECOVERY)
ALONE = "estimates alone"
HOUR = 60.0  # minutes


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the law with a constant rate, and read how other trends do from a study; see `Page.analyse`."""
    table = load(TABLE)
    fitted = stage(FIT, partial(fit, LAW, table, seed=seed, sampler=sampler, check=False, **settings))
    findings = Findings(studies=STUDIES, posteriors={NAME: fitted})
    entry = stage(NUMBERS, partial(numbers, fitted), of={NAME: fitted})
    entry |= {
        "rows": {"models": int(table["model"].nunique()), "tasks": int(table["task"].nunique())},
        "trends": _trends(findings.study(WEIRDML), entry),
        "published_hours": {name: pair[1] for name, pair in findings.study(WEIRDML)["published_hours"].items()},
        "best_at_release": {
            "published": in_months(published_days(f"horizons.doubling_days.since_{SINCE}")),
            "law": in_months(findings.study(BEST)[SINCE]["days"]),
        },
    }
    findings.document = {"time_horizons": entry}
    return findings


def numbers(fitted):
    """Return what follows from the fit alone: doubling time, dates reached, hours of each model and the tests."""
    days, horizons = intervals.entries(doubling_days(fitted)), summary(fitted)
    hours = horizons[[LOW, MIDDLE, HIGH]] / HOUR
    solved = horizons.xs(0.5, level="share")
    return {
        "fit": NAME,
        "doubling_days": days,
        "doubling_months": in_months(days["all"]),
        "dates_reached": intervals.entries(dates_reached(fitted)),
        "hours": {model: intervals.entries(hours.loc[model]) for model in hours.index.unique("model")},
        "longest": str(solved.loc[solved["solved"] > 0, MIDDLE].idxmax()),
        "estimate_factor": intervals.summary(np.exp(fitted["posterior"]["estimate_bias"]), ratio=True),
        **results.check_entries(fitted),
        "diagnostics": fitted.diagnostics,
    }


def _trends(study, entry):
    """Return the latest doubling time and the dates reached by trend, and whether each predicts as well as the line."""
    trends = {}
    for name, of in study["fits"].items():
        score = study["compared"].get(name, {})
        of = entry if name == LINE else of
        trends[name] = score | {
            "doubling_months": in_months(list(of["doubling_days"].values())[-1]),
            "dates_reached": of["dates_reached"],
            "rival": bool(name != LINE and score and not is_apart(score["elpd_diff"], score["dse"])),
        }
    return trends

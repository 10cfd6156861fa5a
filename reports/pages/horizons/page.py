"""The page on time horizons: how long tasks are that models do, how fast that doubles, and by which trend."""

from functools import partial

import numpy as np

from ....datasets import load
from ....inference import fit, intervals
from ....inference.comparison.differences import is_apart
from ....inference.horizons.quantities import summary
from ....inference.kinds.horizons import WORK
from ....inference.progress.trends import dates_reached, doubling_days
from ....inference.words import HIGH, LOW, MIDDLE, dates, digits, durations, months, probability
from ....models.laws import Horizons
from ....plots import plot_horizons
from ... import results
from ...findings import Findings
from ...html import prose, tables
from ...html.illustrations import pictured
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
*_, MONTH = WORK
TRENDS = {LINE: "line", "break": "line with a break", ALONE: "line, human times as estimated"}
CODE = 'import bayescaling as bs\n\nbs.plot_horizons(bs.open("posteriors/time-horizons.nc"))'


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


def _chart(findings, entry):
    longest = durations({end: x and HOUR * x for end, x in entry["hours"][entry["longest"]]["0.5"].items()})
    return pictured(
        plot_horizons,
        findings.posteriors[NAME],
        title=f"The length of tasks that models do doubles every {months(entry['doubling_months'])} months; "
        f"{entry['longest']} has {longest}",
        code=CODE,
    )


def _table_of_models(entry):
    hours = entry["published_hours"]
    rows = [
        {"model": model, "half of runs": digits(entry["hours"][model]["0.5"]), "published, half": f"{hours[model]:.1f}"}
        for model in entry["hours"]
        if model in hours
    ]
    note = "Of the typical task; medians and 95% intervals. Published: by the authors of WeirdML, calibrated."
    return tables.html(rows, title="Hours of tasks that models do", note=note, fits=NAME)


def _table_of_trends(entry):
    rows = []
    for name, of in entry["trends"].items():
        reached = of["dates_reached"]
        rows.append({
            "trend": TRENDS.get(name, name),
            "doubling, months": months(of["doubling_months"]),
            "month of work": dates(reached[MONTH]),
            "P(after 2034)": probability(reached[MONTH]["p_not_until"]),
            "elpd": f"{of['elpd_diff']:.1f} ± {of['dse']:.1f}" if "elpd_diff" in of else tables.MISSING,
        })  # fmt: skip
    for words, q in (("METR 2026, published", "published"), ("METR 2026, law of dated values", "law")):
        rows.append({"trend": words, "doubling, months": months(entry["best_at_release"][q])})
    note = (
        "The latest rate, and when the mean horizon reaches 167 hours. Elpd: of models left out, minus that of the "
        "best. METR: models that were best at release, from 2023."
    )
    fits = [NAME if name == LINE else "" for name in entry["trends"]] + ["", ""]
    return tables.html(rows, title="Doubling times and dates by trend", note=note, fits=fits, recommended=0)


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["time_horizons"]
    forecasts, simulated = findings.study(FORECASTS), findings.study(RECOVERY)["as simulated"]
    return prose.sections(
        __file__,
        {"chart": _chart(findings, entry), "models": _table_of_models(entry), "trends": _table_of_trends(entry)},
        findings=findings,
        entry=entry,
        rivals=[of for of in entry["trends"].values() if of["rival"]],
        covered=forecasts["law"]["coverage"]["0.9"],
        cuts=len(forecasts["cuts"]),
        simulated=simulated["doubling time"]["90%"],
    )

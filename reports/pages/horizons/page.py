"""The page on time horizons: how long tasks are that models do, how fast that doubles, and by which trend."""

from ....inference.kinds.horizons import WORK
from ....inference.words import dates, digits, durations, months, probability
from ....plots import plot_horizons
from ...html import prose, tables
from ...html.illustrations import pictured
from .analysis import ALONE, FORECASTS, HOUR, LINE, NAME, RECOVERY

*_, MONTH = WORK
TRENDS = {LINE: "line", "break": "line with a break", ALONE: "line, human times as estimated"}
CODE = 'import bayescaling as bs\n\nbs.plot_horizons(bs.open("posteriors/time-horizons.nc"))'


def _chart(findings, entry):
    """Draw the horizon of each model by date, with the trend."""
    longest = durations({end: x and HOUR * x for end, x in entry["hours"][entry["longest"]]["0.5"].items()})
    return pictured(
        plot_horizons,
        findings.posteriors[NAME],
        title=f"The length of tasks that models do doubles every {months(entry['doubling_months'])} months; "
        f"{entry['longest']} has {longest}",
        code=CODE,
    )


def _models(entry):
    """Return the table of hours of the models with published ones."""
    hours = entry["published_hours"]
    rows = [
        {
            "model": model,
            "half of runs": digits(entry["hours"][model]["0.5"]),
            "published, half": f"{hours[model]:.1f}",
        }
        for model in entry["hours"]
        if model in hours
    ]
    note = "Of the typical task; medians and 95% intervals. Published: by the authors of WeirdML, calibrated."
    return tables.html(rows, title="Hours of tasks that models do", note=note, fits=NAME)


def _trends(entry):
    """Return the table of doubling times and dates by trend, and those of models that were best at release."""
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
        {"chart": _chart(findings, entry), "models": _models(entry), "trends": _trends(entry)},
        findings=findings,
        entry=entry,
        rivals=[of for of in entry["trends"].values() if of["rival"]],
        covered=forecasts["law"]["coverage"]["0.9"],
        cuts=len(forecasts["cuts"]),
        simulated=simulated["doubling time"]["90%"],
    )

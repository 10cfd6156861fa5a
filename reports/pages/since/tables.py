"""Tables of the page on progress since 2023."""

import pandas as pd

from ....inference.words import months, plain, probability, yearly
from ...html import tables
from . import figures
from . import speeds as of_progress
from .analysis import BREAK, LINEAR, name_of_fit
from .before_2023 import SHARED
from .forms import DEFAULT, FORMS, OF_SCORES, PLAIN, form_name

UNIT_WORDS = {"model": "models", "family": "families"}
NAMES = {LINEAR: "Constant gain", BREAK: "Gain with a break"}
GIVEN = {"date": "date alone", "compute": "date and compute"}
CONVERGED = {True: "converged", False: "did not converge"}
QUANTITIES = {
    "compute_slope": "logits an e-fold of compute",
    "yearly_gain": "logits a year at fixed compute",
    "yearly_gain_change": "change of the yearly gain",
    "capability_sd": "scatter of models, logits",
    "rate[all]": "log of the yearly factor",
    "rate[before]": "log of the yearly factor before",
    "rate[after]": "log of the yearly factor after",
}
SOURCES = {
    "posterior": "the posterior, models as the unit",
    "families": "the posterior, families as the unit",
    "scores": "scores alone",
    "computes": "errors of computes alone",
    "models": "scatter of models alone",
    "slope": "what compute buys alone",
    "gain": "the yearly gain alone",
    "specification": "choices of analysis",
}


def forms(entry):
    """Return the table of gains by form of the trend, with their predictions of models and families left out."""
    evidence, rows, fits = entry["forms"], [], []
    for variant, by_form in evidence["answers"].items():
        left_out = evidence["left_out"].get(variant)
        for form, of in by_form.items():
            cells = {f"elpd, {by} left out": "–" for by in ("model", "family")} | {"weight": "–"}
            if left_out is not None:
                cells = {f"elpd, {by} left out": _apart(left_out[by]["forms"][form]) for by in ("model", "family")}
                cells["weight"] = f"{left_out['model']['forms'][form]['stacking']:.2f}"
            rows.append(_gains_row(form_name(variant, form), of) | cells)
            fits.append(f"since, {form}" if variant == DEFAULT else "")
    for variant, left_out in evidence["left_out"].items():
        averaged = left_out["model"]["averaged"]
        cells = {"elpd, model left out": "–", "elpd, family left out": "–", "weight": "1"}
        rows.append(_gains_row(form_name(variant, "averaged over forms"), averaged) | cells)
        fits.append("")
    of = evidence["left_out"]["default"]
    note = (
        f"Gains at fixed compute in mid-2023 and mid-2025, medians and 95% intervals. P(faster): probability that the "
        "second is larger. Elpd: log predictive density of the scores left out, minus that of the best form of the "
        f"same kind, ± its standard error, over the {of['model']['groups']} models and {of['family']['groups']} "
        "families with a known compute. In brackets: how many of these have a Pareto k above 0.7; they were not "
        "refitted. Weight: stacking by models left out. These forms have no ceilings of benchmarks and no effects of "
        "versions."
    )
    return tables.html(rows, note=note, title="Forms of the trend", fits=fits)


def scores(entry):
    """Return the table of gains by form of the scores, with predictions of what is left out, and convergence."""
    evidence, rows, fits = entry["scores"], [], []
    for pace, left_out in evidence["left_out"].items():
        for name, by_pace in evidence["answers"].items():
            of = by_pace[pace]
            cells = {f"elpd, {by} left out": _apart(left_out[by]["forms"][name]) for by in ("model", "family")}
            chains = of["diagnostics"]
            cells["chains"] = (
                f"{CONVERGED[chains['ok']]}: r_hat {chains['r_hat_max']:.3f}, {chains['ess_bulk_min']:.0f} draws"
            )
            rows.append(_gains_row(f"{FORMS[pace]}, {OF_SCORES[name]}", of) | cells)
            fits.append(name_of_fit(pace, name) if name in (PLAIN, entry["quoted"]) else "")
    groups = {by: of["groups"] for by, of in evidence["left_out"][BREAK].items()}
    note = (
        "The columns are those of the table above. Elpd is over all models and families, "
        f"{groups['model']} and {groups['family']}. Ceilings: each benchmark has a highest mean score below 1. Draws: "
        "the least effective number. The form quoted is the simplest that converged, unless another that converged "
        "predicts both models and families better, by two standard errors and 4 nats."
    )
    return tables.html(rows, note=note, title="Forms of the scores", fits=fits)


def _gains_row(name, of):
    return {
        "form": name,
        "gain in mid-2023": plain(of["gains"]["before"], "{:.2f}"),
        "gain in mid-2025": plain(of["gains"]["after"], "{:.2f}"),
        "P(faster)": probability(of["p_faster"]) if "p_faster" in of else "–",
    }


def _apart(of):
    return f"{of['elpd_diff']:.1f} ± {of['dse']:.1f} ({of['k_above_0.7']})"


def periods(entry):
    """Return the table of gains, factors and halving times by period, of an entry with ``periods``."""
    rows, fits = [], []
    for period, label in figures.labels(entry).items():
        for unit, summaries in entry["periods"].get(period, {}).items():
            fits.append(name_of_fit(LINEAR if period == "all" else BREAK, entry.get("quoted", PLAIN)))
            rows.append(
                {
                    "period": f"{label}, {UNIT_WORDS[unit]} as the unit",
                    "gain, logits a year": plain(summaries["gain"], "{:.2f}"),
                    "fall of compute": yearly(summaries["factor"]),
                    "halving time of compute, months": months(summaries["halving"]),
                    "P(any progress)": probability(summaries["p_progress"]),
                }
            )
    note = (
        "Medians and 95% intervals. A logit is that of the typical benchmark. With families as the unit, intervals "
        "have the width of the infinitesimal jackknife over whole families, if that is wider than the posterior."
    )
    return tables.html(rows, note=note, title="By period", fits=fits)


def earlier(entry):
    """Return the table of the fall of compute at fixed loss from 2012 to 2023."""
    earlier = entry["earlier"]
    rows = [
        {
            "unit": figures.EARLIER[unit][1],
            "fall of compute": yearly(summaries["factor"]),
            "halving time of compute, months": months(summaries["halving"]),
        }
        for unit, summaries in earlier["units"].items()
    ]
    note = (
        f"At fixed loss: specification {earlier['specification']} of Ho et al. (2024), fitted to "
        f"{earlier['counts']['evaluations']} evaluations of {earlier['counts']['papers']} papers from 2012 to 2023, at "
        "the sizes of the evaluations. Medians and 95% intervals. Those at fixed capability are in the table by period."
    )
    return tables.html(rows, note=note, title="At fixed loss", fits=[SHARED[unit] for unit in earlier["units"]])


def rests(entry):
    """Return the table of gains with one thing changed at a time."""
    names, rows = figures.labels(entry), []
    for what, result in entry["rests"].items():
        row = {"what is changed": what}
        for period, label in names.items():
            row[label] = plain(result[period]["model"]["gain"], "{:.2f}") if period in result else "–"
        change = result.get("change")
        row["P(faster)"] = probability(change["model"]["p_progress"]) if change else "–"
        row["elpd, constant gain"], row["elpd, break"] = (_difference(result, pace) for pace in (LINEAR, BREAK))
        row["chains"] = CONVERGED[result["ok"]]
        rows.append(row)
    note = (
        "Gain of capability at fixed compute, in logits a year: medians and 95% intervals, and – where a break was not "
        "fitted. The unchanged law has no ceilings of benchmarks. Elpd: log predictive density of models left out, "
        "minus that of the unchanged law, ± its standard error, by importance sampling; – where scores are left out. "
        "In brackets: how many models have a Pareto k above 0.7 in either fit. The two models that anchor an index "
        "change no row: gain and slope are in one unit, which cancels."
    )
    return tables.html(rows, note=note)


def _difference(result, pace):
    of = result.get("left_out", {}).get(pace)
    return f"{of['elpd_diff']:+.1f} ± {of['dse']:.1f} ({of['k_above_0.7']})" if of else "–"


def frontier(entry):
    """Return the table of forecasts of the most capable models."""
    of = entry["frontier"]
    names = {"line": "line through the most capable at release (Ho et al. 2025)"} | NAMES
    rows = [
        {
            "forecast": names[name],
            "mean absolute error": f"{scores['mae']:.3f}",
            "bias": f"{scores['bias']:+.3f}",
            "CRPS": f"{scores['crps']:.3f}",
            "90% covers": f"{scores['coverage_90'] * of['after']:.0f} of {of['after']}",
            "chains": CONVERGED[scores["ok"]] if "ok" in scores else "–",
        }
        for name, scores in of["forecasts"].items()
    ]
    note = (
        f"Forecasts of the capabilities of the {of['after']} models that were the most capable at release since "
        f"{of['cutoff']}, in the unit of least squares on the scores of Ho et al. (2025). All forecasts have the same "
        f"models, dates, outcomes and unit. The line extends the trend of the {of['before']} most capable models "
        "before, whose capabilities are estimated from scores of later models too. The laws use only scores of the "
        f"{of['models']['fitted']} models before that date, and the dates and known computes of the "
        f"{of['models']['later']} later ones. In each draw they predict the most capable of these so far."
    )
    return tables.html(rows, note=note)


def later(entry):
    """Return the table of how well scores of later models are predicted."""
    rows = [
        {
            "predicted": f"{NAMES[pace]}, models before {cutoff}; given {GIVEN[predictors]}",
            "scores": f"{of['scores']} of {of['models']} models",
            "50%, 80%, 90% cover": ", ".join(f"{of[f'coverage_{level}']:.0%}" for level in (50, 80, 90)),
            "CRPS": f"{of['crps']:.3f} (past scores {of['past_scores']['crps']:.3f})",
            "mean absolute error": f"{of['mae']:.3f} ({of['past_scores']['mae']:.3f})",
            "bias": f"{of['bias']:+.3f} ({of['past_scores']['bias']:+.3f})",
            "chains": CONVERGED[result["ok"]],
        }
        for pace, by_cutoff in entry["later_models"].items()
        for cutoff, result in by_cutoff.items()
        for predictors, of in result["given"].items()
    ]
    note = (
        "Scores of later models, each predicted from earlier ones, on benchmarks with scores of at least three earlier "
        "models. In brackets: the forecast by past scores of the benchmark, with their mean as the point. Bias: "
        "predicted minus observed score. Models of known compute are predicted by compute and date, the others by a "
        "trend in the date."
    )
    return tables.html(rows, note=note)


def calibration(entry):
    """Return the table of coverage of intervals in simulated tables."""
    rows = [
        {
            "quantity": f"{NAMES[pace]}: {QUANTITIES.get(name, name)}",
            "truth": f"{of['truth']:.3g}",
            "bias of the median": f"{of['bias']:+.3f} ± {of['bias_se']:.3f}",
            "posterior sd": f"{of['sd']:.3f}",
            "50% covers": f"{of['coverage_50']:.0%}",
            "90% covers": f"{of['coverage_90']:.0%}",
        }
        for pace, result in entry["calibration"].items()
        for name, of in result["quantities"].items()
    ]
    some = entry["calibration"][LINEAR]
    chains = "; ".join(
        f"{NAMES[pace]}: {result['not_converged']} fits failed a diagnostic and are counted with the rest, and the "
        f"median of their largest r_hat is {result['r_hat_median']:.2f}"
        for pace, result in entry["calibration"].items()
    )
    note = (
        f"{some['simulations']} tables with the same models, dates, computes and scored benchmarks are simulated from "
        "the posterior medians. Each has new capabilities and benchmarks, and is fitted alone. ± one standard error. "
        f"Chains are short ({some['settings']['chains']} × {some['settings']['draws']} draws). {chains}."
    )
    return tables.html(rows, note=note)


def widths(entry):
    """Return the table of the width of the yearly factor by source."""
    rows = [
        {"source": source, "sd of log10 of the yearly factor": "–" if x is None else f"{x:.2f}"}
        for source, x in ((SOURCES[name], entry["widths"][name]) for name in SOURCES)
    ]
    note = (
        "Under a constant gain. Scores, computes and models: how much the least-squares line of capability on log "
        "compute and date varies, with capabilities, with computes within their errors, and by its standard errors. "
        "The sources do not add up, because they are dependent. Choices of analysis: the sd of the medians of the law "
        "under each form of the scores, and of the table “One thing changed at a time”."
    )
    return tables.html(rows, note=note)


def speeds(entry):
    """Return the table of doubling times of loss, scores, horizons and compute."""
    loss = entry["earlier"]["units"]["papers"]["halving"]
    capability = entry["periods"]["all"]["family"]["halving"]
    evaluations, models = entry["earlier"]["counts"]["evaluations"], entry["rows"]["models"]
    lines = of_progress.rows(loss, evaluations, capability, models, entry["speeds"])
    frame = pd.DataFrame(lines, columns=["what", "months", "data", "published, months"])
    return tables.html(frame, note="Medians and 95% intervals.")

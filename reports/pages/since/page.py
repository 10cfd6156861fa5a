"""The page on progress since 2023: how fast capability grows at fixed compute, and what that depends on."""

import math
from functools import partial

import numpy as np
import pandas as pd

from ....datasets import load
from ....inference import fit, intervals
from ....inference.points.item_response import fit_item_response
from ....inference.points.two_stages import fit_two_stages
from ....inference.progress.rate_at_rows import fall
from ....inference.scores.capabilities import pit_by_benchmark
from ....inference.scores.compute import progress_at_fixed_compute
from ....inference.words import month, plain
from ....models.scores.law import Scores
from ....plots import plot_capability, plot_intervals
from ... import results, speeds
from ...findings import Findings
from ...html import prose
from ...html.illustrations import pictured
from ...laws import MAIN
from ...laws import SPECIFICATIONS_STUDY as STUDY
from . import forms, tables
from .forms import BREAK, DEFAULT, LINEAR, OF_SCORES, PLAIN, SHARED, WITHOUT_REASONING, name_of_fit

LAWS = {LINEAR: Scores(pace="linear"), BREAK: Scores(pace="break")}
FITS, EARLIER, NUMBERS, CONSTANT = "since: fits", "since: 2012 to 2023", "since: numbers", "since_constant"
STAGES = (FITS, CONSTANT, NUMBERS, EARLIER)
STUDIES = (
    CONSTANT, "since_scores", "since_forms", "since_changes", "since_later_models", "since_frontier",
    "since_coverage", *speeds.STUDIES,
)  # fmt: skip
DECADE = math.log(10)
PAIRS = 250  # draws of slope and gain in the figure
TUNE = 500  # steps of a chain
CAPABILITY = 'import bayescaling as bs\n\nbs.plot_capability(bs.open("posteriors/since-break.nc"))'


def earlier_progress(fits, study):
    """Return the fall of compute at fixed loss from the evaluations of 2012 to 2023.

    `fits`, by unit, are those of the page on progress, so that both pages print one interval. For units without a fit
    `study` has results of `fall` by the name of the fit. ``units`` are `fall` by rows and by papers.
    """
    table = load("lm_progress")
    counts = {"evaluations": len(table), "papers": int(table["paper_id"].nunique())}
    units = {unit: fall(fits[unit]) if unit in fits else study[name] for unit, name in SHARED.items()}
    return {"specification": MAIN, "counts": counts, "units": units}


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the law of scores with a break, and compare it with a constant gain; see `Page.analyse`."""
    table, options = load("eci_scores"), {"seed": seed, "sampler": sampler, **settings}
    options["tune"] = min(settings.get("tune", TUNE), TUNE)
    broken = stage(FITS, partial(fit, LAWS[BREAK], table, **options))
    constant, others = stage.study(CONSTANT, partial(constant_gain, table, **options))
    shared = {unit: earlier[name] for unit, name in SHARED.items() if name in earlier}
    findings = Findings(
        studies=(*(name for name in STUDIES if name not in stage.studies), *(() if shared else (STUDY,))),
        posteriors=others | {name_of_fit(BREAK): broken},
        records=constant.pop("records"),
    )
    form = forms.best_form(scores := findings.study("since_scores"))
    findings.records |= {} if form == PLAIN else scores["records"]
    entry = stage(NUMBERS, lambda: _entry(findings, table, constant, broken, form), of={BREAK: broken})
    bridge = stage(EARLIER, lambda: earlier_progress(shared, findings.study(STUDY)["fall"]), of=shared)
    findings.document = {"since": entry | {"earlier": bridge, "speeds": speeds.of_studies()}}
    return findings


def constant_gain(table, **options):
    """Fit a constant gain; return `gain_entries` with the ``records``, and the fit by the name of its posterior."""
    fitted = fit(LAWS[LINEAR], table, check=False, **options)
    fits = {name_of_fit(LINEAR): fitted}
    return gain_entries(LINEAR, fitted) | {"records": results.records(fits)}, fits


def gain_entries(pace, fitted):
    """Return entries of results.json of a form of the gain."""
    draws = progress_at_fixed_compute(fitted)
    slope, pairs = DECADE * draws["slope"].values.ravel(), {}
    for period in draws["period"].values.tolist():
        gain = draws["gain"].sel(period=period).values.ravel()
        some = np.linspace(0, len(gain) - 1, min(PAIRS, len(gain))).astype(int)
        pairs[period] = {"slope": slope[some].tolist(), "gain": gain[some].tolist()}
    slopes = {pace: intervals.summary(slope)}
    entries = {"periods": forms.periods(fitted), "slope_a_decade": slopes, "pairs": pairs, "laws": {pace: _law(fitted)}}
    return entries | ({"least_squares": least_squares(fitted)} if pace == LINEAR else {})


def least_squares(fitted):
    """Compute slope per decade, yearly gain and yearly factor by two stages and by one regression.

    The published capabilities are scaled to those of a fit of the law of scores.
    """
    scores, models = load("rosetta_scores"), load("rosetta_models")
    capability = fit_item_response(scores, benchmark="Winogrande")["capability"]
    undistilled = models[models["distilled"] == 0]
    stages = fit_two_stages(capability, undistilled, forms.WORDS["families"])
    with_compute = undistilled.dropna(subset=["training_compute_flop"])
    with_compute = with_compute[with_compute["model"].isin(capability.index)]
    columns = np.log(with_compute["training_compute_flop"]), with_compute["year"], np.ones(len(with_compute))
    of_both = capability[with_compute["model"]].to_numpy()
    slope, gain, _ = map(float, np.linalg.lstsq(np.column_stack(columns), of_both, rcond=None)[0])
    unit = _unit(capability, models, fitted)
    return {
        "unit": unit,
        "two stages": {
            "slope": unit * DECADE * stages["slope"],
            "gain": unit * stages["yearly_gain"],
            "factor": stages["factor"],
        },
        "one regression": {"slope": unit * DECADE * slope, "gain": unit * gain, "factor": float(np.exp(gain / slope))},
        "models": {"two stages": stages.rows, "one regression": len(with_compute)},
    }


def _unit(capability, models, fitted):
    named = models.set_index("model")["model_name"].reindex(capability.index)
    estimates = capability.groupby(named).mean()
    posterior = fitted["posterior"]["capability"].mean(("chain", "draw"))
    ours = pd.Series(posterior.values, posterior["model"].values)
    both = estimates.index.intersection(ours.index)
    return float(ours[both].std() / estimates[both].std())


def _entry(findings, table, constant, broken, form):
    plain, scores = gain_entries(BREAK, broken), findings.study("since_scores")
    plain = constant | {name: constant[name] | of for name, of in plain.items()}
    numbers, laws = plain if form == PLAIN else scores["numbers"], {}
    for name, of in ((PLAIN, plain), (form, numbers)):
        laws |= {name_of_fit(pace, name): law for pace, law in of["laws"].items()}
    by_period, changes, of_forms = numbers["periods"], findings.study("since_changes"), findings.study("since_forms")
    answers = {DEFAULT: forms.with_fits(of_forms["answers"][DEFAULT], plain["periods"])}
    of_scores = {PLAIN: forms.with_fits(scores["answers"][PLAIN], plain["periods"])}
    entry = numbers | {
        "quoted": form,
        "fits": {pace: name_of_fit(pace, form) for pace in LAWS},
        "laws": laws,
        "rests": changes,
        "forms": of_forms | {"answers": of_forms["answers"] | answers},
        "scores": {key: scores[key] for key in ("left_out", "trends", WITHOUT_REASONING, "later")}
        | {"answers": scores["answers"] | of_scores},
    }
    models = table[table["model"].isin(LAWS[LINEAR].with_compute(table))].drop_duplicates("model")
    return {
        "rows": {
            "models": int(table["model"].nunique()),
            "scores": len(table),
            "benchmarks": int(table["benchmark"].nunique()),
            "computes": len(models),
            "last_compute": str(models["date"].max().date()),
            "first": str(table["date"].min().date()),
            "last": str(table["date"].max().date()),
        },
        "break_year": LAWS[BREAK].break_year,
        **entry,
        "gains": {
            name: {level: by_period[name]["model"]["gain"][level] for level in intervals.QUANTILES}
            for name in ("before", "after")
        },
        "rival": None if form == PLAIN else of_scores[PLAIN][BREAK]["gains"],
        "p_faster": forms.probabilities(entry),
        "later_models": findings.study("since_later_models"),
        "frontier": findings.study("since_frontier"),
        "calibration": findings.study("since_coverage"),
    }


def _law(fitted):
    pit = pit_by_benchmark(fitted)
    return {
        **results.check_entries(fitted),
        "diagnostics": fitted.diagnostics,
        "benchmarks": {
            "tested": int(pit["p_uniform"].notna().sum()),
            "below_0.01": int((pit["p_uniform"] < 0.01).sum()),
        },
    }


def _chart(entry):
    year, gains, rows = month(entry["break_year"]), entry["gains"], {}
    answers, form = entry["scores"]["answers"], entry["quoted"].replace(", ", " and ")
    for name in dict.fromkeys((entry["quoted"], PLAIN)):
        words = f", {'without' if name == PLAIN else 'with'} {form}" if entry["rival"] else ""
        of = gains if name == entry["quoted"] else entry["rival"]
        rows |= {f"Since {year}{words}": of["after"], f"To {year}{words}": of["before"]}
        rows[f"Constant gain{words}"] = answers[name][LINEAR]["gains"]["after"]
    after, before = (plain(gains[period], "{:.1f}") for period in ("after", "before"))
    return pictured(
        plot_intervals,
        rows,
        "Gain at fixed training compute (logits a year)",
        title=f"At fixed compute, capability grew by {after} logits a year since {year}, by {before} before",
        caption="Medians and 95% intervals, in logits of the typical benchmark. A gain that changes predicts models "
        "left out better than a constant one.",
        source="Data: eci_scores",
    )


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["since"]
    blocks = {
        "chart": _chart(entry),
        "capability": pictured(plot_capability, findings.posteriors[name_of_fit(BREAK)], code=CAPABILITY),
        "gains": tables.gains(entry),
        "periods": tables.periods(entry),
        "faster": tables.faster(entry),
        "compared": tables.compared(entry, published),
    }
    dates = entry["forms"]["answers"][DEFAULT]["sampled_break"]["break_date"]
    named = {"entry": entry, "words": OF_SCORES[entry["quoted"]], "dates": dates, "findings": findings}
    return prose.sections(__file__, blocks, month=month, LINEAR=LINEAR, BREAK=BREAK, **named)

"""The analysis of progress since 2023: the law of scores with a constant gain and with a break."""

import math
from functools import partial

import numpy as np

from ....datasets import load
from ....inference import fit, intervals
from ....inference.scores.capabilities import pit_by_benchmark
from ....inference.scores.compute import progress_at_fixed_compute
from ....models.scores.law import Scores
from ... import results
from ...findings import Findings
from ...laws import SPECIFICATIONS_STUDY as STUDY
from . import speeds
from .before_2023 import SHARED, earlier_progress
from .forms import probabilities, with_fits
from .least_squares import least_squares
from .periods import BREAK, LINEAR, of_specifications, periods, widths

LAWS = {LINEAR: Scores(pace="linear"), BREAK: Scores(pace="break")}
FITS, EARLIER, NUMBERS, CONSTANT = "since: fits", "since: 2012 to 2023", "since: numbers", "since_constant"
STAGES = (FITS, CONSTANT, NUMBERS, EARLIER)
STUDIES = (
    CONSTANT, "since_forms", "since_changes", "since_left_out", "since_later_models", "since_frontier",
    "since_coverage", *speeds.STUDIES,
)  # fmt: skip
DECADE = math.log(10)
PAIRS = 250  # draws of slope and gain in the figure
TUNE = 500  # steps of a chain


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
    entry = stage(NUMBERS, lambda: _entry(findings, table, constant, broken), of={BREAK: broken})
    bridge = stage(EARLIER, lambda: earlier_progress(shared, findings.study(STUDY)["fall"]), of=shared)
    findings.document = {"since": entry | {"earlier": bridge, "speeds": speeds.of_studies()}}
    return findings


def name_of_fit(pace):
    """Return the name of the posterior of a form of the gain."""
    return f"since, {pace}"


def constant_gain(table, **options):
    """Fit a constant gain.

    Returns
    -------
    result : dict
        From `_numbers`; ``least_squares``, ``widths`` and ``records``, the diagnostics.
    fits : dict of str to Fit
        By the name of its posterior.
    """
    fitted = fit(LAWS[LINEAR], table, **options)
    fits = {name_of_fit(LINEAR): fitted}
    alone = {"least_squares": least_squares(fitted), "widths": widths(fitted), "records": results.records(fits)}
    return _numbers(LINEAR, fitted) | alone, fits


def _numbers(pace, fitted):
    """Return entries of results.json of a form of the gain."""
    draws = progress_at_fixed_compute(fitted)
    slope, pairs = DECADE * draws["slope"].values.ravel(), {}
    for period in draws["period"].values.tolist():
        gain = draws["gain"].sel(period=period).values.ravel()
        some = np.linspace(0, len(gain) - 1, min(PAIRS, len(gain))).astype(int)
        pairs[period] = {"slope": slope[some].tolist(), "gain": gain[some].tolist()}
    slopes = {pace: intervals.summary(slope)}
    return {"periods": periods(fitted), "slope_a_decade": slopes, "pairs": pairs, "laws": {pace: _law(fitted)}}


def _entry(findings, table, constant, broken):
    numbers = {name: constant[name] | of for name, of in _numbers(BREAK, broken).items()}
    by_period, changes = numbers["periods"], findings.study("since_changes")
    forms = with_fits(findings.study("since_forms"), by_period)
    entry = numbers | {"rests": changes, "forms": forms}
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
        "p_faster": probabilities(entry),
        "least_squares": constant["least_squares"],
        "widths": constant["widths"] | {"specification": of_specifications(by_period["all"], changes)},
        "left_out": findings.study("since_left_out"),
        "later_models": findings.study("since_later_models"),
        "frontier": findings.study("since_frontier"),
        "calibration": findings.study("since_coverage"),
    }


def _law(fitted):
    pit = pit_by_benchmark(fitted)
    return {
        "verdict": results.verdict_entry(fitted),
        "misfit": results.misfit_entries(fitted),
        "diagnostics": fitted.diagnostics,
        "benchmarks": {
            "tested": int(pit["p_uniform"].notna().sum()),
            "below_0.01": int((pit["p_uniform"] < 0.01).sum()),
        },
    }

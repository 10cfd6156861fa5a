"""The analysis of progress since 2023: the law of scores with a constant gain and with a break."""

import math
from dataclasses import dataclass

import numpy as np

from ....datasets import load
from ....inference import fit, intervals
from ....inference.progress_messages import counted
from ....inference.scores.capabilities import pit_by_benchmark
from ....inference.scores.compute import progress_at_fixed_compute
from ....inference.workers import mapped
from ....models.scores.law import Scores
from ... import results
from ...findings import Findings
from . import speeds
from .before_2023 import SHARED, earlier_progress
from .forms import probabilities, with_fits
from .least_squares import least_squares
from .periods import BREAK, LINEAR, periods, sources

LAWS = {LINEAR: Scores(pace="linear"), BREAK: Scores(pace="break")}
FITS, EARLIER, NUMBERS = "since: fits", "since: 2012 to 2023", "since: numbers"
STAGES = (FITS, EARLIER, NUMBERS)
STUDIES = (
    "since_forms", "since_changes", "since_left_out", "since_later_models", "since_frontier", "since_coverage",
    *speeds.STUDIES,
)  # fmt: skip
DECADE = math.log(10)
PAIRS = 250  # draws of slope and gain in the figure
BRIEF = 500  # tuning steps of a chain; also its draws for other data


@dataclass
class SinceFindings(Findings):
    """What `analyse` returns.

    Attributes
    ----------
    fits : dict of str to Fit
        By form of the gain.
    earlier : dict
        Of 2012 to 2023, from `earlier_progress`.
    """

    fits: dict
    earlier: dict


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the law of scores with a constant gain and with a break; see `Page.analyse`."""
    table, options = load("eci_scores"), {"seed": seed, "sampler": sampler, **settings}
    brief = options | {name: min(settings.get(name, BRIEF), BRIEF) for name in ("draws", "tune")}
    fits = stage(FITS, lambda: _each(table, options | {"tune": brief["tune"]}))
    shared = {unit: earlier[name] for unit, name in SHARED.items() if name in earlier}
    bridge, bridged = stage(EARLIER, lambda: earlier_progress(brief, shared), of=shared)
    findings = SinceFindings(fits, bridge, studies=STUDIES)
    entry = stage(NUMBERS, lambda: _entry(findings, table), of=fits)
    findings.posteriors = {f"since, {name}": fitted for name, fitted in fits.items()}
    findings.unsaved = {f"2012 to 2023, by {unit}": fitted for unit, fitted in bridged.items()}
    findings.document = {"since": entry | {"earlier": bridge, "speeds": speeds.of_studies()}}
    return findings


def _each(table, options):
    fits = mapped(_fitted, (table, options), list(LAWS.values()))
    return dict(zip(LAWS, counted(fits, "paces", False, total=len(LAWS)), strict=True))


def _fitted(shared, law):
    table, options = shared
    return fit(law, table, **options)


def _entry(findings, table):
    by_period, pairs, slopes = {}, {}, {}
    for pace, fitted in findings.fits.items():
        by_period |= periods(fitted)
        draws = progress_at_fixed_compute(fitted)
        slope = DECADE * draws["slope"].values.ravel()
        slopes[pace] = intervals.summary(slope)
        for period in draws["period"].values.tolist():
            gain = draws["gain"].sel(period=period).values.ravel()
            some = np.linspace(0, len(gain) - 1, min(PAIRS, len(gain))).astype(int)
            pairs[period] = {"slope": slope[some].tolist(), "gain": gain[some].tolist()}
    forms = with_fits(findings.study("since_forms"), by_period)
    entry = {"periods": by_period, "rests": findings.study("since_changes"), "forms": forms}
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
        "slope_a_decade": slopes,
        "pairs": pairs,
        "least_squares": least_squares(findings.fits[LINEAR]),
        "widths": sources(findings.fits[LINEAR], findings.study("since_changes")),
        "left_out": findings.study("since_left_out"),
        "later_models": findings.study("since_later_models"),
        "frontier": findings.study("since_frontier"),
        "calibration": findings.study("since_coverage"),
        "laws": {pace: _law(fitted) for pace, fitted in findings.fits.items()},
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

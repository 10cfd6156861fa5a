"""The analysis of progress since 2023: the law of scores with one pace and with two, and what its rates rest on."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ....datasets import load
from ....datasets.files import evidence
from ....inference import calibrate, fit, intervals
from ....inference.checks.chains import PARETO_K_LIMIT
from ....inference.comparison.differences import differences
from ....inference.comparison.groups import unmended
from ....inference.progress_messages import counted
from ....inference.scores.capabilities import pit_by_benchmark
from ....inference.scores.compute import progress_at_fixed_compute
from ....inference.workers import mapped
from ....models.scores.law import Scores
from ... import results
from ...findings import Findings
from .before_2023 import SHARED, earlier_progress
from .forms import probabilities, with_fits
from .frontier import of_the_frontier
from .holdout import of_later_models
from .least_squares import least_squares
from .sensitivity import BREAK, LINEAR, periods, rests, sources

LAWS = {LINEAR: Scores(pace="linear"), BREAK: Scores(pace="break")}
FITS, EARLIER, NUMBERS = "since: fits", "since: 2012 to 2023", "since: numbers"
LEFT_OUT, LATER = "since: models left out", "since: later models"
FRONTIER, RESTS, CALIBRATION = "since: the frontier", "since: what it rests on", "since: calibration"
EXTRAS = (LEFT_OUT, LATER, FRONTIER, RESTS, CALIBRATION)
STAGES = (FITS, EARLIER, *EXTRAS, NUMBERS)
DECADE = math.log(10)
PAIRS = 250  # draws of compute's slope and of the yearly gain that the page draws
SIMULATIONS = 50
BRIEF = 500  # iterations of a chain that adapt; its draws where one thing is changed, or other data are the subject
SIMULATED = {"draws": 400, "tune": 500, "chains": 2}  # settings of fits to simulated tables
REFITTED = {"draws": 400, "tune": 500, "chains": 2}  # and of refits without a model
CALIBRATED = ("compute_slope", "yearly_gain", "yearly_gain_change", "capability_sd")


@dataclass
class SinceFindings(Findings):
    """What `analyse` found; None where it was not made.

    Attributes
    ----------
    fits : dict of str to Fit
        By pace.
    earlier : dict
        Of 2012 to 2023, from `earlier_progress`.
    elpd : dict
        Of models left out, by pace.
    later : dict
        Of later models' scores, from `of_later_models`.
    frontier : dict
        Of the ablest model so far, from `of_the_frontier`.
    rests : dict
        Summaries by what was changed.
    calibrated : dict of str to Dataset
        From `calibrate`, by pace.
    """

    fits: dict
    earlier: dict
    elpd: dict | None = None
    later: dict | None = None
    frontier: dict | None = None
    rests: dict | None = None
    calibrated: dict | None = None


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the law of scores with one pace and with two; see `Page.analyse`."""
    table, options = load("eci_scores"), {"seed": seed, "sampler": sampler, **settings}
    brief = options | {name: min(settings.get(name, BRIEF), BRIEF) for name in ("draws", "tune")}
    fits = stage(FITS, lambda: _each(table, options | {"tune": brief["tune"]}))
    shared = {unit: earlier[name] for unit, name in SHARED.items() if name in earlier}
    bridge, bridged = stage(EARLIER, lambda: earlier_progress(brief, shared), of=shared)
    found = SinceFindings(fits, bridge)
    found.elpd = stage(LEFT_OUT, lambda: _left_out(fits, seed))
    found.later = stage(LATER, lambda: of_later_models(LAWS, table, brief))
    found.frontier = stage(FRONTIER, lambda: of_the_frontier(LAWS, brief))
    found.rests = stage(RESTS, lambda: rests(fits, table, brief))
    found.calibrated = stage(CALIBRATION, lambda: _calibrated(fits, table, seed, sampler))
    made = stage.there(*EXTRAS)
    entry = stage(NUMBERS, lambda: _entry(found, table), of=fits, made=made)
    found.extras = stage.extras
    found.posteriors = {f"since, {name}": each for name, each in fits.items()}
    found.unsaved = {f"2012 to 2023, by {unit}": each for unit, each in bridged.items()}
    found.document = {"since": entry | {"earlier": bridge}}
    return found


def _each(table, options):
    made = mapped(_fitted, (table, options), list(LAWS.values()))
    return dict(zip(LAWS, counted(made, "paces", False, total=len(LAWS)), strict=True))


def _fitted(shared, law):
    table, options = shared
    return fit(law, table, **options)


def _calibrated(fits, table, seed, sampler):
    """Fit both laws to tables of the same shape, simulated from the posterior medians of their parameters."""
    found = {}
    for pace, law in LAWS.items():
        truth = {name: float(fits[pace]["posterior"][name].median()) for name in law.prior_of}
        options = {"simulations": SIMULATIONS, "seed": seed, "sampler": sampler, **SIMULATED}
        every = calibrate(law, table, truth=truth, **options)
        names = [name for name in every["quantity"].values if name in CALIBRATED or name.startswith("rate[")]
        found[pace] = every.sel(quantity=names)
    return found


def _left_out(fits, seed):
    """Elpd of each pace, models left out one by one, those of a high Pareto k by refits, and how much better one is."""
    tables = {name: each.loo("model", seed=seed, **REFITTED) for name, each in fits.items()}
    pointwise = pd.DataFrame({name: table["elpd"] for name, table in tables.items()})
    high_k = {name: int((table["pareto_k"] > PARETO_K_LIMIT).sum()) for name, table in tables.items()}
    left = {name: int(unmended(table).sum()) for name, table in tables.items()}
    difference = differences(pointwise, left)
    return {
        name: {
            "elpd": float(pointwise[name].sum()),
            "elpd_diff": intervals.finite(difference.at[name, "elpd_diff"]),
            "dse": intervals.finite(difference.at[name, "dse"]),
            "k_above_0.7": high_k[name],
            "not_mended": left[name],
            "models": len(pointwise),
        }
        for name in fits
    }


def _entry(found, table):
    by_period, pairs, slopes = {}, {}, {}
    for pace, each in found.fits.items():
        by_period |= periods(each)
        draws = progress_at_fixed_compute(each)
        slope = DECADE * draws["slope"].values.ravel()
        slopes[pace] = intervals.summary(slope)
        for period in draws["period"].values.tolist():
            gain = draws["gain"].sel(period=period).values.ravel()
            some = np.linspace(0, len(gain) - 1, min(PAIRS, len(gain))).astype(int)
            pairs[period] = {"slope": slope[some].tolist(), "gain": gain[some].tolist()}
    entry = {"periods": by_period, "rests": found.rests, "forms": with_fits(evidence("scores_forms"), by_period)}
    known = table[table["model"].isin(LAWS[LINEAR].with_compute(table))].drop_duplicates("model")
    return {
        "rows": {
            "models": int(table["model"].nunique()),
            "scores": len(table),
            "benchmarks": int(table["benchmark"].nunique()),
            "computes": len(known),
            "last_compute": str(known["date"].max().date()),
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
        "least_squares": least_squares(found.fits[LINEAR]),
        "widths": sources(found.fits[LINEAR], found.rests),
        "left_out": found.elpd,
        "later_models": found.later,
        "frontier": found.frontier,
        "calibration": found.calibrated and {pace: _calibration(each) for pace, each in found.calibrated.items()},
        "laws": {pace: _law(each) for pace, each in found.fits.items()},
    }


def _calibration(each):
    return results.calibration_entry(each) | {"r_hat_median": intervals.finite(each["r_hat"].median())}


def _law(each):
    pit = pit_by_benchmark(each)
    return {
        "verdict": results.verdict_entry(each),
        "misfit": results.misfit_entries(each),
        "diagnostics": each.diagnostics,
        "benchmarks": {
            "tested": int(pit["p_uniform"].notna().sum()),
            "below_0.01": int((pit["p_uniform"] < 0.01).sum()),
        },
    }

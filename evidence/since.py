"""Studies of progress since 2023: later models, the frontier, changes, whether intervals cover."""

import bayescaling as bs
from bayescaling.inference import intervals
from bayescaling.reports.pages.since.forms import LINEAR
from bayescaling.reports.pages.since.page import LAWS
from bayescaling.reports.results import calibration_entry
from since_changes import every_change
from since_frontier import of_the_frontier
from since_later import of_later_models
from study import Study, copies, laws_of

TABLE = "eci_scores"
FULL = {"draws": 1000, "tune": 500}
SHORT = {"draws": 400, "tune": 500, "chains": 2}  # of fits to simulated tables
CALIBRATED = ("compute_slope", "yearly_gain", "yearly_gain_change", "capability_sd")


def _fits(parts, seed):
    """Fit each form of the yearly gain to the whole table."""
    table = bs.load(TABLE)
    return {pace: parts.fit(pace, lambda law=law: bs.fit(law, table, seed=seed, **FULL)) for pace, law in LAWS.items()}


def later_models(parts, *, seed, draws, tune):
    """Fit each form of the yearly gain to models before a date and predict the scores of later ones."""
    options = {"seed": seed, "draws": draws, "tune": tune}
    return {
        pace: parts.entry(pace, lambda law=law: of_later_models(law, bs.load(TABLE), options))
        for pace, law in LAWS.items()
    }


def frontier(parts, *, seed, draws, tune):
    """Predict the ablest model so far from models before a date."""
    del parts
    return of_the_frontier(LAWS, {"seed": seed, "draws": draws, "tune": tune})


def changed(parts, *, seed, draws, tune):
    """Fit both forms of the yearly gain with one thing changed at a time."""
    return every_change(parts, _fits(parts, seed), bs.load(TABLE), {"seed": seed, "draws": draws, "tune": tune})


def coverage(parts, *, seed, simulations, **settings):
    """Fit a constant yearly gain to tables of the same shape, simulated from posterior medians."""
    fit, out = _fits(parts, seed)[LINEAR], parts.path(f"{LINEAR}-tables.nc")
    calibration = copies(fit, bs.load(TABLE), out=out, simulations=simulations, seed=seed, **settings)
    shown = [name for name in calibration["quantity"].values if name in CALIBRATED or name.startswith("rate[")]
    chosen = calibration.sel(quantity=shown)
    return {LINEAR: calibration_entry(chosen) | {"r_hat_median": intervals.finite(chosen["r_hat"].median())}}


OF_SCORES = laws_of(TABLE, LAWS.values())
BRIEF = {"seed": 1, "draws": 500, "tune": 500}
STUDIES = {
    "since_later_models": Study("scores of later models predicted from earlier ones", later_models, OF_SCORES, BRIEF),
    "since_frontier": Study(
        "the ablest model so far predicted from earlier ones",
        frontier,
        laws_of("rosetta_scores", LAWS.values()),
        BRIEF,
    ),
    "since_changes": Study("progress since 2023 with one thing changed at a time", changed, OF_SCORES, BRIEF),
    "since_coverage": Study(
        "whether intervals of the law of scores cover, under a constant yearly gain",
        coverage,
        laws_of(TABLE, [LAWS[LINEAR]]),
        {"seed": 1, "simulations": 50, **SHORT},
    ),
}

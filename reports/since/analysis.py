"""The analysis of progress since 2023: the law of scores with one pace and with two, and what its rates rest on."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...datasets import load
from ...inference import diagnose, fit, fit_item_response, fit_two_stages, loo_by_group, pit_by_benchmark
from ...inference.diagnostics import PARETO_K_LIMIT
from ...inference.executor import mapped
from ...inference.loo.differences import differences
from ...inference.quantities.scores.compute import progress_at_fixed_compute, progress_summary
from ...inference.steps import counted
from ...models.scores.law import Scores
from .. import results
from ..findings import Findings

LINEAR, BREAK = "linear", "break"
LAWS = {LINEAR: Scores(pace="linear"), BREAK: Scores(pace="break")}
FITS, LEFT_OUT, RESTS, NUMBERS = "since: fits", "since: models left out", "since: what it rests on", "since: numbers"
STAGES, EXTRAS = (FITS, LEFT_OUT, RESTS, NUMBERS), (LEFT_OUT, RESTS)
QUANTITIES = ("factor", "gain", "halving")
LEVELS = ("q2.5", "q5", "q50", "q95", "q97.5")
DECADE = math.log(10)
PAIRS = 250  # draws of compute's slope and of the yearly gain that the page draws
WIDE_ERRORS = (0.29, 0.61, 0.9)  # decades, if Confident, Likely and Speculative mean within 3x, 10x and 30x at 90%
# What is changed of the law, or of the table, by what the page calls it.
CHANGES = {
    "families with effects of their own": {"family_effects": True},
    "errors of computes as within 3, 10 and 30 times": {"compute_errors": WIDE_ERRORS},
    "Speculative computes counted": {"speculative": True},
    "Student t about the logit of scores": {"noise": "logit_t4"},
}
FIRST = "models to the end of 2024"
LAST_YEAR = 2025.0
# The families of Ho et al. (2025), in whose slope of capability the first stage lies.
FAMILIES = {
    "LLaMA": ["LLaMA-7B", "LLaMA-13B", "LLaMA-33B", "LLaMA-65B"],
    "Llama 2": ["Llama-2-7b", "Llama-2-13b", "Llama-2-34b", "Llama-2-70b-hf"],
    "Llama 3.1": ["Llama-3.1-8B-Instruct", "Llama-3.1-70B-Instruct", "Llama-3.1-405B", "Llama-3.1-405B-Instruct"],
}


@dataclass
class SinceFindings(Findings):
    """What `analyse` found.

    Attributes
    ----------
    fits : dict of str to DataTree
        By pace.
    elpd : dict
        Of models left out, by pace; None where it was not made.
    rests : dict
        Summaries by what was changed; None where they were not made.
    """

    fits: dict
    elpd: dict | None = None
    rests: dict | None = None


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the law of scores with one pace and with two; see `Page.analyse`."""
    table, options = load("eci_scores"), {"seed": seed, "sampler": sampler, **settings}
    found = SinceFindings(stage(FITS, lambda: _each(LAWS, table, options)))
    found.elpd = stage.extra(LEFT_OUT, lambda: _left_out(found.fits))
    found.rests = stage.extra(RESTS, lambda: _rests(table, options))
    made = stage.there(*EXTRAS)
    entry = stage(NUMBERS, lambda: _entry(found, table), judged=found.fits.values(), made=made)
    found.extras = stage.extras
    found.posteriors = {f"since, {name}": each for name, each in found.fits.items()}
    found.document = {"since": entry}
    return found


def _each(laws, table, options):
    made = mapped(_fitted, (table, options), list(laws.values()))
    return dict(zip(laws, counted(made, "paces", False, total=len(laws)), strict=True))


def _fitted(shared, law):
    table, options = shared
    return fit(law, table, **options)


def _left_out(fits):
    """Elpd of each pace, models left out one by one, and how much better the break is."""
    tables = {name: loo_by_group(each, "model", mend="none") for name, each in fits.items()}
    pointwise = pd.DataFrame({name: table["elpd"] for name, table in tables.items()})
    high_k = {name: int((table["pareto_k"] > PARETO_K_LIMIT).sum()) for name, table in tables.items()}
    difference = differences(pointwise, high_k)
    return {
        name: {
            "elpd": float(pointwise[name].sum()),
            "elpd_diff": results.finite(difference.at[name, "elpd_diff"]),
            "dse": results.finite(difference.at[name, "dse"]),
            "k_above_0.7": high_k[name],
            "models": len(pointwise),
        }
        for name in fits
    }


def _rests(table, options):
    """Summaries of both paces with one thing changed at a time; of the models to 2024 one pace alone."""
    laws = {(what, pace): replace(law, **of) for what, of in CHANGES.items() for pace, law in LAWS.items()}
    fits = _each(laws, table, options)
    before = table[table["year"] < LAST_YEAR].reset_index(drop=True)
    before.attrs = dict(table.attrs)
    found = {what: {} for what in (*CHANGES, FIRST)}
    for (what, _), each in fits.items():
        found[what] |= _periods(each) | {"ok": found[what].get("ok", True) and diagnose(each)["ok"]}
    first = fit(LAWS[LINEAR], before, **options)
    found[FIRST] = _periods(first) | {"ok": diagnose(first)["ok"]}
    return found


def _periods(each):
    """Summaries by period and unit: quantiles by quantity, and the probability of progress."""
    found = {}
    for (period, unit), row in progress_summary(each).iterrows():
        entry = {q: {level: results.finite(row[f"{q}_{level}"]) for level in LEVELS} for q in QUANTITIES}
        found.setdefault(period, {})[unit] = entry | {"p_progress": float(row["p_progress"])}
    return found


def _entry(found, table):
    periods, pairs, slopes = {}, {}, {}
    for pace, each in found.fits.items():
        periods |= _periods(each)
        draws = progress_at_fixed_compute(each)
        slope = DECADE * draws["slope"].values.ravel()
        slopes[pace] = results.summary(slope)
        for period in draws["period"].values.tolist():
            gain = draws["gain"].sel(period=period).values.ravel()
            some = np.linspace(0, len(gain) - 1, min(PAIRS, len(gain))).astype(int)
            pairs[period] = {"slope": slope[some].tolist(), "gain": gain[some].tolist()}
    known = table[table["training_compute_flop"].notna()].drop_duplicates("model")
    known = known[known["compute_confidence"].isin(["Confident", "Likely"])]
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
        "periods": periods,
        "slope_a_decade": slopes,
        "pairs": pairs,
        "least_squares": _least_squares(found.fits[LINEAR]),
        "left_out": found.elpd,
        "rests": found.rests,
        "laws": {pace: _law(each) for pace, each in found.fits.items()},
    }


def _law(each):
    pit = pit_by_benchmark(each)
    return {
        "verdict": results.verdict_entry(each),
        "misfit": results.misfit_entries(each),
        "diagnostics": diagnose(each),
        "benchmarks": {
            "tested": int(pit["p_uniform"].notna().sum()),
            "below_0.01": int((pit["p_uniform"] < 0.01).sum()),
        },
    }


def _least_squares(each):
    """Apply published estimators to their own scores, in the unit of capability of a fit."""
    scores, models = load("rosetta_scores"), load("rosetta_models")
    capability = fit_item_response(scores, benchmark="Winogrande").capability
    own = models[models["distilled"] == 0]
    stages = fit_two_stages(capability, own, FAMILIES)
    known = own.dropna(subset=["training_compute_flop"])
    known = known[known["model"].isin(capability.index)]
    slope, gain = _joint(capability[known["model"]].to_numpy(), known)
    unit = _unit(capability, models, each)
    return {
        "unit": unit,
        "two stages": {
            "slope": unit * DECADE * stages.slope,
            "gain": unit * stages.yearly_gain,
            "factor": stages.factor,
        },
        "one regression": {"slope": unit * DECADE * slope, "gain": unit * gain, "factor": float(np.exp(gain / slope))},
        "models": {"two stages": stages.models, "one regression": len(known)},
    }


def _joint(capability, models):
    """Slope of capability in log compute and its yearly gain, by one regression on both."""
    columns = [np.log(models["training_compute_flop"]), models["year"], np.ones(len(models))]
    found, *_ = np.linalg.lstsq(np.column_stack(columns), capability, rcond=None)
    return float(found[0]), float(found[1])


def _unit(capability, models, each):
    """Spread of the posterior mean capability of models that both tables name, over that of least squares."""
    named = models.set_index("model")["model_name"].reindex(capability.index)
    theirs = capability.groupby(named).mean()
    posterior = each["posterior"]["capability"].mean(("chain", "draw"))
    ours = pd.Series(posterior.values, posterior["model"].values)
    both = theirs.index.intersection(ours.index)
    return float(ours[both].std() / theirs[both].std())

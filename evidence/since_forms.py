"""A study of forms of the trend of capability at fixed compute: what they predict, and which gain they give.

The law of scores is fitted with each form of yearly gain: constant, broken at a stated or a sampled date, accelerating,
or a random walk by half-year. Some forms are also fitted with random effects of families, and without reasoning models.
A second study changes the form of the scores: highest scores below 1, versions within models, or both.
"""

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.checks.chains import PARETO_K_LIMIT
from bayescaling.inference.comparison.importance import importance_sampling
from bayescaling.inference.comparison.weights import stacking, sum_error
from bayescaling.models.trends import EARLIER, LATER
from bayescaling.reports.pages.since.forms import BREAK, LINEAR, PLAIN, best_form
from bayescaling.reports.pages.since.page import gain_entries, name_of_fit
from bayescaling.reports.results import records
from since import REASONING, of_later_models
from study import laws_of, register, selected

COMPARED, WITHOUT_REASONING = ("default", "families"), "no reasoning models"
FORMS = ("linear", "break", "sampled_break", "acceleration", "random_walk")
FEW = ("linear", "break", "acceleration")
LAWS = {
    "default": {form: {"pace": form} for form in FORMS},
    "families": {form: {"pace": form, "family_effects": True} for form in FEW},
    WITHOUT_REASONING: {form: {"pace": form} for form in FEW[1:]},
    "break": {"slope of compute by period": {"pace": "break", "slope_by_period": True}},
}
OF_SCORES = {
    PLAIN: {},
    "versions": {"version_effects": True},
    "ceilings": {"ceilings": True},
    "ceilings, versions": {"ceilings": True, "version_effects": True},
}
LAWS_OF_SCORES = {name: {form: {"pace": form, **of} for form in FEW} for name, of in OF_SCORES.items()}
LAWS_OF_SCORES |= {f"{name}, {WITHOUT_REASONING}": LAWS_OF_SCORES[name] for name in OF_SCORES}
LEVELS = {"q2.5": 0.025, "q50": 0.5, "q97.5": 0.975}
DRAWN = 4000  # of the mixture of forms


def fitted(parts, variant, form, settings):
    """Fit a form of a variant, or open the fit if there is one."""
    table = bs.load("eci_scores")
    if variant.endswith(WITHOUT_REASONING):
        table = selected(table, ~table["model"].isin(REASONING))
    law = bs.laws.Scores(**(LAWS | LAWS_OF_SCORES)[variant][form])
    return parts.fit(f"{variant}, {form}", lambda: bs.fit(law, table, **settings))


def numbers(parts, variant, form, settings):
    """Return the numbers of a fit: its answer, draws of both gains, and elpd and Pareto k by what is left out."""

    def make():
        fit = fitted(parts, variant, form, settings)
        entry = answer(fit)
        if variant in COMPARED or variant in OF_SCORES:
            entry["left_out"] = {by: left_out(fit, by) for by in ("model", "family")}
        return entry

    return parts.entry(f"{variant}, {form}", make)


def quantiles(values):
    """Return the median and the 95% interval."""
    return {name: float(np.quantile(values, p)) for name, p in LEVELS.items()}


def answer(fit):
    """Return gains at fixed compute in mid-2023 and mid-2025, and the probability that the later one is larger."""
    progress, pace = bs.scores.progress_at_fixed_compute(fit, years=(EARLIER, LATER)), fit.law.pace
    before, after = (progress["gain"].sel(period=year).values.ravel() for year in (EARLIER, LATER))
    diagnostics = fit.diagnostics
    entry = {"gains": {"before": quantiles(before), "after": quantiles(after)}}
    if pace != "linear":
        entry["p_faster"] = float((after > before).mean())
    if pace == "sampled_break":
        entry["break_date"] = quantiles(fit["posterior"]["break_date"].values)
    entry["diagnostics"] = {key: diagnostics[key] for key in ("ok", "divergences", "r_hat_max", "ess_bulk_min")}
    return {"entry": entry, "before": before.tolist(), "after": after.tolist()}


def left_out(fit, by):
    """Return elpd and Pareto k of each group with a known compute, for the others barely inform the trend; and all."""
    draws = fit.draws
    joint = draws.by_group(by)
    result = importance_sampling(fit, joint)
    table = pd.DataFrame({"elpd": result.elpd_i.values, "k": result.pareto_k.values}, joint["group"].values)
    has_compute = draws.rows["model"].isin(draws.law.with_compute(draws.rows))
    chosen = table.loc[sorted(draws.rows[by][has_compute].unique())]
    return {name: chosen[name].tolist() for name in table} | {"all": {name: table[name].tolist() for name in table}}


def compared(by_form, by, groups=lambda left_out: left_out):
    """Return elpd by form, differences from the best, stacking weights, and the answer averaged with these weights."""
    results = {form: groups(of["left_out"][by]) for form, of in by_form.items()}
    elpd = pd.DataFrame({form: of["elpd"] for form, of in results.items()})
    apart = elpd.sub(elpd[elpd.sum().idxmax()], axis=0)
    weights = dict(zip(elpd.columns, stacking(elpd.to_numpy()).tolist(), strict=True))
    rng = np.random.default_rng(1)
    counts = {form: round(DRAWN * weight) for form, weight in weights.items()}
    # A form's two gains are drawn together, so that the mixture is one of the joint posteriors.
    places = {form: rng.integers(0, len(by_form[form]["before"]), count) for form, count in counts.items()}
    mixed = {
        end: np.concatenate([np.array(by_form[form][end])[place] for form, place in places.items()])
        for end in ("before", "after")
    }
    return {
        "groups": len(elpd),
        "forms": {
            form: {
                "elpd": float(elpd[form].sum()),
                "elpd_diff": float(apart[form].sum()),
                "dse": float(sum_error(apart[form])),
                "stacking": weights[form],
                "k_above_0.7": int((np.array(of["k"]) > PARETO_K_LIMIT).sum()),
            }
            for form, of in results.items()
        },
        "averaged": {
            "gains": {end: quantiles(values) for end, values in mixed.items()},
            "p_faster": sum(weight * by_form[form]["entry"].get("p_faster", 0.0) for form, weight in weights.items()),
        },
    }


def _laws(by_variant):
    return laws_of("eci_scores", [bs.laws.Scores(**of) for by_form in by_variant.values() for of in by_form.values()])


@register("forms of the trend of capability at fixed compute", _laws(LAWS), seed=1, draws=500, tune=500, chains=4)
def since_forms(parts, **settings):
    """Fit each form of each variant and compare forms by models and families left out."""
    by_variant = {
        variant: {form: numbers(parts, variant, form, settings) for form in of} for variant, of in LAWS.items()
    }
    return {
        "earlier": EARLIER,
        "later": LATER,
        "answers": {variant: {form: of["entry"] for form, of in by.items()} for variant, by in by_variant.items()},
        "left_out": {
            variant: {by: compared(by_variant[variant], by) for by in ("model", "family")} for variant in COMPARED
        },
    }


@register("forms of the scores, with highest scores below 1 and versions within models",
          _laws({name: LAWS_OF_SCORES[name] for name in OF_SCORES}), seed=1, draws=500, tune=1000,
          chains=4)  # fmt: skip
def since_scores(parts, **settings):
    """Fit each form of the scores, compare forms by models and families left out, and describe the one to quote."""
    paces, units = (LINEAR, BREAK), ("model", "family")

    def by_pace(variant, paces):
        return {pace: numbers(parts, variant, pace, settings) for pace in paces}

    def answers(by_pace):
        return {pace: of["entry"] for pace, of in by_pace.items()}

    def every(left_out):
        return left_out["all"]

    forms = {name: by_pace(name, paces) for name in OF_SCORES}
    result = {
        "answers": {name: answers(of) for name, of in forms.items()},
        "left_out": {
            pace: {by: compared({name: of[pace] for name, of in forms.items()}, by, every) for by in units}
            for pace in paces
        },
    }
    name = best_form(result)
    trends, without = by_pace(name, FEW), by_pace(f"{name}, {WITHOUT_REASONING}", (BREAK,))
    fits = {pace: fitted(parts, name, pace, settings) for pace in paces}
    broken, table = bs.laws.Scores(**LAWS_OF_SCORES[name][BREAK]), bs.load("eci_scores")
    entries = [gain_entries(pace, fit) for pace, fit in fits.items()]
    return result | {
        "trends": {"answers": answers(trends), "left_out": {by: compared(trends, by) for by in units}},
        WITHOUT_REASONING: answers(without),
        "later": parts.entry(f"{name}, later", lambda: of_later_models(broken, table, settings)),
        "numbers": entries[0] | {key: entries[0][key] | of for key, of in entries[1].items()},
        "records": records({name_of_fit(pace, name): fit for pace, fit in fits.items()}),
    }

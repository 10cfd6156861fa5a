"""Pages on what the answers on algorithmic progress rest on: priors, papers, variants, cutoffs and the next year."""

import numpy as np

from ...inference import metadata
from ...inference.diagnostics import PARETO_K_LIMIT
from ...inference.quantities import growth
from ...inference.quantities.variants import acceleration
from ..drawing import tables
from . import figures
from . import quantities_figures as quantities
from .analysis import MAIN
from .published import DOUBLING, VARIANT_PUBLISHED
from .wording import VARIANT_NAMES, draws_interval, in_a_row, months, probability, times, words

SENSITIVE = 0.05
FORMS = ("transformer_exp", "transformer_sigmoid")


# What it rests on ----------------------------------------------------------------------------------------------------


def _rests_text(found):
    grid, scaling, influence = found.grid, found.scaling, found.influence
    top, rows = influence.iloc[0], influence.iloc[0]["rows"]
    unreliable = int((~(influence["pareto_k"] <= PARETO_K_LIMIT)).sum())
    shift = f"by {top['shift']:+.2f} months" if np.isfinite(top["shift"]) else f"to {months(top['median'])}"
    sensitive = [name for name in ("prior", "likelihood") if scaling[name] > SENSITIVE]
    return [
        f"Under {len(grid)} priors, which differ in how far benchmarks' shares of the two terms may lie apart and in "
        f"how large yearly falls may be, the median doubling time runs from {months(grid['q50'].min())} to "
        f"{months(grid['q50'].max())} months and P(progress) from {probability(grid['p_progress'].min())} to "
        f"{probability(grid['p_progress'].max())}.",
        f"Power scaling: per doubling of the power the growth rate moves by a distance of {scaling['prior']:.3f} for "
        f"the prior and {scaling['likelihood']:.3f} for the likelihood. Above {SENSITIVE:g} is sensitive: "
        f"{in_a_row(sensitive)}.",
        f"Of {len(influence)} papers “{top['title']}” ({rows} row{'s' if rows > 1 else ''}) moves the median most when "
        f"left out, {shift}. Papers with a Pareto k above {PARETO_K_LIMIT:g}, where importance sampling is not "
        f"reliable: {unreliable}.",
    ]


# Variants ------------------------------------------------------------------------------------------------------------


def _variants(found):
    fits = found.variants | {"main": found.fits[MAIN], "vocabulary": found.fits[19]}
    return {name: (fit, times(next(iter(growth.growth_rates(fit).values())))) for name, fit in fits.items()}


def _variant_table(variants, published):
    header = ("variant", "rows", "doubling (months)", "published (months)", "P(progress)", "largest r_hat",
              "least bulk ESS", "diverging")  # fmt: skip
    rows = []
    for name, (fit, q) in variants.items():
        record = metadata(fit)
        verdict = record["diagnostics"]
        theirs = published.words(DOUBLING + VARIANT_PUBLISHED.get(name, name))
        checks = f"{verdict['r_hat_max']:.3f}", f"{verdict['ess_bulk_min']:.0f}", str(verdict["divergences"])
        label = VARIANT_NAMES.get(name, name)
        rows.append((label, str(record["data"]["rows"]), words(q), theirs, probability(q["p_progress"]), *checks))
    note = (
        "A published interval that starts below zero is one of a doubling time whose rate passed through zero; it has "
        "no place on the axis of the figure. Paper effects: the paper used all models of each paper, this table holds "
        "at most three of each."
    )
    return tables.of_rows(header, rows, note)


def _variant_text(found, published, variants):
    rho = found.variants["paper_effects"]["posterior"]["rho"]
    note = published.note(DOUBLING + "autocorrelation")
    medians = {VARIANT_NAMES.get(n, n): q["q50"] for n, (_, q) in variants.items()}
    shortest, longest = min(medians, key=medians.get), max(medians, key=medians.get)
    return [
        f"Median doubling times run from {months(medians[shortest])} ({shortest}) to {months(medians[longest])} months "
        f"({longest}).",
        f"Rows of one paper share ρ = {draws_interval(rho, '{:.2f}')} of the scatter about the law (published: "
        f"{note}).",
    ]


def _transformer_table(found, published):
    header = ("form", "loss reduction (%)", "gain at 10²² FLOP (×)", "gain at 10²⁵ FLOP (×)", "P(reduction > 0)", "γ")
    rows = []
    for name in FORMS:
        gain = growth.transformer_gain(found.variants[name])
        reduction = gain["loss_reduction_percent"]
        gains = (draws_interval(gain["gain"].sel(compute=c), "{:.3g}") for c in (1e22, 1e25))
        sure = "1, by its form" if name == "transformer_sigmoid" else probability(float((reduction > 0).mean()))
        gamma = draws_interval(found.variants[name]["posterior"]["gamma_transformer"])
        rows.append((VARIANT_NAMES[name], draws_interval(reduction, "{:.1f}"), *gains, sure, gamma))
    theirs = [published.words(f"transformer.{n}") for n in ("loss_reduction_percent", "gain_1e22", "gain_1e25")]
    share = published("transformer.loss_reduction_percent")[0] / 100
    rows.append(("published, σ(γ)", *theirs, "1, by its form", f"{np.log((1 - share) / share):.3f}, implied"))
    return tables.of_rows(header, rows, "Gain: factor of compute that a transformer saves, in 2023 on wt103.")


def _transformer_text(found, published):
    theirs = published("transformer.loss_reduction_percent")[0]
    medians = [float(growth.transformer_gain(found.variants[n])["loss_reduction_percent"].median()) for n in FORMS]
    text = (
        "A transformer multiplies the reducible loss by a factor: exp(γ), of either sign, or σ(γ), which forces a "
        f"gain. Median loss reductions: {medians[0]:.1f}% and {medians[1]:.1f}%, published {theirs:g}%."
    )
    if theirs > max(medians):
        text += (
            " The published figure is higher because its penalty draws γ towards 0, where σ is one half: it rewards a "
            "larger effect of the transformer, not a smaller one."
        )
    return text


# Acceleration and the future -----------------------------------------------------------------------------------------


def _acceleration(found):
    return {cutoff: acceleration(fit) for cutoff, fit in found.cutoffs.items()}


def _acceleration_table(changes):
    header = (
        "cutoff",
        "before (months)",
        "after (months)",
        "P(progress) before",
        "P(progress) after",
        "P(faster after)",
    )
    rows = []
    for cutoff, change in changes.items():
        before, after = times(change["before"]), times(change["after"])
        sure = (probability(p) for p in (before["p_progress"], after["p_progress"], change["p_faster"]))
        rows.append((str(cutoff), words(before), words(after), *sure))
    return tables.of_rows(header, rows)


def _acceleration_text(changes):
    faster = {c: change["p_faster"] for c, change in changes.items()}
    low, high = min(faster.values()), max(faster.values())
    verdict = (
        "No cutoff makes a change of pace sure"
        if low > 0.025 and high < 0.975
        else "At "
        + in_a_row([c for c, p in faster.items() if not 0.025 < p < 0.975])
        + " the pace changes with more than 97.5% probability in one direction"
    )
    return [
        f"Year slopes of specification {MAIN} may change at a cutoff, the law staying continuous there. {verdict}: "
        f"P(faster after) lies between {probability(low)} and {probability(high)}."
    ]


def _future_table(found):
    header = ("cutoff", "trained on", "predicted", "elpd of them", "elpd a row", "MSE (nats²)")
    rows = [
        (*(f"{x:.0f}" for x in (r.cutoff, r.trained, r.predicted)), f"{r.elpd:.1f}", f"{r.elpd / r.predicted:.3f}",
         f"{r.mse:.5f}")
        for r in found.future.itertuples()
    ]  # fmt: skip
    return tables.of_rows(header, rows)


def _future_text(found, whole):
    future = found.future
    worst = future.loc[(future["elpd"] / future["predicted"]).idxmin()]
    lower = int((future["mse"] < whole["mse"]).sum())
    return [
        f"Specification {MAIN} trained on what was dated before a cutoff, and the year that follows predicted. The "
        f"error is below that of leave-one-out ({whole['mse']:.5f} nats²) at {lower} of {len(future)} cutoffs. The "
        f"hardest is {worst['cutoff']:.0f}: {worst['elpd'] / worst['predicted']:.2f} nats a row, "
        f"against {whole['elpd']:.2f} of leave-one-out."
    ]


# Sections ------------------------------------------------------------------------------------------------------------


def sections(found, published):
    """Sections on sensitivity, in order.

    Parameters
    ----------
    found : Analysis
    published : Published
    """
    variants = _variants(found)
    changes = _acceleration(found)
    main = found.comparison.loc[MAIN]
    whole = {"elpd": main["elpd"] / len(found.pointwise), "mse": main["loo_mse"]}
    return [
        {
            "title": "Progress: what it rests on",
            "text": _rests_text(found),
            "blocks": [figures.prior_grid(found.grid), quantities.influence(found.influence)],
        },
        {
            "title": "Progress: variants of the main specification",
            "text": [*_variant_text(found, published, variants), _transformer_text(found, published)],
            "blocks": [
                figures.variants(variants, published),
                _variant_table(variants, published),
                _transformer_table(found, published),
            ],
        },
        {
            "title": "Progress: has it become faster?",
            "text": _acceleration_text(changes),
            "blocks": [figures.acceleration(changes), _acceleration_table(changes)],
        },
        {
            "title": "Progress: predicting the next year",
            "text": _future_text(found, whole),
            "blocks": [quantities.leave_future_out(found.future, whole), _future_table(found)],
        },
    ]

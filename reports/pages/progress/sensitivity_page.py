"""Pages on what the answers on algorithmic progress rest on: priors, papers, variants, cutoffs and the next year."""

import numpy as np

from ....datasets.wording import plural
from ....inference.checks.chains import PARETO_K_LIMIT
from ....inference.checks.sensitivity import SENSITIVE
from ....inference.progress import contributions, rate_at_optimum
from ....inference.progress.change_points import NONE, acceleration
from ....inference.words import probability
from ....models.progress.specifications import NO_PROGRESS
from ...drawing import tables
from ...findings import section
from . import figures
from . import quantities_figures as quantities
from . import time_figures as in_time
from .analysis import FUTURE, MAIN, PACE, RESTS, VARIANTS
from .conclusions import AT
from .published import DOUBLING, VARIANT_PUBLISHED
from .wording import VARIANT_NAMES, draws_interval, in_a_row, months, name_of, times, words

FORMS = ("transformer_exp", "transformer_sigmoid")


# What it rests on ----------------------------------------------------------------------------------------------------


def _rests_text(found):
    grid, scaling, influence = found.grid[MAIN], found.scaling[MAIN]["at the rows"], found.influence[MAIN]
    grid = grid[grid["estimand"] == "rows"]
    top, rows = influence.iloc[0], influence.iloc[0]["rows"]
    unreliable = int((~(influence["pareto_k"] <= PARETO_K_LIMIT)).sum())
    shift = f"by {top['shift']:+.2f} months" if np.isfinite(top["shift"]) else f"to {months(top['median'])}"
    sensitive = [name for name in ("prior", "likelihood") if scaling[name] > SENSITIVE]
    return [
        f"Under {len(grid)} priors, which differ in how far benchmarks' shares of the two terms may lie apart and in "
        f"how large yearly falls may be, the median doubling time runs from {months(grid['q50'].min())} to "
        f"{months(grid['q50'].max())} months and P(progress) from {probability(grid['p_progress'].min())} to "
        f"{probability(grid['p_progress'].max())}, under specification {MAIN} at the evaluations' own sizes.",
        f"Power scaling: per doubling of the power the growth rate at the evaluations' own sizes moves by a distance "
        f"of {scaling['prior']:.3f} for the prior and {scaling['likelihood']:.3f} for the likelihood, under "
        f"specification {MAIN}. Above {SENSITIVE:g} is sensitive: {in_a_row(sensitive)}. The table has the other "
        "specifications with weight, and the rate at the optimum.",
        f"Of {len(influence)} papers “{top['title']}” ({plural(rows, 'row')}) moves the median most when "
        f"left out, {shift}. Papers with a Pareto k above {PARETO_K_LIMIT:g}, where importance sampling is not "
        f"reliable: {unreliable}.",
    ]


def _scaling_table(found):
    places = ("at the rows", "at the optimum")
    header = ("specification", *(f"{power}, {place}" for place in places for power in ("prior", "likelihood")))
    rows = [
        (name_of(k), *(f"{each[place][power]:.3f}" for place in places for power in ("prior", "likelihood")))
        for k, each in found.scaling.items()
    ]
    note = (
        f"Distance that the rate of progress moves per doubling of the power; above {SENSITIVE:g} is sensitive. A rate "
        "that the data inform is sensitive to the likelihood alone."
    )
    return tables.of_rows(header, rows, note, title="Sensitivity to powers of prior and likelihood")


def _specification_table(found):
    header = ("specification", "median under other priors, at the rows (months)", "least P(progress)",
              "at the optimum (months)", "least P(progress) there", "paper that moves it most", "by (months)",
              "decided by the prior")  # fmt: skip
    rows = []
    for k, grid in found.grid.items():
        each = [grid[grid["estimand"] == estimand] for estimand in ("rows", "optimum")]
        ranges = [
            (f"{months(one['q50'].min())} to {months(one['q50'].max())}", probability(one["p_progress"].min()))
            for one in each
        ]
        top, driven = found.influence[k].iloc[0], found.driven[k]
        title = top["title"] if len(top["title"]) < 41 else f"{top['title'][:40]}…"
        names = driven.loc[driven["prior_driven"], "coefficient"]
        rows.append((name_of(k), *ranges[0], *ranges[1], title, f"{top['shift']:+.2f}", ", ".join(names) or "–"))
    note = (
        f"Each specification with weight under the priors of the figure, all but {MAIN} under the four outermost, at "
        "the evaluations' own sizes and at the compute-optimal one; the paper that moves the median at the rows most "
        "when it is left out; coefficients no more than a fifth narrower than their prior."
    )
    return tables.of_rows(header, rows, note, title="What moves each specification")


# Variants ------------------------------------------------------------------------------------------------------------


def _variants(found):
    fits = found.variants | {"main": found.fits[MAIN], "vocabulary": found.fits[19]}
    return {name: (fit, times(rate_at_optimum.first_rate(fit))) for name, fit in fits.items()}


def _variant_table(variants, scores, published):
    header = ("variant", "rows", "doubling (months)", "published (months)", "P(progress)", "elpd by row",
              "elpd by paper", "largest r_hat", "least bulk ESS", "diverging")  # fmt: skip
    rows = []
    for name, (fit, q) in variants.items():
        record = fit.record
        verdict = record["diagnostics"]
        theirs = published.words(DOUBLING + VARIANT_PUBLISHED.get(name, name))
        checks = f"{verdict['r_hat_max']:.3f}", f"{verdict['ess_bulk_min']:.0f}", str(verdict["divergences"])
        label = VARIANT_NAMES.get(name, name)
        scored = _scored(scores, name)
        rows.append(
            (label, str(record["data"]["rows"]), words(q), theirs, probability(q["p_progress"]), *scored, *checks)
        )
    note = (
        "A published interval that starts below zero is one of a doubling time whose rate passed through zero; it has "
        "no place on the axis of the figure. Paper effects: the paper used all models of each paper, this table holds "
        "at most three of each. Elpd: difference from specification "
        f"{MAIN} in nats of the loss ± one standard error, where both are of the same rows; beyond two of them a "
        "variant predicts better, or worse."
    )
    return tables.of_rows(header, rows, note, title="Variants beside the published ones")


def _scored(scores, name):
    if name not in scores.index or name == "main":
        return "–", "–"
    row = scores.loc[name]
    return f"{row['elpd_diff']:+.1f} ± {row['dse']:.1f}", f"{row['papers_diff']:+.1f} ± {row['papers_dse']:.1f}"


def _variant_text(found, published, variants):
    rho = found.variants["paper_effects"]["posterior"]["rho"]
    note = published.note(DOUBLING + "autocorrelation")
    medians = {VARIANT_NAMES.get(n, n): q["q50"] for n, (_, q) in variants.items()}
    shortest, longest = min(medians, key=medians.get), max(medians, key=medians.get)
    return [
        f"Median doubling times {AT} run from {months(medians[shortest])} ({shortest}) to "
        f"{months(medians[longest])} months ({longest}).",
        f"Rows of one paper share ρ = {draws_interval(rho, '{:.2f}')} of the scatter about the law (published: "
        f"{note}).",
        f"On the {_known(found)} rows whose vocabulary is known, specification 19, which adds a term in it, has an "
        f"elpd of {' by row and '.join(_scored(found.vocabulary, 19))} by paper against specification {MAIN}.",
    ]


def _known(found):
    return int(found.table["vocabulary"].notna().sum())


def _transformer_table(found, published):
    header = ("form", "loss reduction (%)", "gain at 10²² FLOP (×)", "gain at 10²⁵ FLOP (×)", "P(reduction > 0)", "γ")
    rows = []
    for name in FORMS:
        gain = contributions.transformer_gain(found.variants[name])
        reduction = gain["loss_reduction_percent"]
        gains = (draws_interval(gain["gain"].sel(compute=c), "{:.3g}") for c in (1e22, 1e25))
        sure = "1, by its form" if name == "transformer_sigmoid" else probability(float((reduction > 0).mean()))
        gamma = draws_interval(found.variants[name]["posterior"]["gamma_transformer"])
        rows.append((VARIANT_NAMES[name], draws_interval(reduction, "{:.1f}"), *gains, sure, gamma))
    theirs = [published.words(f"transformer.{n}") for n in ("loss_reduction_percent", "gain_1e22", "gain_1e25")]
    share = published("transformer.loss_reduction_percent")[0] / 100
    rows.append(("published, σ(γ)", *theirs, "1, by its form", f"{np.log((1 - share) / share):.3f}, implied"))
    note = "Gain: factor of compute that a transformer saves, in 2023 on wt103."
    return tables.of_rows(header, rows, note, title="What the transformer gained, by form")


def _transformers_table(found):
    header = ("specification", "loss reduction (%)", "gain at 10²² FLOP (×)", "gain at 10²⁵ FLOP (×)")
    rows = []
    for k, fit in found.transformers.items():
        gain = contributions.transformer_gain(fit)
        gains = (draws_interval(gain["gain"].sel(compute=c), "{:.3g}") for c in (1e22, 1e25))
        rows.append((name_of(k), draws_interval(gain["loss_reduction_percent"], "{:.1f}"), *gains))
    note = (
        "Form exp(γ), of the ten best specifications of 1 to 15, best elpd first. Gains: of draws that have an optimum."
    )
    return tables.of_rows(header, rows, note, title="What the transformer gained, by specification")


def _transformer_text(found, published):
    theirs = published("transformer.loss_reduction_percent")[0]
    medians = [
        float(contributions.transformer_gain(found.variants[n])["loss_reduction_percent"].median()) for n in FORMS
    ]
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


def _whole_years(pace):
    """Rates before and after a change at the start of each year."""
    return {int(cutoff): acceleration(fit) for cutoff, fit in pace.fits.items() if cutoff != NONE and cutoff % 1 == 0}


def _pace_table(found):
    pace = found.pace
    header = ("change at", "probability", "elpd", "before (months)", "after (months)", "P(faster after)")
    rows = []
    for cutoff, row in pace.table.iterrows():
        change = None if cutoff == NONE else acceleration(pace.fits[cutoff])
        pair = ("–", "–") if change is None else (words(times(change[name])) for name in ("before", "after"))
        faster = "–" if change is None else probability(row["p_faster"])
        rows.append((f"{cutoff}", f"{row['probability']:.3f}", f"{row['elpd']:.1f}", *pair, faster))
    path, p_faster = found.walked
    ends = (words(times(path.isel(year=i))) for i in (0, -1))
    rows.append(("random walk", "–", f"{float(found.walk_score.elpd):.1f}", *ends, probability(p_faster)))
    first, last = path["year"].values[[0, -1]]
    note = (
        f"Marginal likelihoods by bridge sampling (largest standard error {pace.table['se'].max():.2f} in their "
        "logarithm); even odds of a change beforehand, all dates alike. Elpd by leave-one-out, of rows. Rates at the "
        f"evaluations' own sizes. Of the random walk, with a step every two years, before is {first:g}, after is "
        f"{last:g}, and the probability is that of a faster pace in {last:g} than over the evaluations."
    )
    return tables.of_rows(header, rows, note)


def _pace_text(found):
    pace, (path, p_faster) = found.pace, found.walked
    last = path["year"].values[-1]
    after = pace.table.drop(index=NONE)
    likely = after["probability"].idxmax()
    verdict = "more likely than not" if pace.p_change > 0.5 else "less likely than not"
    return [
        f"Year slopes of specification {MAIN} may change once, at a date that is itself unknown, the law staying "
        f"continuous there. After even odds a change is {verdict}: its probability is {pace.p_change:.2f}, which "
        "depends on the prior of its size. If there is one, the pace rose with probability "
        f"{probability(pace.p_faster)}; its likeliest date is {likely:g} (probability "
        f"{after['probability'][likely] / after['probability'].sum():.2f} of the dates tried).",
        f"As a random walk, with a step every two years whose size is estimated, the pace of {last:g} was faster than "
        f"that of the evaluations on average with probability {probability(p_faster)}: a doubling in "
        f"{words(times(path.sel(year=last)))} months.",
    ]


def _future_table(found):
    header = ("cutoff", "trained on", "predicted", "elpd of them", "elpd a row", "MSE (nats²)")
    rows = [
        (*(f"{x:.0f}" for x in (r.cutoff, r.trained, r.predicted)), f"{r.elpd:.1f}", f"{r.elpd / r.predicted:.3f}",
         f"{r.mse:.5f}")
        for r in found.future.itertuples()
    ]  # fmt: skip
    return tables.of_rows(header, rows, title=f"The year to come, by specification {MAIN}")


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


def _futures_table(found):
    table = found.futures
    years = [name for name in table if name.startswith("elpd_2")]
    header = ("specification", "elpd", "difference", "se by rows", "se by papers", "MSE (nats²)", "stacking",
              *(name.removeprefix("elpd_") for name in years))  # fmt: skip
    forms = {"elpd": "{:.1f}", "elpd_diff": "{:.1f}", "dse": "{:.1f}", "dse_by_paper": "{:.1f}", "mse": "{:.4f}",
             "stacking": "{:.2f}"} | dict.fromkeys(years, "{:.1f}")  # fmt: skip
    rows = [(name_of(k), *(form.format(row[name]) for name, form in forms.items())) for k, row in table.iterrows()]
    note = (
        "Each specification trained on what was dated before a year and scored on that year's rows, by row; 16 and 17 "
        "know no progress. Stacking: weights of the mixture that would have predicted best."
    )
    return tables.of_rows(header, rows, note, title="The years to come, by every specification")


def _futures_text(found):
    table = found.futures
    close = [k for k, row in table.iterrows() if -row["elpd_diff"] <= 2 * row["dse_by_paper"]]
    still = table.loc[list(NO_PROGRESS)].iloc[0]
    weighed = table["stacking"][table["stacking"] >= 0.05].sort_values(ascending=False)
    return (
        f"Of all specifications {table.index[0]} predicts the years to come best; {len(close)} of {len(table)} are "
        f"within two standard errors of it, papers summed. Without progress the better is {-still['elpd_diff']:.0f} "
        f"nats below (standard error {still['dse_by_paper']:.0f}). Stacked, weight goes to "
        f"{in_a_row(f'{k} ({weight:.2f})' for k, weight in weighed.items())}."
    )


# Sections ------------------------------------------------------------------------------------------------------------


def sections(found, published):
    """Sections on sensitivity, in order.

    Parameters
    ----------
    found : Analysis
    published : Published
    """
    return [
        section(found, RESTS, "What the pace of progress rests on", lambda: _of_rests(found)),
        section(found, VARIANTS, "Variants of the main specification", lambda: _of_variants(found, published)),
        section(found, PACE, "Has progress become faster?", lambda: _of_pace(found)),
        section(found, FUTURE, "Predicting the next year", lambda: _of_future(found)),
    ]


def _of_rests(found):
    return {
        "text": _rests_text(found),
        "blocks": [
            figures.prior_grid(found.grid[MAIN]),
            _specification_table(found),
            _scaling_table(found),
            quantities.influence(found.influence[MAIN]),
        ],
    }


def _of_variants(found, published):
    variants = _variants(found)
    return {
        "text": [*_variant_text(found, published, variants), _transformer_text(found, published)],
        "blocks": [
            figures.variants(variants, published),
            _variant_table(variants, found.variant_scores, published),
            _transformer_table(found, published),
            _transformers_table(found),
        ],
    }


def _of_pace(found):
    return {
        "text": _pace_text(found),
        "blocks": [
            in_time.pace(found.pace.path, found.walked[0]),
            figures.acceleration(_whole_years(found.pace)),
            _pace_table(found),
        ],
    }


def _of_future(found):
    main = found.comparison.loc[MAIN]
    whole = {"elpd": main["elpd"] / len(found.pointwise), "mse": main["loo_mse"]}
    return {
        "text": [*_future_text(found, whole), _futures_text(found)],
        "blocks": [in_time.leave_future_out(found.future, whole), _future_table(found), _futures_table(found)],
    }

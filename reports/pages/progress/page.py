"""The page on algorithmic progress: the posteriors of the 20 specifications, their variants and published estimates."""

from functools import partial

import numpy as np
import pandas as pd

from ....inference import words as numbers
from ....inference.checks.chains import PARETO_K_LIMIT
from ....inference.checks.sensitivity import SENSITIVE
from ....inference.intervals import QUANTILES
from ....inference.progress import contributions, rate_at_optimum
from ....inference.progress.change_points import NONE
from ....models.draws import DRAWS
from ....models.loss.rules import chinchilla_over_kaplan
from ....models.progress.specifications import NO_PROGRESS
from ...drawing import checks
from ...html import verdicts
from ...html import prose
from ...laws import EFFECTS, INDEPENDENT, MAIN, NOISES
from ...laws import SPECIFICATIONS_STUDY as STUDY
from ...results import rejected_by
from . import entries, figures, quantities_figures, studies, tables, wording
from .forest import LONGEST
from .published import DOUBLING, Published
from .ridge import year_slopes
from .specifications import REPLICATES
from .wording import COMPUTE_ONLY, draws_interval

SCALES = {"GPT-2 scale": ("gpt2", 1.5e21), "PaLM scale": ("palm", 2.5e24)}
FRONTIER_SYSTEM, FRONTIER_YEARS = "GPT-2 (1542M)", (2013.0, 2015.0, 2017.0, 2019.0, 2021.0, 2023.0)


def _ends(medians):
    """Return the keys of the least and the greatest of some medians."""
    return min(medians, key=medians.get), max(medians, key=medians.get)


def _inseparable(comparison, column="dse"):
    """List the specifications whose elpd is within two standard errors of the best."""
    return [k for k, row in comparison.iterrows() if -row["elpd_diff"] <= 2 * row[column]]


def _ridge(findings):
    """Compute draws of the two yearly falls, their rank correlation and probabilities that they are positive."""
    from scipy.stats import spearmanr

    a, b = year_slopes(findings.fits[INDEPENDENT])
    return {
        "falls": (a, b),
        "correlation": float(spearmanr(a, b).statistic),
        "certain": sum(max((x > 0).mean(), (x < 0).mean()) > 0.975 for x in (a, b)),
        "p_above_0": ((a > 0).mean(), (b > 0).mean(), ((a > 0) & (b > 0)).mean()),
    }


def _ridge_figure(findings, published):
    """Draw the two yearly falls, with those published and those of the paper's estimator."""
    main = findings.fits[INDEPENDENT]
    marks, rate = {}, rate_at_optimum.first_rate(main).values.ravel()
    a, b = (published(f"progress.{MAIN}.{side}_year")[0] for side in ("alpha", "beta"))
    if np.isfinite(a) and np.isfinite(b):
        marks["published"] = (a, b, f"doubling {published.words(DOUBLING + 'closed_form')} months")
    for name, fit in findings.paper.items():
        months = fit["doubling_months"]
        time = "never" if months is None else f"doubling {months:.1f} months"
        marks[f"paper's estimator, {name}"] = (fit["alpha_year"], fit["beta_year"], time)
    keep = np.isfinite(rate)
    return figures.ridge(*(x[keep] for x in (*year_slopes(main), rate)), marks)


def _better_with_effects(findings):
    """List the specifications that predict papers left out better with an effect of each paper."""
    entries = findings.document["paper_effects"]
    return [k for k, of in entries.items() if of[EFFECTS]["elpd_papers"] > of[INDEPENDENT]["elpd_papers"]]


def _variants(findings):
    """Return the entry of each variant, with quantiles of its doubling time: of a study, or of a specification."""
    variants = findings.study("progress_variants")["variants"]
    variants = {name: of | {"times": wording.quantiles_of(of["doubling_months"])} for name, of in variants.items()}
    return variants | {"main": _of_specification(findings, MAIN), "vocabulary": _of_specification(findings, 19)}


def _of_specification(findings, k):
    """Return the entry of a specification in the table of variants."""
    q, entry = wording.quantiles_of(wording.far_times(findings, k)), findings.document["progress"][str(k)]
    checks = {name: entry[name] for name in ("rows", "r_hat_max", "ess_bulk_min", "divergences")}
    return checks | {"times": q, "p_progress": q["p_progress"]}


def _published_shares(findings, published):
    """Return published shares of the attribution in percent, by pair and move."""
    pairs, moves = (findings.attribution[name].values for name in ("pair", "move"))
    return {(pair, move): published(f"attribution.{pair}.{move}")[0] for pair in pairs for move in moves}


def _attribution(findings, shares):
    """Count published shares, and those within intervals; with the share of all progress in the last pair."""
    low, high = (100 * findings.attribution["share"].quantile([0.025, 0.975], DRAWS)).values
    estimates = np.array(
        [[shares[p, m] for m in findings.attribution["move"].values] for p in findings.attribution["pair"].values]
    )
    last = findings.document["attribution"][-1]
    return {
        "inside": int(((estimates >= low) & (estimates <= high)).sum()),
        "count": int(np.isfinite(estimates).sum()),
        "last": last,
        "share": {name: 100 * last["progress"][name] for name in QUANTILES},
    }


def _build_up(findings, published):
    """Return how far algorithms multiplied effective compute, what is published, and how physical compute grew."""
    factor = np.exp(wording.finite(contributions.effective_compute(findings.fits[INDEPENDENT], [2023.0])))
    estimate = published("progress.effective_compute_since_2014")[0]
    entry = findings.document["effective_compute_since_2014"]
    return {
        "factor": [numbers.si(entry[name], "{:.2g}".format) for name in (numbers.LOW, numbers.MIDDLE, numbers.HIGH)],
        "published": estimate,
        "above": float((factor >= estimate).mean()),
        "physical": float(np.exp(contributions.physical_compute(2023.0))),
    }


def _rules(findings, published):
    """List what Chinchilla's rule saves over Kaplan's at each scale; none where Chinchilla's law was not fitted."""
    return [] if findings.gains is None else [
        {
            "name": name,
            "budget": budget,
            "gain": draws_interval(findings.gains["gain"].sel(compute=budget), "{:.2f}"),
            "published": published.words("chinchilla_over_kaplan." + key),
            "estimate": published("chinchilla_over_kaplan." + key)[0],
            "implied": chinchilla_over_kaplan(budget, **published.hoffmann),
        }
        for name, (key, budget) in SCALES.items()
    ]  # fmt: skip


def _frontier_system(findings):
    """Return the evaluation whose frontiers are drawn, None where the table has none."""
    table = findings.table
    chosen = table[(table["system"] == FRONTIER_SYSTEM) & (table["benchmark"] == "wt103")]
    return None if chosen.empty else chosen.iloc[0]


def _median(q):
    return wording.quantiles_of(q)["q50"]


def _futures(table):
    """Return what the text prints on predictions of years to come: the close ones, those without progress, weights."""
    return {
        "best": table.index[0],
        "count": len(table),
        "close": len(_inseparable(table, "dse_by_paper")),
        "still": table.loc[list(NO_PROGRESS)].iloc[0],
        "weights": table["stacking"][table["stacking"] >= 0.05].sort_values(ascending=False),
    }


def _likeliest_change(study):
    """Return the date at which the rate most probably changed, and its share of the probability of all dates."""
    shares = {float(x): of["probability"] for x, of in study["cutoffs"].items() if x != NONE}
    date = max(shares, key=shares.get)
    return {"date": date, "share": shares[date] / sum(shares.values())}


def _quantities(findings, published):
    """Return what the template prints and some figures draw, by name."""
    comparison, table = findings.comparison, findings.table
    close, main, variants = _inseparable(comparison), comparison.loc[MAIN], _variants(findings)
    largest = (6 * table["parameters"] * table["dataset_tokens"] * table["epochs"].fillna(1)).max()
    shares = _published_shares(findings, published)
    return {
        "close": close,
        "close_by_paper": _inseparable(comparison, "dse_by_paper"),
        "close_medians": {k: _median(wording.far_times(findings, k)) for k in close if k not in NO_PROGRESS},
        "medians": {
            k: _median(findings.document["progress"][str(k)]["compute_equivalent_gain"]["all"]["doubling_months"])
            for k in wording.with_progress(findings)
            if k <= 15
        },
        "decades": np.log10(rate_at_optimum.COMPUTE / largest),
        "best_still": comparison.loc[list(NO_PROGRESS)].sort_values("elpd_diff").iloc[-1],
        "ridge": _ridge(findings),
        "unfit": {
            noise: [k for k, of in findings.document["progress"].items() if rejected_by(of["misfit"][noise])]
            for noise in NOISES
        },
        "better": _better_with_effects(findings),
        "variants": variants,
        "variant_medians": {wording.VARIANT_NAMES.get(k, k): of["times"]["q50"] for k, of in variants.items()},
        "reductions": [
            of["loss_reduction_percent"]["q50"]
            for of in findings.study("progress_variants")["transformer_by_form"].values()
        ],
        "futures": _futures(entries.frame(findings.study("progress_future")["leave_future_out_by_specification"])),
        "likely": _likeliest_change(findings.study("progress_pace")),
        "future": pd.DataFrame(findings.study("progress_future")["leave_future_out"]),
        "whole": {"elpd": main["elpd"] / len(table), "mse": main["loo_mse"]},
        "shares": shares,
        "attribution": _attribution(findings, shares),
        "build_up": _build_up(findings, published),
        "system": _frontier_system(findings),
        "rules": _rules(findings, published),
    }


def _blocks(findings, published, of):
    """Return figures and tables by name."""
    fit, comparison, more = findings.fits[INDEPENDENT], findings.comparison, quantities_figures
    rests, changes = findings.study("progress_sensitivity"), findings.study("progress_pace")
    rules = {rule["name"]: (rule["budget"], rule["estimate"]) for rule in of["rules"]}
    blocks = {
        "gains": figures.gains(findings),
        "doubling": figures.doubling(findings, published),
        "differences": figures.elpd_differences(comparison, {k: wording.name_of(k) for k in comparison.index}),
        "ridge": _ridge_figure(findings, published),
        "residuals": figures.residuals(fit),
        "pit": checks.loo_pit(fit, f"specification {MAIN}"),
        "priors": figures.prior_grid(studies.grid_of(rests, MAIN)),
        "influence": more.influence(studies.influence_of(rests, MAIN)),
        "variants": figures.variants(of["variants"], published),
        "table_variants": studies.variants(of["variants"], published),
        "rates": figures.rates(changes),
        "accelerations": figures.acceleration(changes["cutoffs"]),
        "years": figures.leave_future_out(of["future"], of["whole"]),
        "shares": more.shares(findings.attribution, of["shares"]),
        "share_intervals": more.share_intervals(findings.attribution, of["shares"]),
        "frontiers": None if of["system"] is None else more.frontiers(fit, of["system"], FRONTIER_YEARS),
        "build_up": more.build_up(fit, of["build_up"]["published"]),
        "direct": figures.direct(findings, published),
        "direct_rows": more.direct_rows(findings.direct),
        "rules": more.rule_gain(findings.gains, rules) if rules else None,
    }
    for table in (tables.answers, tables.doubling, tables.comparison, tables.coefficients, tables.estimator,
                  studies.transformer_forms, tables.direct):  # fmt: skip
        blocks[f"table_{table.__name__}"] = partial(table, findings, published)
    for table in (tables.weights, tables.law_tests, tables.papers, studies.rests, studies.power_scaling,
                  studies.transformers, studies.changes, studies.future, studies.futures):  # fmt: skip
        blocks[f"table_{table.__name__}"] = partial(table, findings)
    return blocks


def sections(findings, published):
    """Return the sections on algorithmic progress, in order; see `Page.sections`.

    Parameters
    ----------
    findings : ProgressFindings
    published : DataFrame
        From ``load("published")``.
    """
    published = Published(published)
    of = _quantities(findings, published)
    return prose.sections(
        __file__,
        _blocks(findings, published, of),
        **of,
        findings=findings,
        published=published,
        comparison=findings.comparison,
        ends=_ends,
        equal_to=numbers.equal_to,
        in_words=numbers.in_words,
        isfinite=np.isfinite,
        log=np.log,
        marked=verdicts.marked,
        of_pit=verdicts.of_pit,
        rejected_by=rejected_by,
        point=tables.point,
        scored=studies.scored,
        write=wording,
        optimum=rate_at_optimum,
        entries=entries,
        rests=findings.study("progress_sensitivity"),
        grid_of=studies.grid_of,
        influence_of=studies.influence_of,
        plain=numbers.plain,
        factor=quantities_figures.WITHIN,
        DELTA=tables.DELTA,
        LONGEST=LONGEST,
        PARETO_K_LIMIT=PARETO_K_LIMIT,
        SENSITIVE=SENSITIVE,
        NONE=NONE,
        DOUBLING=DOUBLING,
        COMPUTE_ONLY=COMPUTE_ONLY,
        REPLICATES=REPLICATES,
        STUDY=STUDY,
        MAIN=MAIN,
        INDEPENDENT=INDEPENDENT,
        EFFECTS=EFFECTS,
    )

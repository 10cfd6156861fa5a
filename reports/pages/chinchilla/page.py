"""The page on the Chinchilla law: the posterior, published estimates, checks and decisions."""

import numpy as np

from ....datasets.wording import p_value
from ....inference.words import decimals, plain, probability
from ....plots import plot_fit, plot_isoflop
from ....plots.published import CONSTANTS, PREFIX, chinchilla_constants, chinchilla_estimates
from ... import optimum
from ...drawing import allocation, checks, law
from ...html import tables, verdicts
from ...html.illustrations import pictured
from ...html import prose
from . import laws_page
from .analysis import MAIN

NAMES = {
    "E": "E (nats/token)",
    "A": "A",
    "B": "B",
    "alpha": "α, exponent of parameters",
    "beta": "β, exponent of tokens",
    "exponent_parameters": "β/(α+β), exponent of N* in C",
}
CHINCHILLA_BUDGET = 5.76e23  # FLOP
CALIBRATED = {
    **{name: NAMES[name] for name in ("E", "alpha", "beta", "exponent_parameters")},
    "sigma": "σ, scatter of log loss",
    "log_likelihood": "log likelihood",
}
OPTIMUM_NOTE = "Medians and 95% intervals of the sizes of least mean loss at C = 6ND."
LOO_NOTE = "elpd: in nats on log loss. Difference: to the best fit, with one standard error for independent runs."
LABELS = NAMES | {
    "sigma": "σ, relative scatter at the centre",
    "sigma_smallest_run": "σ at the smallest run",
    "sigma_largest_run": "σ at the largest run",
    "nu": "ν, degrees of freedom",
}


def _parameter_table(document, table):
    ours = document["laws"]["chinchilla"]["parameters"]
    at_least = {(b["quantity"].removeprefix(PREFIX), b["source"]): b["p_at_least"] for b in document["published"]}
    rows = []
    for name, label in LABELS.items():
        q = ours[name]
        row = {
            "quantity": label,
            "mean": _short(q["mean"], q["sd"]),
            "sd": _short(q["sd"], q["sd"]),
            "median [95%]": plain(q, f"{{:.{decimals(q['sd'])}f}}"),
            "robust sd": _short(document["laws"]["chinchilla"]["robust"][name]["robust_sd"], q["sd"]),
        }
        for source in table["source"].unique():
            estimate = table.loc[(table["source"] == source) & (table["quantity"] == name), "estimate"]
            row[source] = f"{estimate.iloc[0]:.5g} (P≥ {probability(at_least[name, source])})" if len(estimate) else "–"
        rows.append(row)
    note = (
        "95%: equal-tailed posterior intervals. P≥: posterior probability of a value at least as large. "
        "A dash: not reported. Robust sd: by the infinitesimal jackknife, by run or by model size, whichever is "
        "wider; it holds whatever the law and its noise."
    )
    return tables.html(rows, note=note, title="Constants, ours and published", fits=MAIN)


def _short(x, sd):
    """Write a number with no more decimals than two digits of the standard deviation have."""
    return "–" if x is None or not np.isfinite(x) else f"{x:.{decimals(sd)}f}"


def _point_table(findings, sets):
    rows = []
    for label, group in (
        ("all runs", findings.points.parametric),
        ("without the five highest losses", findings.trimmed),
    ):
        for estimate in group.values():
            kind = "free scale" if estimate.search["scale"] is not None else "fixed threshold"
            row = {"estimator": f"Huber, {kind}, {label}"} | {n: f"{estimate[n]:.5g}" for n in CONSTANTS}
            starts = "{starts_at_best} of {starts} starts".format(**estimate.search)
            verdict = f"{'yes' if estimate.converged else 'NO'}, {starts}"
            rows.append(row | {"runs": str(estimate.rows), "converged": verdict})
    for source, constants in sets.items():
        rows.append(
            {"estimator": f"published: {source}"}
            | {n: f"{constants[n]:.5g}" for n in CONSTANTS}
            | {"runs": "–", "converged": "–"}
        )
    return tables.html(
        rows,
        note="Threshold 10<sup>-3</sup>: of the free scale, or on log loss.",
        title="Huber estimates of the Chinchilla law",
    )


def _envelope_table(envelopes, document):
    q = document["laws"]["chinchilla"]["parameters"]["exponent_parameters"]
    rows = [
        {
            "estimator": {"isoflop": "iso-FLOP parabolas", "frontier": "best run by compute"}[name],
            "exponent of N* in C": f"{e['exponent']:.3f} ± {1.96 * e.errors['exponent']:.3f}",
            "exponent of D* in C": f"{e['exponent_tokens']:.3f}",
            "points": str(len(e.points)),
            "result": e.message,
        }
        for name, e in envelopes.items()
    ]
    posterior = {"exponent of N* in C": tables.interval(q, "{:.3f}"), "exponent of D* in C": "1 minus that"}
    rows.append({"estimator": "posterior of the law", **posterior, "points": "–", "result": ""})
    fits = [*[""] * len(envelopes), MAIN]
    return tables.html(rows, title="Estimators that need no law", fits=fits)


def _calibration_table(document):
    calibration = document["calibration"]["chinchilla"]
    rows = [
        {
            "quantity": label,
            "error (posterior sd)": f"{q['error']:+.2f} ± {q['error_se']:.2f}".replace("-", "−"),
            "50% covers": f"{q['coverage_50']:.0%}",
            "90% covers": f"{q['coverage_90']:.0%}",
            "p, uniform": p_value(q["p_uniform"], ""),
        }
        for (_, label), q in ((item, calibration["quantities"][item[0]]) for item in CALIBRATED.items())
    ]
    note = (
        f"{calibration['simulations']} simulations; {calibration['not_converged']} of their fits failed a diagnostic "
        "and are counted with the rest. Error: mean of (median − truth)/sd ± one standard error. p: probability of "
        "ranks as far from uniform, if they were uniform."
    )
    return tables.html(rows, note=note)


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    document, main = findings.document, findings.fits[MAIN]
    name = optimum.preferred(document)
    best, sets, estimates = findings.fits[name], chinchilla_constants(published), chinchilla_estimates(published)
    apart, widest = laws_page.apart(document)
    opened = f'import bayescaling as bs\n\nfit = bs.open("posteriors/{name}.nc")\n'
    blocks = {
        "allocation": allocation.allocation(best, sets),
        "allocated": tables.allocated(
            optimum.budgets(document, name),
            title=f"What is compute-optimal under the {optimum.NAMES[name]} law",
            note=f"Recommended: the {optimum.NAMES[name]} law, which predicts runs beyond the fitted ones best. "
            f"{OPTIMUM_NOTE}",
            fits=name,
        ),
        "fit": pictured(plot_fit, best, code=f"{opened}bs.plot_fit(fit)"),
        "isoflop": pictured(plot_isoflop, best, code=f"{opened}bs.plot_isoflop(fit)"),
        "by_law": laws_page.table_by_law(document),
        "data": law.data(main.rows),
        "tokens_per_parameter": allocation.tokens_per_parameter(best, sets),
        "optimal_loss": allocation.optimal_loss(best),
        "own_optimum": tables.allocated(optimum.budgets(document, MAIN), note=OPTIMUM_NOTE, fits=MAIN),
        "posterior_and_published": law.posterior_and_published(main, estimates, NAMES),
        "parameters": _parameter_table(document, estimates),
        "pairs": checks.pairs(main, {n: NAMES[n].split(",")[0] for n in CONSTANTS}),
        "points": _point_table(findings, sets),
        "envelopes": _envelope_table(findings.points.envelopes, document),
        "loss_surface": law.loss_surface(main),
        "predictive_check": checks.predictive_check(main),
        "loo_pit": checks.loo_pit(main, "the Chinchilla law"),
        "tests_of_law": tables.tests_of_law(document["laws"][MAIN]),
        "simulated_ranks": checks.simulated_ranks(
            document["calibration"][MAIN]["ranks"],
            {n: label.split(",")[0].split(" (")[0] for n, label in CALIBRATED.items()},
        ),
        "calibration": _calibration_table(document),
        "comparison": tables.comparison(findings.comparison, note=LOO_NOTE, weights=True),
        "pareto_k": checks.pareto_k(findings.elpd),
        "priors": tables.priors(main, "Priors of what is sampled"),
        "ranks": checks.ranks(main, CONSTANTS),
    }
    return prose.sections(
        __file__,
        blocks,
        findings=findings,
        document=document,
        runs=main.rows,
        best=name,
        apart=apart,
        widest=widest,
        no_variance=float((main["posterior"]["nu"] <= 2).mean()),
        words=laws_page.WORDS,
        calibrated=CALIBRATED,
        optimum=optimum,
        verdicts=verdicts,
        plain=plain,
        BUDGET=CHINCHILLA_BUDGET,
        MAIN=MAIN,
    )

"""The page on the Chinchilla law: the posterior, published estimates, checks and decisions."""

import numpy as np
import pandas as pd

from ....datasets.wording import p_value
from ....inference.words import decimals, flop, plain, probability, sizes
from ....models.loss.law import describe
from ...drawing import allocation, checks, law, optimum, tables, verdicts
from ...findings import section
from ...published import CONSTANTS, PREFIX, chinchilla_constants, chinchilla_estimates
from . import laws_page
from .analysis import CALIBRATION, MAIN

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


def _answer(document):
    """Say in two sentences what grows how, and what follows at Chinchilla's own budget."""
    best = optimum.preferred(document)
    exponent = document["laws"][best]["parameters"]["exponent_parameters"]
    at = optimum.at_budget(document, CHINCHILLA_BUDGET, best)
    return (
        f"Under the {optimum.NAMES[best]} law optimal parameters grow as compute to the "
        f"{tables.interval(exponent, '{:.3f}')}. At Chinchilla's own budget, {flop(CHINCHILLA_BUDGET)}, it says "
        f"{sizes(at['parameters'])} parameters on {sizes(at['tokens'])} tokens, where Hoffmann et al. trained 70B on "
        f"1.4T; that is {at['extrapolation']:.1f} decades above the largest run fitted "
        f"({flop(optimum.largest_run(document))})."
    )


def _moves(fit, document):
    student, normal, one = (document["laws"][f"chinchilla{noise}"] for noise in ("", ", normal noise", ", one sigma"))
    ours, no_variance = student["parameters"], float((fit["posterior"]["nu"] <= 2).mean())
    exponents = ", ".join(
        f"{tables.interval(document['laws'][name]['parameters']['exponent_parameters'], '{:.3f}')} {words}"
        for name, words in laws_page.WORDS.items()
    )
    return [
        f"<b>The law.</b> The exponent is {exponents}: {laws_page.apart(document)}. At {flop(CHINCHILLA_BUDGET)} the "
        f"optimum is {laws_page.sizes_by_law(document, CHINCHILLA_BUDGET)}. The interval of one law does not carry the "
        "choice of the law.",
        f"<b>Trust in the law.</b> {_robust(student)}",
        f"<b>The noise.</b> The scatter σ about the Chinchilla law is "
        f"{tables.interval(ours['sigma_smallest_run'], '{:.2%}')} at the smallest run and "
        f"{tables.interval(ours['sigma_largest_run'], '{:.2%}')} at the largest; one σ for all costs "
        f"{student['elpd_loo'] - one['elpd_loo']:.1f} of elpd. The residuals have ν = "
        f"{tables.interval(ours['nu'], '{:.2f}')} degrees of freedom (at most 2 in {no_variance:.0%} of draws, where a "
        f"run's loss has no standard deviation: read its quantiles). Under normal noise β would be "
        f"{tables.interval(normal['parameters']['beta'], '{:.3f}')} and elpd {normal['elpd_loo']:.0f} instead of "
        f"{student['elpd_loo']:.0f}.",
    ]


def _robust(law):
    """Say what the interval of the exponent should be if the law does not fit."""
    own = law["robust"]["exponent_parameters"]
    by = {"unit": "run"}.get(own["by"], "model size")
    return (
        f"Without trusting the Chinchilla law, by {by}, the standard deviation of its exponent is "
        f"{own['robust_sd']:.3f} where its posterior says {own['posterior_sd']:.3f}."
    )


def _checks(found):
    """Verdicts on the recommended law and on Chinchilla's."""
    document, names = found.document, dict.fromkeys((optimum.preferred(found.document), MAIN))
    said = []
    for name in names:
        entry = document["laws"][name]
        said += [check(_law(name), entry) for check in (verdicts.of_law, verdicts.of_pit, verdicts.of_pareto)]
    calibrated = document.get("calibration", {}).get(MAIN)
    return [*filter(None, said), verdicts.of_calibration(_law(MAIN), calibrated, CALIBRATED)]


def _law(name):
    said = f"{optimum.NAMES[name]} law"
    return said[0].upper() + said[1:]


def _constants(document):
    ours = document["laws"][MAIN]["parameters"]
    return (
        f"Under the Chinchilla law the irreducible loss E is {tables.interval(ours['E'], '{:.3f}')} nats per token; α "
        f"is {tables.interval(ours['alpha'], '{:.3f}')} and β {tables.interval(ours['beta'], '{:.3f}')}."
    )


LOO_NOTE = (
    "elpd in nats on log loss; difference to the best fit; one standard error, summed over runs as if independent."
)
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
            found = table.loc[(table["source"] == source) & (table["quantity"] == name), "estimate"]
            row[source] = f"{found.iloc[0]:.5g} (P≥ {probability(at_least[name, source])})" if len(found) else "–"
        rows.append(row)
    note = (
        "95%: equal-tailed posterior intervals. P≥: posterior probability of a value at least as large. "
        "A dash: not reported. Robust sd: by the infinitesimal jackknife, by run or by model size, whichever is "
        "wider; it does not trust the law or its noise."
    )
    return tables.html(
        pd.DataFrame(rows), rowname="quantity", note=note, title="Constants, ours and published", fits=MAIN
    )


def _short(x, sd):
    """Write a number with no more decimals than two digits of the standard deviation have."""
    return "–" if x is None or not np.isfinite(x) else f"{x:.{decimals(sd)}f}"


def _point_table(found, sets):
    rows = []
    for label, group in (("all runs", found.points.parametric), ("without the five highest losses", found.trimmed)):
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
        pd.DataFrame(rows),
        rowname="estimator",
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
            "verdict": e.message,
        }
        for name, e in envelopes.items()
    ]
    posterior = {"exponent of N* in C": tables.interval(q, "{:.3f}"), "exponent of D* in C": "1 minus that"}
    rows.append({"estimator": "posterior of the law", **posterior, "points": "–", "verdict": ""})
    fits = [*[""] * len(envelopes), MAIN]
    return tables.html(pd.DataFrame(rows), rowname="estimator", title="Estimators that need no law", fits=fits)


def _prior_table(chosen):
    rows = [{"quantity": n, "prior": p, "unit": u or "–", "why": why} for n, p, u, why in describe(chosen)]
    return tables.html(pd.DataFrame(rows), rowname="quantity", title="Priors of what is sampled")


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
    return tables.html(pd.DataFrame(rows), rowname="quantity", note=note)


def sections(found, published):
    """Sections of the page, in order; see `Page.sections`."""
    sets = chinchilla_constants(published)
    folded = [*_law_sections(found, sets, chinchilla_estimates(published)), *_check_sections(found)]
    return [*_answer_sections(found, sets), *({"role": "details"} | each for each in folded)]


def _answer_sections(found, sets):
    document = found.document
    best = optimum.preferred(document)
    planned = optimum.budgets(document, best)
    note = (
        f"Recommended: the {optimum.NAMES[best]} law, which predicts runs beyond the fitted ones best. Medians and "
        "95% intervals of the optimum of the mean loss, C = 6ND."
    )
    return [
        {
            "role": "answer",
            "title": "Answer",
            "text": [_answer(document)],
            "blocks": [
                allocation.allocation(found.fits[best], sets),
                tables.allocated(
                    planned,
                    title=f"What is compute-optimal under the {optimum.NAMES[best]} law",
                    note=note,
                    fits=best,
                ),
            ],
        },
        {
            "role": "moves",
            "title": "What could change it",
            "points": _moves(found.fits[MAIN], document),
            "blocks": [laws_page.table_by_law(document)],
        },
        {"role": "checks", "title": "Checks", "points": _checks(found), "blocks": []},
    ]


def _law_sections(found, sets, table):
    main, document = found.fits[MAIN], found.document
    best = found.fits[optimum.preferred(document)]
    runs = main.rows
    return [
        {
            "title": "The data",
            "text": [
                f"{len(runs)} training runs of Hoffmann et al. (2022), read off their figure 4: parameters N (snapped "
                f"to the sizes of their table A9), training compute, final loss up to {runs['loss'].max():.2f} nats "
                "per token. Tokens are D = C/(6N)."
            ],
            "blocks": [law.data(runs)],
        },
        {
            "title": "Tokens per parameter and loss at the optimum",
            "text": [
                "Under the recommended law, for every draw of the constants, the N and D of least mean loss at a "
                "budget. Shaded: where the fitted runs lie; beyond it the bands carry the law's uncertainty but not "
                "that of its form."
            ],
            "blocks": [allocation.tokens_per_parameter(best, sets), allocation.optimal_loss(best)],
        },
        {
            "title": "The Chinchilla law's own optimum",
            "text": [
                "Under the Chinchilla law N* = G (C/6)<sup>β/(α+β)</sup>, D* = C/(6N*): to set beside other studies, "
                "which use this law."
            ],
            "blocks": [
                tables.allocated(
                    optimum.budgets(document, MAIN),
                    note="Medians and 95% intervals of the optimum of the mean loss, C = 6ND.",
                    fits=MAIN,
                ),
            ],
        },
        {
            "title": "Parameters beside the published sets",
            "text": [
                _constants(document),
                "L = E + A/N<sup>α</sup> + B/D<sup>β</sup>, Student-t residuals on log loss, all runs. Dashed lines "
                "are published estimates, thick segments their 95% intervals. Ours differ from Besiroglu et al. "
                "because all 245 runs are kept (they leave out the five highest losses) and because a Student-t "
                "density weighs residuals otherwise than an absolute error. The constants printed by Hoffmann et al. "
                "do not minimise their own objective on these runs, as Besiroglu et al. showed.",
            ],
            "blocks": [
                law.posterior_and_published(main, table, NAMES),
                _parameter_table(document, table),
                checks.pairs(main, {n: NAMES[n].split(",")[0] for n in CONSTANTS}),
            ],
        },
        {
            "title": "The usual point estimators",
            "text": [
                "Maximum likelihood of a Huber density (threshold 10<sup>-3</sup>, in effect least absolute error) "
                "on log loss, from many starts, as Hoffmann et al. and Besiroglu et al. did; then the two estimators "
                "that need no law."
            ],
            "blocks": [_point_table(found, sets), _envelope_table(found.points.envelopes, document)],
        },
        {
            "title": "The loss surface",
            "text": [
                "Iso-loss lines of the posterior median; dotted lines have constant compute. The red line joins the "
                "optima."
            ],
            "blocks": [law.loss_surface(main)],
        },
    ]


def _covering(found):
    return {
        "text": [
            "Constants are drawn from the posterior, runs are simulated from them at the same sizes and tokens, and "
            "the law is fitted to the runs and the simulated ones together. Where the sampler and the law's code are "
            "right, the constants lie anywhere among the new draws with equal probability. This checks the fit, not "
            "the law."
        ],
        "blocks": [
            checks.simulated_ranks(
                found.calibrated, {n: label.split(",")[0].split(" (")[0] for n, label in CALIBRATED.items()}
            ),
            _calibration_table(found.document),
        ],
    }


def _check_sections(found):
    main = found.fits[MAIN]
    return [
        {
            "title": "Posterior predictive check",
            "text": [
                "Each run against its predictive distribution, and the calibration of leave-one-out predictions, under "
                "the Chinchilla law. A line inside the band is what a calibrated model would give."
            ],
            "blocks": [checks.predictive_check(main), checks.loo_pit(main, "the Chinchilla law")],
        },
        {
            "title": "Does the law fit?",
            "text": [
                "Given the constants, each residual has a known distribution, and so have these sums of them. The "
                "score asks for an outer exponent of both terms other than 1; bins of compute ask whether residuals "
                "have a mean or a slope in N/D where none should be; LOO-PIT asks whether the noise is right."
            ],
            "blocks": [tables.tests_of_law(found.document["laws"][MAIN])],
        },
        section(found, CALIBRATION, "Do the intervals cover?", lambda: _covering(found)),
        {
            "title": "Which law and which noise? Leave-one-out comparison",
            "text": [
                "The same runs under three laws and several densities of the residual, whose scatter depends on N and "
                "D unless one sigma is named. Coupled: the two terms are joined by an outer exponent κ, which is 1 "
                "under the Chinchilla law. Offsets: N and D are counted from other zeros. Reading error adds a "
                "uniform error of the half-width with which each loss was read off a colour scale; errors off one "
                "scale are not independent, as it assumes."
            ],
            "blocks": [tables.comparison(found.comparison, note=LOO_NOTE, weights=True), checks.pareto_k(found.elpd)],
        },
        {
            "title": "Priors and convergence",
            "text": [
                "Priors attach to what is sampled; E, A and B follow from it, with N and D measured from their "
                "geometric means."
            ],
            "blocks": [_prior_table(main.law), checks.ranks(main, CONSTANTS)],
        },
    ]

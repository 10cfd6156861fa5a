"""The page on the best size: the optimum by law and budget, published constants, point estimators and checks."""

from functools import partial

import numpy as np

from ....datasets import load
from ....inference import Fitter, compare, fit, intervals
from ....inference.quoted import quote_draws
from ....inference.words import decimals, flop, plain, probability, ratios, sizes
from ....plots import plot_fit, plot_frontier, plot_isoflop, plot_posterior
from ....plots.shared import PREFIX, chinchilla_estimates
from ... import optimum, results
from ...findings import Findings
from ...html import prose, tables
from ...html.illustrations import pictured
from ...laws import CHINCHILLA as MAIN
from ...laws import DEFAULT, LAWS, PLANNED
from ...results import fit_entry, rejected_by
from .estimators import point_estimates

NEAR_OPTIMAL = 0.001  # share of the loss within which sizes count as nearly optimal
EARLIER = (1e20, 3e20, 9e20)  # FLOP; runs below each predict the optimum at the largest run
BUDGETS = (1e19, 1e20, 1e21, 1e22, 1e23, 5.76e23, 1e24, 1e25, 1e26, 1e27)
STUDIES = ("chinchilla_coverage", "chinchilla_reading_error")
EARLIER_RUNS = "chinchilla: earlier runs"
STAGES = (*LAWS, "point estimates", "leave-one-out", "decisions", EARLIER_RUNS, "chinchilla: numbers")
LABELS = {
    "E": "E (nats/token)",
    "alpha": "α, exponent of parameters",
    "beta": "β, exponent of tokens",
    "exponent_parameters": "β/(α+β), exponent of N* in C",
}
CALIBRATED = LABELS | {"sigma": "σ, scatter of log loss", "log_likelihood": "log likelihood"}
CHINCHILLA_BUDGET = 5.76e23  # FLOP
LEAST, MOST = 1e22, 1e25  # FLOP: ends of the table of budgets
FIRST, POINTS = 1e19, 41  # FLOP: the first budget of the chart; the last is that of the card
ENVELOPES = {"isoflop": "iso-FLOP parabolas", "frontier": "best run by compute"}


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit laws to Chinchilla's runs under several noises, compare, estimate and decide; see `Page.analyse`."""
    runs = load("chinchilla_runs")
    options = {"seed": seed, "sampler": sampler, **settings}
    fits = {}
    for name, law in LAWS.items():
        fits[name] = stage(name, partial(fit, law, runs, posterior_predictive=name == MAIN, **options))
    points, trimmed = stage(
        "point estimates", lambda: (point_estimates(runs), point_estimates(runs, drop_highest=5).parametric)
    )
    stage("leave-one-out", lambda: {name: f.loo() for name, f in fits.items()}, of=fits)
    allocations = stage(
        "decisions", lambda: {name: fits[name].allocate(BUDGETS, near_optimal=NEAR_OPTIMAL) for name in PLANNED}
    )
    before = stage(EARLIER_RUNS, lambda: _earlier(fits[DEFAULT], runs, **options))
    besides = {"comparison": compare(fits), "points": points, "trimmed": trimmed}
    findings = Findings(studies=STUDIES, posteriors=fits, besides=besides)
    findings.document = stage(
        "chinchilla: numbers", lambda: _document(findings, allocations, before, published), of=fits
    )
    return findings


def _earlier(whole, runs, *, sampler, **options):
    """Compute N* at the largest run from the runs below each of `EARLIER` and from all, without robust widths or drift.

    It shows how estimates changed as runs grew, which no interval of one fit does.
    """
    compute = runs["training_flop"]
    largest, law = float(compute.max()), LAWS[DEFAULT]

    def entry(fitted, rows):
        at = fitted.allocate(largest, beyond="none", robust=False)["parameters"]
        return {"rows": len(rows), "parameters": intervals.summary(at), "ok": bool(fitted.diagnostics["ok"])}

    below = {cutoff: runs[compute < cutoff].reset_index(drop=True) for cutoff in EARLIER}
    before = [
        {"below": cutoff, "decades": float(np.log10(largest / rows["training_flop"].max()))}
        | entry(Fitter(law, rows, sampler=sampler).fit(**options), rows)
        for cutoff, rows in below.items()
    ]
    return {"law": DEFAULT, "compute": largest, "earlier": before, "all": entry(whole, runs)}


def _document(findings, allocations, before, published):
    document = {
        "laws": {
            name: fit_entry(f) | {"rank": int(findings.besides["comparison"].loc[name, "rank"])}
            for name, f in findings.posteriors.items()
        },
        "allocation": [entry for name in PLANNED for entry in allocations[name].entries(name)],
        "earlier_runs": before,
        "stacking": findings.besides["comparison"]["weight"].to_dict(),
        "comparison": results.comparison_document(findings.besides["comparison"]),
        "published": published_entries(findings.posteriors[MAIN], published),
        "calibration": {MAIN: findings.study("chinchilla_coverage")},
        "reading_error": findings.study("chinchilla_reading_error"),
    }
    document["laws"][MAIN]["point_estimates"] = {
        **{name: p["constants"] for name, p in findings.besides["points"].parametric.items()},
        **{f"{name}_without_highest_5": p["constants"] for name, p in findings.besides["trimmed"].items()},
        **{name: {"exponent_parameters": e["exponent"]} for name, e in findings.besides["points"].envelopes.items()},
    }
    return document


def published_entries(fit, published):
    """Return entries of published estimates: our quoted one, and its probability of a value at least as large."""
    table = chinchilla_estimates(published)
    posterior = fit["posterior"]
    quoted = quote_draws(fit, {name: posterior[name] for name in table["quantity"].unique() if name in posterior})
    return [
        {
            "quantity": PREFIX + row.quantity,
            "published": row.estimate,
            "source": row.source,
            "ours": intervals.summary(quoted[row.quantity], ratio=row.quantity == "exponent_parameters"),
            "p_at_least": float((quoted[row.quantity] >= row.estimate).mean()),
        }
        for row in table.itertuples()
        if row.quantity in quoted
    ]


def _table_by_law(document, order):
    rows = []
    for name in order:
        law, at = document["laws"][name], optimum.at_budget(document, optimum.BUDGET, name)
        failed = rejected_by(law["misfit"])
        rows.append([
            f"{name} (recommended)" if name == order[0] else name,
            f"{law['elpd_loo']:.1f}",
            *(tables.interval(law["parameters"][q], "{:.3f}") for q in ("exponent_parameters", "E")),
            sizes(at["parameters"]),
            ratios(at["tokens_per_parameter"]),
            f"rejected by {failed}" if failed else "not rejected",
        ])  # fmt: skip
    at_budget = (f"{what} at {flop(optimum.BUDGET)}" for what in ("N*", "D*/N*"))
    header = ["law", "elpd (leave-one-out)", "exponent a", "E (nats/token)", *at_budget, "tests of the law"]
    note = (
        "Use the recommended row: over rollouts of ten public tables its law predicts later runs best. Intervals are "
        "robust where the runs reject the law, and include the drift of the law outside the runs."
    )
    return tables.of_rows(header, rows, note=note, fits=order, recommended=0, title="The optimum by law")


def _parameter_table(document, table):
    law = document["laws"][MAIN]
    at_least = {(b["quantity"].removeprefix(PREFIX), b["source"]): b["p_at_least"] for b in document["published"]}
    rows = []
    for name, label in LABELS.items():
        q, robust = law["parameters"][name], law["robust"][name]["robust_sd"]
        form = f".{decimals(q['sd'])}f"
        row = {
            "quantity": label,
            "median [95%]": plain(q, f"{{:{form}}}"),
            "robust sd": "–" if robust is None or not np.isfinite(robust) else f"{robust:{form}}",
        }
        for source in table["source"].unique():
            estimate = table.loc[(table["source"] == source) & (table["quantity"] == name), "estimate"]
            row[source] = f"{estimate.iloc[0]:.5g} (P≥ {probability(at_least[name, source])})" if len(estimate) else "–"
        rows.append(row)
    note = "P≥: posterior probability of a value at least as large. Robust sd holds whatever the law and its noise."
    return tables.html(rows, note=note, title="Constants of the Chinchilla law, ours and published", fits=MAIN)


def _point_table(findings):
    rows = []
    for which, group in (
        ("all runs", findings.besides["points"].parametric),
        ("without the 5 highest losses", findings.besides["trimmed"]),
    ):
        estimate = group["huber_fixed_threshold"]
        exponent = estimate["beta"] / (estimate["alpha"] + estimate["beta"])
        constants = (f"{x:.3f}" for x in (exponent, *(estimate[name] for name in ("E", "alpha", "beta"))))
        rows.append([f"Huber, {which}{'' if estimate.converged else ' (did not converge)'}", *constants])
    for name, estimate in findings.besides["points"].envelopes.items():
        exponent = f"{estimate['exponent']:.3f} ± {1.96 * estimate.errors['exponent']:.3f}"
        rows.append([ENVELOPES[name], exponent, "–", "–", "–"])
    return tables.of_rows(["estimator", "exponent of N*", "E", "α", "β"], rows, title="Point estimates")


def _chart(findings, order):
    budgets = np.geomspace(FIRST, optimum.BUDGET, POINTS)
    at = optimum.at_budget(findings.document, optimum.BUDGET, order[0])
    law = f"the {optimum.NAMES[order[0]]} law"
    title = f"At {flop(optimum.BUDGET)}, {sizes(at['parameters'])} parameters are best under {law}"
    return pictured(
        plot_frontier,
        {f"{optimum.NAMES[law]} law": findings.posteriors[law] for law in order},
        budgets,
        show="parameters",
        title=title,
        code="import bayescaling as bs\nimport numpy as np\n\n"
        f'fits = {{name: bs.open(f"posteriors/{{name}}.nc") for name in {order}}}\n'
        f"budgets = np.geomspace({FIRST:g}, {optimum.BUDGET:g}, {POINTS})\n"
        f'bs.plot_frontier(fits, budgets, show="parameters", title="{title}")',
    )


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    document, main = findings.document, findings.posteriors[MAIN]
    name = optimum.preferred(document)
    best, order = findings.posteriors[name], [name, *(law for law in optimum.planned(document) if law != name)]
    opened = f'import bayescaling as bs\n\nfit = bs.open("posteriors/{name}.nc")\n'
    budgets = [at for at in optimum.budgets(document, name) if LEAST <= at["compute"] <= MOST]
    blocks = {
        "chart": _chart(findings, order),
        "by_law": _table_by_law(document, order),
        "allocated": tables.allocated(
            budgets, title=f"What is compute-optimal under the {optimum.NAMES[name]} law", fits=name
        ),
        "fit": pictured(plot_fit, best, code=f"{opened}bs.plot_fit(fit)"),
        "isoflop": pictured(plot_isoflop, best, code=f"{opened}bs.plot_isoflop(fit)"),
        "posterior": pictured(
            plot_posterior, main, code=f'import bayescaling as bs\n\nbs.plot_posterior(bs.open("posteriors/{MAIN}.nc"))'
        ),
        "parameters": _parameter_table(document, chinchilla_estimates(published)),
        "points": _point_table(findings),
        "comparison": tables.comparison(
            findings.besides["comparison"], weights=True, title="Laws and noises by leave-one-out"
        ),
    }
    named = {"optimum": optimum, "plain": plain, "BUDGET": CHINCHILLA_BUDGET, "MAIN": MAIN, "calibrated": CALIBRATED}
    exponents = [document["laws"][name]["parameters"]["exponent_parameters"] for name in PLANNED]
    medians = [q["q50"] for q in exponents]
    # How far apart the medians of the laws lie, and the width of the widest interval.
    apart = max(medians) - min(medians), max(q["q97.5"] - q["q2.5"] for q in exponents)
    named |= {"document": document, "runs": main.rows, "best": name, "apart": apart}
    return prose.sections(__file__, blocks, no_variance=float((main["posterior"]["nu"] <= 2).mean()), **named)

"""The page on the best size: the optimum by law and budget, published constants, point estimators and checks."""

import numpy as np

from ....inference.words import decimals, flop, plain, probability, ratios, sizes
from ....plots import plot_fit, plot_frontier, plot_isoflop, plot_posterior
from ....plots.published import PREFIX, chinchilla_estimates
from ... import optimum
from ...html import prose, tables
from ...html.illustrations import pictured
from ...laws import PLANNED
from ...results import rejected_by
from .analysis import MAIN

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


def _apart(document):
    """Return how far apart the median exponents of the laws lie, and the width of their widest 95% interval."""
    summaries = [document["laws"][name]["parameters"]["exponent_parameters"] for name in PLANNED]
    medians = [q["q50"] for q in summaries]
    return max(medians) - min(medians), max(q["q97.5"] - q["q2.5"] for q in summaries)


def _table_by_law(document, order):
    """Return the table of the elpd, exponent, E and optimal sizes of each law, the recommended one first."""
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
        "robust where the runs reject the law, and include the drift of the law beyond the largest run."
    )
    return tables.of_rows(header, rows, note=note, fits=order, recommended=0, title="The optimum by law")


def _parameter_table(document, table):
    law = document["laws"][MAIN]
    at_least = {(b["quantity"].removeprefix(PREFIX), b["source"]): b["p_at_least"] for b in document["published"]}
    rows = []
    for name, label in LABELS.items():
        q = law["parameters"][name]
        row = {
            "quantity": label,
            "median [95%]": plain(q, f"{{:.{decimals(q['sd'])}f}}"),
            "robust sd": _short(law["robust"][name]["robust_sd"], q["sd"]),
        }
        for source in table["source"].unique():
            estimate = table.loc[(table["source"] == source) & (table["quantity"] == name), "estimate"]
            row[source] = f"{estimate.iloc[0]:.5g} (P≥ {probability(at_least[name, source])})" if len(estimate) else "–"
        rows.append(row)
    note = "P≥: posterior probability of a value at least as large. Robust sd holds whatever the law and its noise."
    return tables.html(rows, note=note, title="Constants of the Chinchilla law, ours and published", fits=MAIN)


def _short(x, sd):
    """Write a number with no more decimals than two digits of the standard deviation have."""
    return "–" if x is None or not np.isfinite(x) else f"{x:.{decimals(sd)}f}"


def _point_table(findings):
    rows = []
    for which, group in (("all runs", findings.points.parametric), ("without the 5 highest losses", findings.trimmed)):
        estimate = group["huber_fixed_threshold"]
        exponent = estimate["beta"] / (estimate["alpha"] + estimate["beta"])
        constants = (f"{x:.3f}" for x in (exponent, *(estimate[name] for name in ("E", "alpha", "beta"))))
        rows.append([f"Huber, {which}{'' if estimate.converged else ' (did not converge)'}", *constants])
    for name, estimate in findings.points.envelopes.items():
        exponent = f"{estimate['exponent']:.3f} ± {1.96 * estimate.errors['exponent']:.3f}"
        rows.append([ENVELOPES[name], exponent, "–", "–", "–"])
    return tables.of_rows(["estimator", "exponent of N*", "E", "α", "β"], rows, title="Point estimates")


def _chart(findings, order):
    """Draw the best size by budget under the recommended law, the other planned laws and the published ones."""
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
            budgets, title=f"What is compute-optimal under the {optimum.NAMES[name]} law", note=None, fits=name
        ),
        "fit": pictured(plot_fit, best, code=f"{opened}bs.plot_fit(fit)"),
        "isoflop": pictured(plot_isoflop, best, code=f"{opened}bs.plot_isoflop(fit)"),
        "posterior": pictured(
            plot_posterior, main, code=f'import bayescaling as bs\n\nbs.plot_posterior(bs.open("posteriors/{MAIN}.nc"))'
        ),
        "parameters": _parameter_table(document, chinchilla_estimates(published)),
        "points": _point_table(findings),
        "comparison": tables.comparison(findings.comparison, weights=True, title="Laws and noises by leave-one-out"),
    }
    return prose.sections(
        __file__,
        blocks,
        document=document,
        runs=main.rows,
        best=name,
        apart=_apart(document),
        no_variance=float((main["posterior"]["nu"] <= 2).mean()),
        calibrated=CALIBRATED,
        optimum=optimum,
        plain=plain,
        BUDGET=CHINCHILLA_BUDGET,
        MAIN=MAIN,
    )

"""The page of laws of the loss fitted to a custom table of runs."""

from functools import partial

import numpy as np
import pandas as pd

from ....datasets.units import in_unit_of_loss, unit_of_loss
from ....errors import InputError
from ....inference.estimands.allocate import compute_range
from ....inference.estimands.strength import times_outside
from ....models.draws import DRAWS
from ...drawing import allocation, checks, law
from ...html import tables
from ...entries import fit_entry
from ...groups import group_entries
from ...html import prose
from ..chinchilla.estimators import point_estimates
from . import fronts, groups

QUESTION = "How do these runs scale?"
STEPS = ("larger runs",)
EXPONENT = "exponent_parameters"
BEYOND = (1, 10, 100)  # budgets after that of the largest run, as multiples of that of the next
TIMES = 10  # the compute of the next run over that of the largest, where it is not stated
NEAR = 0.001  # relative excess of the loss of sizes that are nearly the best
INTERVALS = "Medians and 95% intervals."
UNITS = {"parameters": "parameters", "tokens": "tokens", "training_flop": "FLOP", "loss": "nats per token"}
ESTIMATORS = {
    "huber_free_scale": "Huber, free scale",
    "huber_fixed_threshold": "Huber, fixed threshold",
    "isoflop": "iso-FLOP parabolas",
    "frontier": "best run by compute",
}


def entries(fits, compute=None):
    """Return entries of results.json: each law, its best sizes, and point estimates, or why there are none.

    Parameters
    ----------
    fits : dict of str to Fit
    compute : float, optional
        FLOP of the next run.
    """
    entries = {"laws": {name: fit_entry(fit) for name, fit in fits.items()}, "allocation": []}
    for name, fit in fits.items():
        entry = entries["laws"][name]
        if groups_of := group_entries(fit):
            entry["groups"] = groups_of
        # Each group has another optimum, beyond other runs.
        for planned in [{"group": group} for group in groups_of["rows"]] if groups_of else [{}]:
            largest = compute_range(fit, **planned)[1]
            budgets = [largest, *(factor * (compute or TIMES * largest) for factor in BEYOND)]
            try:
                near = {"near_optimal": NEAR} if _has_sizes(fit) else {}
                at = fit.allocate(budgets, **near, **planned).entries(name)
            except InputError as error:
                entry["no_allocation"] = str(error)
                break
            entries["allocation"] += [planned | row for row in at]
    runs = next(iter(fits.values())).rows
    try:
        points = point_estimates(runs).to_dict()
    except InputError as error:
        points = {name: {"refused": str(error)} for name in ESTIMATORS}
    return entries | {"point_estimates": points}


def _has_sizes(fit):
    """Return whether a law has a best size at a budget, not the best loss alone."""
    return "tokens" in fit.law.columns


def first_screen(stage, fits, document, comparison):
    """Add the answers, the rollout and the grid of the best size to the document, and return the figures."""
    best = main_of(fits, comparison)
    result = stage(*STEPS, partial(fronts.predicted_runs, fits[best]), of={best: fits[best]})
    document["rollout"] = fronts.rollout_entry(result)
    document["answers"] = fronts.runs_answers(fits, document, comparison, 1 + len(BEYOND))
    document["optimum"] = fronts.runs_grid(fits, document, comparison)
    return fronts.runs_figures(fits, document, comparison, result)


def main_of(fits, comparison):
    """Name the fit that predicts best, the first where they cannot be compared."""
    return fronts.best_and_rivals(fits, comparison)[0]


def sections(fits, document, elpd, comparison, backdrop):
    """Return the sections of the page.

    Parameters
    ----------
    fits : dict of str to Fit
    document : dict
        What `entries` returned.
    elpd : dict of str to ELPDData
    comparison : DataFrame or str
        From `compare`, or why there is none.
    backdrop : tuple of str and DataTree, or None
    """
    best, laws = main_of(fits, comparison), document["laws"]
    main, runs, entry = fits[best], fits[best].rows, laws[best]
    sized = {"parameters", "tokens", "training_flop"} <= set(runs)
    planned = {name: [row for row in document["allocation"] if row["law"] == name] for name in fits}
    optima = {name: [row for row in of_law if "parameters" in row] for name, of_law in planned.items()}
    blocks = {
        "allocated": tables.allocated(optima[best], note=INTERVALS, unit=unit_of_loss(runs)) if optima[best] else None,
        "allocation": lambda: _allocation_figures(main, backdrop, optima[best] if sized else []),
        "groups": lambda: groups.shown(entry),
        "laws": laws_table(fits, document, comparison),
        "pareto_k": checks.pareto_k(elpd),
        "tests_of_law": tables.tests_of_law(entry),
        "predictive_check": checks.predictive_check(main) if sized else None,
        "loo_pit": checks.loo_pit(main),
        "data": law.data(runs) if sized else None,
        "parameters": _parameters_table(entry),
        "estimators": _estimators_table(document["point_estimates"]),
        "priors": tables.priors(main),
        "ranks": checks.ranks(main, _ranked(main)),
    }
    return prose.sections(
        __file__,
        blocks,
        template="runs.md.jinja",
        escaped=True,
        best=best,
        laws=laws,
        runs=runs,
        comparison=comparison,
        backdrop=backdrop,
        planned=planned[best],
        next_runs={name: of_law[1 :: 1 + len(BEYOND)] for name, of_law in optima.items()},
        EXPONENT=EXPONENT,
        times_outside=times_outside,
        UNITS=UNITS | {"loss": in_unit_of_loss(UNITS["loss"], runs)},
    )


def _laws_rows(fits, document, comparison):
    rows = []
    for name in fits:
        entry = document["laws"][name]
        constants = entry["parameters"]
        row = {"law": name, "elpd": f"{entry['elpd_loo']:.1f} ± {entry['elpd_se']:.1f}"}
        if not isinstance(comparison, str):
            of = comparison.loc[name]
            row |= {"difference": f"{of['elpd_diff']:.1f} ± {of['dse']:.1f}", "weight": f"{of['weight']:.2f}"}
        for constant, label in ((EXPONENT, "exponent a"), ("E", "E (nats)")):
            if constant in constants:
                row[in_unit_of_loss(label, fits[name].rows)] = tables.interval(constants[constant], "{:.3f}")
        rows.append(row | {"k > 0.7": str(entry["k_above_0.7"]), "law and rows": entry["verdict"]["verdict"]})
    return rows


def laws_table(fits, document, comparison):
    """Return a table of laws: elpd by leave-one-out, exponent and E where a law has them, and the check of the law."""
    frame = pd.DataFrame(_laws_rows(fits, document, comparison)).fillna("–")
    return tables.html(frame, note=INTERVALS)


def short_sections(template, fits, document, elpd, comparison, blocks, **named):
    """Return the sections of a page of one law: some blocks, then the laws and the checks of that law.

    Parameters are as for `sections`; ``template`` is in this folder, and ``named`` is what only it names.
    """
    best = main_of(fits, comparison)
    entry = document["laws"][best]
    shared = {
        "laws": laws_table(fits, document, comparison),
        "tests_of_law": tables.tests_of_law(entry),
        "pareto_k": checks.pareto_k(elpd),
    }
    named |= {"best": best, "entry": entry, "rows": fits[best].rows, "comparison": comparison}
    return prose.sections(__file__, blocks | shared, template=template, escaped=True, **named)


def _allocation_figures(main, backdrop, planned):
    if main.law.grouping.by is not None:
        return []
    low, high = compute_range(main)
    last = max([TIMES * max(BEYOND) * high, *(at["compute"] for at in planned)])
    budgets = np.geomspace(low / 3, last, 60)
    figures = []
    if planned:
        figures += [
            allocation.allocation(main, {}, budgets=budgets, backdrop=backdrop),
            allocation.tokens_per_parameter(main, {}, budgets=budgets),
        ]
    return [*figures, allocation.optimal_loss(main, budgets=budgets)] if "E" in main["posterior"] else figures


def _parameters_table(entry):
    rows, by_group = [], entry.get("groups", {}).get("quantities", {})
    for name, q in entry["parameters"].items():
        if name.partition("[")[0] not in by_group:
            robust = entry["robust"].get(name)
            rows.append([name, tables.interval(q), f"{robust['robust_sd']:.3g}" if robust else "–"])
    return tables.of_rows(["quantity", "median [95%]", "robust sd"], rows)


def _estimators_table(estimates):
    rows = [
        [ESTIMATORS[name], _estimated(estimate), estimate.get("refused", estimate.get("message", "")) or ""]
        for name, estimate in estimates.items()
    ]
    return tables.of_rows(["estimator", "exponent of N* in C", "remark"], rows)


def _ranked(main):
    """Names of quantities whose ranks are drawn, scalars."""
    scalars = [name for name, x in main["posterior"].data_vars.items() if x.ndim == len(DRAWS)]
    usual = [name for name in ("E", "alpha", "beta", EXPONENT) if name in scalars]
    return usual or scalars[:4]


def _estimated(estimate):
    exponent = estimate.get("exponent") or (estimate.get("constants") or {}).get(EXPONENT)
    return "–" if exponent is None else f"{exponent:.3f}"

"""The page of laws of the loss fitted to a custom table of runs."""

from functools import partial

import numpy as np

from ....datasets.units import in_unit_of_loss, unit_of_loss
from ....errors import InputError
from ....inference.estimands.allocate import compute_range
from ....plots import plot_fit, plot_frontier, plot_ppc, plot_rollout, plot_valley
from ...groups import group_entries
from ...html import tables
from ...html.illustrations import pictured
from ..chinchilla.estimators import point_estimates
from . import ahead, groups
from .fronts import opened

QUESTION = "How do these runs scale?"
STEPS = ["larger runs"]
EXPONENT = "exponent_parameters"
BEYOND = (1, 10, 100)  # budgets after that of the largest run, as multiples of that of the next
TIMES = 10  # the compute of the next run over that of the largest, where it is not stated
NEAR = 0.001  # relative excess of the loss of sizes that are nearly the best
POINTS = 31
UNITS = {"parameters": "parameters", "tokens": "tokens", "training_flop": "FLOP", "loss": "nats per token"}
ESTIMATORS = {
    "huber_free_scale": "Huber, free scale",
    "huber_fixed_threshold": "Huber, fixed threshold",
    "isoflop": "iso-FLOP parabolas",
    "frontier": "best run by compute",
}


def entry(fit):
    """Return what the entry of a law has here: its ``groups``."""
    groups_of = group_entries(fit)
    return {"groups": groups_of} if groups_of else {}


def decisions(fits, laws, compute=None):
    """Return the best sizes, and point estimates, or why there are none; the next run has `compute` FLOP.

    The entry of a law without best sizes has afterwards ``no_allocation``, why.
    """
    allocation = []
    for name, fit in fits.items():
        # Each group has another optimum, beyond other runs.
        for planned in [{"group": group} for group in laws[name]["groups"]["rows"]] if "groups" in laws[name] else [{}]:
            largest = compute_range(fit, **planned)[1]
            budgets = [largest, *(factor * (compute or TIMES * largest) for factor in BEYOND)]
            try:
                near = {"near_optimal": NEAR} if "tokens" in fit.law.columns else {}  # not the best loss alone
                at = fit.allocate(budgets, **near, **planned).entries(name)
            except InputError as error:
                laws[name]["no_allocation"] = str(error)
                break
            allocation += [planned | row for row in at]
    runs = next(iter(fits.values())).rows
    try:
        points = point_estimates(runs).to_dict()
    except InputError as error:
        points = {name: {"refused": str(error)} for name in ESTIMATORS}
    return {"allocation": allocation, "point_estimates": points}


def first_screen(custom, stage):
    """Add the answers, the rollout and the grid of the best size to the document, and return the figures."""
    result = stage(STEPS[0], partial(ahead.predicted_runs, custom.fit), of={custom.best: custom.fit})
    custom.document["rollout"] = ahead.rollout_entry(result)
    custom.document["answers"] = ahead.answers(custom, 1 + len(BEYOND))
    custom.document["optimum"] = ahead.grid(custom)
    planned = _next_run(custom)
    figures = []
    if planned:
        compute, options = float(f"{planned['compute']:.6g}"), {"published": custom.published}
        options |= {"group": planned["group"]} if "group" in planned else {}
        figures += [custom.drawn(plot_fit, compute=compute, **options), custom.drawn(plot_valley, compute, **options)]
    if not isinstance(result, str):
        by, cutoff = custom.document["rollout"]["by"], custom.document["rollout"]["cutoff"]
        code = f'result = bs.rollout(fit.law, fit.rows, "{by}", {cutoff:.6g}, seed=1)\nbs.plot_rollout(result)'
        figures.append(pictured(plot_rollout, result, code=opened({custom.best: custom.fit}) + code))
    return figures


def _next_run(custom):
    """Return the entry of the next run, of the first group: after that of the largest run; None without."""
    planned = [at for at in custom.document["allocation"] if at["law"] == custom.best]
    return planned[1] if planned else None


def sections(custom):
    """Return the sections of the page."""
    runs = custom.fit.rows
    planned = [row for row in custom.document["allocation"] if row["law"] == custom.best]
    optima = [row for row in planned if "parameters" in row]
    blocks = {
        "allocated": tables.allocated(optima, unit=unit_of_loss(runs)) if optima else None,
        "frontier": _frontier(custom, "parameters" if optima else "loss") if planned else None,
        "groups": groups.shown(custom) if "groups" in custom.entry else None,
        "ppc": custom.drawn(plot_ppc),
        "parameters": _parameters_table(custom),
        "estimators": _estimators_table(custom.document["point_estimates"]),
    }
    units = UNITS | {"loss": in_unit_of_loss(UNITS["loss"], runs)}
    return custom.sections("runs.md.jinja", blocks, planned=planned, units=units)


def _frontier(custom, show):
    """Draw what is best at each budget up to that of the next run, with the backdrop."""
    if custom.fit.law.grouped_by is not None:
        return None
    first, last = (float(f"{x:.3g}") for x in (compute_range(custom.fit)[0], _next_run(custom)["compute"]))
    fits = {custom.best: custom.fit} | dict([custom.backdrop] if custom.backdrop else [])
    options = {"show": show, "published": custom.published}
    code = "import numpy as np\n" + opened({custom.best: custom.fit})
    code += f"budgets = np.geomspace({first:g}, {last:g}, {POINTS})\nbs.plot_frontier(fit, budgets"
    code += "".join(f", {name}={x!r}" for name, x in options.items()) + ")"
    budgets = np.geomspace(first, last, POINTS)
    return pictured(plot_frontier, fits, budgets, code="" if custom.backdrop else code, **options)


def _parameters_table(custom):
    """Return the table of constants, with their priors where they are sampled."""
    priors = custom.fit.law.described_priors()
    by_group, rows = custom.entry.get("groups", {}).get("quantities", {}), []
    for name, q in custom.entry["parameters"].items():
        if name.partition("[")[0] not in by_group:
            robust = custom.entry["robust"].get(name)
            sd = f"{robust['robust_sd']:.3g}" if robust else tables.MISSING
            rows.append([name, tables.interval(q, "{:.3g}"), sd, priors.get(name, tables.MISSING)])
    return tables.of_rows(["quantity", "median [95%]", "robust sd", "prior"], rows, fits=custom.best)


def _estimators_table(estimates):
    rows = []
    for name, estimate in estimates.items():
        exponent = estimate.get("exponent") or (estimate.get("constants") or {}).get(EXPONENT)
        remark = estimate.get("refused", estimate.get("message")) if exponent is None else ""
        rows.append([ESTIMATORS[name], tables.MISSING if exponent is None else f"{exponent:.3f}", remark or ""])
    return tables.of_rows(["estimator", "exponent of N* in C", "remark"], rows)

"""The page of a table of runs: how big the next model should be, whether larger runs are predicted, and the law."""

import math
from functools import partial

import numpy as np

from ....datasets.wording import printable
from ....errors import InputError
from ....inference.checks.verdict import FITS
from ....inference.comparison.rollout import rollout
from ....inference.estimands.allocate import compute_range
from ....inference.estimands.strength import grade_of_share, width
from ....inference.words import HIGH, LOW, MIDDLE
from ....models.loss.budget import training_flop
from ....plots import plot_fit, plot_frontier, plot_groups, plot_ppc, plot_rollout, plot_valley
from ...groups import NEW, TYPICAL, group_entries
from ...html import tables
from ...html.illustrations import pictured
from ..chinchilla.estimators import point_estimates
from ..front.answers import beyond, size_parts, write_texts
from ..front.budget import budget_grid, budgets_of
from .custom import called, opened

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
COMPUTE = "compute"
SHARE, FEWEST = 0.75, 12  # of the runs, which are fitted to predict the rest; fewer runs are not divided
NOMINAL = 0.9  # share of larger runs in the intervals that are counted
UNSEEN = {TYPICAL: "the typical group", NEW: "a new group"}
MOST_DRAWN = 40  # groups of a figure


def ask(kind):
    """Return the question that the page answers."""
    return f"How do these {kind} scale?"


def make_entry(fit):
    """Return what the entry of a law has here: its ``groups``."""
    groups_of = group_entries(fit)
    return {"groups": groups_of} if groups_of else {}


def decide(fits, laws, compute=None):
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
                at = fit.allocate(budgets, near_optimal=NEAR, **planned).entries(name)
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


def _allocated(custom):
    return [at for at in custom.document["allocation"] if at["law"] == custom.best]


def first_screen(custom, stage):
    """Add the answers, the rollout and the grid of the best size to the document, and return the figures."""
    result = stage(STEPS[0], partial(_predicted_runs, custom.fit), of={custom.best: custom.fit})
    document, allocated, figures = custom.document, _allocated(custom), []
    document["rollout"] = rolled = _rollout_entry(result)
    document["answers"] = [*(_next_model(custom, at) for at in allocated[1 :: 1 + len(BEYOND)]), _trust(custom)]
    document["optimum"] = _grid(custom)
    if allocated:
        compute, options = float(f"{allocated[1]['compute']:.6g}"), {"published": custom.published}
        options |= {"group": allocated[1]["group"]} if "group" in allocated[1] else {}
        figures += [custom.draw(plot_fit, compute=compute, **options), custom.draw(plot_valley, compute, **options)]
    if not isinstance(result, str):
        code = f'result = bs.rollout(fit.law, fit.rows, "{rolled["by"]}", {rolled["cutoff"]:.6g}, seed=1)\n'
        figures.append(pictured(plot_rollout, result, code=f"{opened(custom.best)}{code}bs.plot_rollout(result)"))
    return figures


def _predicted_runs(fit):
    """Fit the law to the smaller runs and predict the larger ones: a `Rollout`, or in words why there is none."""
    rows, record = fit.rows, fit.record
    if len(rows) < FEWEST:
        return f"With fewer than {FEWEST} runs none are left out to predict"
    by, values = _cut_along(fit)
    cutoff = float(f"{np.quantile(values, SHARE):.2g}")
    settings = {name: record["settings"][name] for name in ("draws", "tune", "chains")}
    try:
        return rollout(fit.law, rows, by, cutoff, seed=record["seed"], sampler=record["sampler"], **settings)
    except InputError:
        return "The runs below the largest ones do not inform the law"


def _cut_along(fit):
    """Return the name and the values of what larger runs are larger in: compute, or the size of a law of one size."""
    compute, size = training_flop(fit.rows), fit.law.columns[0]
    return (size, fit.rows[size]) if compute is None else (COMPUTE, compute)


def _rollout_entry(result):
    if isinstance(result, str):
        return {"refused": result}
    (cutoff,), (row,) = result[0].index, result[0].to_dict("records")
    names = ("fitted", "predicted", "coverage_90", "coverage_90_low", "coverage_90_high", "ok")
    return {"law": result[1].attrs["law"], "by": result[1].attrs["by"], "cutoff": float(cutoff)} | {
        name: row[name].item() if hasattr(row[name], "item") else row[name] for name in names
    }


def _next_model(custom, at):
    if "parameters" not in at:
        texts = write_texts("losses", {"at": at, "beyond": beyond(at), "law": called(custom.best)})
        return custom.answer(texts, {"width": width(at["loss"]), "decades": at["extrapolation"]})
    place = {name: at[name] for name in ("compute", "group") if name in at}
    question = {"question": f"How big should the next model of {printable(at['group'])} be?"} if "group" in at else {}
    sized = [a["law"] for a in custom.document["allocation"] if "parameters" in a and place.items() <= a.items()]
    others = [name for name in custom.rivals if name in sized]
    facts, laws, named = size_parts(custom.document, custom.best, others, label=called, **place, **question)
    return custom.answer(write_texts("sizes", named), facts._asdict(), laws)


def _trust(custom):
    entry = custom.document["rollout"]
    rejects = "No" if custom.entry["verdict"]["verdict"] == FITS else "A"
    named = entry | {"fit": f"{rejects} test rejects the law on its rows", "law": called(custom.best)}
    hits, count, decades = 0, 0, None
    if "refused" not in entry:
        ends = ("coverage_90_low", "coverage_90", "coverage_90_high")
        named["coverage"] = dict(zip((LOW, MIDDLE, HIGH), (entry[name] for name in ends), strict=True))
        ahead = _cut_along(custom.fit)[1].max() / entry["cutoff"]
        named["factor"], decades = f"{float(f'{ahead:.2g}'):,g}", math.log10(ahead)
        if entry["ok"]:
            hits, count = round(entry["coverage_90"] * entry["predicted"]), entry["predicted"]
        else:
            named["fit"] = "The fit to the smaller runs did not converge"
    share = (hits, count, NOMINAL)
    texts = write_texts("trust", named | {"grade": grade_of_share(*share)})
    return custom.answer(texts, {"decades": decades, "share": share})


def _grid(custom):
    fits, fit = custom.fits, custom.fit
    if fit.law.grouped_by is not None or _cut_along(fit)[0] != COMPUTE:
        return None
    alike = [name for name in custom.rivals if fits[name].law.grouped_by is None and "beta" in fits[name]["posterior"]]
    last = max((at["compute"] for at in custom.document["allocation"]), default=0.0)
    return budget_grid(fits, {name: called(name) for name in [custom.best, *alike]}, budgets_of(fit, last))


def sections(custom):
    """Return the sections of the page."""
    planned = _allocated(custom)
    blocks = {
        "allocated": tables.allocated(planned) if planned else None,
        "frontier": _frontier(custom) if planned else None,
        "groups": _show_groups(custom) if "groups" in custom.entry else None,
        "ppc": custom.draw(plot_ppc),
        "parameters": _parameters_table(custom),
        "estimators": _estimators_table(custom.document["point_estimates"]),
    }
    return custom.sections("runs.md.jinja", blocks, planned=planned, units=UNITS)


def _frontier(custom):
    if custom.fit.law.grouped_by is not None:
        return None
    first, last = (float(f"{x:.3g}") for x in (compute_range(custom.fit)[0], _allocated(custom)[1]["compute"]))
    fits = {custom.best: custom.fit} | dict([custom.backdrop] if custom.backdrop else [])
    code = f"import numpy as np\n{opened(custom.best)}budgets = np.geomspace({first:g}, {last:g}, {POINTS})\n"
    code += f"bs.plot_frontier(fit, budgets, show='parameters', published={custom.published})"
    budgets, options = np.geomspace(first, last, POINTS), {"show": "parameters", "published": custom.published}
    return pictured(plot_frontier, fits, budgets, code="" if custom.backdrop else code, **options)


def _parameters_table(custom):
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


def _show_groups(custom):
    groups, robust, blocks = custom.entry["groups"], custom.entry["robust"], []
    if "exponent" in groups:
        drawn = custom.draw(plot_groups) if len(groups["rows"]) <= MOST_DRAWN else None
        named = {(name, str(groups["rows"][name])): q for name, q in groups["exponent"]["by_group"].items()}
        unseen = {(word, tables.MISSING): groups["exponent"].get(name) for name, word in UNSEEN.items()}
        rows = [[*label, tables.interval(q, "{:.3f}")] for label, q in (named | unseen).items() if q]
        note = (
            "Median and 95% interval. The typical group has pooled quantities at the middle of the population. A new "
            "group is drawn from the population."
        )
        table = tables.of_rows(["group", "rows", "exponent of N* in C"], rows, note if any(unseen.values()) else None)
        blocks = [*filter(None, [drawn]), table]
    rows = []
    for name, by_group in groups["quantities"].items():
        for group, q in by_group.items():
            wide = robust.get(f"{name}[{group}]") or {"posterior_sd": q["sd"], "robust_sd": None}
            sds = [tables.MISSING if x is None else f"{x:.4g}" for x in (wide["posterior_sd"], wide["robust_sd"])]
            rows.append([name, group, tables.interval(q), *sds])
    note = "Robust sd is the sandwich standard error, by row, by run or by model size."
    blocks.append(tables.of_rows(["quantity", "group", "median [95%]", "sd", "robust sd"], rows, note))
    if groups["spread"]:
        rows = [[name, tables.interval(q), tables.interval(q["prior"])] for name, q in groups["spread"].items()]
        note = "Sd of what is pooled between groups, on log scale (log-odds of shares). Few groups say little of it."
        blocks.append(tables.of_rows(["spread of", "median [95%]", "prior"], rows, note))
    return blocks

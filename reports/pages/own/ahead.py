"""The answers of a report on runs: how big the next model should be, and whether larger runs are predicted."""

import math

import numpy as np

from ....datasets.wording import printable
from ....errors import InputError
from ....inference.checks.verdict import FITS
from ....inference.comparison.rollout import rollout
from ....inference.estimands.strength import grade_of_share, width
from ....inference.words import HIGH, LOW, MIDDLE
from ....models.loss.budget import training_flop
from ..front.answers import answer, beyond, size_parts
from ..front.budget import budget_grid, budgets_of
from .fronts import PLACE, called

COMPUTE = "compute"
SHARE, FEWEST = 0.75, 12  # of the runs, which are fitted to predict the rest; fewer runs are not divided
NOMINAL = 0.9  # share of larger runs in the intervals that are counted


def predicted_runs(fit):
    """Fit the law to the smaller runs and predict the larger ones: a `Rollout`, or in words why there is none."""
    rows, record = fit.rows, fit.record
    if len(rows) < FEWEST:
        return f"With fewer than {FEWEST} runs none are left out to predict"
    by, values = cut_along(fit)
    cutoff = float(f"{np.quantile(values, SHARE):.2g}")
    settings = {name: record["settings"][name] for name in ("draws", "tune", "chains")}
    try:
        return rollout(fit.law, rows, by, cutoff, seed=record["seed"], sampler=record["sampler"], **settings)
    except InputError:
        return "The runs below the largest ones do not inform the law"


def cut_along(fit):
    """Return the name and the values of what larger runs are larger in: compute, or the size of a law of one size."""
    compute, size = training_flop(fit.rows), fit.law.columns[0]
    return (size, fit.rows[size]) if compute is None else (COMPUTE, compute)


def rollout_entry(result):
    """Return the entry of results.json of `predicted_runs`."""
    if isinstance(result, str):
        return {"refused": result}
    (cutoff,), (row,) = result[0].index, result[0].to_dict("records")
    names = ("fitted", "predicted", "coverage_90", "coverage_90_low", "coverage_90_high", "ok")
    return {"law": result[1].attrs["law"], "by": result[1].attrs["by"], "cutoff": float(cutoff)} | {
        name: row[name].item() if hasattr(row[name], "item") else row[name] for name in names
    }


def answers(custom, factor):
    """Answer how big the next model should be, of each group, and whether larger runs are predicted.

    The allocation has `factor` budgets of each group, of which the second is that of the next run.
    """
    planned = [at for at in custom.document["allocation"] if at["law"] == custom.best]
    return [*(_next_model(custom, at) for at in planned[1::factor]), _trust(custom)]


def _next_model(custom, at):
    if "parameters" not in at:
        facts = {"width": width(at["loss"]), "decades": at["extrapolation"]}
        return custom.answered("losses", {"at": at, "beyond": beyond(at)}, **facts)
    group = {"group": at["group"]} if "group" in at else {}
    others = [name for name in custom.rivals if _has_size(custom.document, name, at, group)]
    question = {"question": f"How big should the next model of {printable(at['group'])} be?"} if group else {}
    parts = size_parts(custom.document, custom.best, others, at["compute"], called, **question, **group)
    return answer("sizes", PLACE, *parts, custom.diagnostics)


def _has_size(document, law, at, group):
    wanted = {"law": law, "compute": at["compute"], **group}
    return any("parameters" in a and all(a.get(k) == x for k, x in wanted.items()) for a in document["allocation"])


def _trust(custom):
    """Answer whether the law predicts runs larger than those that it was fitted to."""
    entry = custom.document["rollout"]
    rejects = "No" if custom.entry["verdict"]["verdict"] == FITS else "A"
    named = entry | {"fit": f"{rejects} test rejects the law on its rows"}
    hits, count, decades = 0, 0, None
    if "refused" not in entry:
        ends = ("coverage_90_low", "coverage_90", "coverage_90_high")
        named["coverage"] = dict(zip((LOW, MIDDLE, HIGH), (entry[name] for name in ends), strict=True))
        ahead = cut_along(custom.fit)[1].max() / entry["cutoff"]
        named["factor"], decades = f"{float(f'{ahead:.2g}'):,g}", math.log10(ahead)
        if entry["ok"]:
            hits, count = round(entry["coverage_90"] * entry["predicted"]), entry["predicted"]
        else:
            named["fit"] = "The fit to the smaller runs did not converge"
    share = (hits, count, NOMINAL)
    named["grade"] = grade_of_share(*share)
    return custom.answered("trust", named, decades=decades, share=share)


def grid(custom):
    """Tabulate the recommended optimum by budget; None of groups, whose budgets differ."""
    fits, fit = custom.fits, custom.fit
    if fit.law.grouped_by is not None or cut_along(fit)[0] != COMPUTE:
        return None
    alike = [name for name in custom.rivals if fits[name].law.grouped_by is None and "beta" in fits[name]["posterior"]]
    last = max((at["compute"] for at in custom.document["allocation"]), default=0.0)
    return budget_grid(fits, {name: called(name) for name in [custom.best, *alike]}, budgets_of(fit, last))

"""What answers need of tables of training runs, and of the laws of their losses, sizes and errors."""

import math
from contextlib import suppress

import numpy as np
import pandas as pd

from ...datasets.meaning.rows import place
from ...datasets.wording import listed, shorten_number, unknown
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.loss.budget import SIZES, training_flop
from ...models.loss.grouping import GROUP, GROUPS
from .. import intervals
from ..forecasts import entry, straight_line, with_columns
from ..words import flop, plain, sizes
from . import register_answers
from .record import FILE, FLOOR, MOST_LEVELS, Answer, Forecasts, KindAnswers

EXPONENT = "exponent_parameters"
AHEAD = 10  # times the largest run: a budget whose optimal size a fit prints
NAMES = {EXPONENT: "exponent of the best size", "E": FLOOR}
CONSTANTS = ("E", "alpha", "beta", "kappa", "omega", EXPONENT)
GROWTH = "Compute-optimal parameters grow as training compute to the power {x} ({of})."
ONE_BUDGET = 1.5  # times the least compute: runs of no more inform no exponent
OUTLYING, LEAST_OUTLYING, MOST_OUTLYING = 6, 0.01, 3  # spreads of the others, share of the loss, and rows of a sentence
FEW_DRAWS = 100  # of each chain, whose median is the law from which rows are far
NEAR = 0.01  # relative difference of sizes of a planned run and of the run that came


def _answers(fit):
    from ..quoted import quote_draws

    posterior, law = fit["posterior"], fit.law
    names = [name for name in (EXPONENT, "E") if name in posterior]
    names += [name for name in law.exponents if name in posterior and EXPONENT not in posterior]
    for name, draws in quote_draws(fit, {name: posterior[name] for name in names}).items() if names else ():
        label = NAMES.get(name, name)
        levels = [dim for dim in draws.dims if dim not in DRAWS]
        if not levels:
            yield Answer(label, intervals.summary(draws), plain, GROWTH if name == EXPONENT else "")
        elif len(levels) == 1 and draws.sizes[levels[0]] <= MOST_LEVELS:
            for level in draws[levels[0]].values.tolist():
                yield Answer(f"{label}, {level}", intervals.summary(draws.sel({levels[0]: level})))
    compute = training_flop(fit.rows)
    if compute is None:
        return
    largest = float(compute.max())
    with suppress(InputError):  # of a law without an optimum, or of one that needs to know more of the runs planned
        best = fit.allocate([largest, AHEAD * largest])
        for budget, what in ((largest, "the largest run"), (AHEAD * largest, f"{AHEAD} times it")):
            at = best.sel(compute=budget)
            yield Answer(f"parameters at {flop(budget)}, {what}", intervals.summary(at["parameters"]), sizes)
            yield Answer(f"tokens at {flop(budget)}", intervals.summary(at["tokens"]), sizes)


def _commands(fit):
    law = fit.law
    if law.observed == "parameters":
        return [("plot", "posterior", FILE, "--quantity", "delta", "--out", "delta.svg")]
    group = next(iter(fit.record["law"]["reference"].get(GROUPS, ())), None)
    of_group = [] if group is None else ["--column", f"{law.grouped_by}={group}"]
    if law.observed == "error":
        return [("predict", FILE, "--column", f"loss={fit.rows['loss'].min():.3g}", *of_group)]
    planned = [] if group is None else ["--plan", f"{GROUP}={group}"]
    sizes = [word for name in law.columns for word in _largest(fit.rows, name)]
    predicted, compute = [("predict", FILE, *sizes, *of_group)], training_flop(fit.rows)
    if compute is None:
        return predicted
    budget = shorten_number(AHEAD * compute.max(), 1)
    try:
        law.plan({})
    except InputError:  # of a law without an optimum
        return predicted
    allocated, drawn = ("allocate", FILE, "--compute", budget), ("plot", "fit", FILE, "--out", "fit.svg")
    return [(*allocated, *planned), *(predicted if planned else []), (*drawn, *planned)]


def _largest(rows, name):
    """Return the option of ``predict`` for a run of `AHEAD` times the largest compute, or the largest setting."""
    text = shorten_number((AHEAD**0.5 if name in (*SIZES, "tokens", "unique_tokens") else 1) * rows[name].max(), 2)
    return [f"--{name}", text] if name in ("parameters", "tokens") else ["--column", f"{name}={text}"]


def _details(fit, seed):
    from ..checks.sensitivity import prior_sensitive
    from ..checks.trade_off import trade_off_sentence
    from ..estimands.tuning import sentence

    sensitive = {} if fit.law.upstream else prior_sensitive(fit, CONSTANTS)
    entry = {"prior_sensitive": {name: intervals.finite(x) for name, x in sensitive.items()}}
    entry |= {"outlying": found} if (found := _outlying(fit)) else {}
    if fit.law.settings and not fit.law.grouped_by:
        rungs = fit.tuning()
        rows = [{"_".join(filter(None, key)): x for key, x in row.items()} for row in rungs.to_dict("records")]
        entry["tuning"] = {"sentence": sentence(rungs), "rungs": rows}
    return entry | ({"trade_off": barely} if (barely := trade_off_sentence(fit)) else {})


def _remarks(fit):
    entry = _details(fit, fit.record["seed"])
    if sensitive := entry["prior_sensitive"]:
        yield f"The prior still decides {', '.join(sensitive)} in part: vary it with --prior before you quote them"
    if "tuning" in entry:
        yield entry["tuning"]["sentence"]


def _facts(fit):
    compute = training_flop(fit.rows)
    if compute is not None and EXPONENT in fit["posterior"] and compute.max() < ONE_BUDGET * compute.min():
        yield (
            f"All runs have one budget, {flop(compute.max())}: they tell the best size there and no exponent, which "
            "the prior decides; add runs of another budget"
        )
    if outlying := _outlying(fit):
        far = [f"{row}, {abs(x):.1%} {'above' if x > 0 else 'below'}" for row, x in [*outlying.items()][:MOST_OUTLYING]]
        more = f", and {len(outlying) - len(far)} more" if len(outlying) > len(far) else ""
        yield f"Far from the law: {'; '.join(far)}{more}; check them, or choose rows by --where"
    yield from _going_with_size(fit)


def _going_with_size(fit):
    """Yield sentences on columns of text of which each value has sizes of its own, in a range of its own."""
    rows, column = fit.rows, fit.law.size_column
    for name in rows.select_dtypes(["object", "str"]) if column is not None and not fit.law.grouped_by else ():
        if rows.groupby(column)[name].nunique(dropna=False).max() > 1:
            continue
        sizes = rows.groupby(name)[column].agg(["min", "max", "nunique"]).sort_values("min")
        apart = (sizes["min"].to_numpy()[1:] > sizes["max"].to_numpy()[:-1]).all()
        if 1 < len(sizes) <= MOST_LEVELS and apart and sizes["nunique"].min() > 1:
            ends = [(value, *map(shorten_number, (of["min"], of["max"]))) for value, of in sizes.iterrows()]
            of = ", ".join(f"{value} from {low} to {high}" for value, low, high in ends)
            yield f"Column {name} goes with size ({of}): what it changes cannot be told from what size does"


def _outlying(fit):
    """Return by which share of the loss rows lie away from the law, by their names: those much farther than others."""
    rows, draws = fit.rows, fit.draws
    if fit.law.observed != "loss":
        return {}
    few = draws.thinned(-(-fit["posterior"].sizes["draw"] // FEW_DRAWS))
    away = rows["loss"].to_numpy() / np.median(few.mean().transpose(*DRAWS, ...), (0, 1)) - 1
    spread = 1.4826 * np.median(np.abs(away))
    far = rows.index[np.abs(away) > max(OUTLYING * spread, LEAST_OUTLYING)]
    return {place(rows, row): float(away[rows.index.get_loc(row)]) for row in far}


def _forecast(fit, at, benchmarks, plan, seed):
    if at is not None or len(benchmarks):
        raise InputError("a forecast of a loss takes the sizes of the run, not a date or benchmarks")
    if not plan:
        raise InputError("a forecast of a loss needs the sizes of the run, such as --plan parameters=7e9")
    if lacking := [name for name in fit.law.columns if name not in plan]:
        options = " ".join(f"--plan {name}=NUMBER" for name in lacking)
        raise InputError(f"a forecast of the law {fit.law.name} needs {listed(lacking)} of the run; add {options}")
    for name in plan:
        if name not in fit.law.columns:
            raise InputError(f"plan: {unknown(f'size of a run of the law {fit.law.name}', name, fit.law.columns)}")
    loss = fit.predict(pd.DataFrame([dict(plan)]), seed=seed)["loss"].values.ravel()
    rows, line = fit.draws.rows, None
    if {"parameters", "tokens"} <= {*rows, *plan}:
        compute = np.log(rows["parameters"] * rows["tokens"]).to_numpy()
        line = straight_line(compute, np.log(rows["loss"].to_numpy()), math.log(plan["parameters"] * plan["tokens"]))
        line = None if line is None else np.exp(line)
    return [entry("loss", loss, line)], {"plan": {name: float(x) for name, x in plan.items()}}


def _outcomes(document, later, within):
    plan = pd.Series(document["plan"])
    runs = with_columns(later, document, (*plan.index, "loss"))
    same = (abs(runs[plan.index] / plan - 1) <= NEAR).all(axis=1).to_numpy()
    label = runs["model"].astype(str) if "model" in runs else "run " + pd.Series(runs.index, runs.index).astype(str)
    return pd.DataFrame({"name": "loss", "model": label, "value": runs["loss"]})[same]


register_answers(
    KindAnswers(
        name="runs",
        needed="sizes and losses of runs need a law such as chinchilla",
        answers=_answers,
        figure="fit",
        commands=_commands,
        widens=True,
        widens_constants=True,
        drifts=True,
        details=_details,
        facts=_facts,
        remarks=_remarks,
        forecasts=Forecasts("nats/token", plain, _forecast, _outcomes),
    )
)

"""A study of how far laws miss outside their runs, and the drift learned from it: rollouts of ``tables/beyond.json``.

A law is fitted to the rows below a percentile of compute (`PERCENTILES`), at least `LEAST_ROWS`, and predicts the rest:
on the side ``above``. On the side ``below`` the axis of compute is turned round, and the smallest runs are predicted. A
law of one variable is fitted to the frontier of each table, its best run in each third of a decade, cut at every budget
(below, at every third). Scales of the drift maximise the log score of the runs predicted; sources, tables and cutoffs
have equal weights. For every figure of coverage the scales are learned from the five sources that are not predicted.
Tables that are not built in are read from a folder.
"""

import json
from functools import partial
from itertools import pairwise
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.datasets import sha256
from bayescaling.inference.comparison.rollout import LEVELS, scored
from bayescaling.inference.estimands.beyond import FRONTIER, SIDES, SUM, Drift, sides_outside
from bayescaling.models.draws import DRAWS
from scipy.optimize import minimize
from scipy.special import logsumexp
from study import laws_of, register

LAWS = {"coupled": bs.laws.Coupled(), "chinchilla": bs.laws.Chinchilla(), "offsets": bs.laws.Offsets()}
FRONTIER_LAW = bs.laws.Formula("loss ~ E + A * C**-a")
PERCENTILES = {"above": (40, 55, 70, 85), "below": (40, 55, 70)}  # of compute, from the other end below
LEAST_ROWS, LEAST_FOR_SIZE, LEAST_OF_FRONTIER, BINS_A_DECADE = 14, 55, 5, 3
EVERY = {"above": 1, "below": 3}  # budget of a frontier is a cutoff
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
SCALES = np.geomspace(1e-3, 3, 80)  # of errors of log loss, between which log densities are interpolated
START = np.log([0.015, 0.003, 0.5])
# Prior of the error of log N*: a scale of 2% to 110% a decade, and its spread between tables.
SIZE_GRID, SIZE_PRIOR = np.geomspace(0.01, 1, 30), (np.log(0.15), 1.0)
SPREAD_GRID = np.linspace(0, 2, 9)
BINS = (0, 0.3, 0.7, 1.2, 2.2, 4)


def read(folder):
    """Read the tables of the study: dict of (source, table) to DataFrame."""
    by_name = {}
    for entry in json.loads((Path(__file__).with_name("tables") / "beyond.json").read_text()):
        table = bs.load(entry["builtin"]) if "builtin" in entry else pd.read_csv(folder / entry["file"])
        for column, value in entry.get("where", {}).items():
            table = table[table[column] == value]
        table = table.rename(columns=entry.get("columns", {}))[["parameters", "tokens", "loss"]].astype(float)
        table = table.dropna().drop_duplicates().reset_index(drop=True)
        # Every row of a table of checkpoints counts as a run.
        by_name[entry["source"], entry["table"]] = bs.read(table, **entry["read"]) if "read" in entry else table
    return by_name


def frontier(table):
    """Return compute and loss of the best run in each part of a decade, of those that no run of less compute beats."""
    compute = 6 * table["parameters"] * table["tokens"]
    runs = pd.DataFrame({"C": compute, "loss": table["loss"]}).sort_values(["C", "loss"])
    best = runs[runs["loss"] <= runs["loss"].cummin()]
    return best.groupby(np.floor(BINS_A_DECADE * np.log10(best["C"]))).last().reset_index(drop=True)


def rolled(parts, name, law, table, side, options):
    """Fit the rows on one side of each cutoff: predictive draws of the others, and of log N* at the end of compute.

    Fits are of the law alone, without effects of sizes.
    """
    one_variable = "C" in table
    compute = table["C"] if one_variable else 6 * table["parameters"] * table["tokens"]
    place = compute if side == "above" else -compute  # grows towards the rows that are predicted
    end = float(compute[place.idxmax()])
    if one_variable:
        cuts = dict([*enumerate(np.sort(place))][LEAST_OF_FRONTIER :: EVERY[side]])
    else:
        cuts = {percent: np.percentile(place, percent) for percent in PERCENTILES[side]}

    def fitted(rows):
        return bs.Fitter(law.suited(rows), rows).fit(**options)

    def log_sizes(fit, *at):
        return np.log(fit.allocate(at, beyond="none", robust=False)["parameters"].values.reshape(-1, len(at)))

    def rollout(past, ahead, last):
        fit = fitted(past)
        sample = fit.draws.replicate(np.random.default_rng(1), ahead).transpose(*DRAWS, ...).values
        if one_variable:
            decades = np.abs(np.log10(ahead["C"].to_numpy() / last))
        else:
            decades = np.nan_to_num(sides_outside(law, past, ahead)[[*SIDES].index(side)])
        return {
            "sample": np.log(fit.law.from_scale(sample)).reshape(-1, len(ahead)).tolist(),
            "observed": np.log(ahead["loss"]).tolist(),
            "decades": decades.tolist(),
            "size": None if one_variable else log_sizes(fit, end)[:, 0].tolist(),
            "ahead": float(abs(np.log10(end / last))),
            "ok": bool(fit.diagnostics["ok"]),
        }

    def find_ends():
        sizes = log_sizes(fitted(table), compute.max(), compute.min())
        return dict(zip(SIDES, np.median(sizes, axis=0).tolist(), strict=True))

    later = None if one_variable else parts.entry(f"{name} at the ends", find_ends)[side]
    for cut, at in cuts.items():
        past, ahead = (table[rows].reset_index(drop=True) for rows in (place < at, place >= at))
        if len(past) >= LEAST_ROWS or one_variable:
            last = compute[place[place < at].idxmax()]
            of = parts.entry(f"{name} {side} {cut}", partial(rollout, past, ahead, last))
            arrays = {key: np.array(of[key]) for key in ("sample", "observed", "decades")}
            yield cut, of | arrays | ({} if one_variable else {"size": np.array(of["size"]), "later": later})


def weights(keys):
    """Return equal weights of sources, of tables in a source and of cutoffs in a table, which add up to 1."""
    cutoffs = {}
    for key in keys:
        cutoffs.setdefault(key[0], {}).setdefault(key[1], []).append(key)
    return {key: 1 / (len(cutoffs) * len(cutoffs[key[0]]) * len(cutoffs[key[0]][key[1]])) for key in keys}


def density_by_scale(rollout):
    """Return the log density of each run beyond under normal errors of each of `SCALES`, and the runs' decades."""
    beyond = rollout["decades"] > 0
    errors = (rollout["observed"] - rollout["sample"][::2])[:, beyond]
    density = [logsumexp(-0.5 * (errors / s) ** 2, axis=0) - np.log(s) - np.log(len(errors)) for s in SCALES]
    return np.array(density), rollout["decades"][beyond]


def log_score(density, decades, tau, step, spread):
    """Return the mean log density of runs whose error has the scale of a drift."""
    scale = np.hypot(tau * np.exp(spread * NODES)[:, None] * decades, step).clip(SCALES[0], SCALES[-1])
    place = np.log(scale / SCALES[0]) / np.log(SCALES[1] / SCALES[0])
    low, run = np.minimum(place.astype(int), len(SCALES) - 2), np.arange(len(decades))
    terms = density[low, run] + (place - low) * (density[low + 1, run] - density[low, run])
    return logsumexp(terms, axis=0, b=WEIGHTS[:, None] / WEIGHTS.sum()).mean()


def learned_loss(densities):
    """Find tau, step and spread of greatest log score over rollouts."""
    share = weights(densities)

    def cost(x):
        return -sum(share[key] * log_score(*densities[key], *np.exp(x)) for key in densities)

    return np.exp(minimize(cost, START, method="Nelder-Mead", options={"xatol": 0.01, "fatol": 1e-5}).x)


def size_density(rollout):
    """Return the log density of the later log N* by scale and spread of its error a decade, shape (scale, spread)."""
    errors = rollout["later"] - rollout["size"]
    density = np.empty((len(SIZE_GRID), len(SPREAD_GRID)))
    for i, scale in enumerate(SIZE_GRID):
        for j, spread in enumerate(SPREAD_GRID):
            sd = np.hypot(scale * np.exp(spread * NODES) * rollout["ahead"], 1e-3)[:, None]
            of_draws = logsumexp(-0.5 * (errors / sd) ** 2, axis=1) - np.log(sd[:, 0])
            density[i, j] = logsumexp(of_draws, b=WEIGHTS / WEIGHTS.sum())
    return density


def learned_size(densities):
    """Find the scale and spread of the error of log N* a decade, by their posterior; a source is one observation.

    The estimates are few and share tables: the greatest log score would set the scale to 0 whenever the one table
    whose optimum changed is left out.
    """
    share = weights(densities)
    log_scale = np.log(SIZE_GRID)
    log_density = len({key[0] for key in densities}) * sum(share[key] * densities[key] for key in densities)
    log_density = log_density - 0.5 * ((log_scale[:, None] - SIZE_PRIOR[0]) / SIZE_PRIOR[1]) ** 2 - 0.5 * SPREAD_GRID**2
    p = np.exp(log_density - log_density.max())
    p /= p.sum()
    centre = (p.sum(1) * log_scale).sum()
    return np.exp(centre), ((p.sum(1) * (log_scale - centre) ** 2).sum() + (p.sum(0) * SPREAD_GRID**2).sum()) ** 0.5


def predicted(rollout, drift, seed):
    """Score later runs, without a drift or with one."""
    sample = rollout["sample"]
    if drift is not None:
        sample = sample + drift.errors(np.random.default_rng(seed), rollout["decades"], (len(sample),))
    return scored(sample, rollout["observed"])


def figures(scores):
    """Compute coverage, CRPS, interval score and width (in % of the loss) of predictions."""
    inside = {level: _inside(scores, *ends) for level, ends in LEVELS.items()}
    low, high, y = (scores[name].values for name in ("q5", "q95", "observed"))
    penalty = 20 * (np.maximum(low - y, 0) + np.maximum(y - high, 0))
    return {f"coverage_{100 * level:.0f}": float(hits.mean()) for level, hits in inside.items()} | {
        "crps": 100 * float(scores["crps"].mean()),
        "interval_score": 100 * float((high - low + penalty).mean()),
        "width": 100 * float(np.median(high - low)),
    }


def _inside(scores, low, high):
    return ((scores["observed"] >= scores[low]) & (scores["observed"] <= scores[high])).values


def sizes(rollout, drift, seed):
    """Compute whether intervals of N* hold the estimate from all rows, and the CRPS of its logarithm."""
    size = rollout["size"]
    if drift is not None:
        size = size + drift.slopes(np.random.default_rng(seed), size.shape, "size") * rollout["ahead"]
    scores = scored(size[:, None], np.array([rollout["later"]]))
    held = {f"coverage_{100 * level:.0f}": float(_inside(scores, *ends)[0]) for level, ends in LEVELS.items()}
    return held | {"crps": float(scores["crps"].mean())}


def averaged(entries, share):
    """Average figures over rollouts by their weights, and by the weights within a source."""
    total = sum(share[key] for key in entries)
    names = next(iter(entries.values()))
    return {name: round(sum(share[key] * entries[key][name] for key in entries) / total, 4) for name in names}


def study(rollouts, seed):
    """Predict each source with the drift learned from the others, summarise, then learn from all."""
    keys, share = list(rollouts), weights(rollouts)
    sources = sorted({key[0] for key in keys})
    loss = {key: density_by_scale(rollouts[key]) for key in keys if (rollouts[key]["decades"] > 0).any()}
    of_size = [
        k for k in keys if rollouts[k]["size"] is not None and k[2] >= LEAST_FOR_SIZE and rollouts[k]["ahead"] > 1e-6
    ]
    size = {key: size_density(rollouts[key]) for key in of_size}

    def drift_from(some):
        tau, step, spread = learned_loss({key: x for key, x in loss.items() if key[0] in some})
        of_size = learned_size({key: x for key, x in size.items() if key[0] in some}) if size else (0.0, 0.0)
        return Drift(*(round(float(x), 5) for x in (tau, spread, step, *of_size)))

    others = {source: drift_from([s for s in sources if s != source]) for source in sources}
    entries = {"law alone": {}, "with drift": {}}
    by_decade = {name: {} for name in entries}
    of_sizes = {name: {} for name in entries}
    for key in keys:
        for name, drift in (("law alone", None), ("with drift", others[key[0]])):
            scores = predicted(rollouts[key], drift, seed)
            entries[name][key] = figures(scores)
            for low, high in pairwise(BINS):
                some = (rollouts[key]["decades"] > low) & (rollouts[key]["decades"] <= high)
                if some.any():
                    summary = figures(scores.isel(prediction=some))
                    held = {name: summary[name] for name in ("coverage_50", "coverage_90", "width")}
                    by_decade[name].setdefault(f"{low} to {high}", {})[key] = held
            if key in size:
                of_sizes[name][key] = sizes(rollouts[key], drift, seed)
    errors = [(rollouts[k]["later"] - np.median(rollouts[k]["size"])) / rollouts[k]["ahead"] for k in of_size]
    return drift_from(sources), {
        "learned_without": {source: drift._asdict() for source, drift in others.items()},
        "all": {name: averaged(by_key, share) for name, by_key in entries.items()},
        "by_source": {
            name: {s: averaged({k: x for k, x in by_key.items() if k[0] == s}, share) for s in sources}
            for name, by_key in entries.items()
        },
        "by_decades_beyond": {
            name: {bin_: averaged(x, weights(x)) for bin_, x in by_key.items()} for name, by_key in by_decade.items()
        },
        "optimal_size": {name: averaged(by_key, weights(by_key)) for name, by_key in of_sizes.items() if by_key},
        "rms_log_size_a_decade": round(float(np.sqrt(np.mean(np.square(errors)))), 4) if errors else None,
        "rollouts": len(keys),
        "converged": sum(rollouts[key]["ok"] for key in keys),
    }


WHAT = "how far laws miss outside the runs fitted, and the drift learned from it"


@register(WHAT, laws_of("chinchilla_runs", LAWS.values()), foreign=True, seed=1, draws=400, tune=500,
          chains=2, least_ess=200)  # fmt: skip
def beyond(parts, *, tables, **options):
    """Roll out each law over each table to both sides, and learn its drift on each."""
    read_tables = read(tables)
    laws = {name: (law, read_tables) for name, law in LAWS.items()}
    laws[FRONTIER] = FRONTIER_LAW, {key: frontier(rows) for key, rows in read_tables.items()}
    drifts, studies = {side: {} for side in SIDES}, {side: {} for side in SIDES}
    for side in SIDES:
        for name, (law, by_key) in laws.items():
            rollouts = {
                (*key, cut): rollout
                for key, rows in by_key.items()
                for cut, rollout in rolled(parts, f"{name} {key[1]}", law, rows, side, options)
            }
            drift, studies[side][name] = study(rollouts, options["seed"])
            drifts[side][name] = drift._asdict()
        # What is best in one variable has no rollouts.
        drifts[side][FRONTIER] |= {of: drifts[side][SUM][of] for of in ("size", "size_spread")}
    return {
        "tables": [
            {"source": source, "table": table, "rows": len(rows), "sha256": sha256(rows)}
            for (source, table), rows in read_tables.items()
        ],
        "drift": drifts,
        "laws": studies,
    }

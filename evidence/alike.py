"""A study of how alike the errors of two groups of runs are beyond these runs, from tables of groups.

A law with groups is fitted to the runs below a percentile of compute. Beyond, the log losses of each group drift from
the law by an error a decade of compute. ``alike`` is the correlation of these errors between groups: one minus the mean
square of their differences over twice that of the errors. The squares are less the variance of the posterior. The study
also counts how often intervals hold the difference of log losses of two later runs that differ by their group alone.
"""

from itertools import combinations

import bayescaling as bs
import numpy as np
from bayescaling.inference.estimands.beyond import decades_beyond, drift_of
from study import Study

LAWS = {"coupled": bs.laws.Coupled(), "chinchilla": bs.laws.Chinchilla()}
PERCENTILES = (40, 70)
LEAST_ROWS = 3  # of a group beyond its runs
LEAST_TOKENS_PER_PARAMETER = 20  # runs of fewer lie above any law; see the notes of overtraining_runs
CHOICES = (0.0, 0.25, 0.5, 0.75, 1.0)
INTERVAL = (0.05, 0.95)


def tables():
    """Return tables by name, each with its column of groups and its source."""
    corpora, gems = bs.load("overtraining_runs"), bs.load("gemstones")
    trained = corpora[corpora["tokens"] >= LEAST_TOKENS_PER_PARAMETER * corpora["parameters"]]
    in_all = gems["shape"].isin(gems["shape"][gems["series"] == "half learning rate"])
    by_name = {
        "corpora": (trained, "corpus", "overtraining_runs"),
        "learning rates": (gems[in_all & (gems["series"] != "cooldown")], "series", "gemstones"),
    }
    return {name: (_whole(table), by, source) for name, (table, by, source) in by_name.items()}


def _whole(table):
    source = table.attrs.get("source")
    table = table.reset_index(drop=True)
    table.attrs["source"] = source
    return table


def rolled(law, table, by, percent, seed, settings):
    """Fit the runs below a percentile: errors a decade of each group beyond, and coverage of differences."""
    compute = 6 * table["parameters"] * table["tokens"]
    below = compute < np.percentile(compute, percent)
    past, ahead = (table[rows].reset_index(drop=True) for rows in (below, ~below))
    fit = bs.fit(bs.laws.Grouped(law, by), past, seed=seed, **settings)
    decades, labels = decades_beyond(fit.law, fit.rows, ahead), ahead[by].astype(str).to_numpy()
    mean = np.log(fit.draws.mean(ahead).transpose("chain", "draw", "run").values.reshape(-1, len(ahead)))
    observed = np.log(ahead["loss"].to_numpy())
    slopes = {}
    for group in sorted(set(labels)):
        rows = (labels == group) & (decades > 0)
        if rows.sum() >= LEAST_ROWS:
            slopes[group] = ((observed - mean)[:, rows] @ decades[rows]) / (decades[rows] ** 2).sum()
    pairs = [slopes[one] - slopes[other] for one, other in combinations(slopes, 2)]
    return {
        "errors": [[float(x.mean()), float(x.std())] for x in slopes.values()],
        "differences": [[float(x.mean()), float(x.std())] for x in pairs],
        "held": _held(fit, ahead, labels, decades, observed, seed),
        "most_decades": float(decades.max()),
        "ok": bool(fit.diagnostics["ok"]),
    }


def _held(fit, ahead, labels, decades, observed, seed):
    """Count pairs of later runs whose difference of log losses lies in its interval, by how alike errors are."""
    rng = np.random.default_rng(seed)
    sample = fit.draws.replicate(rng, ahead).transpose("chain", "draw", "run").values
    shape, groups = sample.shape[:2], sorted(set(labels))
    sample, drift = sample.reshape(-1, len(ahead)), drift_of(fit.law)
    ways = {"law alone": sample}
    for alike in CHOICES:
        slopes = drift.slopes_of_groups(rng, shape, len(groups), alike).reshape(-1, len(groups))
        ways[f"{alike:g}"] = sample + slopes[:, [groups.index(label) for label in labels]] * decades
    pairs = [
        (one, other)
        for rows in ahead.groupby(["parameters", "tokens"]).indices.values()
        for one, other in combinations(rows, 2)
        if min(decades[one], decades[other]) > 0
    ]
    counts = {"pairs": len(pairs)}
    for way, draws in ways.items():
        ends = [np.quantile(draws[:, one] - draws[:, other], INTERVAL) for one, other in pairs]
        gaps = [observed[one] - observed[other] for one, other in pairs]
        counts[way] = sum(bool(low <= gap <= high) for (low, high), gap in zip(ends, gaps, strict=True))
    return counts


def likeness(entries):
    """Compute how alike errors are over rollouts, between 0 and 1."""
    errors, differences = (
        np.mean([x**2 - sd**2 for entry in entries for x, sd in entry[name]]) for name in ("errors", "differences")
    )
    return float(np.clip(1 - differences / (2 * errors), 0.0, 1.0))


def alike(parts, *, seed, **settings):
    """Roll out each law over each table; the least of the sources is what `worth` takes."""
    result, by_source, held = {}, {}, {}
    for name, (table, by, source) in tables().items():
        for law_name, law in LAWS.items():
            for percent in PERCENTILES:
                key = f"{name} {law_name} {percent}"
                entry = parts.entry(
                    key,
                    lambda law=law, table=table, by=by, percent=percent: rolled(
                        law, table, by, percent, seed, settings
                    ),
                )
                result[key] = entry
                by_source.setdefault(source, []).append(entry)
                total = held.setdefault(source, dict.fromkeys(entry["held"], 0))
                for way, count in entry["held"].items():
                    total[way] += count
    of_sources = {source: likeness(entries) for source, entries in by_source.items()}
    return {"alike": round(min(of_sources.values()), 3), "by_source": of_sources, "held": held, "rollouts": result}


STUDIES = {
    "alike": Study(
        "how alike the errors of groups of runs are beyond these runs",
        alike,
        lambda: [(bs.laws.Grouped(law, by), table) for table, by, _ in tables().values() for law in LAWS.values()],
        {"seed": 1, "draws": 300, "tune": 400, "chains": 2},
    )
}

"""The arrays that turn the family of `progress` into one law: its columns at the rows of a table, and its switches."""

import numpy as np

from . import family
from .benchmarks import VOCABULARY
from .priors import between, locations_and_spreads

SWITCHES = {
    "use_irreducible": lambda law: law.irreducible,
    "factor_sigmoid": lambda law: law.transformer == "sigmoid",
    "factor_exp": lambda law: law.transformer == "exp",
    "on_log": lambda law: law.scale == "log_loss",
    "student_t": lambda law: law.noise == "student_t",
    "use_papers": lambda law: bool(law.paper_effects),
    "use_scatter": lambda law: law.scatter == "by_benchmark",
    "use_walk": lambda law: law.pace == "random_walk",
    "pooling": lambda law: law.pooling,
    "penalty": lambda law: law.penalty or 0.0,
}


def reference(law, rows):
    """Return what coordinates refer to, fixed in every refit: the origin, and each column's mean within each level."""
    origin = law.origin(rows)
    points = law.points_of(rows, origin)
    level = _level(law, rows)
    weights = level / level.sum(0, keepdims=True).clip(min=1)
    scale = [_rate_scales(law, points, side) for side in (0, 1)]
    means = {
        name: [
            [float(x) / s for x in weights.T @ c.values(points)] if c else [0.0] * law.widths.levels for c, s in columns
        ]
        for name, columns in _slotted(law, scale).items()
    }
    vocabulary = weights.T @ _log_vocabulary(law, rows)
    counts = level.sum(0)
    return origin | {
        "means": means,
        "rate_scales": scale,
        "log_vocabulary": [float(x) for x in vocabulary],
        "level_shares": [float(x) for x in counts / counts.sum()],
    }


def design_arrays(law, rows, reference):
    """Return the arrays of `family.DESIGN` for some rows, by name; the reference is usually that of all rows."""
    points = law.points_of(rows, reference)
    level = _level(law, rows)
    sizes_n, sizes_d, drifts = law.slots
    widths = law.widths
    used = np.zeros(widths.levels)
    used[: len(law.levels)] = 1.0
    papers = rows["paper_id"].to_numpy() if "paper_id" in rows else np.arange(len(rows))
    _, paper = np.unique(papers, return_inverse=True)
    penalised = law.active(sampled_only=True)
    location, spread = locations_and_spreads(law)
    intercepts = np.eye(widths.levels)
    intercepts[1:, 0] = -1.0 if len(law.levels) > 1 else 0.0
    d = _columns(law, points, level, reference) | _drift_roles(law, reference) | switches(law)
    d |= {
        "row_count": len(rows),
        "two_terms": bool(law.predictors[1]),
        "use_vocabulary": law.spec.vocabulary,
        "observed": law.on_scale(rows["perplexity"].to_numpy(float)),
        "level": level,
        "weights_parameters": _weights(law, sizes_n, widths.sizes, reference),
        "weights_data": _weights(law, sizes_d, widths.sizes, reference),
        "weights_drifts": _weights(law, [c[0] or c[1] for c in drifts.values()], widths.drifts, reference),
        "levels": used,
        "benchmark": _benchmarks(law, rows),
        "log_vocabulary": _log_vocabulary(law, rows),
        "log_vocabulary_centre": np.asarray(reference["log_vocabulary"]),
        "transformer": rows["transformer"].to_numpy(float),
        "paper": paper,
        "paper_rows": np.bincount(paper),
        "intercepts": intercepts,
        "penalised": penalised.astype(float),
        "used": law.active(),
        "location": location,
        "spread": spread,
        "between": between(law),
    }
    return {name: np.asarray(d[name], int if name == "paper" else float) for name in family.DESIGN}


def switches(law):
    """Return the parts of the graph beyond what the 20 specifications need, and how far a law turns each on."""
    return {name: value(law) for name, value in SWITCHES.items()}


def _columns(law, points, level, reference):
    """Return the columns of both predictors in their slots, centred within each level, and the centres."""
    d = {}
    for name, columns in _slotted(law, reference["rate_scales"]).items():
        width = getattr(law.widths, name.partition("_")[0])
        d |= {name: np.zeros((len(level), width)), "centre_" + name: np.zeros((law.widths.levels, width))}
        for j, (column, scale) in enumerate(columns):
            if column is not None:
                centre = np.asarray(reference["means"][name][j])
                d["centre_" + name][:, j] = centre
                d[name][:, j] = column.values(points) / scale - level @ centre
    return d


def _slotted(law, scales):
    """Return the column of each slot and what divides it, by name of the array."""
    sizes_n, sizes_d, drifts = law.slots
    return {
        "sizes_parameters": [(c, 1.0) for c in sizes_n],
        "sizes_data": [(c, 1.0) for c in sizes_d],
        "drifts_parameters": [(c[0], s) for c, s in zip(drifts.values(), scales[0], strict=True)],
        "drifts_data": [(c[1], s) for c, s in zip(drifts.values(), scales[1], strict=True)],
    }


def _rate_scales(law, points, side):
    """Return the mean size that divides a rate column, so that its drift is yearly at the centre; else 1."""
    size = ("n", "d")[side]
    drifts = law.slots[2]
    return [float(points[size].mean()) if kind == "rate" and d[side] else 1.0 for (_, kind, _, _), d in drifts.items()]


def _benchmarks(law, rows):
    """Return which benchmark a row has, (row, level) of bool."""
    names = [*law.benchmarks, *[None] * (law.widths.levels - len(law.benchmarks))]
    return rows["benchmark"].to_numpy(object)[:, None] == np.array(names, object)


def _level(law, rows):
    if len(law.levels) > 1:
        return _benchmarks(law, rows).astype(float)
    return np.tile(np.eye(law.widths.levels)[0], (len(rows), 1))


def log_vocabulary(rows):
    """Return the logarithm of the vocabulary of each row, that of its benchmark where it is unknown."""
    return np.log(rows["vocabulary"].fillna(rows["benchmark"].map(VOCABULARY)).to_numpy(float))


def _log_vocabulary(law, rows):
    return log_vocabulary(rows) if law.spec.vocabulary else np.zeros(len(rows))


def _weights(law, columns, slots, reference):
    weights = np.zeros((slots, law.widths.levels))
    for j, column in enumerate(columns):
        if column.benchmark and len(law.levels) > 1:
            weights[j, law.benchmarks.index(column.benchmark)] = 1.0
        else:
            weights[j] = reference["level_shares"]
    return weights


def _drift_roles(law, reference):
    widths = law.widths
    roles = {name: np.zeros(widths.drifts) for name in ("both", "only_parameters", "only_data", "shared")}
    roles["by_benchmark"] = law.drifts_by_benchmark.astype(float)
    roles["walk"] = law.steps_of_walk.astype(float)
    coded = _coding(law, list(law.slots[2]), widths.drifts)
    roles |= {"coded_drifts_parameters": coded, "coded_drifts_data": coded.copy()}
    for side, name in enumerate(("parameters", "data")):
        keys = [(c.factors, c.kind, c.benchmark, c.architecture) for c in law.slots[side]]
        roles[f"coded_sizes_{name}"] = _coding(law, keys, widths.sizes)
    roles |= {name: np.zeros((widths.sizes, widths.drifts)) for name in ("uncentred_parameters", "uncentred_data")}
    year = reference["Yc"]
    for j, ((timed, kind, benchmark, architecture), (in_n, in_d)) in enumerate(law.slots[2].items()):
        role = "shared" if law.spec.shared_year or roles["walk"][j] else "both"
        role = "only_data" if in_n is None else "only_parameters" if in_d is None else role
        roles[role][j] = 1.0
        for side, name in enumerate(("parameters", "data")):
            if kind == "rate" and (in_n, in_d)[side] is not None:
                centred = timed == ("log(Y)",)
                factor = (year if centred else 1.0) / reference["rate_scales"][side][j]
                roles[f"coded_drifts_{name}"][:, j] *= factor
                for i, size in enumerate(law.slots[side]):
                    if centred and (size.benchmark, size.architecture) == (benchmark, architecture):
                        roles[f"uncentred_{name}"][i, j] = factor * np.log(year)
    return roles


def _coding(law, keys, slots):
    """Return slopes by benchmark as the paper codes them: the first benchmark's, and offsets of others from it."""
    coded = np.eye(slots)
    for j, (factors, kind, benchmark, architecture) in enumerate(keys):
        if benchmark not in (None, law.benchmarks[0]):
            coded[j, keys.index((factors, kind, law.benchmarks[0], architecture))] = -1.0
    return coded


def axes(name):
    """Return what each axis of an array of `family.DESIGN` is of, a list of str."""
    return family.DESIGN[name].split(")")[0].strip("(").replace(" ", "").split(",")

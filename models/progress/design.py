"""The data of a law of progress: what D is, its columns at rows, centred, and the priors of its coordinates."""

import json

import numpy as np

from ...datasets.wording import listed, quoted, shown
from ...errors import InputError
from ..loss.data_constrained import decayed
from . import density
from .priors import between, locations_and_spreads
from .specifications import KNOTS, SIDES, STEPS

VOCABULARY = {"ptb": 10_000, "wt2": 33_278, "wt103": 268_000}
DIMINISHING = 2.9157  # R_D* of data alone, Muennighoff et al. (2023), as Ho et al. (2024) use it
REPEATED = 15.39  # R_D* of data together with parameters, Muennighoff et al. (2023), section 6


def reference(law, rows):
    """Return what coordinates refer to, fixed in every refit: the origin, and each column's mean within each level."""
    start = origin(law, rows)
    points = points_of(law, rows, start)
    level = _level(law, rows)
    weights = level / level.sum(0, keepdims=True).clip(min=1)
    scales = [_rate_scales(law, points, side) for side in (0, 1)]

    def means(columns, divisors):
        none = [0.0] * len(law.levels)
        pairs = zip(columns, divisors, strict=True)
        return [[float(x) / s for x in weights.T @ c.values(points)] if c else none for c, s in pairs]

    sides = dict(enumerate(SIDES))
    sizes = {f"sizes_{name}": means(law.sizes[i], [1.0] * len(law.sizes[i])) for i, name in sides.items()}
    drifts = {f"drifts_{name}": means([d.columns[i] for d in law.drifts], scales[i]) for i, name in sides.items()}
    counts, vocabulary = level.sum(0), log_vocabulary(rows) if law.spec.vocabulary else np.zeros(len(rows))
    return start | {
        "means": sizes | drifts,
        "rate_scales": scales,
        "log_vocabulary": [float(x) for x in weights.T @ vocabulary],
        "level_shares": [float(x) for x in counts / counts.sum()],
    }


def centres(law, reference, side):
    """Return the means of a predictor's size columns and drifts by level, (level, size) and (level, drift)."""
    count = len(law.levels)
    means = (reference["means"][f"{sort}_{SIDES[side]}"] for sort in ("sizes", "drifts"))
    sizes, drifts = (np.reshape([x[:count] for x in columns], (-1, count)).T for columns in means)
    return sizes, drifts[:, law.places_of_drifts(side)]


def intercepts(law, reference, c, side):
    """Return the intercepts of a predictor at the origin of sizes and dates, (..., level), from `coefficients`."""
    _, name, share, slope = density.TERMS[side]
    centre_sizes, centre_drifts = centres(law, reference, side)
    at_origin = density.log_reducible(c) + np.log(c[share]) + c[slope] @ centre_sizes.T
    return at_origin + c[f"drift_{name}"] @ centre_drifts.T if centre_drifts.size else at_origin


def design_arrays(law, rows, reference):
    """Return the data of the density at some rows, by name; the reference is usually that of all rows.

    ``observed`` (row,) is the loss, or its logarithm. ``sizes_parameters``, ``drifts_parameters``, ``sizes_data`` and
    ``drifts_data``, (row, column), are centred within levels. ``location`` and ``spread``, (coordinate,), are those of
    the priors, and ``between`` what benchmarks have in common. Where the law has several levels, ``level`` (row, level)
    is 1 at that of the row, and ``level_shares`` counts them. The others are there where an option needs them.
    """
    points = points_of(law, rows, reference)
    location, spread = locations_and_spreads(law)
    d = {"observed": law.on_scale(rows["perplexity"].to_numpy(float))}
    level = _level(law, rows)
    for side, name in enumerate(SIDES[: 2 if law.predictors[1] else 1]):
        centre_sizes, centre_drifts = centres(law, reference, side)
        places = law.places_of_drifts(side)
        sizes = [column.values(points) for column in law.sizes[side]]
        drifts = [law.drifts[j].columns[side].values(points) / reference["rate_scales"][side][j] for j in places]
        d[f"sizes_{name}"] = np.stack(sizes, -1) - level @ centre_sizes
        if drifts:
            d[f"drifts_{name}"] = np.stack(drifts, -1) - level @ centre_drifts
        if law.penalty is not None:
            d[f"coding_{name}"] = density.coding(law, reference, side, centre_sizes, centre_drifts)
            d["row_count"] = len(rows)
    if len(law.levels) > 1:
        d |= {"level": level, "level_shares": reference["level_shares"][: len(law.levels)]}
    if law.scatter == "by_benchmark":
        d["benchmark"] = _benchmarks(law, rows)
    if law.spec.vocabulary:
        centre = reference["log_vocabulary"][: len(law.levels)]
        d |= {"log_vocabulary": log_vocabulary(rows), "log_vocabulary_centre": centre}
    if law.transformer:
        d["transformer"] = rows["transformer"].to_numpy(float)
    if law.paper_effects:
        papers = rows["paper_id"].to_numpy() if "paper_id" in rows else np.arange(len(rows))
        _, paper = np.unique(papers, return_inverse=True)
        d |= {"paper": paper, "paper_rows": np.bincount(paper)}
    d |= {"location": location, "spread": spread, "between": between(law)}
    return {name: np.asarray(array, int if name == "paper" else float) for name, array in d.items()}


def axes(name):
    """Return what the first axis of an array of `design_arrays` is of, None where it has no rows."""
    if name == "paper_rows":
        return "paper"
    others = ("location", "spread", "between", "level_shares", "log_vocabulary_centre", "row_count")
    return None if name in others or name.startswith("coding") else "row"


def log_vocabulary(rows):
    """Return the logarithm of the vocabulary of each row, that of its benchmark where it is unknown."""
    return np.log(rows["vocabulary"].fillna(rows["benchmark"].map(VOCABULARY)).to_numpy(float))


def _rate_scales(law, points, side):
    """Return the mean size that divides a rate column, so that its drift is yearly at the centre; else 1."""
    mean = float(points[("n", "d")[side]].mean())
    return [mean if drift.kind == "rate" and drift.columns[side] else 1.0 for drift in law.drifts]


def _benchmarks(law, rows):
    """Return which benchmark a row has, (row, benchmark) of 0 and 1."""
    names = np.array(law.benchmarks, object)
    return (rows["benchmark"].to_numpy(object)[:, None] == names).astype(float)


def _level(law, rows):
    return _benchmarks(law, rows) if len(law.levels) > 1 else np.ones((len(rows), 1))


def tokens(law, rows):
    """Return D by the law's definition, (row,)."""
    distinct = rows["dataset_tokens"].to_numpy(float)
    if law.data_definition == "dataset":
        return distinct
    epochs = rows["epochs"].fillna(1).to_numpy(float)
    if law.data_definition == "tokens_seen":
        return distinct * epochs
    if law.data_definition == "diminishing":
        return decayed(distinct, epochs, DIMINISHING)
    return decayed(distinct, epochs - 1, REPEATED)


def origin(law, rows):
    """Return N0, D0 and Y0, the least values of the rows, and the year at which exponents are reported."""
    year = rows["year"].to_numpy(float)
    return {
        "N0": float(rows["parameters"].min()),
        "D0": float(tokens(law, rows).min()),
        "Y0": float(year.min()),
        "Yc": float(np.exp(np.log(year).mean())),
    }


def points(law, origin, *, parameters, tokens, year, benchmark, transformer):
    """Return all factors at sizes, dates, benchmarks and architectures of one shape, with derivatives by date."""
    n, d = np.log(np.asarray(parameters, float) / origin["N0"]), np.log(np.asarray(tokens, float) / origin["D0"])
    year = np.asarray(year, float) + np.zeros_like(n)
    late = (year >= (np.inf if law.cutoff is None else law.cutoff)).astype(float)
    steps = {name: (knot, (year >= knot).astype(float)) for name, knot in zip(STEPS, KNOTS, strict=True)}
    return {
        "n": n,
        "d": d,
        "c": n + d,
        "y": year - origin["Y0"],
        "log(Y)": (np.log(year) - np.log(origin["Yc"])) * origin["Yc"],
        "after": late * (year - origin["Y0"]),
        "hinge": late * (year - (law.cutoff or 0)),
        "d y": np.ones_like(n),
        "d log(Y)": origin["Yc"] / year,
        "d after": late,
        "d hinge": late,
        **{name: since * (year - knot) for name, (knot, since) in steps.items()},
        **{f"d {name}": since for name, (_, since) in steps.items()},
        "benchmark": np.broadcast_to(np.asarray(benchmark, object), n.shape),
        "architecture": np.where(np.asarray(transformer, bool), "transformer", "other"),
    }


def points_of(law, rows, origin):
    """Return `points` at rows."""
    return points(
        law,
        origin,
        parameters=rows["parameters"].to_numpy(float),
        tokens=tokens(law, rows),
        year=rows["year"].to_numpy(float),
        benchmark=rows["benchmark"].to_numpy(object),
        transformer=rows["transformer"].to_numpy(),
    )


# Benchmarks -----------------------------------------------------------------------------------------------------------


def check_benchmarks(names):
    """Return two or more names of benchmarks as a tuple, from a sequence or from text with commas between them.

    Examples
    --------
    >>> check_benchmarks("ptb, wt103")
    ('ptb', 'wt103')
    """
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    if (
        not isinstance(names, list | tuple)
        or not all(isinstance(name, str) and name for name in names)
        or not 2 <= len(set(names)) == len(names)
    ):
        raise InputError(f"benchmarks: {shown(names)} are no two or more different names, such as ptb,wt103")
    return tuple(names)


def check_rows(law, rows, place):
    """Refuse rows of other benchmarks than the law has, a benchmark without a row, and one of unknown vocabulary."""
    if law.spec.vocabulary:
        lacking = rows["vocabulary"].isna() & ~rows["benchmark"].isin(VOCABULARY)
        if lacking.any():
            name = quoted(rows["benchmark"][lacking].iloc[0])
            raise InputError(
                f"{place}: column 'vocabulary' is empty in {lacking.sum()} rows of {name}, whose usual one is not "
                "known; fill it in, or leave such rows out with where= (--where)"
            )
    if not any(column.benchmark for predictor in law.predictors for column in predictor) and law.scatter == "one":
        return
    present = list(dict.fromkeys(rows["benchmark"]))
    absent = [name for name in law.benchmarks if name not in present]
    others = [name for name in present if name not in law.benchmarks]
    if not absent and not others:
        return
    what = f"no row of {absent[0]!r}, which {law.name} has an intercept for" if absent else ""
    if others:
        count = int(rows["benchmark"].isin(others).sum())
        what = f"{count} rows of {listed(others)}, which {law.name} has no intercept for"
    raise InputError(f"{place}: column 'benchmark' has {what}; {_fix(present, others)}")


def _fix(present, others):
    if len(present) < 2:
        return "choose a specification of one intercept, such as progress-1"
    names = json.dumps(present, ensure_ascii=False)
    fix = f"give the law benchmarks={names} (--option 'benchmarks={names}')"
    return f"{fix}, or leave such rows out with where= (--where)" if others else fix

"""Where a row lies: what D is, the origin that sizes and dates count from, and the factors of a specification there."""

import numpy as np

from ..loss.data_constrained import decayed
from .specifications import KNOTS, STEPS

DIMINISHING = 2.9157  # R_D* of data alone, Muennighoff et al. (2023), as Ho et al. (2024) use it
REPEATED = 15.39  # R_D* of data together with parameters, Muennighoff et al. (2023), section 6


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

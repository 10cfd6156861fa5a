"""The numbers of a report as one JSON document, ``results.json``."""

import json
import math

import numpy as np
import xarray as xr

from ..datasets.wording import p_value
from ..files import written_whole
from ..inference import calibration_table, law_of, loo, metadata
from ..inference.calibration.simulation import not_uniform, record_of
from ..inference.loo.refits import largest_k_left, unreliable
from ..inference.quantities.robust import quotable, robust_sds
from ..inference.quantities.verdict import judge, verdict_sentence
from ..models.draws import DRAWS, flatten

SCHEMA = 1
SIZES = ("parameters", "parameters_nonembedding", "tokens", "tokens_per_parameter", "epochs", "loss",
         "training_compute", "inference_compute", "total_compute", "saved", "parameters_near_low",
         "parameters_near_high", "tokens_near_low", "tokens_near_high")  # fmt: skip
RATIOS = ("tokens_per_parameter", "epochs")
BEYOND = ("extrapolation", "tokens_per_parameter_extrapolation")
NEAR = ("near_low", "near_high", "near_parameters", "near_probability")
ROBUST = ("clusters", "posterior_sd", "robust_sd", "ratio")
QUANTILES = {"q2.5": 0.025, "q50": 0.5, "q97.5": 0.975}


def summary(draws, *, ratio=False):
    """Mean, standard deviation and quantiles of draws.

    Parameters
    ----------
    draws : array_like
        Draws of one quantity, of any shape.
    ratio : bool
        The quantity is a ratio or a time: its mean and standard deviation need not exist and are null.

    Returns
    -------
    dict
        ``mean``, ``sd``, ``q2.5``, ``q50``, ``q97.5``; a value that is not finite is null.
    """
    values = np.ravel(np.asarray(draws, float))
    ratio = ratio or bool(np.isinf(values).any())
    moments = {"mean": None, "sd": None} if ratio else {"mean": values.mean(), "sd": values.std(ddof=1)}
    # Between a finite and an infinite draw there is no linear interpolation.
    method = "inverted_cdf" if np.isinf(values).any() else "linear"
    quantiles = dict(zip(QUANTILES, np.quantile(values, list(QUANTILES.values()), method=method), strict=True))
    return {name: finite(x) for name, x in (moments | quantiles).items()}


def finite(x):
    """Return `x` as a float, or None where it is None or not finite."""
    return None if x is None or not math.isfinite(x) else float(x)


def parameters(fit):
    """Summarise every scalar of the posterior, ``alpha_year[ptb]`` where it has levels.

    Of a law of runs that its rows reject the draws are those of `quotable`, so that one interval of each is printed.
    """
    draws = flatten(fit["posterior"].to_dataset())
    if law_of(fit).kind == "runs":
        quoted = quotable(fit, {name: xr.DataArray(x, dims=DRAWS) for name, x in draws.items()})
        draws = {name: x.values for name, x in quoted.items()}
    return {name: summary(x) for name, x in draws.items()}


def robust_entries(fit):
    """Posterior sd of each scalar of the posterior beside the largest of those that do not trust the law.

    By level where it has levels, ``alpha[c4]``, but for what is of one unit, whose rows are all that inform it.
    """
    entries, unit = {}, law_of(fit).unit
    kept = {name: x for name, x in fit["posterior"].to_dataset().data_vars.items() if unit not in x.dims}
    draws = flatten(xr.Dataset(kept))
    varying = {name: xr.DataArray(x, dims=DRAWS) for name, x in draws.items() if x.std() > 0}
    for name, table in robust_sds(fit, varying).items():
        if table.empty:
            continue
        widest = table["robust_sd"].idxmax()
        row = table.loc[widest]
        if not row["robust_sd"] > 0:  # nothing but Monte-Carlo error: the units say nothing of it
            continue
        entries[name] = {"by": widest} | {column: finite(row[column]) for column in ROBUST}
        entries[name]["posterior_mean"] = finite(draws[name].mean())
    return entries


def misfit_entries(fit):
    """Entries of the tests of the law of a fit, by test."""
    return judge(fit)["tests"]


def verdict_entry(fit):
    """Entry of the verdict on the law of a fit, in words and numbers, without its tests."""
    verdict = judge(fit)
    kept = {name: x for name, x in verdict.items() if name != "tests"}
    return kept | {"sentence": verdict_sentence(verdict)}


def rejected_by(misfit):
    """Name the tests of `misfit_entries` that reject the law, "" where none does."""
    return ", ".join(f"{test} ({p_value(found['p'])})" for test, found in misfit.items() if not found["fits"])


def law_entry(fit, result=None, points=None):
    """Entry of results.json of one fitted law.

    Parameters
    ----------
    fit : DataTree
    result : ELPDData, optional
        From `loo`, which is called if absent.
    points : dict of str to dict, optional
        Point estimates by estimator.
    """
    result = loo(fit) if result is None else result
    record = metadata(fit)
    law = law_of(fit)
    diagnostics = record["diagnostics"]
    return {
        "data": record["data"]["source"],
        "rows": record["data"]["rows"],
        "scale": law.scale,
        "noise": law.noise,
        "parameters": parameters(fit),
        "robust": robust_entries(fit),
        "point_estimates": points or {},
        "elpd_loo": finite(result.elpd),
        "elpd_se": finite(result.se),
        "p_loo": finite(result.p),
        "pareto_k_max": finite(largest_k_left(result)),
        "k_above_0.7": int(unreliable(result).sum()),
        "r_hat_max": finite(diagnostics["r_hat_max"]),
        "ess_bulk_min": finite(diagnostics["ess_bulk_min"]),
        "divergences": diagnostics["divergences"],
    }


def allocation_entries(allocation, law):
    """Entries of results.json of what `allocate` returned, one a thing asked."""
    dims = [dim for dim in ("compute", "target", "demand") if dim in allocation.dims]
    places = np.ndindex(*(allocation.sizes[dim] for dim in dims))
    chosen = (allocation.isel(dict(zip(dims, place, strict=True))) for place in places)
    return [{"law": law, **{dim: float(at[dim]) for dim in dims}, **_allocated(at)} for at in chosen]


def _allocated(at):
    """Quantities of one allocation; those of draws that do not reach a target are infinite, null as quantiles."""
    reached = at["reached"].values if "reached" in at else np.ones((), bool)
    # Of what is infinite in both its parts a ratio has no value: those of the draws that reach the target.
    found = {
        name: at[name].values[reached] if name == "tokens_per_parameter" else at[name] for name in SIZES if name in at
    }
    entry = {name: summary(x, ratio=name in RATIOS) for name, x in found.items()}
    entry |= {name: finite(at[name].median()) for name in BEYOND if name in at}
    if "reached" in at:
        entry |= {"p_reached": float(reached.mean()), "floor": summary(at["floor"])}
    if "near_low" in at:
        entry |= {"near_optimal": at.attrs["near_optimal"]} | {name: finite(at[name]) for name in NEAR}
    return entry


def provenance(fits):
    """Versions, seed, sampler, data fingerprints and priors of a set of fits."""
    records = {name: metadata(fit) for name, fit in fits.items()}
    first = next(iter(records.values()))
    return {
        "versions": first["versions"],
        "seed": first["seed"],
        "draws": first["settings"]["draws"],
        "chains": first["settings"]["chains"],
        "sampler": first["sampler"],
        "data": {r["data"]["source"]: r["data"]["sha256"] for r in records.values()},
        "priors": {name: r["priors"] for name, r in records.items()},
    }


def comparison_entries(table):
    """Entries of results.json of a table from `compare`, one a row."""
    return {
        str(name): {key: x if isinstance(x, str) else finite(x) for key, x in row.items()}
        for name, row in table.iterrows()
    }


def doubling_entries(times):
    """Return entries of results.json of a table from `gain_times` or `doubling_times`, one a row."""
    whole = {name for name, column in times.items() if column.dtype.kind == "i"}
    entries = comparison_entries(times)
    return {
        label: {name: int(x) if name in whole else x for name, x in entry.items()} for label, entry in entries.items()
    }


def comparison_document(table, **more):
    """Say of a table from `compare` or `compare_progress` which predicts best, with its entries."""
    return more | {"sentence": table.attrs["sentence"], "models": comparison_entries(table)}


def calibration_entry(found):
    """Entry of results.json of what `calibrate` found."""
    table = calibration_table(found)
    record = {name: record_of(found)[name] for name in ("truth", "seed", "settings", "data", "versions")}
    return record | {
        "simulations": table.attrs["simulations"],
        "not_converged": table.attrs["not_converged"],
        "not_uniform": not_uniform(table) if "p_uniform" in table else None,
        "quantities": comparison_entries(table),
    }


def to_json(document):
    """JSON text in which no value is NaN or infinite."""
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def write_text(text, path):
    """Write a whole file or none."""
    with written_whole(path, parents=False) as partial:
        partial.write_text(text, encoding="utf-8")

"""The numbers of a report as one JSON document, ``results.json``."""

import json

from ..datasets.files import evidence
from ..datasets.wording import p_value
from ..inference.checks.verdict import verdict_sentence
from ..inference.intervals import entries, finite, parameters, robust_entries, without_nonfinite

SCHEMA = 1


def check_entries(fit):
    """Return the entries of the check of a law: its tests as ``misfit``, and the ``verdict``."""
    return {"misfit": fit.check()["tests"], "verdict": verdict_entry(fit)}


def verdict_entry(fit):
    """Return the result of the check of a law, in words and numbers, without its tests."""
    verdict = fit.check()
    entry = {name: x for name, x in verdict.items() if name != "tests"}
    return entry | {"sentence": verdict_sentence(verdict)}


def rejected_by(misfit):
    """Return the names of tests, the ``misfit`` of `check_entries`, that reject the law; "" if none does."""
    return ", ".join(f"{test} ({p_value(result['p'])})" for test, result in misfit.items() if not result["fits"])


def law_entry(fit, high_k=None):
    """Return the entry of results.json of one fitted law; `high_k` as for `Fit.loo`."""
    from ..inference.comparison.loo import loo
    from ..inference.comparison.refits import largest_k_left, unreliable

    result = loo(fit, high_k=high_k)
    record = fit.record
    law = fit.law
    diagnostics = record["diagnostics"]
    return {
        "data": record["data"]["source"],
        "rows": record["data"]["rows"],
        "scale": law.scale,
        "noise": law.noise,
        "parameters": parameters(fit),
        "robust": robust_entries(fit),
        "point_estimates": {},
        "elpd_loo": finite(result.elpd),
        "elpd_se": finite(result.se),
        "p_loo": finite(result.p),
        "pareto_k_max": finite(largest_k_left(result)),
        "k_above_0.7": int(unreliable(result).sum()),
        "r_hat_max": finite(diagnostics["r_hat_max"]),
        "ess_bulk_min": finite(diagnostics["ess_bulk_min"]),
        "divergences": diagnostics["divergences"],
    }


def fit_entry(fit, *, seed=1, high_k=None):
    """Return the entry of one fit: `law_entry`, its answers, its tests, and what laws of its kind have besides."""
    from ..inference.checks.trade_off import known_floor
    from ..inference.fitted import record_of
    from ..inference.stored_answers import document

    entry = law_entry(fit, high_k=high_k) | document(fit) | check_entries(fit) | record_of(fit).details(fit, seed)
    return entry | ({"known_floor": floor} if (floor := known_floor(fit)) else {})


def provenance(records):
    """Return versions, seed, sampler, digests of data and priors of a set of fits, by their records."""
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


def records(fits):
    """Return what a report needs of the records of fits that it does not make itself, by name."""
    keys = ("versions", "seed", "settings", "sampler", "data", "priors", "diagnostics")
    return {name: {key: fit.record[key] for key in keys} for name, fit in fits.items()}


def studies(names):
    """Return when and how each of some long studies was made, by name."""
    keys = ("what", "made", "version", "command", "settings")
    return {name: {key: evidence(name)[key] for key in keys} for name in names}


def comparison_document(table, **more):
    """Return the entries of a table from `compare` or `progress.compare`, with which predicts best."""
    return more | {"sentence": table.attrs["sentence"], "models": entries(table)}


def calibration_entry(calibration):
    """Return the entry of results.json of a result of `calibrate`."""
    from ..inference.checks.uniformity import not_uniform

    table = calibration.table()
    record = {name: calibration.record[name] for name in ("truth", "seed", "settings", "data", "versions")}
    return record | {
        "simulations": table.attrs["simulations"],
        "not_converged": table.attrs["not_converged"],
        "not_uniform": not_uniform(table) if "p_uniform" in table else None,
        "quantities": entries(table),
    }


def to_json(document):
    """Return JSON text of a document; a number that is not finite is null, and ``not_finite`` lists what it was.

    Examples
    --------
    >>> json.loads(to_json({"sd": float("nan"), "q": [1.0, float("inf")]}))
    {'sd': None, 'q': [1.0, None], 'not_finite': {'sd': 'not a number', 'q.1': 'infinite'}}
    """
    return json.dumps(without_nonfinite(document), indent=1, allow_nan=False, ensure_ascii=False) + "\n"

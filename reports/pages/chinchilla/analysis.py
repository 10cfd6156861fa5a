"""The analysis of the Chinchilla law: fits, comparison, point estimates, decisions."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ....datasets import load
from ....inference import Fitter, compare, fit, intervals
from ....inference.quoted import quote_draws
from ....plots.published import PREFIX, chinchilla_estimates
from ... import results
from ...entries import fit_entry
from ...findings import Findings
from ...laws import CHINCHILLA as MAIN
from ...laws import DEFAULT, LAWS, PLANNED
from .estimators import point_estimates

NEAR_OPTIMAL = 0.001  # share of the loss within which sizes count as nearly optimal
EARLIER = (1e20, 3e20, 9e20)  # FLOP; runs below each predict the optimum at the largest run
BUDGETS = (1e19, 1e20, 1e21, 1e22, 1e23, 5.76e23, 1e24, 1e25, 1e26, 1e27)
STUDIES = ("chinchilla_coverage", "chinchilla_reading_error")
EARLIER_RUNS = "chinchilla: earlier runs"
STAGES = (*LAWS, "point estimates", "leave-one-out", "decisions", EARLIER_RUNS, "chinchilla: numbers")


@dataclass
class ChinchillaFindings(Findings):
    """What `analyse` returns."""

    comparison: object
    points: object
    trimmed: dict


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit laws to Chinchilla's runs under several noises, compare, estimate and decide; see `Page.analyse`."""
    runs = load("chinchilla_runs")
    options = {"seed": seed, "sampler": sampler, **settings}
    fits = {}
    for name, law in LAWS.items():
        fits[name] = stage(name, partial(fit, law, runs, posterior_predictive=name == MAIN, **options))
    points, trimmed = stage(
        "point estimates", lambda: (point_estimates(runs), point_estimates(runs, drop_highest=5).parametric)
    )
    stage("leave-one-out", lambda: {name: f.loo() for name, f in fits.items()}, of=fits)
    allocations = stage(
        "decisions", lambda: {name: fits[name].allocate(BUDGETS, near_optimal=NEAR_OPTIMAL) for name in PLANNED}
    )
    before = stage(EARLIER_RUNS, lambda: _earlier(fits[DEFAULT], runs, **options))
    findings = ChinchillaFindings(compare(fits), points, trimmed, studies=STUDIES, posteriors=fits)
    findings.document = stage(
        "chinchilla: numbers", lambda: _document(findings, allocations, before, published), of=fits
    )
    return findings


def _earlier(whole, runs, *, sampler, **options):
    """Compute N* at the largest run from the runs below each of `EARLIER` and from all, without robust widths or drift.

    It shows how estimates changed as runs grew, which no interval of one fit does.
    """
    compute = runs["training_flop"]
    largest, law = float(compute.max()), LAWS[DEFAULT]

    def entry(fitted, rows):
        at = fitted.allocate(largest, beyond="none", robust=False)["parameters"]
        return {"rows": len(rows), "parameters": intervals.summary(at), "ok": bool(fitted.diagnostics["ok"])}

    below = {cutoff: runs[compute < cutoff].reset_index(drop=True) for cutoff in EARLIER}
    before = [
        {"below": cutoff, "decades": float(np.log10(largest / rows["training_flop"].max()))}
        | entry(Fitter(law, rows, sampler=sampler).fit(**options), rows)
        for cutoff, rows in below.items()
    ]
    return {"law": DEFAULT, "compute": largest, "earlier": before, "all": entry(whole, runs)}


def _document(findings, allocations, before, published):
    document = {
        "laws": {
            name: fit_entry(f) | {"rank": int(findings.comparison.loc[name, "rank"])}
            for name, f in findings.posteriors.items()
        },
        "allocation": [entry for name in PLANNED for entry in allocations[name].entries(name)],
        "earlier_runs": before,
        "stacking": findings.comparison["weight"].to_dict(),
        "comparison": results.comparison_document(findings.comparison),
        "published": published_entries(findings.posteriors[MAIN], published),
        "calibration": {MAIN: findings.study("chinchilla_coverage")},
        "reading_error": findings.study("chinchilla_reading_error"),
    }
    document["laws"][MAIN]["point_estimates"] = {
        **{name: p["constants"] for name, p in findings.points.parametric.items()},
        **{f"{name}_without_highest_5": p["constants"] for name, p in findings.trimmed.items()},
        **{name: {"exponent_parameters": e["exponent"]} for name, e in findings.points.envelopes.items()},
    }
    return document


def published_entries(fit, published):
    """Return entries of published estimates: our quoted one, and its probability of a value at least as large."""
    table = chinchilla_estimates(published)
    posterior = fit["posterior"]
    quoted = quote_draws(fit, {name: posterior[name] for name in table["quantity"].unique() if name in posterior})
    return [
        {
            "quantity": PREFIX + row.quantity,
            "published": row.estimate,
            "source": row.source,
            "ours": intervals.summary(quoted[row.quantity], ratio=row.quantity == "exponent_parameters"),
            "p_at_least": float((quoted[row.quantity] >= row.estimate).mean()),
        }
        for row in table.itertuples()
        if row.quantity in quoted
    ]

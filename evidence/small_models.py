"""Studies of the small language models: runs left out whole, coverage, why E is missed, what an embedding weighs."""

from dataclasses import replace

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference import intervals
from bayescaling.inference.comparison.weights import sum_error
from bayescaling.reports.pages.small_lm.analysis import (
    BEST_RATE,
    COUPLED,
    MAIN,
    ONE_RATE,
    TARGET_ACCEPT,
    compared_floor,
    tables_of_schemes,
)
from study import Study

LAW, WITH_RUNS = bs.laws.Chinchilla(), bs.laws.Chinchilla(run_effects=True)
WEIGHTED = bs.laws.EmbeddingWeighted()
TOGETHER = bs.laws.Grouped(WEIGHTED, "corpus", shared=("omega",))
DRAWN = 400  # quantiles of a posterior that stand for its draws in a figure
READINGS, RATES = "readings of the second half of each run", "best rates for the three smallest sizes"


def _tables():
    """Return the table of each scheme."""
    return tables_of_schemes(bs.load("small_lm_runs"))[0]


def _curves():
    """Return the tables that have several readings of a run."""
    return {scheme: table for scheme, table in _tables().items() if table["run"].duplicated().any()}


def left_out(parts, *, seed, target_accept):
    """Leave out whole runs, under effects of runs and with readings as independent rows."""
    options = {"seed": seed, "target_accept": target_accept}
    return {
        scheme: parts.entry(scheme, lambda table=table: _left_out(table, options))
        for scheme, table in _curves().items()
    }


def _left_out(table, options):
    shared, apart = (bs.fit(law, table, **options) for law in (WITH_RUNS, LAW))
    elpd, independent = (fit.loo(by="run", seed=options["seed"])["elpd"] for fit in (shared, apart))
    posterior = apart["posterior"]
    return {
        "runs_left_out": {
            "elpd": float(elpd.sum()),
            "elpd_independent": float(independent.sum()),
            "difference": float((elpd - independent).sum()),
            "se": float(sum_error(elpd - independent)),
        },
        "independent_rows": {
            "E_minus_entropy": intervals.summary(posterior["E"] - float(table["irreducible_loss"].iloc[0])),
            "exponent": intervals.summary(posterior["exponent_parameters"]),
        },
    }


def coverage(parts, *, seed, simulations, draws, tune, target_accept):
    """Fit the law to tables simulated from the medians of its fit to one scheme."""
    table = _tables()[MAIN]
    fitted = parts.fit("fit", lambda: bs.fit(LAW, table, seed=seed, target_accept=target_accept))
    table_of_coverage = bs.calibrate(
        LAW,
        table,
        truth={name: float(fitted["posterior"][name].median()) for name in LAW.prior_of},
        simulations=simulations,
        seed=seed,
        draws=draws,
        tune=tune,
        target_accept=target_accept,
        out=parts.path("tables.nc"),
    ).table()
    counts = {name: table_of_coverage.attrs[name] for name in ("simulations", "not_converged")}
    return counts | {"quantities": intervals.entries(table_of_coverage)}


def _changes():
    """Return the law and the table of each change, by scheme and change, and of each scheme unchanged."""
    tables, laws = tables_of_schemes(bs.load("small_lm_runs"))
    unchanged = {scheme: (law, tables[scheme]) for scheme, law in laws.items()}
    changed = {
        (scheme, COUPLED): (bs.laws.Coupled(run_effects=law.run_effects), rows)
        for scheme, (law, rows) in unchanged.items()
    }
    law, rows = unchanged[ONE_RATE]
    one_rate = {
        "one sigma": (replace(law, scatter="one"), rows),
        "normal noise": (replace(law, noise="normal"), rows),
        "prior of a smaller reducible share": (replace(law, priors={"reducible_share": "Beta(2, 8)"}), rows),
        READINGS: (law, second_half(rows)),
        RATES: (law, with_best_rates(tables, 3)),
    }
    return changed | {(ONE_RATE, change): of for change, of in one_rate.items()}, unchanged


def second_half(rows):
    """Select the readings of the second half of each run."""
    last = rows.groupby("run")["tokens"].transform("max")
    return rows[rows["tokens"] > last / 2].reset_index(drop=True)


def with_best_rates(tables, count):
    """Take the runs of the smallest sizes from the scheme of best rates, those of the others from that of one rate."""
    smallest = sorted(tables[ONE_RATE]["parameters"].unique())[:count]
    parts = [
        rows[rows["parameters"].isin(smallest) == (scheme == BEST_RATE)]
        for scheme, rows in tables.items()
        if scheme in (ONE_RATE, BEST_RATE)
    ]
    table = pd.concat(parts, ignore_index=True)
    table.attrs["source"] = f"small_lm_runs, {ONE_RATE} and {BEST_RATE}"
    return table


def changed(parts, **options):
    """Fit coupled terms to every scheme, and one rate for all sizes with one thing changed at a time."""
    changes, unchanged = _changes()
    entropy = float(bs.load("small_lm_runs")["irreducible_loss"].iloc[0])
    fits = {
        of: parts.fit(", ".join(of), lambda law=law, rows=rows: bs.fit(law, rows, **options))
        for of, (law, rows) in changes.items()
    }
    differences = {
        scheme: fits[scheme, COUPLED].loo().elpd_i.values - bs.fit(law, rows, **options).loo().elpd_i.values
        for scheme, (law, rows) in unchanged.items()
    }
    return {
        "changed": {
            ", ".join(of): compared_floor(fit, entropy) | {"ok": fit.diagnostics["ok"]} for of, fit in fits.items()
        },
        "coupled_elpd": {
            scheme: {"elpd_diff": float(of.sum()), "dse": float(sum_error(of))} for scheme, of in differences.items()
        },
    }


def _with_runs_of_chinchilla():
    """Return the runs of the main scheme and those of Chinchilla, by corpus."""
    corpora = {"chinchilla": bs.load("chinchilla_runs"), "small models": _tables()[MAIN]}
    parts = [runs[list(WEIGHTED.needed)].assign(corpus=name) for name, runs in corpora.items()]
    table = pd.concat(parts, ignore_index=True)
    table.attrs["source"] = f"chinchilla_runs and small_lm_runs, {MAIN}"
    return table


def omega(parts, *, seed, target_accept):
    """Fit what a parameter of the embeddings weighs, on the small models and together with Chinchilla's runs."""
    fits = {
        "these runs": bs.fit(WEIGHTED, _tables()[MAIN], seed=seed, target_accept=target_accept),
        # Groups want smaller steps, and smaller yet where draws diverge.
        "with Chinchilla's runs": bs.fit(TOGETHER, _with_runs_of_chinchilla(), seed=seed),
    }
    return {label: parts.entry(label, lambda fit=fit: _omega(fit)) for label, fit in fits.items()}


def _omega(fit):
    draws = fit["posterior"]["omega"]
    levels = (np.arange(DRAWN) + 0.5) / DRAWN
    return intervals.summary(draws) | {
        "p_above_half": float((draws > 0.5).mean()),
        "ok": fit.diagnostics["ok"],
        "draws": np.quantile(draws.values, levels).round(6).tolist(),
    }


STUDIES = {
    "small_models_changed": Study(
        "the fitted floor of small language models with one thing changed",
        changed,
        lambda: [of for some in _changes() for of in some.values()],
        {"seed": 1, "target_accept": TARGET_ACCEPT},
    ),
    "small_models_omega": Study(
        "what an embedding parameter weighs, on small language models",
        omega,
        lambda: [(WEIGHTED, _tables()[MAIN]), (TOGETHER, _with_runs_of_chinchilla())],
        {"seed": 1, "target_accept": TARGET_ACCEPT},
    ),
    "small_models_left_out": Study(
        "small language models, runs left out whole",
        left_out,
        lambda: [(law, table) for table in _curves().values() for law in (WITH_RUNS, LAW)],
        {"seed": 1, "target_accept": TARGET_ACCEPT},
    ),
    "small_models_coverage": Study(
        "whether intervals of the Chinchilla law cover on small language models",
        coverage,
        lambda: [(LAW, _tables()[MAIN])],
        {"seed": 1, "simulations": 100, "draws": 500, "tune": 500, "target_accept": TARGET_ACCEPT},
    ),
}

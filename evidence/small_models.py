"""Studies of the small language models: runs left out whole, and whether intervals cover."""

import bayescaling as bs
from bayescaling.inference import intervals
from bayescaling.inference.comparison.weights import sum_error
from bayescaling.reports.pages.small_lm.analysis import MAIN, SCHEMES, TARGET_ACCEPT, of_scheme
from bayescaling.reports.results import comparison_entries
from study import Study

LAW, WITH_RUNS = bs.laws.Chinchilla(), bs.laws.Chinchilla(run_effects=True)


def _tables():
    """Return the table of each scheme."""
    runs = bs.load("small_lm_runs")
    return {scheme: of_scheme(runs, scheme) for scheme in SCHEMES}


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
    return counts | {"quantities": comparison_entries(table_of_coverage)}


STUDIES = {
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

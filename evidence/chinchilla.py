"""Studies of the laws of Chinchilla's runs: whether intervals cover, and an error with which losses were read."""

import bayescaling as bs
from bayescaling.inference.comparison.weights import sum_error
from bayescaling.reports.laws import CHINCHILLA, LAWS
from bayescaling.reports.results import calibration_entry, fit_entry
from study import Study

MAIN = LAWS[CHINCHILLA]
READ = bs.laws.Chinchilla(measurement_error=True)
TABLE = "chinchilla_runs"


def coverage(parts, *, seed, simulations, draws, tune):
    """Fit the law to tables simulated from its posterior, and rank the truths among the draws."""
    calibration = bs.calibrate(
        MAIN, bs.load(TABLE), simulations=simulations, seed=seed, draws=draws, tune=tune, out=parts.path("tables.nc")
    )
    ranks = {
        str(name): calibration["rank"].sel(quantity=name).values.tolist() for name in calibration["quantity"].values
    }
    return calibration_entry(calibration) | {"ranks": ranks}


def reading_error(parts, *, seed):
    """Fit the law with a uniform error of each loss's reading, and compare it with the law without."""
    del parts
    runs = bs.load(TABLE)
    fits = {name: bs.fit(law, runs, seed=seed) for name, law in (("with", READ), ("without", MAIN))}
    apart = fits["with"].loo().elpd_i.values - fits["without"].loo().elpd_i.values
    return fit_entry(fits["with"]) | {"elpd_diff": float(apart.sum()), "dse": float(sum_error(apart))}


STUDIES = {
    "chinchilla_coverage": Study(
        "whether intervals of the Chinchilla law cover",
        coverage,
        lambda: [(MAIN, bs.load(TABLE))],
        {"seed": 1, "simulations": 100, "draws": 500, "tune": 500},
    ),
    "chinchilla_reading_error": Study(
        "the Chinchilla law with an error of each loss's reading",
        reading_error,
        lambda: [(law, bs.load(TABLE)) for law in (READ, MAIN)],
        {"seed": 1},
    ),
}

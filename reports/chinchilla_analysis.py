"""Everything the report says of the Chinchilla law: fits, comparison, point estimates, decisions."""

from ..datasets import load
from ..inference import allocate, calibrate, compare, fit, loo
from ..models import Chinchilla
from . import chinchilla_page, results
from .estimators import point_estimates

NOISES = {
    "chinchilla": Chinchilla(),
    "chinchilla, reading error": Chinchilla(measurement_error=True),
    "chinchilla, huber noise": Chinchilla(noise="huber"),
    "chinchilla, normal noise": Chinchilla(noise="normal"),
}
BUDGETS = (1e19, 1e20, 1e21, 1e22, 1e23, 5.76e23, 1e24, 1e25, 1e26, 1e27)
SIMULATIONS = 100
STAGES = (*NOISES, "point estimates", "leave-one-out", "decisions", "calibration")


def analyse(stage, warned, published, *, seed=1, sampler=None, **settings):
    """Fit Chinchilla's runs under four noises, compare, estimate and decide.

    Parameters
    ----------
    stage, warned : callable
        Context managers that time a stage and collect its diagnostics.
    published : DataFrame
    seed : int
    sampler : str, optional
    **settings
        Of the sampler.

    Returns
    -------
    fits : dict of str to DataTree
    document : dict
        What results.json says.
    sections : callable
        Makes the sections of the page.
    """
    runs = load("chinchilla_runs")
    fits = {}
    for name, law in NOISES.items():
        with stage(name), warned():
            wanted = name == "chinchilla"
            fits[name] = fit(law, runs, seed=seed, sampler=sampler, posterior_predictive=wanted, **settings)
    with stage("point estimates"), warned():
        parametric, envelopes = point_estimates(runs)
        trimmed, _ = point_estimates(runs, drop_highest=5)
    with stage("leave-one-out"), warned():
        elpd = {name: loo(f) for name, f in fits.items()}
        comparison = compare(fits, results=elpd)
    with stage("decisions"):
        allocation = allocate(fits["chinchilla"], BUDGETS)
    with stage("calibration"), warned():
        calibrated = calibrate(NOISES["chinchilla"], runs, simulations=SIMULATIONS, seed=seed, sampler=sampler)
    document = {
        "laws": {
            name: results.law_entry(f, elpd[name]) | {"rank": int(comparison.loc[name, "rank"])}
            for name, f in fits.items()
        },
        "allocation": results.allocation_entries(allocation, "chinchilla"),
        "calibration": {"chinchilla": results.calibration_entry(calibrated)},
        "published": chinchilla_page.beside_published(fits["chinchilla"], published),
    }
    document["laws"]["chinchilla"]["point_estimates"] = {
        **{name: p.constants for name, p in parametric.items()},
        **{f"{name}_without_highest_5": p.constants for name, p in trimmed.items()},
        **{name: {"exponent_parameters": e.exponent} for name, e in envelopes.items()},
    }

    def sections():
        return chinchilla_page.sections(
            runs=runs, published=published, fits=fits, elpd=elpd, comparison=comparison, document=document,
            parametric=parametric, trimmed=trimmed, envelopes=envelopes, calibrated=calibrated,
        )  # fmt: skip

    return fits, document, sections

"""Whether intervals cover: a law fitted again and again to runs simulated from it at a real design.

References
----------
.. [1] Talts, S. et al. (2018). Validating Bayesian inference algorithms with simulation-based calibration.
   arXiv:1804.06788.
"""

import warnings

import numpy as np
import pandas as pd

from ..errors import DiagnosticWarning, InputError
from . import evaluate
from .fit import Fitter, seed_of

LEVELS = (0.5, 0.9)


def recover(law, runs, values, *, simulations=40, levels=LEVELS, seed=1, sampler=None, **settings):
    """Simulate losses of runs from known values, fit the law to each set, and ask what its intervals say of them.

    Parameters
    ----------
    law : Law
    runs : DataFrame
        The design: sizes and tokens; its losses are not looked at.
    values : mapping of str to float
        True value of every sampled quantity of the law.
    simulations : int
    levels : sequence of float
        Of equal-tailed intervals.
    seed : int
    sampler : str, optional
    **settings
        As for `fit`, with 500 draws and 500 of warm-up.

    Returns
    -------
    DataFrame
        A row for each quantity, the law's constants included: ``truth``; ``bias``, the mean over simulations of the
        posterior median less the truth, and its ``bias_se``; ``sd``, the mean posterior standard deviation; and
        ``coverage_50`` and the like, shares of simulations. ``attrs`` counts the ``simulations`` and those
        ``not_converged``, which are counted with the rest.

    Raises
    ------
    InputError
        If a value is missing, or an option cannot be used.
    """
    missing = [name for name in law.prior_of if name not in values]
    if missing:
        raise InputError(f"values lacks {', '.join(missing)}; give every sampled quantity of the {law.name} law")
    if simulations < 2:
        raise InputError(f"simulations is {simulations}; give at least 2")
    settings = {"draws": 500, "tune": 500} | settings
    seed = seed_of(seed)
    truth = {name: float(values[name]) for name in law.prior_of}
    reference = law.reference(runs)
    truth |= {name: float(x) for name, x in law.derived(truth, reference).items()}
    fitter = None
    found, unconverged = [], 0
    for s in range(simulations):
        losses = law.simulate(values, runs, np.random.default_rng([seed, s]), reference)
        simulated = runs.assign(loss=losses)
        fitter = fitter or Fitter(law, simulated, sampler=sampler)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DiagnosticWarning)
            fit = fitter.fit(simulated, seed=seed + s, **settings)
        unconverged += any(issubclass(w.category, DiagnosticWarning) for w in caught)
        found.append(_of(evaluate.posterior_of(fit), truth, levels))
    result = _gathered(found, truth, levels)
    result.attrs |= {"simulations": simulations, "not_converged": unconverged}
    return result


def _of(posterior, truth, levels):
    tails = [(1 - level) / 2 for level in levels]
    said = {}
    for name in truth:
        draws = np.ravel(posterior[name])
        low, high = np.quantile(draws, tails), np.quantile(draws, [1 - t for t in tails])
        said[name] = (np.median(draws), draws.std(ddof=1), *((low <= truth[name]) & (truth[name] <= high)))
    return said


def _gathered(found, truth, levels):
    rows = {}
    for name, true in truth.items():
        values = np.array([one[name] for one in found], float)
        error = values[:, 0] - true
        rows[name] = {"truth": true, "bias": error.mean(), "bias_se": error.std(ddof=1) / len(error) ** 0.5}
        rows[name] |= {"sd": values[:, 1].mean()}
        rows[name] |= {f"coverage_{100 * level:g}": values[:, 2 + i].mean() for i, level in enumerate(levels)}
    return pd.DataFrame.from_dict(rows, orient="index")

"""The posterior of a stored fit on the real line: what moment matching moves and evaluates."""

import numpy as np
import pandas as pd
import xarray as xr

from ...models import Progress
from ..fitting import evaluate
from ..fitting.progress import State
from ..storage import law_of, runs_of

QUANTITY = "quantity"


def unconstrained(fit):
    """Draws on the real line, and the two functions of them that moment matching needs.

    Returns
    -------
    draws : DataArray
        Dims (chain, draw, quantity).
    log_density : callable
        Of such draws, up to a constant: (chain, draw).
    log_likelihood_i : callable
        Of such draws and the index of an observation: (chain, draw).
    """
    return _of_progress(fit) if isinstance(law_of(fit), Progress) else _of_law(fit)


def _of_law(fit):
    law, reference = evaluate.law_and_reference(fit)
    priors = law.prior_of
    posterior = evaluate.posterior_of(fit)
    runs = runs_of(fit)
    draws = xr.concat(
        [priors[name].to_unconstrained(posterior[name]) for name in priors], dim=pd.Index(list(priors), name=QUANTITY)
    ).transpose("chain", "draw", QUANTITY)

    given = {name: posterior[name] for name in law.given}

    def constrained(moved):
        pairs = {name: priors[name].from_unconstrained(moved.sel({QUANTITY: name}, drop=True)) for name in priors}
        values = xr.Dataset({name: x for name, (x, _) in pairs.items()})
        log_prior = sum(xr.apply_ufunc(priors[n].frozen.logpdf, x) + jacobian for n, (x, jacobian) in pairs.items())
        return values.merge(evaluate.derived(law, values, reference | given)), log_prior

    def log_density(moved):
        values, log_prior = constrained(moved)
        beside = evaluate.log_density_beside(law, values, reference)
        return log_prior + beside + evaluate.log_likelihood(law, values, runs).sum("run")

    def log_likelihood_i(moved, i):
        values, _ = constrained(moved)
        return evaluate.log_likelihood(law, values, runs.iloc[[i]]).isel(run=0, drop=True)

    return draws, log_density, log_likelihood_i


def _of_progress(fit):
    state = State.of(fit)
    active = state.law.active()
    draws = fit["unconstrained_posterior"]["z"].rename(coordinate=QUANTITY)

    def moved_state(moved):
        values = moved.transpose("chain", "draw", QUANTITY).values
        z = np.zeros((*values.shape[:2], len(active)))
        z[..., active] = values
        return State(state.law, state.reference, state.rows, z)

    def as_draws(values, moved):
        return xr.DataArray(
            values, dims=("chain", "draw"), coords={k: moved[k] for k in ("chain", "draw") if k in moved.coords}
        )

    def log_density(moved):
        return as_draws(moved_state(moved).log_density(), moved)

    def log_likelihood_i(moved, i):
        return as_draws(moved_state(moved).log_likelihood()[..., i], moved)

    return draws, log_density, log_likelihood_i

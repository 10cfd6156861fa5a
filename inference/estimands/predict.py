"""Losses of runs not made, draw by draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...datasets.requirements import positive_columns
from ..needs import of_kind
from .beyond import check_beyond, decades_beyond, drift_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from ..fitted import Fit


def predict(
    fit: Fit, runs: pd.DataFrame, *, noise: bool = True, beyond: str = "drift", seed: int | None = None
) -> xr.Dataset:
    """Predict losses of runs, draw by draw.

    Parameters
    ----------
    fit : Fit
    runs : DataFrame
        Sizes of runs; the columns that the law needs (``parameters`` and ``tokens`` for Chinchilla's).
    noise : bool
        Losses of single runs (default), or the law's mean without the scatter of runs. A reading error is left out: the
        prediction is of the loss, not of its reading. Under run effects one effect is drawn for each run that a column
        ``run`` names, as of a new run. Without that column each row is a separate run.
    beyond : {"drift", "none"}
        Whether runs beyond the largest fitted one carry the drift of the law: in compute, size or tokens. It is learned
        from rollouts of other tables (see `rollout`). It has one error a decade for all of them, and one for each run
        where `noise` is drawn. Intervals without it are too narrow: over ten public tables those of 90% hold about 70%
        of later runs.
    seed : int, optional
        Seed of the noise and the drift; that of the fit by default.

    Returns
    -------
    Dataset
        ``loss`` in nats per token, dims (chain, draw, run), with the runs' sizes as coordinates. So is ``beyond``, the
        decades above the largest fitted run in compute, size or tokens, 0 inside.

    Raises
    ------
    InputError
        If a column is missing, a size is not a positive number, or `beyond` is unknown.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.laws.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> fit.predict(runs.head(3))["loss"].dims
    ('chain', 'draw', 'run')
    """
    check_beyond(beyond)
    draws = of_kind(fit, "runs").draws
    law = draws.law.without_reading_error
    positive_columns(runs, law.columns, purpose="a prediction")
    rng = np.random.default_rng(fit.record["seed"] if seed is None else seed)
    if noise:
        loss = law.from_scale(law.draws(draws.named(), runs, draws.reference).replicate(rng))
    else:
        loss = draws.mean(runs).transpose(..., "run")
    decades = decades_beyond(draws.law, draws.rows, runs)
    if beyond == "drift" and decades.any():
        loss = loss * np.exp(drift_of(law).errors(rng, decades, loss.shape[:2], scatter=noise))
    sizes = {column: ("run", np.asarray(runs[column], float)) for column in law.columns} | {"beyond": ("run", decades)}
    return loss.to_dataset(name="loss").assign_coords(run=np.arange(len(runs)), **sizes)

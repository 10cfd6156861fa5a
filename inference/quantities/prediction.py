"""Losses of runs not made, draw by draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...datasets.requirements import positive_columns
from ..storage import draws_of, metadata

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def predict(fit: xr.DataTree, runs: pd.DataFrame, *, noise: bool = True, seed: int | None = None) -> xr.Dataset:
    """Posterior predictive losses of runs.

    Parameters
    ----------
    fit : DataTree
    runs : DataFrame
        Sizes of runs; the columns that the law needs (``parameters`` and ``tokens`` for Chinchilla's).
    noise : bool
        Losses of single runs (default), or the law's mean without the scatter of runs. A reading error is left out: the
        prediction is of the loss, not of its reading. Under run effects one effect is drawn for each run that a column
        ``run`` names, as of a new run; without that column each row is a run of its own.
    seed : int, optional
        Seed of the noise; that of the fit by default.

    Returns
    -------
    Dataset
        ``loss`` in nats per token, dims (chain, draw, run), with the runs' sizes as coordinates.

    Raises
    ------
    InputError
        If a column is missing or a size is not a positive number.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> bs.predict(fit, runs.head(3))["loss"].dims
    ('chain', 'draw', 'run')
    """
    draws = draws_of(fit, "runs")
    law = draws.law.without_reading_error
    positive_columns(runs, law.columns, purpose="a prediction")
    if noise:
        rng = np.random.default_rng(metadata(fit)["seed"] if seed is None else seed)
        loss = law.from_scale(law.draws(draws.named(), runs, draws.reference).replicate(rng))
    else:
        loss = draws.mean(runs).transpose(..., "run")
    sizes = {column: ("run", np.asarray(runs[column], float)) for column in law.columns}
    return loss.to_dataset(name="loss").assign_coords(run=np.arange(len(runs)), **sizes)

"""Runs with their final losses, forecast where they have not ended, as a table that laws across sizes are fitted to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...datasets import read, require
from ...datasets.wording import quoted, unknown
from ...errors import InputError
from ..fitted import Fit
from .forecast import losses

FLAT = 3.0**0.5  # half-width over standard deviation of a uniform error


def ends(
    fits: Mapping[str, Fit],
    until: float | Mapping[str, float],
    runs: pd.DataFrame,
    *,
    schedule: str | Mapping[str, str] | None = None,
    seed: int = 1,
) -> pd.DataFrame:
    """Forecast the final losses of runs of several sizes, for a law across sizes.

    A law with ``measurement_error`` adds the errors of the forecasts, as independent ones, to the scatter of the runs.
    It takes them as uniform: half-widths are those of the same standard deviation. Under normal noise, which few runs
    have by default, this is exact.

    Parameters
    ----------
    fits : mapping of str to Fit
        Fits of the law ``curve`` by the names of the runs, those that have not ended.
    until : float or mapping of str to float
        Where runs end on their clock, as for `losses`: one place for all, or by run.
    runs : DataFrame
        With the columns ``run``, ``parameters`` and ``tokens``, of the whole run. Of runs that have ended, which have
        no fit, also ``loss``.
    schedule : str or mapping of str to str, optional
        As for `losses`, one for all or by run.
    seed : int

    Returns
    -------
    DataFrame
        The rows of `runs` with the median ``loss``, its standard deviation ``loss_sd`` and ``loss_halfwidth``. Both are
        0 of runs that have ended.

    Raises
    ------
    InputError
        If a run has not one row, or lacks its end, schedule or loss; or as for `losses`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> import pandas as pd
    >>> curves = bs.load("schedule_curves")
    >>> run = "100M cosine_24000"
    >>> readings = curves[(curves["run"] == run) & (curves["step"] < 15_000)]
    >>> fits = {run: bs.fit("curve", readings, seed=1, draws=300, tune=500)}
    >>> runs = pd.DataFrame({"run": ["25M", run], "parameters": [25e6, 1e8], "tokens": 20e9, "loss": [3.28, np.nan]})
    >>> table = ends(fits, 24_000, runs, schedule="cosine:peak=3e-4,warmup=2160,final=3e-5")
    >>> (table["loss_sd"] > 0).tolist()
    [False, True]
    """
    require(runs, ["run"], purpose="a table of runs")
    names = runs["run"].astype(str)
    for name in fits:
        if (count := int((names == str(name)).sum())) != 1:
            raise InputError(f"run {quoted(name)} of the fits has {count} rows in the table of runs; give it one")
    table = runs.assign(loss=runs.get("loss", np.nan), loss_sd=0.0)
    for name, fit in fits.items():
        place = {"until": _of_run(until, name, "until"), "schedule": _of_run(schedule, name, "schedule")}
        of = str(name) if (fit.rows["run"] == str(name)).any() else None
        last = losses(fit, **place, run=of, seed=seed)[1][..., -1].values
        table.loc[names == str(name), ["loss", "loss_sd"]] = np.median(last), last.std()
    if (missing := table["loss"].isna()).any():
        raise InputError(f"run {quoted(names[missing].iloc[0])} has neither a fit nor a loss; give one of them")
    return read(table.assign(loss_halfwidth=FLAT * table["loss_sd"]))


def _of_run(value: Any, name: str, option: str) -> Any:
    """Return the value of an option for a run: one for all, or by run."""
    if not isinstance(value, Mapping):
        return value
    if name not in value:
        raise InputError(unknown(f"{option}: run", name, value))
    return value[name]

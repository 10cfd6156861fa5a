"""What a year of progress was worth in training compute at the sizes of the evaluations: the compute-equivalent gain.

The rate at a compute-optimal size (`growth`) is of a size and a date that may lie far from every row. Here nothing is
extrapolated. At each row the law gives the yearly fall of the log reducible loss, and its fall per log unit of compute,
parameters and tokens growing alike. The mean of the first over the mean of the second is a growth rate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.kinds.evaluations import EVALUATIONS
from ...errors import InputError
from ...models.draws import DRAWS, draw_coordinates
from ...models.progress.density import log_terms
from ...models.progress.growth import doubling_quantiles
from ..fitted import Fit, of_kind
from ..intervals import QUANTILES, IntervalTable, finite, printed
from ..quoted import quote_draws
from ..words import LOW, MIDDLE
from .rate_at_optimum import NOTE, PROBABILITIES, linear, rate_summary

SPLIT_YEAR = 2019.0
AVERAGED = f"{NOTE} One fit of all rows: its rate is averaged over those named."


def row_slopes(draws, *, year=None):
    """Compute how the log reducible loss of each row changes: its yearly fall, and its fall per log unit of compute.

    With t the two terms at the row, f their yearly falls and a, b the exponents at its date, ``(t_N f_N + t_D f_D) /
    (t_N + t_D)`` and ``(t_N a + t_D b) / (2 (t_N + t_D))``, N and D growing alike. A specification of compute alone has
    one term, which both sizes move. With a `year` the rate is taken at that date, instead of the date of each row;
    sizes, terms and exponents stay the row's. Both DataArrays have dims (chain, draw, evaluation).
    """
    law, rows, origin = draws.law, draws.rows, draws.reference
    sizes = {"parameters": rows["parameters"].to_numpy(float), "tokens": law.tokens(rows)}
    rest = {
        "year": rows["year"].to_numpy(float),
        "benchmark": rows["benchmark"].to_numpy(object),
        "transformer": rows["transformer"].to_numpy(),
    }
    here = law.points(origin, **sizes, **rest)
    # Columns are linear in the logarithms of the sizes, so that a step of one is a derivative.
    larger = law.points(origin, **{name: np.e * x for name, x in sizes.items()}, **rest)
    sides = (0,) if not law.predictors[1] else (0, 1)
    logs = np.stack(log_terms(law, draws.c, draws.design))
    then = here if year is None else law.points(origin, **sizes, **(rest | {"year": year}))
    falls = [linear(draws, side, lambda column: column.yearly_change(then)) for side in sides]
    slopes = [linear(draws, side, lambda column: column.values(larger) - column.values(here)) / 2 for side in sides]
    weights = np.exp(logs - logs.max(0))
    weights = weights / weights.sum(0)
    coords = draw_coordinates(*draws.z.shape[:2])
    return tuple(
        xr.DataArray((weights * np.stack(parts)).sum(0), dims=(*DRAWS, "evaluation"), coords=coords)
        for parts in (falls, slopes)
    )


def compute_equivalent_gain(fit: Fit, *, rows: np.ndarray | None = None, year: float | None = None) -> xr.DataArray:
    """Compute the growth of effective compute at the sizes and dates of the evaluations, draw by draw.

    Parameters
    ----------
    fit : Fit
        Of a `Progress` law.
    rows : ndarray of bool, shape (row,), optional
        Rows of `fit.rows` that are averaged over; all by default.
    year : float, optional
        Date at which the rate of progress is taken, instead of the date of each row.

    Returns
    -------
    DataArray, dims (chain, draw)
        Log units of compute a year. ``attrs["rows"]`` counts the rows, ``attrs["not_positive"]`` is the share of draws
        and rows in which more compute does not lower the loss.

    Raises
    ------
    InputError
        If no row is chosen.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.progress.fit_all(specifications=[7], draws=500, tune=500)[7]
    >>> 6 < float(12 * np.log(2) / compute_equivalent_gain(fit).median()) < 20
    True
    """
    fall, slope = row_slopes(of_kind(fit, EVALUATIONS).draws, year=year)
    return _gain(fall, slope, rows)


def _gain(fall, slope, rows=None):
    if rows is not None:
        fall, slope = fall.isel(evaluation=np.flatnonzero(rows)), slope.isel(evaluation=np.flatnonzero(rows))
    if not fall.sizes["evaluation"]:
        raise InputError("no row is chosen; the gain is a mean over rows")
    gain = fall.mean("evaluation") / slope.mean("evaluation")
    return gain.assign_attrs(rows=fall.sizes["evaluation"], not_positive=float((slope <= 0).mean()), units="1/year")


def gains_by_group(fit):
    """Return `compute_equivalent_gain` over all rows, those of each benchmark, and those before and from 2019."""
    draws = of_kind(fit, EVALUATIONS).draws
    slopes, table = row_slopes(draws), draws.rows
    late = (table["year"] >= SPLIT_YEAR).to_numpy()
    groups = {"all": np.ones(len(table), bool)}
    groups |= {name: (table["benchmark"] == name).to_numpy() for name in table["benchmark"].unique()}
    groups |= {f"before {SPLIT_YEAR:.0f}": ~late, f"from {SPLIT_YEAR:.0f}": late}
    return {name: _gain(*slopes, chosen) for name, chosen in groups.items() if chosen.any()}


def gain_times(fit: Fit, *, probabilities: Sequence[float] = PROBABILITIES) -> IntervalTable:
    """Compute the doubling time of the gain at the sizes of the evaluations: all rows, by benchmark and by date.

    Parameters
    ----------
    fit : Fit
        Of a `Progress` law.
    probabilities : sequence of float

    Returns
    -------
    IntervalTable
        A DataFrame, which prints a short table.
        Indexed by ``rows``: ``all``, each benchmark, ``before 2019`` and ``from 2019``. The columns are ``count``,
        ``p_progress`` (probability that the rate is positive) and quantiles of the doubling time in months (infinite
        is "never"), robust where the rows reject the law. ``not_positive`` is as in `compute_equivalent_gain`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.progress.fit_all(specifications=[7], draws=500, tune=500)[7]
    >>> bs.progress.gain_times(fit).loc["all", "count"]
    np.int64(231)
    """
    entries = {}
    for name, gain in quote_draws(fit, gains_by_group(fit)).items():
        entries[name] = {"count": gain.attrs["rows"]} | rate_summary(gain, probabilities)
        entries[name]["not_positive"] = gain.attrs["not_positive"]
    table = pd.DataFrame.from_dict(entries, orient="index").rename_axis("rows").astype({"count": int})
    title = f"Doubling time of effective compute in months, {fit.law.label}, at the evaluations' own sizes and dates"
    return printed(table, "months", title, AVERAGED, fit, quoted="all" if MIDDLE in table and LOW in table else None)


def fall(fit):
    """Return quantiles of the yearly ``factor`` by which compute falls and of the ``halving`` time in months."""
    levels = list(QUANTILES.values())
    rate = quote_draws(fit, compute_equivalent_gain(fit)).values.ravel()
    quantiles = {"factor": np.exp(np.quantile(rate, levels)), "halving": doubling_quantiles(rate, levels)}
    return {name: dict(zip(QUANTILES, map(finite, values), strict=True)) for name, values in quantiles.items()}

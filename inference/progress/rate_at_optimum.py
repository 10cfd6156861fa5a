"""Growth rates of effective compute at compute-optimal sizes, and their doubling times, draw by draw.

Every time is read off quantiles of a rate (`models.growth.doubling_quantiles`), for a rate may be near or below zero.

References
----------
.. [1] Ho, A. et al. (2024). Algorithmic progress in language models. arXiv:2403.05812.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.kinds.evaluations import EVALUATIONS
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.loss.budget import log_slots
from ...models.progress import growth
from ...models.progress.design import VOCABULARY, intercepts
from ..fitted import Fit, of_kind
from ..intervals import IntervalTable, named, printed
from ..words import flop

COMPUTE, YEAR = 1e25, 2023.0
NOTE = "Medians and 95% intervals; never: no progress."
PROBABILITIES: tuple[float, ...] = (0.025, 0.5, 0.975)
SLOPES = (("alpha", "drift_parameters"), ("beta", "drift_data"))


def linear(draws, side, evaluate):
    """Compute the sum, over the columns of one predictor, of slopes times values of columns: (chain, draw, point).

    The side is 0 for the predictor of parameters and 1 for that of data. `evaluate` maps a column to its values, or
    their changes, (point,).
    """
    sizes, dates = SLOPES[side]
    law, scales = draws.law, draws.reference["rate_scales"][side]
    columns = [(draws.c[sizes][..., i], column, 1.0) for i, column in enumerate(law.sizes[side])]
    columns += [
        (draws.c[dates][..., i], law.drifts[j].columns[side], scales[j])
        for i, j in enumerate(law.places_of_drifts(side))
    ]
    return sum(slope[..., None] * evaluate(column) / scale for slope, column, scale in columns)


class GrowthAt:
    """The law at one date, benchmark and architecture: ``exp(p - a log N) + exp(q - b log D)`` for each draw.

    Attributes
    ----------
    p, q, a, b : ndarray, shape (chain, draw)
        NaN for q and b where there is one term; then a is the exponent of compute and p refers to ``log(N D)``.
    """

    def __init__(self, draws, *, year=YEAR, benchmark=None, transformer=True):
        self.draws, law = draws, draws.law
        benchmark = law.benchmarks[0] if benchmark is None else benchmark
        self.benchmark, self.transformer, origin = benchmark, transformer, draws.reference
        self.at = {"year": year, "benchmark": benchmark, "transformer": transformer}
        self.single = not law.predictors[1]
        self.level = law.levels.index(benchmark) if len(law.levels) > 1 else 0
        eta_n, eta_d = self._etas(self._point())
        self.a = eta_n - self._etas(self._point(parameters=np.e))[0]
        self.p = eta_n + self.a * (np.log(origin["N0"]) + (np.log(origin["D0"]) if self.single else 0.0))
        if self.single:
            self.q = self.b = np.full_like(self.a, np.nan)
        else:
            self.b = eta_d - self._etas(self._point(tokens=np.e))[1]
            self.q = eta_d + self.b * np.log(origin["D0"])

    def _point(self, parameters=1.0, tokens=1.0):
        """Return the point of the typical sizes times factors."""
        origin = self.draws.reference
        sizes = {"parameters": [origin["N0"] * parameters], "tokens": [origin["D0"] * tokens]}
        return self.draws.law.points(origin, **sizes, **self.at)

    def _etas(self, points):
        law, reference, c = self.draws.law, self.draws.reference, self.draws.c

        def eta(side):
            return intercepts(law, reference, c, side)[..., self.level] - self._linear(side, "values", points)

        return eta(0), None if self.single else eta(1)

    def _linear(self, side, method, points):
        """Compute `linear` of a column's values or yearly changes at one point, (chain, draw)."""
        return linear(self.draws, side, lambda column: getattr(column, method)(points)[:1])[..., 0]

    def falls(self, log_parameters, log_tokens):
        """Return yearly falls of the two exponents at sizes of each draw."""
        origin = self.draws.reference

        def of(side, log_size, zero, name):
            still = self._linear(side, "yearly_change", self._point())
            moved = self._linear(side, "yearly_change", self._point(**{name: np.e}))
            return still + (moved - still) * (log_size - np.log(zero))

        if self.single:
            first = of(0, log_parameters + log_tokens - np.log(origin["D0"]), origin["N0"], "parameters")
            return first, np.zeros_like(first)
        return of(0, log_parameters, origin["N0"], "parameters"), of(1, log_tokens, origin["D0"], "tokens")

    def optimum(self, compute):
        """Return log N and log D of least loss, (chain, draw); any split of the compute where only compute counts."""
        if self.single:
            half = 0.5 * log_slots(compute)
            return np.full_like(self.a, half), np.full_like(self.a, half)
        return growth.optimum(compute, self.p, self.q, self.a, self.b)

    def terms(self, log_parameters, log_tokens):
        """Return the two terms of the reducible loss, the transformer factor left out."""
        if self.single:
            first = np.exp(self.p - self.a * (log_parameters + log_tokens))
            return first, np.zeros_like(first)
        return growth.terms(log_parameters, log_tokens, self.p, self.q, self.a, self.b)

    def loss(self, log_parameters, log_tokens):
        """Return the mean loss at sizes, nats per token, (chain, draw)."""
        c = self.draws.c
        usual = self.draws.reference["log_vocabulary"][self.level]
        log_vocabulary = np.log(VOCABULARY[self.benchmark]) if self.benchmark in VOCABULARY else usual
        floor = c["irreducible"][..., self.level] + c["vocabulary"][..., 0] * log_vocabulary
        factor = np.exp(c["log_factor"][..., 0]) if self.transformer else 1.0
        return floor + factor * sum(self.terms(log_parameters, log_tokens))

    def rate(self, compute=COMPUTE):
        """Compute the growth of effective compute in log units a year, (chain, draw); NaN where there is no optimum."""
        fall_n, fall_d = self.falls(*self.optimum(compute))
        return fall_n / self.a if self.single else growth.yearly_rate(fall_n, fall_d, self.a, self.b)

    def years_to_double(self, compute=COMPUTE):
        """Return the years that save half of the compute by optimal scaling, appendix G of Ho et al. (2024)."""
        here, there = self.optimum(compute), self.optimum(2 * compute)
        return growth.years_to_match(*self.terms(*here), *self.falls(*here), sum(self.terms(*there)))


def labels_of(fit):
    """Return where the growth rate of a specification differs: {label: (benchmark, transformer)}.

    Where exponents change with time (specifications 14 and 15) it depends on the optimal size, and so on the intercepts
    of the benchmark.
    """
    law = of_kind(fit, EVALUATIONS).law
    columns = [c for predictor in law.predictors for c in predictor if c.kind in ("size", "year", "rate")]
    if any(c.benchmark for c in columns) or (len(law.levels) > 1 and any(c.kind == "rate" for c in columns)):
        return {benchmark: (benchmark, True) for benchmark in law.benchmarks}
    first = law.benchmarks[0]
    if any(c.architecture for c in columns):
        return {"transformer": (first, True), "other": (first, False)}
    return {"all": (first, True)}


def check_place(compute, year):
    """Raise `InputError` where a budget is no positive number or a year is no number."""
    if not (np.isfinite(compute) and compute > 0):
        raise InputError(f"compute is {compute}; give a positive number of FLOP")
    if not np.isfinite(year):
        raise InputError(f"year is {year}; give a number such as 2023")


def growth_rates(fit: Fit, *, compute: float = COMPUTE, year: float = YEAR) -> dict[str, xr.DataArray]:
    """Compute the growth of effective compute at a budget and a date.

    Parameters
    ----------
    fit : Fit
        Of a `Progress` law.
    compute : float
        Training FLOP; it matters where exponents change with time (specifications 14 and 15).
    year : float

    Returns
    -------
    dict of str to DataArray
        By label ("all", a benchmark or an architecture): log units a year, dims (chain, draw).

    Raises
    ------
    InputError
        If the budget is no positive number or the year is no number.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.progress.fit_all(specifications=[7], draws=500, tune=500)[7]
    >>> list(bs.progress.growth_rates(fit))
    ['all']
    """
    check_place(compute, year)
    draws = of_kind(fit, EVALUATIONS).draws
    return {
        label: xr.DataArray(GrowthAt(draws, year=year, benchmark=b, transformer=t).rate(compute), dims=DRAWS)
        for label, (b, t) in labels_of(fit).items()
    }


def first_rate(fit):
    """Return the growth rate under the first label of a specification, (chain, draw)."""
    return next(iter(growth_rates(fit).values()))


def rate_summary(rate, probabilities=PROBABILITIES):
    """Summarise draws of a growth rate in log units a year; those that are not finite are left out.

    The dict has ``p_progress``, the probability that the rate is positive, and quantiles ``q2.5`` ... of the doubling
    time in months.
    """
    rate = np.asarray(rate)
    rate = rate[np.isfinite(rate)]
    times = growth.doubling_quantiles(rate, probabilities)
    return {"p_progress": float((rate > 0).mean())} | named(times, probabilities)


def doubling_times(
    fit: Fit,
    *,
    compute: float = COMPUTE,
    year: float = YEAR,
    probabilities: Sequence[float] = PROBABILITIES,
) -> IntervalTable:
    """Compute the doubling time of effective compute, in closed form and by optimal scaling.

    Parameters
    ----------
    fit : Fit
        Of a `Progress` law.
    compute, year : float
        Where optimal scaling starts, and where exponents that change with time are taken.
    probabilities : sequence of float

    Returns
    -------
    IntervalTable
        A DataFrame, which prints a short table.
        One row a label. ``p_progress`` is the probability that the rate is positive. Quantiles ``q2.5`` ... are of the
        doubling time in months in closed form and, under ``optimal_q2.5`` ..., by optimal scaling; infinite is "never".
        ``no_optimum`` counts draws without an optimum, which both leave out.

    Raises
    ------
    InputError
        If the budget is no positive number or the year is no number.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.progress.fit_all(specifications=[7], draws=500, tune=500)[7]
    >>> bool(bs.progress.doubling_times(fit).loc["all", "q50"] > 0)
    True
    """
    check_place(compute, year)
    draws = of_kind(fit, EVALUATIONS).draws
    rows = []
    for label, (b, t) in labels_of(fit).items():
        local = GrowthAt(draws, year=year, benchmark=b, transformer=t)
        rate = local.rate(compute)
        valid = np.isfinite(rate)
        times = rate_summary(rate, probabilities)
        months = np.quantile(12 * local.years_to_double(compute)[valid], probabilities, method="inverted_cdf")
        rows.append(
            {"label": label, "p_progress": times.pop("p_progress"), "no_optimum": int((~valid).sum())}
            | times
            | named(months, probabilities, "optimal_")
        )
    table = pd.DataFrame(rows).set_index("label")
    where = f"from {flop(compute)} in {year:g}, along compute-optimal sizes"
    title = f"Doubling time of effective compute in months, {fit.law.label}, {where}"
    left_out = int(table["no_optimum"].sum())
    note = f"{NOTE} {left_out} draws have no optimum and are left out." if left_out else NOTE
    return printed(table, "months", title, note, fit, robust=False)

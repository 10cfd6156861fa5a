"""Time horizons of models, draw by draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from ...datasets.deferred import special
from ...datasets.kinds.horizons import HORIZONS
from ...datasets.wording import check_choice
from ...models.loss.search import root
from ..fitted import Fit, of_kind
from ..intervals import IntervalTable, check_shares, printed, tabulate_by_share
from ..quoted import quote_draws

TASKS = ("typical", "random")
SHARES = (0.5, 0.8)
NODES = 41  # of the Gauss-Hermite quadrature over effects, and over log slopes, of tasks


def minutes(fit: Fit, shares: ArrayLike = SHARES, *, tasks: str = "typical") -> xr.DataArray:
    """Return the human time of the tasks that models do with a given probability.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons``.
    shares : float or sequence of float
        Probabilities of success, between 0 and 1; 0.5 gives the horizon that is usually quoted.
    tasks : {"typical", "random"}
        Of the typical task of that human time, or of a random one, whose difficulty beyond its time is averaged over.

    Returns
    -------
    DataArray
        Minutes, dims (chain, draw, model, share).

    Raises
    ------
    InputError
        If the fit is of another law, or a share does not lie between 0 and 1.

    Notes
    -----
    With slope a and horizon h, the typical task that is done with probability q takes ``exp(h - logit(q) / a)``. For a
    random task ``h - log t`` solves ``E S(a (h - log t - u)) = q`` over effects u and slopes a of tasks, with the
    logistic function S.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> law = bs.laws.Horizons(noise="binomial", family_effects=False, estimates=False)
    >>> fit = bs.fit(law, few, seed=1, draws=300, tune=500)
    >>> bs.horizons.minutes(fit).dims
    ('chain', 'draw', 'model', 'share')
    """
    shares = check_shares(shares)
    check_choice("tasks", tasks, TASKS)
    draws = of_kind(fit, HORIZONS).draws
    logs = draws.named()["horizon"].values[..., None] - margins(draws, shares, tasks)[..., None, :]
    return draws._array(np.exp(logs), "model", "share", model=draws.reference["models"], share=shares).rename("minutes")


def margins(draws, shares, tasks):
    """Return the log of the horizon over the time that is done with each probability, (chain, draw, share)."""
    logits = special.logit(shares)
    slope = np.exp(draws.values["log_slope"])[..., None]
    if tasks == "typical":
        return logits / slope
    places, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    variance = sum(draws.values[name] ** 2 for name in ("task_sd", "family_sd") if name in draws.values)
    effects = np.sqrt(variance).reshape(-1, 1) * places
    slopes = slope.reshape(-1, 1) * np.exp(draws.values.get("log_slope_sd", np.zeros(1)).reshape(-1, 1) * places)
    margins = [_margin(share, effects, slopes, weights) for share in shares]
    return np.stack(margins, -1).reshape(*slope.shape[:2], len(shares))


def _margin(share, effects, slopes, weights):
    """Find the margin at which a random task is done with a probability, (draw,)."""

    def lacks(margin):
        done = special.expit(slopes[:, None, :] * (margin[:, None] - effects)[:, :, None])
        return share - done @ weights @ weights

    # Where the task that is done least, and most, is done with the probability.
    logits = special.logit(share) / slopes
    return root(lacks, effects.min(1) + logits.min(1), effects.max(1) + logits.max(1))


def summary(fit: Fit, shares: Sequence[float] = SHARES, *, tasks: str = "typical") -> IntervalTable:
    """Summarise horizons of models, those of the latest first.

    Parameters
    ----------
    fit : Fit
        Of the law ``horizons``.
    shares, tasks
        As for `minutes`.

    Returns
    -------
    IntervalTable
        A DataFrame, which prints a short table. By model and share: quantiles ``q2.5``, ``q50``, ``q97.5`` in
        minutes; ``solved``, the share of the model's runs that reached anything. A model that solved nothing
        has no horizon, only an upper bound.

    Raises
    ------
    InputError
        As for `minutes`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> table = bs.load("weirdml")
    >>> few = table[table["model"].isin(table["model"].unique()[::6]) & table["threshold"].isin([50, 90])]
    >>> law = bs.laws.Horizons(noise="binomial", family_effects=False, estimates=False)
    >>> fit = bs.fit(law, few, seed=1, draws=300, tune=500)
    >>> bs.horizons.summary(fit).columns.tolist()
    ['q2.5', 'q50', 'q97.5', 'solved']
    """
    draws = quote_draws(fit, minutes(fit, shares, tasks=tasks))
    rows = fit.rows
    easiest = rows[rows["minutes_before"].isna()]
    counts = easiest.groupby("model")[["successes", "runs"]].sum()
    solved = counts["successes"] / counts["runs"]
    models = rows.drop_duplicates("model")
    if "year" in models:
        models = models.sort_values("year", ascending=False, kind="stable")
    table = tabulate_by_share(draws, models["model"], solved=solved)
    note = "Medians and 95% intervals. A model without any success has no horizon, only an upper bound."
    title = f"Human time of the {tasks} task that a model does in a share of runs"
    return printed(table, "human time", title, note, fit)

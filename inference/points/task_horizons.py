"""Time horizons by one logistic regression a model and a line through their logs, as METR estimates them.

References
----------
.. [1] Kwa, T. et al. (2025). Measuring AI ability to complete long tasks. arXiv:2503.14499, and the code of its
   repository.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit

from ...datasets import require
from ...datasets.reader import TableSource, as_table
from ...datasets.wording import check_choice, quoted, source_of
from ...errors import InputError
from .curves import slopes
from .result import PointEstimate

WEIGHTS = ("families", "tasks")
PENALTY, LEAST = 1e-5, 1e-3  # of the squared slope, and minutes below which a line leaves a horizon out: those of [1]_
STEPS, TOLERANCE = 60, 1e-8  # of Newton's method, and of the gradient of the mean loss
FLAT = 1e-10 * np.eye(2)  # curvature for samples with tasks of one length
DAYS, ENDS = 365.25, (0.025, 0.975)


def fit_horizons(
    successes: TableSource,
    *,
    weights: str = "families",
    penalty: float = PENALTY,
    bootstraps: int = 1000,
    seed: int = 1,
) -> PointEstimate:
    """Fit a logistic regression on log2 minutes to each model, and a line through log horizons by date.

    It is the estimator of METR [1]_. Families, tasks and runs are resampled for intervals.

    Parameters
    ----------
    successes : DataFrame, path, str or mapping
        A table of horizons from `read` or `load`, with columns ``task_family`` and ``year``.
    weights : {"families", "tasks"}
        Weights of the tasks of a model: one over the square root of the number of tasks of the family, or all equal.
        The runs of a task share its weight.
    penalty : float
        Of half the squared slope a doubling of minutes, next to the weighted mean log loss.
    bootstraps : int
        Samples for the intervals; 0 for none.
    seed : int

    Returns
    -------
    PointEstimate
        Series by model: ``horizon``, the minutes at which half of the runs succeed, with 95% limits ``low`` and
        ``high``. It is 0 if no run succeeds, and infinite if none fails. Of the line through all models
        ``doubling_days``, ``doubling_low`` and ``doubling_high``, infinite where nothing grows.

    Raises
    ------
    InputError
        If a column is missing, `weights` is unknown, or all tasks of a model have one length.

    Examples
    --------
    >>> import bayescaling as bs
    >>> estimate = bs.points.fit_horizons(bs.load("weirdml"), weights="tasks", bootstraps=100)
    >>> bool(100 < estimate["doubling_days"] < 300)
    True
    """
    successes = successes if isinstance(successes, pd.DataFrame) else as_table(successes, "horizons")
    columns = ("model", "task", "task_family", "minutes", "successes", "runs", "year")
    require(successes, columns, purpose="horizons by logistic regression")
    check_choice("weights", weights, WEIGHTS)
    cells, source = successes.reset_index(drop=True), source_of(successes)
    of_models, doublings = cells.groupby("model", sort=True), np.log2(cells["minutes"].to_numpy(float))
    for model, lengths in of_models["minutes"].nunique().items():
        if lengths == 1:
            raise InputError(f"{source}: all tasks of {quoted(model)} have one length; leave that model out")
    weight = pd.Series(1.0, cells.index)
    if weights == "families":
        weight = cells.groupby(["model", "task_family"])["task"].transform("nunique") ** -0.5
    weight = (weight / weight.groupby(cells["model"]).transform("sum")).to_numpy()  # which sum to 1 in each model
    copies, shares = _samples(cells, bootstraps, np.random.default_rng(seed))
    regressions = [
        _regression(doublings[rows], shares[:, rows], copies[:, rows] * weight[rows], penalty)
        for rows in of_models.indices.values()
    ]
    logs, names = np.stack([horizon for horizon, _ in regressions], -1), pd.Index(list(of_models.indices), name="model")
    logs_in_line = np.where(np.isfinite(logs) & (logs > np.log2(LEAST)), logs, np.nan)
    yearly = slopes(of_models["year"].first().to_numpy(float), logs_in_line)
    days = np.divide(DAYS, yearly, out=np.full(len(yearly), np.inf), where=yearly > 0)
    horizons, of_line = {"horizon": logs[0]}, {"doubling_days": float(days[0])}
    if bootstraps:
        horizons |= zip(("low", "high"), np.quantile(logs[1:], ENDS, axis=0, method="nearest"), strict=True)
        ends = np.quantile(days[1:], ENDS, method="nearest").tolist()
        of_line |= zip(("doubling_low", "doubling_high"), ends, strict=True)
    return PointEstimate(
        estimator=f"Logistic regressions of successes, weights of {weights}, and a line by date",
        estimates={name: pd.Series(2.0**x, names, name=name) for name, x in horizons.items()} | of_line,
        source=source,
        rows=len(cells),
        converged=all(converged for _, converged in regressions),
        message=f"{np.isinf(logs[0]).sum()} of {len(names)} models have no horizon",
        search={"penalty": penalty, "bootstraps": bootstraps},
    )


def _samples(cells, bootstraps, rng):
    """Return copies of each row's task and shares of successes, (sample, row); the first sample is the table."""
    tasks = cells.drop_duplicates("task")
    family, families = pd.factorize(tasks["task_family"])
    members = [np.flatnonzero(family == code) for code in range(len(families))]
    counts = np.ones((bootstraps + 1, len(tasks)), int)
    for count in counts[1:]:
        drawn = [members[code] for code in rng.integers(len(members), size=len(members))]
        count[:] = np.bincount(np.concatenate([rng.choice(of, len(of)) for of in drawn]), minlength=len(tasks))
    copies = counts[:, pd.Index(tasks["task"]).get_indexer(cells["task"])]
    share, runs = (cells["successes"] / cells["runs"]).to_numpy(float), copies * cells["runs"].to_numpy(int)
    shares = rng.binomial(runs, share) / np.maximum(runs, 1)
    shares[0] = share
    return copies, shares


def _regression(x, shares, weight, penalty):
    """Return log2 horizons by sample, and whether Newton's method converged in all that have one."""
    design, ridge = np.stack([np.ones_like(x), x - x.mean()]), np.diag([0.0, penalty])
    right, total = (weight * shares).sum(1), weight.sum(1)
    mixed = (right > 0) & (right < total)
    theta, gradient = np.zeros((2, mixed.sum(), 2))
    shares, weight = shares[mixed], weight[mixed]
    for _ in range(STEPS):
        chance = expit(theta @ design)
        gradient = (weight * (shares - chance)) @ design.T - theta @ ridge
        curvature = np.einsum("sr,ir,jr->sij", weight * chance * (1 - chance), design, design) + ridge + FLAT
        theta = theta + np.clip(np.linalg.solve(curvature, gradient[..., None])[..., 0], -1, 1)
    horizons = np.where(right > 0, np.inf, -np.inf)
    horizons[mixed] = x.mean() - theta[:, 0] / theta[:, 1]
    return horizons, bool(np.abs(gradient).max(initial=0.0) < TOLERANCE)

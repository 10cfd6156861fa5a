"""Least squares of scores on capability and difficulty, as benchmark stitching and the Epoch Capabilities Index do it.

``score = sigmoid(slope_b (capability_m - difficulty_b))`` with the slope of one benchmark fixed at 1. Capabilities and
difficulties lie between -10 and 10, and slopes between a tenth and ten. There is one more residual, the square root of
0.1 times the mean square of all parameters. The difficulty of that benchmark is then subtracted, so that it is 0 there.

References
----------
.. [1] Ho, A. et al. (2025). A Rosetta stone for AI benchmarks. arXiv:2512.00193, section 2 and the code of its
   repository.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import expit

from ...datasets import require
from ...datasets.reader import TableSource, as_table
from ...datasets.wording import check_choice, quoted, source_of, suggestion
from ...errors import InputError
from ..workers import one_thread
from .result import PointEstimate

PENALTY, FARTHEST, SLOPES = 0.1, 10.0, (0.1, 10.0)  # those of [1]_
ACCURATE = {"xtol": 1e-12, "ftol": 1e-12, "gtol": 1e-10, "max_nfev": 500}


def anchored(capability: pd.Series, anchors: Mapping[str, float]) -> pd.Series:
    """Return capabilities on the scale on which two models have given values.

    Parameters
    ----------
    capability : Series
        By model, such as that of `fit_item_response`.
    anchors : dict of str to float
        Two models with their values, such as ``{"Claude 3.5 Sonnet": 130, "GPT-5": 150}``.

    Raises
    ------
    InputError
        If there are not two anchors of different values, or one is not among the models.

    Examples
    --------
    >>> anchored(pd.Series({"a": 0.0, "b": 1.0, "c": 3.0}), {"a": 130, "b": 150}).to_dict()
    {'a': 130.0, 'b': 150.0, 'c': 190.0}
    """
    origin, unit, low = between_anchors(anchors, capability, list(capability.index))
    return low + unit * (capability - origin)


def between_anchors(anchors, capability, models):
    """Return the origin, the unit and the lower value of the scale on which two models have given values.

    The value of a capability c is ``low + unit * (c - origin)``. `capability` maps a model to its value or its draws,
    `models` are the names that there are; see `anchored`.
    """
    if len(anchors) != 2 or len(set(anchors.values())) != 2:
        raise InputError(f"anchors must be two models with two values, not {anchors!r}")
    for name in anchors:
        if name not in models:
            mend = suggestion(name, models) or "; name two that were"
            raise InputError(f"anchors: no model called {quoted(name)} was fitted{mend}")
    (first, low), (second, high) = anchors.items()
    origin = capability[first]
    return origin, (high - low) / (capability[second] - origin), low


def fit_item_response(scores: TableSource, *, benchmark: str, clip: float = 0.0) -> PointEstimate:
    """Fit capabilities, difficulties and slopes to scores by penalised least squares.

    It is the estimator of the Epoch Capabilities Index [1]_.

    Parameters
    ----------
    scores : DataFrame, path, str or mapping
        A table of scores from `read` or `load`.
    benchmark : str
        Whose slope is 1 and whose difficulty is 0.
    clip : float
        Scores are taken to be at least this and at most 1 minus this; 0.001 for the Epoch Capabilities Index.

    Returns
    -------
    PointEstimate
        Series ``capability`` by model, and ``difficulty`` and ``slope`` by benchmark. In `search` is ``cost``, half the
        sum of squared residuals, that of the penalty included.

    Raises
    ------
    InputError
        If a column is missing, or there is no such benchmark.

    Examples
    --------
    >>> import bayescaling as bs
    >>> estimate = bs.points.fit_item_response(bs.load("rosetta_scores"), benchmark="Winogrande")
    >>> round(estimate.search["cost"], 4), round(float(estimate["capability"]["LLaMA-65B"]), 3)
    (3.4474, 1.076)
    """
    from scipy.optimize import least_squares

    scores = as_table(scores, "scores")

    require(scores, ("model", "benchmark", "score"), purpose="least squares of scores")
    model, models = pd.factorize(scores["model"], sort=True)
    item, benchmarks = pd.factorize(scores["benchmark"], sort=True)
    check_choice("benchmark", benchmark, list(benchmarks))
    score = np.clip(scores["score"].to_numpy(float), clip, 1 - clip)
    places = _Places(model, item, list(benchmarks).index(benchmark), score)
    start = np.concatenate([np.zeros(places.slopes), np.ones(places.count - places.slopes)])
    low, high = (
        np.where(np.arange(places.count) < places.slopes, end * FARTHEST, slope)
        for end, slope in zip((-1, 1), SLOPES, strict=True)
    )
    # Its matrices are small: several threads take longer, and round otherwise.
    with one_thread():
        solution = least_squares(places.residuals, start, places.jacobian, bounds=(low, high), **ACCURATE)
    capability, difficulty, slope = places.named(solution.x)
    shift = difficulty[places.anchor]
    models, benchmarks = pd.Index(models, name="model"), pd.Index(benchmarks, name="benchmark")
    return PointEstimate(
        estimator=f"Penalised least squares of scores, slope 1 of {benchmark}",
        estimates={
            "capability": pd.Series(capability - shift, models, name="capability"),
            "difficulty": pd.Series(difficulty - shift, benchmarks, name="difficulty"),
            "slope": pd.Series(slope, benchmarks, name="slope"),
        },
        source=source_of(scores),
        rows=len(scores),
        converged=bool(solution.status > 0),
        message=f"half the sum of squares is {solution.cost:.5g}; {solution.message.rstrip('.')}",
        search={"cost": float(solution.cost)},
    )


class _Places:
    """Where capabilities, difficulties and slopes stand among the parameters, the slope of the anchor nowhere."""

    def __init__(self, model, item, anchor, score):
        self.model, self.item, self.anchor, self.score = model, item, anchor, score
        self.models, self.items = model.max() + 1, item.max() + 1
        self.slopes = self.models + self.items
        self.count = self.slopes + self.items - 1

    def named(self, theta):
        slope = np.insert(theta[self.slopes :], self.anchor, 1.0)
        return theta[: self.models], theta[self.models : self.slopes], slope

    def residuals(self, theta):
        capability, difficulty, slope = self.named(theta)
        mean = expit(slope[self.item] * (capability[self.model] - difficulty[self.item]))
        return np.append(mean - self.score, np.sqrt(PENALTY * np.mean(theta**2)))

    def jacobian(self, theta):
        capability, difficulty, slope = self.named(theta)
        slopes, apart = slope[self.item], capability[self.model] - difficulty[self.item]
        mean = expit(slopes * apart)
        steep, rows = mean * (1 - mean), np.arange(len(mean))
        matrix = np.zeros((len(mean) + 1, self.count))
        matrix[rows, self.model] = steep * slopes
        matrix[rows, self.models + self.item] = -steep * slopes
        sloped = self.item != self.anchor
        place = self.slopes + self.item - (self.item > self.anchor)
        matrix[rows[sloped], place[sloped]] = (steep * apart)[sloped]
        matrix[-1] = np.sqrt(PENALTY / len(theta)) * theta / np.sqrt(np.sum(theta**2))
        return matrix

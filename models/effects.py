"""Effects that the rows of a group share, integrated out: rows together, and each given others of its group.

Residuals r of a group have the scale matrix ``diag(sigma**2) + t``, with t the square of the effects' scale. They are
normal or, with degrees of freedom nu, multivariate Student-t: a group is then far out as a whole. With weights
w = 1/sigma**2, sums over rows and ``v = t/(1 + t sum(w))``, the effect given those rows is centred at ``v sum(w r)``
with variance v.

References
----------
.. [1] Ding, P. (2016). On the conditional distribution of the multivariate t distribution. The American Statistician
       70, 293-295.
.. [2] Rosenblatt, M. (1952). Remarks on a multivariate transformation. Annals of Mathematical Statistics 23, 470-472.
"""

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
import pandas as pd

from .arrays import gammaln, log, log1p, spread, sum_by


@dataclass(frozen=True)
class Groups:
    """Which group each row is of: codes, (row,), from 0 without gaps, and counts of rows, (group,) of float."""

    codes: Any
    counts: Any

    @classmethod
    def of(cls, labels):
        """Group rows with equal labels, in order of appearance."""
        codes = pd.factorize(np.asarray(labels))[0]
        return cls(codes, np.bincount(codes).astype(float))

    def sum(self, x):
        """Add `x`, (..., row), up over the rows of each group, (..., group)."""
        return sum_by(x, self.codes, self.counts)

    def over(self, x, conditioning):
        """Add `x` up over other rows of a row's group, selected by `conditioning`, (..., row); see `conditional`."""
        if not isinstance(conditioning, str):
            return self.sum(x * conditioning)[..., self.codes] - x * conditioning
        if conditioning == "others":
            return self.sum(x)[..., self.codes] - x
        order = np.argsort(self.codes, kind="stable")
        before = np.cumsum(x[..., order], axis=-1) - x[..., order]
        firsts = np.searchsorted(self.codes[order], self.codes[order])
        sums = np.empty_like(before)
        sums[..., order] = before - before[..., firsts]
        return sums


def joint_logp(residual, scale, groups, sigma, nu=None):
    """Return the log density of the rows of each group together, (..., group); NumPy arrays or PyTensor's.

    The scale is that of the effects, the root of t; sigma and nu are as for the noise of a row, normal without nu.
    """
    weight, between, count = spread(1 / sigma**2, residual), scale**2, groups.counts
    first = groups.sum(weight * residual)
    joint = 1 + between * groups.sum(weight)
    squares = groups.sum(weight * residual**2) - between / joint * first**2
    log_determinant = log(joint) - groups.sum(log(weight))
    if nu is None:
        return -0.5 * (squares + log_determinant + count * np.log(2 * pi))
    return (
        gammaln((nu + count) / 2)
        - gammaln(nu / 2)
        - 0.5 * (count * log(nu * pi) + log_determinant)
        - (nu + count) / 2 * log1p(squares / nu)
    )


def conditional(residual, scale, groups, conditioning, sigma, nu=None):
    """Return residuals minus their prediction from other rows of the group, and the noise that remains, all (..., row).

    The conditional of a multivariate normal is normal. That of a multivariate Student-t is Student-t with as many more
    degrees of freedom as rows are conditioned on, and wider where these are far out [1]_. Leave-one-out needs it given
    all other rows. Given the earlier ones, probabilities of the rows are independent and uniform [2]_.

    A row is conditional on all ``"others"`` of its group, on the ``"earlier"`` ones in the table, or on those that an
    ndarray of bool marks. Other arguments are as for `joint_logp`, NumPy arrays. Returned are residual, sigma and,
    where it was given, nu.
    """
    weight = spread(1 / sigma**2, residual)
    total, first = (groups.over(x, conditioning) for x in (weight, weight * residual))
    effect = scale**2 / (1 + scale**2 * total)
    centred, variance = residual - effect * first, 1 / weight + effect
    if nu is None:
        return centred, variance**0.5
    count = groups.over(np.ones(residual.shape[-1]), conditioning)
    squares = groups.over(weight * residual**2, conditioning) - effect * first**2
    return centred, (variance * (nu + squares) / (nu + count)) ** 0.5, nu + count


def draw(rng, shape, scale, groups, sigma, nu=None):
    """Draw residuals of `shape` (..., row): one effect a group and, with `nu`, one mixing of its rows."""
    of_group = (*shape[:-1], len(groups.counts))
    residuals = sigma * rng.standard_normal(shape) + (scale * rng.standard_normal(of_group))[..., groups.codes]
    if nu is None:
        return residuals
    mixing = np.broadcast_to(nu, of_group) / rng.chisquare(np.broadcast_to(nu, of_group))
    return residuals * mixing[..., groups.codes] ** 0.5

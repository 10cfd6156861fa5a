"""Log predictive densities of what was left out, from draws with it and draws without it: bridge sampling.

References
----------
.. [1] Meng, X.-L. and Wong, W. H. (1996). Simulating ratios of normalizing constants via a simple identity: a
       theoretical exploration. Statistica Sinica 6, 831-860.
"""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from ...datasets.deferred import special
from ..diagnostics import effective_draws

LEAST_OVERLAP = 0.1  # below it few draws of either posterior lie where the other does, and the standard error errs low


@dataclass(frozen=True)
class Bridge:
    """A log predictive density, its Monte-Carlo standard error, and how far the two posteriors overlap.

    The error is for the effective number of draws. The overlap is the integral of ``p q / (w p + (1 - w) q)`` of the
    two posteriors p and q, w the share of the draws that are of p. It is 1 where they are the same and 0 where they
    have nothing in common.
    """

    log_density: float
    se: float
    overlap: float


def bridge(having, lacking):
    """Compute the log predictive density of observations from draws with them and draws without them.

    Posterior draws with and without the observations differ by their density r, so that the result is its mean over the
    draws without them. Where few of those draws come near the others, this mean is that of a handful. The optimal
    bridge [1]_ is as exact as both sets of draws together allow. `having` and `lacking`, (chain, draw), are log
    densities of the observations under draws fitted with them and without them.

    Examples
    --------
    An observation of 2 under a normal of known variance 1 and unknown mean, with exact draws of that mean:

    >>> from scipy.stats import norm
    >>> rng = np.random.default_rng(1)
    >>> without = rng.normal(0, 1, (4, 1000))
    >>> having = rng.normal(1, 0.5**0.5, (4, 1000))
    >>> result = bridge(norm.logpdf(2, having), norm.logpdf(2, without))
    >>> bool(abs(result.log_density - norm.logpdf(2, 0, 2**0.5)) < 3 * result.se)
    True
    """
    having, lacking = np.asarray(having, float), np.asarray(lacking, float)
    for values in (having, lacking):
        if np.isnan(values).any() or np.isposinf(values).any():
            raise ValueError("log densities must be numbers below plus infinity")
    share = having.size / (having.size + lacking.size)
    offset = float(special.logit(share))

    # share exp(r - l) / (share exp(r - l) + 1 - share) over the draws without, minus its complement over those with.
    def gap(log_density):
        without = special.expit(lacking - log_density + offset).mean() / share
        return without - special.expit(log_density - having - offset).mean() / (1 - share)

    finite = np.concatenate([x[np.isfinite(x)] for x in (having.ravel(), lacking.ravel())])
    low, high = finite.min() - abs(offset) - 1, finite.max() + abs(offset) + 1
    while gap(low) < 0:
        low -= 2 * (high - low)
    while gap(high) > 0:
        high += 2 * (high - low)
    from scipy.optimize import brentq

    log_density = float(brentq(gap, low, high, xtol=1e-10))
    of_lacking, of_having = special.expit(lacking - log_density + offset), special.expit(log_density - having - offset)
    variance = _relative_variance(of_lacking) + _relative_variance(of_having)
    return Bridge(log_density, float(np.sqrt(variance)), float(of_lacking.mean() / share))


def log_normaliser(draws):
    """Compute the logarithm of the integral of a posterior's unnormalised density, by a bridge to a normal.

    The first half of each chain determines the normal on the real line. The second half and as many draws of the normal
    are the two ends of the `Bridge`, whose ``log_density`` is the logarithm.
    """
    _, second = np.array_split(draws.real_line().values, 2, axis=1)
    return _bridge_to_normal(draws, second.copy(), np.ones(second.shape[-1], bool), lambda at: at.log_density())


def filled_bridge(draws, without, left, informed):
    """Compute the log predictive density of rows that alone inform some coordinates, such as a group left out whole.

    A refit without the rows `left` has the coordinates `informed` from their prior, of which barely a draw comes near
    the posterior. Here they are drawn from a normal instead: that of the posterior given the other coordinates, which
    are those of the refit. What is bridged then differs from the posterior by the shape of a few coordinates alone.
    """
    real = draws.real_line()
    dimension = real.dims[-1]
    proposed = without.real_line().sel({dimension: real[dimension].values}).values.copy()
    ours = np.isin(real[dimension].values, informed)
    return _bridge_to_normal(
        draws, proposed, ours, lambda at: at.log_prior_of(informed) + at.total_log_likelihood(left)
    )


def _bridge_to_normal(draws, proposed, ours, log_density):
    """Bridge posterior draws to coordinates of which some, `ours`, are drawn from a normal given the others.

    The first half of each chain determines the normal, the second half is one end of the bridge. The other end is
    `proposed`, (chain, draw, coordinate), where ours are filled in.
    """
    real = draws.real_line()
    first, second = np.array_split(real.values, 2, axis=1)
    points = first.reshape(-1, first.shape[-1])
    centre, covariance = points.mean(0), np.cov(points.T).reshape(2 * (points.shape[1],))
    slope = np.linalg.solve(covariance[np.ix_(~ours, ~ours)], covariance[np.ix_(~ours, ours)])
    factor = np.linalg.cholesky(covariance[np.ix_(ours, ours)] - covariance[np.ix_(ours, ~ours)] @ slope)

    def expected(z):
        return centre[ours] + (z[..., ~ours] - centre[~ours]) @ slope

    noise = np.random.default_rng(0).standard_normal((*proposed.shape[:-1], ours.sum()))
    proposed[..., ours] = expected(proposed) + noise @ factor.T

    def log_ratio(z):
        standard = np.linalg.solve(factor, (z[..., ours] - expected(z)).reshape(-1, ours.sum()).T).T
        normal = -0.5 * (standard**2).sum(-1) - np.log(np.diag(factor)).sum() - ours.sum() / 2 * np.log(2 * np.pi)
        with np.errstate(all="ignore"):
            density = log_density(draws.from_real_line(_labelled(z, real))).transpose(*real.dims[:-1]).values
        return np.where(np.isfinite(density), density, -np.inf) - normal.reshape(z.shape[:-1])

    return bridge(log_ratio(second), log_ratio(proposed))


def _labelled(z, like):
    """Return coordinates with the dims and the labels of others."""
    at = xr.DataArray(z, dims=like.dims, coords={like.dims[-1]: like[like.dims[-1]].values})
    return at.assign_coords({name: np.arange(at.sizes[name]) for name in like.dims[:-1]})


def log_mean_exp(values):
    """Compute the logarithm of the mean of exponentials over chain and draw."""
    return special.logsumexp(values, axis=(0, 1)) - np.log(values.shape[0] * values.shape[1])


def left_out(draws, having, without, lacking, left=None):
    """Bridge the draws of a fit and those of a refit; where these barely overlap, bridge either to a normal.

    `having` and `lacking`, (chain, draw), are the log density of what was left out, given the rest, under the draws of
    the fit and under those of the refit. Rows `left` out that alone inform some coordinates are a case of
    `filled_bridge`.

    A normal takes more draws than there are coordinates; without these the bridge stays, with its little overlap. Where
    a law's prior changes with the rows it is fitted to, the two posteriors differ by more than the density. The result
    is then the plain mean over the refit, with NaN for its overlap.
    """
    if not draws.law.one_prior:
        by_chain = np.exp(special.logsumexp(lacking, axis=1) - np.log(lacking.shape[1]) - log_mean_exp(lacking))
        se = by_chain.std(ddof=1) / np.sqrt(len(by_chain)) if len(by_chain) > 1 else np.nan
        return Bridge(float(log_mean_exp(lacking)), float(se), np.nan)
    informed = () if left is None else draws.informed_by(left)
    result = filled_bridge(draws, without, left, informed) if informed else bridge(having, lacking)
    if result.overlap >= LEAST_OVERLAP or not _spanned(without):
        return result
    whole, rest = log_normaliser(draws), log_normaliser(without)
    by_normal = Bridge(
        whole.log_density - rest.log_density, float(np.hypot(whole.se, rest.se)), min(whole.overlap, rest.overlap)
    )
    return max(result, by_normal, key=lambda bridged: bridged.overlap)


def _spanned(draws):
    """Return whether the first half of the draws is enough for a covariance of all coordinates."""
    real = draws.real_line()
    return real.sizes["chain"] * -(-real.sizes["draw"] // 2) > real.shape[-1]


def _relative_variance(weights):
    """Compute the variance of a mean of correlated draws over its square; weights that are all alike have none."""
    spread = weights.var(ddof=1)
    if spread <= 1e-24 * weights.mean() ** 2:
        return 0.0
    return float(spread / effective_draws(weights) / weights.mean() ** 2)

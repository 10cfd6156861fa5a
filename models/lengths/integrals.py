"""The density of a whole run's counts, the run's parameters integrated out: what leaving out a run needs.

Given a draw of the coefficients and spreads, an unseen run has parameters u that are normal about those of its
condition. Its counts have density ``p(y | draw) = integral of p(y | u) N(u; mean, spread) du``. The points u are drawn
once for each run from q, a mixture of two Student t about the draws of the run's parameters. The wider one reaches
conditions far from the run. The density p(y | u) is computed once at each point. For every draw, the integral is the
mean of ``p(y | u) N(u; mean, spread) / q(u)`` over points (importance sampling).

The counts may not depend on a part of u, such as the weight of the shorter operand where operands are equally long.
Such a part integrates to 1 and is left out.
"""

from functools import partial

import numpy as np

from ...datasets.deferred import stats as st
from . import modes
from .design import log_train as log_train_of

POINTS = 2048
ENOUGH = (100, 50)  # points of equal weight, at nine draws in ten; where there are fewer, MORE times as many, twice
MORE = 4
FREEDOM = 5
WIDER = 3.0
TRIED = 256  # points at which it is tried whether the counts depend on a part
UNFELT = 1e-9  # nats
CHUNK = 4_000_000
CACHED = 100_000  # numbers that are worked on at a time, in a core's own memory


class Points:
    """Importance points of each run, with the densities of the run's counts there.

    They lie about the draws of the runs' parameters. Their number is a power of two, for a Sobol sequence. `runs` are
    places in the reference, by default all.

    By run, `felt` has on which parts its counts depend, bool, (part,), and `u` the points, (point, part felt).
    `log_ratio` has the log of ``p(y | u) / q(u)``, binomial coefficients included, (point,).
    """

    def __init__(self, draws, *, points=POINTS, seed=0, runs=None):
        law, parts = draws.law, draws.law.parts
        groups = law.groups(draws.rows, draws.reference)
        log_train = log_train_of(draws.runs)
        log_choose = draws.log_choose()
        self.felt, self.u, self.log_ratio = {}, {}, {}
        for run in range(len(log_train)) if runs is None else runs:
            run_draws = np.stack([draws.curve[part][..., run].ravel() for part in parts], axis=-1)
            counts = modes.of_run(groups, run)
            of_counts = partial(_of_counts, law=law, log_train=log_train[run], counts=counts)
            felt = _felt(of_counts, _drawn(run_draws, TRIED, seed + run)[0])
            u, log_q = _drawn(run_draws[:, felt], points, seed + run)
            whole = np.tile(run_draws.mean(0), (points, 1))
            whole[:, felt] = u
            self.felt[run], self.u[run] = felt, u
            self.log_ratio[run] = of_counts(whole) + log_choose[run] - log_q

    def log_density(self, mean, spread, run):
        """Return the log density of a run's counts under draws of the coefficients, (...), and its efficiency.

        Mean and spread have shape (..., part). Efficiency is how many equal weights, of all points, would give an
        integral as exact.
        """
        mean, spread = (x[..., self.felt[run]] for x in (mean, spread))
        u, shape = self.u[run], mean.shape[:-1]
        centre = u.mean(0)
        mean, spread = mean.reshape(-1, mean.shape[-1]) - centre, spread.reshape(-1, spread.shape[-1])
        # The square of (u - mean)/spread, added up over parts, is a product of what draws and points have by part.
        by_point = np.concatenate([(u - centre) ** 2, u - centre], axis=1).T
        by_draw = np.concatenate([-0.5 / spread**2, mean / spread**2], axis=1)
        log_scale = -0.5 * ((mean / spread) ** 2).sum(-1) - np.log(spread).sum(-1)
        out, size = np.empty((2, len(mean))), max(1, CACHED // len(u))
        for start in range(0, len(mean), size):
            of = slice(start, start + size)
            weights = by_draw[of] @ by_point
            weights += self.log_ratio[run]
            most = weights.max(1)
            weights -= most[:, None]
            np.exp(weights, out=weights)
            total = weights.sum(1)
            out[0, of] = np.log(total) + most + log_scale[of]
            out[1, of] = total**2 / np.einsum("ij,ij->i", weights, weights)
        out[0] -= np.log(len(u)) + 0.5 * u.shape[-1] * np.log(2 * np.pi)
        return out[0].reshape(shape), out[1].reshape(shape)


def _of_counts(u, law, log_train, counts):
    """Return the log density of one run's counts, as `modes.of_run` returns them, at values (value, part): (value,)."""
    terms = max(len(counts[name]) for name in ("right_count", "wrong_count", "pair_run"))
    pieces = np.array_split(u, len(u) * terms // CHUNK + 1)
    return np.concatenate([modes.run_log_likelihood(x, law.parts, log_train, counts, law.shape) for x in pieces])


def _felt(of_counts, u):
    """Return on which parts a density of counts depends, (part,): it changes if a part is taken from other points.

    If the counts depend on none, all parts are returned.
    """
    here = of_counts(u)

    def moved(part):
        other = u.copy()
        other[:, part] = np.roll(u[:, part], 1)
        return of_counts(other)

    felt = np.array([np.abs(moved(part) - here).max() > UNFELT for part in range(u.shape[1])])
    return felt if felt.any() else ~felt


def _drawn(draws, points, seed):
    """Draw points of a mixture of two Student t at the mean and covariance of draws; also return its log density."""
    dimension = draws.shape[1]
    mean, covariance = draws.mean(0), np.atleast_2d(np.cov(draws, rowvar=False))
    covariance = covariance + 1e-10 * np.diag(np.diag(covariance)) + 1e-14 * np.eye(dimension)
    uniform = st.qmc.Sobol(dimension + 2, seed=seed).random(points).clip(1e-9, 1 - 1e-9)
    scale = np.where(uniform[:, -1] < 0.5, 1.0, WIDER)[:, None]
    chi = np.sqrt(FREEDOM / st.chi2.ppf(uniform[:, -2], FREEDOM))[:, None]
    u = mean + scale * chi * (st.norm.ppf(uniform[:, :dimension]) @ np.linalg.cholesky(covariance).T)
    narrow, wide = (
        st.multivariate_t.logpdf(u, mean, covariance * s**2, df=FREEDOM) + np.log(0.5) for s in (1.0, WIDER)
    )
    return u, np.logaddexp(narrow, wide)


def of_draws(draws, points, run):
    """Return the log density of one run's counts under every draw, (chain, draw), and its efficiency.

    The draws may have been fitted without the run.
    """
    spread = np.stack([draws.values[f"{part}_sd"] for part in draws.law.parts], axis=-1)
    return points.log_density(_typical(draws, run), spread, run)


def of_run(draws, points, run, seed=0):
    """Take `of_draws`, with more points where these are not enough; the least efficiency at nine draws in ten."""
    for enough in (*ENOUGH, -np.inf):
        density, effective = of_draws(draws, points, run)
        efficiency = float(np.quantile(effective, 0.1))
        if not efficiency < enough:
            break
        points = Points(draws, points=MORE * len(points.u[run]), seed=seed, runs=[run])
    return density, efficiency


def without_spread(draws, of, run):
    """Return the log density of one run's counts, of other draws' rows, where runs of a condition do not differ."""
    counts = modes.of_run(draws.law.groups(of.rows, draws.reference), run)
    values = _typical(draws, run)
    density = _of_counts(values.reshape(-1, values.shape[-1]), draws.law, log_train_of(draws.runs)[run], counts)
    return density.reshape(values.shape[:-1]) + of.log_choose()[run]


def _typical(draws, run):
    """Return the parameters of the median run of a run's condition, (chain, draw, part)."""
    typical = draws.typical(draws.runs)
    return np.stack([typical[part][..., run] for part in draws.law.parts], axis=-1)

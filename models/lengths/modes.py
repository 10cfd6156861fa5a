"""The parameters of each run's curve by its counts alone: location and scale of the units that are sampled."""

from functools import lru_cache

import numpy as np

from .curve import LARGEST_LOG_PRECISION, log_likelihood

STARTS = (-1.0, -0.3, 0.0, 0.3, 1.0, 2.0)
TRIED = 3  # of the starts: a search can end early where it met a bound
FARTHEST = 6.0
STEP, SLOPE_STEP = 1e-3, 1e-5  # of second and first derivatives
REMEMBERED = 4096  # runs


def of_run(groups, run):
    """Return the groups of one run, renumbered from 0."""
    pairs = groups["pair_run"] == run
    number = np.cumsum(pairs) - 1
    out = {name: x[pairs] for name, x in groups.items() if name.startswith("pair_")}
    for side in ("right", "wrong"):
        rows = pairs[groups[f"{side}_pair"]]
        out |= {name: groups[name][rows] for name in (f"{side}_count", f"{side}_cells")}
        out[f"{side}_pair"] = number[groups[f"{side}_pair"][rows]]
    rows = groups["total_run"] == run
    out |= {name: groups[name][rows] for name in ("total_run", "total_count", "total_cells")}
    return {name: np.zeros_like(x) if name.endswith("_run") else x for name, x in out.items()}


def run_log_likelihood(values, parts, log_train, groups, shape):
    """Return the log density of one run's counts but for binomial coefficients, (...), at values of shape (..., part).

    The groups are those that `of_run` returns.
    """
    curve = {part: values[..., i, None] for i, part in enumerate(parts)}
    return log_likelihood(curve, np.array([log_train]), groups, shape)


def modes(groups, log_train, parts, priors, shape):
    """Return the mode of each run's likelihood under a wide prior, and the information of its counts alone there.

    Both have shape (run, part). Information is 1 over the variance of a part, the others being unknown too; 0 for a run
    without counts. `design.groups` makes the groups, `log_train` has shape (run,), and `priors` has the centre and the
    spread of each part.
    """
    import scipy.optimize  # noqa: F401, its library of algebra is loaded before the threads are limited
    from threadpoolctl import threadpool_limits

    centre = np.tile(np.array(priors, float)[:, 0], (len(log_train), 1))
    information = np.zeros_like(centre)
    # The matrices of a search are of a few rows: several threads take up to eight times as long.
    with threadpool_limits(1, user_api="blas"):
        for run in np.unique(groups["pair_run"]):
            run_groups = tuple((name, x.tobytes(), x.dtype.str) for name, x in of_run(groups, run).items())
            arguments = float(log_train[run]), tuple(parts), tuple(priors), shape
            centre[run], information[run] = _mode_of_run(run_groups, *arguments)
    return centre, information


@lru_cache(maxsize=REMEMBERED)
def _mode_of_run(counts, log_train, parts, priors, shape):
    """Return the mode and information of one run; a refit to the same counts of a run does not search again."""
    counts = {name: np.frombuffer(x, dtype) for name, x, dtype in counts}
    location, spread = np.array(priors).T
    farthest = np.full(len(parts), FARTHEST)
    if "log_precision" in parts:
        of = parts.index("log_precision")
        farthest[of] = min(FARTHEST, (LARGEST_LOG_PRECISION - abs(location[of])) / spread[of])
    bounds = np.column_stack([-farthest, farthest])

    def cost(z):
        u = location + spread * z
        return 0.5 * (z**2).sum(-1) - run_log_likelihood(u, parts, log_train, counts, shape)

    def with_slope(z):
        around = SLOPE_STEP * np.eye(len(z))
        here, ahead, behind = np.split(cost(np.vstack([z, z + around, z - around])), (1, 1 + len(z)))
        return here[0], (ahead - behind) / (2 * SLOPE_STEP)

    from scipy.optimize import minimize

    starts = np.zeros((len(STARTS), len(parts)))
    starts[:, 0] = (np.array(STARTS) - location[0]) / spread[0]
    likely = sorted(starts, key=cost)[:TRIED]
    tried = [minimize(with_slope, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in likely]
    mode = min(tried, key=lambda end: end.fun).x
    variance = np.diag(np.linalg.inv(_curvature(cost, mode)))
    # The wide prior has information 1 in z; what exceeds it is the counts'.
    information = np.where(variance > 0, np.maximum(1 / variance - 1, 0), 0) / spread**2
    return location + spread * mode, information


def _curvature(cost, z):
    """Return the second derivatives by central differences, at least those of the wide prior in every direction."""
    n = len(z)
    steps = STEP * np.eye(n)
    matrix = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            signs = np.array([(s, t) for s in (1, -1) for t in (1, -1)])
            corners = signs.prod(1) * cost(z + signs @ steps[[i, j]])
            matrix[i, j] = matrix[j, i] = corners.sum() / (4 * STEP**2)
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(np.maximum(eigenvalues, 1.0)) @ vectors.T

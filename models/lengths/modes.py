"""Where the counts of each run, on their own, put the parameters of its curve: what a sampler takes as units."""

import numpy as np
from scipy.optimize import minimize

from . import curve as lengths

STARTS = (-1.0, -0.3, 0.0, 0.3, 1.0, 2.0)
TRIED = 3  # of the starts: a search can end early where it met a bound
FARTHEST = 6.0
STEP = 1e-3


def of_run(groups, run):
    """Pick the groups of one run, numbered anew."""
    pairs = groups["pair_run"] == run
    number = np.cumsum(pairs) - 1
    out = {name: x[pairs] for name, x in groups.items() if name.startswith("pair_")}
    for side in ("right", "wrong"):
        kept = pairs[groups[f"{side}_pair"]]
        out |= {name: groups[name][kept] for name in (f"{side}_count", f"{side}_cells")}
        out[f"{side}_pair"] = number[groups[f"{side}_pair"][kept]]
    kept = groups["total_run"] == run
    out |= {name: groups[name][kept] for name in ("total_run", "total_count", "total_cells")}
    return {name: np.zeros_like(x) if name.endswith("_run") else x for name, x in out.items()}


def run_log_likelihood(values, parts, log_train, groups, shape):
    """Log density of one run's counts but for binomial coefficients.

    Parameters
    ----------
    values : ndarray, shape (..., part)
    parts : sequence of str
    log_train : float
    groups : dict
        From `of_run`.
    shape : str

    Returns
    -------
    ndarray, shape (...)
    """
    curve = {part: values[..., i, None] for i, part in enumerate(parts)}
    return lengths.log_likelihood(curve, np.array([log_train]), groups, shape, lambda x, _: x.sum(-1))


def modes(groups, log_train, parts, priors, shape):
    """Mode of each run's likelihood under a wide prior, and the information that its counts alone give there.

    Parameters
    ----------
    groups : dict of str to ndarray
        From `lengths_design.groups`.
    log_train : ndarray, shape (run,)
    parts : sequence of str
    priors : sequence of (float, float)
        Centre and spread of each part.
    shape : str

    Returns
    -------
    centre, information : ndarray, shape (run, part)
        Information is 1 over the variance of a part, the others being unknown too; 0 for a run without counts.
    """
    location, spread = np.array(priors, float).T
    farthest = np.full(len(parts), FARTHEST)
    if "log_precision" in parts:
        of = list(parts).index("log_precision")
        farthest[of] = min(FARTHEST, (lengths.LARGEST_LOG_PRECISION - abs(location[of])) / spread[of])
    bounds = np.column_stack([-farthest, farthest])
    centre = np.tile(location, (len(log_train), 1))
    information = np.zeros_like(centre)
    for run in np.unique(groups["pair_run"]):
        own = of_run(groups, run)

        def cost(z, own=own, run=run):
            u = location + spread * z
            return 0.5 * (z**2).sum() - run_log_likelihood(u, parts, log_train[run], own, shape)

        starts = np.zeros((len(STARTS), len(parts)))
        starts[:, 0] = (np.array(STARTS) - location[0]) / spread[0]
        tried = [minimize(cost, start, method="L-BFGS-B", bounds=bounds) for start in sorted(starts, key=cost)[:TRIED]]
        found = min(tried, key=lambda end: end.fun).x
        variance = np.diag(np.linalg.inv(_curvature(cost, found)))
        centre[run] = location + spread * found
        # The wide prior has information 1 in z; what exceeds it is the counts'.
        information[run] = np.where(variance > 0, np.maximum(1 / variance - 1, 0), 0) / spread**2
    return centre, information


def _curvature(cost, z):
    """Second derivatives by central differences, at least those of the wide prior in every direction."""
    n = len(z)
    steps = STEP * np.eye(n)
    matrix = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            corners = [s * t * cost(z + s * steps[i] + t * steps[j]) for s in (1, -1) for t in (1, -1)]
            matrix[i, j] = matrix[j, i] = sum(corners) / (4 * STEP**2)
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(np.maximum(eigenvalues, 1.0)) @ vectors.T

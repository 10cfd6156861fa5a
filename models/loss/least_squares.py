"""A law of the loss through rows by least squares: which losses were computed from it, and which sizes lie off it."""

from itertools import combinations_with_replacement

import numpy as np

from ...datasets.deferred import special

EXACT = 1e-8  # of a loss, as a share: less than a file rounds to
NEARLY = 1e-3  # losses that a search to six digits leaves further off the law than this are measured
FAR = 1e3
ENOUGH_ROWS = 1000  # by which the constants of a law are searched for
MATTERS, LIMIT = 2.0, 0.05  # our choice; see `may_deviate`
FOLLOWED = 1e-3  # share of a group that is left where a law follows it


class Nearest:
    """The law nearest to the log losses of rows, at most `ENOUGH_ROWS` of them, from the medians of the priors."""

    def __init__(self, law, rows, reference):
        self.law, self.reference = law, reference
        self.every = -(-len(rows) // ENOUGH_ROWS)
        self.rows = rows.iloc[:: self.every]
        self.priors = {q.name: law.prior_of[q.name] for q in law.mean_parameters}
        start = [float(prior.to_unconstrained(prior.median)) for prior in self.priors.values()]
        self.best = self._searched(start, 1e-8)

    def _searched(self, start, tolerance):
        """Search until a step changes the sum of squares or z no more: `x`, residuals `fun`, derivatives `jac`."""
        from scipy.optimize import least_squares

        def residual(z):
            return self.residual(z[:, None])

        with np.errstate(all="ignore"):  # where no loss is finite the derivatives are 0
            return least_squares(residual, start, x_scale="jac", ftol=tolerance, xtol=tolerance, gtol=None)

    def constants(self, z):
        """Return the constants of the law at coordinates on the real line."""
        values = {name: prior.from_unconstrained(x)[0] for (name, prior), x in zip(self.priors.items(), z, strict=True)}
        return values | self.law.constants(values, self.reference)

    def residual(self, z, rows=None):
        """Return log means minus log losses, (..., row), at coordinates (coordinate, ..., 1)."""
        rows = self.rows if rows is None else rows
        with np.errstate(all="ignore"):
            mean = self.law.mean(self.constants(z), self.law.sizes(rows))
            difference = np.log(mean / rows[self.law.observed].to_numpy(float))
        return np.where(np.isfinite(difference), difference, FAR)

    def exact(self, rows):
        """Return the constants at which the law has the losses of all rows to `EXACT`, None where they are off it."""
        if np.abs(self.best.fun).max() > NEARLY:
            return None
        best = self._searched(self.best.x, 1e-15)
        if np.abs(best.fun).max() > EXACT or np.abs(self.residual(best.x[:, None], rows)).max() > EXACT:
            return None
        return {name: float(x) for name, x in self.constants(best.x).items() if name in self.law._constant_names}

    def shifts(self, labels):
        """Compare each group of rows with the law of the others: names, shifts and p, (group,) each.

        A shift is the mean by which log losses lie above that law, linear about its least squares. Its p is that of
        Student's t; it is 1 where a row of the group lies on the other side, or the law follows the group.
        """
        names, codes = np.unique(np.asarray(labels)[:: self.every], return_inverse=True)
        groups = np.eye(len(names))[codes]
        explained = _orthonormal(self.best.jac)
        residual, free = (x - explained @ (explained.T @ x) for x in (-self.best.fun, groups))
        lengths = np.maximum((free**2).sum(0), np.finfo(float).tiny)
        shift, df = residual @ free / lengths, len(residual) - explained.shape[1] - 1
        squares = np.maximum(residual @ residual - shift**2 * lengths, np.finfo(float).tiny)
        p = 2 * special.stdtr(max(df, 1), -np.abs(shift) * np.sqrt(lengths * max(df, 1) / squares))
        beside = (shift + residual[:, None] - free * shift)[np.arange(len(codes)), codes] * shift[codes] < 0
        follows = lengths < FOLLOWED * groups.sum(0)
        return names, shift, np.where(follows | (np.bincount(codes, beside) > 0) | (df < 1), 1.0, p)


def may_deviate(rows, columns, observed, group):
    """Return whether groups of rows may deviate from a smooth surface so much that it matters.

    That is, whether the upper limit of their standard deviation, by the F test of their means, makes the variance of a
    mean `MATTERS` times that of independent rows. The surface is cubic in the logarithms of the columns.
    """
    some = rows.iloc[:: -(-len(rows) // ENOUGH_ROWS)]
    groups = np.eye(some[group].nunique())[np.unique(some[group], return_inverse=True)[1]]
    with np.errstate(all="ignore"):
        y, *logs = (np.log(some[name].to_numpy(float)) for name in (observed, *columns))
        logs = [np.ones(len(y)), *((x - x.mean()) / x.std() for x in logs if x.std() > 0)]
    smooth = np.stack([a * b * c for a, b, c in combinations_with_replacement(logs, 3)], axis=1)
    if not (np.isfinite(smooth).all() and np.isfinite(y).all()):
        return True
    explained = _orthonormal(smooth)
    residual, free = (x - explained @ (explained.T @ x) for x in (y, groups))
    u, lengths, _ = np.linalg.svd(free, full_matrices=False)
    between = u[:, lengths > FOLLOWED]
    df = between.shape[1], len(y) - explained.shape[1] - between.shape[1]
    if min(df) < 1:
        return True
    squares = ((between.T @ residual) ** 2).sum()
    within = max(float(residual @ residual) - squares, np.finfo(float).tiny)
    return squares / df[0] / (within / df[1]) > MATTERS * special.fdtri(*df, LIMIT)


def _orthonormal(columns):
    """Return orthonormal directions of columns above a millionth of the longest."""
    u, lengths, _ = np.linalg.svd(columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300), full_matrices=False)
    return u[:, lengths > 1e-6 * lengths[0]]

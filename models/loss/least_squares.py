"""A law of the loss through rows by least squares: which losses were computed from it, and which sizes deviate."""

import numpy as np

from ...datasets.deferred import special

EXACT = 1e-8  # of a loss, as a share: less than a file rounds to
NEARLY = 1e-3  # losses that a search to six digits leaves further off the law than this are measured
FAR = 1e3
ENOUGH_ROWS = 1000  # by which the constants of a law are searched for
OUTSIDE = 1e-3  # share of a direction that is not explained by others


class Nearest:
    """The law nearest to the log losses of rows, at most `ENOUGH_ROWS` of them, from the medians of the priors."""

    def __init__(self, law, rows, reference):
        self.law, self.reference = law, reference
        self.rows = rows.iloc[:: -(-len(rows) // ENOUGH_ROWS)]
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

    def p_of_groups(self, labels):
        """Test whether groups of rows deviate from every smooth law, by the F test of their means.

        What the law and a quadratic function of the logarithms of its columns explain is left out first. So a misfit of
        the law is not taken for deviations of single groups. Labels are of all rows of the table. It is 1 where no
        direction between groups is left, or no row within them.
        """
        used = np.asarray(labels)[:: -(-len(labels) // ENOUGH_ROWS)]
        groups = (used[:, None] == np.unique(used)).astype(float)
        logs = [np.log(x) for x in self.law.sizes(self.rows).values()]
        logs = [(x - x.mean()) / x.std() for x in logs if x.std() > 0]
        smooth = [np.ones(len(used)), *logs, *(x * y for i, x in enumerate(logs) for y in logs[i:])]
        explained = _orthonormal(np.column_stack([self.best.jac, *smooth]))
        residual = self.best.fun - explained @ (explained.T @ self.best.fun)
        between = _orthonormal(groups - explained @ (explained.T @ groups), least=OUTSIDE)
        within = len(used) - explained.shape[1] - between.shape[1]
        if between.shape[1] < 1 or within < 1:
            return 1.0
        squares = ((between.T @ residual) ** 2).sum()
        left = max(float(residual @ residual) - squares, np.finfo(float).tiny)
        ratio = squares / between.shape[1] / (left / within)
        return float(special.fdtrc(between.shape[1], within, ratio))


def _orthonormal(columns, least=None):
    """Return orthonormal directions of columns above a least length, by default of a millionth of the longest."""
    if least is None:
        columns = columns / np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    u, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, lengths > (1e-6 * lengths[0] if least is None else least)]

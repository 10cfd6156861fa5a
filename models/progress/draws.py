"""Draws under a law of algorithmic progress: coefficients, means and log densities."""

import numpy as np

from ...datasets.deferred import special, xr
from .. import effects
from ..draws import COORDINATE, DRAWS, CoordinateDraws, draw_coordinates
from . import density
from .coefficients import named_coefficients

LARGEST_MEAN = 600.0  # nats: a perplexity of exp(600) is near the largest that a float holds


class ProgressDraws(CoordinateDraws):
    """Draws of the coordinates z of a law of algorithmic progress.

    Attributes
    ----------
    c : dict of str to ndarray
        From `density.coefficients`.
    design : dict of str to ndarray
        From `Progress.design_arrays`.
    """

    def __init__(self, law, reference, rows, z):
        super().__init__(law, reference, rows, z)
        self.design = law.design_arrays(rows, reference)
        self.c = density.coefficients(law, z, self.design)

    def _computed(self, function, **options):
        """Return the result of a function of `density` at these draws."""
        return function(self.law, self.c, self.design, **options)

    def named(self):
        """Return the coefficients by name; see `named_coefficients`."""
        coefficients = named_coefficients(self.law, self.reference, self.c)
        return xr.Dataset(coefficients, coords=draw_coordinates(*self.z.shape[:2]))

    def mean(self, rows=None):
        """Return the mean loss at the rows, nats per token: dims (chain, draw, evaluation)."""
        at = self._at(rows)
        return self._array(at._computed(density.mean), "evaluation")

    def rowwise(self):
        """Return rows' log densities, an ndarray (chain, draw, row), given the paper's others under paper effects."""
        rule = density.conditional_log_likelihood if self.law.paper_effects else density.log_likelihood
        return self._computed(rule)

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the probability of at most each observed loss; under paper effects given its paper's other rows."""
        at = self._at(rows)
        residual, scatter = at._conditional(conditioning)
        z = residual / scatter
        values = special.stdtr(at.c["nu"], z) if self.law.noise == "student_t" else special.ndtr(z)
        return self._array(values, "evaluation")

    def _conditional(self, conditioning):
        """Return residuals and scatter; under paper effects given a paper's ``"others"`` or ``"earlier"`` rows."""
        residual, scatter = (
            self._computed(density.residuals),
            self._computed(density.scatter),
        )
        if not self.law.paper_effects:
            return residual, scatter
        papers = density.papers(self.design)
        residual, scatter, *_ = effects.conditional(residual, self.c["paper_sd"], papers, conditioning, scatter)
        return residual, scatter

    def relative_scatter(self):
        """Return the scatter of each residual as a share of the mean loss, an ndarray (chain, draw, evaluation)."""
        residual, scatter = self._conditional("earlier")
        shares = scatter if self.law.scale == "log_loss" else scatter / self._computed(density.mean)
        return np.broadcast_to(shares, residual.shape)

    def by_paper(self):
        """Return the log density of each paper's rows under paper effects, (chain, draw, paper), by papers' ids."""
        return self._computed(density.paper_log_likelihood)

    def of_groups(self):
        """Return the log density of each paper's rows under paper effects, (chain, draw, paper_id), else None."""
        if not self.law.paper_effects:
            return None
        return self._array(self.by_paper(), "paper_id", paper_id=np.unique(self.rows["paper_id"]))

    def total_log_likelihood(self, rows=None):
        """Return the log density of all rows together; under paper effects rows of a paper are not independent."""
        at = self._at(rows)
        return self._array((at.by_paper() if self.law.paper_effects else at.rowwise()).sum(-1))

    def log_prior(self):
        """Return the log prior density of the coordinates, as one variable ``z``."""
        return xr.Dataset({"z": self._array(self.law.log_prior(self.z, self.c, self.design))})

    def log_density(self):
        """Return the log posterior density of z up to a constant."""
        rule = density.paper_log_likelihood if self.law.paper_effects else density.log_likelihood
        return self._array(self.law.log_prior(self.z, self.c, self.design) + self._computed(rule).sum(-1))

    def replicate(self, rng, rows=None):
        """Draw losses of new evaluations on the scale of the law, each paper's effect drawn again."""
        at = self._at(rows)
        law, c, mean = self.law, at.c, at._computed(density.mean)
        sigma = at._computed(density.scatter)
        if law.paper_effects:
            noise = effects.draw(rng, mean.shape, c["paper_sd"], density.papers(at.design), sigma)
        elif law.noise == "student_t":
            noise = sigma * rng.standard_t(np.broadcast_to(c["nu"], mean.shape))
        else:
            noise = sigma * rng.standard_normal(mean.shape)
        centre = np.log(np.maximum(mean, density.LEAST_REDUCIBLE)) if law.scale == "log_loss" else mean
        return self._array(centre + noise, "evaluation").rename(law.scale)

    def real_line(self):
        """Return the coordinates z."""
        return self._array(self.z, COORDINATE, **{COORDINATE: self.law.coordinates})

    def from_real_line(self, z):
        """Return draws at coordinates as `real_line` gives them."""
        return ProgressDraws(self.law, self.reference, self.rows, z.transpose(*DRAWS, COORDINATE).values)

    def unit_log_likelihood(self, i):
        """Return the log density of row `i`, given its paper's other rows under paper effects: dims (chain, draw)."""
        return self._array(self.rowwise()[..., i])

    def left_out_density(self, fitted, i, *, seed=0):
        """Return the log predictive density of row `i` under draws fitted to the others, (chain, draw)."""
        return fitted._array(self.left_out(fitted, np.arange(len(self.rows)) == i)[0][..., 0])

    def left_out(self, fitted, left):
        """Return the log densities of rows left out, given draws `fitted` to the others.

        Under paper effects, rows of a paper that were not left out inform those that were.

        Parameters
        ----------
        fitted : ProgressDraws
        left : ndarray of bool, shape (row,)

        Returns
        -------
        rowwise : ndarray, shape (chain, draw, left out)
            Of each row alone.
        joint : ndarray, shape (chain, draw)
            Of them together.
        mean : ndarray, shape (chain, draw, left out)
            Mean loss in nats (in another paper, under paper effects).
        """
        if not self.law.paper_effects:
            at = fitted._at(self.rows[left].reset_index(drop=True))
            rowwise = at.rowwise()
            return rowwise, rowwise.sum(-1), at._computed(density.mean)
        at, remaining = fitted._at(self.rows), fitted._at(self.rows[~left].reset_index(drop=True))
        rowwise = at._computed(density.conditional_log_likelihood, conditioning=~left)[..., left]
        return (
            rowwise,
            at.by_paper().sum(-1) - remaining.by_paper().sum(-1),
            at._computed(density.mean)[..., left],
        )

    @property
    def can_be_simulated(self):
        """Return whether every mean loss is below 600 nats, which a perplexity can state."""
        return bool(self._computed(density.mean).max() < LARGEST_MEAN)

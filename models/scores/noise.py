"""How scores scatter about their mean, those at the ends of the scale as intervals, and capabilities about theirs.

A score within `END` of 0 or 1 counts as an interval. Its density is the mass of ``[0, END]`` or ``[1 - END, 1]``, which
is finite at both ends of the scale, where the density of a beta is not. All functions take arrays of any broadcastable
shapes and of any library of `arrays`.
"""

import math

import numpy as np

from ...datasets.deferred import special
from ..arrays import exp, gammaln, log, log1p, logaddexp, where

END = 0.005  # the resolution of most benchmarks: one question of 200
LOG_END, LOG_REST = np.log(END), np.log1p(-END)
TERMS = 32
FREEDOM = 4
T4_VARIANCE = FREEDOM / (FREEDOM - 2)
LEAST = 1e-300


class Beta:
    """A beta about the mean, its precision ``0.25 / noise**2``: noise is nearly the sd of a score at a mean of 1/2."""

    @staticmethod
    def log_density(eta, log_noise, log_score, log_rest):
        """Return the log density of a score away from the ends, from the logit of the mean, log y and log(1 - y)."""
        precision, a, b = _shapes(eta, log_noise)
        return gammaln(precision) - gammaln(a) - gammaln(b) + (a - 1) * log_score + (b - 1) * log_rest

    @staticmethod
    def with_sampling(eta, log_noise, per_item):
        """Return the log noise of means over a number of questions, whose variance is that of a beta-binomial.

        `per_item` is 1 over that number, 0 where it is not known.
        """
        return 0.5 * log((exp(2 * log_noise) + 0.25 * per_item) / (1 - per_item))

    @staticmethod
    def log_below(eta, log_noise):
        """Return the log probability of a score of at most `END`.

        The incomplete beta by its hypergeometric series, equation 8.17.8 of the NIST Digital Library of Mathematical
        Functions. Its terms are positive and fall from where ``n > END / (4 noise**2)``. Of noise from 0.01 on, the
        first 32 leave out less than a millionth.
        """
        precision, a, b = _shapes(eta, log_noise)
        term = total = 1.0
        for n in range(TERMS):
            term = term * (END * (precision + n) / (a + 1 + n))
            total = total + term
        return a * LOG_END + b * LOG_REST + gammaln(precision) - gammaln(a + 1) - gammaln(b) + log(total)

    @staticmethod
    def cdf(eta, log_noise, score):
        """Return the probability of a score of at most the one given; arrays of NumPy."""
        _, a, b = _shapes(eta, log_noise)
        return special.betainc(np.maximum(a, LEAST), np.maximum(b, LEAST), score)

    @staticmethod
    def draw(eta, log_noise, rng):
        """Draw scores at random; arrays of NumPy."""
        _, a, b = _shapes(eta, log_noise)
        return rng.beta(np.maximum(a, LEAST), np.maximum(b, LEAST))

    @staticmethod
    def sd(eta, log_noise):
        """Return the standard deviation of scores; arrays of NumPy."""
        precision, a, b = _shapes(eta, log_noise)
        return np.sqrt(a * b / (1 + precision)) / precision


class LogitT4:
    """Student t of 4 degrees of freedom on the logit, its scale ``4 noise``: at 1/2 a score then moves by the noise."""

    @staticmethod
    def log_density(eta, log_noise, log_score, log_rest):
        """Return the log density of a score away from the ends; see `Beta.log_density`."""
        scale = 4 * exp(log_noise)
        z = (log_score - log_rest - eta) / scale
        return log_t4(z * z) - log(scale) - log_score - log_rest

    @staticmethod
    def with_sampling(eta, log_noise, per_item):
        """Return the log noise of means over a number of questions, whose logits vary more by a binomial's variance.

        The variance of the logit is ``1 / (n p (1 - p))`` besides; see `Beta.with_sampling`.
        """
        variance = per_item * (2.0 + exp(eta) + exp(-eta))
        return 0.5 * log(exp(2 * log_noise) + variance / T4_VARIANCE / 16)

    @staticmethod
    def log_below(eta, log_noise):
        """Return the log probability of a score of at most `END`, in closed form for 4 degrees of freedom."""
        t = (LOG_END - LOG_REST - eta) / (4 * exp(log_noise))
        root = (4 + t * t) ** 0.5
        below = -where(t < 0, t, 0.0)
        # 1 + t/root, of which a large negative t would leave nothing.
        share = where(t < 0, 4 / (root * (root + below)), 1 + t / root)
        return log(share) * 2 + log(3 - share) - np.log(4)

    @staticmethod
    def cdf(eta, log_noise, score):
        """Return the probability of a score of at most the one given; arrays of NumPy."""
        return special.stdtr(FREEDOM, (special.logit(score) - eta) / (4 * np.exp(log_noise)))

    @staticmethod
    def draw(eta, log_noise, rng):
        """Draw scores at random; arrays of NumPy."""
        shape = np.broadcast_shapes(np.shape(eta), np.shape(log_noise))
        return special.expit(eta + 4 * np.exp(log_noise) * rng.standard_t(FREEDOM, shape))

    @staticmethod
    def sd(eta, log_noise):
        """Return the standard deviation of scores, to first order; arrays of NumPy."""
        slope = special.expit(eta) * special.expit(-eta)
        return np.sqrt(2) * 4 * np.exp(log_noise) * slope


LOG_T4 = math.lgamma((FREEDOM + 1) / 2) - math.lgamma(FREEDOM / 2) - 0.5 * math.log(FREEDOM * math.pi)
NOISES = {"beta": Beta, "logit_t4": LogitT4}


def log_t4(square):
    """Return the log density of a standard Student t of 4 degrees of freedom at values of these squares."""
    return LOG_T4 - 2.5 * log1p(square / FREEDOM)


def _shapes(eta, log_noise):
    """Return the precision of a beta, and its two parameters."""
    precision = 0.25 * exp(-2 * log_noise)
    return precision, precision * exp(-logaddexp(0.0, -eta)), precision * exp(-logaddexp(0.0, eta))


# Scatter of capabilities about what compute and date predict ----------------------------------------------------------


class Normal:
    """A normal."""

    @staticmethod
    def log_density(x, mean, variance):
        """Return the log density."""
        return -0.5 * (np.log(2 * np.pi) + log(variance) + (x - mean) ** 2 / variance)

    @staticmethod
    def draw(rng, shape):
        """Draw standardised values."""
        return rng.standard_normal(shape)


class T4:
    """Student's t of 4 degrees of freedom, its scale the root of `variance`: a few models may lie far off."""

    @staticmethod
    def log_density(x, mean, variance):
        """Return the log density; see `Normal.log_density`."""
        return log_t4((x - mean) ** 2 / variance) - 0.5 * log(variance)

    @staticmethod
    def draw(rng, shape):
        """Draw standardised values."""
        return rng.standard_t(FREEDOM, shape)


SCATTERS = {"normal": Normal, "t4": T4}

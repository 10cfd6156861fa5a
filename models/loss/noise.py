"""How observed losses scatter about a law: normal, Student-t and Huber densities, each normalised.

A density is written once, on arrays of any library; what PyMC samples is what LOO evaluates on the draws.
"""

from dataclasses import dataclass
from math import erf, exp, log, pi, sqrt

import numpy as np

from ...datasets.wording import unknown
from ...errors import InputError
from ..arrays import arcsinh, gammaln, log1p, namespace, sinh, where
from ..arrays import log as log_of
from ..priors import FreeParameter

NOISES = ("student_t", "normal", "huber")
SCALES = ("log_loss", "loss")

QUADRATURE_NODES = 32
LEAST_HALFWIDTH = 1e-4  # in units of sigma; below it a reading error changes a log density by less than 1e-8


def normal_logp(residual, sigma):
    """Log density of a normal residual."""
    return -0.5 * (residual / sigma) ** 2 - log_of(sigma) - 0.5 * log(2 * pi)


def student_t_logp(residual, sigma, nu):
    """Log density of a Student-t residual with scale `sigma` and `nu` degrees of freedom."""
    return (
        gammaln((nu + 1) / 2)
        - gammaln(nu / 2)
        - 0.5 * log_of(nu * pi)
        - log_of(sigma)
        - (nu + 1) / 2 * log1p((residual / sigma) ** 2 / nu)
    )


def huber_normaliser(threshold):
    """Integral of ``exp(-rho_k(u))``: ``sqrt(2 pi) (2 Phi(k) - 1) + (2/k) exp(-k**2/2)`` at threshold k."""
    return sqrt(2 * pi) * erf(threshold / sqrt(2)) + 2 / threshold * exp(-(threshold**2) / 2)


def huber_logp(residual, sigma, threshold):
    """Log density whose negative is Huber's loss of ``residual/sigma``, normalised."""
    u = abs(residual / sigma)
    rho = where(u <= threshold, 0.5 * u**2, threshold * u - 0.5 * threshold**2)
    return -rho - log_of(sigma) - log(huber_normaliser(threshold))


def huber_draw(rng, threshold, shape):
    """Draws of the unit-scale Huber density: a truncated normal in the middle, exponential in the tails."""
    from scipy.stats import truncnorm

    tail = 2 / threshold * exp(-(threshold**2) / 2) / huber_normaliser(threshold)
    middle = truncnorm.rvs(-threshold, threshold, size=shape, random_state=rng)
    tails = (threshold + rng.exponential(1 / threshold, shape)) * rng.choice([-1.0, 1.0], shape)
    return np.where(rng.random(shape) < tail, tails, middle)


def _log_mean_over_nodes(log_density, weights):
    xp = namespace(log_density)
    top = log_density.max(axis=-1)
    return top + xp.log((xp.exp(log_density - top[..., None]) * weights).sum(axis=-1))


@dataclass(frozen=True)
class Noise:
    """The distribution of an observed loss about the mean of a law.

    Parameters
    ----------
    family : {"student_t", "normal", "huber"}
        Student-t has degrees of freedom above 1.
    scale : {"log_loss", "loss"}
        Where the residual is taken.
    threshold : float
        Threshold of the Huber density in units of its scale sigma.
    measurement_error : bool
        Each reading of the loss carries a uniform error on plus or minus ``loss_halfwidth``: its variance is added
        under normal noise, its density is convolved numerically under the others, and sigma is training scatter alone.
    """

    family: str = "student_t"
    scale: str = "log_loss"
    threshold: float = 1.345
    measurement_error: bool = False

    def __post_init__(self):
        for option, value, choices in (("noise", self.family, NOISES), ("scale", self.scale, SCALES)):
            if value not in choices:
                raise InputError(unknown(option, value, choices))
        if not (isinstance(self.threshold, (int, float)) and 0 < self.threshold < float("inf")):
            raise InputError(f"threshold of the Huber noise must be a positive number, not {self.threshold!r}")

    @property
    def free_parameters(self):
        """The sampled quantities of this noise with their default priors."""
        typical = -4.6 if self.scale == "log_loss" else -3.5
        unit = "relative" if self.scale == "log_loss" else "nats/token"
        if self.family == "huber":
            typical += log(self.threshold / (1 + self.threshold))
        sigma = FreeParameter(
            "sigma",
            f"LogNormal({typical:.4g}, 1.5)",
            (0, np.inf),
            unit,
            "Scatter of a run about the law: seeds move a loss by tenths of a per cent, mixed set-ups by up to a "
            "fifth; the prior's 95% interval spans that (0.05% to 19% of the loss, tails of a Huber density included).",
        )
        nu = FreeParameter(
            "nu_minus_one",
            "Gamma(2, 0.1)",
            (0, np.inf),
            "",
            "Degrees of freedom above 1: from nearly Cauchy to nearly normal (Juarez and Steel 2010).",
        )
        return (sigma, nu) if self.family == "student_t" else (sigma,)

    def derived(self, values):
        """Named results that follow from the sampled quantities of the noise."""
        return {"nu": 1 + values["nu_minus_one"]} if self.family == "student_t" else {}

    def arguments(self, values):
        """Return what `logp` and `draw` take after the residual, in order."""
        return (values["sigma"], 1 + values["nu_minus_one"]) if self.family == "student_t" else (values["sigma"],)

    def _exact(self, residual, arguments):
        if self.family == "normal":
            return normal_logp(residual, *arguments)
        if self.family == "student_t":
            return student_t_logp(residual, *arguments)
        return huber_logp(residual, *arguments, self.threshold)

    def logp(self, residual, *arguments, halfwidth=None):
        """Log density of residuals on the noise's scale.

        Parameters
        ----------
        residual : array_like
            Observed minus mean, on `scale`.
        *arguments : array_like
            From `arguments`, broadcast against `residual`.
        halfwidth : array_like, optional
            Half-width of the uniform reading error on `scale`; used when `measurement_error` is set.

        Returns
        -------
        array_like
        """
        if not self.measurement_error:
            return self._exact(residual, arguments)
        if self.family == "normal":
            return normal_logp(residual, (arguments[0] ** 2 + halfwidth**2 / 3) ** 0.5)
        return self._convolved(residual, arguments, halfwidth)

    def _convolved(self, residual, arguments, halfwidth):
        """Mean density over readings within `halfwidth`, the scatter being ``sigma sinh(v)`` and v the variable."""
        sigma = arguments[0]
        halfwidth = where(halfwidth > LEAST_HALFWIDTH * sigma, halfwidth, LEAST_HALFWIDTH * sigma)
        low, high = arcsinh((residual - halfwidth) / sigma), arcsinh((residual + halfwidth) / sigma)
        nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_NODES)
        scatter = sinh((low + high)[..., None] / 2 + (high - low)[..., None] / 2 * nodes)
        unit = [1.0, *(a[..., None] if getattr(a, "ndim", 0) else a for a in arguments[1:])]
        log_density = self._exact(scatter, unit) + 0.5 * log1p(scatter**2)
        return _log_mean_over_nodes(log_density, weights / 2) + log_of((high - low) / (2 * halfwidth))

    def draw(self, rng, shape, *arguments, halfwidth=None):
        """Residuals drawn at random, of `shape`."""
        sigma, *rest = arguments
        if self.family == "normal":
            noise = rng.standard_normal(shape)
        elif self.family == "student_t":
            noise = rng.standard_t(np.broadcast_to(rest[0], shape))
        else:
            noise = huber_draw(rng, self.threshold, shape)
        reading = halfwidth * rng.uniform(-1, 1, shape) if self.measurement_error else 0.0
        return sigma * noise + reading

"""How observed losses scatter about a law: normal, Student-t and Huber densities, each normalised.

A density is written once, on arrays of any library; what PyMC samples is what LOO evaluates on the draws.
"""

from dataclasses import dataclass
from functools import reduce
from math import erf, exp, log, pi, sqrt
from operator import or_
from typing import ClassVar

import numpy as np

from ...datasets.deferred import special
from ...datasets.deferred import stats as st
from ...datasets.wording import check_choice
from ...errors import InputError
from ..arrays import arcsinh, clip, gammaln, largest, log1p, maximum, sinh, where
from ..arrays import exp as exp_of
from ..arrays import log as log_of
from ..naming import check_positive
from ..priors import named

NOISES = ("student_t", "normal", "huber")
SCALES = ("log_loss", "loss")

LOG_SKEW = (
    "Normal(0, 0.5)",
    "Logarithm of g, the skewness: none expected; the prior's 95% interval of g is 0.38 to 2.7.",
)
NU = ("Gamma(2, 0.1)", "Degrees of freedom above 1: from nearly Cauchy to nearly normal (Juarez and Steel 2010).")
EFFECT_SDS = {"run": "run_sd", "size": "size_sd"}  # scale of the effects that rows share
EFFECT_RATIONALES = {
    "run": "Scale of the effect that all readings of a run share, of its seed or its order of data: of the order of "
    "sigma, by the same prior, so that neither is preferred as the source of the scatter.",
    "size": "Scale of the effect that all rows of a model size share, of its shape or its learning rate: 0.02% to 6% "
    "of the loss, as in public tables of eight sources, whose deviations from smooth laws have this distribution.",
}
OF_SIZES = -1.15  # logarithm of the typical scale of effects of sizes over that of sigma: of public tables
OF_EFFECTS = (*EFFECT_SDS.values(), "nu_minus_one")  # rows that share an effect have one value of each
WITH_EFFECTS = ("student_t", "normal")
BEYOND = 1e-9  # of the logarithm of a size: a smaller distance from the fitted range is an error of rounding
ENDS = {"smallest": "sigma_smallest_run", "largest": "sigma_largest_run"}  # derived where sigma depends on sizes
QUADRATURE_NODES = 32
LEAST_HALFWIDTH = 1e-4  # in units of sigma; below it a reading error changes a log density by less than 1e-8


def slope_of(column):
    """Name of the slope of log sigma in the logarithm of a column."""
    return f"sigma_{column}"


def normal_logp(residual, sigma):
    """Return the log density of a normal residual."""
    return -0.5 * (residual / sigma) ** 2 - log_of(sigma) - 0.5 * log(2 * pi)


def student_t_logp(residual, sigma, nu):
    """Return the log density of a Student-t residual with scale `sigma` and `nu` degrees of freedom."""
    return (
        gammaln((nu + 1) / 2)
        - gammaln(nu / 2)
        - 0.5 * log_of(nu * pi)
        - log_of(sigma)
        - (nu + 1) / 2 * log1p((residual / sigma) ** 2 / nu)
    )


def huber_normaliser(threshold):
    """Return the integral of ``exp(-rho_k(u))``: ``sqrt(2 pi) (2 Phi(k) - 1) + (2/k) exp(-k**2/2)``, threshold k."""
    return sqrt(2 * pi) * erf(threshold / sqrt(2)) + 2 / threshold * exp(-(threshold**2) / 2)


def huber_logp(residual, sigma, threshold):
    """Return the log density whose negative is Huber's loss of ``residual/sigma``, normalised."""
    u = abs(residual / sigma)
    rho = where(u <= threshold, 0.5 * u**2, threshold * u - 0.5 * threshold**2)
    return -rho - log_of(sigma) - log(huber_normaliser(threshold))


def huber_draw(rng, threshold, shape):
    """Draw from the unit-scale Huber density: a truncated normal in the middle, exponential in the tails."""
    tail = 2 / threshold * exp(-(threshold**2) / 2) / huber_normaliser(threshold)
    middle = st.truncnorm.rvs(-threshold, threshold, size=shape, random_state=rng)
    tails = (threshold + rng.exponential(1 / threshold, shape)) * rng.choice([-1.0, 1.0], shape)
    return np.where(rng.random(shape) < tail, tails, middle)


@dataclass(frozen=True)
class Noise:
    """The distribution of an observed loss about the mean of a law.

    * ``family``: student_t, with degrees of freedom above 1, normal or huber.
    * ``scale``: log_loss or loss, where the residual is taken.
    * ``threshold``: threshold of the Huber density in units of its scale sigma.
    * ``measurement_error``: each reading of the loss carries a uniform error on plus or minus ``loss_halfwidth``. Its
      variance is added under normal noise, and its density is convolved numerically under the others. sigma is training
      scatter alone.
    * ``sizes``: columns that the scatter depends on: log sigma is linear in their logarithms, each slope sampled.
    * ``skew``: residuals above the mode are wider by g and those below narrower by it (Fernandez and Steel 1998,
      https://doi.org/10.1080/01621459.1998.10474117).
    * ``effects_of``: run or size. Rows of a run, or of a model size, share an effect, integrated out in `effects`.
      `logp`, `cdf` and `draw` are of a row alone or, with the result of `effects.conditional`, of a row given others
      that share it.
    """

    family: str = "student_t"
    scale: str = "log_loss"
    threshold: float = 1.345
    measurement_error: bool = False
    sizes: tuple = ()
    skew: bool = False
    effects_of: str | None = None

    scale_name: ClassVar[str] = "sigma"

    def __post_init__(self):
        for option, value, choices in (("noise", self.family, NOISES), ("scale", self.scale, SCALES)):
            check_choice(option, value, choices)
        check_positive("threshold of the Huber noise", self.threshold)
        if self.effects_of is not None:
            self._check_effects(f"{self.effects_of}_effects")

    def _check_effects(self, switch):
        if self.family not in WITH_EFFECTS:
            choices = " or ".join(f"noise={name!r}" for name in WITH_EFFECTS)
            raise InputError(f"{switch}: no effect can be integrated out of {self.family} noise; set {choices}")
        for option in ("measurement_error", "skew"):
            if getattr(self, option):
                raise InputError(f"{switch} cannot be used with {option}; set {option}=False, or {switch}=False")

    @property
    def effect_sd(self):
        """Name of the scale of the effects; None where rows share none."""
        return EFFECT_SDS.get(self.effects_of)

    @property
    def free_parameters(self):
        """Return the sampled quantities of this noise with their default priors."""
        typical = -4.6 if self.scale == "log_loss" else -3.5
        unit = "relative" if self.scale == "log_loss" else "nats/token"
        if self.family == "huber":
            typical += log(self.threshold / (1 + self.threshold))
        sigma = (
            f"LogNormal({typical:.4g}, 1.5)",
            "Scatter of a run about the law: seeds move a loss by tenths of a per cent, mixed set-ups by up to a "
            "fifth; the prior's 95% interval spans that (0.05% to 19% of the loss, tails of a Huber density included).",
            unit,
        )
        slope = "Change of log sigma per log of {}: none expected; at 0.5 the scatter triples over a decade."
        quantities = {"sigma": sigma}
        if self.family == "student_t":
            quantities["nu_minus_one"] = NU
        if self.effects_of:
            prior = sigma[0] if self.effects_of == "run" else f"LogNormal({typical + OF_SIZES:.4g}, 1.5)"
            quantities[self.effect_sd] = (prior, EFFECT_RATIONALES[self.effects_of], unit)
        quantities |= {slope_of(column): ("Normal(0, 0.5)", slope.format(column)) for column in self.sizes}
        return tuple(named(**quantities | ({"log_skew": LOG_SKEW} if self.skew else {})).values())

    def derived(self, values, reference):
        """Return the named results that follow from the sampled quantities of the noise."""
        nu = {"nu": 1 + values["nu_minus_one"]} if self.family == "student_t" else {}
        skew = {"skew": exp_of(values["log_skew"])} if self.skew else {}
        ends = {
            name: self._scatter(values, reference, {size: reference[f"log_{size}_{end}"] for size in self.sizes})
            for end, name in (ENDS if self.sizes else {}).items()
        }
        return nu | skew | ends | self._shared(values)

    def _shared(self, values):
        """Return the share of the scatter that rows of one effect have in common where sigma is the centre's."""
        if self.effects_of is None:
            return {}
        between = values[self.effect_sd] ** 2
        return {"rho": between / (between + values[self.scale_name] ** 2)}

    def centre(self, columns):
        """Return what slopes of sigma refer to, scalars by name: of the logarithm of each size its mean and its range.

        Beyond the fitted range the runs do not inform sigma; see `arguments`. The smallest and the largest run are
        those of the least and the greatest product of the sizes.
        """
        logs = {column: np.log(np.asarray(columns[column], float)) for column in self.sizes}
        scalars, total = {}, sum(logs.values())
        for column, x in logs.items():
            figures = {"mean": x.mean(), "min": x.min(), "max": x.max()}
            figures |= {"smallest": x[np.argmin(total)], "largest": x[np.argmax(total)]}
            scalars |= {f"log_{column}_{name}": float(figure) for name, figure in figures.items()}
        return scalars

    def _scatter(self, values, reference, logs):
        """Return sigma at logarithms of the sizes, those beyond the fitted range set to its end."""
        logs_from_centre = {
            name: clip(x, reference[f"log_{name}_min"], reference[f"log_{name}_max"]) - reference[f"log_{name}_mean"]
            for name, x in logs.items()
        }
        return values[self.scale_name] * exp_of(sum(values[slope_of(name)] * x for name, x in logs_from_centre.items()))

    def _beyond(self, reference, logs):
        """Return whether rows are outside the fitted range of one of the sizes."""
        below = [reference[f"log_{name}_min"] - x > BEYOND for name, x in logs.items()]
        above = [x - reference[f"log_{name}_max"] > BEYOND for name, x in logs.items()]
        return reduce(or_, below + above)

    def arguments(self, values, reference=None, columns=None, *, fitted=False):
        """Return what `logp`, `cdf` and `draw` take after the residual, in order, from sampled quantities.

        Where sigma depends on sizes, these are the `columns`, and the reference holds what `centre` gave. Outside the
        fitted range of a size, sigma has its value at the end of the range. Where the value at the centre of the runs
        is larger, it has that. A scatter that falls with size would otherwise predict the next size almost exactly,
        which no run supports. Of `fitted` rows none is outside.
        """
        sigma = centre = values[self.scale_name]
        if self.sizes:
            logs = {name: log_of(columns[name]) for name in self.sizes}
            sigma = self._scatter(values, reference, logs)
            if not fitted:
                sigma = where(self._beyond(reference, logs), maximum(sigma, centre), sigma)
        nu = (1 + values["nu_minus_one"],) if self.family == "student_t" else ()
        return (sigma, *nu, *((exp_of(values["log_skew"]),) if self.skew else ()))

    def _exact(self, residual, arguments):
        if self.skew:
            *arguments, skew = arguments
            turned = where(residual >= 0, residual / skew, residual * skew)
            return self._symmetric(turned, arguments) + log_of(2 / (skew + 1 / skew))
        return self._symmetric(residual, arguments)

    def _symmetric(self, residual, arguments):
        if self.family == "normal":
            return normal_logp(residual, *arguments)
        if self.family == "student_t":
            return student_t_logp(residual, *arguments)
        return huber_logp(residual, *arguments, self.threshold)

    def cdf(self, residual, *arguments, halfwidth=None):
        """Return the probability of a residual of at most `residual`; parameters as for `logp`, NumPy arrays."""
        sigma, *rest = arguments
        if not self.measurement_error:
            return self._unit_cdf(residual / sigma, rest)
        halfwidth = np.maximum(halfwidth, LEAST_HALFWIDTH * sigma)
        if self.family == "normal" and not self.skew:
            return self._unit_cdf(residual / (sigma**2 + halfwidth**2 / 3) ** 0.5, rest)
        low, high = arcsinh((residual - halfwidth) / sigma), arcsinh((residual + halfwidth) / sigma)
        nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_NODES)
        v = (low + high)[..., None] / 2 + (high - low)[..., None] / 2 * nodes
        unit = [np.asarray(a)[..., None] for a in rest]
        heights = self._unit_cdf(np.sinh(v), unit) * np.cosh(v) * sigma[..., None]
        return (heights * weights).sum(-1) * (high - low) / 2 / (2 * halfwidth)

    def _unit_cdf(self, u, rest):
        if not self.skew:
            return self._symmetric_cdf(u, rest)
        *rest, skew = rest
        below = 2 / (1 + skew**2) * self._symmetric_cdf(np.minimum(u, 0) * skew, rest)
        above = 1 - 2 * skew**2 / (1 + skew**2) * self._symmetric_cdf(-np.maximum(u, 0) / skew, rest)
        return np.where(u < 0, below, above)

    def _symmetric_cdf(self, u, rest):
        if self.family == "normal":
            return special.ndtr(u)
        if self.family == "student_t":
            return special.stdtr(rest[0], u)
        k = self.threshold
        tail = np.exp(k**2 / 2 - k * np.maximum(np.abs(u), k)) / k
        middle = sqrt(2 * pi) * (special.ndtr(-np.minimum(np.abs(u), k)) - special.ndtr(-k))
        upper = (tail + np.where(np.abs(u) < k, middle, 0.0)) / huber_normaliser(k)
        return np.where(u > 0, 1 - upper, upper)

    def logp(self, residual, *arguments, halfwidth=None):
        """Return the log density of residuals, observed minus mean, on the noise's scale, given its `arguments`.

        The half-width of the uniform reading error, on that scale, is used when `measurement_error` is set.
        """
        if not self.measurement_error:
            return self._exact(residual, arguments)
        if self.family == "normal" and not self.skew:
            return normal_logp(residual, (arguments[0] ** 2 + halfwidth**2 / 3) ** 0.5)
        return self._convolved(residual, arguments, halfwidth)

    def _convolved(self, residual, arguments, halfwidth):
        """Return the mean density over readings within `halfwidth`: scatter ``sigma sinh(v)``, v the variable."""
        sigma = arguments[0]
        halfwidth = where(halfwidth > LEAST_HALFWIDTH * sigma, halfwidth, LEAST_HALFWIDTH * sigma)
        low, high = arcsinh((residual - halfwidth) / sigma), arcsinh((residual + halfwidth) / sigma)
        nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_NODES)
        scatter = sinh((low + high)[..., None] / 2 + (high - low)[..., None] / 2 * nodes)
        unit = [1.0, *(a[..., None] if getattr(a, "ndim", 0) else a for a in arguments[1:])]
        log_density = self._exact(scatter, unit) + 0.5 * log1p(scatter**2)
        top = largest(log_density)
        mean = top + log_of((exp_of(log_density - top[..., None]) * (weights / 2)).sum(axis=-1))
        return mean + log_of((high - low) / (2 * halfwidth))

    def draw(self, rng, shape, *arguments, halfwidth=None):
        """Draw residuals of `shape`."""
        sigma, *rest = arguments
        if self.family == "normal":
            noise = rng.standard_normal(shape)
        elif self.family == "student_t":
            noise = rng.standard_t(np.broadcast_to(rest[0], shape))
        else:
            noise = huber_draw(rng, self.threshold, shape)
        if self.skew:
            skew = np.broadcast_to(rest[-1], shape)
            above = rng.random(shape) < skew**2 / (1 + skew**2)
            noise = np.abs(noise) * np.where(above, skew, -1 / skew)
        reading = halfwidth * rng.uniform(-1, 1, shape) if self.measurement_error else 0.0
        return sigma * noise + reading

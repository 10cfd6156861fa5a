"""Priors as text, ``LogNormal(-1, 0.5)``: parsed, checked against a support, evaluated, and handed to PyMC."""

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..datasets.deferred import special
from ..datasets.wording import printable, unknown
from ..errors import InputError
from .arrays import exp, log, log1p, logaddexp
from .backend import pymc

# Log densities up to a constant, of a value and the logarithms of its distances from the ends of the support.
KERNELS: dict[str, Callable] = {
    "Normal": lambda x, low, high, mu, sigma: -0.5 * ((x - mu) / sigma) ** 2,
    "LogNormal": lambda x, low, high, mu, sigma: -0.5 * ((low - mu) / sigma) ** 2 - low,
    "HalfNormal": lambda x, low, high, sigma: -0.5 * (x / sigma) ** 2,
    "TruncatedNormal": lambda x, low, high, mu, sigma, lower, upper: -0.5 * ((x - mu) / sigma) ** 2,
    "StudentT": lambda x, low, high, nu, mu, sigma: -(nu + 1) / 2 * log1p(((x - mu) / sigma) ** 2 / nu),
    "Laplace": lambda x, low, high, mu, b: -abs(x - mu) / b,
    "Gamma": lambda x, low, high, alpha, beta: (alpha - 1) * low - beta * x,
    "InverseGamma": lambda x, low, high, alpha, beta: -(alpha + 1) * low - beta / x,
    "Exponential": lambda x, low, high, lam: -lam * x,
    "Beta": lambda x, low, high, alpha, beta: (alpha - 1) * low + (beta - 1) * high,
    "Uniform": lambda x, low, high, lower, upper: 0.0,
}
# The names of the parameters of each.
DISTRIBUTIONS = {name: tuple(inspect.signature(kernel).parameters)[3:] for name, kernel in KERNELS.items()}

LOG_ROOT = 0.5 * np.log(2 * np.pi)


def _of_gamma(alpha, beta):
    return alpha * np.log(beta) - special.gammaln(alpha)


def _mass(mu, sigma, lower, upper):
    """Return the ends of a truncated normal in sds, mirrored if most of it lies above 0, and its log mass."""
    low, high = (lower - mu) / sigma, (upper - mu) / sigma
    mirrored = low + high > 0
    low, high = (-high, -low) if mirrored else (low, high)
    below, above = special.log_ndtr(low), special.log_ndtr(high)
    return mirrored, below, above + np.log1p(-np.exp(below - above))


def _truncated_quantile(p, mu, sigma, lower, upper):
    mirrored, below, mass = _mass(mu, sigma, lower, upper)
    share = np.log1p(-p) if mirrored else np.log(p)
    return mu + sigma * (-1 if mirrored else 1) * special.ndtri_exp(np.logaddexp(below, share + mass))


# What a log density is above its kernel, and the quantile of a probability.
CONSTANTS = {
    "Normal": lambda mu, sigma: -np.log(sigma) - LOG_ROOT,
    "LogNormal": lambda mu, sigma: -np.log(sigma) - LOG_ROOT,
    "HalfNormal": lambda sigma: np.log(2 / sigma) - LOG_ROOT,
    "TruncatedNormal": lambda mu, sigma, **ends: -np.log(sigma) - LOG_ROOT - _mass(mu, sigma, **ends)[-1],
    "StudentT": lambda nu, mu, sigma: (
        special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2) - 0.5 * np.log(nu * np.pi) - np.log(sigma)
    ),
    "Laplace": lambda mu, b: -np.log(2 * b),
    "Gamma": _of_gamma,
    "InverseGamma": _of_gamma,
    "Exponential": lambda lam: np.log(lam),
    "Beta": lambda alpha, beta: -special.betaln(alpha, beta),
    "Uniform": lambda lower, upper: -np.log(upper - lower),
}
QUANTILES = {
    "Normal": lambda p, mu, sigma: mu + sigma * special.ndtri(p),
    "LogNormal": lambda p, mu, sigma: np.exp(mu + sigma * special.ndtri(p)),
    "HalfNormal": lambda p, sigma: sigma * special.ndtri((1 + p) / 2),
    "TruncatedNormal": _truncated_quantile,
    "StudentT": lambda p, nu, mu, sigma: mu + sigma * special.stdtrit(nu, p),
    "Laplace": lambda p, mu, b: mu - b * np.sign(p - 0.5) * np.log1p(-abs(2 * p - 1)),
    "Gamma": lambda p, alpha, beta: special.gammaincinv(alpha, p) / beta,
    "InverseGamma": lambda p, alpha, beta: beta / special.gammainccinv(alpha, p),
    "Exponential": lambda p, lam: -np.log1p(-p) / lam,
    "Beta": lambda p, alpha, beta: special.betaincinv(alpha, beta, p),
    "Uniform": lambda p, lower, upper: lower + (upper - lower) * p,
}
# Random numbers of those for which NumPy has a method; of others they are quantiles.
RANDOM = {
    "Normal": lambda rng, shape, mu, sigma: mu + sigma * rng.standard_normal(shape),
    "LogNormal": lambda rng, shape, mu, sigma: np.exp(sigma * rng.standard_normal(shape)) * np.exp(mu),
    "HalfNormal": lambda rng, shape, sigma: sigma * abs(rng.standard_normal(shape)),
    "StudentT": lambda rng, shape, nu, mu, sigma: mu + sigma * rng.standard_t(nu, shape),
    "Laplace": lambda rng, shape, mu, b: mu + b * rng.laplace(0, 1, shape),
    "Gamma": lambda rng, shape, alpha, beta: rng.standard_gamma(alpha, shape) / beta,
    "Exponential": lambda rng, shape, lam: rng.standard_exponential(shape) / lam,
    "Beta": lambda rng, shape, alpha, beta: rng.beta(alpha, beta, shape),
}
POSITIVE_ARGUMENTS = {"sigma", "nu", "b", "alpha", "beta", "lam"}

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
CALL = re.compile(r"([A-Za-z]+)\s*\((.*)\)", re.DOTALL)
SHOWN = 80  # characters of a text in a message
# Quantiles that sampling needs to distinguish, and the square of their spread to be a number that is not 0.
PROBABILITIES = np.arange(1, 100) / 100


@dataclass(frozen=True)
class Prior:
    """A distribution of one sampled quantity: a name in `DISTRIBUTIONS`, and its parameters by the names of PyMC."""

    distribution: str
    arguments: dict

    @classmethod
    def parse(cls, text):
        """Read ``Name(number, ..., name=number)``, a distribution of PreliZ or PyMC, or ``Prior`` of pymc-extras.

        Refused is any other text, an unknown distribution, parameters that make none, and those of which double
        precision does not hold or separate the quantiles.
        """
        if isinstance(text, cls):
            return text
        prior = _parsed(_written(text), shown(text))
        _check_distribution(prior, shown(text))
        return prior

    def __str__(self):
        return f"{self.distribution}({', '.join(repr(v).removesuffix('.0') for v in self.arguments.values())})"

    @functools.cached_property
    def support(self):
        """Return the lower and upper end of the support."""
        if "lower" in self.arguments:
            return float(self.arguments["lower"]), float(self.arguments["upper"])
        if self.distribution == "Beta":
            return 0.0, 1.0
        return (-np.inf if "mu" in self.arguments and self.distribution != "LogNormal" else 0.0), np.inf

    def quantile(self, probabilities):
        """Return quantiles, NaN where the parameters make no distribution."""
        arguments = self.arguments
        positive = all(x > 0 for name, x in arguments.items() if name in POSITIVE_ARGUMENTS)
        if not positive or not self.support[0] < self.support[1]:
            return np.full_like(probabilities, np.nan, dtype=float)
        return QUANTILES[self.distribution](np.asarray(probabilities, float), **arguments)

    @property
    def median(self):
        """Return the median."""
        return float(self.quantile(0.5))

    def drawn(self, rng, shape=()):
        """Draw random numbers with a generator of NumPy."""
        draw = RANDOM.get(self.distribution)
        return self.quantile(rng.uniform(size=shape)) if draw is None else draw(rng, shape, **self.arguments)

    def log_density(self, x):
        """Return the log density at numbers, minus infinity beyond the support."""
        low, high = self.support
        with np.errstate(all="ignore"):
            logs = np.log(x - low), np.log(high - x)
            value = KERNELS[self.distribution](x, *logs, **self.arguments) + self._constant
        return np.where((x >= low) & (x <= high), value, np.where(np.isnan(x), np.nan, -np.inf))

    @functools.cached_property
    def start(self):
        """Return the median on the real line, where chains start."""
        return self.to_unconstrained(self.median)

    def to_unconstrained(self, x):
        """Map the support onto the real line: log of the distance to its lower end, log-odds between two ends."""
        low, high = self.support
        if np.isfinite(high):
            return log(x - low) - log(high - x)
        return log(x - low) if np.isfinite(low) else x

    def from_unconstrained(self, z):
        """Invert `to_unconstrained`; also give the log of the derivative, log dx/dz."""
        x, _, log_slope = self._at(z)
        return x, np.zeros_like(z) if self.support == REAL else log_slope

    def of_coordinate(self, z):
        """Return the value at a coordinate on the real line and its log density, on arrays of any library."""
        x, logs, log_slope = self._at(z)
        return x, KERNELS[self.distribution](x, *logs, **self.arguments) + self._constant + log_slope

    def _at(self, z):
        """Return the value at a coordinate, the logs of its distances from finite ends, and the log of dx/dz."""
        low, high = self.support
        above, below = -logaddexp(0.0, -z), -logaddexp(0.0, z)
        if np.isfinite(high):  # no distribution has an upper end alone
            logs = above + np.log(high - low), below + np.log(high - low)
            return low + (high - low) * exp(above), logs, above + below + np.log(high - low)
        return (low + exp(z), (z, None), z) if np.isfinite(low) else (z, (None, None), 0.0)

    @functools.cached_property
    def _constant(self):
        """Return what the log density is above the kernel, the same everywhere."""
        return float(CONSTANTS[self.distribution](**self.arguments))

    def variable(self, name, dims=None):
        """Register the prior under `name` in the PyMC model of the context, once or along `dims`."""
        pm = pymc()

        # A Python float that float32 can hold would be computed with in float32.
        return getattr(pm, self.distribution)(name, dims=dims, **{k: np.float64(v) for k, v in self.arguments.items()})


def _written(prior):
    """Return the text of a prior, with every digit; objects of PreliZ and pymc-extras show few."""
    if hasattr(prior, "param_names"):  # PreliZ
        name = type(prior).__name__
        values = {
            parameter: getattr(prior, parameter, None) for parameter in DISTRIBUTIONS.get(name, prior.param_names)
        }
    elif hasattr(prior, "distribution") and hasattr(prior, "parameters"):  # pymc-extras
        name, values = prior.distribution, prior.parameters
        if getattr(prior, "dims", None) or getattr(prior, "transform", None):
            raise InputError(f"prior {shown(prior)} has dims or a transform; give the distribution of one number")
    elif hasattr(getattr(getattr(prior, "owner", None), "op", None), "dist_params"):  # PyMC
        name, values = _of_pymc(prior)
    else:
        return str(prior)
    if not all(isinstance(x, int | float | np.number) for x in values.values()):
        raise InputError(f"prior {shown(prior)}: its parameters are not all numbers; give {name} numbers")
    return f"{name}({', '.join(f'{key}={float(x)!r}' for key, x in values.items())})"


def _of_pymc(prior):
    """Return the name and the parameters of a distribution of PyMC, which holds rates as their reciprocals."""
    from pymc.pytensorf import constant_fold

    op = prior.owner.op
    name, values = op._print_name[0], constant_fold(op.dist_params(prior.owner), raise_not_constant=False)
    names = DISTRIBUTIONS.get(name, range(len(values)))
    # Single precision holds the reciprocal of an integer: taken in it, the reciprocal of that is the integer.
    numbers = (x[()] if isinstance(x, np.ndarray) else x for x in values[-len(names) :])
    rates = {"Gamma": "beta", "Exponential": "lam"}
    return name, {key: 1 / x if rates.get(name) == key else x for key, x in zip(names, numbers, strict=True)}


def shown(text):
    """Return the text of a prior as messages show it."""
    text = repr(text) if isinstance(text, str) else printable(text)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


@functools.lru_cache(maxsize=1024)
def _parsed(text, written):
    form = f"prior {written} cannot be read; write for example LogNormal(-1, 0.5)"
    call = CALL.fullmatch(text.strip())
    if not call:
        raise InputError(form)
    name, values, named = call[1], [], {}
    for argument in call[2].split(","):
        parameter, sign, number = argument.rpartition("=")
        if not NUMBER.fullmatch(number.strip()) or (named and not sign) or parameter.strip() in named:
            raise InputError(form)
        if sign:
            named[parameter.strip()] = float(number)
        else:
            values.append(float(number))
    if name not in DISTRIBUTIONS:
        raise InputError(f"prior {written}: {unknown('distribution', name, DISTRIBUTIONS)}")
    names = DISTRIBUTIONS[name]
    arguments = dict(zip(names, values, strict=False)) | named
    if len(values) + len(named) != len(names) or set(arguments) != set(names):
        raise InputError(f"prior {written}: {name} takes {len(names)} parameters: {', '.join(names)}")
    return Prior(name, {k: arguments[k] for k in names})


def _check_distribution(prior, written):
    with np.errstate(all="ignore"):
        finite = all(map(np.isfinite, prior.arguments.values()))
        quantiles = prior.quantile(PROBABILITIES) if finite else np.full(1, np.nan)
        if np.isnan(quantiles).any():
            raise InputError(f"prior {written} is no distribution: check the signs and the order of its parameters")
        spread = (quantiles[-1] - quantiles[0]) ** 2
        usable = np.isfinite(quantiles).all() and (np.diff(quantiles) > 0).all() and 0 < 1 / spread < np.inf
    if not usable:
        raise InputError(
            f"prior {written} cannot be computed with: its percentiles, {quantiles[0]:.4g} to {quantiles[-1]:.4g}, are "
            "too large, too small or too close together for double precision; change its parameters"
        )


REAL, POSITIVE = (-np.inf, np.inf), (0, np.inf)  # supports


@dataclass(frozen=True)
class FreeParameter:
    """Something that is sampled: name, default prior, the reason for it, unit and support, by default the prior's."""

    name: str
    prior: str
    rationale: str
    unit: str = ""
    support: tuple | None = None

    def __post_init__(self):
        if self.support is None:
            object.__setattr__(self, "support", _parsed(self.prior, self.prior).support)

    def checked(self, text):
        """Return the prior that `text` states, refusing one that leaves the support."""
        prior = _parsed(self.prior, self.prior) if text == self.prior else Prior.parse(text)
        low, high = prior.support
        if low < self.support[0] or high > self.support[1]:
            support = f"({self.support[0]:g}, {self.support[1]:g})"
            if text == self.prior:
                raise InputError(
                    f"the default prior of {self.name}, {text}, leaves its support {support}; "
                    f"give the quantity another prior or support=({low:g}, {high:g})"
                )
            raise InputError(
                f"prior {self.name}={shown(text)} has support ({low:g}, {high:g}), but {self.name} lies in {support}; "
                f"use a distribution on that range, such as {self.prior}"
            )
        return prior


def named(**parameters):
    """Return a dict of each `FreeParameter` by name, from a tuple of what else it is made of."""
    return {name: FreeParameter(name, *rest) for name, rest in parameters.items()}


class WithPriors:
    """What has free parameters, whose default priors ``priors`` replaces by name."""

    priors: Mapping

    @property
    def _free_parameters(self):
        """Return everything that has a prior, as `FreeParameter` objects."""
        raise NotImplementedError

    @property
    def prior_of(self):
        """Return a dict from the name of each free parameter to its `Prior`."""
        return {q.name: q.checked(self.priors.get(q.name, q.prior)) for q in self._free_parameters}

    def described_priors(self):
        """Return the prior of each sampled quantity as text, by name."""
        return {name: str(prior) for name, prior in self.prior_of.items()}

    def _checked_priors(self, derived=()):
        """Return the priors that replace the default ones as text.

        One of no free parameter is refused, of a result by a name among `derived` for that reason, and one that leaves
        its support.
        """
        sampled = {q.name: q for q in self._free_parameters}
        for name in self.priors:
            if name not in sampled:
                why = "is derived, not sampled" if name in derived else "is not known to this law"
                raise InputError(f"prior on {name!r}: it {why}; priors can be set on {', '.join(sampled)}")
        return {name: str(sampled[name].checked(text)) for name, text in self.priors.items()}

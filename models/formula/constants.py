"""What is sampled in the place of the constants of a formula, and how these follow from it.

The rows inform the value of the response at the centre of the columns, the shares that its terms have there, and
exponents. They do so to within a few times the noise, whatever the units of the columns are. An amplitude by itself is
known to within a factor of thousands, and goes with its exponent.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...datasets.deferred import special
from ...datasets.formula_nodes import POWER, Call, Name, Node, evaluate, names_in
from ..arrays import exp, log, log1p, maximum, minimum, namespace, sigmoid
from ..priors import POSITIVE, FreeParameter, Prior
from .roles import Role, add, carriers_of, has, product_of, sum_of

LEAST, MOST = 1e-300, 300.0  # of what a logarithm is taken of, and of what an exponential is: beyond, slopes are NaN
WHOLE = 24  # the largest whole exponent of which powers are products
POOLED = 4  # groups from which on their values are of one population
SPREAD = "Spread of groups, in logarithms of what is positive: as wide as the prior of one group."
DEVIATION = "Of each group, in units of their spread."
# Default priors by role: what is sampled is called by a prefix and the constant.
PRIORS = {
    "given": ("", "Normal(0, 1)", "As the user states."),
    "exponent": ("", "LogNormal(-1.2, 0.7)", "Exponent, of the sign that the formula states: 0.08 to 1.2."),
    "sharpness": ("", "LogNormal(-1, 1)", "Exponent of a sum or of a ratio to a scale: 0.05 to 2.7."),
    "width": ("", "LogNormal(-1, 0.7)", "Exponent that divides: 0.09 to 1.5; a narrower one is a corner."),
    "rate": ("rate_", "Normal(0, 2)", "Change over half of the range of what it is multiplied with."),
    "steepness": ("steepness_", "LogNormal(0.7, 1)", "Change over half of the range of what it is multiplied with."),
    "place": ("place_", "Normal(0, 1)", "Distance from the middle of the range, in halves of the range."),
    "relative": ("ratio_", "LogNormal(0, 1.5)", "Ratio, at the centre of the columns, to what it stands beside."),
    "share": ("share_", "Beta(1, 1)", "Share of the least of what it is subtracted from."),
    "level": ("level_", "LogNormal(0, 1)", "Ratio to the median of the response."),
    "either_level": ("level_", "Normal(0, 2)", "Distance from the median of the response, in its standard deviations."),
    "size": ("size_", "LogNormal(0, 1)", "Size of its term at the centre, in standard deviations of the response."),
    "slope": ("slope_", "Normal(0, 2)", "Change of its term over a standard deviation, in those of the response."),
}


def power(base: Any, exponent: Any) -> Any:
    """Return a power; of 0 it is that of the least number. A whole one, up to `WHOLE`, may be of what is negative."""
    if isinstance(exponent, float) and exponent.is_integer() and 0 < abs(exponent) <= WHOLE:
        product = functools.reduce(operator.mul, [base] * int(abs(exponent)))
        return product if exponent > 0 else 1 / product
    return exp(minimum(exponent * log(maximum(base, LEAST)), MOST))


def phi(x: Any) -> Any:
    """Return the normal distribution function; of arrays that are not NumPy's by its series, to 1e-7."""
    if namespace(x) is np:
        return special.ndtr(x)
    # Abramowitz and Stegun 26.2.17, the density exp(-x*x/2)/sqrt(2 pi).
    t = 1 / (1 + 0.2316419 * abs(x))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = series * exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return 0.5 + (x / maximum(abs(x), LEAST)) * (0.5 - tail)


FUNCTIONS: dict[str, Callable] = {
    POWER: power,
    "exp": lambda x: exp(minimum(x, MOST)),
    "log": lambda x: log(maximum(x, LEAST)),
    "log2": lambda x: log(maximum(x, LEAST)) / math.log(2),
    "log10": lambda x: log(maximum(x, LEAST)) / math.log(10),
    "log1p": log1p,
    "sqrt": lambda x: power(x, 0.5),
    "abs": abs,
    "expit": sigmoid,
    "Phi": phi,
    "min": lambda *x: functools.reduce(minimum, x),
    "max": lambda *x: functools.reduce(maximum, x),
}


@dataclass(frozen=True)
class Placing:
    """How constants follow from what is sampled."""

    roles: dict[str, Role]
    groups: dict[str, tuple[str, ...]]  # columns of groups of the constants that have a value for each
    signs: dict[str, int]  # of amplitudes: that of the term on every row, 0 where it has both
    rest: Node  # the terms that have no amplitude
    positive: bool  # whether the response is
    levels: dict[tuple[str, ...], tuple[str, ...]]  # the groups of each combination of columns of groups

    @functools.cached_property
    def units(self) -> tuple[tuple[str, ...], ...]:
        """Return the constants of each term, or of terms together, that has a size: one, or carriers of it."""
        linear = [(name,) for name, role in self.roles.items() if role.kind == "amplitude"]
        terms = dict.fromkeys(role.terms for role in self.roles.values() if role.kind == "carrier")
        return (*linear, *(tuple(name for name, role in self.roles.items() if role.terms == own) for own in terms))

    @functools.cached_property
    def has_shares(self) -> bool:
        """Return whether all terms are positive, so that they are shares of the response at the centre."""
        levels = any(role.kind == "level" for role in self.roles.values())
        alone = all(self.signs.get(unit[0], 1) == 1 for unit in self.units) and self.rest == add(())
        return bool(self.units) and self.positive and alone and not levels

    @functools.cached_property
    def level(self) -> str | None:
        """Return the constant that is added or subtracted by itself, which follows from the response at the centre."""
        if self.has_shares:
            return None
        alone = (unit[0] for unit in self.units if all(term.is_bare for term in self.roles[unit[0]].terms))
        return next(alone, None)

    def _prior_of(self, name: str) -> tuple[str, str, str]:
        """Return the prefix, default prior and reason of what is sampled for a constant that has a role inside."""
        role, kind = self.roles[name], self.roles[name].kind
        if kind == "exponent" and (role.inverse or any(has(role.beside, (other,)) for other in self.roles)):
            kind = "width" if role.inverse else "sharpness"
        if kind == "level" and not self.positive:
            kind = "either_level"
        return PRIORS[kind]

    def free_parameters(self) -> list[FreeParameter]:
        """List what is sampled in the place of the constants."""
        return [parameter for parameter, _ in self._sampled()]

    def several(self) -> dict[str, tuple[str, int]]:
        """Return the dimension and number of what has several values, by name."""
        return {parameter.name: several for parameter, several in self._sampled() if several}

    def _sampled(self) -> Iterator[tuple[FreeParameter, tuple[str, int] | None]]:
        for name, role in self.roles.items():
            if role.kind not in ("amplitude", "carrier"):
                yield from self._parameters(name, *self._prior_of(name))
        why = "Share of the response at the centre, of what terms before it leave; no share is preferred."
        if self.has_shares:
            yield FreeParameter("centre", "LogNormal(0, 1)", "Response at the centre of the columns, medians."), None
            yield from _shares(["_".join(unit) for unit in self.units], why)
        elif self.level:
            from_median = "Response at the centre of the columns: its distance from the median in standard deviations."
            yield FreeParameter("centre", "Normal(0, 1)", from_median), None
        for names in self.units:
            if not self.has_shares and names[0] != self.level:
                yield from self._parameters(names[0], *PRIORS["size" if self.signs.get(names[0], 1) else "slope"])
            elif self.groups.get(names[0]):
                yield from self._deviations(names[0], 1.0)
            yield from _shares(names, why)

    def _parameters(self, name, prefix, prior, why):
        """Yield what is sampled of a constant: its values, or that of all groups and what these deviate by."""
        if not self.is_pooled(name):
            yield FreeParameter(prefix + name, prior, why), self._several(name)
            return
        yield FreeParameter(prefix + name, prior, why), None
        low, high = Prior.parse(prior).quantile([0.16, 0.84])
        positive = Prior.parse(prior).support == POSITIVE
        yield from self._deviations(name, float(np.log(high / low) if positive else high - low) / 2)

    def _deviations(self, name, sd):
        (dim, count), pooled = self._several(name), self.is_pooled(name)
        if pooled:
            yield FreeParameter(f"spread_{name}", f"HalfNormal({sd:g})", SPREAD), None
        several = (dim, count) if pooled else (f"contrast of {dim}", count - 1)
        yield FreeParameter(f"deviation_{name}", "Normal(0, 1)", DEVIATION), several

    def _several(self, name):
        key = self.groups.get(name)
        return (", ".join(key), len(self.levels.get(key, ()))) if key else None

    def is_pooled(self, name: str) -> bool:
        """Return whether the values of a constant by group are of one population: of `POOLED` groups or more."""
        return self.roles[name].kind != "given" and len(self.levels.get(self.groups.get(name, ()), ())) >= POOLED

    # What follows --------------------------------------------------------------------------------------------------

    def constants(self, values: dict, reference: dict) -> dict:
        """Return the constants by name, scalars (...) or by group (..., group), from what is sampled."""
        known: dict[str, Any] = {}
        waiting = [name for name, role in self.roles.items() if role.kind not in ("amplitude", "carrier")]
        while waiting:
            ready = next((name for name in waiting if not self._needs(name) & {*waiting}), waiting[0])
            known[ready] = self._inner(ready, values, known, reference)
            waiting.remove(ready)
        self._carry_all(values, known, reference)
        return {name: known[name] for name in self.roles}

    def _needs(self, name: str) -> set[str]:
        return {part.name for part in names_in(self.roles[name].beside)} - {name}

    def _inner(self, name: str, values: dict, known: dict, reference: dict) -> Any:
        """Return the value of a constant that has a role inside a function, a power or a sum, or that is a level."""
        role, key = self.roles[name], self.groups.get(name, ())
        prefix, prior, _ = self._prior_of(name)
        x = self._by_group(name, values, values[prefix + name], Prior.parse(prior).support == POSITIVE)
        match role.kind:
            case "given" | "exponent":
                return x
            case "level":
                return x * reference["typical"] if self.positive else reference["middle"] + x * reference["spread"]
            case "rate" | "steepness":
                return reference[f"range of {name}"] / x if role.inverse else x / reference[f"range of {name}"]
            case "place":
                inner = self._needs(name) & {*known}
                middle = self._at(role.beside, key, known, reference) if inner else reference[f"middle of {name}"]
                return middle + x * reference[f"range of {name}"]
            case "share":
                return x * reference[f"least of {name}"]
        ratio = x * abs(self._at(role.beside, key, known, reference))
        return 1 / ratio if role.inverse else ratio

    def _carry_all(self, values: dict, known: dict, reference: dict) -> None:
        """Give amplitudes and carriers their values, so that terms have their sizes at the centre."""
        spread, rest = reference["spread"], 1.0
        for unit in self.units:
            name = unit[0]
            if name == self.level:
                continue
            key, role, sign = self.groups.get(name, ()), self.roles[name], self.signs.get(name, 1)
            if self.has_shares:
                share = values["share_" + "_".join(unit)] if unit != self.units[-1] else 1.0
                size, rest = values["centre"] * reference["typical"] * rest * share, rest * (1 - share)
            elif sign:
                size = values[f"size_{name}"] * (spread if self.level else reference["typical"])
            else:
                size = values[f"slope_{name}"]
            size = self._by_group(name, values, size, positive=sign != 0)
            if role.kind == "carrier":
                self._carry(role.terms[0].without(""), size, key, values, known, reference)
            elif sign:
                known[name] = sign * size / self._at(self.terms_of(name), key, known, reference)
            else:
                known[name] = size * spread / reference[f"range of {name}"]
        if self.level:
            name, key = self.level, self.groups.get(self.level, ())
            centre = reference["middle"] + values["centre"] * spread
            centre = self._by_group(name, values, centre, positive=False, unit=spread)
            others = [self.rest, *(self.terms_of(unit[0], whole=True) for unit in self.units if unit[0] != name)]
            total = sum(self._at(node, key, known, reference) for node in others)
            known[name] = (centre - total) / self._at(self.terms_of(name), key, known, reference)

    def terms_of(self, name: str, *, whole: bool = False) -> Node:
        """Return the terms of an amplitude or a carrier, or what the constant is multiplied with in them."""
        return add([(term.sign, term.without("" if whole else name)) for term in self.roles[name].terms])

    def _by_group(self, name: str, values: dict, x: Any, positive: bool, unit: Any = None) -> Any:
        """Return a quantity by group, (..., group), from that of all groups and what is sampled of their deviations.

        Those of many groups are of one population, and those of few sum to 0. Without deviations it stays as it is.
        """
        if f"deviation_{name}" not in values:
            return x
        deviation = values[f"deviation_{name}"]
        if self.is_pooled(name):
            deviation = values[f"spread_{name}"][..., None] * deviation
        else:
            from scipy.linalg import helmert

            weights = helmert(len(self.levels[self.groups[name]])).T
            sums = [sum(deviation[..., k] * weight for k, weight in enumerate(row)) + 0.0 for row in weights]
            deviation = namespace(*sums).stack(sums, -1)
        deviation = deviation if unit is None else unit * deviation
        return x[..., None] * exp(deviation) if positive else x[..., None] + deviation

    def _carry(self, node: Node, size: Any, key: tuple, values: dict, known: dict, reference: dict) -> None:
        """Give the carriers in a node their values, so that it has a size at the centre."""
        free = [name for name, role in self.roles.items() if role.kind == "carrier" and name not in known]

        def at(part):
            return self._at(part, key, known, reference)

        match node:
            case Name():
                known[node.name] = size
            case Call("+"):
                terms = [term for _, term in sum_of(node)]
                for place, term in enumerate(terms):
                    name, share = carriers_of(term, free)[0], 1.0
                    if place < len(terms) - 1:
                        share = values[f"share_{name}"][..., None] if key else values[f"share_{name}"]
                    self._carry(term, size * share, key, values, known, reference)
                    size = size * (1 - share)
            case Call("*" | "/"):
                factors, divisors = product_of(node)
                carrier = next(part for part in (*factors, *divisors) if carriers_of(part, free))
                for part in factors:
                    size = size if part is carrier else size / at(part)
                for part in divisors:
                    size = size if part is carrier else size * at(part)
                self._carry(carrier, 1 / size if carrier in divisors else size, key, values, known, reference)
            case Call("**", (base, exponent)):
                self._carry(base, exp(log(size) / at(exponent)), key, values, known, reference)
            case Call("exp", (inside,)):
                parts = sum_of(inside)
                carrier = next(x for _, x in parts if (isinstance(x, Name) and x.name in free) or len(parts) == 1)
                rest = [at(part) * sign for sign, part in parts if part is not carrier]
                self._carry(carrier, log(size) - sum(rest), key, values, known, reference)

    def _at(self, node: Node, key: tuple, known: dict, reference: dict) -> Any:
        """Return an expression at the centre of the columns, by groups of a key where it has one."""

        def value_of(name: Name) -> Any:
            if name.name not in known:
                return reference[f"centre of {name.name}"] if name.name not in self.roles else 1.0
            x, own = known[name.name], self.groups.get(name.name, ())
            if own and own != key:
                x = sum(x[..., k] for k in range(x.shape[-1])) / x.shape[-1]
            return x[..., None] if key and own != key else x

        return evaluate(node, value_of, FUNCTIONS)


def _shares(names, why):
    """Yield shares of a sum, by breaking a stick: of each of its terms but the last."""
    for left, name in zip(range(len(names) - 1, 0, -1), names[:-1], strict=True):
        yield FreeParameter(f"share_{name}", f"Beta(1, {left})", why), None

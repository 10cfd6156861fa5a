"""What a formula is made of: numbers, names and operations, and their values on arrays."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

POWER, NEGATIVE = "**", "negative"
ARITHMETIC: dict[str, Callable] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
ARITHMETIC[NEGATIVE] = operator.neg
# Functions of arrays, NaN or infinite where a function has no value.
NUMPY = {name: getattr(np, name) for name in ("exp", "log", "log2", "log10", "log1p", "sqrt", "abs")}
NUMPY |= {POWER: np.power, "expit": lambda x: 1 / (1 + np.exp(-x))}
NUMPY |= {"min": lambda *x: functools.reduce(np.minimum, x), "max": lambda *x: functools.reduce(np.maximum, x)}
STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, NEGATIVE: 3, POWER: 4}


@dataclass(frozen=True)
class Number:
    """A number."""

    value: float
    text: str = field(compare=False)

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class Name:
    """A column or a constant; of a constant by group the columns of groups, or in a question one group of each.

    `start` is where it stands in the formula.
    """

    name: str
    levels: tuple[str, ...] = ()
    start: int = field(default=0, compare=False)

    def __str__(self):
        levels = f"[{', '.join(map(spell, self.levels))}]" if self.levels else ""
        return spell(self.name) + levels


@dataclass(frozen=True)
class Call:
    """A function of arguments: ``exp`` and others by name, ``+ - * / **``, or ``negative``."""

    function: str
    arguments: tuple[Node, ...]

    def __str__(self):
        strength = STRENGTH.get(self.function)
        if strength is None:
            return f"{self.function}({', '.join(map(str, self.arguments))})"
        if self.function == NEGATIVE:
            return "-" + _bracketed(self.arguments[0], strength)
        left, right = self.arguments
        if self.function == POWER:
            base, exponent = _bracketed(left, strength + 1), _bracketed(right, STRENGTH[NEGATIVE])
            return f"{base} ** {exponent}" if base.endswith("*") else f"{base}**{exponent}"
        right = _bracketed(right, strength + (self.function in "-/"))
        return f"{_bracketed(left, strength)} {self.function} {right}"


Node = Number | Name | Call


@dataclass(frozen=True)
class ParsedFormula:
    """A response and what it is a function of, each an expression."""

    text: str
    left: Node
    right: Node

    def __str__(self):
        return f"{self.left} ~ {self.right}"


def spell(name: str) -> str:
    """Write a name as a formula has it: between backticks, unless it is letters, digits and underscores."""
    return name if re.fullmatch(r"[^\W\d]\w*(_\*)?", name) else f"`{name}`"


PAIRS = (("A", "alpha"), ("B", "beta"), ("C", "gamma"), ("F", "delta"), ("G", "zeta"), ("H", "eta"))


def write_powers(
    predictors: list[str], pairs: Sequence[tuple[str, str]] = PAIRS, signs: Sequence[str] = "+" * len(PAIRS)
) -> str:
    """Write a power of each predictor, to be added to a floor or taken from a ceiling; predictors as written.

    Examples
    --------
    >>> write_powers(["n", "`train tokens`"])
    ' + A * n**-alpha + B * `train tokens`**-beta'
    """
    of_each = zip(predictors, pairs, signs, strict=False)
    return "".join(f" {sign} {a} * {x}**-{b}" for x, (a, b), sign in of_each)


def _bracketed(node: Node, least: int) -> str:
    strength = STRENGTH.get(node.function, least) if isinstance(node, Call) else least
    return str(node) if strength >= least else f"({node})"


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all that it is made of, from left to right."""
    yield node
    for part in node.arguments if isinstance(node, Call) else ():
        yield from walk(part)


def names_in(node: Node) -> list[Name]:
    """List the names of an expression, each once, in order."""
    return list(dict.fromkeys(part for part in walk(node) if isinstance(part, Name)))


def replace_names(node: Node, change: Callable[[Name], Node]) -> Node:
    """Return an expression with another node for each name."""
    if isinstance(node, Call):
        return Call(node.function, tuple(replace_names(part, change) for part in node.arguments))
    return change(node) if isinstance(node, Name) else node


def evaluate(node: Node, value_of: Callable[[Name], Any], functions: dict[str, Callable]) -> Any:
    """Return the value of an expression of arrays: `value_of` has those of names, and `functions` those of `Call`.

    Examples
    --------
    >>> from math import exp
    >>> from bayescaling.datasets.formulas import parse_expression
    >>> evaluate(parse_expression("2 * exp(x) - 1"), lambda name: 0.0, {"exp": exp})
    1.0
    """
    if not isinstance(node, Call):
        return node.value if isinstance(node, Number) else value_of(node)
    arguments = (evaluate(part, value_of, functions) for part in node.arguments)
    return (ARITHMETIC.get(node.function) or functions[node.function])(*arguments)

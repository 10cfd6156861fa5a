"""Answers to questions, draw by draw, from one function that every surface calls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets import KINDS
from ...datasets.formula_nodes import (
    POWER,
    BinaryOperation,
    Call,
    Name,
    Negative,
    Node,
    Number,
    evaluate,
    names_in,
    parts_of,
)
from ...datasets.formulas import FormulaError
from ...datasets.meaning.names import words
from ...datasets.wording import listed, quoted, suggestion
from ...models.draws import DRAWS
from ...models.formula.constants import FUNCTIONS
from ...models.loss.search import least, root
from ..fitted import of_kind
from ..intervals import QUANTILES, IntervalTable, name_quantiles, printed
from ..quoted import quote_draws
from .choose import FALLING, RISING
from .question import Question, parse_question

if TYPE_CHECKING:
    from ..fitted import Fit

BELOW, ABOVE = 1e-3, 1e6  # how far beyond the rows a place is looked for, as factors of the least and the largest
CELLS = 240
OPERATIONS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, POWER: np.power}
NOTE = "Medians and 95% intervals, draw by draw"


def ask(fit: Fit, *questions: str) -> IntervalTable:
    """Answer questions about a fit of a formula, draw by draw.

    Parameters
    ----------
    fit : Fit
        Of a formula.
    *questions : str
        A function of constants (``8**(gamma / alpha)``), a comparison (``alpha[muon] > alpha[adamw]``), a value
        (``loss at n = 1e9``), the place at which something holds (``n where loss = 2.5``), or where the response is
        best (``best n, d for 6*n*d = 1e21``).

    Returns
    -------
    IntervalTable
        A row for each number: ``q2.5``, ``q50`` and ``q97.5``; ``never``, the share of draws in which there is no such
        place; ``p``, the probability of a comparison, of a difference that of being above 0; ``times``, how many times
        the largest value (or the least, then below 1) of the rows the place lies at, NaN within them; and ``at_end``,
        the share of draws in which the best value is at an end of what was searched.

    Raises
    ------
    InputError
        If a question cannot be read, names what is no column and no constant, or lacks the value of a column.

    Examples
    --------
    >>> import bayescaling as bs
    >>> import pandas as pd
    >>> table = pd.DataFrame({"n": [1e6, 3e6, 1e7, 3e7, 1e8, 3e8], "loss": [4.12, 3.61, 3.22, 2.92, 2.71, 2.54]})
    >>> fit = bs.fit("loss ~ E + A * n**-alpha", table, seed=1)
    >>> 2.2 < float(ask(fit, "loss at n = 1e9")["q50"].iloc[0]) < 2.5
    True
    """
    of_kind(fit, KINDS["columns"])
    rows = {}
    for text in questions:
        question = parse_question(text)
        answered = Answering(fit, question).rows()
        rows |= {f"{label} ({text})" if label in rows else label: row for label, row in answered.items()}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("question")
    return printed(table, "value", f"{fit.law.label} on {len(fit.rows):,} rows", NOTE, fit)


@dataclass
class Answering:
    """One question to one fit.

    Parameters
    ----------
    fit : Fit
    question : Question
    """

    fit: Fit
    question: Question

    def __post_init__(self):
        self.law, self.table = self.fit.law, self.fit.rows
        posterior = self.fit["posterior"].to_dataset()
        self.constants = {name: _flatten(posterior[name]) for name in self.law.roles}
        self.count = next(iter(self.constants.values())).shape[0]
        self.groups = {level: key for key, names in self.law.levels for level in names}
        self.given, self.level_of = {}, {}
        for name, node in self.question.given.items():
            if any(name in key for key, _ in self.law.levels):
                self.level_of[name] = str(node).strip("`")
            elif name in self.law.columns or name in self.response_names:
                self.given[name] = self.value(node, {})
            else:
                self._refuse(
                    f"{quoted(name)} is no column of the formula", name, (*self.law.columns, *self.response_names)
                )

    @property
    def response_names(self):
        """Return the columns of the left side of the formula."""
        return [name.name for name in names_in(self.law.parsed.left)]

    def rows(self):
        """Return rows of the table of answers by label."""
        question = self.question
        if question.kind == "place":
            return {question.text: self._find_place()}
        if question.kind == "best":
            return self._find_best()
        difference = isinstance(question.asked[0], BinaryOperation) and question.asked[0].operator == "-"
        draws = self._quoted(self.value(question.asked[0], self.given), bounded=not difference)
        above = {"p": float((draws > 0).mean())} if difference else {}
        if question.kind == "probability":
            return {question.text: dict.fromkeys(QUANTILES, np.nan) | above}
        return {question.text: name_quantiles(draws) | above | {"times": self._farthest(self.given)}}

    def _quoted(self, values, *, bounded=True):
        """Return draws of an answer, (draw,), of the width that every surface prints; infinite where there is none."""
        values = np.broadcast_to(np.asarray(values, float), (self.count,))
        values = np.where(np.isnan(values), np.inf, values)
        of_fit = {dim: self.fit["posterior"][dim] for dim in DRAWS}
        shape = tuple(x.size for x in of_fit.values())
        return quote_draws(self.fit, xr.DataArray(values.reshape(shape), of_fit, DRAWS), bounded=bounded).values.ravel()

    # Values ----------------------------------------------------------------------------------------------------------

    def value(self, node: Node, given: dict) -> Any:
        """Return an expression of constants, columns and the response, (draw,), at values of columns."""
        left = self.law.parsed.left
        if node == left and not isinstance(node, Name):
            return self.response(given, ())
        match node:
            case Number():
                if math.isnan(node.value):
                    self._refuse(f"{node.text!r} is text")
                return np.float64(node.value)
            case Name():
                return self._value_of(node, given)
            case Negative():
                return -self.value(node.of, given)
            case Call():
                return FUNCTIONS[node.function](
                    *(np.asarray(self.value(part, given), float) for part in node.arguments)
                )
        with np.errstate(all="ignore"):
            sides = [np.asarray(self.value(part, given), float) for part in (node.left, node.right)]
            return OPERATIONS[node.operator](*sides)

    def _value_of(self, name: Name, given: dict) -> Any:
        if name.name in self.constants:
            return self._constant(name.name, name.levels)
        if name.name in self.response_names and name.name not in given:
            response = self.response(given, name.levels)
            return self._solve(self.law.parsed.left, name.name, response, given)
        if name.name in given:
            return given[name.name]
        if name.name in self.law.columns:
            self._refuse(f"the value of {quoted(name.name)} is missing; write it after at: ... at {name} = 1e9")
        if name.name in self.fit["posterior"]:
            return _flatten(self.fit["posterior"][name.name])
        known = (*self.law.roles, *self.law.columns, *self.response_names)
        return self._refuse(f"{quoted(name.name)} is no constant and no column", name.name, known)

    def _constant(self, name: str, levels: tuple) -> Any:
        x, key = self.constants[name], self.law.groups.get(name)
        if key is None:
            if levels:
                self._refuse(f"{name} has no groups")
            return x
        level = ", ".join(levels) or ", ".join(self.level_of.get(column, "") for column in key)
        names = dict(self.law.levels)[key]
        if level not in names:
            what = (
                f"{quoted(level)} is no group of {name}"
                if level
                else f"the group of {name} is missing; write {name}[{names[0]}]"
            )
            self._refuse(what, level, names)
        return x[:, names.index(level)]

    def response(self, given: dict, levels: tuple) -> Any:
        """Return the right side of the formula, (draw,), at values of columns, of a group."""
        own = {column: level for level in levels for column in self.groups.get(level, ())}
        if levels and not own:
            self._refuse(f"{quoted(levels[0])} is no group", levels[0], self.groups)
        before, self.level_of = self.level_of, self.level_of | own
        names = names_in(self.law.parsed.right)
        values = {
            name: self._value_of(Name(name.name, () if name.name in self.constants else name.levels), given)
            for name in names
        }
        self.level_of = before
        with np.errstate(all="ignore"):
            return evaluate(self.law.parsed.right, lambda name: np.asarray(values[name], float), FUNCTIONS)

    def _solve(self, node: Node, name: str, target: Any, given: dict) -> Any:
        """Return the value of a column at which an expression that has it once is a target."""
        if isinstance(node, Name) and node.name == name:
            return target
        parts = parts_of(node)
        inside = [part for part in parts if any(x.name == name for x in names_in(part))]
        if len(inside) != 1:
            self._refuse(f"{node} cannot be solved for {quoted(name)}; ask for {node}")
        part = inside[0]
        with np.errstate(all="ignore"):
            return self._solve(part, name, self._undo(node, part, target, given), given)

    def _undo(self, node, part, target, given):
        match node:
            case Negative():
                return -target
            case Call(function=function):
                undo = {
                    "exp": np.log, "log": np.exp, "log2": np.exp2, "log10": lambda x: 10.0**x, "log1p": np.expm1,
                    "sqrt": np.square, "expit": lambda x: np.log(x / (1 - x)),
                }.get(function)  # fmt: skip
                return undo(target) if undo else self._refuse(f"{node} cannot be solved; ask for {node}")
        first = part is node.left
        other = self.value(node.right if first else node.left, given)
        match node.operator:
            case "+":
                return target - other
            case "-":
                return target + other if first else other - target
            case "*":
                return target / other
            case "/":
                return target * other if first else other / target
        return np.power(target, 1 / other) if first else np.log(target) / np.log(other)

    # Places ----------------------------------------------------------------------------------------------------------

    def _find_place(self):
        name = self.question.asked[0].name
        left, right = self.question.sides
        if name not in self.law.columns:
            self._refuse(f"{quoted(name)} is no column on the right of ~", name, self.law.columns)
        low, high, forth = self._range(name)

        def excess(u):
            given = self.given | {name: forth(u)}
            return np.broadcast_to(self.value(left, given) - self.value(right, given), (self.count,)).astype(float)

        edges = np.linspace(low, high, CELLS + 1)
        before, found = excess(np.full(self.count, low)), np.full(self.count, -1)
        for k in range(CELLS):
            after = excess(np.full(self.count, edges[k + 1]))
            found = np.where(np.sign(before) * np.sign(after) <= 0, k, found)  # the last of several
            before = after
        there = found >= 0
        start, stop = edges[found], edges[found + 1 if there.all() else np.where(there, found + 1, 0)]
        sign = np.where(excess(np.where(there, start, low)) > 0, 1.0, -1.0)
        place = forth(root(lambda u: sign * excess(u), np.where(there, start, low), np.where(there, stop, low)))
        place = self._quoted(np.where(there, place, np.inf))
        row = name_quantiles(place) | {"never": float((~there).mean())}
        return row | {"times": self._times(name, float(np.median(place)))}

    def _range(self, name):
        """Return the ends of where a place is looked for, on the scale of a search, and the way from it."""
        x = self.table[name].to_numpy(float)
        if (x > 0).all():
            return np.log(x.min() * BELOW), np.log(x.max() * ABOVE), np.exp
        span = x.max() - x.min()
        return x.min() - span, x.max() + 10 * span, lambda u: u

    def _find_best(self):
        names = [node.name for node in self.question.asked]
        for name in names:
            if name not in self.law.columns:
                self._refuse(f"{quoted(name)} is no column on the right of ~", name, self.law.columns)
        free, sides = names[0], self.question.sides
        if len(names) > 2 or (len(names) == 2) != bool(sides):
            self._refuse("write best x at ..., or best x, y for an equation of both")
        x = self.table[free].to_numpy(float)
        low, high, forth = self._range(free)
        if not sides:
            low, high = (np.log(x.min()), np.log(x.max())) if (x > 0).all() else (x.min(), x.max())
        sign = -1.0 if self.higher_is_better else 1.0

        def at(u):
            given = self.given | {free: forth(u)}
            if sides:
                target = np.broadcast_to(self.value(sides[1], given), (self.count,)).astype(float)
                given[names[1]] = self._solve(sides[0], names[1], target, given)
            return given

        def objective(u):
            value = sign * np.broadcast_to(self.response(at(u), ()), (self.count,)).astype(float)
            return np.where(np.isfinite(value), value, np.inf)

        ends = np.full(self.count, low), np.full(self.count, high)
        best = least(objective, *ends)
        given, width = at(best), (high - low) / CELLS
        at_end = {"at_end": float(((best < low + width) | (best > high - width)).mean())}
        rows = {}
        for name in names:
            draws = self._quoted(given[name])
            times = {"times": self._times(name, float(np.median(draws)))}
            rows[f"best {name}"] = name_quantiles(draws) | times | at_end
        rows[f"{self.law.parsed.left} there"] = name_quantiles(self._quoted(sign * objective(best)))
        return rows

    @property
    def higher_is_better(self):
        """Return whether the response is a column whose name says that it is better where it is higher."""
        left = self.law.parsed.left
        of_name = {*words(left.name)} if isinstance(left, Name) else set()
        return bool(of_name & {*RISING}) and not of_name & {*FALLING}

    # How far ---------------------------------------------------------------------------------------------------------

    def _times(self, name, value):
        """Return how many times the largest or the least value of the rows a value is, NaN within them."""
        x = self.table[name].to_numpy(float)
        if not (x > 0).all() or not np.isfinite(value) or x.min() <= value <= x.max():
            return np.nan
        return value / x.max() if value > x.max() else value / x.min()

    def _farthest(self, given):
        times = [self._times(name, float(np.median(x))) for name, x in given.items() if name in self.law.columns]
        times = [x for x in times if np.isfinite(x)]
        return max(times, key=lambda x: abs(math.log(x)), default=np.nan)

    def _refuse(self, why, name="", names=()):
        near = suggestion(name, names) if name else ""
        known = f"; there are {listed(names)}" if names and not near else ""
        raise FormulaError(f"question {self.question.text!r}: {why}{near or known}")


def _flatten(x: xr.DataArray) -> np.ndarray:
    x = x.transpose(*DRAWS, ...).values
    return x.reshape(-1, *x.shape[2:])

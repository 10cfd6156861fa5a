"""Draws of what is asked of a fit of a formula: values, places and best values, with the drift outside its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...datasets.deferred import special
from ...datasets.formula_nodes import ARITHMETIC, NEGATIVE, POWER, Call, Name, Number, names_in, spell
from ...datasets.formulas import FormulaError, endings, written_out
from ...datasets.wording import listed, quoted, suggestion
from ...models.draws import DRAWS
from ...models.formula.constants import FUNCTIONS
from ...models.formula.roles import has
from ...models.formula.suited import find_shares
from ...models.loss.grouping import labelled
from ...models.loss.search import root
from ..estimands.beyond import ROUNDING, SIDES, decades_outside, difference_of, drift_of
from ..fitted import once
from ..quoted import drift_errors
from ..words import times
from .best import CELLS, Best
from .question import Question

BELOW, ABOVE = 1e-3, 1e6  # how far beyond the rows a place is looked for, as factors of the least and the largest
OPERATIONS = FUNCTIONS | ARITHMETIC
# For each argument of a function: its value from that of the function and of the other argument.
INVERSES: dict[str, tuple] = {
    NEGATIVE: (np.negative,), "exp": (np.log,), "log": (np.exp,), "log2": (np.exp2,), "log10": (lambda y: 10.0**y,),
    "log1p": (np.expm1,), "sqrt": (np.square,), "expit": (lambda y: np.log(y / (1 - y)),),
    "+": (np.subtract, np.subtract), "-": (np.add, lambda y, left: left - y),
    "*": (np.divide, np.divide), "/": (np.multiply, lambda y, left: left / y),
    POWER: (lambda y, exponent: np.power(y, 1 / exponent), lambda y, base: np.log(y) / np.log(base)),
}  # fmt: skip


class Search(NamedTuple):
    """The ends of a search for a column, of its logarithm where `log`."""

    low: float
    high: float
    log: bool

    def place(self, u: Any) -> Any:
        """Return the values of the column at places of the search."""
        return np.exp(u) if self.log else u


class Answering(Best):
    """Draws of what is asked of a fit, with the drift outside its rows; `alone` has them under the law alone.

    Values of columns, (sample,), and names of groups are given in a dict by the names of their columns. `text` is the
    question, which messages repeat.
    """

    def __init__(self, fit: Any, text: str, *, drifts: bool = True) -> None:
        self.law, self.table, self.text, self.reference = fit.law, fit.rows, text, fit.draws.reference
        posterior = fit["posterior"].to_dataset()
        self.posterior = {name: _flatten(x) for name, x in posterior.items()}
        self.count = posterior.sizes["chain"] * posterior.sizes["draw"]
        self.responses = [name.name for name in names_in(self.law.parsed.left)]
        self.by, self.shares = self.law.apart, find_shares(self.table[[*self.law.columns]])
        self.labels = np.array(self.law.group_labels(self.table, self.by))
        self.alone = Answering(fit, text, drifts=False) if drifts else self
        self.slopes = once(fit, "slopes", lambda: self._slopes(fit)) if drifts else None
        self.outside: dict[str, float] | None = None
        self.cells: dict[int, np.ndarray] = {}
        self.searching, self._groups = False, {}

    def rows(self, question: Question, given: dict | None = None) -> dict[str, tuple[np.ndarray, dict]]:
        """Return the draws of each answer to a question, and what else is said of it, by label."""
        given = self._read(question, given or {})
        if question.kind == "best":
            return self._find_best(question, given)
        x = self._find_place(question, given) if question.sides else self.value(question.asked[0], given)
        x = np.where(np.isnan(x := self.whole(x)), np.inf, x)
        return {question.text: (x, {"never": float(np.isinf(x).mean())} if question.sides else {})}

    def whole(self, x: Any) -> np.ndarray:
        """Return an array of every draw."""
        return np.broadcast_to(np.asarray(x, float), (self.count,))

    def _read(self, question, outer):
        """Return values of columns and names of groups at which a question is asked."""
        given, known = dict(outer), (*self.law.columns, *self.responses, *self.by)
        for name, node in question.given.items():
            if several := self._called(name):
                given |= dict.fromkeys([x for x in several if x not in question.given], self.value(node, given))
                continue
            if name not in known:
                self._refuse(f"{quoted(name)} is no column of the formula", name, known)
            given[name] = str(node).strip("`") if name in self.by else self.value(node, given)
        return given

    # Values ----------------------------------------------------------------------------------------------------------

    def value(self, node: Any, given: dict) -> Any:
        """Return an expression of constants, columns and the response, (sample,), at values of columns."""
        if node == self.law.parsed.left and not isinstance(node, Name):
            return self.response(given)
        match node:
            case Question():
                return next(iter(self.rows(node, given).values()))[0]
            case Number():
                return np.float64(node.value)
            case Name():
                return self._value_of(node, given)
            case Call("sum"):
                return self.value(self._written_out(node), given)
        parts = [np.asarray(self.value(part, given), float)[()] for part in node.arguments]  # numbers stay numbers
        with np.errstate(all="ignore"):
            return OPERATIONS[node.function](*parts)

    def _value_of(self, node, given):
        name = node.name
        if name in self.law.roles:
            return self._constant(node, given)
        if name in given and not isinstance(given[name], str):
            return given[name]
        others = [other for other in self.responses if other != name and other not in given]
        if name in self.responses and not others:
            return self._solve(self.law.parsed.left, name, self.response(given, node.levels), given)
        if name in (*self.law.columns, *self.responses):
            lacking = name if name in self.law.columns else others[0]
            self._refuse(f"the value of {quoted(lacking)} is missing; write it after at: ... at {spell(lacking)} = 1e9")
        if name in self.posterior and self.posterior[name].ndim == 1:
            return self.posterior[name]
        known = (*self.law.roles, *self.law.columns, *self.responses)
        return self._refuse(f"{quoted(name)} is no constant and no column", name, known)

    def _constant(self, node, given):
        name, key = node.name, self.law.groups.get(node.name)
        if key is None:
            return self._refuse(f"{name} has no groups") if node.levels else self.posterior[name]
        level = [given.get(column, "") for column in key] if node.levels in (key, ()) else node.levels
        level, names = ", ".join(level), dict(self.law.levels)[key]
        if level not in names:
            example = Name(name, tuple(names[0].split(", ")))
            missing = f"the group of {name} is missing; write {example}, or at {spell(key[0])} = {example.levels[0]}"
            self._refuse(f"{quoted(level)} is no group of {name}" if level.strip(", ") else missing, level, names)
        return self.posterior[name][:, names.index(level)]

    def response(self, given: dict, levels: tuple = ()) -> Any:
        """Return the right side of the formula, (sample,), at values of columns, of groups by their names."""
        for level in levels:
            of = [column for column in self.by if level in labelled(self.table[column])]
            if not of:
                self._refuse(f"{quoted(level)} is no group", level, dict.fromkeys(self.labels))
            given = given | dict.fromkeys(of, level)
        y = self.value(self.law.parsed.right, given)
        if not self.searching:
            self._note_where(given)
        return y if self.slopes is None else self._drifted(y, given)

    def _drifted(self, y, given):
        """Add the error of the law outside the rows, on the scale of the noise."""
        decades = self._decades(given)
        if not (np.abs(decades) > ROUNDING).any():
            return y
        error = self._error(decades, "loss", self._rows_of(given)[1])
        if self.law.noise == "additive":
            return y + error * self.reference["typical"]
        return y * np.exp(error) if self.law.noise == "relative" else special.expit(special.logit(y) + error)

    def _outside(self, name, x, low, high):
        """Return by how many decades values of a column lie outside rows; of shares the whole counts as a decade."""
        return decades_outside(x, low, high) if name not in self.shares else x - np.clip(x, low, high)

    def _decades(self, given):
        """Return by how many decades values of columns lie above (positive) or below those of a group, the farthest."""
        ends = self._rows_of(given)[2]
        each = [self._outside(name, self.whole(given[name]), *ends[name]) for name in self.law.columns if name in given]
        far = np.stack([np.zeros(self.count), *each])
        return np.take_along_axis(far, np.abs(far).argmax(0)[None], 0)[0]

    def _error(self, decades, of, group=0):
        """Return the error of the law so many signed decades outside the rows, (sample,)."""
        each = (self.slopes[of, side][:, group] * np.maximum(sign * decades, 0.0) for side, sign in SIDES.items())
        return sum(each)

    def _rows_of(self, given):
        """Return the rows of the groups that are given, all where there are none, the place of the group, and ends."""
        key = tuple(given.get(name) for name in self.by)
        if key not in self._groups:
            same = [labelled(self.table[name]) == level for name, level in zip(self.by, key, strict=True) if level]
            rows = self.table[np.logical_and.reduce(same)] if same else self.table
            rows = rows if len(rows) else self.table
            place = int(np.searchsorted(np.unique(self.labels), self.labels[rows.index[0]]))
            self._groups[key] = rows, place, {name: (rows[name].min(), rows[name].max()) for name in self.law.columns}
        return self._groups[key]

    def _note_where(self, given):
        """Note how far columns lie outside the rows, on either side."""
        self.outside, ends = self.outside or {}, self._rows_of(given)[2]
        of = ", ".join(given[name] for name in self.by if name in given)
        for name in self.law.columns:
            (low, high), x = ends[name], np.median(given[name])
            if not np.isfinite(x) or abs(decades := float(self._outside(name, x, low, high))) <= ROUNDING:
                continue
            far = f"{abs(decades):.2g}{' ranges' * (name not in self.shares)} {'above' if decades > 0 else 'below'}"
            if low > 0 and name not in self.shares:
                far = f"{times(x / high)} times the largest" if decades > 0 else f"{x / low:.2g} of the least"
            self.outside[f"{spell(name)} {far}{f' of {of}' if of else ''}"] = decades

    def _slopes(self, fit):
        """Return errors a decade outside the rows, (sample, group), of the response and of best places, by side."""
        each = [(of, side) for of in ("loss", "size") for side in SIDES]
        slopes = {(of, side): _flatten(drift_errors(fit, of, SIDES[side]))[:, None] for of, side in each}
        if (groups := len(np.unique(self.labels))) > 1:
            rng, apart = np.random.default_rng(fit.record["seed"]), difference_of(self.law)
            of_groups = ((side, drift_of(self.law, side)) for side in SIDES)
            slopes |= {("loss", s): d.slopes_of_groups(rng, (self.count,), groups, apart) for s, d in of_groups}
        return slopes

    def _solve(self, node, name, target, given):
        """Return the value of a column at which an expression that has it once is a target."""
        while not (isinstance(node, Name) and node.name == name):
            parts = node.arguments if isinstance(node, Call) and node.function in INVERSES else ()
            inside = [k for k, part in enumerate(parts) if has(part, (name,))]
            if len(inside) != 1:
                self._refuse(f"{node} cannot be solved for {quoted(name)}; ask for {node}")
            (k,) = inside
            others = [self.value(part, given) for j, part in enumerate(parts) if j != k]
            with np.errstate(all="ignore"):
                target, node = INVERSES[node.function][k](target, *others), parts[k]
        return target

    # Places ----------------------------------------------------------------------------------------------------------

    def _find_place(self, question, given):
        """Return where both sides are one, (sample,), infinite where they never are; of several places the last.

        With the drift it is the place that is nearest to that of the law alone, or the first where that has none.
        """
        name, (left, right) = self._column(question.asked[0]), question.sides
        span = self._ends_of_search(name, beyond=True)
        held = {name: given[name]} if name in given else {}

        def excess(u):
            at = given | {name: span.place(u)}
            return self.whole(self.value(left, at) - self.value(right, at | held))

        searching, self.searching = self.searching, True
        edges, found = np.linspace(span.low, span.high, CELLS + 1), np.full(self.count, -1)
        near = CELLS if self.alone is self else self.alone.cells[id(question)].clip(0)
        before = excess(self.whole(edges[0]))
        for k in range(CELLS):
            after = excess(self.whole(edges[k + 1]))
            closer = (found < 0) | (abs(k - near) <= abs(found - near))
            found = np.where((np.sign(before) * np.sign(after) <= 0) & closer, k, found)
            before = after
        there, self.cells[id(question)] = found >= 0, found
        start, stop = (np.where(there, edges[found + k], span.low) for k in (0, 1))
        sign = np.where(excess(start) > 0, 1.0, -1.0)
        place = np.where(there, span.place(root(lambda u: sign * excess(u), start, stop)), np.inf)
        self.searching = searching
        for side, at in ((left, {}), (right, held)):
            self.value(side, given | {name: place} | at)
        return place

    def _ends_of_search(self, name, *, beyond, linear=False):
        """Return the ends of a search for a column, within the rows or beyond."""
        x = self.table[name].to_numpy(float)
        if (x > 0).all() and not linear:
            return Search(*np.log([x.min() * BELOW, x.max() * ABOVE] if beyond else [x.min(), x.max()]), True)
        range_beyond = (x.max() - x.min()) * (beyond and not linear)
        return Search(x.min() - range_beyond, x.max() + 10 * range_beyond, False)

    def _called(self, name):
        return [name.replace("*", end) for end in endings(name, self.law.columns)]

    def _names(self, question):
        return [name for node in question.asked for name in self._called(node.name) or [self._column(node)]]

    def _written_out(self, node):
        return written_out(node, self.law.columns, f"question {self.text!r}: ")

    def _column(self, node):
        if node.name not in self.law.columns:
            self._refuse(f"{quoted(node.name)} is no column on the right of ~", node.name, self.law.columns)
        return node.name

    def _refuse(self, why, name="", names=()):
        near = suggestion(name, names) if name else ""
        known = f"; there are {listed(names)}" if names and not near else ""
        raise FormulaError(f"question {self.text!r}: {why}{near or known}")


def _flatten(x: xr.DataArray) -> np.ndarray:
    x = x.transpose(*DRAWS, ...).values
    return x.reshape(-1, *x.shape[2:])

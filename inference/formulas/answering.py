"""Draws of what is asked of a fit of a formula: values, places and best values, with the drift outside its rows."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...datasets.deferred import special
from ...datasets.formula_nodes import ARITHMETIC, NEGATIVE, POWER, Call, Name, Number, names_in, spell
from ...datasets.formulas import FormulaError, endings, written_out
from ...datasets.meaning.names import FALLING, RISING, is_called
from ...datasets.wording import listed, quoted, source_of, suggestion
from ...models.draws import DRAWS
from ...models.formula.constants import FUNCTIONS
from ...models.formula.roles import has, sum_of
from ...models.formula.suited import ROUNDED, find_shares
from ...models.loss.grouping import labelled
from ...models.loss.search import capped, least, least_of_sum, root
from ..estimands.beyond import ROUNDING, SIDES, decades_outside, difference_of, drift_of
from ..fitted import once
from ..quoted import drift_errors
from ..words import times
from .question import Question

BELOW, ABOVE = 1e-3, 1e6  # how far beyond the rows a place is looked for, as factors of the least and the largest
CELLS, SWEEPS, EXACT = 240, 30, 1e-6  # of a search for a place, and of one for the best over several columns
TINY = 1e-9  # of a part that a search starts from
STEEP = 1e3  # spreads of the response that a step over the whole range of a column costs beyond it
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


class Answering:
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

    def _find_best(self, question, given):
        """Return the values of columns at which the response is best, and the response there, by label.

        Draws whose best is beyond a limit are searched again where the limit is met.
        """
        names, sides = self._names(question), tuple(map(self._written_out, question.sides))
        if sides and len(names) == 1:
            self._refuse("write best x at ..., or best x, y for an equation of both")
        law, met = self.alone, []
        if sides and (ends := self._ends_of_parts(names, sides, question.limits)):
            if self is law or given:
                law.cells[id(question)] = self._search_parts(ends, sides, given)
            at, rows = given | law.cells[id(question)], {}
            for name, (low, high) in ends.items():
                near = np.minimum(at[name] - low, high - at[name]) < (high - low) / CELLS
                rows[f"best {spell(name)}"] = at[name], {"at_end": float(near.mean())}
            return rows | {f"{self.law.parsed.left} there": (self.whole(self.response(at)), {})}
        at, moved, ends = self._search_best(names, sides, met, given)
        for left, right in question.limits:
            over = law.whole(law.value(left, at)) > law.whole(law.value(right, at)) * (1 + EXACT)
            if over.any():
                met.append((left, right))
                others = self._search_best(names, sides, met, given)
                at, moved = ({name: np.where(over, new[name], old[name]) for name in names} | given
                             for old, new in zip((at, moved), others, strict=False))  # fmt: skip
                ends = np.where(over, others[2], ends)
        within = [
            law.whole(law.value(left, at) <= law.value(right, at) * (1 + EXACT)) for left, right in question.limits
        ]
        if not (there := np.logical_and.reduce([self.whole(True), *within])).any():
            self._refuse(f"no {listed(names)} meet all of what stands after for")
        moved = {name: np.where(there, x, np.inf) if name in names else x for name, x in moved.items()}
        besides = {"at_end": float(ends.mean())}
        rows = {f"best {spell(name)}": (self.whole(moved[name]), besides) for name in names}
        return rows | {f"{self.law.parsed.left} there": (self.whole(self.response(at)), {})}

    def _ends_of_parts(self, names, sides, limits):
        """Return the ends of columns within the rows and their limits, by name; none where these are no parts of a sum.

        They are where the equation is of the sum of the columns, and each limit of one of them and a number.
        """
        terms = [part.name if sign > 0 and isinstance(part, Name) else "" for sign, part in sum_of(sides[0])]
        ends = {name: (float(self.table[name].min()), float(self.table[name].max())) for name in terms if name in names}
        for left, right in limits:
            match left, right:
                case Name(name), Number(most) if name in ends:
                    ends[name] = ends[name][0], min(most, ends[name][1])
                case Number(least), Name(name) if name in ends:
                    ends[name] = max(least, ends[name][0]), ends[name][1]
                case _:
                    return {}
        return ends if sorted(terms) == sorted(names) else {}

    def _search_parts(self, ends, sides, given):
        """Return the best values of columns that are the parts of a sum, each within its ends."""
        law, (low, high) = self.alone, np.array([*ends.values()]).T[:, :, None]
        total = law.whole(law.value(sides[1], given))
        if (total < low.sum() * (1 - EXACT)).any() or (total > high.sum() * (1 + EXACT)).any() or (low > high).any():
            least_to_most = f"from {low.sum():.3g} to {high.sum():.3g}"
            self._refuse(f"within the rows and the limits {sides[0]} is {least_to_most}, and never {sides[1]}")
        sign = -1.0 if is_better_higher(self.law) else 1.0

        def objective(parts):
            at = (x + part for (x, _), part in zip(ends.values(), parts, strict=True))
            y = sign * law.value(law.law.parsed.right, given | dict(zip(ends, at, strict=True)))
            return np.where(np.isfinite(y), y, np.finfo(float).max)

        start = self.table[[*ends]].to_numpy(float).mean(0)[:, None] - low
        start = capped(np.maximum(start, TINY) + np.zeros(self.count), high - low, total - low.sum())
        return dict(zip(ends, low + least_of_sum(objective, start, high - low), strict=True))

    def candidates(self, question: Question, rows: Any) -> dict[str, dict]:
        """Return the values of columns at rows of a table, by the name of the row, refusing rows that do not answer."""
        names, outer, at = self._names(question), self._read(question, {}), {}
        for name in dict.fromkeys((*names, *(x for x in self.law.columns if x in rows and x not in outer))):
            if name not in rows:
                self._refuse(f"{source_of(rows)} lacks {quoted(name)}, which the question asks for")
            x = rows[name]
            if x.dtype.kind not in "fiub" or not np.isfinite(x.to_numpy(float)).all():
                self._refuse(f"{source_of(rows)}: column {quoted(name)} holds what is no number; correct it")
            for k, value in enumerate(x.to_numpy(float)):
                at.setdefault(f"row {k + 1}", dict(outer))[name] = value
        if not at:
            self._refuse(f"{source_of(rows)} has no rows, and the best is to be one of them")
        equal = [question.sides] if question.sides else []
        for label, given in at.items():
            for left, right in (*equal, *question.limits):
                x, wanted = (float(np.median(self.value(node, given))) for node in (left, right))
                fault = "not" if (left, right) in equal else "may be at most"
                if (abs(x - wanted) if fault == "not" else x - wanted) > ROUNDED * abs(wanted):
                    why = f"{left} is {x:.4g}, and {fault} {right}; correct it or leave it out"
                    self._refuse(f"{source_of(rows)}, {label}: {why}")
        return at

    def _search_best(self, names, sides, met, given):
        """Return the best values of columns, the same with their drift, and whether one is at an end of the search.

        One column is searched at a time; on a budget one of each pair, and the other follows. Of every limit that is
        met one column follows, before them.
        """
        law, follow = self.alone, []
        for left, right in met:
            inside = [name for name in names if has(left, (name,)) and name not in (last for *_, last in follow)]
            if not inside:
                self._refuse(f"{left} has none of {listed(names)} that another limit does not settle")
            follow.append((left, right, inside[-1]))
        free = [name for name in names if name not in (last for *_, last in follow)]
        of_budget = [name for name in free if has(sides[0], (name,))] if sides else []
        if sides and not of_budget:
            self._refuse(f"the limits leave no column of {sides[0]} free")
        others = [name for name in free if name not in of_budget]
        pairs = [*combinations(of_budget, 2), *((name, of_budget[-1] if sides else None) for name in others)]
        is_sum = bool(sides) and getattr(sides[0], "function", "") == "+"  # of shares, which lie within the rows
        spans = {name: self._ends_of_search(name, beyond=bool(sides), linear=is_sum) for name in names}
        sign = -1.0 if is_better_higher(self.law) else 1.0

        def solved(at, last=of_budget[-1] if sides else None):
            for left, right, name in [*follow, *([(*sides, last)] if last else [])]:
                at = at | {name: law._solve(left, name, law.whole(law.value(right, at)), at)}
            return at

        def objective(at):
            y = sign * law.whole(law.response(at))
            for name, (low, high, log) in spans.items():
                if log:
                    y = np.where(at[name] > 0, y, np.inf)
                else:  # so that a search ends at an end
                    far = np.maximum(low - at[name], 0) + np.maximum(at[name] - high, 0)
                    y = y + STEEP * self.reference["spread"] * far / (high - low)
            return np.where(np.isfinite(y), y, np.inf)

        law.searching, at = True, dict(given)
        for name, span in spans.items():
            x = self.table[name].to_numpy(float)
            at[name] = self.whole(np.exp(np.log(x).mean()) if span.log else x.mean())
        at = solved(at)
        for _ in range(SWEEPS if len(pairs) > 1 else 1):
            before = at
            for name, last in pairs:

                def along(u, at=at, name=name, last=last):
                    return solved(at | {name: spans[name].place(u)}, last)

                u = least(lambda u, along=along: objective(along(u)), *map(self.whole, spans[name][:2]))
                at = along(u)
            if all(np.allclose(at[name], before[name], rtol=EXACT) for name in names):
                break
        law.searching, ends_of = False, []
        for name, (low, high, log) in spans.items():
            u = np.log(at[name]) if log else at[name]
            ends_of.append(np.minimum(u - low, high - u) < (high - low) / CELLS)
        moved = at
        if self.slopes is not None and spans[names[0]].log:
            moved = solved(at | {names[0]: at[names[0]] * np.exp(self._error(self._decades(at), "size"))})
        return at, moved, np.any(ends_of, axis=0)

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


def is_better_higher(law):
    """Return whether the response, or what is counted, is called as what is better where it is higher."""
    left = law.parsed.left
    name = law.counts[0] if law.counts else left.name if isinstance(left, Name) else ""
    name = law.letters.get(name, name)
    return is_called(name, RISING) and not is_called(name, FALLING)


def _flatten(x: xr.DataArray) -> np.ndarray:
    x = x.transpose(*DRAWS, ...).values
    return x.reshape(-1, *x.shape[2:])

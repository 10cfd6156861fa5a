"""Where the response of a formula is best: by a search of columns, of the parts of a sum, and among candidates."""

from itertools import combinations

import numpy as np

from ...datasets.formula_nodes import Name, Number, spell
from ...datasets.meaning.names import FALLING, RISING, is_called
from ...datasets.wording import listed, quoted, source_of
from ...models.formula.roles import has, sum_of
from ...models.formula.suited import ROUNDED
from ...models.loss.search import capped, least, least_of_sum

CELLS, SWEEPS, EXACT = 240, 30, 1e-6  # of a search for a place, and of one for the best over several columns
TINY = 1e-9  # of a part that a search starts from
STEEP = 1e3  # spreads of the response that a step over the whole range of a column costs beyond it


class Best:
    """Finds the best of `Answering`."""

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

    def candidates(self, question, rows):
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


def is_better_higher(law):
    """Return whether the response, or what is counted, is called as what is better where it is higher."""
    left = law.parsed.left
    name = law.counts[0] if law.counts else left.name if isinstance(left, Name) else ""
    name = law.letters.get(name, name)
    return is_called(name, RISING) and not is_called(name, FALLING)

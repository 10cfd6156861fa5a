"""What a table decides of a formula: which names are columns, the noise, errors, signs of terms, and centres."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...datasets.formula_nodes import POWER, BinaryOperation, Call, Name, Negative, Number, evaluate, names_in, walk
from ...datasets.formulas import FormulaError
from ...datasets.meaning.names import words
from ...datasets.wording import listed, quoted, suggestion
from ...errors import InputError
from .constants import FUNCTIONS

LEAST_FREE = 8  # rows beyond the constants, from which on they inform tails
UNBOUNDED = ("elo", "rating", "return", "reward")  # in the name of a response without a natural zero
ERRORS = (("_minus", "_plus"), ("_se",), ("_stderr",), ("_sem",), ("_err",), ("_sd",), ("_std",))  # ends of names
CLOSE_NAME = 0.8  # to that of a column: a constant of such a name is one that was mistyped

SCATTERS = ("relative", "additive", "logit")  # noise that has a scale
# As `FUNCTIONS`, but NaN or infinite where a function has no value, so that cells are refused and not floored.
EXACT = FUNCTIONS | {"log": np.log, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, POWER: np.power}


def counts_of(left):
    """Return the columns of successes and trials of ``k / n``, None where the left side is another expression."""
    sides = (left.left, left.right) if isinstance(left, BinaryOperation) and left.operator == "/" else ()
    return tuple(side.name for side in sides) if sides and all(isinstance(side, Name) for side in sides) else None


class SuitedToTable:
    """How a formula is suited to a table, and what of the rows its quantities refer to."""

    def suited(self, table):
        """Return the law with what the table decides: columns, groups, noise and signs."""
        law = self._find_columns(table)
        law._check_numbers(table, table.attrs.get("source", "the table"))
        y = law.response(table)
        changes: dict[str, Any] = {}
        if law.positive is None:
            changes["positive"] = bool((y > 0).all())
        if not law.noise:
            changes["noise"] = law._usual_noise(table, y)
        if not law.errors:
            changes["errors"] = law._errors_in(table)
        law = replace(law, **changes)
        keys = dict.fromkeys(law.groups.values())
        levels = tuple((key, tuple(sorted({*law.group_labels(table, key)}))) for key in keys)
        law = replace(law, levels=levels)
        if not law.signs:
            law = replace(law, signs=law._signs_on(table))
        if not law.tails:
            many = len(table) >= len(law.prior_of) + LEAST_FREE and law.noise in SCATTERS
            law = replace(law, tails="student_t" if many else "normal")
        return law

    def _find_columns(self, table):
        if self.columns:
            return self
        place = table.attrs.get("source", "the table")
        names = [str(name) for name in table.columns]
        for name in names_in(self.parsed.left):
            if name.name not in names:
                raise FormulaError(
                    f"{place}: formula {self.formula!r}: no column {quoted(name.name)}"
                    f"{suggestion(name.name, names) or ';'} the columns are {listed(names)}"
                )
        right = dict.fromkeys(name.name for name in names_in(self.parsed.right))
        columns = tuple(name for name in right if name in names)
        for name in right:
            if name not in columns and len(name) > 2 and (near := suggestion(name, names, CLOSE_NAME)):
                raise FormulaError(
                    f"{place}: formula {self.formula!r}: no column {quoted(name)}{near} (of a constant choose another "
                    "name)"
                )
        if not columns:
            raise FormulaError(
                f"{place}: formula {self.formula!r} has no column on the right of ~; the columns are {listed(names)}"
            )
        return replace(self, columns=columns)

    def _usual_noise(self, table, y):
        names = counts_of(self.parsed.left)
        if names and not _wrong_counts(table, names).any():
            return "binomial"
        return "relative" if (y > 0).all() and not {*words(self.parsed.left)} & {*UNBOUNDED} else "additive"

    def _errors_in(self, table):
        """Return the columns of errors that are named after the response, those down and up together."""
        name = str(self.parsed.left).strip("`")
        for ends in ERRORS:
            columns = tuple(f"{name}{end}" for end in ends)
            if all(x in table and table[x].dtype.kind == "f" and (table[x] >= 0).all() for x in columns):
                return columns
        return "none"

    @property
    def error_columns(self):
        """Return the columns of errors, none where there are none."""
        names = (self.errors,) if isinstance(self.errors, str) else tuple(self.errors)
        return tuple(name for name in names if name not in ("", "none"))

    def _check_numbers(self, table, place):
        """Refuse columns of text, and cells that are no finite number, where the formula takes numbers."""
        numbers = {name.name for name in names_in(self.parsed.left)} | {*self.columns, *self.error_columns}
        for name in numbers:
            column = table[name]
            if column.dtype.kind not in "fiub":
                raise InputError(f"{place}: column {quoted(name)} holds text, and the formula takes its numbers")
            bad = ~np.isfinite(column.to_numpy(float))
            if bad.any():
                row = int(np.argmax(bad))
                raise InputError(
                    f"{place}: column {quoted(name)} is {column.iloc[row]} in row {table.index[row] + 1}; delete the "
                    "row (--drop-missing, drop_missing=True)"
                )

    def _check_values(self, table, place):
        """Refuse rows where the response, or a part of the right side that is of columns alone, has no value."""
        y, k_of_n = self.response(table), counts_of(self.parsed.left)
        limits = {"relative": (y > 0, "positive values"), "logit": ((y > 0) & (y < 1), "values between 0 and 1")}
        usable, what = limits.get(self.noise, (np.isfinite(y), "finite values"))
        additive = 'set noise="additive" (--option noise=additive)'
        fix = f"{additive} or leave the row out" if self.noise in limits else "correct the row or leave it out"
        if self.noise == "binomial" and k_of_n is None:
            raise InputError(
                f'{place}: binomial noise is of successes / trials, not of {self.observed}; set noise="relative"'
            )

        def refuse_first(bad, told):
            if bad.any():
                row = int(np.argmax(bad))
                raise InputError(f"{place}: {told(row, f'in row {table.index[row] + 1}')}")

        refuse_first(
            ~(usable & np.isfinite(y)),
            lambda row, where: f"{self.observed} is {y[row]:g} {where}, and {self.noise} noise needs {what}; {fix}",
        )
        if self.noise == "binomial":
            k, n = (table[name].to_numpy(float) for name in k_of_n)
            refuse_first(
                _wrong_counts(table, k_of_n),
                lambda row, where: (
                    f"{k_of_n[0]} / {k_of_n[1]} is {k[row]:g} / {n[row]:g} {where}, and counts are whole "
                    'numbers, successes at most the trials; correct it, or set noise="additive"'
                ),
            )
        for part, written, of in self._parts_with_domain():
            x = self._evaluate_on(of, table)
            refuse_first(
                ~np.isfinite(self._evaluate_on(part, table, functions=EXACT)),
                lambda row, where, x=x, written=written, of=of: (
                    f"{of} is {x[row]:g} {where}, where the formula has "
                    f"{written}; leave the row out, or write the formula without it"
                ),
            )

    def _parts_with_domain(self):
        """Yield parts of columns alone without a value everywhere: as tried, as written, and what each is of."""
        for node in walk(self.parsed.right):
            match node:
                case Call(function=function, arguments=(of,)) if function.startswith("log") or function == "sqrt":
                    part = node
                case BinaryOperation(operator="/", right=of):
                    part = BinaryOperation("/", Number(1.0, "1"), of)
                case BinaryOperation(operator=operator, left=of, right=Number()) if operator == POWER:
                    part = node
                case BinaryOperation(operator=operator, left=of) if operator == POWER:
                    part = BinaryOperation(POWER, of, Number(-0.5 if _falls(node.right) else 0.5, "..."))
                case _:
                    continue
            if names_in(of) and all(name.name in self.columns for name in names_in(of)):
                yield part, node, of

    def _check_names(self, parsed):
        levels = {}
        for name in names_in(parsed.right):
            if name.name in self.columns and name.levels:
                raise FormulaError(f"formula {self.formula!r}: {quoted(name.name)} is a column and has no groups")
            if levels.setdefault(name.name, name.levels) != name.levels:
                raise FormulaError(
                    f"formula {self.formula!r}: {name} and {Name(name.name, levels[name.name])} are of different "
                    "groups; give one another name"
                )

    def response(self, table):
        """Return the left side of the formula on the rows of a table, (row,): its column where the table has one."""
        if self.observed in table and not self.counts:
            return table[self.observed].to_numpy(float)
        return self._evaluate_on(self.parsed.left, table, functions=EXACT)

    @staticmethod
    def _evaluate_on(node, table, known=None, functions=FUNCTIONS):
        known = known or {}

        def value_of(name):
            return known[name.name] if name.name in known else table[name.name].to_numpy(float)

        with np.errstate(all="ignore"):
            return np.broadcast_to(evaluate(node, value_of, functions), len(table)).astype(float)

    @staticmethod
    def group_labels(table, key):
        """Return the group of each row, a list of str: values of columns, joined by a comma."""
        return [", ".join(map(str, row)) for row in table[[*key]].itertuples(index=False)]

    def _signs_on(self, table):
        """Return the signs of the terms of amplitudes on the rows, at usual values of the other constants."""
        usual = self._usual_constants(table)
        signs = {}
        for name, role in self.roles.items():
            if role.kind == "amplitude":
                x = self._evaluate_on(self.placing._factor(name), table, usual)
                logs = any(term.has_logarithm for term in role.terms)  # has no natural zero: units move it
                signs[name] = 0 if logs else 1 if (x > 0).all() else -1 if (x < 0).all() else 0
        return signs

    def _usual_constants(self, table):
        """Return values of constants inside functions and powers that suit the columns, for a look at signs."""
        usual = {name: 0.3 if role.kind == "exponent" else 1.0 for name, role in self.roles.items()}
        for name, role in self.roles.items():
            if role.kind == "relative":
                x = np.median(np.abs(self._evaluate_on(role.beside, table, usual)))
                usual[name] = 1 / x if role.inverse else x
            if role.kind == "place":
                usual[name] = np.median(self._evaluate_on(role.beside, table, usual))
        return usual

    def rows(self, table):
        """Return the rows, refusing a table that cannot inform the formula."""
        place = table.attrs.get("source", "the table")
        for name in self.needed:
            if name not in table:
                raise FormulaError(f"{place}: no column {quoted(name)}{suggestion(name, table.columns) or ''}")
        self._check_numbers(table, place)
        self._check_values(table, place)
        if len(table) < len(self.roles):
            raise InputError(
                f"{place}: {len(table)} rows are fewer than the {len(self.roles)} constants of the formula"
            )
        return (table if self.counts else table.assign(**{self.observed: self.response(table)})).reset_index(drop=True)

    def reference(self, rows):
        """Return the centres of columns, ranges of what constants are measured by, and the scale of the response."""
        y = self.response(rows)
        spread = float(np.std(y)) or abs(float(y[0])) or 1.0
        entries = {"typical": float(np.median(np.abs(y))) or spread, "middle": float(np.median(y)), "spread": spread}
        for name in self.columns:
            x = rows[name].to_numpy(float)
            entries[f"centre of {name}"] = float(np.exp(np.log(x).mean()) if (x > 0).all() else x.mean())
        usual = self._usual_constants(rows)
        for name, role in self.roles.items():
            slope = self.signs.get(name) == 0
            if role.kind not in ("rate", "steepness", "place", "share") and not slope:
                continue
            x = self._evaluate_on(self.placing._factor(name) if slope else role.beside, rows, usual)
            x = x[np.isfinite(x)] if np.isfinite(x).any() else np.ones(1)
            half = (x.max() - x.min()) / 2 or abs(float(x[0])) or 1.0
            entries |= {f"range of {name}": float(half), f"middle of {name}": float((x.max() + x.min()) / 2)}
            entries[f"least of {name}"] = float(x.min())
        return entries


def _wrong_counts(table, names):
    """Return whether each row is no number of successes of as many trials, (row,) of bool."""
    k, n = (table[name].to_numpy(float) for name in names)
    return ~((k == np.round(k)) & (n == np.round(n)) & (k >= 0) & (k <= n) & (n > 0))


def _falls(exponent):
    return isinstance(exponent, Negative) or (
        isinstance(exponent, BinaryOperation) and exponent.operator in "*/" and _falls(exponent.left)
    )

"""What a table decides of a formula: which names are columns, the noise, errors, signs of terms, and centres."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...datasets.formula_nodes import Name, Operation, evaluate, names_in
from ...datasets.formulas import FormulaError
from ...datasets.wording import listed, quoted, suggestion
from ...errors import InputError
from .constants import FUNCTIONS
from .roles import add

LEAST_FREE = 8  # rows beyond the constants, from which on they inform tails
UNBOUNDED = ("elo", "rating", "return", "reward")  # in the name of a response without a natural zero
ERRORS = (("_minus", "_plus"), ("_se",), ("_stderr",), ("_sem",), ("_err",), ("_sd",), ("_std",))  # ends of names
CLOSE_NAME = 0.8  # to that of a column: a constant of such a name is one that was mistyped

SCATTERS = ("relative", "additive", "logit")  # noise that has a scale


class OfTable:
    """How a formula is suited to a table, and what of the rows its quantities refer to."""

    def suited(self, table):
        """Return the law with what the table decides: columns, groups, noise and signs."""
        law = self._with_columns(table)
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

    def _with_columns(self, table):
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
        left = self.parsed.left
        sides = (left.left, left.right) if isinstance(left, Operation) and left.operator == "/" else ()
        if sides and all(isinstance(side, Name) for side in sides):
            k, n = (table[side.name].to_numpy(float) for side in sides)
            if (k == np.round(k)).all() and (n == np.round(n)).all() and (k >= 0).all() and (k <= n).all():
                return "binomial"
        unbounded = any(word in str(left).lower() for word in UNBOUNDED)
        return "relative" if (y > 0).all() and not unbounded else "additive"

    def _errors_in(self, table):
        """Return the columns of errors that are named after the response, those down and up together."""
        name = str(self.parsed.left).strip("`")
        for ends in ERRORS:
            columns = tuple(f"{name}{end}" for end in ends)
            if all(
                column in table and table[column].dtype.kind == "f" and (table[column] >= 0).all() for column in columns
            ):
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
        """Return the left side of the formula on the rows of a table, (row,)."""
        return np.broadcast_to(self._evaluated(self.parsed.left, table), len(table)).astype(float)

    @staticmethod
    def _evaluated(node, table, known=None):
        known = known or {}

        def value_of(name):
            return known[name.name] if name.name in known else table[name.name].to_numpy(float)

        with np.errstate(all="ignore"):
            return np.broadcast_to(evaluate(node, value_of, FUNCTIONS), len(table)).astype(float)

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
                factor = add([(term.sign, term.without(name)) for term in role.terms])
                x = self._evaluated(factor, table, usual)
                logs = any(term.has_logarithm for term in role.terms)  # has no natural zero: units move it
                signs[name] = 0 if logs else 1 if (x > 0).all() else -1 if (x < 0).all() else 0
        return signs

    def _usual_constants(self, table):
        """Return values of constants inside functions and powers that suit the columns, for a look at signs."""
        usual = {}
        for name, role in self.roles.items():
            usual[name] = 0.3 if role.kind == "exponent" else 1.0
        for name, role in self.roles.items():
            if role.kind == "relative":
                x = np.median(np.abs(self._evaluated(role.beside, table, usual)))
                usual[name] = 1 / x if role.inverse else x
            if role.kind == "place":
                usual[name] = np.median(self._evaluated(role.beside, table, usual))
        return usual

    def rows(self, table):
        """Return the rows, refusing a table that cannot inform the formula."""
        place = table.attrs.get("source", "the table")
        for name in self.needed:
            if name not in table:
                raise FormulaError(f"{place}: no column {quoted(name)}{suggestion(name, table.columns) or ''}")
        self._check_numbers(table, place)
        y = self.response(table)
        if not np.isfinite(y).all():
            row = int(np.argmin(np.isfinite(y)))
            raise InputError(f"{place}: {self.observed} is {y[row]} in row {table.index[row] + 1}")
        if self.noise == "relative" and (y <= 0).any():
            row = int(np.argmax(y <= 0))
            raise InputError(
                f"{place}: {self.observed} is {y[row]:g} in row {table.index[row] + 1}, and relative noise needs "
                'positive values; set noise="additive" (--option noise=additive)'
            )
        if len(table) < len(self.roles):
            raise InputError(
                f"{place}: {len(table)} rows are fewer than the {len(self.roles)} constants of the formula"
            )
        return (table if self.counts else table.assign(**{self.observed: y})).reset_index(drop=True)

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
            node = role.beside
            if self.signs.get(name) == 0:
                node = self.placing._factor(name)
            if role.kind not in ("rate", "steepness", "place", "share") and self.signs.get(name) != 0:
                continue
            x = self._evaluated(node, rows, usual)
            x = x[np.isfinite(x)] if np.isfinite(x).any() else np.ones(1)
            half = (x.max() - x.min()) / 2 or abs(float(x[0])) or 1.0
            entries |= {f"range of {name}": float(half), f"middle of {name}": float((x.max() + x.min()) / 2)}
            entries[f"least of {name}"] = float(x.min())
        return entries

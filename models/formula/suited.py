"""What a table decides of a formula: which names are columns, the noise, errors, signs of terms, and centres."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from ...datasets.formula_nodes import NEGATIVE, NUMPY, POWER, Call, Name, Number, evaluate, names_in, spell, walk
from ...datasets.formulas import FormulaError, written_out
from ...datasets.meaning.names import words
from ...datasets.wording import listed, p_value, quoted, source_of, suggestion
from ...errors import InputError
from ..loss.direction import LIKELY, RISING, partial_rank_correlation
from ..loss.grouping import labelled
from ..priors import Prior
from .constants import FUNCTIONS
from .letters import group_constants, spell_out

SHOWN = 5  # rows in a message
ROUNDED = 0.02  # by how much shares, which are written with few digits, may miss their sum
OF_DRAWS = {"chain", "draw", "z"}
FAR = np.log(3)  # from the rows beside it: such a run may have failed
PRIOR_DRAWS = 200  # in which a formula that may rise does
LEAST_FREE = 8  # rows beyond the constants, from which on they inform tails
UNBOUNDED = ("elo", "rating", "return", "reward")  # in the name of a response without a natural zero
# Words in names of columns of errors, besides that of the response: of what lies below and above, or of both.
ERRORS = {
    "below": {*str.split("minus lo low lower min lb")},
    "above": {*str.split("plus hi high upper max ub")},
    "around": {*str.split("se sem stderr standard error err errors sd std stdev deviation halfwidth ci pm")},
}
DISTANCES = {"minus", "plus", "err", "error", "errors"}  # two columns with such a word are no limits
SPREADS, SEEDS = {"sd", "std", "stdev", "deviation"}, {"seeds", "repeats", "replicates"}
LEVELS = {"80": 1.282, "90": 1.645, "95": 1.96, "99": 2.576}  # limits of an interval, in standard errors
NEUTRAL = {"ci", "interval", "limit", "bound", "confidence", "pct", "percent", "of", "dev", *LEVELS}
MEAN = {"mean", "avg", "average", "median", "value"}
CLOSE_NAME = 0.8  # to that of a column: a constant of such a name is one that was mistyped

SCATTERS = ("relative", "additive", "logit")  # noise that has a scale
EXACT = FUNCTIONS | NUMPY  # without floors, so that cells of which a function has no value are refused


def counts_of(left):
    """Return the columns of successes and trials of ``k / n``, None where the left side is another expression."""
    match left:
        case Call("/", (Name(successes, ()), Name(trials, ()))):
            return successes, trials
    return None


def _pieces(name):
    return re.findall("[a-z]+|[0-9]+", " ".join(words(str(name).replace("±", "_pm"))))


def find_errors(table, response):
    """Return the columns that hold errors of a response, by their names and numbers; none if there are none.

    They are one of standard errors or deviations, with that of the number of seeds if there is one, or two, of errors
    down and up or of what lies below and above: the limits of an interval, or the least and the largest of seeds.
    """
    found, own, numbers = {}, {*_pieces(response)}, [*table.select_dtypes("number")]
    for name in numbers:
        pieces = {*_pieces(name)}
        more, shared = pieces - own, pieces & own
        if name == response or (own - pieces - MEAN if shared else more & {*DISTANCES, "ci"}):
            continue  # of another column, or one of any
        for side, called in ERRORS.items():
            if more & called and more <= called | NEUTRAL | DISTANCES and np.isfinite(table[name]).all():
                found[side] = str(name) if shared else found.get(side, str(name))
    if {"below", "above"} <= {*found}:
        low, high, y = table[found["below"]], table[found["above"]], table[response]
        least, most = (-low, high) if {*_pieces(found["below"])} & DISTANCES else (low - y, high - y)
        if (least <= 0).all() and (most >= 0).all() and (low != high).any():
            return found["below"], found["above"]
    size = table[found["around"]] if "around" in found else pd.Series(0.0)
    if (size < 0).any() or not size.any():
        return ()
    seeds = [name for name in numbers if {*words(name)} & SEEDS and (table[name] >= 1).all()]
    return (found["around"], *(seeds[:1] if {*_pieces(found["around"])} & SPREADS else ()))


def find_shares(columns):
    """Return the columns that are shares of one whole, so that none changes alone; none where those do not add up."""
    shares = columns.loc[:, ((columns >= 0) & (columns <= 1)).all()]
    return [*shares] if shares.shape[1] > 1 and (abs(shares.sum(axis=1) - 1) <= ROUNDED).all() else []


class SuitedToTable:
    """How a formula is suited to a table, and what of the rows its quantities refer to."""

    def suited(self, table):
        """Return the law with what the table decides: columns, groups, noise and signs."""
        law = self._find_columns(table)
        law._check_numbers(table)
        y = law.response(table)
        noise = law.noise or law._usual_noise(table, y)
        scatters, others = noise in SCATTERS and isinstance(law.parsed.left, Name), table.drop(columns=[*law.columns])
        keys = dict.fromkeys(law.groups.values())
        law = replace(
            law,
            noise=noise,
            positive=bool((y > 0).all()) if law.positive is None else law.positive,
            errors=law.errors or (scatters and find_errors(others, law.parsed.left.name)) or "none",
            levels=tuple((key, tuple(sorted({*law.group_labels(table, key)}))) for key in keys),
        )
        law = replace(law, signs=law.signs or law._signs_on(table))
        many = len(table) >= len(law.prior_of) + LEAST_FREE and noise in SCATTERS
        return replace(law, tails=law.tails or ("student_t" if many else "normal"))

    def _check_falls(self, rows):
        """Refuse a response that rises with a column, others equal, if the formula falls in all draws of the prior."""
        shares = find_shares(rows[[*self.columns]])
        for column in (name for name in self.columns if name not in shares):
            of = partial_rank_correlation(rows, column, [x for x in self.columns if x != column], self.observed)
            if of is None or of.r <= RISING or (p := of.p_rise()) >= LIKELY:
                continue
            draws = self.prior_draws(np.random.default_rng(1), self.reference(rows), rows, PRIOR_DRAWS)
            larger = rows.assign(**{column: rows[column] + 0.01 * rows[column].abs()})
            if not (draws.mean(larger) > draws.mean()).any():
                risen = f"{self.observed} rises with {column} (rank correlation {of.r:.2f}, {p_value(p)})"
                other = f"'{self.parsed.left} ~ A * {spell(column)}**alpha'"
                raise InputError(
                    f"{source_of(rows)}: {risen}, and the formula only falls with it; write one that may rise, such as "
                    f"{other}, or choose other columns or rows"
                )

    def _find_columns(self, table):
        if self.columns:
            return self
        if self.letters:
            return spell_out(self, table)._find_columns(table)
        if self.by:
            return group_constants(self, table)._find_columns(table)
        names = [str(name) for name in table.columns]
        if (left := written_out(self.parsed.left, names, f"formula {self.formula!r}: ")) != self.parsed.left:
            return replace(self, formula=f"{left} ~ {self.parsed.right}")._find_columns(table)
        right = dict.fromkeys(name.name for name in names_in(self._written_out(names).right))
        columns = tuple(name for name in right if name in names)
        groups = [column for name, key in self.groups.items() if name not in names for column in key]
        known = f"the columns are {listed(names)}"

        def refuse(why):
            raise FormulaError(f"{source_of(table)}: formula {self.formula!r}{why}")

        for name in (*(name.name for name in names_in(left)), *groups):
            if name not in names:
                refuse(f": no column {quoted(name)}{suggestion(name, names) or ';'} {known}")
        for name in dict.fromkeys(name.name for name in names_in(self.parsed.right)):
            if name.endswith("_*") and name in right:
                refuse(f": {quoted(name)} stands for several columns; write it within sum(...)")
            if (
                name not in columns
                and len(name) > 2
                and name in right
                and (near := suggestion(name, names, CLOSE_NAME))
            ):
                refuse(f": no column {quoted(name)}{near} (of a constant choose another name)")
        if not columns and not self.groups:
            refuse(f" has no column on the right of ~; {known}")
        if isinstance(left, Name) and left.name in right:
            refuse(f" has {quoted(left.name)} on both sides of ~")
        if len(columns) == len(right):
            refuse(f" has no constant: every name is a column; write one that is none, such as {left} ~ a * (...)")
        return replace(self, columns=columns)

    def _usual_noise(self, table, y):
        names = counts_of(self.parsed.left)
        if names and not _wrong_counts(table, names).any():
            return "binomial"
        return "relative" if (y > 0).all() and not {*words(self.parsed.left)} & {*UNBOUNDED} else "additive"

    @property
    def error_columns(self):
        """Return the columns of errors, none where there are none."""
        names = (self.errors,) if isinstance(self.errors, str) else self.errors
        return tuple(name for name in names if name not in ("", "none"))

    def error_sizes(self, rows):
        """Return the error of the response on each row, (row,), and the rule by which it follows from columns."""
        names = self.error_columns
        one, other = (rows[name].to_numpy(float) for name in (names[0], names[-1]))
        pieces, columns = {piece for name in names for piece in _pieces(name)}, " and ".join(map(quoted, names))
        usual = 1.96 if "ci" in pieces else 1.0
        unit = next((size for level, size in LEVELS.items() if level in pieces), usual)
        if {*words(names[-1])} & SEEDS:
            return one / np.sqrt(other), f"{quoted(names[0])} / sqrt({quoted(names[1])})"
        if len(names) == 1 or pieces & DISTANCES:
            size, rule = (one + other) / 2, f"the mean of {columns}" if len(names) > 1 else columns
        else:
            size, rule = (other - one) / 2, f"half of the distance between {columns}"
        return size / unit, rule + (f" / {unit:g}" if unit != 1 else "")

    def notes(self, suited, rows):
        """Return sentences on the errors of rows, and on rows that are far from those beside them; refuse a rise."""
        law, sentences = suited, []
        law._check_falls(rows)
        copies = int(rows.duplicated().sum())
        if copies and (rows[law.observed] % 1 != 0).any():
            sentences.append(
                f"{copies} of {len(rows)} rows are exact copies of others; if they are no runs, delete them"
            )
        if law.error_columns:
            rule = law.error_sizes(rows)[1]
            sentences.append(f"the error of {law.observed} in a row is {rule}, besides the scatter of the law")
        if law.noise == "relative" and law.columns and len(rows) >= LEAST_FREE:
            ordered = rows.sort_values(law.columns[0])
            y = np.log(ordered[law.observed])
            usual = y.rolling(5, center=True, min_periods=3).median()
            apart = (y - usual).abs()
            for row in apart.index[apart > max(FAR, 10 * apart.median())][:SHOWN]:
                x, value, limit = law.columns[0], rows[law.observed][row], "<" if y[row] > usual[row] else ">"
                sentences.append(
                    f"a row of {x} {rows[x][row]:.4g} has {law.observed} {value:.6g}, where rows beside it have "
                    f"{np.exp(usual[row]):.3g}; if the run failed, leave it out with --where "
                    f"'{spell(law.observed)} {limit} {value:.10g}'"
                )
        return sentences

    def _check_numbers(self, table):
        """Refuse columns that are missing, or hold text or no finite number where the formula takes numbers."""
        left = (name.name for name in names_in(self.parsed.left))
        numbers = dict.fromkeys((*left, *self.columns, *self.error_columns))
        for name in (*numbers, *self.apart):
            if name not in table:
                raise FormulaError(f"{source_of(table)}: no column {quoted(name)}{suggestion(name, table.columns)}")
        for name in numbers:
            column, about = table[name], f"{source_of(table)}: column {quoted(name)}"
            if column.dtype.kind not in "fiub":
                raise InputError(f"{about} holds text, and the formula takes its numbers")
            bad = ~np.isfinite(column.to_numpy(float))
            if bad.any():
                rows = [str(row + 1) for row in np.flatnonzero(bad)]
                rows = ", ".join(rows[:SHOWN] + ["..."] * (len(rows) > SHOWN))
                raise InputError(
                    f"{about} is {column[bad].iloc[0]} in row {rows} below the header; leave such rows out with "
                    "--drop-missing (read with drop_missing=True)"
                )

    def _check_values(self, table):
        """Refuse the first row of a fault."""
        for bad, what, values, why in self._faults(table):
            if bad.any():
                row = int(np.argmax(bad))
                value = " / ".join(f"{x[row]:g}" for x in values)
                raise InputError(f"{source_of(table)}: {what} is {value} in row {table.index[row] + 1}, {why}")

    def _faults(self, table):
        """Yield what rows fail by, where the response, or a part of the right side of columns alone, has no value.

        Each is whether a row does, (row,), what has the fault, its values, and the reason with its remedy.
        """
        y, names = self.response(table), counts_of(self.parsed.left)
        limits = {"relative": (y > 0, "positive values"), "logit": ((y > 0) & (y < 1), "values between 0 and 1")}
        usable, needs = limits.get(self.noise, (np.isfinite(y), "finite values"))
        additive = 'set noise="additive" (--option noise=additive)'
        fix = f"{additive} or leave the row out" if self.noise in limits else "correct the row or leave it out"
        yield ~(usable & np.isfinite(y)), self.observed, (y,), f"and {self.noise} noise needs {needs}; {fix}"
        if "binomial" in self.noise:
            counts = "counts are whole numbers, successes at most the trials"
            values = [table[name].to_numpy(float) for name in names]
            wrong = _wrong_counts(table, names)
            yield wrong, " / ".join(names), values, f'and {counts}; correct it, or set noise="additive"'
        for part, written, of in self._parts_with_domain():
            bad, x = ~np.isfinite(self._evaluate_on(part, table, functions=EXACT)), self._evaluate_on(of, table)
            yield bad, of, (x,), f"where the formula has {written}; leave the row out, or write the formula without it"

    def _parts_with_domain(self):
        """Yield parts of columns alone without a value everywhere: as tried, as written, and what each is of."""
        for node in walk(self.parsed.right):
            match node:
                case Call("log" | "log2" | "log10" | "log1p" | "sqrt", (of,)) | Call("**", (of, Number())):
                    part = node
                case Call("/", (_, of)):
                    part = Call("/", (Number(1.0, "1"), of))
                case Call("**", (of, exponent)):
                    part = Call(POWER, (of, Number(-0.5 if _falls(exponent) else 0.5, "...")))
                case _:
                    continue
            if names_in(of) and all(name.name in self.columns for name in names_in(of)):
                yield part, node, of

    def _check_names(self):
        """Refuse groups of a column, two groupings of a constant, and names that draws have."""
        levels, left = {}, names_in(self.parsed.left)
        columns = {*self.columns, *(name.name for name in left)}
        for name in (*left, *names_in(self.parsed.right)):
            if name.name in columns and name.levels:
                self._refuse(f"{quoted(name.name)} is a column and has no groups")
            if levels.setdefault(name.name, name.levels) != name.levels:
                other = Name(name.name, levels[name.name])
                self._refuse(f"{name} and {other} are of different groups; give one another name")
            for of_draws in {*name.levels, *({name.name} - columns)} & OF_DRAWS:
                hint = f" (--column group={of_draws})" if of_draws in name.levels else ""
                self._refuse(f"{quoted(of_draws)} is a name that draws have; give it another name{hint}")

    def _check_sampled(self):
        """Refuse a constant with the name of something else that is sampled, such as the noise."""
        sampled = [parameter.name for parameter in self._free_parameters]
        for name, role in self.roles.items():
            if sampled.count(name) > (role.kind in ("exponent", "given")):
                other = "the name of something else that is sampled, such as the noise"
                self._refuse(f"{quoted(name)} is {other}; give the constant another name")

    def _refuse(self, why):
        raise FormulaError(f"formula {self.formula!r}: {why}")

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
        names = (labelled(table[name]) for name in key)
        return [", ".join(row) for row in zip(*names, strict=True)] if key else [""] * len(table)

    def _signs_on(self, table):
        """Return the signs of the terms of amplitudes on the rows, at usual values of the other constants."""
        usual = self._usual_constants(table)
        signs = {}
        for name, role in self.roles.items():
            if role.kind == "amplitude":
                x = self._evaluate_on(self.placing.terms_of(name), table, usual)
                logs = any(term.has_logarithm for term in role.terms)  # has no natural zero: units move it
                signs[name] = 0 if logs else 1 if (x > 0).all() else -1 if (x < 0).all() else 0
        return signs

    def _usual_constants(self, table):
        """Return values of constants inside functions and powers that suit the columns, for a look at signs."""
        usual = {name: 0.3 if role.kind == "exponent" else 1.0 for name, role in self.roles.items()}
        given = [name for name, role in self.roles.items() if role.kind == "given"]
        usual |= {name: Prior.parse(str(self.priors[name])).median for name in given}
        for name, role in self.roles.items():
            if role.kind in ("relative", "place"):
                x = self._evaluate_on(role.beside, table, usual)
                x = np.median(x if role.kind == "place" else np.abs(x))
                usual[name] = 1 / x if role.inverse else x
        return usual

    def rows(self, table):
        """Return the rows, refusing a table that cannot inform the formula."""
        place, count = source_of(table), len(self.roles)
        if "binomial" in self.noise and not counts_of(self.parsed.left):
            of = f"successes / trials, not of {self.observed}"
            raise InputError(f'{place}: binomial noise is of {of}; set noise="relative"')
        self._check_numbers(table)
        self._check_values(table)
        if len(table) < count:
            raise InputError(f"{place}: {len(table)} rows are fewer than the {count} constants of the formula")
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
            x = self._evaluate_on(self.placing.terms_of(name) if slope else role.beside, rows, usual)
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
    match exponent:
        case Call("*" | "/", (first, _)):
            return _falls(first)
    return isinstance(exponent, Call) and exponent.function == NEGATIVE

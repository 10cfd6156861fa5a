"""What the rules look at: a table, the roles of its columns, and what the user stated."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ..cells import numbers
from ..columns import ALIASES, SIZES, recognise
from ..fixes import Fix
from ..formula_nodes import spell, write_powers
from ..notation import parsed
from ..units import split_header
from ..wording import quoted, shorten_number
from .magnitudes import logarithm
from .names import logarithm_of, means, sounds_like, tokens_of_one, words

MOST_PARTS = 8  # columns of parts of which sums of two are tried
LEAST_ROWS = 3
LEAST_FILLED = 0.2  # of the cells of a column, in which sheets have lines between
CLEAR = 0.7  # rank correlation with compute
LARGEST_LOSS = 1e6  # of a column that is proposed as one
AGREES = 0.01  # share of 6ND


@dataclass
class TableFacts:
    """What a table holds, which columns play which parts (`names`), and what the user chose, for the rules.

    `sure` has the units that the user gave and `derived` the columns that are expressions. `size` is the only size that
    is needed, if there is one, and "" if none is. `several` has the columns that could each play a part, and `chooses`
    states whether the user chooses rows of runs. A message lists at most `shown` names.
    """

    table: object
    names: dict
    chosen: dict
    sure: dict = field(default_factory=dict)
    derived: tuple = ()
    perplexity: bool = False
    multiple: float = 6.0
    size: str | None = None
    several: dict = field(default_factory=dict)
    chooses: bool = False
    shown: int = 3
    _values: dict = field(default_factory=dict)

    def values(self, header):
        """Return a column as positive numbers in the unit of its header, or None where few cells are."""
        if header not in self._values:
            values, faults = numbers(self.table[header], header)
            for fault in faults:
                values[fault.row] = parsed(str(self.table.at[fault.row, header]))[0]
            values = values.where(np.isfinite(values) & (values > 0))
            unit = None if header in self.derived else split_header(header)[1]
            few = values.notna().mean() < LEAST_FILLED or not len(values)
            self._values[header] = None if few else values * (unit if isinstance(unit, float) else 1.0)
        return self._values[header]

    def numeric(self):
        """Return the columns of positive numbers."""
        return [header for header in self.table if self.values(header) is not None]

    def role(self, canonical):
        """Return the numbers of the column that plays a part, or None."""
        return self.values(self.names[canonical]) if canonical in self.names else None

    def sizes(self, names):
        """Return the numbers of the sizes by canonical name, in the units that headers and the user state."""
        values = {name: self.values(names[name]) for name in SIZES if names.get(name) in self.table}
        factors = {name: unit for name, unit in self.sure.items() if isinstance(unit, int | float)}
        return {name: x * factors.get(name, 1.0) for name, x in values.items() if x is not None}

    def stated(self, canonical):
        """Return whether the user gave the unit of a role, or its column as arithmetic."""
        return canonical in self.sure or self.names.get(canonical) in self.derived

    def formula(self, response, most=2):
        """Return the fix that fits a formula of a response: a floor and a power of each size, at most so many."""
        others = {"tokens": [x for x in self.free() if tokens_of_one(x)]}
        near = [[self.names[x]] if x in self.names else self.candidates(x) or others.get(x) or [] for x in SIZES]
        found = list(dict.fromkeys(next(filter(self._varies, headers), None) for headers in near))
        found = [header for header in found if header is not None][:most]
        sizes = [f"({x})" if x in self.derived else spell(str(x)) for x in found]
        return Fix(formula=f"{response} ~ E{write_powers(sizes or ['size'])}")

    def free(self):
        """Return the columns that play no part in the sizes and the loss."""
        taken = {self.names[name] for name in ALIASES if name in self.names}
        return [header for header in self.table if header not in taken]

    def candidates(self, canonical):
        """Return columns of positive numbers that sound like a role, the nearest first."""
        near = {header: sounds_like(canonical, header) for header in self.free()}
        if canonical in SIZES:
            near |= {header: 1 for header in near if self.logarithm(canonical, header)}
        near = {header: score for header, score in near.items() if score and self._varies(header)}
        if canonical == "loss":
            near = {header: score for header, score in near.items() if self.values(header).median() < LARGEST_LOSS}
            near = near or self.falling()
        return sorted(near, key=lambda header: -near[header])

    def _varies(self, header):
        """Return whether a column has several positive numbers, or the only one of a table of one row."""
        values = self.values(header)
        return values is not None and values.nunique() > min(1, len(values) - 1)

    def logarithm(self, canonical, header):
        """Return the expression of a size from a column that is its logarithm by name, or None."""
        base, name = logarithm_of(header) or ("", "")
        if (recognise(name) == canonical or sounds_like(canonical, name)) and self.values(header) is not None:
            return logarithm(canonical, header, self.values(header), base)
        return None

    def has_gaps(self, header):
        """Return whether some cells of a column are no positive numbers, such as step 0."""
        return self.values(header) is not None and bool(self.values(header).isna().any())

    def is_negative(self, header):
        """Return whether every number of a column is below 0, and there are some."""
        values = numbers(self.table[header], header)[0].dropna()
        return len(values) > 1 and bool((values < 0).all())

    def falling(self):
        """Return free columns that fall with compute, which may be losses, rates of errors, and scores that rise."""
        if len(self.table) < LEAST_ROWS:
            return {}
        slopes = {}
        for header in self.free():
            score = means(header, "accuracy", "error")
            if (means(header, "rate") and not score) or self.values(header) is None:
                continue
            rising = means(header, "accuracy")
            slope = -self.rises(header) if rising else self.rises(header)
            large = rising and self.values(header).max() > 100
            if (slope < -CLEAR or (score and slope <= 0)) and not large and not sounds_like("perplexity", header):
                slopes[header] = abs(slope)
        return slopes

    def compute(self):
        """Return the compute of each row as far as the sizes give it, or else the only size; None without either."""
        n, d, c = (self.role(name) for name in SIZES)
        if c is None and n is not None and d is not None:
            return self.multiple * n * d
        return c if c is not None or self.size is None else self.role(self.size)

    def rises(self, header):
        """Return the rank correlation of a column with compute, 0 where there is none."""
        compute, values = self.compute(), self.values(header)
        if compute is None or values is None or min(compute.nunique(), values.nunique(), len(values) - 1) < 2:
            return 0.0
        return float(values.rank().corr(compute.rank()))

    @np.errstate(all="ignore")
    def counts(self):
        """Return counts of parameters, or sums of two, with the span of FLOP over 6ND, the nearest first."""
        tokens, flop = self.role("tokens"), self.role("training_flop")
        if tokens is None or flop is None:
            return []
        counts = {self.names.get("parameters"), self.names.get("parameters_nonembedding")} - {None}
        headers = [x for x in self.table if x in counts or ("param" in " ".join(words(x)) and not means(x, "rate"))]
        values = {x: self.values(x) for x in headers if x not in self.derived and self.values(x) is not None}
        parts = [x for x in values if means(x, "part") and x not in counts and str(x).isidentifier()][:MOST_PARTS]
        ratios = {str(x): flop / (self.multiple * values[x] * tokens) for x in values}
        if not any((abs(ratio - 1) < AGREES).all() for ratio in ratios.values()):
            pairs = combinations(parts, 2)
            ratios |= {f"{x}+{y}": flop / (self.multiple * (values[x] + values[y]) * tokens) for x, y in pairs}
        # Embeddings are looked up, so that of equal counts the one without them is that of the FLOP.
        far = {name: (round(float(np.log(ratio).abs().median()), 6), "emb" in name and "non" not in name)
               for name, ratio in ratios.items()}  # fmt: skip
        return [(name, float(ratios[name].min()), float(ratios[name].max())) for name in sorted(far, key=far.get)]

    def span(self, header):
        """Return a column's name with its range, for a message."""
        values = self.values(header)
        return f"{quoted(header)} ({shorten_number(values.min())} to {shorten_number(values.max())})"


def agree(count):
    """Return whether the FLOP are 6ND of a count in every row."""
    return abs(count[1] - 1) < AGREES and abs(count[2] - 1) < AGREES

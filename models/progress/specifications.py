"""The 20 specifications of algorithmic progress of Ho et al. (2024), table 10, in a notation that users write too.

A specification is two linear predictors, ``mean = exp(eta_N) + exp(eta_D)``. A predictor is a sum of terms; a term is
a product (``:``) of factors. There is no implicit intercept.

Factors are:

* ``1``: one intercept;
* ``b``: one column for each benchmark: wt103, wt2, ptb;
* ``t``: one column for each architecture: transformer, other;
* ``y``: years since Y0, the earliest date of the fitted table;
* ``n``, ``d``: log(N/N0), log(D/D0); N0 and D0 are the least values of the fitted table;
* ``c``: ``log(6ND/(6 N0 D0)) = n + d``;
* ``log(Y)``: logarithm of the date in years.

Columns with y, n, d, c or log(Y) enter with a minus sign and their coefficients are reported with it, so that progress
and scaling are positive.
"""

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ...datasets.wording import listed, quoted
from ...errors import InputError

BENCHMARKS = ("wt103", "wt2", "ptb")
ARCHITECTURES = ("transformer", "other")
LEVELS = {"b": BENCHMARKS, "t": ARCHITECTURES}
SIZES = ("n", "d", "c")
KNOTS = (2014, 2016, 2018, 2020, 2022)  # years at which a random walk of the yearly fall takes its steps
STEPS = tuple(f"from {knot}" for knot in KNOTS)
SIDES = ("parameters", "data")  # of the two predictors, eta_N and eta_D
YEARS = ("y", "log(Y)", "after", "hinge", *STEPS)


@dataclass(frozen=True)
class Column:
    """One column of a predictor: the product of numeric factors within one benchmark or architecture, None for all.

    Without factors it is an intercept.
    """

    factors: tuple
    benchmark: str | None = None
    architecture: str | None = None

    @property
    def label(self):
        """Return the level that the column covers, or "all"."""
        return ",".join(level for level in (self.benchmark, self.architecture) if level) or "all"

    @property
    def kind(self):
        """Return ``intercept``, ``size``, ``year`` (a drift with time) or ``rate`` (an exponent's drift with time)."""
        sized = any(f in SIZES for f in self.factors)
        timed = any(f in YEARS for f in self.factors)
        if not self.factors:
            return "intercept"
        return ("rate" if timed else "size") if sized else "year"

    def covers(self, points):
        """Return the rows of `points` that the column covers, as 0 and 1."""
        shown = np.ones(np.shape(points["n"]))
        for level, name in ((self.benchmark, "benchmark"), (self.architecture, "architecture")):
            if level:
                shown = shown * (np.asarray(points[name]) == level)
        return shown

    def values(self, points):
        """Return the column at `points` (a mapping of factor values, ``benchmark`` and ``architecture``)."""
        return np.prod([points[f] for f in self.factors] + [self.covers(points)], axis=0)

    def yearly_change(self, points):
        """Return the derivative of the column by the date, per year."""
        timed = [f for f in self.factors if f in YEARS]
        if not timed:
            return np.zeros(np.shape(points["n"]))
        rest = [points[f] for f in self.factors if f not in YEARS]
        return np.prod([*rest, points[f"d {timed[0]}"], self.covers(points)], axis=0)


def parse(formula, size, benchmarks=BENCHMARKS):
    """Return the columns of a predictor by its formula, such as ``"b + y + n"``, with b for each of the benchmarks.

    It may hold the given sizes: ``"n"`` and ``"c"`` in eta_N, ``"d"`` in eta_D. An unknown factor, or a term that makes
    no sense, is refused.
    """
    allowed = {"1", "b", "t", "y", "log(Y)", *size}
    place, columns = f"specification {quoted(formula)}", []
    for term in re.split(r"\+", formula.replace(" ", "")):
        factors = term.split(":")
        for factor in factors:
            if factor not in allowed:
                terms = f"a term is made of {listed(sorted(allowed))}"
                raise InputError(f"{place}: there is no column {quoted(factor)} here; {terms}")
        numeric = tuple(f for f in factors if f not in ("1", "b", "t"))
        if sum(f in YEARS for f in numeric) > 1 or sum(f in SIZES for f in numeric) > 1:
            raise InputError(f"{place}: term {quoted(term)} holds two sizes or two dates; write at most one of each")
        if "t" in factors and not numeric:
            raise InputError(f"{place}: intercepts are 1 or b; t goes with a size or a date, such as t:n")
        columns += [
            Column(numeric, b, t)
            for b in (benchmarks if "b" in factors else (None,))
            for t in (ARCHITECTURES if "t" in factors else (None,))
        ]
    if len(set(columns)) < len(columns):
        raise InputError(f"{place}: a term stands there twice")
    return tuple(columns)


@dataclass(frozen=True)
class Specification:
    """Two predictors and what else distinguishes a specification.

    Parameters
    ----------
    parameters, data : str
        Formulas of eta_N and eta_D; an empty `data` leaves the second term out.
    shared_year : bool
        One coefficient of y serves both predictors (Hicks-neutral).
    vocabulary : bool
        Add ``gamma log(vocabulary)`` outside the exponentials.
    diminishing : bool
        Replace D by ``D (1 + R (1 - exp(-epochs/R)))`` with R = 2.9157, epochs 1 where unknown.

    Raises
    ------
    InputError
        If a formula cannot be used.

    Examples
    --------
    >>> [column.label for column in Specification("b + y + n", "b + d").columns_parameters]
    ['wt103', 'wt2', 'ptb', 'all', 'all']
    """

    parameters: str
    data: str
    shared_year: bool = False
    vocabulary: bool = False
    diminishing: bool = False

    def __post_init__(self):
        place, both = f"specification {quoted(self.parameters)}, {quoted(self.data)}", self.columns(BENCHMARKS)
        intercepts = [{c.benchmark for c in p if c.kind == "intercept"} for p in both if p]
        if any(not i or i != intercepts[0] or i not in ({None}, set(BENCHMARKS)) for i in intercepts):
            raise InputError(f"{place}: both predictors need the same intercepts, 1 or b")
        for formula, columns in zip((self.parameters, self.data), both, strict=True):
            if columns and not any(c.kind == "size" for c in columns):
                raise InputError(
                    f"specification {quoted(formula)}: a predictor needs a size (n, d or c) without a date"
                )
        compute = {"c" in c.factors for c in both[0] if set(c.factors) & set(SIZES)}
        if compute != {not both[1]}:
            raise InputError(
                f"{place}: sizes are n in one predictor and d in the other, or c alone with the other predictor left "
                "empty"
            )
        years = [{c for c in p if c.kind == "year"} for p in both]
        if self.shared_year and not (years[0] and years[0] == years[1]):
            raise InputError(f"{place}: shared_year needs the same terms of the date in both predictors")

    @property
    def columns_parameters(self):
        """Return the columns of eta_N."""
        return self.columns(BENCHMARKS)[0]

    @property
    def columns_data(self):
        """Return the columns of eta_D, none for a single term."""
        return self.columns(BENCHMARKS)[1]

    def columns(self, benchmarks):
        """Return the columns of eta_N and of eta_D, which has none for a single term, of some benchmarks."""
        return parse(self.parameters, ("n", "c"), benchmarks), (
            parse(self.data, ("d",), benchmarks) if self.data else ()
        )


S = Specification
SPECIFICATIONS = {
    1: S("1 + y + n", "1 + y + d"),
    2: S("1 + n", "1 + y + d"),
    3: S("1 + y + n", "1 + d"),
    4: S("1 + b:y + n", "1 + y + d"),
    5: S("1 + y + n", "1 + b:y + d"),
    6: S("1 + b:y + n", "1 + b:y + d"),
    7: S("b + y + n", "b + y + d"),
    8: S("b + n", "b + y + d"),
    9: S("b + y + n", "b + d"),
    10: S("b + b:y + n", "b + b:y + d"),
    11: S("b + b:y + b:n", "b + b:y + b:d"),
    12: S("b + y + n", "b + y + d", shared_year=True),
    13: S("b + y + t:n", "b + y + t:d"),
    14: S("b + n + n:log(Y)", "b + d + d:log(Y)"),
    15: S("b + y + n + n:log(Y)", "b + y + d + d:log(Y)"),
    16: S("b + n", "b + d"),
    17: S("b + t:n", "b + t:d"),
    18: S("b + y + c", ""),
    19: S("b + y + n", "b + y + d", vocabulary=True),
    20: S("b + y + n", "b + y + d", diminishing=True),
}
NO_PROGRESS = (16, 17)


# The columns of a law, and the coordinates that it samples for them ---------------------------------------------------


class DatedTerm(NamedTuple):
    """A change with the date, of one benchmark or architecture or of all, in one predictor or in both.

    It has a factor of the date, ``timed``, the kind ``year`` or ``rate`` of a `Column`, and its columns in eta_N and in
    eta_D, of which one may be None. If it is ``shared``, one coefficient serves both predictors.
    """

    timed: tuple
    kind: str
    benchmark: str | None
    architecture: str | None
    columns: tuple
    shared: bool

    @property
    def alone(self):
        """Return whether it stands in one predictor only."""
        return None in self.columns

    @property
    def split(self):
        """Return whether it stands in both predictors with separate coefficients."""
        return not (self.alone or self.shared)

    @property
    def step(self):
        """Return whether it is a step of a random walk of the yearly fall."""
        return self.timed[0] in STEPS

    @property
    def of_benchmarks(self):
        """Return whether it is the yearly fall of one benchmark; a change at the cutoff is not."""
        return self.benchmark is not None and not {"hinge", "after"} & set(self.timed)


def predictors(law):
    """Return the columns of eta_N and eta_D, changes of the year slope included."""
    extra = {"hinge": "hinge", "jump": "after"}[law.cutoff_form]

    def with_changes(columns):
        yearly = [c for c in columns if c.factors == ("y",)]
        if law.pace == "random_walk" and yearly:
            return (*columns, *(Column((step,)) for step in STEPS))
        added = [Column((extra,), c.benchmark, c.architecture) for c in yearly]
        return (*columns, *(added if law.cutoff is not None else ()))

    return tuple(with_changes(columns) for columns in law.spec.columns(law.benchmarks))


def sizes(law):
    """Return the size columns of eta_N and of eta_D."""
    return tuple([c for c in predictor if c.kind == "size"] for predictor in law.predictors)


def drifts(law):
    """Return every `DatedTerm` of the law."""
    found = {}
    for side, predictor in enumerate(law.predictors):
        for column in predictor:
            if column.kind in ("year", "rate"):
                timed = tuple(f for f in column.factors if f not in ("n", "d", "c"))
                key = timed, column.kind, column.benchmark, column.architecture
                found.setdefault(key, [None, None])[side] = column
    return [
        DatedTerm(*key, tuple(both), None not in both and (law.spec.shared_year or key[0][0] in STEPS))
        for key, both in found.items()
    ]


def places_of_drifts(law, side):
    """Return which of the law's drifts a predictor holds, (column,) of int."""
    return np.array([j for j, drift in enumerate(law.drifts) if drift.columns[side]], int)


def levels(law):
    """Return the levels of the intercepts: the benchmarks, or ("all",)."""
    intercepts = [c for c in law.predictors[0] if c.kind == "intercept"]
    return law.benchmarks if intercepts[0].benchmark else ("all",)


def blocks(law):
    """Return the number of coordinates of each quantity that the law samples, by name and in order."""
    count, two, drift_count = len(law.levels), bool(law.predictors[1]), len(law.drifts)
    counts = {
        "loss_centre": count,
        "share": count * two,
        "elasticity_parameters": len(law.sizes[0]),
        "elasticity_data": len(law.sizes[1]),
        "yearly_total": drift_count,
        "yearly_split": sum(drift.split for drift in law.drifts),
        "irreducible_share": count * law.irreducible,
        "vocabulary": law.spec.vocabulary,
        "transformer": law.transformer is not None,
        "sigma": 1,
        "nu_minus_one": law.noise == "student_t",
        "paper_sd": bool(law.paper_effects),
        "pooled_loss_centre": law.pooling,
        "pooled_share": law.pooling and two,
        "pooled_yearly": law.pooling and any(drift.of_benchmarks for drift in law.drifts),
        "sigma_benchmark": len(law.benchmarks) if law.scatter == "by_benchmark" else 0,
        "pace_sd": law.pace == "random_walk",
    }
    return {name: int(number) for name, number in counts.items() if number}


def slices(law):
    """Return where each quantity stands among the coordinates, by name."""
    ends = accumulate(law.blocks.values())
    return {name: slice(end - law.blocks[name], end) for name, end in zip(law.blocks, ends, strict=True)}


def coordinates(law):
    """Return the names of the coordinates."""
    split = [j for j, drift in enumerate(law.drifts) if drift.split]
    places = {name: split if name == "yearly_split" else range(count) for name, count in law.blocks.items()}
    return [f"{name}[{i}]" for name, of_name in places.items() for i in of_name]

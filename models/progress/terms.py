"""The columns of a specification, and the coordinates that a law of progress samples for them."""

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from .specifications import STEPS, Column

SIDES = ("parameters", "data")  # of the two predictors, eta_N and eta_D


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

"""What a law states besides its density, each part for one technique: how rows are tested, grouped and planned.

Every law inherits these classes, and a kind of law those of its own.
"""

from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..datasets import KINDS, fractional_years
from ..datasets.wording import source_of, unknown
from ..errors import InputError
from .contrasts import groupings

LEAST_LEVELS = 3  # of a column along which neighbours are alike
LEAST_PAST = 3  # rows of an item that inform its other rows


class Tests:
    """How the rows test a law.

    * ``tolerance``: the misfit, as a share, from which on a law is reported not to fit; a smaller one is a number.
    * ``share_of``: what residuals are shares of, in words.
    * ``wider``: None, or a law, a quantity of it and the value of that quantity at which it is this one.
    * ``deviation_test``: the test that shows whether rows share a deviation.
    """

    tolerance = 0.01
    share_of = "the loss"
    wider: ClassVar[Any] = None
    deviation_test = ""

    def check_priors(self, rows, reference):
        """Refuse priors that leave the rows without a mean."""

    def check_calibration(self, truth):
        """Refuse to be calibrated on truths drawn from `truth`, where simulations could not agree with the fit."""

    def contrasts(self, rows):
        """Name the `Contrast` directions of the residuals of rows that test the law, none by default."""
        return {}

    def orders(self, rows):
        """Return the setting of each row, a code, and orders of settings in which neighbours are alike, by column.

        Rows of one setting have the same numbers in the law's axes and columns. Settings with one value of a column
        follow each other along the others.
        """
        numbers = {}
        for name in dict.fromkeys((*self.axes, *getattr(self, "columns", ()))):
            with suppress(InputError):
                numbers[name] = self.numbers_along(rows, name)
        numbers.pop(self.observed, None)
        group = rows.groupby([*self.apart]).ngroup() if self.apart else np.zeros(len(rows))
        settings, codes = np.unique(np.column_stack([group, *numbers.values()]), axis=0, return_inverse=True)
        orders = {}
        for place, name in enumerate(numbers, start=1):
            if pd.Series(settings[:, place]).groupby(settings[:, 0]).nunique().max() >= LEAST_LEVELS:
                others = np.delete(settings, [0, place], axis=1)
                orders[name] = np.lexsort((*others.T, settings[:, place], settings[:, 0]))
        return codes, orders

    def groupings(self, rows):
        """Return codes of groups of rows that the law ignores, by the column that names them; none by default."""
        return {}

    def wider_laws(self, rows):
        """Return the laws that may fit where this one does not, none by default."""
        return ()

    def repeated_size(self, rows):
        """Return the column of model sizes of which at least two have several rows, None by default."""

    def suited(self, table):
        """Return the law with what its default options leave to the rows of a table, here the law itself."""
        return self

    def with_effects(self, rows):
        """Return the law with effects of groups of rows, if `deviation_test` shows that they share a deviation."""

    def size_apart(self, rows):
        """Return the model size whose rows lie furthest from the law of the others, None by default."""

    def notes(self, suited, rows):
        """Return sentences on why a law is `suited` to the rows, and on what these do not inform; none by default."""
        return []

    def exact_constants(self, rows, reference):
        """Return the constants at which the law has the observations of rows without an error, None by default."""


class Grouping:
    """How rows of a law belong together: those alike, those left out together, those ahead.

    * ``clusters``: columns whose rows of one value may be alike: sizes of models, runs, papers.
    * ``apart``: columns whose values have levels of their own: neighbours have one value of each.
    * ``axes``: columns along which rows may be cut, by another name.
    * ``left_out_by``: column whose rows of one value are left out together where groups are left out, such as those of
      a paper; None where units are such groups already.
    * ``grouped_by``: column whose groups of rows have separate quantities, if there is one.
    * ``high_k``: what leave-one-out does by default where Pareto k is too high; see `loo`.
    * ``integrates``: whether units are of groups with sampled quantities, which leaving a group out integrates over.
    * ``one_prior``: whether the prior is the same whatever rows are fitted.
    """

    clusters: tuple = ()
    apart: tuple = ()
    axes: dict = {}  # noqa: RUF012
    left_out_by: str | None = None
    grouped_by: str | None = None
    high_k = "refit"
    integrates = False
    one_prior = True

    @property
    def unit_is_row(self):
        """Return whether leave-one-out leaves out single rows."""
        return self.unit == KINDS[self.kind].dimension

    def with_observed(self, rows, observed):
        """Return rows with other observations on the law's scale, such as simulated ones."""
        return rows.assign(**{self.observed: self.from_scale(observed)})

    def join_simulated(self, rows, simulated):
        """Return the rows and simulated rows of the same design as one table."""
        table = pd.concat([rows, simulated], ignore_index=True)
        table.attrs = dict(rows.attrs)
        return table

    def are_informed(self, past, rows):
        """Return whether rows `past` inform each of other rows, (row,) of bool: here every one."""
        return np.ones(len(rows), bool)

    def numbers_along(self, rows, by):
        """Return numbers along which rows may be cut, (row,): by a name of `axes`, or a column of numbers or of dates.

        Dates become fractional years. A column that is not there, or a row without a number, is refused.
        """
        column = by if by in rows else self.axes.get(by, by)
        if column not in rows:
            others = [name for name in (*self.axes, *rows) if name != by]
            raise InputError(unknown(f"{source_of(rows)}: column", by, others))
        cells = rows[column]
        if cells.dtype.kind == "M":
            cells = fractional_years(cells)
        values = pd.to_numeric(cells, errors="coerce").to_numpy(float)
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise InputError(
                f"{source_of(rows)}: column {column!r} is {rows[column].iloc[row]} in row "
                f"{row + 1}, which is no number to cut the rows by; choose another column or delete the row"
            )
        return values


class ModelsOnItems(Tests, Grouping):
    """How rows of several models, each with a quantity of its own, test a law and belong together.

    The column ``item`` has what models are tried on, such as a benchmark.
    """

    item: ClassVar[str]
    apart = ("model",)
    tolerance = 0.05
    left_out_by = "model"
    high_k = "none"
    integrates = True

    def groupings(self, rows):
        """Return the codes of the groups that columns besides those of the law name."""
        return groupings(rows, ("model", self.item, self.observed))

    def are_informed(self, past, rows):
        """Return whether each row's item has at least `LEAST_PAST` rows of the past."""
        return rows[self.item].map(past[self.item].value_counts()).fillna(0).to_numpy() >= LEAST_PAST


class Planner:
    """How runs are planned under a law; ``planned`` are options of `plan` and `optimum` about the planned runs."""

    planned: ClassVar[tuple] = ()

    def optimum(self, draws, compute, **planned):
        """Return what the law's `plan` describes for each draw, a Dataset, at training budgets C = 6 N D in FLOP."""
        plan = self.plan(draws.constants(), **planned)
        return draws.by_draw(plan.described(*plan.optimum(compute.values)), {"compute": compute.values})

    def plan(self, constants, **planned):
        """Return the models that may be trained, as a `models.loss.plan.Plan`, given constants of draws, by name.

        A law that is not one of parameters and tokens refuses, as does one of a plan that is no positive number.
        """
        raise InputError(
            f"a fit of {self.name} has no compute-optimal size; use a law of parameters and tokens, such as chinchilla"
        )

    def planned_rows(self, rows, **planned):
        """Return the rows that inform what is `planned`, beyond whose sizes it is extrapolated."""
        return rows

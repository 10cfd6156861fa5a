"""What every law answers: which rows it is fitted to, its PyMC model, its draws.

Techniques (fitting, leave-one-out, calibration, storage, reports) ask a law these things and never what kind it is.
"""

import json
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import pandas as pd

from ..datasets import KINDS, fractional_years
from ..datasets.wording import shortened, unknown
from ..errors import InputError
from . import pymc_model


@dataclass(frozen=True)
class Effort:
    """How hard a law is to sample.

    Parameters
    ----------
    target_accept : float
        Mean acceptance that the step size is adapted to, unless the user names another.
    careful : tuple of float
        Targets of the tries that follow while draws diverge.
    least_ess : int
        Where the least bulk ESS is lower, or chains disagree, they are run longer, and thinned; 0 for never. It is of
        as many draws as usual, less in proportion where fewer are asked for.
    longest : int
        How many times as long chains are run at most.
    quick : bool
        Whether a fit of a few hundred rows takes seconds, so that others can be tried beside it unasked.
    low_rank : bool
        Whether nutpie's mass matrix has some directions besides its diagonal: where coordinates are correlated it takes
        fewer steps, elsewhere each step takes longer for nothing.
    """

    target_accept: float = 0.9
    careful: tuple = ()
    least_ess: int = 0
    longest: int = 1
    quick: bool = False
    low_rank: bool = True


class Law:
    """A law as something to fit.

    Attributes
    ----------
    name : str
        As `models.law` takes it.
    kind : str
        The kind of table it is fitted to, a key of `datasets.KINDS`.
    observed : str
        Column of the table that the law foretells.
    scale : str
        What the residuals or counts are of: the name of the variable in ``observed_data``, ``log_likelihood`` and the
        predictive groups.
    unit : str
        What leave-one-out leaves out: the dimension of ``log_likelihood``.
    upstream : tuple of str
        Quantities cut from another posterior: the draws hold them, the rows do not inform them.
    planned : tuple of str
        What `plan` and `optimum` may be told of the runs planned.
    effort : Effort
    clusters : tuple of str
        Columns whose rows of one value may be alike: sizes of models, runs, papers.
    axes : dict of str to str
        Columns along which rows may be cut, by another name.
    group : str, optional
        Column whose rows of one value are left out together where groups are left out, such as those of a paper; None
        where units are such groups already.
    grouped_by : str, optional
        Column whose groups of rows have quantities of their own.
    mend : str
        What leave-one-out does by default where Pareto k is too high; see `loo`.
    wider : tuple, optional
        A law, a quantity of it and the value of that quantity at which it is this one.
    one_prior : bool
        Whether the prior is the same whatever rows are fitted.
    integrates : bool
        Whether units are of groups that have something sampled of their own, which leaving a group out integrates over.
    tolerance : float
        Such a share from which on a law is said not to fit; below it is said to be off by so much.
    share_of : str
        What departures of observations from the law are shares of, in words.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    observed: ClassVar[str]
    unit: ClassVar[str]
    upstream: ClassVar[tuple] = ()
    planned: ClassVar[tuple] = ()
    effort: ClassVar[Effort] = Effort()
    clusters: ClassVar[tuple] = ()
    axes: ClassVar[dict] = {}
    group: ClassVar[str | None] = None
    grouped_by: ClassVar[str | None] = None
    mend: ClassVar[str] = "refit"
    wider: ClassVar[tuple | None] = None
    one_prior: ClassVar[bool] = True
    integrates: ClassVar[bool] = False
    share_of: ClassVar[str] = "the loss"
    tolerance: ClassVar[float] = 0.01
    scale: str

    # The table -------------------------------------------------------------------------------------------------------

    @property
    def unit_is_row(self):
        """Whether leave-one-out leaves out single rows."""
        return self.unit == KINDS[self.kind].dimension

    def rows(self, table):
        """Return the rows of a table that this law is fitted to, refusing a table that cannot inform it."""
        raise NotImplementedError

    @property
    def needed(self):
        """Columns of the table that this law needs, where its reader is to be told."""
        return ()

    def usual_table(self):
        """Load the built-in table that this law is fitted to where a user names none."""
        return KINDS[self.kind].load()

    def reference(self, rows):
        """Scalars and names that the sampled quantities refer to; they never depend on what is observed."""
        raise NotImplementedError

    def on_scale(self, observed):
        """Observations as the law scores them, such as the logarithms of losses."""
        return observed

    def from_scale(self, values):
        """Invert `on_scale`."""
        return values

    def contrasts(self, rows):
        """Name the `Contrast` directions of the residuals of rows that test this law, none by default."""
        return {}

    def groupings(self, rows):
        """Codes of groups of rows that this law takes no account of, by the column that names them; none by default."""
        return {}

    def alternatives(self, rows):
        """Laws that may fit where this one does not, none by default."""
        return ()

    def repeated_size(self, rows):
        """Return the column of model sizes of which at least two have several rows, None by default."""

    def together(self, rows, simulated):
        """Rows and simulated rows of the same design as one table."""
        found = pd.concat([rows, simulated], ignore_index=True)
        found.attrs = dict(rows.attrs)
        return found

    def foretold(self, past, rows):
        """Whether rows `past` say anything of each of other rows, (row,) of bool: here of every one."""
        return np.ones(len(rows), bool)

    def along(self, rows, by):
        """Give numbers along which rows may be cut.

        Parameters
        ----------
        rows : DataFrame
        by : str
            A name of `axes`, or a column of numbers or of dates, which become fractional years.

        Returns
        -------
        ndarray, shape (row,)

        Raises
        ------
        InputError
            If there is no such column, or a row of it holds no number.
        """
        column = by if by in rows else self.axes.get(by, by)
        if column not in rows:
            raise InputError(unknown(f"{rows.attrs.get('source', 'the table')}: column", by, [*self.axes, *rows]))
        cells = rows[column]
        if cells.dtype.kind == "M":
            cells = fractional_years(cells)
        values = pd.to_numeric(cells, errors="coerce").to_numpy(float)
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise InputError(
                f"{rows.attrs.get('source', 'the table')}: column {column!r} is {rows[column].iloc[row]} in row "
                f"{row + 1}, which is no number to cut the rows by; choose another column or delete the row"
            )
        return values

    # The model and its draws -----------------------------------------------------------------------------------------

    def model(self, rows, reference=None):
        """Build the PyMC model, which serves every law whose density is of the same program; see `pymc_model.model`."""
        return pymc_model.model(self, rows, reference)

    def density(self, rows, reference):
        """Return the `Density` of the law on rows; it compiles in a second where it can be traced."""
        raise NotImplementedError

    @property
    def key(self):
        """What the code of the density follows from, a hashable: the class, name and options of the law."""
        return type(self), self.name, json.dumps(self.options, sort_keys=True)

    def draws(self, sampled, rows, reference):
        """Return the `Draws` of sampled variables, a Dataset of dims (chain, draw, ...)."""
        raise NotImplementedError

    def prior_draws(self, rng, reference, rows, draws=1):
        """`Draws` of the prior, dims (chain, draw) with one chain."""
        raise NotImplementedError

    def known_draws(self, values, reference, rows, rng=None):
        """One draw that holds known values of the free parameters, by name.

        What is sampled besides, of groups of rows, is drawn from the law by `rng`.

        Raises
        ------
        InputError
            If a quantity lacks a value, or the law's quantities are no scalars.
        """
        raise InputError(f"the quantities of the {self.name} law are no scalars that a truth could give by name")

    def check_all_known(self, values):
        """Refuse known values, by name, among which a free parameter is missing."""
        missing = [name for name in self.prior_of if name not in values]
        if missing:
            raise InputError(f"truth lacks {', '.join(missing)}; give every sampled quantity of the {self.name} law")

    def check(self, rows, reference):
        """Refuse priors that leave the rows without a mean."""

    def check_calibration(self, truth):
        """Refuse to be calibrated on truths drawn from `truth`, where simulations could not agree with the fit."""

    def optimum(self, draws, compute, **planned):
        """Compute-optimal sizes at training budgets C = 6 N D in FLOP, a DataArray, for each draw.

        Returns
        -------
        Dataset
            What the law's `plan` describes.

        Raises
        ------
        InputError
            If the law has none.
        """
        plan = self.plan(draws.constants(), **planned)
        return draws.by_draw(plan.described(*plan.optimum(compute.values)), {"compute": compute.values})

    def plan(self, constants, **planned):
        """Models that may be trained, as a `models.loss.plan.Plan`, given the constants of draws, by name.

        Raises
        ------
        InputError
            If the law is not one of parameters and tokens, or what is planned is no positive number.
        """
        raise InputError(f"a fit of {self.name} has no compute-optimal size; use a law of the loss such as chinchilla")

    def planned_rows(self, rows, **planned):
        """Rows that inform what is `planned`, beyond whose sizes it is extrapolated."""
        return rows

    # Priors ----------------------------------------------------------------------------------------------------------

    @property
    def free_parameters(self):
        """Everything with a prior of its own, as `FreeParameter` objects."""
        raise NotImplementedError

    @property
    def prior_of(self):
        """Dict from the name of each free parameter to its `Prior`."""
        return {q.name: q.checked(self.priors.get(q.name, q.prior)) for q in self.free_parameters}

    def described_priors(self):
        """Prior of each sampled quantity as text, by name."""
        return {name: str(prior) for name, prior in self.prior_of.items()}

    def checked_priors(self, derived=()):
        """Return the priors that replace the default ones as text.

        Parameters
        ----------
        derived : sequence of str
            Names of results, which have no priors.

        Raises
        ------
        InputError
            If a prior is of no free parameter, or leaves its support.
        """
        sampled = {q.name: q for q in self.free_parameters}
        for name in self.priors:
            if name not in sampled:
                why = "is derived, not sampled" if name in derived else "is not known to this law"
                raise InputError(f"prior on {name!r}: it {why}; priors can be set on {', '.join(sampled)}")
        return {name: str(sampled[name].checked(text)) for name, text in self.priors.items()}

    # What it is called -----------------------------------------------------------------------------------------------

    @property
    def options(self):
        """What rebuilds this law: ``models.law(name, **options)``."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"priors": dict(self.priors)}

    @classmethod
    def made(cls, options, make):
        """Make a law from its `options`; `make` makes another from a name and options, where it has one within."""
        return cls(**options)

    @property
    def label(self):
        """Name of the law in a sentence: options other than the defaults and priors that were replaced go with it.

        On one line, such as ``progress-7, cutoff=2018, prior share (0, 1)``.
        """
        usual = {f.name: f.default for f in fields(self)}
        listed = [self.option_text(n, v) for n, v in self.options.items() if n != "priors" and v != usual[n]]
        priors = [f"prior {name} {_prior(prior)}" for name, prior in self.options["priors"].items()]
        return ", ".join([self.name, *filter(None, listed), *priors])

    def option_text(self, name, value):
        """Text of an option in the label; nothing where the law's name says it."""
        if value is True:
            return name
        return f"{name}={value:g}" if isinstance(value, float) else f"{name}={shortened(value)}"


def _prior(prior):
    return prior if isinstance(prior, str) else "({:g}, {:g})".format(*prior)

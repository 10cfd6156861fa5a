"""A law that is a formula over the columns of a table."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...datasets.formula_nodes import Name, ParsedFormula, evaluate, names_in
from ...datasets.formulas import parse_formula, written_out
from ...datasets.wording import listed
from ...errors import InputError
from ..arrays import clip, exp, log, maximum
from ..density import Coordinates, Density
from ..horizons.outcomes import log_choose, log_density
from ..law import Effort, MemberLaw
from ..lengths.curve import log_rising
from ..loss.noise import normal_logp, student_t_logp
from ..priors import REAL, FreeParameter
from .constants import FUNCTIONS, LEAST, Placing
from .draws import FormulaDraws
from .parts import FormulaGrouping, FormulaTests
from .roles import add, assign_roles, has, multiplied_out
from .suited import SuitedToTable, counts_of

NOISES = ("relative", "additive", "logit", "binomial", "beta-binomial")
OF_COUNTS = NOISES[3:]
TAILS = ("normal", "student_t")
SIGMA = {
    "relative": ("LogNormal(-3.5, 1.5)", "Scatter as a share of the response: 0.16% to 57%.", "relative"),
    "additive": ("LogNormal(-2.5, 1.5)", "Scatter in standard deviations of the response: 0.4% to 150%.", "spreads"),
    "logit": ("LogNormal(-2, 1.5)", "Scatter of the log-odds of the response: 0.01 to 2.5.", "log-odds"),
}
NU = FreeParameter("nu_minus_one", "Gamma(2, 0.1)", "Degrees of freedom above 1: from nearly Cauchy to nearly normal.")
WHY = "Log of the sum of a beta's parameters: the shares of rows scatter by 2% to half of all."
PRECISION = FreeParameter("log_precision", "Normal(4, 2)", WHY, support=REAL)
REFERENCE = "reference "  # begins the names of arrays of one number
CLOSE = 1e-9  # to 0 and 1 of a probability


@dataclass(frozen=True)
class Formula(FormulaTests, FormulaGrouping, SuitedToTable, MemberLaw):
    """A formula such as ``loss ~ E + A * n_params**-alpha``.

    Names that are columns of the table are data, all others constants. ``alpha[optimizer]`` has a value for each value
    of a column. What a constant is follows from its place, and so does its default prior; see `roles`. Sampled are the
    response at the centre of the columns, shares of its terms there, and exponents: so units do not matter.

    Parameters
    ----------
    formula : str
        ``y ~ expression``. The left side is an expression of columns; ``k / n`` of whole numbers means counts.
    columns : tuple of str, optional
        Names in the formula that are columns; by default those of the table that it is fitted to.
    noise : {"relative", "additive", "logit", "binomial", "beta-binomial"}, optional
        By default relative where the response is positive, additive where it is not, binomial of counts. Shares of
        rows of counts that scatter more than their numbers explain are beta-binomial.
    tails : {"normal", "student_t"}, optional
        By default Student-t where there are at least 8 rows more than constants.
    errors : str or tuple of str, optional
        Column of errors of the response; two of errors down and up, which are averaged; or limits, of which it is half
        the distance, over 1.96 of a 95% interval. By default columns that are named after the response: ``elo_se``,
        ``elo_std`` (over the root of ``n_seeds``), ``elo_minus`` and ``elo_plus``, ``elo_ci95_low`` and
        ``elo_ci95_high``, or ``elo_min`` and ``elo_max`` of seeds. ``"none"`` for none.
    signs : mapping of str to int, optional
        Signs of the terms of amplitudes; by default as they are on the rows of the table.
    positive : bool, optional
        Whether the response is positive; by default as it is in the table.
    letters : mapping of str to str, optional
        What names in the formula stand for that are columns by other names, such as ``{"N": "parameters"}``.
    by : str, optional
        A column, each value of which has constants of its own, but for those that are `shared`: ``alpha`` becomes
        ``alpha[optimizer]``.
    shared : tuple of str, optional
    priors : mapping of str to str, optional
        Of constants by name, or of what is sampled in their place.

    Raises
    ------
    InputError
        If the formula cannot be read, or an option or a prior is unknown.

    Examples
    --------
    >>> Formula("loss ~ E + A * n**-a").label
    'loss ~ E + A * n**-a'
    """

    formula: str
    columns: tuple = ()
    noise: str = ""
    tails: str = ""
    errors: str | tuple = ""
    levels: tuple = ()
    signs: Mapping = field(default_factory=dict)
    positive: bool | None = None
    letters: Mapping = field(default_factory=dict)
    by: str = ""
    shared: tuple = ()
    priors: Mapping = field(default_factory=dict)

    name: ClassVar[str] = "formula"
    kind: ClassVar[str] = "columns"
    effort: ClassVar[Effort] = Effort(careful=(0.99, 0.998), least_ess=400, longest=16, quick=True)
    drawn_as: ClassVar[Any] = FormulaDraws

    def __post_init__(self):
        _ = self.written  # refused before anything else
        choices = {"noise": NOISES, "tails": TAILS}
        self._check_options(**{name: of for name, of in choices.items() if getattr(self, name)})
        levels = tuple((tuple(key), tuple(names)) for key, names in self.levels)
        errors = tuple(map(str, self.errors)) if isinstance(self.errors, list | tuple) else str(self.errors)
        plain = {"columns": tuple(self.columns), "errors": errors, "levels": levels, "shared": tuple(self.shared)}
        plain |= {"signs": dict(self.signs), "letters": dict(self.letters)}
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        if self.columns or self.levels:
            self._check_names()
        if self._is_suited():
            self._check_sampled()
            object.__setattr__(self, "priors", self._checked_priors())

    def _is_suited(self):
        """Return whether all is known that decides which priors there are."""
        known = (self.columns or self.levels) and self.tails and self.positive is not None
        return known and (self.signs or all(role.kind != "amplitude" for role in self.roles.values()))

    def __hash__(self):
        return hash((self.formula, self.columns, self.noise))

    @functools.cached_property
    def written(self) -> ParsedFormula:
        """Return the formula as it was read."""
        return parse_formula(self.formula)

    @functools.cached_property
    def parsed(self) -> ParsedFormula:
        """Return the formula with its sums over columns written out, once these are known."""
        return self._written_out(self.columns) if self.columns else self.written

    def _written_out(self, columns):
        left, right = self.written.left, self.written.right
        others = [name for name in columns if not has(left, (name,))]
        return ParsedFormula(self.formula, left, written_out(right, others, f"formula {self.formula!r}: "))

    @functools.cached_property
    def roles(self):
        """Return the `Role` of each constant by name."""
        given = [name for name in self.priors if name in {n.name for n in names_in(self.parsed.right)}]
        return assign_roles(self.parsed, self.columns, given)

    @functools.cached_property
    def groups(self):
        """Return the columns of groups of each constant that has some."""
        return {name.name: name.levels for name in names_in(self.parsed.right) if name.levels}

    @property
    def floors(self):
        """Return the constants that are added or subtracted by themselves."""
        return [name for name, role in self.roles.items() if role.terms and role.terms[0].is_bare]

    @functools.cached_property
    def placing(self):
        """Return how constants follow from what is sampled."""
        carried = [name for name, role in self.roles.items() if role.kind in ("amplitude", "carrier", "level")]
        terms = multiplied_out(self.parsed.right, self.columns)
        rest = add([(term.sign, term.without("")) for term in terms if not has(term.without(""), carried)])
        return Placing(self.roles, self.groups, self.signs, rest, bool(self.positive), dict(self.levels))

    # What a law states -----------------------------------------------------------------------------------------------

    @property
    def label(self):
        """Name of the law in a sentence: the formula, and options that the user chose."""
        priors = [f"prior {name} {prior}" for name, prior in self.priors.items()]
        scattered = ["noise=beta-binomial"] if self.noise == "beta-binomial" else []
        return ", ".join([str(self.written), *scattered, *priors])

    @property
    def observed(self):
        """Return the column of the response: that of successes, or one that is called as the left side is written."""
        left = self.parsed.left
        return self.counts[0] if self.counts else left.name if isinstance(left, Name) else str(left)

    @property
    def counts(self):
        """Return the columns of successes and of trials, None where the response is no count."""
        return counts_of(self.parsed.left) if self.noise in OF_COUNTS else None

    @property
    def scale(self):
        """Return what residuals or counts are of."""
        of = {"relative": "log_response", "logit": "logit_response", "additive": "response"}
        return of.get(self.noise, "successes")

    @property
    def _free_parameters(self):
        found = self.placing.free_parameters()
        if self.noise in SIGMA:
            found.append(FreeParameter("sigma", *SIGMA[self.noise]))
            found += [NU] if self.tails == "student_t" else []
        found += [PRECISION] if self.noise == "beta-binomial" else []
        return tuple(found)

    @property
    def needed(self):
        """Return the columns that a table must have."""
        if self.letters:  # whose columns are found in the table
            return ()
        left = [name.name for name in names_in(self.parsed.left)]
        every = [name.name for name in names_in(self.parsed.right)]
        right = every if self.positive is None else self.columns  # all names, before it is suited to a table
        named = dict.fromkeys((*left, *right, *self.apart, *self.error_columns))
        return tuple(name for name in named if not name.endswith("_*"))

    def free(self, reference):
        """Return the `Coordinates` of the free parameters."""
        return Coordinates(self.prior_of, self.placing.several())

    def labels(self, reference):
        """Return the names of groups by dimension."""
        keys = {", ".join(key): [*names] for key, names in self.levels}
        several = self.placing.several().values()
        return {dim: keys.get(dim, [*range(1, count + 1)]) for dim, count in several}

    # The table -------------------------------------------------------------------------------------------------------

    def from_scale(self, values):
        """Return responses from the scale of the noise."""
        if self.noise == "relative":
            return np.exp(values)
        return 1 / (1 + np.exp(-values)) if self.noise == "logit" else values

    def design_arrays(self, rows, reference=None):
        """Return the arrays of the density: columns of the right side, the response, errors and groups."""
        arrays = {f"row {name}": rows[name].to_numpy(float) for name in self.columns}
        if self.counts:
            k, n = (rows[name].to_numpy(float) for name in self.counts)
            arrays |= {"row_y": k, "row_n": n, "row_ways": log_choose(k, n - k)}
        else:
            arrays["row_y"] = self.on_scale(rows[self.observed].to_numpy(float))
            if self.error_columns:
                y = rows[self.observed].to_numpy(float)
                unit = {"relative": y, "additive": 1.0, "logit": y * (1 - y)}[self.noise]
                arrays["row_variance"] = (self.error_sizes(rows)[0] / unit) ** 2
        for place, (key, names) in enumerate(self.levels):
            labels = np.array(self.group_labels(rows, key), object)
            if unknown := sorted({*labels} - {*names}):
                raise InputError(f"group {unknown[0]!r} of {listed(key)} was not fitted; groups are {listed(names)}")
            for k, name in enumerate(names):
                arrays[f"row_is_{place}_{k}"] = (labels == name).astype(float)
        return arrays

    def density(self, rows, reference):
        """Return the `Density`; the reference is among its arrays, so that one program serves every table."""
        arrays = self.design_arrays(rows, reference)
        axes = dict.fromkeys(arrays, "row") | {REFERENCE + name: None for name in reference}
        arrays |= {REFERENCE + name: np.asarray(x, float) for name, x in reference.items()}
        return Density((self.free(reference),), self._rest, arrays, axes, self._key, self.labels(reference))

    # The density -----------------------------------------------------------------------------------------------------

    def _rest(self, values, data):
        """Return the log density of rows."""
        values = {name: values[name] for name in self.prior_of}
        length = len(REFERENCE)
        reference = {name[length:]: x for name, x in data.items() if name.startswith(REFERENCE)}
        return {"rows": self.logp(self.mean(values, data, reference), values, data, reference)}

    def mean(self, values, data, reference, constants=None):
        """Return the mean response of rows, (..., row), from what is sampled or from constants."""
        by_row, keys = {}, [key for key, _ in self.levels]
        for name, x in (constants or self.placing.constants(values, reference)).items():
            if name not in self.groups:
                by_row[name] = x[..., None]
                continue
            place = keys.index(self.groups[name])
            groups = range(len(self.levels[place][1]))
            by_row[name] = sum(x[..., k : k + 1] * data[f"row_is_{place}_{k}"] for k in groups)

        def value_of(name):
            return by_row[name.name] if name.name in by_row else data[f"row {name.name}"]

        return evaluate(self.parsed.right, value_of, FUNCTIONS)

    def scatter(self, values, data, reference):
        """Return the scale of the noise of rows, (..., row) or (..., 1)."""
        unit = reference["spread"] if self.noise == "additive" else 1.0
        sigma = values["sigma"][..., None] * unit
        return (sigma**2 + data["row_variance"]) ** 0.5 if self.error_columns else sigma

    def on_scale(self, mean):
        """Return responses or their means on the scale of the noise."""
        if self.noise == "logit":
            return log(_inside(mean)) - log(1 - _inside(mean))
        return log(maximum(mean, LEAST)) if self.noise == "relative" else mean

    def logp(self, mean, values, data, reference):
        """Return the log density of rows, (..., row)."""
        if self.noise in SIGMA:
            residual, sigma = data["row_y"] - self.on_scale(mean), self.scatter(values, data, reference)
            if self.tails == "student_t":
                return student_t_logp(residual, sigma, 1 + values["nu_minus_one"][..., None])
            return normal_logp(residual, sigma)
        p, k, n = _inside(mean), data["row_y"], data["row_n"]
        precision = self.precision(values)
        all_orders = 0.0 if precision is None else log_rising(precision, n)
        return log_density((p, 1 - p), precision, (k, n - k), few=False) - all_orders + data["row_ways"]

    def precision(self, values):
        """Return the sum of the two parameters of a beta-binomial, (..., 1), None of a binomial."""
        return exp(values["log_precision"][..., None]) if self.noise == "beta-binomial" else None


def _inside(p):
    return clip(p, CLOSE, 1 - CLOSE)

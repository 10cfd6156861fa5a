"""What every law of the loss of one training set-up has in common: options, priors, noise, the density."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ...datasets import filled, positive_columns, require
from ...datasets.deferred import xr
from ...datasets.wording import source_of
from ...errors import InputError
from .. import effects
from ..arrays import log
from ..density import POTENTIAL, Coordinates, Density
from ..draws import DRAWS, draw_coordinates
from ..law import Effort, Law
from .budget import SIZES
from .direction import check_apart, check_falls, refusal
from .draws import LossDraws
from .noise import EFFECT_SDS, ENDS, Noise
from .parts import SIZE_GROUP, LossGrouping, LossPlanner, LossTests
from .sampled import KEYWORD, Sampled, parameters_of

REFERENCES = ("reference_parameters", "reference_tokens")  # centre of N and D
SCATTERS = ("by_size", "one")
OF_OTHERS = {  # what a column is of, and laws that do without it
    "learning_rate_peak": "learning rates; or fit coupled",
    "batch_tokens": "batches; or fit learning-rate",
}
TYPICAL = "typical_", "reference_"  # before the name of a column: its geometric mean
EXPONENT = "exponent_parameters"
CENTRE_RATIONALE = (
    "Loss at the geometric-mean size: 1.1 to 8 nats per token, from a very good model to word frequencies alone."
)


def geometric_means(table, columns):
    """Return the geometric mean of each column, a list of float."""
    return [float(np.exp(np.log(table[column].to_numpy(float)).mean())) for column in columns]


@dataclass(frozen=True)
class LossLaw(LossTests, LossGrouping, LossPlanner, Law):
    """A law of the loss of training runs, with the options that `Chinchilla` describes.

    A custom law is a subclass with a ``name``, its sampled quantities as attributes of class `Sampled`, and two
    functions:

    ``loss(columns, ..., *, constants, ...)``
        Mean loss in nats per token. Its positional parameters are the columns that the law reads, its keyword-only ones
        the constants of the law.
    ``derive(sampled, ..., typical_column, ...)``
        A dict of those constants that are not sampled themselves, from sampled quantities and from ``typical_tokens``
        and the like, geometric means of columns over the runs.

    Both are written in the functions of `arrays`, so that they run on every array library. Where it has an optimum,
    ``optimal_sizes(constants, compute, *, gamma)`` gives compute-optimal N_x, N_T and D at C = 6 N_T D, with gamma as
    in `embeddings.embedding_constant`. Or it has a `plan`, in which the optimum is searched for.

    Raises
    ------
    InputError
        If an option or a prior is unknown, or ``loss`` or ``derive`` takes what the other side does not give.
    """

    noise: str = "student_t"
    scale: str = "log_loss"
    threshold: float = 1.345
    scatter: str = "by_size"
    skew: bool = False
    measurement_error: bool = False
    run_effects: bool = False
    size_effects: bool | None = None
    priors: Mapping = field(default_factory=dict)

    kind: ClassVar[str] = "runs"
    unit: ClassVar[str] = "run"
    observed: ClassVar[str] = "loss"
    mean_parameters: ClassVar[tuple] = ()
    columns: ClassVar[tuple] = ()
    _constant_names: ClassVar[tuple] = ()  # the keyword-only parameters of `loss`
    loss: ClassVar[Any] = None  # ``loss(columns, ..., *, constants, ...)``, mean loss in nats per token
    derive: ClassVar[Any] = staticmethod(dict)  # ``derive(sampled, ..., typical_column, ...)``, constants not sampled
    exponent: ClassVar[Any] = None  # ``exponent(**constants)`` of the optimal parameters in compute
    effort: ClassVar[Effort] = Effort(careful=(0.99, 0.998), least_ess=400, longest=16, quick=True)
    settings: ClassVar[dict] = {}  # columns of what is tuned, and what quantities call it
    constant_columns: ClassVar[tuple] = ()  # of `columns`, those that may hold one value in every row
    sized_by: ClassVar[tuple | None] = None  # the columns that scatter by size depends on; `columns` if None
    optimal_sizes: ClassVar[Callable | None] = None
    potential: ClassVar[Callable | None] = None  # ``potential(values, reference)``, log density of other data than runs
    exponents: ClassVar[tuple] = ("alpha", "beta")
    _centred: ClassVar[tuple] = ("loss_centre", "reducible_share", "parameter_share")  # At the centre of the runs.
    _groupable: ClassVar[bool] = True  # Whether quantities may differ by group of rows; see `Grouped`.
    in_all_parameters: ClassVar[bool] = False  # Whether the mean loss is a function of N_T and D alone.
    sum_of_terms: ClassVar[bool] = False  # Whether it is ``E + A/N_T**alpha + B/D**beta``.

    def __init_subclass__(cls, **options):
        """Read what is sampled from attributes, and columns and constants from the signature of `loss`."""
        super().__init_subclass__(**options)
        sampled = {name: x for name, x in vars(cls).items() if isinstance(x, Sampled)}
        if sampled:
            others = [q for q in cls.mean_parameters if q.name not in sampled]
            cls.mean_parameters = (*others, *(x.named(name) for name, x in sampled.items()))
        if "loss" in vars(cls):
            parameters = parameters_of(cls.loss)
            cls._constant_names = tuple(name for name, kind in parameters.items() if kind is KEYWORD)
            cls.columns = tuple(name for name, kind in parameters.items() if kind is not KEYWORD)

    def __post_init__(self):
        self._check_options(scatter=SCATTERS)
        self._check_effects()
        object.__setattr__(self, "priors", self._checked_priors((*self.derived_names, "nu", "rho", *ENDS.values())))

    def _check_effects(self):
        for option in (f"{what}_effects" for what in EFFECT_SDS):
            if (option, getattr(self, option)) != ("size_effects", None):
                self._check_options(option)
        if self.run_effects and self.size_effects:
            raise InputError("run_effects and size_effects cannot be used together; set one of them to False")
        if self.size_effects and self.size_column is None:
            raise InputError(
                f"size_effects: the {self.name} law has no column of model sizes ({' or '.join(SIZES)}); set "
                "size_effects=False"
            )

    # What a law states -----------------------------------------------------------------------------------------------

    @property
    def derived_names(self):
        """Return the names of what follows from what is sampled."""
        sampled = {q.name for q in self.mean_parameters}
        exponent = () if self.exponent is None else (EXPONENT,)
        return (*(name for name in self._constant_names if name not in sampled), *exponent)

    def centre(self, rows):
        """Return the scalars by name that the sampled quantities refer to; never the losses.

        They are the typical values that `derive` takes: ``typical_tokens`` is the geometric mean of the column
        ``tokens``.
        """
        names = [name for name in parameters_of(self.derive) if name.startswith(TYPICAL)]
        return dict(zip(names, geometric_means(rows, [name.partition("_")[2] for name in names]), strict=True))

    def constants(self, values, reference):
        """Return the named constants from sampled `values` and the `reference` of `self.reference`."""
        taken = parameters_of(self.derive)
        arguments = {name: values[name] if name in values else reference.get(name) for name in taken}
        missing = [name for name, x in arguments.items() if x is None]
        if missing:
            raise InputError(
                f"derive of the {self.name} law takes {', '.join(missing)}; sampled are "
                f"{', '.join(q.name for q in self.mean_parameters)}, and known {', '.join(reference)}"
            )
        constants = self.derive(**arguments)
        sampled = [name for name in self._constant_names if name in values and name not in constants]
        constants = constants | {name: values[name] for name in sampled}
        if {*self._constant_names} - {*constants}:
            raise InputError(
                f"loss of the {self.name} law takes {', '.join(self._constant_names)}; derive and what is sampled give "
                f"{', '.join(constants)}"
            )
        return constants if self.exponent is None else constants | {EXPONENT: self.exponent(**constants)}

    def mean(self, constants, columns):
        """Return the mean loss in nats per token from named `constants` at the sizes in `columns`."""
        sizes = (columns[name] for name in self.columns)
        return self.loss(*sizes, **{name: constants[name] for name in self._constant_names})

    def mean_of_sizes(self, constants, nonembedding, total, tokens):
        """Return the mean loss of models of known N_x and N_T, whatever columns the law was fitted to."""
        return self.mean(constants, {"parameters_nonembedding": nonembedding, "parameters": total, "tokens": tokens})

    # What follows ----------------------------------------------------------------------------------------------------

    @property
    def residuals(self):
        """Return the `Noise` of this law."""
        sizes = (self.sized_by or self.columns) if self.scatter == "by_size" else ()
        return Noise(self.noise, self.scale, self.threshold, self.measurement_error, sizes, self.skew, self.effects_of)

    @property
    def effects_of(self):
        """Return what has the effects that rows share, ``"run"`` or ``"size"``; None where rows are independent."""
        return next((what for what in EFFECT_SDS if getattr(self, f"{what}_effects")), None)

    @property
    def size_column(self):
        """Return the column of the law that holds the size of a model; None where it has none."""
        return next((column for column in SIZES if column in self.columns), None)

    @property
    def effect_column(self):
        """Return the column that names the run of each row or, under size effects, its size."""
        return SIZE_GROUP if self.size_effects else "run"

    @property
    def _free_parameters(self):
        """Return everything that is sampled, as `FreeParameter` objects."""
        return (*self.mean_parameters, *self.residuals.free_parameters)

    def reference(self, rows):
        """Return the scalars that the sampled quantities of the law and of its noise refer to."""
        return self.centre(rows) | self.residuals.centre(rows)

    @property
    def without_reading_error(self):
        """Return the same law of the losses themselves, before they are read off with an error."""
        return replace(self, measurement_error=False)

    def derived(self, values, reference):
        """Return the named results that follow from sampled `values`: the law's constants and the noise's."""
        constants = self.constants(values, reference)
        return {k: v for k, v in constants.items() if k not in values} | self.residuals.derived(values, reference)

    def on_scale(self, observed):
        """Return the losses on the scale of the residuals."""
        return log(observed) if self.scale.startswith("log_") else observed

    def from_scale(self, values):
        """Return the losses from values on the scale of the residuals."""
        return np.exp(values) if self.scale.startswith("log_") else values

    @property
    def needed(self):
        """Return the columns that a table of runs must have."""
        optional = {"loss_halfwidth": self.measurement_error, "run": self.run_effects}
        return (*self.columns, self.observed, *(name for name, used in optional.items() if used))

    def rows(self, table):
        """Return the table, refusing one that cannot inform this law.

        Raises
        ------
        InputError
            If a column is missing, a size is no positive number, or there are fewer rows than sampled quantities. If
            all runs have one size, tokens follow from sizes, or the loss rises with a size. With `run_effects` or
            `size_effects` also if a row is of no run, or no run or size has two rows.
        """
        place = source_of(table)
        require(table, self.needed, purpose=f"the {self.name} law")
        positive_columns(table, self.columns, purpose=f"the {self.name} law")
        if len(table) < len(self._free_parameters):
            names = [q.name for q in self._free_parameters]
            raise refusal(
                f"{place}: {len(table)} rows are fewer than the {len(names)} sampled quantities of the {self.name} law "
                f"({', '.join(names)}); add runs",
                *(self, table, place),
            )
        for column in self.columns:
            if column not in self.constant_columns and table[column].nunique() == 1:
                raise refusal(
                    f"{place}: column {column!r} is {table[column].iloc[0]:g} in every row; the {self.name} law needs "
                    f"runs of several {OF_OTHERS.get(column, 'sizes')}",
                    *(self, table, place),
                )
        check_falls(self, table, place)
        check_apart(self, table, place)
        return self._sharing(table, place) if self.effects_of else table

    def _sharing(self, table, place):
        """Return a table with the column of the law's effects, refusing one in which no two rows share an effect."""
        what, option = self.effects_of, f"{self.effects_of}_effects"
        if self.run_effects:
            require(table, [self.effect_column], purpose=option)
        labels = self._effect_labels(table)
        if not pd.Series(labels).duplicated().any():
            raise InputError(
                f"{place}: every {what} has one row; {option} needs {what}s of several rows: set {option}=False"
            )
        return table if self.effect_column in table else table.assign(**{self.effect_column: labels})

    # The model -------------------------------------------------------------------------------------------------------

    def sizes(self, rows):
        """Return the columns that the mean is a function of, as arrays of float."""
        return {column: rows[column].to_numpy(float) for column in self.columns}

    def design_arrays(self, rows, reference=None):
        """Return the arrays of the density: sizes, the observations and their reading errors."""
        arrays = self.sizes(rows) | {"observed": self.on_scale(rows[self.observed].to_numpy(float))}
        if self.measurement_error:
            arrays["halfwidth"] = self.halfwidth(rows)
        if self.effects_of:
            groups = self.groups(rows)
            arrays |= {"effect_codes": groups.codes, "effect_counts": groups.counts}
        return arrays

    def groups(self, rows):
        """Return the rows that share an effect, as `effects.Groups`; see `_effect_labels`."""
        return effects.Groups.of(self._effect_labels(rows))

    def _effect_labels(self, rows):
        """Return the run or size of each row, (row,): without a column of runs every row is one; refuse a blank."""
        if self.effect_column in rows:
            filled(rows, self.effect_column, purpose=f"{self.effects_of or 'run'}_effects")
            return rows[self.effect_column].to_numpy()
        return rows[self.size_column].to_numpy() if self.size_effects else np.arange(len(rows))

    def halfwidth(self, rows):
        """Return the half-widths of the readings on the scale of the residuals, or None without measurement error."""
        if not self.measurement_error:
            return None
        width = np.asarray(rows["loss_halfwidth"], float)
        return width / np.asarray(rows["loss"], float) if self.scale == "log_loss" else width

    def density(self, rows, reference):
        """Return the `Density`: all of a table is data, the reference too."""
        arrays = self.design_arrays(rows, reference) | {name: np.asarray(x) for name, x in reference.items()}
        axes = {
            name: None if x.ndim == 0 else "effect" if name == "effect_counts" else "row" for name, x in arrays.items()
        }
        block, key = self._coordinates(reference)
        return Density((block,), self._rest, arrays, axes, key)

    def _coordinates(self, reference):
        """Return the coordinates that are sampled, and what the code of the density follows from."""
        return Coordinates(self.prior_of), self._key

    def _rest(self, values, data):
        """Return the log density of what else informs the law, and of the rows or effects."""
        potential = self.potential and self.potential(values, data)
        informed = {} if potential is None else {POTENTIAL: potential}
        return informed | {self.scale: self._density_of_rows(values, data)}

    def _density_of_rows(self, values, data, constants=None):
        """Return the log density of each row or of the rows of each effect together, from the arrays of `density`.

        The `constants` may be given where they are known already.
        """
        constants = self.constants(values, data) if constants is None else constants
        residual = data["observed"] - self.on_scale(self.mean(constants, data))
        arguments = self.residuals.arguments(values, data, data, fitted=True)
        if self.effects_of:
            groups = effects.Groups(data["effect_codes"], data["effect_counts"])
            return effects.joint_logp(residual, values[self.residuals.effect_sd], groups, *arguments)
        return self.residuals.logp(residual, *arguments, halfwidth=data.get("halfwidth"))

    # Draws -----------------------------------------------------------------------------------------------------------

    def labels(self, reference):
        """Name each coordinate on the real line, with the quantity that it is of and its place there."""
        return {name: (name, {}) for name in self.prior_of}

    def draws(self, sampled, rows, reference):
        """Return the `LossDraws` of a Dataset that holds the sampled quantities, and those upstream if it has them."""
        return LossDraws(self, reference, rows, sampled)

    def _drawn(self, values, reference, rows, rng):
        sampled = {name: (DRAWS, x) for name, x in values.items()}
        return self.draws(xr.Dataset(sampled, draw_coordinates(1, next(iter(values.values())).size)), rows, reference)

    def simulate(self, values, rows, rng, reference=None):
        """Draw losses of runs from the law and its noise, nats per token, ndarray (..., run), at sampled values (...).

        Rows have the runs' sizes (and reading errors, where the law has them). The reference is by default that of the
        rows.
        """
        self._check_all_known(values)
        values = {name: np.asarray(x, float)[..., None] for name, x in values.items()}
        reference = reference or self.reference(rows)
        mean = self.on_scale(self.mean(self.constants(values, reference), self.sizes(rows)))
        return self.from_scale(self._scattered(mean, values, reference, rows, rng))

    def _scattered(self, mean, values, reference, rows, rng):
        """Add noise to means on the scale of the residuals, (..., run), and one effect for each run or size."""
        arguments = self.residuals.arguments(values, reference, self.sizes(rows))
        if self.effects_of:
            effect_sd = values[self.residuals.effect_sd]
            return mean + effects.draw(rng, np.shape(mean), effect_sd, self.groups(rows), *arguments)
        return mean + self.residuals.draw(rng, np.shape(mean), *arguments, halfwidth=self.halfwidth(rows))

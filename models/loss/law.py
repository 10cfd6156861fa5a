"""What every law of the loss of one training set-up has in common: options, priors, noise, the density."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from ...datasets import filled, positive_columns, require
from ...datasets.deferred import xr
from ...datasets.wording import not_a_switch, unknown
from ...errors import InputError
from .. import effects
from ..arrays import log
from ..contrasts import Contrast, groupings, means, ordinals, slopes
from ..coordinates import Coordinates
from ..density import POTENTIAL, Density
from ..draws import DRAWS, draw_coordinates
from ..law import Effort, Law
from ..priors import FreeParameter
from .budget import FLOP_PER_PARAMETER_TOKEN, SIZES, compute_bins, training_flop
from .draws import LossDraws
from .noise import EFFECT_SDS, ENDS, WITH_EFFECTS, Noise
from .plan import FamilyPlan
from .sizes import family_constant

REFERENCES = ("reference_parameters", "reference_tokens")  # centre of N and D
SCATTERS = ("by_size", "one")
TYPICAL = "typical_"  # before the name of a column: its geometric mean
EXPONENT = "exponent_parameters"
KEYWORD = inspect.Parameter.KEYWORD_ONLY
SIZE_GROUP = "size_group"  # column that names the model size of each row under size effects
CENTRE_RATIONALE = (
    "Loss at the geometric-mean size: 1.1 to 8 nats per token, from a very good model to word frequencies alone."
)


@dataclass(frozen=True)
class Sampled:
    """A sampled quantity of a law of the loss, as an attribute of its class.

    Parameters
    ----------
    prior : str
        Such as ``"LogNormal(1.1, 0.5)"``.
    rationale : str
        Why the prior is as it is, which reports print.
    unit : str
    support : tuple of float
        Where it lies; positive by default.
    """

    prior: str
    rationale: str
    unit: str = ""
    support: tuple = (0, np.inf)

    def named(self, name):
        """Return the `FreeParameter` of a name."""
        return FreeParameter(name, self.prior, self.support, self.unit, self.rationale)


def _parameters(function):
    """Return the kinds of the parameters of a function by name, but for those that take any number."""
    listed = inspect.signature(function).parameters.values()
    return {p.name: p.kind for p in listed if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name != "self"}


def geometric_means(table, columns):
    """Geometric mean of each column, a list of float."""
    return [float(np.exp(np.log(table[column].to_numpy(float)).mean())) for column in columns]


@dataclass(frozen=True)
class LossLaw(Law):
    """A law of the loss of training runs, with the options that `Chinchilla` describes.

    A law of one's own is a subclass with a ``name``, its sampled quantities as attributes of class `Sampled`, and two
    functions:

    ``loss(columns, ..., *, constants, ...)``
        Mean loss in nats per token. Its positional parameters are the columns that the law reads, its keyword-only ones
        the constants of the law.
    ``derive(sampled, ..., typical_column, ...)``
        A dict of those constants that are not sampled themselves, from sampled quantities and from ``typical_tokens``
        and the like, geometric means of columns over the runs.

    Both are written in the functions of `arrays`, so that they run on every array library. Where it has an optimum,
    ``optimal_sizes(constants, compute, *, gamma)`` gives compute-optimal N_x, N_T and D at C = 6 N_T D, with gamma as
    in `embeddings.embedding_constant`; or a `plan`, in which the optimum is searched for.

    Raises
    ------
    TypeError
        If ``loss`` or ``derive`` takes what is neither a column, a constant, a sampled quantity nor a typical value.
    """

    noise: str = "student_t"
    scale: str = "log_loss"
    threshold: float = 1.345
    scatter: str = "by_size"
    skew: bool = False
    measurement_error: bool = False
    run_effects: bool = False
    size_effects: bool = False
    priors: Mapping = field(default_factory=dict)

    kind: ClassVar[str] = "runs"
    unit: ClassVar[str] = "run"
    observed: ClassVar[str] = "loss"
    planned: ClassVar[tuple] = ("vocabulary", "aspect_ratio")
    mean_parameters: ClassVar[tuple] = ()
    columns: ClassVar[tuple] = ()
    constant_names: ClassVar[tuple] = ()  # the keyword-only parameters of `loss`
    exponent: ClassVar[Callable | None] = None  # ``exponent(**constants)`` of the optimal parameters in compute
    effort: ClassVar[Effort] = Effort(careful=(0.99, 0.998), least_ess=400, longest=16, quick=True)
    axes: ClassVar[dict] = {"compute": "training_flop"}
    clusters: ClassVar[tuple] = (*SIZES, "run")
    constant_columns: ClassVar[tuple] = ()  # of `columns`, those that may hold one value in every row
    sized_by: ClassVar[tuple | None] = None  # the columns that scatter by size depends on; `columns` if None
    optimal_sizes: ClassVar[Callable | None] = None
    exponents: ClassVar[tuple] = ("alpha", "beta")
    centred: ClassVar[tuple] = (
        "loss_centre",
        "reducible_share",
        "parameter_share",
    )  # defined at the centre of the runs
    groupable: ClassVar[bool] = True  # whether groups of rows may have quantities of their own; see `Grouped`
    in_all_parameters: ClassVar[bool] = False  # whether the mean loss is a function of N_T and D alone
    sum_of_terms: ClassVar[bool] = False  # whether it is ``E + A/N_T**alpha + B/D**beta``

    def __init_subclass__(cls, **options):
        """Read what is sampled from attributes, and columns and constants from the signature of `loss`."""
        super().__init_subclass__(**options)
        own = {name: x for name, x in vars(cls).items() if isinstance(x, Sampled)}
        if own:
            others = [q for q in cls.mean_parameters if q.name not in own]
            cls.mean_parameters = (*others, *(x.named(name) for name, x in own.items()))
        if "loss" in vars(cls):
            parameters = _parameters(cls.loss)
            cls.constant_names = tuple(name for name, kind in parameters.items() if kind is KEYWORD)
            cls.columns = tuple(name for name, kind in parameters.items() if kind is not KEYWORD)

    def __post_init__(self):
        if self.scatter not in SCATTERS:
            raise InputError(unknown("scatter", self.scatter, SCATTERS))
        self._check_effects()
        object.__setattr__(self, "priors", self.checked_priors((*self.derived_names, "nu", "rho", *ENDS.values())))

    def _check_effects(self):
        for option in (f"{what}_effects" for what in EFFECT_SDS):
            if not isinstance(getattr(self, option), bool):
                raise InputError(not_a_switch(option, getattr(self, option)))
        if self.run_effects and self.size_effects:
            raise InputError("run_effects and size_effects cannot be used together; set one of them to False")
        if self.size_effects and self.size_column is None:
            raise InputError(
                f"size_effects: the {self.name} law has no column of model sizes ({' or '.join(SIZES)}); set "
                "size_effects=False"
            )

    # What a law says -------------------------------------------------------------------------------------------------

    def loss(self, *columns, **constants):
        """Mean loss in nats per token at sizes, given constants."""
        raise NotImplementedError

    def derive(self, **given):
        """Those constants that are not sampled, a dict; none by default."""
        return {}

    @property
    def derived_names(self):
        """Names of what follows from what is sampled."""
        sampled = {q.name for q in self.mean_parameters}
        exponent = () if self.exponent is None else (EXPONENT,)
        return (*(name for name in self.constant_names if name not in sampled), *exponent)

    def centre(self, rows):
        """Scalars by name that the sampled quantities refer to; never the losses.

        They are the typical values that `derive` takes: ``typical_tokens`` is the geometric mean of the column
        ``tokens``.
        """
        names = [name for name in _parameters(self.derive) if name.startswith(TYPICAL)]
        return dict(zip(names, geometric_means(rows, [name.removeprefix(TYPICAL) for name in names]), strict=True))

    def constants(self, values, reference):
        """Named constants from sampled `values` and the `reference` of `self.reference`."""
        taken = _parameters(self.derive)
        given = {name: values[name] if name in values else reference.get(name) for name in taken}
        missing = [name for name, x in given.items() if x is None]
        if missing:
            raise TypeError(
                f"derive of the {self.name} law takes {', '.join(missing)}; sampled are "
                f"{', '.join(q.name for q in self.mean_parameters)}, and known {', '.join(reference)}"
            )
        found = self.derive(**given)
        found = found | {name: values[name] for name in self.constant_names if name in values and name not in found}
        if {*self.constant_names} - {*found}:
            raise TypeError(
                f"loss of the {self.name} law takes {', '.join(self.constant_names)}; derive and what is sampled give "
                f"{', '.join(found)}"
            )
        return found if self.exponent is None else found | {EXPONENT: self.exponent(**found)}

    def mean(self, constants, columns):
        """Mean loss in nats per token from named `constants` at the sizes in `columns`."""
        sizes = (columns[name] for name in self.columns)
        return self.loss(*sizes, **{name: constants[name] for name in self.constant_names})

    def mean_of_sizes(self, constants, nonembedding, total, tokens):
        """Mean loss of models of known N_x and N_T, whatever columns the law was fitted to."""
        return self.mean(constants, {"parameters_nonembedding": nonembedding, "parameters": total, "tokens": tokens})

    # What follows ----------------------------------------------------------------------------------------------------

    @property
    def residuals(self):
        """The `Noise` of this law."""
        sizes = (self.sized_by or self.columns) if self.scatter == "by_size" else ()
        return Noise(self.noise, self.scale, self.threshold, self.measurement_error, sizes, self.skew, self.effects_of)

    @property
    def effects_of(self):
        """What rows share effects of, ``"run"`` or ``"size"``; None where rows are independent."""
        return next((what for what in EFFECT_SDS if getattr(self, f"{what}_effects")), None)

    @property
    def size_column(self):
        """Column of the law that holds the size of a model; None where it has none."""
        return next((column for column in SIZES if column in self.columns), None)

    @property
    def group(self):
        """Column whose rows of one value are left out together: the run or, under size effects, the size."""
        return SIZE_GROUP if self.size_effects else "run"

    @property
    def free_parameters(self):
        """Everything that is sampled, as `FreeParameter` objects."""
        return (*self.mean_parameters, *self.residuals.free_parameters)

    def reference(self, rows):
        """Scalars that the sampled quantities of the law and of its noise refer to."""
        return self.centre(rows) | self.residuals.centre(rows)

    def potential(self, values, reference):
        """Log density of what informs the sampled `values` besides the observations; None where nothing does."""

    @property
    def without_reading_error(self):
        """The same law of the losses themselves, before they are read off with an error."""
        return replace(self, measurement_error=False)

    def derived(self, values, reference):
        """Named results that follow from sampled `values`: the law's constants and the noise's."""
        constants = self.constants(values, reference)
        return {k: v for k, v in constants.items() if k not in values} | self.residuals.derived(values, reference)

    def on_scale(self, observed):
        """Losses on the scale of the residuals."""
        return log(observed) if self.scale.startswith("log_") else observed

    def from_scale(self, values):
        """Losses from values on the scale of the residuals."""
        return np.exp(values) if self.scale.startswith("log_") else values

    @property
    def needed(self):
        """Columns that a table of runs must have."""
        return (*self.columns, self.observed, *(("loss_halfwidth",) if self.measurement_error else ()))

    def rows(self, table):
        """Return the table, refusing one that cannot inform this law.

        Raises
        ------
        InputError
            If a column is missing or a size is no positive number, all runs have one size, there are fewer rows than
            sampled quantities or, with `run_effects` or `size_effects`, a row is of no run or no run or size has two
            rows.
        """
        place = table.attrs.get("source", "the table")
        require(table, self.needed, purpose=f"the {self.name} law")
        positive_columns(table, self.columns, purpose=f"the {self.name} law")
        if len(table) < len(self.free_parameters):
            raise InputError(
                f"{place}: {len(table)} rows are fewer than the {len(self.free_parameters)} sampled quantities of the "
                f"{self.name} law ({', '.join(q.name for q in self.free_parameters)}); add runs"
            )
        for column in self.columns:
            if column not in self.constant_columns and table[column].nunique() == 1:
                raise InputError(
                    f"{place}: column {column!r} is {table[column].iloc[0]:g} in every row; the {self.name} law needs "
                    "runs of several sizes"
                )
        return self._sharing(table, place) if self.effects_of else table

    def _sharing(self, table, place):
        """Return a table with the column of the law's `group`, refusing one in which no two rows share an effect."""
        what, option = self.effects_of, f"{self.effects_of}_effects"
        if self.run_effects:
            require(table, [self.group], purpose=option)
        labels = self.effect_labels(table)
        if not pd.Series(labels).duplicated().any():
            raise InputError(
                f"{place}: every {what} has one row; {option} needs {what}s of several rows: set {option}=False"
            )
        return table if self.group in table else table.assign(**{self.group: labels})

    def contrasts(self, rows):
        """Means of the residuals in bins of compute and slopes in N/D there, and means of sizes with several rows."""
        size = self.size_column
        if size is None or "tokens" not in self.columns:
            return {}
        n, d = (rows[name].to_numpy(float) for name in (size, "tokens"))
        bins = compute_bins(FLOP_PER_PARAMETER_TOKEN * n * d)
        named = ordinals(bins, "compute")
        found = {"means by compute": Contrast.of_means(bins, "bins of compute", named)}
        within = slopes(bins, np.log(n / d))
        if len(within):
            what = f"slope of z in log(N/D) in each of {len(within)} bins"
            found["slopes by compute"] = Contrast(what, within).named(named)
        if self.repeated_size(rows):
            codes = pd.factorize(n)[0]
            several = means(codes)[np.bincount(codes) > 1]
            what = f"mean of z in each of {len(several)} sizes of several rows"
            found["means by size"] = Contrast(what, several).named([f"size {x:.3g}" for x in n])
        return found

    def groupings(self, rows):
        """Codes of the groups that other columns of the table name, but for runs where they share effects."""
        return groupings(rows, (SIZE_GROUP, *((self.group,) if self.effects_of else ())))

    def alternatives(self, rows):
        """Widen the law, with a scatter by size; where runs or sizes have several rows, with their effects too."""
        law = self if self.wider is None else self.wider[0]
        law = law if law.scatter == "by_size" else replace(law, scatter="by_size")
        found = [law] if law != self else []
        if self.effects_of or self.noise not in WITH_EFFECTS or self.skew or self.measurement_error:
            return found
        if "run" in rows and rows["run"].notna().all() and rows["run"].duplicated().any():
            found.append(replace(law, run_effects=True))
        if self.repeated_size(rows):
            found.append(replace(law, size_effects=True))
        return found

    def repeated_size(self, rows):
        """Return the column of model sizes of which at least two have several rows, None where there are fewer."""
        size = self.size_column
        return size if size is not None and (rows[size].value_counts() > 1).sum() > 1 else None

    def along(self, rows, by):
        """Give numbers along which rows may be cut; compute is 6 N D where the table does not state it."""
        if by == "compute" and not {"compute", "training_flop"} & set(rows) and training_flop(rows) is not None:
            rows = rows.assign(training_flop=training_flop(rows))
        return super().along(rows, by)

    # The model -------------------------------------------------------------------------------------------------------

    def check(self, rows, reference):
        """Refuse priors whose medians give a loss that is not finite.

        Raises
        ------
        InputError
        """
        medians = {name: float(prior.frozen.median()) for name, prior in self.prior_of.items()}
        with np.errstate(all="ignore"):
            loss = self.mean(self.constants(medians, reference), self.sizes(rows))
        if not (np.isfinite(loss) & (loss > 0)).all():
            listed = ", ".join(f"{name} {median:.3g}" for name, median in medians.items())
            raise InputError(
                f"at the medians of the priors ({listed}) the {self.name} law has no finite loss; check the priors"
            )

    def sizes(self, rows):
        """Columns that the mean is a function of, as arrays of float."""
        return {column: rows[column].to_numpy(float) for column in self.columns}

    def design_arrays(self, rows, reference=None):
        """Arrays of the density: sizes, the observations and their reading errors."""
        arrays = self.sizes(rows) | {"observed": self.on_scale(rows[self.observed].to_numpy(float))}
        if self.measurement_error:
            arrays["halfwidth"] = self.halfwidth(rows)
        if self.effects_of:
            groups = self.groups(rows)
            arrays |= {"effect_codes": groups.codes, "effect_counts": groups.counts}
        return arrays

    def groups(self, rows):
        """Rows that share an effect, as `effects.Groups`; see `effect_labels`."""
        return effects.Groups.of(self.effect_labels(rows))

    def effect_labels(self, rows):
        """Return the run or size of each row, (row,): where a table names no runs every row is a run of its own.

        Raises
        ------
        InputError
            If a row is of no run and others are.
        """
        if self.group in rows:
            filled(rows, self.group, purpose=f"{self.effects_of or 'run'}_effects")
            return rows[self.group].to_numpy()
        return rows[self.size_column].to_numpy() if self.size_effects else np.arange(len(rows))

    def together(self, rows, simulated):
        """Rows and simulated rows as one table; a simulated run or size has another effect than the one it is like."""
        found = super().together(rows, simulated)
        if not self.effects_of:
            return found
        codes, others = (self.groups(part).codes for part in (rows, simulated))
        return found.assign(**{self.group: np.concatenate([codes, codes.max() + 1 + others])})

    def halfwidth(self, rows):
        """Half-widths of the readings on the scale of the residuals, or None without measurement error."""
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
        return Density((Coordinates(self.prior_of),), self._rest, arrays, axes, self.key)

    def _rest(self, values, data):
        """Log density of what else informs the law, and of the rows or effects."""
        potential = self.potential(values, data)
        informed = {} if potential is None else {POTENTIAL: potential}
        return informed | {self.scale: self.density_of_rows(values, data)}

    def density_of_rows(self, values, data, constants=None):
        """Log density of each row or of the rows of each effect together, from the arrays of `density`.

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

    def prior_draws(self, rng, reference, rows, draws=1):
        """Draws of the prior, dims (chain, draw) with one chain."""
        sampled = {
            name: (DRAWS, prior.frozen.rvs((1, draws), random_state=rng)) for name, prior in self.prior_of.items()
        }
        return self.draws(xr.Dataset(sampled, draw_coordinates(1, draws)), rows, reference)

    def known_draws(self, values, reference, rows, rng=None):
        """One draw that holds known values of the sampled quantities, by name.

        Raises
        ------
        InputError
            If a quantity lacks a value.
        """
        self.check_all_known(values)
        known = {name: (DRAWS, [[float(values[name])]]) for name in self.prior_of}
        return self.draws(xr.Dataset(known), rows, reference)

    def check_calibration(self, truth):
        """Refuse a law that has no one posterior, or whose prior alone gives no truths.

        Raises
        ------
        InputError
        """
        if self.upstream:
            raise InputError(
                f"{self.name} takes {' and '.join(self.upstream)} from sizes alone and has no one posterior to "
                "calibrate; calibrate it with joint=True (--option joint=true)"
            )

    def simulate(self, values, rows, rng, reference=None):
        """Draw losses of runs from the law and its noise.

        Parameters
        ----------
        values : dict of str to float or ndarray, shape (...,)
            Sampled quantities.
        rows : DataFrame
            The runs' sizes (and reading errors, where the law has them).
        rng : numpy.random.Generator
        reference : dict, optional
            Centre of the sampled quantities; by default that of the rows.

        Returns
        -------
        ndarray, shape (..., run)
            Losses in nats per token.

        Raises
        ------
        InputError
            If a quantity lacks a value.
        """
        self.check_all_known(values)
        values = {name: np.asarray(v, float)[..., None] for name, v in values.items()}
        constants = self.constants(values, reference or self.reference(rows))
        mean = self.on_scale(self.mean(constants, self.sizes(rows)))
        return self.from_scale(self.scattered(mean, values, reference or self.reference(rows), rows, rng))

    def scattered(self, mean, values, reference, rows, rng):
        """Add noise to means on the scale of the residuals, (..., run), and one effect for each run or size."""
        arguments = self.residuals.arguments(values, reference, self.sizes(rows))
        if self.effects_of:
            effect_sd = values[self.residuals.effect_sd]
            return mean + effects.draw(rng, np.shape(mean), effect_sd, self.groups(rows), *arguments)
        return mean + self.residuals.draw(rng, np.shape(mean), *arguments, halfwidth=self.halfwidth(rows))

    # Decisions -------------------------------------------------------------------------------------------------------

    def plan(self, constants, *, vocabulary=None, aspect_ratio=None):
        """Models of one family, whose embeddings grow with their size.

        Parameters
        ----------
        constants : mapping of str to array_like
        vocabulary, aspect_ratio : float, optional
            Of the models planned; see `sizes.family_constant`.

        Returns
        -------
        FamilyPlan
            It describes ``parameters`` (N_T), ``parameters_nonembedding`` (N_x), ``tokens`` and ``loss`` (mean loss,
            nats per token).
        """
        if self.optimal_sizes is None:
            return super().plan(constants)
        return FamilyPlan(self, constants, family_constant(vocabulary, aspect_ratio))


def describe(law):
    """Lines that state each sampled quantity's prior and why it is as it is."""
    priors = law.prior_of
    return [
        (q.name, str(priors[q.name]), q.unit, q.rationale if q.name not in law.priors else "as asked")
        for q in law.free_parameters
    ]

"""What every law of one training set-up has in common: options, priors, noise, the PyMC model and simulation."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

import numpy as np

from ..datasets import require
from ..errors import InputError
from .arrays import log
from .backend import pymc
from .noise import Noise

CENTRE_RATIONALE = (
    "Loss at the geometric-mean size: 1.1 to 8 nats per token, from a very good model to word frequencies alone."
)


def geometric_means(table, columns):
    """Geometric mean of each column, a list of float."""
    return [float(np.exp(np.log(table[column].to_numpy(float)).mean())) for column in columns]


@dataclass(frozen=True)
class Law:
    """A law of the loss of training runs, with the options that `Chinchilla` describes."""

    noise: str = "student_t"
    scale: str = "log_loss"
    threshold: float = 1.345
    measurement_error: bool = False
    priors: Mapping = field(default_factory=dict)

    name: ClassVar[str]
    mean_quantities: ClassVar[tuple]
    derived_names: ClassVar[tuple]
    columns: ClassVar[tuple]
    observed: ClassVar[str] = "loss"
    given: ClassVar[tuple] = ()

    def __post_init__(self):
        sampled = {q.name: q for q in self.quantities}
        for name in self.priors:
            if name in sampled:
                continue
            why = "is derived, not sampled" if name in (*self.derived_names, "nu") else "is not known to this law"
            raise InputError(f"prior on {name!r}: it {why}; priors can be set on {', '.join(sampled)}")
        checked = {name: sampled[name].checked(text) for name, text in self.priors.items()}
        object.__setattr__(self, "priors", {name: str(prior) for name, prior in checked.items()})

    # What a law says -------------------------------------------------------------------------------------------------

    def constants(self, values, reference):
        """Named constants from sampled `values` and the `reference` of `self.reference`."""
        raise NotImplementedError

    def mean(self, constants, columns):
        """Mean loss in nats per token from named `constants` at the sizes in `columns`."""
        raise NotImplementedError

    def mean_of_sizes(self, constants, nonembedding, total, tokens):
        """Mean loss of models of known N_x and N_T, whatever columns the law was fitted to."""
        return self.mean(constants, {"parameters_nonembedding": nonembedding, "parameters": total, "tokens": tokens})

    def reference(self, table):
        """Scalars of the design that the sampled quantities refer to; they do not depend on the losses."""
        raise NotImplementedError

    # What follows ----------------------------------------------------------------------------------------------------

    @property
    def residuals(self):
        """The `Noise` of this law."""
        return Noise(self.noise, self.scale, self.threshold, self.measurement_error)

    @property
    def quantities(self):
        """Everything that is sampled, as `Quantity` objects."""
        return (*self.mean_quantities, *self.residuals.quantities)

    @property
    def prior_of(self):
        """Dict from the name of each sampled quantity to its `Prior`."""
        return {q.name: q.checked(self.priors.get(q.name, q.prior)) for q in self.quantities}

    @property
    def options(self):
        """What rebuilds this law: ``laws.law(name, **options)``."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"priors": dict(self.priors)}

    def beside(self, values, reference):
        """Log density of what informs the sampled `values` besides the observations; None where nothing does."""

    @property
    def without_reading_error(self):
        """The same law of the losses themselves, before they are read off with an error."""
        return replace(self, measurement_error=False)

    def derived(self, values, reference):
        """Named results that follow from sampled `values`: the law's constants and the noise's."""
        constants = self.constants(values, reference)
        return {k: v for k, v in constants.items() if k not in values} | self.residuals.derived(values)

    def on_scale(self, loss):
        """`loss` on the scale of the residuals."""
        return log(loss) if self.scale.startswith("log_") else loss

    def from_scale(self, value):
        """Loss from a value on the scale of the residuals."""
        return np.exp(value) if self.scale.startswith("log_") else value

    def check(self, table):
        """Refuse a table that cannot inform this law.

        Raises
        ------
        InputError
            If a column is missing, all runs have one size, or there are fewer rows than sampled quantities.
        """
        place = table.attrs.get("source", "the table")
        needed = (*self.columns, self.observed, *(("loss_halfwidth",) if self.measurement_error else ()))
        require(table, needed, purpose=f"the {self.name} law")
        if len(table) < len(self.quantities):
            raise InputError(
                f"{place}: {len(table)} rows are fewer than the {len(self.quantities)} sampled quantities of the "
                f"{self.name} law ({', '.join(q.name for q in self.quantities)}); add runs"
            )
        for column in self.columns:
            if table[column].nunique() == 1:
                raise InputError(
                    f"{place}: column {column!r} is {table[column].iloc[0]:g} in every row; the {self.name} law needs "
                    "runs of several sizes"
                )

    def _check_priors(self, table, reference):
        medians = {name: float(prior.frozen.median()) for name, prior in self.prior_of.items()}
        columns = {column: table[column].to_numpy(float) for column in self.columns}
        with np.errstate(all="ignore"):
            loss = self.mean(self.constants(medians, reference), columns)
        if not (np.isfinite(loss) & (loss > 0)).all():
            listed = ", ".join(f"{name} {median:.3g}" for name, median in medians.items())
            raise InputError(
                f"at the medians of the priors ({listed}) the {self.name} law has no finite loss; check the priors"
            )

    def design(self, table):
        """Arrays that the PyMC model holds as data: sizes, the observations and their reading errors."""
        arrays = {column: table[column].to_numpy(float) for column in self.columns}
        arrays["observed"] = self.on_scale(table[self.observed].to_numpy(float))
        if self.measurement_error:
            arrays["halfwidth"] = self.halfwidth(table)
        return arrays

    def halfwidth(self, table):
        """Half-widths of the readings on the scale of the residuals, or None without measurement error."""
        if not self.measurement_error:
            return None
        width = np.asarray(table["loss_halfwidth"], float)
        return width / np.asarray(table["loss"], float) if self.scale == "log_loss" else width

    def model(self, table, reference=None):
        """Build the PyMC model of this law on a table.

        Parameters
        ----------
        table : DataFrame
            Runs, as `read` or `load` give them.
        reference : dict, optional
            Centre of the sampled quantities; by default that of the table.

        Returns
        -------
        pymc.Model
            With `pymc.Data` for the design (``parameters``, ``tokens``, ``observed``, ...) and the reference, so that
            it is compiled once and refitted by changing data.
        """
        pm = pymc()

        self.check(table)
        self._check_priors(table, reference or self.reference(table))
        with pm.Model() as model:
            data = {name: pm.Data(name, array) for name, array in self.design(table).items()}
            centre = {name: pm.Data(name, x) for name, x in (reference or self.reference(table)).items()}
            values = {name: prior.variable(name) for name, prior in self.prior_of.items()}
            self.observe(self.scale, values, centre, data)
            beside = self.beside(values, centre)
            if beside is not None:
                pm.Potential("beside", beside)
        return model

    def observe(self, name, values, reference, data):
        """Register the observations under `name` in the PyMC model of the context, given arrays as `design` gives."""
        pm = pymc()

        mean = self.on_scale(self.mean(self.constants(values, reference), data))
        halfwidth = (data["halfwidth"],) if self.measurement_error else ()
        arguments = (*self.residuals.arguments(values), *halfwidth)
        pm.CustomDist(name, mean, *arguments, logp=self._logp, random=self._random, observed=data["observed"])

    def _split(self, arguments):
        return (arguments[:-1], arguments[-1]) if self.measurement_error else (arguments, None)

    def _logp(self, value, mean, *arguments):
        arguments, halfwidth = self._split(arguments)
        return self.residuals.logp(value - mean, *arguments, halfwidth=halfwidth)

    def _random(self, mean, *arguments, rng=None, size=None):
        arguments, halfwidth = self._split(arguments)
        shape = np.broadcast_shapes(np.shape(mean), tuple(size or ()))
        return mean + self.residuals.draw(rng, shape, *arguments, halfwidth=halfwidth)

    def simulate(self, values, table, rng, reference=None):
        """Draw losses of runs from the law and its noise.

        Parameters
        ----------
        values : dict of str to float or ndarray, shape (...,)
            Sampled quantities.
        table : DataFrame
            The runs' sizes (and reading errors, where the law has them).
        rng : numpy.random.Generator
        reference : dict, optional
            Centre of the sampled quantities; by default that of the table.

        Returns
        -------
        ndarray, shape (..., run)
            Losses in nats per token.
        """
        values = {name: np.asarray(v, float)[..., None] for name, v in values.items()}
        columns = {column: table[column].to_numpy(float) for column in self.columns}
        mean = self.on_scale(self.mean(self.constants(values, reference or self.reference(table)), columns))
        arguments = self.residuals.arguments(values)
        noise = self.residuals.draw(rng, np.shape(mean), *arguments, halfwidth=self.halfwidth(table))
        return self.from_scale(mean + noise)


def describe(law):
    """Lines that state each sampled quantity's prior and why it is as it is."""
    priors = law.prior_of
    return [
        (q.name, str(priors[q.name]), q.unit, q.rationale if q.name not in law.priors else "as asked")
        for q in law.quantities
    ]

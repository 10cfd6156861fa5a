"""How embedding parameters grow over the models of a family, as something to fit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....datasets import CHINCHILLA_VOCABULARY
from ....datasets.wording import shown, source_of
from ....errors import InputError
from ...arrays import exp, log, spread
from ...naming import check_positive
from ...priors import FreeParameter
from .. import embeddings
from ..law import LossLaw, geometric_means
from ..noise import NOISES, Noise
from ..sizes import chinchilla_configurations

RATIO = FreeParameter(
    "embedding_ratio",
    "LogNormal(-2, 1.5)",
    "Embedding over other parameters at the geometric-mean size: 0.007 to 2.6, from a per cent or less of the largest "
    "models to most of models of a few million.",
)
DELTA = FreeParameter(
    "delta",
    "Beta(2, 4)",
    "Exponent of embedding parameters: 0 where models grow in depth alone, 1/3 where width and depth grow in "
    "proportion, 1/2 where width alone grows; the prior has mean 1/3 and 95% interval 0.05 to 0.72.",
)
SCATTER = FreeParameter(
    "size_scatter",
    "LogNormal(-4, 1)",
    "Scatter of a model's parameters about the relation: real models round widths and depths; 0.3% to 13%.",
    "relative",
)


@dataclass(frozen=True)
class Configurations(LossLaw):
    """The sizes of a family of models, ``N_T = N_x + gamma N_x**delta`` (Pearce and Song 2024, equation 7).

    N_T is all parameters, N_x those outside the embeddings. Sampled are, with N0 the geometric mean of N_x:

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    embedding_ratio   LogNormal(-2, 1.5)       ``gamma N0**(delta-1)``: 0.007 to 2.6 embedding over other parameters
    delta             Beta(2, 4)               0 as depth alone grows, 1/3 in proportion, 1/2 as width alone grows
    size_scatter      LogNormal(-4, 1)         scatter of log N_T: 0.3% to 13%
    nu_minus_one      Gamma(2, 0.1)            Student-t only: degrees of freedom above 1
    ================= ======================== ==================================================================

    Derived, draw by draw: gamma, and ``aspect_ratio``, the width over depth that `vocabulary` and gamma imply at
    delta = 1/3. Where delta is learned, it is that of a model of N_x = N0.

    Parameters
    ----------
    noise : {"normal", "student_t"}
        Distribution of the residuals of log N_T; Student-t is a check for outliers.
    delta : float, optional
        Fix delta, at 1/3 say, instead of learning it.
    vocabulary : float
        Rows of the embedding, for the aspect ratio.
    priors : mapping of str to str
        Replacements of the default priors.

    Raises
    ------
    InputError
        If an option or prior is unknown or out of range.

    Examples
    --------
    >>> Configurations(delta=1 / 3).label
    'configurations, delta=0.333333'
    """

    noise: str = "normal"
    scale: str = "log_parameters"
    scatter: str = "one"
    delta: float | None = None
    vocabulary: float = CHINCHILLA_VOCABULARY

    name: ClassVar[str] = "configurations"
    columns: ClassVar[tuple] = ("parameters_nonembedding",)
    observed: ClassVar[str] = "parameters"
    derived_names: ClassVar[tuple] = ("gamma", "aspect_ratio")
    planned: ClassVar[tuple] = ()
    _groupable: ClassVar[bool] = False

    def __post_init__(self):
        check_delta(self.delta)
        self._check_options(noise=NOISES, scatter=("one",), scale=("log_parameters",))
        for option in ("measurement_error", "run_effects", "size_effects"):
            if getattr(self, option):
                raise InputError(f"{option} is for losses; models are read once: set {option}=False")
        check_positive("vocabulary", self.vocabulary)
        super().__post_init__()

    @property
    def mean_parameters(self):
        """Return the ratio of embedding parameters, and delta where it is learned."""
        return (RATIO, *((DELTA,) if self.delta is None else ()))

    @property
    def residuals(self):
        """Return the `Noise` of log N_T, its scale called ``size_scatter``."""
        return SizeNoise(self.noise, threshold=self.threshold, skew=self.skew)

    def constants(self, values, reference):
        """Return gamma, delta and the aspect ratio that they imply."""
        delta = values["delta"] if self.delta is None else self.delta
        log_n = log(reference["reference_nonembedding"])
        gamma = values["embedding_ratio"] * exp((1 - delta) * log_n)
        width = gamma * exp((delta - embeddings.PROPORTIONAL) * log_n)
        shape = embeddings.aspect_ratio(width, self.vocabulary)
        return {"gamma": gamma, "delta": spread(delta, gamma), "aspect_ratio": shape}

    def mean(self, constants, columns):
        """Return N_T; see `embeddings.total`."""
        return embeddings.total(columns["parameters_nonembedding"], constants["gamma"], constants["delta"])

    def rows(self, table):
        """Return the models of a table, each once, refusing sizes that cannot inform the relation.

        Raises
        ------
        InputError
            As for other laws, and if a model has no embedding parameters.
        """
        table = super().rows(table)
        table = table.drop_duplicates([*self.columns, self.observed]).reset_index(drop=True)
        total, nonembedding = (table[c].to_numpy(float) for c in ("parameters", "parameters_nonembedding"))
        if not (total > nonembedding).all():
            row = int(np.argmin(total > nonembedding))
            raise InputError(
                f"{source_of(table)}: row {row + 1} has parameters {total[row]:g}, not above "
                f"parameters_nonembedding {nonembedding[row]:g}; leave models without embedding parameters out"
            )
        return table

    def usual_table(self):
        """Return the sizes of the models of the Chinchilla study."""
        return chinchilla_configurations()

    def centre(self, table):
        """Return the geometric mean of N_x."""
        return {"reference_nonembedding": geometric_means(table, self.columns)[0]}


class SizeNoise(Noise):
    """Noise of log N_T."""

    scale_name: ClassVar[str] = "size_scatter"

    @property
    def free_parameters(self):
        """Return the sampled quantities: ``size_scatter`` in the place of ``sigma``."""
        return (SCATTER, *super().free_parameters[1:])


def check_delta(delta):
    """Refuse a fixed delta outside (0, 1)."""
    if delta is not None and not (isinstance(delta, (int, float)) and 0 < delta < 1):
        raise InputError(f"delta must lie between 0 and 1, or be absent to be learned, not {shown(delta)}")

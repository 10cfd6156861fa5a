"""Laws of the loss in which an embedding parameter may count otherwise than another."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ....errors import InputError
from ...arrays import exp, log
from ...priors import Quantity
from .. import chinchilla, embeddings
from ..chinchilla_law import Chinchilla
from ..law import Law, geometric_means
from .configurations import Configurations, check_delta, chinchilla_configurations
from .sizes import least_squares

CONSTANTS = ("E", "A", "B", "alpha", "beta")
OMEGA = Quantity(
    "omega",
    "Exponential(1)",
    (0, np.inf),
    "",
    "An embedding parameter may count nothing (0, as Kaplan counts), as any other (1, as Hoffmann does) or more; the "
    "density is positive at 0 and the prior's 95% interval is 0.03 to 3.7.",
)


def _split(columns):
    """N_x and N_E of columns that hold N_x and N_T."""
    return columns["parameters_nonembedding"], columns["parameters"] - columns["parameters_nonembedding"]


def _check_split(law, table):
    """Refuse runs whose N_x is above N_T, or none of which has embedding parameters."""
    nonembedding, embedding = _split({name: table[name].to_numpy(float) for name in law.columns})
    place = table.attrs.get("source", "the table")
    if (embedding < 0).any():
        row = int(np.argmax(embedding < 0))
        raise InputError(
            f"{place}: row {row + 1} has parameters_nonembedding {nonembedding[row]:g} above parameters "
            f"{nonembedding[row] + embedding[row]:g}; correct one of them"
        )
    if not (embedding > 0).any():
        raise InputError(
            f"{place}: columns 'parameters' and 'parameters_nonembedding' are equal in every row; the {law.name} law "
            "needs runs with embedding parameters"
        )


@dataclass(frozen=True)
class EmbeddingWeighted(Law):
    """The Chinchilla law with embedding parameters weighted, ``loss = E + A/(N_x + omega N_E)**alpha + B/D**beta``.

    N_x is parameters outside the embeddings, N_E embedding parameters, D training tokens, loss in nats per token. At
    omega = 1 this is the Chinchilla law (Hoffmann et al. 2022, who count all parameters), at omega = 0 the same law in
    the parameters that Kaplan et al. (2020) count. Pearce and Song (2024) leave open how much an embedding parameter
    counts; omega is the answer of the runs.

    Sampled are the quantities of `Chinchilla`, centred at the geometric mean of D and of ``N_x + omega N_E``, and

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    omega             Exponential(1)           weight of an embedding parameter: 0.03 to 3.7, positive at 0
    ================= ======================== ==================================================================

    Parameters
    ----------
    omega : float, optional
        Fix omega instead of learning it.

    The other options are those of `Chinchilla`.

    Raises
    ------
    InputError
        If omega is not a number of at least 0, or an option or prior is unknown.
    """

    omega: float | None = None

    name: ClassVar[str] = "embedding-weighted"
    columns: ClassVar[tuple] = ("parameters_nonembedding", "parameters", "tokens")
    derived_names: ClassVar[tuple] = Chinchilla.derived_names

    def __post_init__(self):
        if self.omega is not None and not (isinstance(self.omega, (int, float)) and 0 <= self.omega < np.inf):
            raise InputError(f"omega must be a number of at least 0, or absent to be learned, not {self.omega!r}")
        super().__post_init__()

    @property
    def mean_quantities(self):
        """The quantities of `Chinchilla`, and omega where it is learned."""
        return (*Chinchilla.mean_quantities, *((OMEGA,) if self.omega is None else ()))

    def check(self, table):
        """Refuse a table that cannot inform this law, one without embedding parameters too."""
        super().check(table)
        _check_split(self, table)

    def reference(self, table):
        """Geometric means of N_x, N_T/N_x and D."""
        nonembedding, total, tokens = geometric_means(table, self.columns)
        centre = {"reference_nonembedding": nonembedding, "reference_tokens": tokens}
        return centre | {"reference_ratio": total / nonembedding}

    def _counted(self, nonembedding, embedding, constants):
        return nonembedding + (constants["omega"] if self.omega is None else self.omega) * embedding

    def constants(self, values, reference):
        """E, A, B, alpha, beta, omega and the exponent of the optimal size for large models."""
        n = reference["reference_nonembedding"]
        centre = self._counted(n, n * (reference["reference_ratio"] - 1), values)
        names = [q.name for q in Chinchilla.mean_quantities]
        constants = chinchilla.constants(
            **{name: values[name] for name in names},
            reference_parameters=centre,
            reference_tokens=reference["reference_tokens"],
        )
        exponent = chinchilla.parameter_exponent(**constants)
        learned = {"omega": values["omega"]} if self.omega is None else {}
        return constants | {"exponent_parameters": exponent} | learned

    def mean(self, constants, columns):
        """Mean loss; see `chinchilla.loss`."""
        named = {name: constants[name] for name in CONSTANTS}
        return chinchilla.loss(self._counted(*_split(columns), constants), columns["tokens"], **named)

    def optimum(self, constants, compute, *, gamma, delta=embeddings.PROPORTIONAL):
        """Compute-optimal N_x, N_T and D on ``6 N_T D = C``; see `embeddings.optimum`."""
        omega = constants["omega"] if self.omega is None else self.omega
        A, B, alpha, beta = (constants[name] for name in ("A", "B", "alpha", "beta"))

        def loss(nonembedding, total, tokens):
            counted = nonembedding + omega * (total - nonembedding)
            return chinchilla.loss(counted, tokens, E=0.0, A=A, B=B, alpha=alpha, beta=beta)

        def returns(nonembedding, total, tokens):
            counted = nonembedding + omega * (total - nonembedding)
            growth = embeddings.elasticity(nonembedding, gamma, delta, omega)
            return alpha * A * exp(-alpha * log(counted)) * growth, beta * B * exp(-beta * log(tokens))

        return embeddings.optimum(compute, loss, returns, gamma=gamma, delta=delta)


@dataclass(frozen=True)
class EmbeddingCorrected(Law):
    """The Chinchilla law in parameters outside the embeddings.

    ``loss = E + A/(N_x + gamma N_x**delta)**alpha + B/D**beta``, equations 7 and 15 of Pearce and Song (2024). N_x is
    parameters outside the embeddings, D training tokens, loss in nats per token; ``gamma N_x**delta`` stands for the
    embedding parameters. Where N_T is known this is the Chinchilla law with an error of size, not a rival hypothesis of
    the loss: it serves runs of which N_T is not known.

    gamma and delta are learned from sizes of models alone by default, the loss informing the rest given them (a cut: a
    misfit of the loss cannot bend the relation of sizes). With `joint` both learn from both.

    Sampled are the quantities of `Chinchilla`, centred at the geometric means of D and of the N_T that the sizes
    imply, and with `joint` those of the relation of sizes; see `Configurations`.

    Parameters
    ----------
    delta : float, optional
        Fix delta, at 1/3 say, instead of learning it.
    joint : bool
        Learn gamma and delta from the losses too.
    configurations : sequence of (float, float), optional
        N_T and N_x of each model of the family; those of the Chinchilla study by default.

    The other options are those of `Chinchilla`.

    Raises
    ------
    InputError
        If delta is outside (0, 1), the configurations cannot inform the relation, or an option or prior is unknown.
    """

    delta: float | None = None
    joint: bool = False
    configurations: tuple | None = None

    name: ClassVar[str] = "embedding-corrected"
    columns: ClassVar[tuple] = ("parameters_nonembedding", "tokens")
    derived_names: ClassVar[tuple] = (*Chinchilla.derived_names, "gamma")

    def __post_init__(self):
        check_delta(self.delta)
        if self.configurations is not None:
            object.__setattr__(self, "configurations", tuple(tuple(map(float, pair)) for pair in self.configurations))
        self.sizes.check(self.table_of_sizes)
        super().__post_init__()

    @property
    def sizes(self):
        """The relation of sizes, a `Configurations`."""
        return Configurations(delta=self.delta)

    @property
    def table_of_sizes(self):
        """N_T and N_x of each model of the family."""
        if self.configurations is None:
            return chinchilla_configurations()
        table = pd.DataFrame(self.configurations, columns=["parameters", "parameters_nonembedding"])
        table.attrs["source"] = "the configurations"
        return table

    @property
    def given(self):
        """What the posterior holds by draw although the losses do not inform it."""
        return () if self.joint else ("gamma", "delta")

    @property
    def mean_quantities(self):
        """The quantities of `Chinchilla`, and those of the relation of sizes where both are learned together."""
        return (*Chinchilla.mean_quantities, *(self.sizes.quantities if self.joint else ()))

    def reference(self, table):
        """Geometric means of D and of the N_T that the point estimate of gamma and delta implies; that estimate."""
        nonembedding, tokens = geometric_means(table, self.columns)
        gamma, delta = least_squares(self.table_of_sizes, delta=self.delta)
        parameters = float(embeddings.total(nonembedding, gamma, delta))
        relation = self.sizes.reference(self.table_of_sizes) if self.joint else {"gamma": gamma, "delta": delta}
        return {"reference_parameters": parameters, "reference_tokens": tokens} | relation

    def constants(self, values, reference):
        """E, A, B, alpha, beta, gamma, delta and the exponent of the optimal size for large models."""
        names = [q.name for q in Chinchilla.mean_quantities]
        constants = chinchilla.constants(
            **{name: values[name] for name in names},
            reference_parameters=reference["reference_parameters"],
            reference_tokens=reference["reference_tokens"],
        )
        sizes = self.sizes.constants(values, reference) if self.joint else reference
        return constants | {
            "exponent_parameters": chinchilla.parameter_exponent(**constants),
            "gamma": sizes["gamma"] + 0 * constants["alpha"],
            "delta": sizes["delta"] + 0 * constants["alpha"],
        }

    def mean(self, constants, columns):
        """Mean loss; see `chinchilla.loss` and `embeddings.total`."""
        named = {name: constants[name] for name in CONSTANTS}
        parameters = embeddings.total(columns["parameters_nonembedding"], constants["gamma"], constants["delta"])
        return chinchilla.loss(parameters, columns["tokens"], **named)

    def mean_of_sizes(self, constants, nonembedding, total, tokens):
        """Mean loss of models of known N_T, where the relation of sizes has nothing to say."""
        return chinchilla.loss(total, tokens, **{name: constants[name] for name in CONSTANTS})

    def beside(self, values, reference):
        """Log density of the sizes of models, where gamma and delta are learned from them and the losses together."""
        if not self.joint:
            return None
        table = self.table_of_sizes
        mean = self.sizes.mean(
            self.sizes.constants(values, reference),
            {"parameters_nonembedding": table["parameters_nonembedding"].to_numpy(float)},
        )
        residual = np.log(table["parameters"].to_numpy(float)) - log(mean)
        return self.sizes.residuals.logp(residual, *self.sizes.residuals.arguments(values)).sum(-1)

    optimum = Chinchilla.optimum

"""The Chinchilla law with embedding parameters weighted."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....datasets.wording import shown, source_of
from ....errors import InputError
from ...priors import FreeParameter
from .. import embeddings
from ..law import LossLaw, geometric_means
from .terms import OfTwoTerms

OMEGA = FreeParameter(
    "omega",
    "Exponential(1)",
    "An embedding parameter may count nothing (0, as Kaplan counts), as any other (1, as Hoffmann does) or more; the "
    "density is positive at 0 and the prior's 95% interval is 0.03 to 3.7.",
)


def _split(columns):
    """Return N_x and N_E of columns that hold N_x and N_T."""
    return columns["parameters_nonembedding"], columns["parameters"] - columns["parameters_nonembedding"]


def _check_split(law, table):
    """Refuse runs whose N_x is above N_T, or none of which has embedding parameters."""
    nonembedding, embedding = _split({name: table[name].to_numpy(float) for name in law.columns})
    place = source_of(table)
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
class EmbeddingWeighted(OfTwoTerms, LossLaw):
    """The Chinchilla law with embedding parameters weighted, ``loss = E + A/(N_x + omega N_E)**alpha + B/D**beta``.

    N_x is parameters outside the embeddings, N_E embedding parameters, D training tokens, loss in nats per token. At
    omega = 1 this is the Chinchilla law (Hoffmann et al. 2022, who count all parameters). At omega = 0 it is the same
    law in the parameters that Kaplan et al. (2020) count. Pearce and Song (2024) leave open how much an embedding
    parameter counts; omega is the answer of the runs.

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
    coupled : bool
        Couple the terms with an outer exponent kappa, as `Coupled` does.

    The other options are those of `Chinchilla`.

    Raises
    ------
    InputError
        If omega is not a number of at least 0, or an option or prior is unknown.

    Examples
    --------
    >>> EmbeddingWeighted(omega=0).label
    'embedding-weighted, omega=0'
    """

    omega: float | None = None
    coupled: bool = False

    name: ClassVar[str] = "embedding-weighted"
    columns: ClassVar[tuple] = ("parameters_nonembedding", "parameters", "tokens")
    sized_by: ClassVar[tuple] = ("parameters", "tokens")

    def __post_init__(self):
        if self.omega is not None and not (isinstance(self.omega, (int, float)) and 0 <= self.omega < np.inf):
            raise InputError(f"omega must be a number of at least 0, or absent to be learned, not {shown(self.omega)}")
        super().__post_init__()

    @property
    def mean_parameters(self):
        """Return the quantities of `Chinchilla`, kappa where the terms are coupled, and omega where it is learned."""
        return (*self.quantities, *((OMEGA,) if self.omega is None else ()))

    def rows(self, table):
        """Return the table, refusing one that cannot inform this law, one without embedding parameters too."""
        rows = super().rows(table)
        _check_split(self, rows)
        return rows

    def centre(self, table):
        """Return the geometric means of N_x, N_T/N_x and D."""
        nonembedding, total, tokens = geometric_means(table, self.columns)
        centre = {"reference_nonembedding": nonembedding, "reference_tokens": tokens}
        return centre | {"reference_ratio": total / nonembedding}

    def _counted(self, nonembedding, embedding, constants):
        if self.omega == 0:
            return nonembedding
        return nonembedding + (constants["omega"] if self.omega is None else self.omega) * embedding

    def constants(self, values, reference):
        """Return E, A, B, alpha, beta, omega and the exponent of the optimal size for large models."""
        n = reference["reference_nonembedding"]
        centre = self._counted(n, n * (reference["reference_ratio"] - 1), values)
        terms = self.of_terms(values, centre, reference["reference_tokens"])
        return terms | ({"omega": values["omega"]} if self.omega is None else {})

    def mean(self, constants, columns):
        """Return the mean loss; see `chinchilla.loss`."""
        return self.loss_of(constants, self._counted(*_split(columns), constants), columns["tokens"])

    def optimal_sizes(self, constants, compute, *, gamma, delta=embeddings.PROPORTIONAL):
        """Return the compute-optimal N_x, N_T and D on ``6 N_T D = C``; see `embeddings.optimum`."""
        omega = constants["omega"] if self.omega is None else self.omega
        named = {name: constants[name] for name in self._constant_names} | {"E": 0.0}

        def loss(nonembedding, total, tokens):
            return self.form.loss(nonembedding + omega * (total - nonembedding), tokens, **named)

        def returns(nonembedding, total, tokens):
            counted = nonembedding + omega * (total - nonembedding)
            of_size, of_tokens = self.form.returns(counted, tokens, **named)
            return of_size * embeddings.elasticity(nonembedding, gamma, delta, omega), of_tokens

        return embeddings.optimum(compute, loss, returns, gamma=gamma, delta=delta)

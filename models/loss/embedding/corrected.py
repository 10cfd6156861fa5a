"""The Chinchilla law in parameters outside the embeddings, the embeddings' growth learned from sizes of models."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ...arrays import log, spread
from .. import embeddings
from ..law import LossLaw, geometric_means
from ..sizes import chinchilla_configurations, least_squares
from .configurations import Configurations, check_delta
from .terms import OfTwoTerms


@dataclass(frozen=True)
class EmbeddingCorrected(OfTwoTerms, LossLaw):
    """The Chinchilla law in parameters outside the embeddings.

    ``loss = E + A/(N_x + gamma N_x**delta)**alpha + B/D**beta``, equations 7 and 15 of Pearce and Song (2024). N_x is
    parameters outside the embeddings, D training tokens, loss in nats per token; ``gamma N_x**delta`` stands for the
    embedding parameters. Where N_T is known, this is the Chinchilla law with an error of size, and no rival hypothesis
    of the loss. It serves runs of which N_T is not known.

    gamma and delta are learned from sizes of models alone by default, the loss informing the rest given them. This is a
    cut: a misfit of the loss cannot bend the relation of sizes. With `joint` both learn from both.

    Sampled are the quantities of `Chinchilla`, centred at the geometric means of D and of the N_T that the sizes
    imply. With `joint` those of the relation of sizes are sampled too; see `Configurations`.

    Parameters
    ----------
    delta : float, optional
        Fix delta, at 1/3 say, instead of learning it.
    joint : bool
        Learn gamma and delta from the losses too.
    coupled : bool
        Couple the terms with an outer exponent kappa, as `Coupled` does.
    configurations : sequence of (float, float), optional
        N_T and N_x of each model of the family; those of the Chinchilla study by default.

    The other options are those of `Chinchilla`.

    Raises
    ------
    InputError
        If delta is outside (0, 1), the configurations cannot inform the relation, or an option or prior is unknown.

    Examples
    --------
    >>> EmbeddingCorrected().upstream, EmbeddingCorrected(joint=True).upstream
    (('gamma', 'delta'), ())
    """

    delta: float | None = None
    joint: bool = False
    coupled: bool = False
    configurations: tuple | None = None

    name: ClassVar[str] = "embedding-corrected"
    _groupable: ClassVar[bool] = False
    columns: ClassVar[tuple] = ("parameters_nonembedding", "tokens")
    in_all_parameters: ClassVar[bool] = True

    def __post_init__(self):
        check_delta(self.delta)
        if self.configurations is not None:
            object.__setattr__(self, "configurations", tuple(tuple(map(float, pair)) for pair in self.configurations))
        self.relation.rows(self.table_of_sizes)
        super().__post_init__()

    @property
    def sum_of_terms(self):
        """Return whether the loss is the Chinchilla law's sum of terms."""
        return not self.coupled

    @property
    def derived_names(self):
        """Return the names of what follows from what is sampled."""
        return (*super().derived_names, "gamma")

    @property
    def relation(self):
        """Return the relation of sizes, a `Configurations`."""
        return Configurations(delta=self.delta)

    @property
    def table_of_sizes(self):
        """Return N_T and N_x of each model of the family."""
        if self.configurations is None:
            return chinchilla_configurations()
        table = pd.DataFrame(self.configurations, columns=["parameters", "parameters_nonembedding"])
        table.attrs["source"] = "the configurations"
        return table

    @property
    def upstream(self):
        """Return what the posterior holds by draw although the losses do not inform it."""
        return () if self.joint else ("gamma", "delta")

    def upstream_fit(self):
        """Return the law of the quantities taken from upstream, and the table it is fitted to."""
        return self.relation, self.table_of_sizes

    @property
    def mean_parameters(self):
        """Return the quantities of `Chinchilla`, and those of the relation of sizes where both are learned together."""
        return (*self.quantities, *(self.relation._free_parameters if self.joint else ()))

    def centre(self, table):
        """Return geometric means of D and of the N_T that point estimates of gamma and delta imply; those estimates."""
        nonembedding, tokens = geometric_means(table, self.columns)
        gamma, delta = least_squares(self.table_of_sizes, delta=self.delta)
        parameters = float(embeddings.total(nonembedding, gamma, delta))
        relation = self.relation.reference(self.table_of_sizes) if self.joint else {"gamma": gamma, "delta": delta}
        return {"reference_parameters": parameters, "reference_tokens": tokens} | relation

    def constants(self, values, reference):
        """Return E, A, B, alpha, beta, gamma, delta and the exponent of the optimal size for large models."""
        terms = self.of_terms(values, reference["reference_parameters"], reference["reference_tokens"])
        sizes = self.relation.constants(values, reference) if self.joint else reference
        return terms | {name: spread(sizes[name], terms["alpha"]) for name in ("gamma", "delta")}

    def mean(self, constants, columns):
        """Return the mean loss; see `chinchilla.loss` and `embeddings.total`."""
        parameters = embeddings.total(columns["parameters_nonembedding"], constants["gamma"], constants["delta"])
        return self.mean_of_sizes(constants, None, parameters, columns["tokens"])

    def mean_of_sizes(self, constants, nonembedding, total, tokens):
        """Return the mean loss of models of known N_T, where the relation of sizes is not needed."""
        return self.loss_of(constants, total, tokens)

    def potential(self, values, reference):
        """Return the log density of models' sizes, where gamma and delta are learned from sizes and losses together."""
        if not self.joint:
            return None
        table = self.table_of_sizes
        mean = self.relation.mean(
            self.relation.constants(values, reference),
            {"parameters_nonembedding": table["parameters_nonembedding"].to_numpy(float)},
        )
        residual = np.log(table["parameters"].to_numpy(float)) - log(mean)
        return self.relation.residuals.logp(residual, *self.relation.residuals.arguments(values)).sum(-1)

    def optimal_sizes(self, constants, compute, *, gamma, delta=embeddings.PROPORTIONAL):
        """Return the compute-optimal N_x, N_T and D; the family of sizes decides N_x alone."""
        return self.form.optimal_sizes(self.form, constants, compute, gamma=gamma, delta=delta)

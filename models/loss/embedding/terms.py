"""The two terms of the laws of embeddings: added, or coupled by an outer exponent."""

from dataclasses import replace
from typing import Any, ClassVar

from ..chinchilla import Chinchilla, Coupled
from ..law import EXPONENT


class OfTwoTerms:
    """What a law with the option `coupled` has of its two terms."""

    coupled: bool
    exponent: ClassVar[Any] = staticmethod(Chinchilla.exponent)

    @property
    def form(self):
        """Return the law of two terms, a class with ``loss``, ``derive``, ``best``, ``returns``, ``constant_names``."""
        return Coupled if self.coupled else Chinchilla

    @property
    def quantities(self):
        """Return the quantities of `Chinchilla`, and kappa where the terms are coupled."""
        return self.form.mean_parameters

    @property
    def _constant_names(self):
        """Return the names of the constants of the two terms."""
        return self.form._constant_names

    def of_terms(self, values, parameters, tokens):
        """Return the constants of the two terms, whose centre is at parameters and tokens, and their exponent."""
        sampled = {q.name: values[q.name] for q in self.quantities}
        constants = self.form.derive(**sampled, reference_parameters=parameters, reference_tokens=tokens)
        return constants | {EXPONENT: self.exponent(**constants)}

    def loss_of(self, constants, parameters, tokens):
        """Return the mean loss at parameters that count, and tokens."""
        return self.form.loss(parameters, tokens, **{name: constants[name] for name in self._constant_names})

    @property
    def wider(self):
        """Return the same law with coupled terms; see `LossLaw.wider`."""
        return None if self.coupled else (replace(self, coupled=True, priors={}), "kappa", 1.0)

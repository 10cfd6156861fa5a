"""The two terms of the laws of embeddings: added, or coupled by an outer exponent."""

from dataclasses import replace

from .. import chinchilla, coupled
from ..chinchilla import Chinchilla


class OfTwoTerms:
    """What a law with the option `coupled` has of its two terms."""

    coupled: bool

    @property
    def form(self):
        """The module that holds the law's mathematics."""
        return coupled if self.coupled else chinchilla

    @property
    def quantities(self):
        """The quantities of `Chinchilla`, and kappa where the terms are coupled."""
        return (*Chinchilla.mean_parameters, *((coupled.KAPPA,) if self.coupled else ()))

    @property
    def wider(self):
        """The same law with coupled terms; see `LossLaw.wider`."""
        return None if self.coupled else (replace(self, coupled=True, priors={}), "kappa", 1.0)

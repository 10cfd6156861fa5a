"""The page on the Chinchilla law of runs."""

from .analysis import EXTRAS, STAGES, analyse
from .page import sections

__all__ = ["EXTRAS", "STAGES", "analyse", "sections"]

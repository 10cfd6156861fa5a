"""The page on the Chinchilla law of runs."""

from .analysis import STAGES, analyse
from .page import sections

__all__ = ["STAGES", "analyse", "sections"]

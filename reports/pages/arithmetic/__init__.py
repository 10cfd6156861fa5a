"""The page on arithmetic models and how far beyond training they go."""

from .analysis import EXTRAS, STAGES, analyse
from .page import sections

__all__ = ["EXTRAS", "STAGES", "analyse", "sections"]

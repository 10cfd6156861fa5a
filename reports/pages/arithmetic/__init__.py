"""The page on arithmetic models and how far beyond training they go."""

from .analysis import STAGES, analyse
from .page import sections

__all__ = ["STAGES", "analyse", "sections"]

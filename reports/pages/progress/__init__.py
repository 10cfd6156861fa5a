"""The page on algorithmic progress."""

from .analysis import STAGES, analyse
from .page import sections

__all__ = ["STAGES", "analyse", "sections"]

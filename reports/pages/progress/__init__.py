"""The page on algorithmic progress."""

from .analysis import EXTRAS, STAGES, analyse
from .page import sections

__all__ = ["EXTRAS", "STAGES", "analyse", "sections"]

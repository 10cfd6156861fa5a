"""The page on small language models trained for this package."""

from .analysis import EXTRAS, STAGES, analyse
from .page import sections

__all__ = ["EXTRAS", "STAGES", "analyse", "sections"]

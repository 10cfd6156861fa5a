"""The page on small language models trained for this package."""

from .analysis import STAGES, analyse
from .page import sections

__all__ = ["STAGES", "analyse", "sections"]

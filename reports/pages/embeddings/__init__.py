"""The page on embedding parameters and the reconciliation of Kaplan and Chinchilla."""

from .analysis import STAGES, analyse
from .page import sections

__all__ = ["STAGES", "analyse", "sections"]

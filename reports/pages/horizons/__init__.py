"""The page on time horizons, from successes of models on tasks with the time that people need."""

from .analysis import STAGES, analyse
from .page import sections

__all__ = ["STAGES", "analyse", "sections"]

"""The page on progress since 2023, from scores of models on benchmarks."""

from .analysis import STAGES, analyse
from .page import sections

__all__ = ["STAGES", "analyse", "sections"]

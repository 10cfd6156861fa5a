"""The kinds of table: of runs, of dated evaluations, of counts, of scores."""

from . import counts, evaluations, runs, scores
from .kind import Kind

KINDS = {kind.name: kind for kind in (runs.RUNS, evaluations.EVALUATIONS, counts.COUNTS, scores.SCORES)}

__all__ = ["KINDS", "Kind"]

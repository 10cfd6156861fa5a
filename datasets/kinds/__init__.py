"""The kinds of table: of runs, of dated evaluations, of counts, of scores, of successes on timed tasks."""

from . import counts, evaluations, horizons, runs, scores
from .kind import Kind

LISTED = (runs.RUNS, evaluations.EVALUATIONS, counts.COUNTS, scores.SCORES, horizons.HORIZONS)
KINDS = {kind.name: kind for kind in LISTED}

__all__ = ["KINDS", "Kind"]

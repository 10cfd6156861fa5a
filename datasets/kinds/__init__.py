"""The kinds of table: runs, dated evaluations, counts, scores, successes on timed tasks, dated values."""

from . import counts, evaluations, horizons, runs, scores, values
from .kind import Kind

LISTED = (runs.RUNS, evaluations.EVALUATIONS, counts.COUNTS, scores.SCORES, horizons.HORIZONS, values.VALUES)
KINDS = {kind.name: kind for kind in LISTED}

__all__ = ["KINDS", "Kind"]

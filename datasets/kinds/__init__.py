"""The kinds of table: runs, evaluations, counts, scores, successes on timed tasks, dated values, loss curves."""

from . import counts, curves, evaluations, horizons, runs, scores, values
from .kind import Kind

LISTED = (runs.RUNS, evaluations.EVALUATIONS, counts.COUNTS, scores.SCORES, horizons.HORIZONS, values.VALUES,
          curves.CURVES)  # fmt: skip
KINDS = {kind.name: kind for kind in LISTED}

__all__ = ["KINDS", "Kind"]

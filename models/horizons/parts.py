"""The parts of the law of time horizons: how successes are tested and grouped."""

import numpy as np

from ..contrasts import Contrast, groupings, informed, ordinals
from ..parts import Grouping, Tests
from .design import nested

LENGTH_BINS = 10  # of tasks by human time, in the tests of the law
LEAST_PAST = 3  # runs of other models that inform a task


class HorizonsTests(Tests):
    """How successes test the law of horizons."""

    share_of = "the runs"
    tolerance = 0.05

    def contrasts(self, rows):
        """Return means of residuals by human time, and slopes in it by model."""
        log_minutes = np.log(rows["minutes"].to_numpy(float))
        levels, codes = np.unique(log_minutes, return_inverse=True)
        bins = codes * min(LENGTH_BINS, len(levels)) // len(levels)
        model = rows["model"].to_numpy(object)
        means = Contrast.of_means(bins, "bins of human time", ordinals(bins, "time"))
        within = Contrast.of_slopes(model, log_minutes, "the log of human time", "models", "model " + model)
        return informed({"means by time": means, "slopes by model": within})

    def groupings(self, rows):
        """Return the codes of the groups that columns besides models and tasks name."""
        return groupings(rows, ("model", "task", "successes"))


class HorizonsGrouping(Grouping):
    """How successes belong together."""

    clusters = ("model", "task")
    axes = {"date": "year", "time": "minutes"}  # noqa: RUF012
    left_out_by = "model"
    high_k = "none"
    integrates = True

    def with_observed(self, rows, observed):
        """Return rows with other successes, those that no run is then at risk of left out."""
        return nested(super().with_observed(rows, observed))

    def are_informed(self, past, rows):
        """Return whether each row's task was run by models of the past."""
        return rows["task"].map(past["task"].value_counts()).fillna(0).to_numpy() >= LEAST_PAST

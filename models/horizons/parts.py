"""The parts of the law of time horizons: how successes are tested and grouped."""

import numpy as np

from ..contrasts import Contrast, bin_levels, informed, ordinals
from ..parts import ModelsOnItems
from .design import nested


class HorizonsParts(ModelsOnItems):
    """How successes test the law of horizons and belong together."""

    item = "task"
    share_of = "the runs"
    clusters = ("model", "task")
    axes = {"date": "year", "time": "minutes"}  # noqa: RUF012

    def contrasts(self, rows):
        """Return means of residuals by human time, and slopes in it by model."""
        log_minutes = np.log(rows["minutes"].to_numpy(float))
        bins, model = bin_levels(log_minutes), rows["model"].to_numpy(object)
        means = Contrast.of_means(bins, "bins of human time", ordinals(bins, "time"))
        within = Contrast.of_slopes(model, log_minutes, "the log of human time", "models", "model " + model)
        return informed({"means by time": means, "slopes by model": within})

    def with_observed(self, rows, observed):
        """Return rows with other successes, those that no run is then at risk of left out."""
        return nested(super().with_observed(rows, observed))

"""The parts of the law of scores: how scores are tested and grouped."""

from ..contrasts import Contrast, groupings, informed
from ..parts import Grouping, Tests

LEAST_PAST = 3


class ScoresTests(Tests):
    """How scores test the law of scores."""

    share_of = "the scale of scores"
    tolerance = 0.05

    def contrasts(self, rows):
        """Return the means of the residuals of each benchmark and, where models are dated, their yearly slopes."""
        benchmark = rows["benchmark"].to_numpy(object)
        named = "benchmark " + benchmark
        contrasts = {"means by benchmark": Contrast.of_means(benchmark, "benchmarks", named)}
        if "year" in rows and rows["year"].notna().all():
            year = rows["year"].to_numpy(float)
            contrasts["slopes by date"] = Contrast.of_slopes(benchmark, year, "the date", "benchmarks", named)
        return informed(contrasts)

    def groupings(self, rows):
        """Return the codes of the groups that columns besides models and benchmarks name."""
        return groupings(rows, ("model", "benchmark", "score"))


class ScoresGrouping(Grouping):
    """How scores belong together."""

    clusters = ("model", "family")
    axes = {"date": "year", "compute": "training_compute_flop"}  # noqa: RUF012
    left_out_by = "model"
    high_k = "none"
    integrates = True

    def are_informed(self, past, rows):
        """Return whether each row's benchmark has scores of at least `LEAST_PAST` models of the past."""
        return rows["benchmark"].map(past["benchmark"].value_counts()).fillna(0).to_numpy() >= LEAST_PAST

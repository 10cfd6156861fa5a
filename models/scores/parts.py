"""The parts of the law of scores: how scores are tested and grouped."""

from ..contrasts import Contrast, informed
from ..parts import ModelsOnItems


class ScoresParts(ModelsOnItems):
    """How scores test the law of scores and belong together."""

    item = "benchmark"
    share_of = "the scale of scores"
    clusters = ("model", "family")
    axes = {"date": "year", "compute": "training_compute_flop"}  # noqa: RUF012

    def contrasts(self, rows):
        """Return the means of the residuals of each benchmark and, where models are dated, their yearly slopes."""
        benchmark = rows["benchmark"].to_numpy(object)
        named = "benchmark " + benchmark
        contrasts = {"means by benchmark": Contrast.of_means(benchmark, "benchmarks", named)}
        if "year" in rows and rows["year"].notna().all():
            year = rows["year"].to_numpy(float)
            contrasts["slopes by date"] = Contrast.of_slopes(benchmark, year, "the date", "benchmarks", named)
        return informed(contrasts)

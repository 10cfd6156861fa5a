"""The parts of laws of progress: how evaluations are tested and grouped."""

from dataclasses import replace

from ...errors import InputError
from ..contrasts import Contrast, groupings, informed, means
from ..parts import Grouping, Tests


class ProgressTests(Tests):
    """How evaluations test a law of progress."""

    tolerance = 0.05

    def check_calibration(self, truth):
        """Refuse a penalty, whose prior changes with the number of rows."""
        if self.penalty is not None:
            raise InputError(
                f"{self.name} with a penalty has a prior that depends on the number of rows, which simulated rows "
                "would change; calibrate it without"
            )

    def contrasts(self, rows):
        """Return residuals' means and yearly slopes by benchmark, and means of papers with several rows."""
        benchmark, year = rows["benchmark"].to_numpy(object), rows["year"].to_numpy(float)
        named = "benchmark " + benchmark
        contrasts = {
            "means by benchmark": Contrast.of_means(benchmark, "benchmarks", named),
            "slopes by date": Contrast.of_slopes(benchmark, year, "the date", "benchmarks", named),
        }
        if "paper_id" in rows:
            by_paper = means(rows["paper_id"])
            several = by_paper[(by_paper > 0).sum(1) > 1]
            what = f"mean of z of each of {len(several)} papers of several rows"
            contrasts["means by paper"] = Contrast(what, several).named("paper " + rows["paper_id"].astype(str))
        return informed(contrasts)

    deviation_test = "means by paper"

    def with_effects(self, rows):
        """Return the law with paper effects, None where they are no default or no paper has several rows."""
        papers = rows.get("paper_id")
        if self.paper_effects is not None or self.noise != "normal" or papers is None or not papers.duplicated().any():
            return None
        return replace(self, paper_effects=True)

    def groupings(self, rows):
        """Return the codes of the groups that columns besides benchmarks and papers name, transformers among them."""
        return groupings(rows, ("benchmark", "paper", "paper_id"))

    def wider_laws(self, rows):
        """Return laws with paper effects or with a scatter by benchmark, where this law has none."""
        laws = []
        if not self.paper_effects and self.noise == "normal" and "paper_id" in rows:
            laws.append(replace(self, paper_effects=True))
        if self.scatter == "one" and self.penalty is None:
            laws.append(replace(self, scatter="by_benchmark"))
        return laws


class ProgressGrouping(Grouping):
    """How evaluations belong together."""

    clusters = ("paper_id",)
    axes = {"date": "year"}  # noqa: RUF012
    left_out_by = "paper_id"

    @property
    def one_prior(self):
        """Return whether the prior is the same whatever rows are fitted: the paper's penalty is one on their number."""
        return self.penalty is None

    def join_simulated(self, rows, simulated):
        """Return rows and simulated ones as one table; simulated papers are others than the rows'."""
        return super().join_simulated(rows, simulated.assign(paper_id=simulated["paper_id"] + rows["paper_id"].max()))

"""The parts of the law of dated values: how they are tested and grouped."""

from dataclasses import replace

from ..contrasts import Contrast, groupings, informed, ordinals
from ..parts import Grouping, Tests

BINS, LEAST_OF_BIN = 10, 5  # of rows by date, in the tests of the law


class TrendTests(Tests):
    """How dated values test their trend."""

    share_of = "the value"
    tolerance = 0.05

    def contrasts(self, rows):
        """Return means of residuals by date and, of groups, slopes in the date."""
        year = rows["year"].to_numpy(float)
        ranks = rows["year"].rank(method="dense").to_numpy(int) - 1
        count = max(2, min(BINS, len(rows) // LEAST_OF_BIN, ranks.max() + 1))
        bins = ranks * count // (ranks.max() + 1)
        contrasts = {"means by date": Contrast.of_means(bins, "bins of dates", ordinals(bins, "date"))}
        if self.groups:
            group = rows[self.groups].astype(str).to_numpy(object)
            contrasts["slopes by group"] = Contrast.of_slopes(group, year, "the date", "groups", "group " + group)
        return informed(contrasts)

    def groupings(self, rows):
        """Return the codes of the groups that other columns of text name; numbers may follow from the values."""
        numbers = rows.select_dtypes("number").columns
        return groupings(rows, ("model", *numbers, *((self.groups,) if self.groups else ())))

    def wider_laws(self, rows):
        """Return laws whose gain changes, where this one's does not."""
        if self.trend != "linear":
            return ()
        return tuple(replace(self, trend=trend) for trend in ("break", "acceleration"))


class TrendGrouping(Grouping):
    """How dated values belong together."""

    axes = {"date": "year"}  # noqa: RUF012

    @property
    def clusters(self):
        """Return the column of groups, where the law has them."""
        return (self.groups,) if self.groups else ()

    @property
    def left_out_by(self):
        """Return the column of groups, None where the law has none."""
        return self.groups

"""How the rows of a formula test it and belong together."""

import numpy as np

from ..contrasts import Contrast, groupings, informed, ordinals
from ..parts import Grouping, Tests

BINS, LEAST_OF_BIN = 10, 5  # of rows by a column, in the tests of the law


class FormulaTests(Tests):
    """How rows test a formula."""

    share_of = "the response"
    tolerance = 0.02

    def contrasts(self, rows):
        """Return means of residuals in the order of each column."""
        contrasts = {}
        for name in self.columns:
            ranks = rows[name].rank(method="dense").to_numpy(int) - 1
            count = max(2, min(BINS, len(rows) // LEAST_OF_BIN, ranks.max() + 1))
            bins = ranks * count // (ranks.max() + 1)
            contrasts[f"means by {name}"] = Contrast.of_means(bins, f"bins of {name}", ordinals(bins, name))
        return informed(contrasts)

    def orders(self, rows):
        """Return the order of rows along each column, of one value along the others."""
        names = [*self.columns]
        sort = {name: [name, *(other for other in names if other != name)] for name in names}
        return {name: np.lexsort(rows[by[::-1]].to_numpy(float).T) for name, by in sort.items()}

    def groupings(self, rows):
        """Return the codes of the groups that other columns of text name."""
        used = (*self.needed, self.observed, *rows.select_dtypes("number").columns)
        return groupings(rows, used)


class FormulaGrouping(Grouping):
    """How rows of a formula belong together."""

    unit = "row"

    @property
    def clusters(self):
        """Return the first column, whose rows of one value are seeds of one setting."""
        return tuple(self.columns[:1])

    def with_observed(self, rows, observed):
        """Return rows with other observations on the law's scale."""
        return rows.assign(**{self.observed: self.from_scale(np.asarray(observed))})

"""The parts of a grouped law: how rows are tested, grouped and planned, as the law of the groups has it."""

from dataclasses import replace

import numpy as np

from ..contrasts import joined
from ..parts import Grouping, Planner, Tests
from .grouping import GROUP, GROUPS, labelled


class GroupedTests(Tests):
    """How runs test a grouped law: by the tests of the law of the groups, within each group."""

    check_calibration = property(lambda self: self.law.law.tests.check_calibration)
    repeated_size = property(lambda self: self.law.law.tests.repeated_size)

    @property
    def wider(self):
        """Return the wider law of the groups, its further quantity one for all of them."""
        law, inner = self.law, self.law.law.tests.wider
        if inner is None:
            return None
        wider, name, value = inner
        return type(law)(wider, law.by, law.pooled, (*law.shared, name), law.priors), name, value

    def check_priors(self, rows, reference):
        """Refuse priors whose medians give a loss that is not finite; see the law's."""
        codes = self.law.codes(rows, reference)
        for i in np.unique(codes):
            inner = {name: x[i] for name, x in reference.items() if name != GROUPS}
            self.law.law.tests.check_priors(rows[codes == i], inner)

    def contrasts(self, rows):
        """Return the contrasts of the law, within each group."""
        by, contrasts = self.law.by, {}
        labels = labelled(rows[by])
        for name in sorted(set(labels)):
            group = labels == name
            for test, contrast in self.law.law.tests.contrasts(rows[group]).items():
                contrasts.setdefault(test, []).append(contrast.among(group, f" of {by} {name}"))
        return {test: joined(f"of each value of {by}", of_groups) for test, of_groups in contrasts.items()}

    def groupings(self, rows):
        """Return the codes of the groups that other columns name; see the law's."""
        codes_by_column = self.law.law.tests.groupings(rows)
        return {name: codes for name, codes in codes_by_column.items() if name != self.law.by}

    def wider_laws(self, rows):
        """Return those of the law, of the same groups."""
        return [replace(self.law, law=other) for other in self.law.law.tests.wider_laws(rows)]


class GroupedGrouping(Grouping):
    """How rows belong together: as those of the law of the groups do, and by group."""

    by = property(lambda self: self.law.by)
    axes = property(lambda self: self.law.law.grouping.axes)
    group = property(lambda self: self.law.law.grouping.group)
    clusters = property(lambda self: (*self.law.law.grouping.clusters, self.law.by))
    along = property(lambda self: self.law.law.grouping.along)
    together = property(lambda self: self.law.law.grouping.together)


class GroupedPlanner(Planner):
    """How runs, all of one group, are planned under a grouped law."""

    planned = property(lambda self: (GROUP, *self.law.law.planner.planned))
    plan = property(lambda self: self.law.law.planner.plan)

    def optimum(self, draws, compute, *, group=None, **planned):
        """Return the compute-optimal sizes in one group; see the law's.

        Raises
        ------
        InputError
            If no group is named, or one that the fit lacks.
        """
        return self.law.law.planner.optimum(draws.of(group), compute, **planned)

    def rows(self, rows, *, group=None, **planned):
        """Return the rows of the group that the runs planned are of."""
        return rows if group is None else rows[labelled(rows[self.law.by]) == str(group)]

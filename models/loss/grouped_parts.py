"""The parts of a grouped law: how rows are tested, grouped and planned, as the law of the groups has it."""

from dataclasses import replace

import numpy as np

from ..contrasts import joined
from ..parts import Grouping, Planner, Tests
from .grouping import GROUP, GROUPS, labelled


class GroupedTests(Tests):
    """How runs test a grouped law: by the tests of the law of the groups, within each group."""

    check_calibration = property(lambda self: self.law.check_calibration)
    repeated_size = property(lambda self: self.law.repeated_size)

    @property
    def wider(self):
        """Return the wider law of the groups, its further quantity one for all of them."""
        if self.law.wider is None:
            return None
        wider, name, value = self.law.wider
        return replace(self, law=wider, shared=(*self.shared, name)), name, value

    def check_priors(self, rows, reference):
        """Refuse priors whose medians give a loss that is not finite; see the law's."""
        codes = self.codes(rows, reference)
        for i in np.unique(codes):
            inner = {name: x[i] for name, x in reference.items() if name != GROUPS}
            self.law.check_priors(rows[codes == i], inner)

    def contrasts(self, rows):
        """Return the contrasts of the law, within each group."""
        by, contrasts = self.by, {}
        labels = labelled(rows[by])
        for name in sorted(set(labels)):
            group = labels == name
            for test, contrast in self.law.contrasts(rows[group]).items():
                contrasts.setdefault(test, []).append(contrast.among(group, f" of {by} {name}"))
        return {test: joined(f"of each value of {by}", of_groups) for test, of_groups in contrasts.items()}

    def groupings(self, rows):
        """Return the codes of the groups that other columns name; see the law's."""
        codes_by_column = self.law.groupings(rows)
        return {name: codes for name, codes in codes_by_column.items() if name != self.by}

    def wider_laws(self, rows):
        """Return those of the law, of the same groups."""
        return [replace(self, law=other) for other in self.law.wider_laws(rows)]


class GroupedGrouping(Grouping):
    """How rows belong together: as those of the law of the groups do, and by group."""

    grouped_by = property(lambda self: self.by)
    axes = property(lambda self: self.law.axes)
    left_out_by = property(lambda self: self.law.left_out_by)
    clusters = property(lambda self: (*self.law.clusters, self.by))
    numbers_along = property(lambda self: self.law.numbers_along)
    join_simulated = property(lambda self: self.law.join_simulated)


class GroupedPlanner(Planner):
    """How runs, all of one group, are planned under a grouped law."""

    planned = property(lambda self: (GROUP, *self.law.planned))
    plan = property(lambda self: self.law.plan)

    def optimum(self, draws, compute, *, group=None, **planned):
        """Return the compute-optimal sizes in one group; see the law's.

        Raises
        ------
        InputError
            If no group is named, or one that the fit lacks.
        """
        return self.law.optimum(draws.of(group), compute, **planned)

    def planned_rows(self, rows, *, group=None, **planned):
        """Return the rows of the group that the runs planned are of."""
        return rows if group is None else rows[labelled(rows[self.by]) == str(group)]

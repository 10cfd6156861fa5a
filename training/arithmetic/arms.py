"""A sweep of arithmetic models: arms of a task, embeddings, architectures and seeds."""

from dataclasses import dataclass, replace

from ..sweeps import base, records
from ..sweeps.base import distinct
from ..sweeps.execution import Execution
from .arithmetic_run import Run
from .cell_counts import table


@dataclass(frozen=True)
class ArithmeticSweep(base.BaseSweep):
    """A sweep of arithmetic models: runs by arm, checked. Arms may share runs."""

    arms: dict[str, tuple[Run, ...]]
    execution: Execution

    def settled(self, where):
        """Return the sweep with its runs settled, as `Run.settled` does."""
        return replace(self, arms={arm: tuple(run.settled(where) for run in runs) for arm, runs in self.arms.items()})

    def groups(self):
        """Return the runs of each arm."""
        return self.arms

    def rounds(self, results):
        """Yield the runs of all arms in one round, so that an executor has them all at once."""
        yield "arithmetic", distinct(run for runs in self.arms.values() for run in runs)

    def gathered(self, rounds, results):
        """Merge the runs, with a table that has a row for each run and cell."""
        arms = {arm: {run.name for run in runs} for arm, runs in self.arms.items()}
        whole = records.merged(rounds["arithmetic"], results, arms, "arm")
        return whole, {"runs": table(whole)}

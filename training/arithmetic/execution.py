"""Sweeps of arithmetic models trained and judged, and gathered as counts by cell."""

import functools
import hashlib
import json

from ..execution import Work, execute
from ..hardware import chosen_precision
from .experiment import train_run
from .memory import check_memory
from .records import merged, table
from .sweep import Sweep, read_sweep


def train(sweep, out, *, executor=None, scheduler=None, device=None, time_limit=None, progress=True):
    """Train and judge a sweep of arithmetic models, from where it was left.

    Every finished run is kept in ``OUT/runs`` and is not trained again; a run that was broken off goes on from its last
    checkpoint, or in the middle of its grid, with the result it would have had. Written at the end of every call that
    trained anything to its end: ``OUT/runs.nc`` (all runs) and ``OUT/runs.csv``, long by cell.

    Parameters
    ----------
    sweep : path or Sweep
        A TOML file, with the tables that `sweep.make_sweep` takes; or a sweep made of them.
    out, executor, scheduler, device, time_limit, progress
        As `training.train` takes them.

    Returns
    -------
    xarray.Dataset or None
        All finished runs, as `records.merged` gives them, with the attribute ``status``: ``"finished"``, or
        ``"paused"`` if the time limit stopped it. None if no run is finished yet.

    Raises
    ------
    InputError
        If the sweep, a device, a checkpoint or the folder cannot be used, or a run needs more memory than is free.
    KeyboardInterrupt
        If a signal stopped it, after everything was saved.
    """
    return execute(
        lambda folder: ArithmeticWork(sweep if isinstance(sweep, Sweep) else read_sweep(sweep)),
        out,
        executor=executor,
        scheduler=scheduler,
        device=device,
        time_limit=time_limit,
        progress=progress,
    )


class ArithmeticWork(Work):
    """Arms of arithmetic models, none of which waits for another.

    Parameters
    ----------
    sweep : Sweep
    """

    train = staticmethod(train_run)

    def __init__(self, sweep):
        self.sweep, self.execution = sweep, sweep.execution

    def check(self, device):
        """Refuse runs that do not fit into the device's memory."""
        for run in self._runs.values():
            check_memory(run, device, chosen_precision(run.precision, device))

    def rounds(self, results):
        """Go through the arms in one round, so that an executor has all of them at once."""
        yield "arithmetic", list(self._runs.values())

    def gathered(self, planned, results):
        """Bring the runs together, with a table long by cell."""
        arms = {
            name: [arm for arm, runs in self.sweep.arms.items() if name in {r.name for r in runs}] for name in planned
        }
        fingerprint = hashlib.sha256(json.dumps(sorted(planned)).encode()).hexdigest()
        attributes = {"sweep": json.dumps(list(self.sweep.arms)), "sha256": fingerprint}
        whole = merged(
            [results[name] for name in planned if name in results],
            {name: " ".join(found) for name, found in arms.items()},
            attributes,
        )
        return whole, {"runs": table(whole)}

    @functools.cached_property
    def _runs(self):
        return {run.name: run for runs in self.sweep.arms.values() for run in runs}

"""Sweeps of arithmetic models, trained, judged and gathered as counts by cell."""

import functools

from ..engine.loop import FINISHED
from ..sweeps import execution, experiment
from ..sweeps.kind import SweepKind
from ..sweeps.outline import outline as outlined
from .experiment import judge, prepared
from .models.memory import run_bytes
from .records import merged, record, table
from .sweep import Sweep, read_sweep


def train(sweep, out, **options):
    """Train and judge a sweep of arithmetic models, or resume it.

    Every finished run is kept in ``OUT/runs`` and is not trained again; a run that was interrupted resumes from its
    last checkpoint, or in the middle of its grid, with the result that it would have had. Every call that finishes a
    run writes ``OUT/runs.nc`` (all runs) and ``OUT/runs.csv``, a row for each run and cell.

    Parameters
    ----------
    sweep : path or Sweep
        A TOML file, with the tables that `sweep.make_sweep` takes; or a sweep made of them.
    out : path
        Folder for everything that is written.
    **options
        As `training.train` takes them: executor, scheduler, device, time_limit and progress.

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
    return execution.train(ArithmeticSweep, sweep, out, **options)


def outline(sweep, *, device=None):
    """Say what a sweep will take: runs, parameters, FLOP, memory and hours.

    Parameters
    ----------
    sweep : path or Sweep
    device : str, optional
        Such as ``"cpu"`` or ``"cuda"``; by default CUDA where there is a GPU.

    Returns
    -------
    dict
        As `sweeps.outline.outline` gives it.

    Raises
    ------
    InputError
        If the sweep or the device cannot be used.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import make_sweep, outline
    >>> outline(make_sweep({"preset": "demo"}), device="cpu")["rounds"][0]["runs"]
    3
    """
    return outlined(ArithmeticSweep, sweep, None, device)


def train_run(run, folder, **options):
    """Train one run and judge it, from its last checkpoint if there is one.

    Parameters
    ----------
    run : runs.Run
    folder : path
        Where its checkpoints and the counts of its grid are, until its record is whole.
    **options
        As `sweeps.experiment.train_run` takes them: execution, of which `compile` and `save_seconds` count, device,
        guard and report.

    Returns
    -------
    xarray.Dataset or None
        The record of the run, or None if it was stopped before its end.

    Raises
    ------
    InputError
        If the device, a choice or a checkpoint cannot be used, or the device has too little memory.
    """
    return experiment.train_run(ArithmeticSweep, run, folder, **options)


class ArithmeticSweep(SweepKind):
    """Arms of arithmetic models, none of which waits for another."""

    sweep_type = Sweep
    prepared = staticmethod(prepared)

    @staticmethod
    def read(path, folder):
        """Read a sweep; the folder is not needed."""
        return read_sweep(path)

    def groups(self):
        """Give the runs of each arm."""
        return {arm: list(runs) for arm, runs in self.sweep.arms.items()}

    @staticmethod
    def bytes_of(run, execution, device, precision):
        """Estimate the memory that a run takes."""
        return run_bytes(run, device, precision)

    @staticmethod
    def largest(run):
        """Say what of a run needs memory: its model and the microbatch."""
        what = f"a model of {run.model.parameters:,} parameters with microbatches of {run.plan.microbatch} problems"
        return what, "a smaller microbatch or a smaller model"

    def rounds(self, results):
        """Give the runs of all arms in one round, so that an executor has them all at once."""
        yield "arithmetic", list(self._runs.values())

    @staticmethod
    def recorded(run, outcome, model, folder, device, precision, guard):
        """Judge a trained model on its run's grid, and make the record."""
        parts = judge(model, run, folder, device, precision, guard, trained=outcome.status == FINISHED)
        return None if parts is None else record(run, outcome, parts, device, precision)

    def gathered(self, planned, results):
        """Merge the runs, with a table that has a row for each run and cell."""
        whole = merged(planned, results, {arm: {run.name for run in runs} for arm, runs in self.sweep.arms.items()})
        return whole, {"runs": table(whole)}

    @functools.cached_property
    def _runs(self):
        return {run.name: run for runs in self.sweep.arms.values() for run in runs}

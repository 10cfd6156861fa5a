"""Sweeps of arithmetic models, trained, tested and gathered as counts by cell."""

from ..sweeps import outline as outlines
from ..sweeps import trainer
from .sweep_file import read_sweep


def train(sweep, out, **options):
    """Train and test a sweep of arithmetic models, or resume it.

    Every finished run is saved in ``OUT/runs`` and is not trained again; a run that was interrupted resumes from its
    last checkpoint, or in the middle of its grid, with the result that it would have had. Every call that finishes a
    run writes ``OUT/runs.nc`` (all runs) and ``OUT/runs.csv``, a row for each run and cell.

    Parameters
    ----------
    sweep : path or Sweep
        A TOML file, with the tables that `make_sweep` takes; or a sweep made of them.
    out : path
        Folder for everything that is written.
    **options
        As `training.train` takes them: executor, scheduler, device, time_limit and progress.

    Returns
    -------
    xarray.Dataset or None
        All finished runs, as `cell_counts.merged` returns them, with the attribute ``status``: ``"finished"``, or
        ``"paused"`` if the time limit stopped it. None if no run is finished yet.

    Raises
    ------
    InputError
        If the sweep, a device, a checkpoint or the folder cannot be used, or a run needs more memory than is free.
    KeyboardInterrupt
        If a signal stopped it, after everything was saved.
    """
    return trainer.train(_read, sweep, out, **options)


def outline(sweep, *, device=None):
    """Compute what a sweep will take: runs, parameters, FLOP, memory and hours, as `training.outline` does.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import make_sweep, outline
    >>> outline(make_sweep({"preset": "demo"}), device="cpu")["rounds"][0]["runs"]
    3
    """
    return outlines.outline(_read, sweep, device)


def _read(path, folder):
    return read_sweep(path)

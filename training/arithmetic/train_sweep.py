"""Sweeps of arithmetic models, trained, tested and gathered as counts by cell."""

from ..sweeps import outline as outlines
from ..sweeps import trainer
from .sweep_file import read_sweep

train_run = trainer.train_run


def train(sweep, out, **options):
    """Train and test a sweep of arithmetic models, or resume it.

    Every finished run is saved in ``OUT/runs`` and is not trained again. An interrupted run resumes from its last
    checkpoint, or in the middle of its grid, with the result of an unbroken one. After every run it writes
    ``OUT/log.jsonl``, ``OUT/runs.nc`` (all runs) and ``OUT/runs.csv``, a row for each run and cell.

    The sweep is a TOML file, with the tables that `make_sweep` takes, or a sweep made of them. Options, result and
    errors are those of `training.train`, including the error for a run that needs more memory than is free.
    """
    return trainer.train(_read, sweep, out, **options)


def outline(sweep, *, device=None):
    """Compute what a sweep will take: runs, parameters, FLOP, memory and seconds, as `training.outline` does.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import make_sweep, outline
    >>> outline(make_sweep({"preset": "demo"}), device="cpu")["rounds"][0]["runs"]
    3
    """
    return outlines.outline(_read, sweep, device)


def _read(path, folder):
    return read_sweep(path)

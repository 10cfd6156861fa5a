"""Sweeps of any kind, trained in this process or on an executor, and gathered."""

import contextlib
import math
import os
from concurrent.futures import as_completed
from pathlib import Path

from ... import sealed
from ...clusters import connected
from ...datasets.wording import printable
from ...errors import InputError
from ...files import remove_partial
from ..engine.checkpoints import Checkpoints
from ..engine.guard import Guard
from ..engine.hardware import chosen_device, where_trained
from ..engine.loop import FINISHED, PAUSED
from .bar import shown
from .experiment import train_run
from .records import read_dataset, write_table


def train(kind, sweep, out, *, executor=None, scheduler=None, device=None, time_limit=None, progress=True):
    """Train a sweep of any kind, or resume it, and write ``OUT/runs.nc`` and its tables.

    Parameters
    ----------
    kind : type
        A subclass of `SweepKind`.
    sweep : path or sweep
        As `SweepKind.opened` takes it.
    out, executor, scheduler, device, time_limit, progress
        As `training.train` takes them.

    Returns
    -------
    xarray.Dataset or None
        As `training.train` gives it.

    Raises
    ------
    InputError
        If the sweep, a device, a checkpoint or the folder cannot be used.
    KeyboardInterrupt
        If a signal stopped it, after everything was saved; with the signal's number.
    """
    guard = Guard(_checked(time_limit))
    out = Path(os.path.realpath(os.path.expanduser(out)))
    _prepare(out)
    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            executor = stack.enter_context(_dask(scheduler, executor))
        # All workers are taken to be like the one that answers.
        where = where_trained(device) if executor is None else executor.submit(where_trained, device).result()
        opened = kind.opened(sweep, out, where)
        if executor is None:
            opened.check(chosen_device(device))
        watched = stack.enter_context(shown(progress))
        stack.enter_context(guard.listening())
        trainer = _Trainer(opened, out, executor, device, guard, watched)
        try:
            status = trainer.train()
        except InputError:
            # Finished runs are gathered, unless that fails for the same reason, such as a full disk.
            with contextlib.suppress(InputError):
                trainer.gather()
            raise
        result = trainer.gather()
    if guard.signalled is not None:
        raise KeyboardInterrupt(guard.signalled)
    if result is not None:
        result.attrs["status"] = status
    return result


class _Trainer:
    def __init__(self, opened, out, executor, device, guard, shown):
        self.opened, self.out, self.executor, self.device = opened, out, executor, device
        self.guard, self.shown = guard, shown
        self.options = {"execution": opened.sweep.execution, "device": device, "guard": guard}
        self.results, self.planned = {}, {}

    def train(self):
        for name, runs in self.opened.rounds(self.results):
            self.planned |= {run.name: run for run in runs}
            done = [run for run in runs if self._known(run)]
            self.shown.stage(name, runs, done)
            left = [run for run in runs if run.name not in self.results]
            (self._here if self.executor is None else self._elsewhere)(left)
            if not all(run.name in self.results for run in runs):
                return PAUSED
        return FINISHED

    def gather(self):
        if not self.results:
            return None
        whole, tables = self.opened.gathered(self.planned, self.results)
        sealed.write(whole, self.out / "runs.nc", parents=True)
        for name, rows in tables.items():
            if len(rows):
                write_table(rows, self.out / f"{name}.csv")
        return whole

    def _known(self, run):
        path = self.out / "runs" / f"{run.name}.nc"
        if run.name not in self.results and path.exists():
            self.results[run.name] = read_dataset(path)
        return run.name in self.results

    def _here(self, runs):
        for run in runs:
            if self.guard.expired:
                return
            report = self.shown.reporter(run, chosen_device(self.device))
            self._keep(run, train_run(type(self.opened), run, self._folder(run), report=report, **self.options))

    def _elsewhere(self, runs):
        kind, submit = type(self.opened), self.executor.submit
        waiting = {submit(train_run, kind, run, str(self._folder(run)), **self.options): run for run in runs}
        try:
            for future in _completed(waiting, self.guard):
                self._keep(waiting[future], future.result())
        finally:
            for future in waiting:
                future.cancel()

    def _keep(self, run, result):
        if result is None:
            return
        sealed.write(result, self.out / "runs" / f"{run.name}.nc", parents=True)
        self.results[run.name] = result
        Checkpoints(self._folder(run)).remove()
        self.shown.finished(run)

    def _folder(self, run):
        return self.out / "checkpoints" / run.name


def _checked(time_limit):
    if time_limit is not None and (not isinstance(time_limit, int | float) or not 0 <= time_limit < math.inf):
        raise InputError(f"time limit is {time_limit!r}; give seconds, at least 0")
    return time_limit


def _prepare(out):
    try:
        (out / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{printable(out)}: cannot be made ({error.strerror}); choose another folder") from error
    if not os.access(out, os.W_OK):
        raise InputError(f"{printable(out)}: cannot be written to; choose another folder")
    for folder in (out, out / "runs"):
        remove_partial(folder)


@contextlib.contextmanager
def _dask(address, executor):
    if executor is not None:
        raise InputError("executor and scheduler are both given; give one")
    with connected(address) as client:
        yield client.get_executor()


def _completed(waiting, guard):
    left = set(waiting)
    while left and guard.signalled is None:
        try:
            for future in as_completed(left, timeout=0.5):
                left.discard(future)
                yield future
        except TimeoutError:
            continue

"""Sweeps of any kind trained: here, or on any executor, and gathered."""

import contextlib
import math
import os
import time
from concurrent.futures import as_completed
from pathlib import Path

from ..datasets.wording import printable
from ..errors import InputError
from .checkpoints import Checkpoints
from .files import remove_partial
from .guard import Guard
from .hardware import chosen_device
from .loop import FINISHED, PAUSED
from .progress import Bar, Silence
from .records import read_dataset, write_dataset, write_table


class Work:
    """What a kind of sweep is to those who train it. Runs have a `name`, a hash of all that their result depends on.

    A run has also what the bar shows: `matmul_flop`, the whole, and `precision`; and of a number of updates
    `flop_done` and `tokens_done`, which only grow.
    """

    execution = None

    def check(self, device):
        """Refuse, before any work on a device, what would fail in a run.

        Raises
        ------
        InputError
        """

    def rounds(self, results):
        """Go through the runs in rounds, of which each waits for those before.

        Parameters
        ----------
        results : mapping of str to xarray.Dataset
            Records by name of run, which grows. What stands after a ``yield`` runs only if its round is complete.

        Yields
        ------
        (str, list)
            Name of the round, and its runs, each once.
        """
        raise NotImplementedError

    @staticmethod
    def train(run, folder, *, execution, device, guard=None, deadline=None, report=None):
        """Train one run, from its last checkpoint in a folder if there is one.

        Returns
        -------
        xarray.Dataset or None
            Its record, or None if the guard or the deadline stopped it.
        """
        raise NotImplementedError

    def gathered(self, planned, results):
        """Bring together what is finished.

        Parameters
        ----------
        planned : mapping of str to object
            Runs by name, in the order of the rounds so far.
        results : mapping of str to xarray.Dataset

        Returns
        -------
        tuple
            An xarray.Dataset, and tables (pandas.DataFrame) by name of file.
        """
        raise NotImplementedError


def execute(open_work, out, *, executor=None, scheduler=None, device=None, time_limit=None, progress=True):
    """Train a sweep, from where it was left, and write ``OUT/runs.nc`` and its tables.

    Parameters
    ----------
    open_work : callable
        Of the resolved folder, to `Work`.
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
        If a signal stopped it, after everything was saved.
    """
    deadline = _deadline(time_limit)
    out = Path(out).expanduser().resolve()
    _prepare(out)
    work = open_work(out)
    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            executor = stack.enter_context(_dask(scheduler, executor))
        if executor is None:
            work.check(chosen_device(device))
        shown = stack.enter_context(Bar() if progress else Silence())
        guard = stack.enter_context(Guard(deadline).listening())
        trainer = _Trainer(work, out, executor, device, guard, shown)
        try:
            status = trainer.train()
        except InputError:
            # What is finished is gathered, unless that fails for the same reason, a full disk say.
            with contextlib.suppress(InputError):
                trainer.gather()
            raise
        result = trainer.gather()
    if guard.signalled is not None:
        raise KeyboardInterrupt
    if result is not None:
        result.attrs["status"] = status
    return result


class _Trainer:
    def __init__(self, work, out, executor, device, guard, shown):
        self.work, self.out, self.executor, self.device = work, out, executor, device
        self.guard, self.shown = guard, shown
        self.results, self.planned = {}, {}

    def train(self):
        for name, runs in self.work.rounds(self.results):
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
        whole, tables = self.work.gathered(self.planned, self.results)
        write_dataset(whole, self.out / "runs.nc")
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
            options = {"execution": self.work.execution, "device": self.device, "guard": self.guard, "report": report}
            self._keep(run, self.work.train(run, self._folder(run), **options))

    def _elsewhere(self, runs):
        options = {"execution": self.work.execution, "device": self.device, "deadline": self.guard.deadline}
        waiting = {self.executor.submit(self.work.train, run, str(self._folder(run)), **options): run for run in runs}
        try:
            for future in _completed(waiting, self.guard):
                self._keep(waiting[future], future.result())
        finally:
            for future in waiting:
                future.cancel()

    def _keep(self, run, result):
        if result is None:
            return
        write_dataset(result, self.out / "runs" / f"{run.name}.nc")
        self.results[run.name] = result
        Checkpoints(self._folder(run)).remove()
        self.shown.finished(run)

    def _folder(self, run):
        return self.out / "checkpoints" / run.name


def _deadline(time_limit):
    if time_limit is None:
        return None
    if not isinstance(time_limit, int | float) or not 0 <= time_limit < math.inf:
        raise InputError(f"time limit is {time_limit!r}; give seconds, at least 0")
    return time.time() + time_limit


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
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise InputError("scheduler: Dask is not installed; pip install 'bayescaling[training]'") from error
    try:
        client = Client(address, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise InputError(f"scheduler: {printable(address)} does not answer; start one with dask scheduler") from error
    with client:
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

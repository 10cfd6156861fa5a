"""Sweeps trained: here, or on any executor, and gathered."""

import contextlib
import hashlib
import json
import math
import os
import time
import warnings
from concurrent.futures import as_completed
from pathlib import Path

from ..datasets.wording import printable
from ..errors import DiagnosticWarning, InputError
from .checkpoints import Checkpoints
from .files import remove_partial
from .guard import Guard
from .hardware import chosen_device
from .language_model import train_run
from .loop import FINISHED, PAUSED
from .loss import chosen_route
from .progress import Bar, Silence
from .records import merged, read_dataset, table, write_dataset, write_table
from .sweep import BEST, Sweep, read_sweep


def train(sweep, out, *, executor=None, scheduler=None, device=None, time_limit=None, progress=True):
    """Train a sweep of small language models, from where it was left.

    Every finished run is kept in ``OUT/runs`` and is not trained again; a run that was broken off goes on from its last
    checkpoint, with the result it would have had. Written at the end of every call that trained anything to its end:
    ``OUT/runs.nc`` (all runs), ``OUT/runs.csv`` (all rows that are runs L(N, D)) and ``OUT/STAGE.csv``, which
    `bayescaling.read` takes as they are. A stage that anneals at one budget alone has its whole curves in its table,
    since the paper's scheme 3 reads its frontier off them; ``runs.csv`` has annealed runs at their ends alone.

    Parameters
    ----------
    sweep : path or Sweep
        A TOML file, as the presets' tables; or a sweep made of them.
    out : path
        Folder for everything that is written. An executor's workers keep checkpoints there too, so that they resume
        where the folder is shared between machines; results come back to this process.
    executor : concurrent.futures.Executor, optional
        Where to train the runs; by default they are trained here, one after another. Its workers must be able to import
        this package.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``"tcp://host:8786"``, whose workers train the runs.
    device : str, optional
        Such as ``"cpu"`` or ``"cuda:1"``; by default CUDA where a worker has a GPU.
    time_limit : float, optional
        Seconds after which to stop, with everything saved.
    progress : bool
        Show a bar on standard error.

    Returns
    -------
    xarray.Dataset or None
        All finished runs, as `training.records.merged` gives them, with the attribute ``status``: ``"finished"``, or
        ``"paused"`` if the time limit stopped it. None if no run is finished yet.

    Raises
    ------
    InputError
        If the sweep, a corpus, a device, a checkpoint or the folder cannot be used.
    KeyboardInterrupt
        If a signal stopped it, after everything was saved.
    """
    deadline = _deadline(time_limit)
    out = Path(out).expanduser().resolve()
    _prepare(out)
    sweep = sweep if isinstance(sweep, Sweep) else read_sweep(sweep, out / "corpus")
    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            executor = stack.enter_context(_dask(scheduler, executor))
        if executor is None:
            # Refuse before any work what would fail in the first run.
            chosen_route(sweep.execution.loss_route, chosen_device(device))
        shown = stack.enter_context(Bar() if progress else Silence())
        guard = stack.enter_context(Guard(deadline).listening())
        trainer = _Trainer(sweep, out, executor, device, guard, shown)
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
    def __init__(self, sweep, out, executor, device, guard, shown):
        self.sweep, self.out, self.executor, self.device = sweep, out, executor, device
        self.guard, self.shown = guard, shown
        self.results, self.members, self.planned = {}, {}, {}

    def train(self):
        best = {}
        for stage in self.sweep.stages:
            runs = list({run.name: run for run in self.sweep.runs(stage, best)}.values())
            self.planned |= {run.name: run for run in runs}
            done = [run for run in runs if self._known(run)]
            self.shown.stage(stage.name, runs, done)
            left = [run for run in runs if run.name not in self.results]
            (self._here if self.executor is None else self._elsewhere)(left)
            complete = all(run.name in self.results for run in runs)
            if complete and stage.schedule == "constant" and stage.learning_rates != BEST:
                best = self._best_rates()
            self._count(stage, runs, best, complete)
            if not complete:
                return PAUSED
        return FINISHED

    def gather(self):
        if not self.results:
            return None
        results = [self.results[name] for name in self.planned if name in self.results]
        schemes = {name: " ".join(self.members.get(name, ())) for name in self.planned}
        attributes = {"sweep": json.dumps([stage.name for stage in self.sweep.stages]), "sha256": self._fingerprint()}
        whole = merged(results, schemes, attributes)
        write_dataset(whole, self.out / "runs.nc")
        tables = {"runs": table(whole)}
        for stage in self.sweep.stages:
            curves = stage.schedule != "constant" and len(stage.budgets) == 1
            tables[stage.name] = table(whole, stage.name, curves=curves)
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
            options = {"execution": self.sweep.execution, "device": self.device, "guard": self.guard, "report": report}
            self._keep(run, train_run(run, self._folder(run), **options))

    def _elsewhere(self, runs):
        options = {"execution": self.sweep.execution, "device": self.device, "deadline": self.guard.deadline}
        waiting = {self.executor.submit(train_run, run, str(self._folder(run)), **options): run for run in runs}
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

    def _best_rates(self):
        constant = [run for run in self.planned.values() if run.optimisation.schedule == "constant"]
        longest = {}
        for run in constant:
            longest[run.model] = max(run.optimisation.updates, longest.get(run.model, 0))
        ends = {}
        for run in constant:
            if run.name in self.results and run.optimisation.updates == longest[run.model]:
                loss = self.results[run.name]["loss_eval"].values[0, -1]
                rates = ends.setdefault(run.model, {})
                rates.setdefault(run.optimisation.learning_rate, []).append(loss)
        best = {}
        for model, rates in ends.items():
            means = {rate: sum(losses) / len(losses) for rate, losses in rates.items()}
            finite = {rate: mean for rate, mean in means.items() if math.isfinite(mean)}
            if finite:
                best[model] = min(finite, key=finite.get)
            else:
                warnings.warn(
                    f"d_model {model.d_model}, {model.layers} layers: every learning rate diverged, so stages that "
                    "take the best leave this size out; try lower ones",
                    DiagnosticWarning,
                    stacklevel=5,
                )
        return best

    def _count(self, stage, runs, best, complete):
        for run in runs:
            chosen = best.get(run.model) == run.optimisation.learning_rate
            if stage.keep != BEST or (complete and chosen):
                self.members.setdefault(run.name, []).append(stage.name)

    def _fingerprint(self):
        return hashlib.sha256(json.dumps(sorted(self.planned)).encode()).hexdigest()


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

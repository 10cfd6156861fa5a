"""Sweeps of any kind, trained in this process or on an executor, and gathered."""

import contextlib
import json
import multiprocessing
import os
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, ProcessPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path

import torch

from ...clusters import connected, cores
from ...datasets import netcdf
from ...datasets.files import written_whole
from ...datasets.wording import printable
from ...errors import InputError
from ..engine.checkpoints import Checkpoints
from ..engine.fields import Count, NotNegative, check_value
from ..engine.guard import Guard
from ..engine.hardware import choose_device, choose_precision, describe_where, deterministic
from ..engine.loop import FINISHED, PAUSED
from .base import BaseSweep, Execution
from .progress import Follower, Log
from .records import read_dataset, record


def train(
    read,
    sweep,
    out,
    *,
    executor=None,
    scheduler=None,
    processes=None,
    device=None,
    time_limit=None,
    progress=True,
    track=None,
):
    """Train a sweep of any kind, which `read` reads where it is a path, or resume it; see `training.train`."""
    check_value("time limit", time_limit, NotNegative | None, "600 seconds")
    guard = Guard(time_limit)
    out = Path(os.path.realpath(os.path.expanduser(out)))
    for folder in (out, out / "runs"):
        make_folder(folder)
    with contextlib.ExitStack() as stack:
        if sum(choice is not None for choice in (executor, scheduler, processes)) > 1:
            raise InputError("give one of executor, scheduler and processes")
        if scheduler is not None:
            executor = stack.enter_context(connected(scheduler)).get_executor()
        if processes is not None:
            check_value("processes", processes, Count)
            executor = stack.enter_context(_processes(processes, guard))
        # All workers are taken to be like the one that answers.
        where = describe_where(device) if executor is None else executor.submit(describe_where, device).result()
        sweep = (sweep if isinstance(sweep, BaseSweep) else read(sweep, out / "corpus")).settled(where)
        if executor is None:
            sweep.check(choose_device(device))
        watched = stack.enter_context(Follower(progress))
        stack.enter_context(guard.listening())
        trainer = _Trainer(sweep, out, executor, device, guard, watched, Log(out / "log.jsonl", track))
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


def train_run(run, folder, *, execution=None, device=None, guard=None, report=None):
    """Train one run of a sweep, from its last checkpoint if there is one; return its record, or None if it was stopped.

    Its checkpoints are in a folder of the machine that trains, until its record is complete. The device is by default
    CUDA where there is a GPU. A `Guard` may stop the run, by default signals alone; `report` is as `engine.loop.run`
    takes it. `InputError` is raised if the device, a choice or a checkpoint cannot be used, or the device has too
    little memory.
    """
    execution, device, folder = execution or Execution(), choose_device(device), Path(folder)
    precision, guard = choose_precision(run.precision, device), guard or Guard()
    run.check_fits(execution, device, precision)
    saving = {"checkpoints": Checkpoints(folder), "guard": guard, "report": report}
    with guard.listening(), deterministic(execution.deterministic):
        model, outcome = run.trained(execution, device, precision, **saving)
        if outcome.status == PAUSED:
            return None
        counts = run.counts(model, outcome, folder, device, precision, guard)
    if counts is None:
        return None
    result = record(run, outcome, counts, device, precision)
    result = result.assign_coords(compiled=("run", [execution.compiles(device)]))
    return result.assign_attrs(execution=json.dumps(asdict(execution), sort_keys=True))


class _Trainer:
    def __init__(self, sweep, out, executor, device, guard, shown, log):
        self.sweep, self.out, self.executor, self.device = sweep, out, executor, device
        self.guard, self.shown, self.log = guard, shown, log
        self.options = {"execution": sweep.execution, "device": device, "guard": guard}
        self.results, self.rounds = {}, {}

    def train(self):
        for name, runs in self.sweep.rounds(self.results):
            self.rounds[name] = runs
            done = [run for run in runs if self._finished(run)]
            if done:  # a run that ended as its process was killed may not be in the tables
                self.gather()
            left = [run for run in runs if run.name not in self.results]
            if left and self.executor is None:
                self.shown.measure(self.sweep, choose_device(self.device))
            self.shown.stage(name, runs, done)
            (self._here if self.executor is None else self._elsewhere)(left)
            if not all(run.name in self.results for run in runs):
                return PAUSED
        return FINISHED

    def gather(self):
        if not self.results:
            return None
        whole, tables = self.sweep.gathered(self.rounds, self.results)
        netcdf.write(whole, self.out / "runs.nc", parents=True)
        for name, rows in tables.items():
            if len(rows):
                with written_whole(self.out / f"{name}.csv") as partial:
                    rows.to_csv(partial, index=False)
        return whole

    def _finished(self, run):
        path = self.out / "runs" / f"{run.name}.nc"
        if run.name not in self.results and path.exists():
            self.results[run.name] = read_dataset(path)
        return run.name in self.results

    def _here(self, runs):
        for run in runs:
            if self.guard.expired:
                return
            report = self.log.reporter(run, self.shown.reporter(run))
            self._save(run, train_run(run, self._folder(run), report=report, **self.options))

    def _elsewhere(self, runs):
        submit = self.executor.submit
        waiting = {submit(train_run, run, str(self._folder(run)), **self.options): run for run in runs}
        try:
            while waiting and self.guard.signalled is None:
                for future in wait(waiting, 0.5, FIRST_COMPLETED).done:
                    self._save(waiting.pop(future), future.result())
        except BrokenExecutor as error:
            raise InputError("processes: one was killed, perhaps for want of memory; give fewer") from error
        finally:
            for future in waiting:
                future.cancel()

    def _save(self, run, result):
        if result is None:
            return
        checkpoints = Checkpoints(self._folder(run))
        if self.sweep.execution.keep == "weights":
            checkpoints.export(self.out / "weights" / f"{run.name}.safetensors", run.configuration)
        self.results[run.name] = result
        # A run is finished once its record is there, so a process killed at any moment leaves its rows and log too.
        self.gather()
        self.log.write({"run": run.name, "status": str(result["status"].values[0])})
        netcdf.write(result, self.out / "runs" / f"{run.name}.nc", parents=True)
        checkpoints.remove()
        self.shown.finished(run)

    def _folder(self, run):
        return self.out / "checkpoints" / run.name


def make_folder(path):
    """Make a folder to write into, if it is not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be made ({error.strerror}); choose another folder") from error
    if not os.access(path, os.W_OK):
        raise InputError(f"{printable(path)}: cannot be written to; choose another folder")


@contextlib.contextmanager
def _processes(count, guard):
    """Start processes of this machine, which share its cores and the memory of its GPU, for the length of a block.

    If the block ends early, by an error or as a signal came, they save the runs that they train, and stop.
    """
    others, context = set(multiprocessing.active_children()), multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, context, _share, (max(1, cores() // count), count)) as executor:
        finished = False
        try:
            yield executor
            finished = guard.signalled is None
        finally:
            for process in () if finished else set(multiprocessing.active_children()) - others:
                process.terminate()


def _share(threads, processes):
    torch.set_num_threads(threads)
    if torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(1 / processes)

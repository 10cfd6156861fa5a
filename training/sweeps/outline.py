"""What a sweep will take, before it is trained: runs, parameters, arithmetic, memory and time.

The time is measured in updates of the smallest and of the largest model. For a GPU that is not here, it is estimated
from the share of its peak that training reached on another day.
"""

import math
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from ...errors import InputError
from ..engine import hardware
from ..engine.updates import Stepper, make_optimiser
from .base import BaseSweep, distinct

# Seconds that an update may take at the peak of a device, of which training reaches a part; seconds of later updates.
AT_PEAK, ENOUGH = 1.0, 1.0
# Dense products in bfloat16, FLOP/s, of GPUs of one chip, and what was measured on an H200: `Run.peak_shares`.
PEAKS = dict.fromkeys(("H100", "H200"), 9.89e14)
SHARES_OF = "at the shares of its peak that an H200 reached on 2026-11-27, {:.2g}% to {:.2g}%"


def update(run, execution, device):
    """Time the last updates of a run: seconds of the first that is made and of later ones, and the FLOP of one.

    On a CPU they are those of its threads, so that other work on the machine does not count. On a GPU updates follow
    each other without waiting for the device, as in training.
    """
    model, task = run.prepared(execution, device, run.precision)
    stepper = Stepper(model, task.loss, make_optimiser(run.optimisation, model), run.optimisation.clip, run.precision)
    threads = torch.get_num_threads()
    now = time.perf_counter if device.type == "cuda" else lambda: time.process_time() / threads
    last, steps, clock = run.optimisation.updates - 1, 0, [now()]
    while steps < 2 or (now() - clock[1] < ENOUGH and steps <= last):
        stepper(1e-4, *task.batch(max(0, last - steps)))
        if not steps:
            hardware.synchronise(device)
            clock.append(now())
        steps += 1
    hardware.synchronise(device)
    clock.append(now())
    # Updates with fewer recurrences or problems count for less.
    flop = [run.flop_done(k + 1) - run.flop_done(k) for k in (max(0, last - step) for step in range(steps))]
    seconds = (clock[-1] - clock[1]) * flop[0] / sum(flop[1:])
    return {"first": clock[1] - clock[0], "seconds": seconds, "flop": flop[0]}


class Times:
    """Seconds that runs of a sweep take on a device, interpolated by FLOP between its smallest and largest updates.

    `measured` has a dict of the smallest and of the largest model: parameters, FLOP and seconds of an update, and how
    many more seconds the first one takes. `InputError` is raised if updates do not fit into its memory or take too
    long, or another program trains the runs.
    """

    def __init__(self, sweep, device):
        runs = sorted((run for runs in sweep.groups().values() for run in runs), key=_flop)
        self.measured = [_measure(run, sweep.execution, device) for run in dict.fromkeys((runs[0], runs[-1]))]
        self._flop, self._seconds = zip(*((entry["flop"], entry["seconds"]) for entry in self.measured), strict=True)
        self.first = float(np.mean([entry["first"] for entry in self.measured]))

    def estimate(self, run):
        """Return the seconds of a whole run with its evaluations, which take as long as updates of as many FLOP."""
        flop = _flop(run)
        return float(np.interp(flop, self._flop, self._seconds)) * (run.matmul_flop + run.test_flop) / flop


class AtShares:
    """Seconds that runs take on a GPU that is not here, at the shares of its peak that models of their size reached."""

    measured, first = (), 0.0

    def __init__(self, gpu):
        self.peak = PEAKS[gpu]

    def estimate(self, run):
        """Return the seconds of a whole run with its evaluations."""
        parameters, shares = zip(*run.peak_shares, strict=True)
        share = np.interp(np.log(run.model.parameters), np.log(parameters), shares)
        return (run.matmul_flop + run.test_flop) / float(share * self.peak)


def _flop(run):
    return run.matmul_flop / run.optimisation.updates


def _measure(run, execution, device):
    run.check_fits(execution, device, run.precision)
    of_update, parameters = _flop(run), run.model.parameters
    least = of_update / hardware.ceiling(device, run.precision).flop_per_second
    if least > AT_PEAK:
        raise InputError(f"an update of {parameters:,} parameters takes at least {least:.2g} s here")
    timed = update(run, execution, device)
    return {
        "parameters": parameters,
        "flop": of_update,
        "seconds": timed["seconds"] * of_update / timed["flop"],
        "first": max(0.0, timed["first"] - timed["seconds"]),
    }


def outline(read, sweep, device=None):
    """Compute what a sweep of any kind, which `read` reads where it is a path, will take; see `training.outline`."""
    here = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    if absent := device in hardware.GPUS and device not in here:
        where, machine, device = hardware.Where("cuda", "bfloat16"), device, torch.device("cuda")
    else:
        device = hardware.choose_device(None if device in hardware.GPUS else device)
        where = hardware.describe_where(str(device))
        machine = hardware.name_device(device)
    with tempfile.TemporaryDirectory() as folder:
        sweep = (sweep if isinstance(sweep, BaseSweep) else read(sweep, Path(folder))).settled(where)
        rounds, seen = {}, set()
        for name, runs in sweep.groups().items():
            rounds[name] = distinct(run for run in runs if run.name not in seen)
            seen |= {run.name for run in runs}
        times, unmeasured = None, f"{machine} is not here" if absent else None
        try:
            times = None if absent else Times(sweep, device)
        except InputError as error:
            unmeasured = str(error)
        if absent and machine in PEAKS:
            shares = [share for runs in rounds.values() for run in runs for _, share in run.peak_shares]
            times = AtShares(machine)
            unmeasured += f"; {SHARES_OF.format(100 * min(shares), 100 * max(shares))}"
    entries, models = [], set()
    for name, runs in rounds.items():
        new = {run.model for run in runs} - models
        models |= new
        parameters = [run.model.parameters for run in runs]
        memory = [run.bytes_needed(sweep.execution, device, run.precision) for run in runs]
        entry = {
            "name": name,
            "runs": len(runs),
            "parameters": [min(parameters, default=0), max(parameters, default=0)],
            "flop": float(sum(run.matmul_flop for run in runs)),
            "bytes": max(memory, default=0.0),
            "seconds": None if times is None else sum(map(times.estimate, runs)) + times.first * len(new),
        }
        entries.append(entry)
    return {
        "device": machine,
        "free": None if math.isinf(free := hardware.measure_free_memory(device)) else free,
        "measured": [] if times is None else list(times.measured),
        "unmeasured": unmeasured,
        "rounds": entries,
    }

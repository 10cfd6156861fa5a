"""What a sweep will take, before it is trained: runs, parameters, arithmetic, memory and time."""

import math
import tempfile
from pathlib import Path

import torch

from ...errors import InputError
from ..engine.hardware import GPUS, Where, choose_device, describe_where, measure_free_memory, name_device
from .base import BaseSweep, distinct
from .times import PEAKS, SHARES_OF, AtShares, Times


def outline(read, sweep, device=None):
    """Compute what a sweep of any kind will take; parameters and result are those of `training.outline`.

    `read` takes the path of a sweep's file and a folder for what is derived from it, and returns a `BaseSweep`.
    """
    here = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    if absent := device in GPUS and device not in here:
        where, machine, device = Where("cuda", "bfloat16"), device, torch.device("cuda")
    else:
        device = choose_device(None if device in GPUS else device)
        where = describe_where(str(device))
        machine = name_device(device)
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
        "free": None if math.isinf(free := measure_free_memory(device)) else free,
        "measured": [] if times is None else list(times.measured),
        "unmeasured": unmeasured,
        "rounds": entries,
    }

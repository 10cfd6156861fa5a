"""What a sweep will take, before it is trained: runs, parameters, arithmetic, memory and hours."""

import math
import tempfile
from pathlib import Path

import torch

from ..engine.hardware import (
    DATASHEETS,
    Ceiling,
    Where,
    ceiling,
    chosen_device,
    device_name,
    free_memory,
    where_trained,
)
from .base import Sweep
from .work import SHARE


def outline(read, sweep, device=None):
    """Compute what a sweep of any kind will take; parameters and result are those of `training.outline`.

    `read` takes the path of a sweep's file and a folder for what is derived from it, and returns a `Sweep`.
    """
    machine, peak = device, None
    if machine in DATASHEETS:
        where, device = Where("cuda", "bfloat16"), torch.device("cuda")
        peak = Ceiling(*DATASHEETS[machine], "its datasheet")
    else:
        where, device = where_trained(machine), chosen_device(machine)
        machine = device_name(device)
    with tempfile.TemporaryDirectory() as folder:
        sweep = (sweep if isinstance(sweep, Sweep) else read(sweep, Path(folder))).settled(where)
        rounds, seen = [], set()
        for name, runs in sweep.groups().items():
            new = {run.name: run for run in runs if run.name not in seen}
            seen |= set(new)
            rounds.append({"name": name} | _needed(new.values(), sweep.execution, device, peak))
    peak = peak or ceiling(device, where.precision)
    return {
        "device": machine,
        "peak": peak.flop_per_second,
        "peak_source": peak.source,
        "free": None if math.isinf(free := free_memory(device)) else free,
        "share": SHARE,
        "rounds": rounds,
    }


def _needed(runs, execution, device, peak):
    parameters = [run.model.parameters for run in runs]
    memory = [run.bytes_needed(execution, device, run.precision) for run in runs]
    peaks = {run.precision: peak or ceiling(device, run.precision) for run in runs}
    on_gpu = device.type == "cuda"
    seconds = sum(run.work(run.precision).seconds(peaks[run.precision], on_gpu=on_gpu) for run in runs)
    return {
        "runs": len(runs),
        "parameters": [min(parameters, default=0), max(parameters, default=0)],
        "flop": float(sum(run.matmul_flop for run in runs)),
        "bytes": max(memory, default=0.0),
        "hours": seconds / 3600,
    }

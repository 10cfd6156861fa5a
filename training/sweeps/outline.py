"""What a sweep will take, before it is trained: runs, parameters, arithmetic, memory and hours."""

import tempfile
from pathlib import Path

from ..engine.hardware import ceiling, chosen_device, device_name, free_memory, where_trained
from .base import Sweep

# Share of a device's peak that training is assumed to reach, for hours. On a CPU, models of width 64 reach .4. From
# width 384 on they reach .85.
SHARE = 0.4


def outline(read, sweep, device=None):
    """Compute what a sweep of any kind will take; parameters and result are those of `training.outline`.

    `read` takes the path of a sweep's file and a folder for what is derived from it, and returns a `Sweep`.
    """
    where, device = where_trained(device), chosen_device(device)
    with tempfile.TemporaryDirectory() as folder:
        sweep = (sweep if isinstance(sweep, Sweep) else read(sweep, Path(folder))).settled(where)
        rounds, seen = [], set()
        for name, runs in sweep.groups().items():
            new = {run.name: run for run in runs if run.name not in seen}
            seen |= set(new)
            rounds.append({"name": name} | _needed(new.values(), sweep.execution, device))
    peak = ceiling(device, where.precision)
    return {
        "device": device_name(device),
        "peak": peak.flop_per_second,
        "peak_source": peak.source,
        "free": free_memory(device),
        "share": SHARE,
        "rounds": rounds,
    }


def _needed(runs, execution, device):
    parameters = [run.model.parameters for run in runs]
    memory = [run.bytes_needed(execution, device, run.precision) for run in runs]
    seconds = sum(run.matmul_flop / ceiling(device, run.precision).flop_per_second for run in runs) / SHARE
    return {
        "runs": len(runs),
        "parameters": [min(parameters, default=0), max(parameters, default=0)],
        "flop": float(sum(run.matmul_flop for run in runs)),
        "bytes": max(memory, default=0.0),
        "hours": seconds / 3600,
    }

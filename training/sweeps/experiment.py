"""One run of a sweep trained, from its last checkpoint, to its record."""

import json
from dataclasses import asdict
from pathlib import Path

from ..engine.checkpoints import Checkpoints
from ..engine.compilation import eager_calls
from ..engine.guard import Guard
from ..engine.hardware import chosen_device, chosen_precision, deterministic
from ..engine.loop import PAUSED
from ..engine.loop import run as train
from .options import Execution


def train_run(kind, run, folder, *, execution=None, device=None, guard=None, report=None):
    """Train one run, from its last checkpoint if there is one.

    Parameters
    ----------
    kind : type
        A subclass of `SweepKind`.
    run : Run
    folder : path
        Where its checkpoints are, on the machine that trains.
    execution : Execution, optional
    device : str, optional
        By default CUDA where there is a GPU.
    guard : Guard, optional
        What may stop the run; by default signals alone.
    report : callable, optional
        As `engine.loop.run` takes it.

    Returns
    -------
    xarray.Dataset or None
        The record of the run, or None if it was stopped before its end.

    Raises
    ------
    InputError
        If the device, a choice or a checkpoint cannot be used, or the device has too little memory.
    """
    execution, device, folder = execution or Execution(), chosen_device(device), Path(folder)
    precision, guard = chosen_precision(run.precision, device), guard or Guard()
    kind.check_run(run, execution, device, precision)
    eager = eager_calls()
    model, task = kind.prepared(run, execution, device, precision)
    with guard.listening(), deterministic(execution.deterministic):
        outcome = train(
            model,
            task,
            run.optimisation,
            evaluate_at=run.evaluate_at,
            precision=precision,
            checkpoints=Checkpoints(folder),
            save_seconds=execution.save_seconds,
            guard=guard,
            report=report,
            graph=kind.graphs and execution.graph and device.type == "cuda",
        )
        if outcome.status == PAUSED:
            return None
        found = kind.recorded(run, outcome, model, folder, device, precision, guard)
    if found is None:
        return None
    own = {"compiled": execution.compiles(device), "eager_calls": eager_calls() - eager}
    found = found.assign_coords({name: ("run", [value]) for name, value in own.items()})
    return found.assign_attrs(execution=json.dumps(asdict(execution), sort_keys=True))

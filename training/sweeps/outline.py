"""What a sweep will take, before it is trained: runs, parameters, arithmetic, memory and hours."""

from ..engine.hardware import ceiling, chosen_device, device_name, free_memory, where_trained

# Share of a device's peak that training is taken to reach, for hours. Assumed: on a CPU, where it was measured, models
# of width 64 reach .4 and of width 384 and more .85.
SHARE = 0.4


def outline(kind, sweep, folder, device=None):
    """Say what a sweep will take.

    Parameters
    ----------
    kind : type
        A subclass of `SweepKind`.
    sweep : path or sweep
        As `SweepKind.opened` takes it.
    folder : path
        For what is derived from the sweep's file, such as tokens.
    device : str, optional
        As `chosen_device` takes it.

    Returns
    -------
    dict
        ``device``, its ``peak`` (FLOP/s) and where that is from, its ``free`` memory (bytes), the ``share`` of the peak
        that is assumed, and ``rounds``: for each arm or stage its name, ``runs``, smallest and largest ``parameters``,
        ``flop`` of matrix products, ``bytes`` of memory that its largest run takes and ``hours`` at the share of the
        peak.

    Raises
    ------
    InputError
        If the sweep or the device cannot be used.
    """
    where, device = where_trained(device), chosen_device(device)
    opened = kind.opened(sweep, folder, where)
    rounds, seen = [], set()
    for name, runs in opened.groups().items():
        new = {run.name: run for run in runs if run.name not in seen}.values()
        seen |= {run.name for run in new}
        parameters = [run.model.parameters for run in new]
        taken = [opened.bytes_of(run, opened.sweep.execution, device, run.precision) for run in new]
        seconds = sum(run.matmul_flop / ceiling(device, run.precision).flop_per_second for run in new) / SHARE
        rounds.append(
            {
                "name": name,
                "runs": len(new),
                "parameters": [min(parameters, default=0), max(parameters, default=0)],
                "flop": float(sum(run.matmul_flop for run in new)),
                "bytes": max(taken, default=0.0),
                "hours": seconds / 3600,
            }
        )
    peak = ceiling(device, where.precision)
    return {
        "device": device_name(device),
        "peak": peak.flop_per_second,
        "peak_source": peak.source,
        "free": free_memory(device),
        "share": SHARE,
        "rounds": rounds,
    }

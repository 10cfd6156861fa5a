"""What a sweep will take, before it is trained: runs, parameters, arithmetic, memory and hours."""

from ..engine.hardware import ceiling, chosen_device, chosen_precision, device_name, free_memory

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
    where = chosen_device(device)
    opened = kind(sweep if isinstance(sweep, kind.sweep_type) else kind.read(sweep, folder))
    rounds, seen = [], set()
    for name, runs in opened.groups().items():
        new = {run.name: run for run in runs if run.name not in seen}.values()
        seen |= {run.name for run in new}
        precision = {run.name: chosen_precision(run.precision, where) for run in new}
        peak = {each: ceiling(where, each).flop_per_second for each in set(precision.values())}
        parameters = [run.model.parameters for run in new]
        rounds.append(
            {
                "name": name,
                "runs": len(new),
                "parameters": [min(parameters, default=0), max(parameters, default=0)],
                "flop": float(sum(run.matmul_flop for run in new)),
                "bytes": max((opened.bytes_of(run, where, precision[run.name]) for run in new), default=0.0),
                "hours": sum(run.matmul_flop / peak[precision[run.name]] for run in new) / SHARE / 3600,
            }
        )
    told = ceiling(where, chosen_precision("auto", where))
    return {
        "device": device_name(where),
        "peak": told.flop_per_second,
        "peak_source": told.source,
        "free": free_memory(where),
        "share": SHARE,
        "rounds": rounds,
    }

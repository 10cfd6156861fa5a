"""Sweeps of small language models, trained and gathered as tables of runs L(N, D)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..sweeps import outline as outlines
from ..sweeps import trainer
from .sweep_file import read_sweep

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    import xarray as xr

    from .stages import Sweep


def train(
    sweep: Sweep | str | PathLike[str],
    out: str | PathLike[str],
    *,
    executor: Any = None,
    scheduler: str | None = None,
    processes: int | None = None,
    device: str | None = None,
    time_limit: float | None = None,
    progress: bool = True,
    track: Callable[[dict[str, Any]], object] | None = None,
) -> xr.Dataset | None:
    """Train a sweep of small language models, or resume it.

    Every finished run is saved in ``OUT/runs`` and is not trained again. An interrupted run resumes from its last
    checkpoint, with the result of an unbroken one. After every run it writes ``OUT/log.jsonl``, ``OUT/runs.nc`` (all
    runs), ``OUT/runs.csv`` (all rows that are runs L(N, D)) and ``OUT/STAGE.csv``, which `bayescaling.read` takes
    unchanged. The table of a stage that anneals at a single budget has whole curves, from which scheme 3 of Pearce and
    Song (2024, arXiv:2406.12907, section 3) reads its frontier. ``runs.csv`` has only the ends of annealed runs.

    Parameters
    ----------
    sweep : path or Sweep
        A TOML file with tables like the presets', or a sweep made of such tables.
    out : path
        Folder for everything that is written. An executor's workers write checkpoints there too: if machines share the
        folder, another worker can resume a run. Results come back to this process.
    executor : concurrent.futures.Executor, optional
        Trains the runs; by default they are trained here, one after another. Its workers must be able to import this
        package.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``"tcp://host:8786"``, whose workers train the runs.
    processes : int, optional
        Processes of this machine that train runs at the same time. They share its cores and the memory of its GPU. A
        script has its work under ``if __name__ == "__main__":``, for each process imports it.
    device : str, optional
        Such as ``"cpu"`` or ``"cuda:1"``; by default CUDA where a worker has a GPU.
    time_limit : float, optional
        Seconds of training after which to save and stop. They count from the first update of the call, on an executor
        from that of each worker process. So every call makes and saves at least one update.
    progress : bool
        Whether to show progress on standard error: a bar in a terminal, and a line a minute elsewhere.
    track : callable, optional
        Takes each line of ``OUT/log.jsonl`` as a dict, for a tracker, such as ``wandb.log``. A loss may be NaN.

    Returns
    -------
    xarray.Dataset or None
        All finished runs, as `sweeps.records.merged` returns them, with the attribute ``status``: ``"finished"``, or
        ``"paused"`` if the time limit stopped it. None if no run is finished yet.

    Raises
    ------
    InputError
        If the sweep, a corpus, a device, a checkpoint or the folder cannot be used.
    KeyboardInterrupt
        If a signal stopped it, after everything was saved.

    Examples
    --------
    >>> import tempfile
    >>> from bayescaling.training import make_sweep, table, train
    >>> tables = {
    ...     "corpus": {"kind": "synthetic", "vocabulary": 16},
    ...     "model": {"sizes": [[4, 1], [8, 1]], "heads": 2, "context": 8},
    ...     "training": {"updates": 2, "batch_tokens": 64, "evaluations": 1, "evaluation_tokens": 64},
    ...     "stages": [{"name": "only", "learning_rates": [0.01]}],
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = train(make_sweep(tables), folder, device="cpu", progress=False)
    >>> runs.attrs["status"], dict(runs.sizes)
    ('finished', {'run': 2, 'step': 1})
    >>> table(runs)[["parameters", "tokens", "training_flop"]].values.tolist()
    [[288.0, 128.0, 221184.0], [960.0, 128.0, 737280.0]]
    """
    return trainer.train(
        read_sweep,
        sweep,
        out,
        executor=executor,
        scheduler=scheduler,
        processes=processes,
        device=device,
        time_limit=time_limit,
        progress=progress,
        track=track,
    )


def outline(sweep, *, device=None):
    """Compute what a sweep, a path or a `Sweep`, will take: runs, parameters, FLOP, memory and seconds.

    The device is one of `train`, or a GPU that need not be here, such as ``"H100"``. `InputError` is raised if the
    sweep or the device cannot be used.

    The dict has ``device``, its ``free`` memory (bytes, None if unknown), ``measured``, ``unmeasured`` and ``rounds``.
    Updates of the smallest and the largest model are measured on the device, for about a second each. ``measured``
    has their parameters, FLOP and seconds; ``unmeasured`` is None or the reason why there are none. For each arm or
    stage, ``rounds`` has its name, ``runs``, smallest and largest ``parameters``, and ``flop`` of matrix products. It
    also has the ``bytes`` of memory of the largest run, and ``seconds`` of all runs with their tests. They are
    interpolated by FLOP between the measured updates. For an H100 or H200 that is not here, they are estimated from the
    shares of its peak that models of their size reached. For other GPUs they are None.

    Examples
    --------
    >>> from bayescaling.training import make_sweep, outline
    >>> result = outline(make_sweep({"preset": "schemes"}), device="H100")
    >>> [entry["runs"] for entry in result["rounds"]], result["rounds"][0]["parameters"]
    ([5, 15, 5, 25], [807440, 4636240])
    >>> result["unmeasured"]
    'H100 is not here; at the shares of its peak that an H200 reached on 2026-11-27, 4.1% to 16%'
    >>> round(result["rounds"][0]["seconds"])
    265
    """
    return outlines.outline(read_sweep, sweep, device)

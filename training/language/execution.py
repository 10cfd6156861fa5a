"""Sweeps of small language models, trained and gathered as tables of runs L(N, D)."""

from __future__ import annotations

import math
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import DiagnosticWarning, InputError
from ..sweeps import execution, experiment, records
from ..sweeps.kind import SweepKind
from ..sweeps.outline import outline as outlined
from .experiment import prepared
from .loss import PACKAGES, chosen_route
from .memory import training_bytes
from .records import record, table
from .sweep import BEST, Sweep, read_sweep

if TYPE_CHECKING:
    from os import PathLike


def train(
    sweep: Sweep | str | PathLike[str],
    out: str | PathLike[str],
    *,
    executor: Any = None,
    scheduler: str | None = None,
    device: str | None = None,
    time_limit: float | None = None,
    progress: bool = True,
) -> list[dict[str, Any]]:
    """Train a sweep of small language models, or resume it.

    Every finished run is kept in ``OUT/runs`` and is not trained again; an interrupted run resumes from its last
    checkpoint, with the result that it would have had. A call that ends with finished runs writes ``OUT/runs.nc`` (all
    runs), ``OUT/runs.csv`` (all rows that are runs L(N, D)) and ``OUT/STAGE.csv``, which `bayescaling.read` takes as
    they are. The table of a stage that anneals at a single budget has whole curves, since scheme 3 of Pearce and Song
    (2024, arXiv:2406.12907) reads its frontier off them; ``runs.csv`` has only the ends of annealed runs.

    Parameters
    ----------
    sweep : path or Sweep
        A TOML file with tables like the presets', or a sweep made of such tables.
    out : path
        Folder for everything that is written. An executor's workers keep checkpoints there too: if machines share the
        folder, another worker can resume a run. Results come back to this process.
    executor : concurrent.futures.Executor, optional
        Trains the runs; by default they are trained here, one after another. Its workers must be able to import this
        package.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``"tcp://host:8786"``, whose workers train the runs.
    device : str, optional
        Such as ``"cpu"`` or ``"cuda:1"``; by default CUDA where a worker has a GPU.
    time_limit : float, optional
        Seconds of training after which to save and stop. They count from the first update of the call (on an executor,
        of each worker process), so that every call makes progress: at least one update is made and saved.
    progress : bool
        Show on standard error how far it is: a bar in a terminal, and a line a minute elsewhere.

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
    return execution.train(
        LanguageSweep,
        sweep,
        out,
        executor=executor,
        scheduler=scheduler,
        device=device,
        time_limit=time_limit,
        progress=progress,
    )


def outline(sweep, *, device=None):
    """Say what a sweep will take: runs, parameters, FLOP, memory and hours.

    Parameters
    ----------
    sweep : path or Sweep
    device : str, optional
        Such as ``"cpu"`` or ``"cuda"``; by default CUDA where there is a GPU.

    Returns
    -------
    dict
        As `sweeps.outline.outline` gives it.

    Raises
    ------
    InputError
        If the sweep or the device cannot be used.

    Examples
    --------
    >>> from bayescaling.training import make_sweep, outline
    >>> found = outline(make_sweep({"preset": "schemes"}), device="cpu")
    >>> [each["runs"] for each in found["rounds"]], found["rounds"][0]["parameters"]
    ([5, 15, 5, 25], [807440, 4636240])
    """
    with tempfile.TemporaryDirectory() as folder:
        return outlined(LanguageSweep, sweep, Path(folder), device)


def train_run(run, folder, **options):
    """Train one run of a sweep of small language models, from its last checkpoint if there is one.

    Parameters
    ----------
    run : Run
    folder : path
        Where its checkpoints are.
    **options
        As `sweeps.experiment.train_run` takes them: execution, device, guard and report.

    Returns
    -------
    xarray.Dataset or None
        The record of the run, or None if it was stopped before its end.

    Raises
    ------
    InputError
        If the device, a choice or a checkpoint cannot be used.
    """
    return experiment.train_run(LanguageSweep, run, folder, **options)


class LanguageSweep(SweepKind):
    """Stages of language models, of which later ones may take the best learning rates of earlier ones."""

    sweep_type = Sweep
    graphs = True
    prepared = staticmethod(prepared)

    def __init__(self, sweep):
        super().__init__(sweep)
        self.runs_of, self.best_after = {}, {}

    @staticmethod
    def read(path, folder):
        """Read a sweep; tokens that are made from text are kept in the folder ``corpus``."""
        return read_sweep(path, folder / "corpus")

    def check(self, device):
        """Refuse a route of the loss that cannot be taken, and runs that do not fit into the device's memory."""
        execution = self.sweep.execution
        route = chosen_route(execution.loss_route, device)
        if execution.graph and route in PACKAGES:
            raise InputError(
                f'training: graph is true with loss_route "{route}", which waits for the device in every update; take '
                'loss_route = "plain", or graph = false'
            )
        super().check(device)

    def groups(self):
        """Give the runs of each stage."""
        stages, best = self.sweep.stages, dict.fromkeys(self.sweep.sizes, 1.0)
        return {stage.name: self.sweep.runs(stage, best) for stage in stages}

    @staticmethod
    def bytes_of(run, execution, device, precision):
        """Estimate the memory that a run takes."""
        route = chosen_route(execution.loss_route, device)
        return training_bytes(run.model, run.batch_tokens, route, precision, on_gpu=device.type == "cuda")

    @staticmethod
    def largest(run):
        """Say what of a run needs memory: its model and the tokens of an update."""
        what = f"a model of {run.model.parameters:,} parameters with {run.batch_tokens:,} tokens an update"
        return what, "fewer batch_tokens or a smaller model"

    def rounds(self, results):
        """Give the runs of each stage."""
        best = {}
        for stage in self.sweep.stages:
            runs = list({run.name: run for run in self.sweep.runs(stage, best)}.values())
            self.runs_of[stage.name] = runs
            yield stage.name, runs
            if stage.schedule == "constant" and stage.learning_rates != BEST:
                best = self._best_rates(results)
            self.best_after[stage.name] = best

    @staticmethod
    def recorded(run, outcome, model, folder, device, precision, guard):
        """Make the record of a run."""
        return record(run, outcome, device, precision)

    def gathered(self, planned, results):
        """Merge the runs, with a table of all of them and one of each stage."""
        whole = records.merged(planned, results, self._members(), "scheme")
        tables = {"runs": table(whole)}
        for stage in self.sweep.stages:
            curves = stage.schedule != "constant" and len(stage.budgets) == 1
            tables[stage.name] = table(whole, stage.name, curves=curves)
        return whole, tables

    def _members(self):
        """Give the names of the runs of each stage, without the candidates that lost."""
        members = {}
        for stage in self.sweep.stages:
            best, runs = self.best_after.get(stage.name, {}), self.runs_of.get(stage.name, ())
            kept = [run for run in runs if stage.keep != BEST or best.get(run.model) == run.optimisation.learning_rate]
            members[stage.name] = {run.name for run in kept}
        return members

    def _best_rates(self, results):
        constant = [run for runs in self.runs_of.values() for run in runs if run.optimisation.schedule == "constant"]
        constant = list({run.name: run for run in constant}.values())
        longest = {}
        for run in constant:
            longest[run.model] = max(run.optimisation.updates, longest.get(run.model, 0))
        ends = {}
        for run in constant:
            if run.name in results and run.optimisation.updates == longest[run.model]:
                loss = results[run.name]["loss_eval"].values[0, -1]
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
                    stacklevel=6,
                )
        return best

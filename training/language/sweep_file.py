"""A sweep of language models: its TOML file with keys, and how it is trained and gathered as tables of runs L(N, D)."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from ...datasets.wording import quoted
from ...errors import InputError
from ..engine.fields import Count
from ..engine.loop import Optimisation
from ..sweeps import outline as outlines
from ..sweeps import trainer
from ..sweeps.base import Execution
from ..sweeps.keys import CLIP, NEEDED, Derived, Key, add_defaults, checked, listed, make_keys, make_seeds_key
from ..sweeps.tables import check_table, chosen, located, merge_preset, name_tables, pick_optimiser, read_tables
from .corpora.corpus import KIND, KINDS, open_corpus
from .language_run import Run
from .loss import ROUTES
from .presets import GPT2_VOCABULARY, PRESETS
from .stages import BEST, Stage, Sweep
from .transformer import Configuration

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    import xarray as xr

MOST_UPDATES, MOST_EVALUATIONS = 10**9, 10**5
SECTIONS = ("preset", "corpus", "model", "training", "stages")
SETTINGS = ("warmup", "betas", "epsilon", "decay", "clip", "rise", "fall", "optimiser", "rate_width")
EXECUTION = tuple(field.name for field in fields(Execution))
SHAPE = ("heads", "tied", "context", "vocabulary")
SHARED = ("batch_tokens", "evaluation_tokens", "precision")


# Every key of a sweep's file but those of a corpus, which depend on its kind.
MODEL = {
    "sizes": Key(
        Annotated[tuple[tuple[Count, Count], ...], Field(min_length=1)],
        NEEDED,
        "Pairs of width d_model, a multiple of the heads, and number of layers.",
        "[[16, 1], [32, 3]]",
    ),
    **make_keys(Configuration, SHAPE, vocabulary=Derived("the corpus's")),
    "experts": Key(
        Count | Annotated[tuple[Count, ...], Field(min_length=1)],
        1,
        "Networks of each block, of which a router chooses for every token; a list has every size with each number.",
        "[1, 4, 16]",
    ),
    "active": Key(Count, 1, "Experts that a token passes; dense models next to others have one."),
}
TRAINING = {
    "updates": Key(Count | tuple[Count, ...], NEEDED, "Updates of the full budget; a list has one for each size."),
    **make_keys(Run, SHARED),
    "evaluations": Key(Annotated[int, Field(ge=1, le=MOST_EVALUATIONS)], 20, "Evaluations of a run, evenly spaced."),
    "seeds": make_seeds_key(2**63),
    **make_keys(Optimisation, SETTINGS),
    "clip": CLIP,
    **make_keys(Execution, EXECUTION),
    "loss_route": Key(
        Literal["auto", *ROUTES], "auto", "How the cross-entropy is computed, which changes speed and memory alone."
    ),
}
THE_SWEEPS = dict.fromkeys(("batch_tokens", "optimiser"), Derived("the sweep's"))
STAGES = [field.name for field in fields(Stage)]
STAGE = make_keys(Stage, STAGES, name=Derived("stage-1, ..."), schedule="constant", **THE_SWEEPS)


def read_sweep(path, folder):
    """Read a `Sweep` from a TOML file, from whose folder its paths count; tokens are saved in `folder`."""
    return read_tables(path, lambda tables, base: make_sweep(tables, base=base, folder=folder))


def make_sweep(tables, *, base=".", folder="."):
    """Make a `Sweep` of tables, as a sweep's file holds them: ``corpus``, ``model``, ``training`` and ``stages``.

    ``preset`` names a sweep whose tables they replace: ``model`` and ``training`` key by key, ``corpus`` and ``stages``
    as a whole. Paths count from the folder `base`; tokens that are made from text are saved in `folder`. `InputError`
    is raised if a key or value cannot be used.

    Examples
    --------
    >>> from bayescaling.training import make_sweep
    >>> sweep = make_sweep({"preset": "demo", "training": {"seeds": [0, 1]}})
    >>> len(sweep.sizes), sweep.updates, [stage.name for stage in sweep.stages]
    (4, (400, 400, 600, 600), ['scheme-1', 'scheme-2', 'scheme-3', 'scheme-4'])
    >>> len(sweep.runs(sweep.stages[0], best={}))
    8
    """
    with located():
        sections = merge_preset(tables, SECTIONS, PRESETS, needed=SECTIONS[1:], whole=("corpus", "stages"))
        corpus = check_table("corpus", sections["corpus"])
        if "preset" in tables and corpus.get("kind", KIND.usual) != "synthetic":
            corpus = {"vocabulary": GPT2_VOCABULARY} | corpus
        model = checked("model", sections["model"], MODEL)
        training = add_defaults(checked("training", sections["training"], TRAINING), TRAINING)
        corpus = open_corpus(corpus, base=base, folder=folder)
        return _assembled(corpus, model, training, sections["stages"])


def sweep_keys():
    """List the keys of a sweep's file, with what each takes, its default and what it means.

    The columns are ``table``, ``key``, ``takes``, ``default`` and ``meaning``, all text.

    Examples
    --------
    >>> from bayescaling.training import sweep_keys
    >>> keys = sweep_keys().set_index(["table", "key"])
    >>> print(keys.loc[("[model]", "heads")].to_string())
    takes              integer, at least 1
    default                              4
    meaning    Attention heads of a block.
    """
    corpora = {"[corpus]": {"kind": KIND}}
    corpora |= {f'[corpus] of kind "{kind}"': keys for kind, keys in KINDS.items()}
    return listed({**corpora, "[model]": MODEL, "[training]": TRAINING, "[[stages]]": STAGE}, PRESETS)


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
    where = {"executor": executor, "scheduler": scheduler, "processes": processes, "device": device}
    return trainer.train(read_sweep, sweep, out, time_limit=time_limit, progress=progress, track=track, **where)


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


def _assembled(corpus, model, training, stages):
    shape = {"vocabulary": corpus.vocabulary} | chosen(model, SHAPE)
    sizes, experts, updates = model["sizes"], model.get("experts", 1), training["updates"]
    updates = updates if isinstance(updates, list) else [updates] * len(sizes)
    if len(updates) != len(sizes):
        raise InputError(
            f"training: updates is {updates!r}; give a whole number, or one for each of the {len(sizes)} sizes"
        )
    experts = experts if isinstance(experts, list) else [experts]
    most, parts = max(experts), training["parts"]
    if most > 1 and parts > 1:
        raise InputError(
            f"training: parts is {parts} and model: experts is {most}; give parts = 1, since experts are balanced over "
            "a whole update"
        )
    active = {x: 1 if most > x == 1 else model.get("active", 1) for x in experts}
    sizes = tuple(Configuration(d, n, **shape, experts=x, active=active[x]) for d, n in sizes for x in experts)
    updates = [some for some in updates for _ in experts]
    optimisation = Optimisation(1.0, updates=max(updates), **pick_optimiser(training, SETTINGS))
    base = Run(sizes[0], corpus, optimisation, evaluate_at=(updates[0],), **chosen(training, SHARED))
    execution, stages = Execution(**chosen(training, EXECUTION)), _stages(stages)
    longest = max(updates) * max(budget for stage in stages for budget in stage.budgets)
    if longest > MOST_UPDATES:
        raise InputError(f"stages: a run has {longest:.3g} updates; give fewer, at most {MOST_UPDATES:,}")
    return Sweep(base, sizes, tuple(updates), training["evaluations"], tuple(training["seeds"]), stages, execution)


def _stages(listed_tables):
    stages = []
    for name, table in name_tables("stages", listed_tables, STAGE, reserved=("runs",)).items():
        stage = _stage(f"stages: stage {len(stages) + 1}", name, table)
        if stage.learning_rates == BEST and not any(before.compares for before in stages):
            raise InputError(f"stages: {stage.name} takes the best rate and no constant stage goes before; add one")
        stages.append(stage)
    return tuple(stages)


def _stage(label, name, table):
    settings = add_defaults(checked(label, table, STAGE), STAGE) | {"name": name}
    if settings["keep"] == BEST and settings["schedule"] != "constant":
        raise InputError(
            f'{label}: `keep` is "best" with schedule {quoted(settings["schedule"])}; rates are compared at "constant"'
        )
    if settings["learning_rates"] != BEST:
        settings["learning_rates"] = tuple(map(float, settings["learning_rates"]))
    settings |= {"budgets": tuple(map(float, settings["budgets"]))}
    return Stage(**settings | {"batch_tokens": tuple(settings.get("batch_tokens", ()))})

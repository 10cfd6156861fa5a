"""A sweep of arithmetic models: its TOML file with keys, and how it is trained, tested and gathered."""

import inspect
import itertools
import re
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import Field

from ...datasets.wording import quoted
from ...errors import InputError
from ..engine.fields import Whole
from ..engine.loop import Optimisation
from ..sweeps import outline as outlines
from ..sweeps import trainer
from ..sweeps.base import Execution, distinct, mark_evaluations
from ..sweeps.keys import CLIP, NEEDED, Derived, Key, add_defaults, checked, listed, make_keys, make_seeds_key
from ..sweeps.tables import chosen, located, merge_preset, name_tables, pick_optimiser, read_tables
from .arithmetic_run import ArithmeticSweep, Run
from .cells import CELLS, Grid, list_cells
from .learning import Objective
from .models.positions import SCHEMES, check_digits
from .models.transformer import Configuration
from .plan import BatchPlan, PlannedOptimisation
from .presets import PRESETS
from .problems.task import TRAINED, Task
from .problems.tasks import TASKS, Operation, Or, Sorting

SECTIONS = ("preset", "model", "training", "evaluation", "arms")
# Settings of a model apart from the axes of an arm.
SHAPE = ("d_model", "heads", "feed_forward", "k_max", "table_rows", "random_positions", "noise", "block", "initial")
OBJECTIVE = tuple(field.name for field in fields(Objective))
SETTINGS = ("learning_rate", "schedule", "betas", "epsilon", "decay", "clip", "rise", "fall")
PLAN = ("samples", "batch", "microbatch", "ramp")
EXECUTION = ("compile", "graph", "save_seconds", "deterministic", "keep")
# Compiled layers were slower than plain ones where they were measured, on an H200 on 2026-11-27.
PLAIN = {"compile": False}
# Those of McLeish et al. (2024, arXiv:2405.17399).
PAPER_OPTIMISER = {"learning_rate": 1e-4, "schedule": "trapezoid", "betas": (0.9, 0.98)}
PAPER_OPTIMISER |= {"epsilon": 1e-12, "decay": 0.01, "clip": 0.5}
ARCHITECTURE = re.compile(r"([1-9]\d{0,3})x([1-9]\d{0,3})(?:\+(injection|first|none))?")
INJECTED = {"injection": "every-layer", "first": "first-layer", "none": "none"}
# Evaluations of a run, and problems of each.
Many = Annotated[int, Field(ge=1, le=10**6)]
Length = Annotated[int, Field(ge=1, le=TRAINED)]
Table = dict[str, Any]

# Every key of a sweep's file. The first three tables are common to all arms; an arm's tables replace them key by key.
COMMON = {
    "model": make_keys(Configuration, SHAPE, feed_forward=Derived("2 d_model")),
    "training": make_keys(BatchPlan, PLAN, microbatch=Derived("batch"))
    | make_keys(Optimisation, SETTINGS, **PAPER_OPTIMISER)
    | {"clip": CLIP._replace(usual=PAPER_OPTIMISER["clip"])}
    | make_keys(Objective, OBJECTIVE)
    | make_keys(Run, ("buckets", "precision"))
    | {
        "evaluations": Key(Many, 20, "Times in a run that the loss and the share of right answers are measured."),
        "evaluation_problems": Key(Many, 1024, "Problems on which they are, from the training distribution."),
        "seeds": make_seeds_key(2**62),
    }
    | make_keys(Execution, EXECUTION, **PLAIN),
    "evaluation": CELLS
    | make_keys(Grid, ("count", "seed"))
    | {
        "offset": Key(
            Whole | Annotated[tuple[Whole, ...], Field(min_length=1)],
            0,
            "Offset of Abacus embeddings at which models are tested; or a list, to compare them.",
            "[0, 8]",
        )
    },
}
ARM = {
    "name": Key(str, Derived("arm-1, ..."), "Name of the arm."),
    "task": Key(Literal[tuple(TASKS)], NEEDED, "What is learned.", '"addition"'),
    "lengths": Key(
        Length | Annotated[tuple[Length, ...], Field(min_length=1)],
        NEEDED,
        "Most digits of an operand in training; or a list, to train for each.",
        "20",
    ),
    "options": Key(Table, Derived("none"), "Options of the task."),
    "embeddings": Key(
        Annotated[tuple[Literal[SCHEMES], ...], Field(min_length=1)],
        NEEDED,
        "Position schemes: every one is trained.",
        '["abacus", "nope"]',
    ),
    "architectures": Key(
        Annotated[tuple[str, ...], Field(min_length=1)],
        NEEDED,
        "Layers x recurrences: 16x1, 8x2. With +injection the problem is added before every layer (usual of several "
        "recurrences), with +first before the block's first layer in each recurrence, with +none before the very first "
        "layer.",
        '["16x1", "8x2"]',
    ),
} | {name: Key(Table, Derived("none"), f"Keys of [{name}] that differ in this arm.") for name in COMMON}
OPTIONS = (
    make_keys(Task, ("hints", "tested_hints", "labels", "padding", "padding_rate", "buckets"))
    | make_keys(Operation, ("reverse",))
    | make_keys(Sorting, ("numbers", "end_counts"), numbers=Derived("lengths"))
    | make_keys(Or, ("pairs",))
)


def read_sweep(path, folder=None):
    """Read an `ArithmeticSweep` from a TOML file, with the tables that `make_sweep` takes; it needs no folder."""
    return read_tables(path, lambda tables, base: make_sweep(tables))


def make_sweep(tables):
    """Make a sweep of tables, as a sweep's file holds them.

    ``preset`` names a sweep whose tables the others replace key by key, and ``arms`` whole. The tables ``model``,
    ``training`` and ``evaluation`` are for every arm.

    An arm has a ``name``, a ``task``, ``lengths`` trained on (a number, or a list to train for each), ``options`` of
    the task, ``embeddings`` and ``architectures``. Its tables ``model``, ``training`` and ``evaluation`` replace the
    common ones key by key.

    An architecture is layers x recurrences, such as ``"16x1"``, or ``"16x1+injection"`` with injection in every layer.
    A looped block, such as ``"4x4"``, injects before every layer, unless the architecture has ``+first`` or ``+none``.

    `InputError` is raised if a key or value cannot be used.
    """
    with located():
        tables = merge_preset(tables, SECTIONS, PRESETS, needed=("arms",), whole=("arms",))
        common = {name: checked(name, tables.get(name, {}), keys, whole=False) for name, keys in COMMON.items()}
        arms = {}
        for name, arm in name_tables("arms", tables["arms"], ARM).items():
            with located(f"arm {name}: "):
                arms[name] = tuple(distinct(_runs(arm, common)))
        execution = Execution(**PLAIN | chosen(common["training"], EXECUTION))
    return ArithmeticSweep(arms, execution)


def sweep_keys():
    """List the keys of a sweep's file, with what each takes, its default and what it means.

    The columns are ``table``, ``key``, ``takes``, ``default`` and ``meaning``, all text.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import sweep_keys
    >>> keys = sweep_keys().set_index(["table", "key"])
    >>> keys.loc[("[evaluation]", "longest"), "default"]
    '100'
    """
    common = {f"[{name}]": keys for name, keys in COMMON.items()}
    return listed({**common, "[[arms]]": ARM, "options of [[arms]]": OPTIONS}, PRESETS)


def train(sweep, out, **options):
    """Train and test a sweep of arithmetic models, or resume it.

    Every finished run is saved in ``OUT/runs`` and is not trained again. An interrupted run resumes from its last
    checkpoint, or in the middle of its grid, with the result of an unbroken one. After every run it writes
    ``OUT/log.jsonl``, ``OUT/runs.nc`` (all runs) and ``OUT/runs.csv``, a row for each run and cell.

    The sweep is a TOML file, with the tables that `make_sweep` takes, or a sweep made of them. Options, result and
    errors are those of `training.train`, including the error for a run that needs more memory than is free.
    """
    return trainer.train(read_sweep, sweep, out, **options)


def outline(sweep, *, device=None):
    """Compute what a sweep will take: runs, parameters, FLOP, memory and seconds, as `training.outline` does.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import make_sweep, outline
    >>> outline(make_sweep({"preset": "demo"}), device="cpu")["rounds"][0]["runs"]
    3
    """
    return outlines.outline(read_sweep, sweep, device)


def _runs(arm, common):
    checked("", arm, ARM)
    tables = {}
    for section, keys in COMMON.items():
        changed = checked(section, arm.get(section, {}), keys, whole=False)
        tables[section] = add_defaults(checked(section, common[section] | changed, keys), keys)
    for key in EXECUTION:
        if key in arm.get("training", {}):
            raise InputError(f"training: {key} holds for the whole sweep; write it there")
    shapes = [_shape(text) for text in arm["architectures"]]
    kind, options, lengths = TASKS[arm["task"]], arm.get("options", {}), arm["lengths"]
    checked("options", options, {name: OPTIONS[name] for name in OPTIONS if name in inspect.signature(kind).parameters})
    tasks = [kind(length, **options) for length in (lengths if isinstance(lengths, list) else [lengths])]
    cells = list_cells(tables["evaluation"])
    for task in tasks:
        for cell in cells:
            task.check(*cell)
    plan = BatchPlan(**{"microbatch": tables["training"]["batch"]} | chosen(tables["training"], PLAN))
    axes = itertools.product(tasks, arm["embeddings"], shapes, tables["training"]["seeds"])
    return [_run(task, cells, plan, embedding, shape, seed, **tables) for task, embedding, shape, seed in axes]


def _run(task, cells, plan, embedding, shape, seed, *, model, training, evaluation):
    layers, recurrences, injection = shape
    # Randomised positions are for FIRE alone; an arm that sets them may have embeddings without FIRE too.
    names = [name for name in SHAPE if name != "random_positions" or "fire" in embedding]
    looped = {"recurrences": recurrences, "injection": injection}
    model = Configuration(task.vocabulary_size, layers=layers, embedding=embedding, **looped, **chosen(model, names))
    offsets = (0,)
    if "abacus" in model.parts:
        # Only Abacus embeddings have offsets.
        offsets = evaluation["offset"] if isinstance(evaluation["offset"], list) else [evaluation["offset"]]
        equals = "equals" in model.parts
        check_digits(task.digits(*task.longest), model.table_rows, model.k_max, equals)
        check_digits(max(task.digits(*cell) for cell in cells), model.table_rows, 1 + max(offsets), equals)
    return Run(
        task,
        model,
        Objective(**chosen(training, OBJECTIVE)),
        PlannedOptimisation(**pick_optimiser(training, SETTINGS), updates=plan.updates, plan=plan),
        mark_evaluations(plan.updates, training["evaluations"]),
        training["evaluation_problems"],
        Grid(tuple(cells), offsets=tuple(offsets), **chosen(evaluation, ("count", "seed"))),
        seed=seed,
        **chosen(training, ("buckets", "precision")),
    )


def _shape(text):
    match = ARCHITECTURE.fullmatch(text)
    if not match:
        raise InputError(
            f'architecture {quoted(text)} is unknown; write layers x recurrences, such as "16x1", "16x1+injection", '
            '"8x2" or "4x4+injection"'
        )
    layers, recurrences = int(match[1]), int(match[2])
    # As section 3.2 and appendix A.7.3 of McLeish et al. (2024) describe looped models.
    usual = "none" if recurrences == 1 else "every-layer"
    return layers, recurrences, INJECTED[match[3]] if match[3] else usual

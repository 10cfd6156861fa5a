"""A sweep of arithmetic models: arms of a task, embeddings, architectures and seeds, read from a TOML file."""

import re
from dataclasses import dataclass, fields, replace

from ...datasets.wording import quoted
from ...errors import InputError
from ..engine.checks import check_choice, check_whole
from ..sweeps.options import Execution
from ..sweeps.runs import evaluation_marks
from ..sweeps.tables import (
    chosen,
    located,
    named_tables,
    optimiser_settings,
    read_tables,
    seeds_of,
    table_of,
    with_preset,
)
from .grids import cells_of
from .models.positions import SCHEMES, check_digits
from .models.transformer import Configuration
from .objective import Objective
from .plan import Plan, PlannedOptimisation
from .presets import PRESETS
from .problems import TASKS
from .runs import Grid, Run

SECTIONS = ("preset", "model", "training", "evaluation", "arms")
ARM = ("name", "task", "lengths", "options", "embeddings", "architectures", "model", "training", "evaluation")
# Settings of a model apart from the axes of an arm.
MODEL = (*("d_model", "heads", "feed_forward", "k_max", "table_rows", "random_positions", "noise", "block", "initial"),)
OBJECTIVE = tuple(field.name for field in fields(Objective))
SETTINGS = ("learning_rate", "schedule", "betas", "epsilon", "decay", "clip", "rise", "fall")
PLAN = ("samples", "batch", "microbatch", "ramp")
EXECUTION = ("compile", "save_seconds", "deterministic")
TRAINING = (
    *(*PLAN, *SETTINGS, *OBJECTIVE, *EXECUTION),
    *("evaluations", "evaluation_problems", "buckets", "precision", "seeds"),
)
EVALUATION = ("longest", "every", "diagonal", "diagonal_to", "count", "seed", "offset")
# Tables that all arms share, whose keys an arm may replace.
COMMON = {"model": MODEL, "training": TRAINING, "evaluation": EVALUATION}
# Those of McLeish et al. (2024, arXiv:2405.17399).
PAPER_OPTIMISER = {
    "learning_rate": 1e-4,
    "schedule": "trapezoid",
    "betas": (0.9, 0.98),
    "epsilon": 1e-12,
    "decay": 0.01,
    "clip": 0.5,
}
SHAPE = re.compile(r"([1-9]\d{0,3})x([1-9]\d{0,3})(?:\+(injection|first|none))?")
MOST = 10**6  # evaluations of a run, and problems of each
INJECTED = {"injection": "every-layer", "first": "first-layer", "none": "none"}


@dataclass(frozen=True)
class Sweep:
    """A sweep of arithmetic models: runs by arm, checked.

    Parameters
    ----------
    arms : dict of str to tuple of Run
        Arms may share runs.
    execution : Execution
    """

    arms: dict[str, tuple[Run, ...]]
    execution: Execution

    def settled(self, where):
        """Give the sweep with its runs settled somewhere, as `runs.Run.settled` does."""
        return replace(self, arms={arm: tuple(run.settled(where) for run in runs) for arm, runs in self.arms.items()})


def read_sweep(path):
    """Read a sweep from a TOML file.

    Parameters
    ----------
    path : path
        The file, with the tables that `make_sweep` takes.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If the file cannot be read, or a key or value in it cannot be used.
    """
    return read_tables(path, lambda tables, base: make_sweep(tables))


def make_sweep(tables):
    """Make a sweep of tables, as a sweep's file holds them.

    Parameters
    ----------
    tables : mapping
        ``preset`` (a name), whose tables the others replace key by key, and its ``arms`` whole; ``model``, ``training``
        and ``evaluation``, for every arm; and ``arms``. An arm has a ``name``, a ``task``, ``lengths`` trained on (a
        whole number, or a list of them to train for each), ``options`` of the task, ``embeddings``, ``architectures``
        such as ``"16x1"``, ``"16x1+injection"`` (layers x recurrences, injection in every layer) or ``"4x4"`` (a looped
        block: injection into its first layer in each recurrence, unless it says ``+injection`` or ``+none``), and
        tables ``model``, ``training`` and ``evaluation`` that replace the common ones key by key.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If a key or value cannot be used.
    """
    tables = with_preset(tables, SECTIONS, PRESETS, needed=("arms",), whole=("arms",))
    common = {section: table_of(section, tables.get(section, {}), known) for section, known in COMMON.items()}
    arms = {}
    for name, arm in named_tables("arms", tables["arms"], ARM).items():
        with located(f"arm {name}: "):
            arms[name] = tuple({run.name: run for run in _runs(arm, common)}.values())
    with located("training: "):
        execution = Execution(**chosen(common["training"], EXECUTION, "training", Execution))
    return Sweep(arms, execution)


def _runs(arm, common):
    tables = {
        section: common[section] | table_of(section, arm.get(section, {}), known) for section, known in COMMON.items()
    }
    for key in EXECUTION:
        if key in arm.get("training", {}):
            raise InputError(f"training: {key} holds for the whole sweep; write it there")
    for embedding in _listed(arm, "embeddings"):
        check_choice("embedding", embedding, SCHEMES)
    shapes = [_shape(text) for text in _listed(arm, "architectures")]
    seeds = seeds_of(tables["training"], 62)
    made = []
    for task in _tasks(arm):
        cells = cells_of(tables["evaluation"])
        for cell in cells:
            task.check(*cell)
        made += [
            _run(task, cells, embedding, shape, seed, tables)
            for embedding in arm["embeddings"]
            for shape in shapes
            for seed in seeds
        ]
    return made


def _run(task, cells, embedding, shape, seed, tables):
    layers, recurrences, injection = shape
    model = Configuration(
        task.vocabulary_size,
        layers=layers,
        recurrences=recurrences,
        injection=injection,
        embedding=embedding,
        **_of_scheme(tables["model"], embedding),
    )
    # Only Abacus embeddings have offsets.
    offsets = _offsets(tables["evaluation"]) if "abacus" in model.parts else (0,)
    if "abacus" in model.parts:
        check_digits(task.digits(*task.longest), model.table_rows, model.k_max)
        check_digits(max(task.digits(*cell) for cell in cells), model.table_rows, 1 + max(offsets))
    training = tables["training"]
    plan = _plan(training)
    settings = PAPER_OPTIMISER | optimiser_settings(training, SETTINGS)
    evaluations, problems = training.get("evaluations", 20), training.get("evaluation_problems", 1024)
    for name, value in (("evaluations", evaluations), ("evaluation_problems", problems)):
        check_whole(f"training: {name}", value, 1, MOST)
    return Run(
        task,
        model,
        Objective(**chosen(training, OBJECTIVE, "training", Objective)),
        PlannedOptimisation(**settings, updates=plan.updates, plan=plan),
        evaluation_marks(plan.updates, evaluations),
        problems,
        Grid(tuple(cells), offsets=offsets, **chosen(tables["evaluation"], ("count", "seed"), "evaluation", Grid)),
        seed=seed,
        **chosen(training, ("buckets", "precision"), "training", Run),
    )


def _offsets(evaluation):
    given = evaluation.get("offset", 0)
    listed = given if isinstance(given, list) else [given]
    if not listed:
        raise InputError("evaluation: offset is []; give a whole number, or a list of them to compare, such as [0, 8]")
    for offset in listed:
        check_whole("evaluation: offset", offset, 0)
    return tuple(listed)


def _of_scheme(model, embedding):
    # Randomised positions are for FIRE alone; an arm that sets them may have embeddings without FIRE too.
    found = chosen(model, MODEL, "model", Configuration)
    return {key: value for key, value in found.items() if key != "random_positions" or "fire" in embedding}


def _plan(training):
    for needed in ("samples", "batch"):
        if needed not in training:
            raise InputError(f"training: {needed} is missing; give a whole number")
    return Plan(**{"microbatch": training["batch"]} | chosen(training, PLAN, "training", Plan))


def _tasks(arm):
    name = arm.get("task")
    check_choice("task", name, TASKS)
    options = table_of("options", arm.get("options", {}))
    lengths = arm.get("lengths")
    if lengths is None or lengths == []:
        raise InputError("lengths is missing; give the most digits to train on, such as 20")
    return [TASKS[name](length, **options) for length in (lengths if isinstance(lengths, list) else [lengths])]


def _listed(arm, name):
    values = arm.get(name)
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        example = '["abacus", "nope"]' if name == "embeddings" else '["16x1", "8x2"]'
        raise InputError(f"{name} is {values!r}; give a list of names, such as {example}")
    return values


def _shape(text):
    found = SHAPE.fullmatch(text)
    if not found:
        raise InputError(
            f'architecture {quoted(text)} is unknown; write layers x recurrences, such as "16x1", "16x1+injection", '
            '"8x2" or "4x4+injection"'
        )
    layers, recurrences = int(found[1]), int(found[2])
    # As the looped models of McLeish et al. (2024) were run: the block adds the embedded problem once.
    usual = "none" if recurrences == 1 else "first-layer"
    return layers, recurrences, INJECTED[found[3]] if found[3] else usual

"""A sweep of arithmetic models: arms of a task, embeddings, architectures and seeds, read from a TOML file."""

import re
from dataclasses import dataclass, fields

from ...datasets.wording import quoted, unknown
from ...errors import InputError
from ..runs import Execution
from ..sweep import read_tables, table_of
from .grids import cells_of
from .objective import Objective
from .plan import Plan, PlannedOptimisation
from .positions import SCHEMES, check_digits
from .presets import PRESETS, preset
from .problems import TASKS
from .runs import Grid, Run
from .transformer import Configuration

SECTIONS = ("preset", "model", "training", "evaluation", "arms")
ARM = ("name", "task", "lengths", "options", "embeddings", "architectures", "model", "training", "evaluation")
# Of a model, what an arm's axes do not settle.
MODEL = (*("d_model", "heads", "feed_forward", "k_max", "table_rows", "random_positions", "noise", "block", "initial"),)
OBJECTIVE = tuple(field.name for field in fields(Objective))
SETTINGS = ("learning_rate", "schedule", "betas", "epsilon", "decay", "clip")
PLAN = ("samples", "batch", "microbatch", "ramp")
EXECUTION = ("compile", "save_seconds")
TRAINING = (
    *(*PLAN, *SETTINGS, *OBJECTIVE, *EXECUTION),
    *("evaluations", "evaluation_problems", "buckets", "precision", "seeds"),
)
EVALUATION = ("longest", "every", "diagonal", "diagonal_to", "count", "seed")
# As [Mc24] trains.
PAPER_OPTIMISER = {"schedule": "trapezoid", "betas": (0.9, 0.98), "epsilon": 1e-12, "decay": 0.01, "clip": 0.5}
SHAPE = re.compile(r"([1-9]\d{0,3})x([1-9]\d{0,3})(?:\+(injection|first|none))?")
INJECTED = {"injection": "every-layer", "first": "first-layer", "none": "none"}


@dataclass(frozen=True)
class Sweep:
    """Runs by arm, checked.

    Parameters
    ----------
    arms : dict of str to tuple of Run
        Arms may share runs.
    execution : Execution
    """

    arms: dict[str, tuple[Run, ...]]
    execution: Execution


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
        such as ``"16x1"``, ``"16x1+injection"`` (layers x recurrences, injection in every layer) or ``"4x4+first"``
        (injection into the block's first layer; looped ones have it in every layer unless they say), and tables
        ``model``, ``training`` and ``evaluation`` that replace the common ones key by key.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If a key or value cannot be used.
    """
    tables = _with_preset(tables)
    if "arms" not in tables:
        raise InputError(f'a sweep needs "arms"; write [[arms]], or name a preset: {", ".join(PRESETS)}')
    common = {
        "model": table_of("model", tables.get("model", {}), MODEL),
        "training": table_of("training", tables.get("training", {}), TRAINING),
        "evaluation": table_of("evaluation", tables.get("evaluation", {}), EVALUATION),
    }
    given = tables["arms"]
    if not isinstance(given, list) or not given:
        raise InputError("arms: found none; write at least one as [[arms]]")
    arms, execution = {}, common["training"]
    for position, arm in enumerate(given, 1):
        label = f"arms: arm {position}"
        arm = table_of(label, arm, ARM)
        name = arm.get("name", f"arm-{position}")
        if not isinstance(name, str) or not name.replace("-", "").replace("_", "").isalnum():
            raise InputError(f'{label}: name is {name!r}; give letters, digits, "-" and "_"')
        if name in arms:
            raise InputError(f"arms: {quoted(name)} is the name of several; give each its own")
        try:
            arms[name] = tuple({run.name: run for run in _runs(arm, common)}.values())
        except InputError as error:
            raise InputError(f"arm {name}: {error}") from error
        except TypeError as error:
            raise InputError(f"arm {name}: a value is of the wrong type ({error}); correct it") from error
    settings = {key: execution[key] for key in EXECUTION if key in execution}
    try:
        return Sweep(arms, Execution(**settings))
    except TypeError as error:
        raise InputError(f"training: a value is of the wrong type ({error}); correct it") from error


def _with_preset(tables):
    tables = dict(table_of("a sweep", tables, SECTIONS))
    if "preset" not in tables:
        return tables
    name = tables.pop("preset")
    if name not in PRESETS:
        raise InputError(unknown("preset", name, PRESETS))
    base = preset(name)
    for section, given in tables.items():
        base[section] = given if section == "arms" else base.get(section, {}) | table_of(section, given)
    return base


def _runs(arm, common):
    tables = {
        section: common[section] | table_of(section, arm.get(section, {}), known)
        for section, known in (("model", MODEL), ("training", TRAINING), ("evaluation", EVALUATION))
    }
    for key in EXECUTION:
        if key in arm.get("training", {}):
            raise InputError(f"training: {key} holds for the whole sweep; write it there")
    for embedding in _listed(arm, "embeddings"):
        if embedding not in SCHEMES:
            raise InputError(unknown("embedding", embedding, SCHEMES))
    shapes = [_shape(text) for text in _listed(arm, "architectures")]
    seeds = tables["training"].get("seeds", [0])
    if not isinstance(seeds, list) or not seeds or not all(_whole(seed) and 0 <= seed < 2**62 for seed in seeds):
        raise InputError(f"training: seeds is {seeds!r}; give whole numbers of at least 0, such as [0, 1, 2]")
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
    if "abacus" in model.parts:
        check_digits(task.digits(*task.longest), model.table_rows, model.k_max)
        check_digits(max(task.digits(*cell) for cell in cells), model.table_rows)
    training = tables["training"]
    plan = _plan(training)
    settings = PAPER_OPTIMISER | {"learning_rate": 1e-4} | {key: training[key] for key in SETTINGS if key in training}
    if settings["clip"] == 0:
        settings["clip"] = None
    evaluations, problems = training.get("evaluations", 20), training.get("evaluation_problems", 1024)
    for name, value in (("evaluations", evaluations), ("evaluation_problems", problems)):
        if not _whole(value) or value < 1:
            raise InputError(f"training: {name} is {value!r}; give a whole number of at least 1")
    marks = {max(1, round(plan.updates * k / evaluations)) for k in range(1, evaluations + 1)}
    grid = {key: tables["evaluation"][key] for key in ("count", "seed") if key in tables["evaluation"]}
    return Run(
        task,
        model,
        Objective(**{key: training[key] for key in OBJECTIVE if key in training}),
        PlannedOptimisation(**settings, updates=plan.updates, plan=plan),
        tuple(sorted(marks)),
        problems,
        Grid(tuple(cells), **grid),
        seed=seed,
        **{key: training[key] for key in ("buckets", "precision") if key in training},
    )


def _of_scheme(model, embedding):
    # Randomised positions are FIRE's alone; an arm may set them beside embeddings without it.
    return {key: value for key, value in model.items() if key != "random_positions" or "fire" in embedding}


def _plan(training):
    for needed in ("samples", "batch"):
        if needed not in training:
            raise InputError(f"training: {needed} is missing; give a whole number")
    given = {key: training[key] for key in PLAN if key in training}
    return Plan(**{"microbatch": training["batch"]} | given)


def _tasks(arm):
    name = arm.get("task")
    if name not in TASKS:
        raise InputError(unknown("task", name, TASKS))
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
            '"8x2" or "4x4+first"'
        )
    layers, recurrences = int(found[1]), int(found[2])
    usual = "none" if recurrences == 1 else "every-layer"
    return layers, recurrences, INJECTED[found[3]] if found[3] else usual


def _whole(value):
    return isinstance(value, int) and not isinstance(value, bool)

"""A sweep: stages of runs over sizes, learning rates, schedules, budgets and seeds, read from a TOML file."""

import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ..datasets.wording import printable, quoted, unknown
from ..errors import InputError
from .corpora import Corpus, open_corpus
from .loop import Optimisation
from .presets import GPT2_VOCABULARY, PRESETS, preset
from .runs import Execution, Run
from .schedules import check_schedule
from .transformer import Configuration

BEST = "best"
SECTIONS = ("preset", "corpus", "model", "training", "stages")
MODEL = ("sizes", "heads", "tied", "context", "vocabulary")
SETTINGS = ("warmup", "betas", "epsilon", "decay", "clip")
EXECUTION = tuple(field.name for field in fields(Execution))
TRAINING = ("updates", "batch_tokens", "evaluations", "evaluation_tokens", "seeds", "precision", *SETTINGS, *EXECUTION)
STAGE = ("name", "schedule", "learning_rates", "budgets", "keep")


@dataclass(frozen=True)
class Stage:
    """Runs that are trained together.

    Parameters
    ----------
    name : str
        What their table is called.
    schedule : str
        ``"constant"`` or ``"cosine"``.
    learning_rates : tuple of float or "best"
        Peak rates; ``"best"`` takes for each size the rate whose constant runs, of the longest in the stages before,
        ended with the lowest evaluation loss, the mean over seeds.
    budgets : tuple of float
        Updates as shares of those of the size.
    keep : str
        ``"all"``, or ``"best"`` to count as the stage's runs only those at each size's best rate.
    """

    name: str
    schedule: str
    learning_rates: tuple[float, ...] | str
    budgets: tuple[float, ...] = (1.0,)
    keep: str = "all"


@dataclass(frozen=True)
class Sweep:
    """Sizes, a corpus and stages, checked.

    Parameters
    ----------
    base : Run
        What all runs share; its model and optimisation are replaced.
    sizes : tuple of Configuration
    updates : tuple of int
        Full budget of each size.
    evaluations : int
        Evaluations of a run, evenly spaced.
    seeds : tuple of int
    stages : tuple of Stage
    execution : Execution
    """

    base: Run
    sizes: tuple[Configuration, ...]
    updates: tuple[int, ...]
    evaluations: int
    seeds: tuple[int, ...]
    stages: tuple[Stage, ...]
    execution: Execution

    @property
    def corpus(self) -> Corpus:
        """What all runs train on."""
        return self.base.corpus

    def runs(self, stage, best):
        """List the runs of a stage.

        Parameters
        ----------
        stage : Stage
        best : mapping of Configuration to float
            Best rate of each size so far; a size without one has no runs where the best is asked for.

        Returns
        -------
        list of Run
            By size, then rate, budget and seed.
        """
        made = []
        for model, updates in zip(self.sizes, self.updates, strict=True):
            rates = stage.learning_rates
            if rates == BEST:
                rates = [best[model]] if model in best else []
            for rate in rates:
                for budget in stage.budgets:
                    made += [self._run(model, stage.schedule, rate, updates, budget, seed) for seed in self.seeds]
        return made

    def _run(self, model, schedule, rate, updates, budget, seed):
        total = max(1, round(updates * budget))
        optimisation = replace(
            self.base.optimisation,
            learning_rate=rate,
            schedule=schedule,
            updates=total,
            warmup=min(self.base.optimisation.warmup, total),
        )
        marks = sorted({max(1, round(total * k / self.evaluations)) for k in range(1, self.evaluations + 1)})
        return replace(
            self.base,
            model=model,
            optimisation=optimisation,
            evaluate_at=tuple(marks),
            seed=seed,
            budget_fraction=budget,
        )


def read_sweep(path, folder):
    """Read a sweep from a TOML file.

    Parameters
    ----------
    path : path
        The file. ``preset`` names a sweep whose tables the file's own replace key by key; a ``[corpus]`` or
        ``[[stages]]`` of its own replaces the preset's whole.
    folder : path
        Where to keep tokens that are made from text.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If the file cannot be read, or a key or value in it cannot be used.
    """
    return read_tables(path, lambda tables, base: make_sweep(tables, base=base, folder=folder))


def read_tables(path, make):
    """Read a TOML file and make a sweep of it.

    Parameters
    ----------
    path : path
    make : callable
        Of the file's tables and its folder, to a sweep.

    Returns
    -------
    object
        What `make` gives.

    Raises
    ------
    InputError
        If the file cannot be read, or `make` raises it; the message begins with the file's name.
    """
    path = Path(path).expanduser()
    label = printable(path.name)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{label}: the file cannot be opened ({error.strerror}); check its path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{label}: the file is not UTF-8 text; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{label}: not TOML ({printable(error)}); correct it") from error
    try:
        return make(tables, path.parent)
    except InputError as error:
        raise InputError(f"{label}: {error}") from error


def make_sweep(tables, *, base=".", folder="."):
    """Make a sweep of tables, as a sweep's file holds them.

    Parameters
    ----------
    tables : mapping
        ``preset`` (a name), ``corpus``, ``model``, ``training`` and ``stages``.
    base : path
        Folder from which paths count.
    folder : path
        Where to keep tokens that are made from text.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If a key or value cannot be used.
    """
    tables = _with_preset(tables)
    for needed in ("corpus", "model", "training", "stages"):
        if needed not in tables:
            raise InputError(f"a sweep needs {quoted(needed)}; add it, or a preset: {', '.join(PRESETS)}")
    model, training = table_of("model", tables["model"], MODEL), table_of("training", tables["training"], TRAINING)
    corpus = open_corpus(table_of("corpus", tables["corpus"]), base=base, folder=folder)
    try:
        return _assembled(corpus, model, training, tables["stages"])
    except TypeError as error:
        raise InputError(f"a value is of the wrong type ({error}); correct it") from error


def table_of(name, given, known=None):
    """Check that what was found is a table, and its keys known.

    Raises
    ------
    InputError
    """
    if not hasattr(given, "keys"):
        raise InputError(f"{name}: found {quoted(given)} where a table of keys was to be; write it as a table")
    for key in given:
        if known is not None and key not in known:
            raise InputError(unknown(f"{name}: key", key, known))
    return given


def _with_preset(tables):
    tables = dict(table_of("a sweep", tables, SECTIONS))
    if "preset" not in tables:
        return tables
    name = tables.pop("preset")
    if name not in PRESETS:
        raise InputError(unknown("preset", name, PRESETS))
    base = preset(name)
    for section, given in tables.items():
        if section in ("model", "training"):
            base[section] |= table_of(section, given)
        else:
            base[section] = given
    if base["corpus"].get("kind", "synthetic") != "synthetic":
        base["corpus"] = {"vocabulary": GPT2_VOCABULARY} | base["corpus"]
    return base


def _assembled(corpus, model, training, stages):
    shape = {key: model[key] for key in ("heads", "tied", "context") if key in model}
    vocabulary = model.get("vocabulary", corpus.vocabulary)
    sizes = tuple(Configuration(d, layers, vocabulary=vocabulary, **shape) for d, layers in _sizes(model))
    updates = _updates(training, len(sizes))
    settings = {key: training[key] for key in SETTINGS if key in training}
    if settings.get("clip") == 0:
        settings["clip"] = None
    shared = {key: training[key] for key in ("batch_tokens", "evaluation_tokens", "precision") if key in training}
    optimisation = Optimisation(1.0, updates=max(updates), **settings)
    base = Run(sizes[0], corpus, optimisation, evaluate_at=(updates[0],), **shared)
    evaluations = training.get("evaluations", 20)
    if not isinstance(evaluations, int) or evaluations < 1:
        raise InputError(f"training: evaluations is {evaluations!r}; give a whole number of at least 1")
    seeds = tuple(training.get("seeds", (0,)))
    if not seeds or not all(isinstance(seed, int) and 0 <= seed < 2**63 for seed in seeds):
        raise InputError(f"training: seeds is {list(seeds)}; give whole numbers of at least 0, such as [0, 1, 2]")
    execution = Execution(**{key: training[key] for key in EXECUTION if key in training})
    return Sweep(base, sizes, updates, evaluations, seeds, _stages(stages), execution)


def _sizes(model):
    sizes = model.get("sizes")
    if not isinstance(sizes, list) or not sizes or not all(isinstance(s, list) and len(s) == 2 for s in sizes):
        raise InputError(f"model: sizes is {sizes!r}; give pairs of d_model and layers, such as [[16, 1], [32, 3]]")
    return sizes


def _updates(training, sizes):
    updates = training.get("updates")
    each = updates if isinstance(updates, list) else [updates] * sizes
    if len(each) != sizes or not all(isinstance(u, int) and not isinstance(u, bool) and u >= 1 for u in each):
        raise InputError(f"training: updates is {updates!r}; give a whole number, or one for each of the {sizes} sizes")
    return tuple(each)


def _stages(given):
    if not isinstance(given, list) or not given:
        raise InputError("stages: found none; write at least one as [[stages]]")
    stages = tuple(_stage(table, position) for position, table in enumerate(given, 1))
    names = [stage.name for stage in stages]
    for stage in stages:
        if names.count(stage.name) > 1:
            raise InputError(f"stages: {quoted(stage.name)} is the name of several; give each its own")
    for position, stage in enumerate(stages):
        if stage.learning_rates == BEST and not any(
            before.schedule == "constant" and before.learning_rates != BEST for before in stages[:position]
        ):
            raise InputError(f"stages: {stage.name} asks for the best rate and no constant stage goes before; add one")
    return stages


def _stage(table, position):
    label = f"stages: stage {position}"
    table = table_of(label, table, STAGE)
    name = table.get("name", f"stage-{position}")
    if not isinstance(name, str) or not name.replace("-", "").replace("_", "").isalnum() or name == "runs":
        raise InputError(f'{label}: name is {name!r}; give letters, digits, "-" and "_", and not "runs"')
    schedule = table.get("schedule", "constant")
    check_schedule(schedule)
    rates, budgets, keep = table.get("learning_rates"), table.get("budgets", [1.0]), table.get("keep", "all")
    if rates != BEST and not _positive(rates):
        raise InputError(f'{label}: learning_rates is {rates!r}; give positive numbers, such as [0.001], or "best"')
    if not _positive(budgets):
        raise InputError(f"{label}: budgets is {budgets!r}; give positive shares of the updates, such as [0.5, 1.0]")
    if keep not in ("all", BEST):
        raise InputError(unknown(f"{label}: keep", keep, ("all", BEST)))
    if keep == BEST and schedule != "constant":
        raise InputError(f'{label}: keep is "best" with schedule {quoted(schedule)}; rates are compared at "constant"')
    rates = rates if rates == BEST else tuple(map(float, rates))
    return Stage(name, schedule, rates, tuple(map(float, budgets)), keep)


def _positive(values):
    return (
        isinstance(values, list)
        and bool(values)
        and all(isinstance(x, int | float) and not isinstance(x, bool) and 0 < x < float("inf") for x in values)
    )

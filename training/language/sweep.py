"""A sweep: stages of runs over sizes, learning rates, schedules, budgets and seeds, read from a TOML file."""

from dataclasses import dataclass, fields, replace

from ...datasets.wording import quoted
from ...errors import InputError
from ..engine.checks import check_choice, check_whole
from ..engine.loop import Optimisation
from ..engine.schedules import check_schedule
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
from .corpora.corpus import Corpus, open_corpus
from .presets import GPT2_VOCABULARY, PRESETS
from .runs import Run
from .transformer import Configuration

BEST = "best"
MOST_UPDATES, MOST_EVALUATIONS = 10**9, 10**5
SECTIONS = ("preset", "corpus", "model", "training", "stages")
MODEL = ("sizes", "heads", "tied", "context", "vocabulary")
SETTINGS = ("warmup", "betas", "epsilon", "decay", "clip", "rise", "fall")
EXECUTION = tuple(field.name for field in fields(Execution))
TRAINING = ("updates", "batch_tokens", "evaluations", "evaluation_tokens", "seeds", "precision", *SETTINGS, *EXECUTION)
STAGE = ("name", "schedule", "learning_rates", "budgets", "keep")


@dataclass(frozen=True)
class Stage:
    """Runs that are trained together, at one schedule.

    Parameters
    ----------
    name : str
        Name of their table.
    schedule : str
        ``"constant"`` or ``"cosine"``.
    learning_rates : tuple of float or "best"
        Peak rates. ``"best"`` takes for each size the rate with the lowest final evaluation loss, a mean over seeds, of
        the longest runs at a constant rate in earlier stages.
    budgets : tuple of float
        Updates as shares of those of the size.
    keep : str
        ``"all"``, or ``"best"`` to count as the stage's runs only those at each size's best rate.

    Examples
    --------
    >>> from bayescaling.training import Stage
    >>> Stage("scheme-3", "cosine", "best", budgets=(0.5, 1.0)).keep
    'all'
    """

    name: str
    schedule: str
    learning_rates: tuple[float, ...] | str
    budgets: tuple[float, ...] = (1.0,)
    keep: str = "all"


@dataclass(frozen=True)
class Sweep:
    """A sweep of language models: sizes, a corpus and stages, checked.

    Parameters
    ----------
    base : Run
        What all runs share; each has its own model and optimisation.
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
        """Corpus that all runs train on."""
        return self.base.corpus

    def settled(self, where):
        """Give the sweep with its runs settled somewhere, as `runs.Run.settled` does."""
        return replace(self, base=self.base.settled(where))

    def runs(self, stage, best):
        """List the runs of a stage.

        Parameters
        ----------
        stage : Stage
        best : mapping of Configuration to float
            Best rate of each size so far; a size without one has no runs in a stage that takes the best.

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
        return replace(
            self.base,
            model=model,
            optimisation=optimisation,
            evaluate_at=evaluation_marks(total, self.evaluations),
            seed=seed,
            budget_fraction=budget,
        )


def read_sweep(path, folder):
    """Read a sweep from a TOML file.

    Parameters
    ----------
    path : path
        The file. ``preset`` names a sweep whose tables the file's replace key by key; the file's ``[corpus]`` and
        ``[[stages]]`` replace the preset's as a whole.
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

    Examples
    --------
    >>> from bayescaling.training import make_sweep
    >>> sweep = make_sweep({"preset": "demo", "training": {"seeds": [0, 1]}})
    >>> len(sweep.sizes), sweep.updates, [stage.name for stage in sweep.stages]
    (4, (400, 400, 600, 600), ['scheme-1', 'scheme-2', 'scheme-3', 'scheme-4'])
    >>> len(sweep.runs(sweep.stages[0], best={}))
    8
    """
    made = with_preset(tables, SECTIONS, PRESETS, needed=SECTIONS[1:], whole=("corpus", "stages"))
    corpus = table_of("corpus", made["corpus"])
    if "preset" in tables and corpus.get("kind", "synthetic") != "synthetic":
        corpus = {"vocabulary": GPT2_VOCABULARY} | corpus
    with located():
        model = table_of("model", made["model"], MODEL)
        training = table_of("training", made["training"], TRAINING)
        corpus = open_corpus(corpus, base=base, folder=folder)
        return _assembled(corpus, model, training, made["stages"])


def _assembled(corpus, model, training, stages):
    shape = chosen(model, ("heads", "tied", "context", "vocabulary"), "model", Configuration)
    shape = {"vocabulary": corpus.vocabulary} | shape
    sizes = tuple(Configuration(d, layers, **shape) for d, layers in _sizes(model))
    updates = _updates(training, len(sizes))
    optimisation = Optimisation(1.0, updates=max(updates), **optimiser_settings(training, SETTINGS))
    shared = chosen(training, ("batch_tokens", "evaluation_tokens", "precision"), "training", Run)
    base = Run(sizes[0], corpus, optimisation, evaluate_at=(updates[0],), **shared)
    evaluations = training.get("evaluations", 20)
    check_whole("training: evaluations", evaluations, 1, MOST_EVALUATIONS)
    execution, stages = Execution(**chosen(training, EXECUTION, "training", Execution)), _stages(stages)
    longest = max(updates) * max(budget for stage in stages for budget in stage.budgets)
    if longest > MOST_UPDATES:
        raise InputError(f"stages: a run has {longest:.3g} updates; give fewer, at most {MOST_UPDATES:,}")
    return Sweep(base, sizes, updates, evaluations, seeds_of(training, 63), stages, execution)


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
    tables = named_tables("stages", given, STAGE, reserved=("runs",))
    stages = tuple(_stage(f"stages: stage {i}", name, table) for i, (name, table) in enumerate(tables.items(), 1))
    for position, stage in enumerate(stages):
        if stage.learning_rates == BEST and not any(
            before.schedule == "constant" and before.learning_rates != BEST for before in stages[:position]
        ):
            raise InputError(f"stages: {stage.name} asks for the best rate and no constant stage goes before; add one")
    return stages


def _stage(label, name, table):
    schedule = table.get("schedule", "constant")
    check_schedule(schedule)
    rates, budgets, keep = table.get("learning_rates"), table.get("budgets", [1.0]), table.get("keep", "all")
    if rates != BEST and not _positive(rates):
        raise InputError(f'{label}: learning_rates is {rates!r}; give positive numbers, such as [0.001], or "best"')
    if not _positive(budgets):
        raise InputError(f"{label}: budgets is {budgets!r}; give positive shares of the updates, such as [0.5, 1.0]")
    check_choice(f"{label}: keep", keep, ("all", BEST))
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

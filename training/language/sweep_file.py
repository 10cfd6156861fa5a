"""The TOML file of a sweep of language models: its keys, and the sweep that it describes."""

from dataclasses import fields
from typing import Annotated, Literal

from pydantic import Field

from ...datasets.wording import quoted
from ...errors import InputError
from ..engine.fields import Count
from ..engine.loop import Optimisation
from ..sweeps.base import Execution
from ..sweeps.keys import CLIP, NEEDED, Derived, Key, add_defaults, checked, listed, make_keys, make_seeds_key
from ..sweeps.tables import check_table, chosen, located, merge_preset, name_tables, pick_optimiser, read_tables
from .corpora.corpus import KIND, KINDS, open_corpus
from .language_run import Run
from .loss import ROUTES
from .presets import GPT2_VOCABULARY, PRESETS
from .stages import BEST, Stage, Sweep
from .transformer import Configuration

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
STAGE = make_keys(
    Stage,
    ("name", "schedule", "learning_rates", "budgets", "batch_tokens", "optimiser", "keep"),
    name=Derived("stage-1, ..."),
    schedule="constant",
    batch_tokens=Derived("the sweep's"),
    optimiser=Derived("the sweep's"),
)


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


def _assembled(corpus, model, training, stages):
    shape = {"vocabulary": corpus.vocabulary} | chosen(model, SHAPE)
    sizes = tuple(Configuration(d, layers, **shape) for d, layers in model["sizes"])
    updates = training["updates"] if isinstance(training["updates"], list) else [training["updates"]] * len(sizes)
    if len(updates) != len(sizes):
        raise InputError(
            f"training: updates is {updates!r}; give a whole number, or one for each of the {len(sizes)} sizes"
        )
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

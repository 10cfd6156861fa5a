"""The built-in tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from ..errors import InputError
from .cells import fractional_years
from .formats import open_table
from .printed import PrintedTable
from .wording import listed, quoted, suggestion

FOLDER = Path(__file__).parent / "tables"
COLUMN = re.compile(r"^- `(\w+)`: ", re.MULTILINE)
CHINCHILLA_VOCABULARY = 32000
# Sizes are float64 also where all of them are whole.
MEASURED = {"parameters", "parameters_millions", "parameters_nonembedding", "d_model", "vocabulary", "tokens"}
MEASURED |= {"batch_tokens", "dataset_tokens", "samples", "recurrences", "k_max", "successes", "runs"}


@dataclass(frozen=True)
class Table:
    """A built-in table with its description, source, licence and derived columns.

    The notes next to its file end with the list of its columns. A table is `joined` with the tables of these names by
    the columns that identify their rows, such as models.
    """

    name: str
    rows: int
    kind: str
    description: str
    source: str
    licence: str
    derived: dict[str, Callable] = field(default_factory=dict)
    joined: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def notes(self):
        """Return the notes, Markdown."""
        return (FOLDER / f"{self.name}.md").read_text(encoding="utf-8")

    @property
    def columns(self):
        """Return the names of the columns in their order."""
        return COLUMN.findall(self.notes.rpartition("## Columns")[2])


FACTS = "published figures (facts only), given with their source"
EPOCH = "Epoch AI, Epoch Capabilities Index, August 2026; training compute, its Benchmarking Hub, April 2026"
EPOCH_SCORES_LICENCE = (
    "CC-BY 4.0 as Epoch AI states for its file; scores collected from others may have other terms, see the notes"
)
ROSETTA = (
    "Ho et al. 2025 (arXiv 2512.00193), epoch-research/benchmark-stitching at f87d3cc; training compute, Epoch AI",
    "MIT (scores and models) and CC-BY 4.0 (training compute)",
)
WEIRDML = ("htihle/weirdml-time-horizons at 965c7f1", "MIT")
TRAINING_FLOP = {"training_flop": lambda runs: 6.0 * runs["parameters"] * runs["tokens"]}
YEAR = {"year": lambda table: fractional_years(table["date"])}
LISTED = (
    Table(
        "chinchilla_runs",
        245,
        "runs",
        "Training runs of the Chinchilla study: size, compute and final loss",
        "read off Hoffmann et al. 2022 (arXiv 2203.15556), figure 4; sizes snapped to its table A9",
        FACTS,
        derived={
            "tokens": lambda runs: runs["training_flop"] / (6 * runs["parameters"]),
            "vocabulary": lambda runs: CHINCHILLA_VOCABULARY,
            "parameters_nonembedding": lambda runs: runs["parameters"] - CHINCHILLA_VOCABULARY * runs["d_model"],
        },
    ),
    Table(
        "chinchilla_models",
        50,
        "configurations",
        "Sizes and widths of the models of the Chinchilla study",
        "Hoffmann et al. 2022 (arXiv 2203.15556), table A9",
        FACTS,
        derived={"parameters": lambda models: 1e6 * models["parameters_millions"]},
    ),
    Table(
        "small_lm_runs",
        495,
        "runs",
        "Readings of small transformers trained on a synthetic language of known entropy, in four schemes",
        'this package: the sweep "small", on a CPU',
        "that of this package",
        derived=TRAINING_FLOP,
    ),
    Table(
        "small_lm_rates",
        180,
        "runs",
        "Small transformers trained on a synthetic language of known entropy, at every learning rate with every batch",
        'this package: the sweep "rates", on a CPU',
        "that of this package",
        derived=TRAINING_FLOP,
    ),
    Table(
        "data_constrained_runs",
        308,
        "runs",
        "Training runs on repeated data: size, tokens seen, distinct tokens and loss",
        "Muennighoff et al. 2023 (arXiv 2305.16264), huggingface/datablations at 1370131",
        "Apache-2.0",
        derived=TRAINING_FLOP,
    ),
    Table(
        "overtraining_runs",
        104,
        "runs",
        "Training runs on three corpora, 5 to 640 tokens per parameter, with losses and errors on tasks",
        "Gadre et al. 2024 (arXiv 2403.08540), mlfoundations/scaling at a003c49",
        "MIT",
        derived=TRAINING_FLOP,
    ),
    Table(
        "gemstones",
        619,
        "runs",
        "Readings of 22 transformers of many widths and depths: hot, cooled down, and at half the learning rate",
        "McLeish et al. 2025 (arXiv 2502.06857), mcleish7/gemstone-scaling-laws at 5f42047",
        "MIT",
        derived=TRAINING_FLOP,
    ),
    Table(
        "schedule_curves",
        6265,
        "curves",
        "Loss curves of three sizes of transformers under nine learning-rate schedules",
        "Luo et al. 2025 (arXiv 2503.12811), thu-yao-01-luo/MultiPowerLaw at 8da9f19",
        "MIT",
        derived={"clock": lambda readings: readings["step"].astype(float)},
    ),
    Table(
        "lm_progress",
        231,
        "evaluations",
        "Language-model evaluations of 2012 to 2023 on WikiText-103, WikiText-2 and Penn Treebank",
        'Ho et al. 2024 (arXiv 2403.05812), reconstructed; Epoch AI, "Data on AI Models"',
        "CC-BY 4.0 (Epoch AI) and published figures (facts only), given with their source",
    ),
    Table(
        "attribution_systems",
        6,
        "systems",
        "Systems between which progress is attributed to scaling and to algorithms",
        "Ho et al. 2024 (arXiv 2403.05812), table 1",
        FACTS,
    ),
    Table(
        "arithmetic_runs",
        1728,
        "counts",
        "Sums that small transformers get right, by the lengths of both operands and the embedding of positions",
        "this package: a sweep of arithmetic, whose settings the notes have, on a CPU",
        "that of this package",
    ),
    Table(
        "arithmetic_gpu",
        4600,
        "counts",
        "Sums of up to 160 digits that transformers trained on up to 20 digits get right, by embedding",
        'this package: the sweep "gpu" of arithmetic, on one GPU',
        "that of this package",
    ),
    Table(
        "arithmetic_small",
        288,
        "offsets",
        "Sums that small transformers get right, with Abacus, FIRE and no positions, which all learned to add",
        'this package: the sweep "small" of arithmetic, on a CPU',
        "that of this package",
    ),
    Table(
        "arithmetic_offsets",
        520,
        "offsets",
        "Sums that small transformers get right, by embedding and, of Abacus, the offset of the evaluation",
        "this package: a sweep of arithmetic, whose settings the notes have, on a CPU",
        "that of this package",
    ),
    Table(
        "arithmetic_equals",
        480,
        "offsets",
        "Sums that small transformers get right, with and without a row of Abacus embeddings for the equals sign",
        "this package: a sweep of arithmetic, whose settings the notes have, on a CPU",
        "that of this package",
    ),
    Table(
        "published",
        373,
        "published",
        "Estimates that papers report, to compare with other results",
        "the papers named in its source column",
        FACTS,
    ),
    Table(
        "eci_scores",
        2249,
        "scores",
        "Scores of 222 models on 57 benchmarks, corrected for chance, February 2023 to July 2026",
        EPOCH,
        EPOCH_SCORES_LICENCE,
        derived=YEAR,
        joined={"eci_models": ("model",)},
    ),
    Table(
        "eci_models",
        222,
        "models",
        "The models of eci_scores: dates, training compute and the published index",
        EPOCH,
        "CC-BY 4.0",
        derived=YEAR,
    ),
    Table(
        "rosetta_scores",
        1324,
        "scores",
        "Scores of 179 model versions on 38 benchmarks, not corrected for chance, to November 2025",
        *ROSETTA,
        derived=YEAR,
        joined={"rosetta_models": ("model",)},
    ),
    Table(
        "rosetta_models",
        179,
        "models",
        "The model versions of rosetta_scores: dates, training compute of two tables, and whether distilled",
        *ROSETTA,
        derived=YEAR,
    ),
    Table(
        "weirdml",
        7395,
        "horizons",
        "Successes of 87 models on 17 tasks of machine learning at five thresholds, with the time that people need",
        *WEIRDML,
        derived=YEAR,
        joined={"weirdml_models": ("model",), "weirdml_times": ("task", "threshold")},
    ),
    Table(
        "training_compute",
        440,
        "values",
        "Training compute of 440 language models, 2012 to October 2025",
        'Epoch AI, "Data on AI Models", December 2025',
        "CC-BY 4.0",
        derived=YEAR | {"larger_before": lambda models: _larger_before(models)},
    ),
    Table("weirdml_models", 87, "models", "The models of weirdml and their dates", *WEIRDML, derived=YEAR),
    Table("weirdml_times", 85, "times", "The time that people need for the tasks of weirdml, by threshold", *WEIRDML),
)
TABLES = {table.name: table for table in LISTED}


def _larger_before(models):
    """Return the number of models of more compute that were published by the date of each, an ndarray."""
    date, value = models["date"].to_numpy(), models["value"].to_numpy(float)
    return ((date[None, :] <= date[:, None]) & (value[None, :] > value[:, None])).sum(1)


def catalogue() -> pd.DataFrame:
    """List the built-in tables.

    Returns
    -------
    pandas.DataFrame
        A row per table: ``name``, ``rows``, ``kind``, ``description``, ``source``, ``licence``.

    Examples
    --------
    >>> "chinchilla_runs" in set(catalogue()["name"])
    True
    """
    fields = ["name", "rows", "kind", "description", "source", "licence"]
    return pd.DataFrame([{field: getattr(table, field) for field in fields} for table in TABLES.values()])


def load(name: str) -> pd.DataFrame:
    """Load a built-in table.

    Parameters
    ----------
    name : str
        A name listed by `catalogue`.

    Returns
    -------
    pandas.DataFrame
        The table, indexed from 0, which prints as that of `read`; `notes` describes the columns, their units and the
        limits of the data. Dates are datetimes, sizes and measurements float64. ``attrs["source"]`` is the name.

    Raises
    ------
    InputError
        If there is no such table.

    Examples
    --------
    >>> len(load("chinchilla_runs"))
    245
    """
    table = _entry(name)
    frame, *_ = open_table(FOLDER / f"{name}.csv")
    for other, keys in table.joined.items():
        columns = load(other).set_index(list(keys))
        frame = frame.join(
            columns[[name for name in table.columns if name in columns and name not in frame]], list(keys)
        )
    dates = {x: pd.to_datetime(frame[x]).astype("datetime64[ns]") for x in ("publication_date", "date") if x in frame}
    frame = frame.assign(**dates).assign(**table.derived)[table.columns].reset_index(drop=True)
    measured = MEASURED | ({"layers"} if name.startswith("arithmetic") else set())
    frame = frame.astype({column: float for column in frame.select_dtypes("integer") if column in measured})
    frame.attrs["source"] = name
    return PrintedTable.of(frame)


def notes(name: str) -> str:
    """Return source, licence, method, limits and columns of a table, by the name that `load` takes.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> notes("chinchilla_runs").splitlines()[0][:17]
    '# chinchilla_runs'
    """
    return _entry(name).notes


def _entry(name):
    if name not in TABLES:
        raise InputError(
            f"there is no built-in table {quoted(name)}; the tables are {listed(TABLES)}{suggestion(name, TABLES)}"
        )
    return TABLES[name]

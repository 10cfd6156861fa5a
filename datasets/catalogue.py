"""The built-in tables."""

from __future__ import annotations

import re
import tomllib
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
    """A built-in table with its description, source and licence, as ``catalogue.toml`` has them.

    The notes next to its file end with the list of its columns. A table is `joined` with the tables of these names by
    the columns that identify their rows, such as models.
    """

    name: str
    rows: int
    kind: str
    description: str
    source: str
    licence: str
    joined: dict[str, list[str]] = field(default_factory=dict)

    @property
    def notes(self):
        """Return the notes, Markdown."""
        return (FOLDER / f"{self.name}.md").read_text(encoding="utf-8")

    @property
    def columns(self):
        """Return the names of the columns in their order."""
        return COLUMN.findall(self.notes.rpartition("## Columns")[2])


TRAINING_FLOP = {"training_flop": lambda runs: 6.0 * runs["parameters"] * runs["tokens"]}
# Columns that follow from others, by table.
DERIVED: dict[str, dict[str, Callable]] = {
    "chinchilla_runs": {
        "tokens": lambda runs: runs["training_flop"] / (6 * runs["parameters"]),
        "vocabulary": lambda runs: CHINCHILLA_VOCABULARY,
        "parameters_nonembedding": lambda runs: runs["parameters"] - CHINCHILLA_VOCABULARY * runs["d_model"],
    },
    "chinchilla_models": {"parameters": lambda models: 1e6 * models["parameters_millions"]},
    "training_compute": {"larger_before": lambda models: _larger_before(models)},
    "schedule_curves": {"clock": lambda readings: readings["step"].astype(float)},
    **dict.fromkeys(
        ("small_lm_runs", "small_lm_rates", "data_constrained_runs", "overtraining_runs", "gemstones"), TRAINING_FLOP
    ),
}
TABLES = {
    name: Table(name, **entry)
    for name, entry in tomllib.loads((FOLDER / "catalogue.toml").read_text(encoding="utf-8")).items()
}


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
        columns = load(other).set_index(keys)
        frame = frame.join(columns[[name for name in table.columns if name in columns and name not in frame]], keys)
    dates = {x: pd.to_datetime(frame[x]).astype("datetime64[ns]") for x in ("publication_date", "date") if x in frame}
    dates |= {"year": fractional_years(dates["date"])} if "date" in dates else {}
    frame = frame.assign(**dates).assign(**DERIVED.get(name, {}))[table.columns].reset_index(drop=True)
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

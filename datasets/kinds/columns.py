"""Tables of any columns, which a formula names."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from ..checks import blank
from ..logs import READERS
from ..meaning.names import FALLING, RISING, is_called
from ..notation import MISSING, parsed
from ..panels import MORE_STEPS, RUNS, TIMES, melted, one_row_each, spelled
from ..selection import drop_missing_rows, select_rows
from ..text import refuse_duplicates
from ..wording import plural, quoted
from .kind import Kind, register_kind

# A size in a name, such as params_3M, N=1000 or N1238144: a word, and a number with a suffix, after "=", or large.
NAMED_SIZE = re.compile(
    r"([A-Za-z]*)(?:[_: -]*(\d+(?:\.\d+)?[kKmMbBtT])(?![A-Za-z])| ?= ?(\d+(?:\.\d+)?(?:e\d+)?)|(?<=[Nn])(\d{4,}))"
)
OF_SIZE = str.split("param parameter token n d c width dim size image sample")  # words that name it
PLUS_MINUS = re.compile(r"\s*([^±()]+?)\s*(?:±|\+/-|\+-)\s*([0-9.,]+)\s*(%?)\s*")
FAILED = set(str.split("diverged div failed fail oom crashed crash error timeout inf - -- — – ? x tbd"))
LEAST_SIZES, LEAST_READINGS = 3, 4  # columns, or runs of different sizes; of a run that no column names
EPOCHS = {"epoch", "epochs"}


def shape(frame, label, columns):
    """Return a frame with a row for each run: of a tracker's panel, of a column a size, and with ± in columns."""
    frame = _stack_sizes(melted(frame, label), label)
    sentences = frame.attrs.get("sentences", [])
    for name in [name for name in frame if frame[name].dtype == object or pd.api.types.is_string_dtype(frame[name])]:
        texts = frame[name].dropna().map(str)
        matches = texts.map(PLUS_MINUS.fullmatch)
        if len(texts) and matches.map(bool).mean() > 1 / 2:
            values, errors = ({row: match[k] + match[3] if match else texts[row] for row, match in matches.items()}
                              for k in (1, 2))  # fmt: skip
            errors = {row: text for row, text in errors.items() if matches[row]}
            place, new = list(frame).index(name), f"{name} ±"
            frame = frame.assign(**{name: pd.Series(values, dtype=object).reindex(frame.index)})
            frame.insert(place + 1, new, pd.Series(errors, dtype=object).reindex(frame.index))
            sentences = [*sentences, f"what follows ± in {quoted(name)} is read as the column {quoted(new)}"]
    frame.attrs["sentences"] = sentences
    return frame


def _stack_sizes(frame, label):
    """Return a table of a column for each size, such as n=1000 and n=3000, with a row for each cell of these."""
    matches = {name: match for name in frame if (match := NAMED_SIZE.search(str(name)))}
    around = {name: str(name).replace(match[0], f"{match[1]}\0", 1) for name, match in matches.items()}
    for text in dict.fromkeys(around.values()):
        names = [name for name in around if around[name] == text and pd.api.types.is_numeric_dtype(frame[name])]
        if len(names) < LEAST_SIZES:
            continue
        word, rest = matches[names[0]][1], re.sub(r"^[\W_]+|[\W_]+$", "", text.replace("\0", ""))
        of_response = is_called(rest, (*FALLING, *RISING))
        stem = Path(label).name.partition(".")[0]
        size = word if is_called(word, OF_SIZE) else "size" if "size" not in frame else "size 2"
        value = rest if of_response else stem if is_called(stem, (*FALLING, *RISING)) else "value"
        if pivot := next((name for name in frame if "\\" in str(name) and name not in names), None):
            row, _, size = map(str.strip, pivot.partition("\\"))
            frame = frame.rename(columns={pivot: row})
        if size in frame or value in frame:
            continue
        cells = {name: {size: _size_of(matches[name]), value: frame[name]} for name in names}
        table = one_row_each(frame, names, label, cells.get)
        table = table[table[value].notna()]
        table.attrs["sentences"] = [
            *frame.attrs.get("sentences", []),
            f"{plural(len(names), 'column')} named by sizes are read as {plural(len(table), 'row')} with the columns "
            f"{quoted(size)} and {quoted(value)}",
        ]
        return table
    return frame


def _size_of(match):
    return parsed(match[2] or match[3] or match[4])[0]


def parse(table, changes, columns, where, drop_missing, needed):
    """Return a table whose columns of numbers are float64 and whose others are text; blank cells stay.

    With `drop_missing` rows that lack a finite number in a column that is `needed` are left out, or in any of numbers.
    """
    names = {column: name for name, column in columns.items()}
    names = [str(names.get(name, name)).replace("`", "'") for name in table]
    names = [name if name.strip() else f"column {place}" for place, name in enumerate(names, 1)]
    table = table.set_axis(names, axis="columns")
    refuse_duplicates(list(table.columns), changes.label)
    for name in table:
        table[name] = _as_numbers(table[name], changes)
    table = select_rows(_last_of_runs(table, changes, needed), where, changes)
    if not drop_missing:
        return table
    numbers = table.select_dtypes("number").columns
    numbers = [name for name in numbers if name in needed] or list(numbers)
    table[numbers] = table[numbers].where(np.isfinite(table[numbers]))
    return drop_missing_rows(table, numbers, changes)


def _last_of_runs(table, changes, needed):
    """Return the last reading of each run of a log, with the size that its name states.

    A run is named by a column, or ends where the steps or the epochs begin again. It has one size, in its name or in a
    column; readings of a curve alone stay, and those of which a formula needs the steps.
    """
    step = next((name for name in table if spelled(name) in (MORE_STEPS | EPOCHS) - TIMES), None)
    if step is None or step in needed or table[step].dtype.kind != "f":
        return _name_sizes(table, changes)
    sized = _name_sizes(table, changes)
    name = next((name for name in table if spelled(name) in RUNS or name == "size"), None)
    again = (table[step].diff() <= 0).cumsum()
    once = name is None and not spelled(step).endswith("s") and len(table) >= LEAST_READINGS * (again.iloc[-1] + 1)
    runs = table[name] if name else again if once else pd.Series(range(len(table)))
    numbers = sized.select_dtypes("number").drop(columns=step)
    groups = numbers.groupby(runs.to_numpy(), sort=False)
    constant = (groups.nunique().max() <= 1) & (groups.first().nunique() >= LEAST_SIZES)
    if not runs.duplicated().any() or not constant.any():
        return sized
    last = sized.loc[sized[step].groupby(runs.to_numpy(), sort=False).idxmax()]
    changes.add("last_of", f"the last of the readings of each of {len(last)} runs is read", value=name or step)
    return last


def _name_sizes(table, changes):
    """Return a table with the sizes that the names of runs, or of files, state, unless a column has them."""
    name = next((name for name in table if spelled(name) in RUNS and table[name].dtype.kind != "f"), None)
    matches = [NAMED_SIZE.search(str(run)) for run in table[name]] if name else [None]
    if not all(matches) or len({match[1].lower() for match in matches}) > 1:
        return table
    size = word if is_called(word := matches[0][1], OF_SIZE) else "size"
    values = np.array([_size_of(match) for match in matches])
    known = any(np.allclose(table[other], values, rtol=0.1) for other in table.select_dtypes("number"))
    if known or size in table or len({*values}) < LEAST_SIZES:
        return table
    changes.add("from_name", f"{size} is what the names of {name}s state", value=name)
    return table.assign(**{size: values})


def _as_numbers(cells, changes):
    """Return a column as float64 where every cell is a number, blank or a word such as diverged, else as text."""
    if pd.api.types.is_bool_dtype(cells):
        return cells.astype(object).where(cells.notna()).map(str, na_action="ignore")
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.astype(object)
    if pd.api.types.is_datetime64_any_dtype(cells) or pd.api.types.is_timedelta64_dtype(cells):
        return cells.astype(str)
    text = cells.map(lambda cell: cell.strip().lower() if isinstance(cell, str) else None)
    missing, failed = (cells.map(blank) | text.isin(MISSING)).to_numpy(bool), text.isin(FAILED).to_numpy(bool)
    numbers = pd.to_numeric(cells.where(~missing & ~failed), errors="coerce").astype("float64")
    if (numbers.isna() & ~missing & ~failed).any() or numbers.isna().all():
        return cells
    if failed.any():
        words, rows = ", ".join(map(quoted, dict.fromkeys(cells[failed]))), plural(int(failed.sum()), "row")
        changes.add("failed", f"{quoted(cells.name)} has {words} for a number in {rows}", column=str(cells.name))
    return numbers


COLUMNS = Kind(
    name="columns",
    dimension="row",
    parse=parse,
    recognisers=(lambda header: "number",),
    form=shape,
    of_any_columns=True,
    readers={suffix: READERS[suffix] for suffix in (".log", ".out")},
)
register_kind(COLUMNS)

"""A checked table as an xarray Dataset that a netCDF file can hold, and the same table back."""

import json
import re

import numpy as np
import pandas as pd

from ..errors import InputError
from .deferred import xr
from .wording import quoted

NATIVE = re.compile(r"bool|u?int(8|16|32|64)|float(32|64)")
MISSING = {"None": None, "NaN": np.nan, "NA": pd.NA, "NaT": pd.NaT}
ROW_OF = "{}_number"
SHOWN = 3


def to_dataset(frame, dimension, *, group=None, of_rows=()):
    """Store a table along a dimension.

    Parameters
    ----------
    frame : pandas.DataFrame
        A checked table. Its index and attributes are not kept.
    dimension : str
        Name of the dimension of its rows.
    group : str, optional
        A column of names without gaps, such as ``"run"``: what is constant within each is stored once, along it.
    of_rows : sequence of str
        Columns of the rows themselves, even where they are constant within a group.

    Returns
    -------
    xarray.Dataset
        A variable for each column, along `dimension` or `group`. Numbers are kept; text, dates (ISO 8601) and anything
        else are text, with a mark for missing cells. With `group`, its names in order of appearance are a coordinate
        and ``<group>_number`` says for each row which of them it belongs to. A column whose name a file cannot hold, or
        which another part of the result bears, has another; attributes of the variables keep what it was.

    Raises
    ------
    InputError
        If a cell is something that a file cannot hold, such as a set, naming its column and row.
    """
    taken = {dimension} if group is None else {dimension, group, ROW_OF.format(group)}
    names = _names([column for column in frame.columns if group is None or column != group], taken)
    coords = {dimension: np.arange(len(frame))}
    variables = {}
    if group is not None:
        names[group] = group
        number, _ = pd.factorize(frame[group])
        _, first = np.unique(number, return_index=True)
        variables[ROW_OF.format(group)] = (dimension, number)
    for position, column in enumerate(frame.columns):
        name = names[column]
        values, told = _encoded(frame[column], column)
        told |= {"position": position} | ({} if name == column else {"column": _told(column)})
        if group is not None and column not in of_rows and _same(values, values[first][number]):
            (coords if column == group else variables)[name] = (group, values[first], told)
        else:
            variables[name] = (dimension, values, told)
    return xr.Dataset(variables, coords)


def from_dataset(dataset, dimension, *, group=None):
    """Return the table that `to_dataset` stored, as far as its variables are still there.

    Parameters
    ----------
    dataset : xarray.Dataset
        Its variables and their attributes; others are passed over.
    dimension, group : str
        As given to `to_dataset`.

    Returns
    -------
    pandas.DataFrame
        Columns in their order with their names and types, indexed from 0.

    Raises
    ------
    InputError
        If no variable is a column of a table.
    """
    stored = {name: x for name, x in dataset.variables.items() if "position" in x.attrs}
    if not stored:
        raise InputError(f"the data set holds no table along {quoted(dimension)}; its variables are {list(dataset)}")
    number = slice(None) if group is None else dataset[ROW_OF.format(group)].values
    columns = {}
    for name, x in sorted(stored.items(), key=lambda item: item[1].attrs["position"]):
        column = json.loads(x.attrs["column"]) if "column" in x.attrs else name
        columns[column] = _decoded(x.values if x.dims == (dimension,) else x.values[number], x.attrs)
    return pd.DataFrame(columns)


def note_names(frame, changes):
    """Tell which columns of a table bear other names in the file of a fit, whose names allow less."""
    names = _names(list(frame.columns), set())
    others = {column: name for column, name in names.items() if name != column}
    if others:
        told = ", ".join(f"{quoted(column)} as {quoted(name)}" for column, name in list(others.items())[:SHOWN])
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        changes.add(
            "names",
            f"a netCDF file holds {told}{more}; table_of gives the columns their names back",
            stored={str(column): name for column, name in others.items()},
        )


def _names(columns, taken):
    """Name of the variable of each column."""
    names, taken, others = {}, set(taken), set(columns)
    for position, column in enumerate(columns):
        usable = isinstance(column, str) and column.isprintable() and column.strip(". ") and column[:4] != "_nc4"
        name = column.replace("/", "%2F") if usable else f"column_{position}"
        while name in taken or (name != column and name in others):
            name += "_"
        taken.add(name)
        names[column] = name
    return names


def _told(column):
    """Name of a column as an attribute."""
    try:
        return _json(column)
    except ValueError:
        raise InputError(
            f"a column is called {quoted(column)}, a {type(column).__name__}, which a file cannot hold; give it a name "
            "that is text"
        ) from None


def _same(one, other):
    return bool(np.all((one == other) | ((one != one) & (other != other))))


def _encoded(cells, column):
    """Values that a file can hold, and what it takes to get the cells back."""
    dtype = cells.dtype
    if isinstance(dtype, np.dtype) and NATIVE.fullmatch(dtype.name):
        return cells.to_numpy(), {}
    told = {} if pd.api.types.is_object_dtype(dtype) else {"pandas_dtype": str(dtype)}
    if isinstance(dtype, pd.CategoricalDtype):
        told |= {"categories": _json(dtype.categories.tolist()), "ordered": int(dtype.ordered)}
    if isinstance(dtype, pd.DatetimeTZDtype):
        cells = cells.dt.tz_convert("UTC").dt.tz_localize(None)
    if cells.dtype.kind == "M":
        return np.datetime_as_string(cells.to_numpy()).astype(object), told
    if cells.dtype.kind == "m":
        return cells.to_numpy().astype("int64"), told
    return _as_text(list(cells.astype(object)), column, told)


def _as_text(cells, column, told):
    mark = "missing:"
    while any(isinstance(cell, str) and cell.startswith(mark) for cell in cells):
        mark = f"_{mark}"
    missing = [_missing(cell) for cell in cells]
    marked = [cell if name is None else f"{mark}{name}" for cell, name in zip(cells, missing, strict=True)]
    if any(missing):
        told |= {"missing_mark": mark}
    if not all(map(_plain, marked)):
        told |= {"cells": "json"}
        try:
            marked = [_json(cell) for cell in marked]
        except ValueError:
            row = next(row for row, cell in enumerate(marked) if not _keeps(cell))
            raise InputError(
                f"column {quoted(column)}, row {row} (counting from 0): found {quoted(cells[row])}, a "
                f"{type(cells[row]).__name__}, which a file cannot hold; turn the column into numbers or text, or "
                "leave it out"
            ) from None
    values = np.empty(len(marked), object)
    values[:] = marked
    return values, told


def _missing(cell):
    if cell is None:
        return "None"
    if cell is pd.NA:
        return "NA"
    if cell is pd.NaT:
        return "NaT"
    return "NaN" if isinstance(cell, float | np.floating) and cell != cell else None


def _plain(cell):
    """Whether a file holds a cell as it is: text of UTF-8 without a zero byte, where text ends in a file."""
    return isinstance(cell, str) and "\0" not in cell and not re.search("[\ud800-\udfff]", cell)


def _json(value):
    value = value.item() if isinstance(value, np.generic) else value
    try:
        text = json.dumps(value)
    except TypeError as error:
        raise ValueError from error
    back = json.loads(text)
    if type(back) is not type(value) or back != value:
        raise ValueError(f"{value!r} is not what is read back")
    return text


def _keeps(value):
    try:
        return bool(_json(value))
    except ValueError:
        return False


def _decoded(values, told):
    """Cells of a column of the table, a Series."""
    dtype = told.get("pandas_dtype")
    if values.dtype.kind in "biuf":
        return pd.Series(values if dtype is None else values.astype(dtype))
    values = values.tolist()
    if told.get("cells") == "json":
        values = [json.loads(cell) for cell in values]
    if "missing_mark" in told:
        of_mark = {f"{told['missing_mark']}{name}": cell for name, cell in MISSING.items()}
        values = [of_mark.get(cell, cell) if isinstance(cell, str) else cell for cell in values]
    cells = pd.Series(values, dtype=object)
    if dtype is None:
        return cells
    if dtype == "category":
        return cells.astype(pd.CategoricalDtype(json.loads(told["categories"]), bool(told["ordered"])))
    wanted = pd.api.types.pandas_dtype(dtype)
    if isinstance(wanted, pd.DatetimeTZDtype):
        return cells.astype(f"datetime64[{wanted.unit}]").dt.tz_localize("UTC").dt.tz_convert(wanted.tz)
    # Before pandas 3, text had no type of its own.
    return cells if isinstance(wanted, np.dtype) and wanted.kind == "U" else cells.astype(wanted)

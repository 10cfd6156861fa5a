"""Conversion of a checked table to an xarray Dataset that a netCDF file can hold, and back."""

import json
import re

import numpy as np
import pandas as pd

from ..errors import InputError
from .deferred import xr
from .printed import PrintedTable
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
        A checked table. Its index and attributes are not stored.
    dimension : str
        Name of the dimension of its rows.
    group : str, optional
        A column of names without gaps, such as ``"run"``. Columns that are constant within each group are stored once,
        along it.
    of_rows : sequence of str
        Columns that are stored along the rows, even where they are constant within a group.

    Returns
    -------
    xarray.Dataset
        A variable for each column, along `dimension` or `group`. Numbers are unchanged; text, dates (ISO 8601) and
        anything else are text, with a mark for missing cells. With `group`, its names in order of appearance are a
        coordinate, and ``<group>_number`` has the number of the group of each row. A column gets another name if a file
        cannot hold its name or another part of the result has it; attributes of the variable have the original name.

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
        values, attributes = _encoded(frame[column], column)
        attributes |= {"position": position} | ({} if name == column else {"column": _name_as_json(column)})
        if group is not None and column not in of_rows and _same(values, values[first][number]):
            (coords if column == group else variables)[name] = (group, values[first], attributes)
        else:
            variables[name] = (dimension, values, attributes)
    return xr.Dataset(variables, coords)


def from_dataset(dataset, dimension, *, group=None):
    """Return the table that `to_dataset` stored, as far as its variables are still there.

    Parameters
    ----------
    dataset : xarray.Dataset
        Its variables and their attributes; others are ignored.
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
    return PrintedTable(columns)


def note_names(frame, changes):
    """Record which columns of a table have other names in the file of a fit, which allows fewer names."""
    names = _names(list(frame.columns), set())
    others = {column: name for column, name in names.items() if name != column}
    if others:
        pairs = ", ".join(f"{quoted(column)} as {quoted(name)}" for column, name in list(others.items())[:SHOWN])
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        changes.add(
            "names",
            f"a netCDF file holds {pairs}{more}; table_of gives the columns their names back",
            stored={str(column): name for column, name in others.items()},
        )


def _names(columns, taken):
    """Return the name of the variable of each column."""
    names, taken, others = {}, set(taken), set(columns)
    for position, column in enumerate(columns):
        usable = isinstance(column, str) and column.isprintable() and column.strip(". ") and column[:4] != "_nc4"
        name = column.replace("/", "%2F") if usable else f"column_{position}"
        while name in taken or (name != column and name in others):
            name += "_"
        taken.add(name)
        names[column] = name
    return names


def _name_as_json(column):
    """Return the name of a column as JSON, for an attribute."""
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
    """Return values that a file can hold, and the attributes with which `_decoded` restores the cells."""
    dtype = cells.dtype
    if isinstance(dtype, np.dtype) and NATIVE.fullmatch(dtype.name):
        return cells.to_numpy(), {}
    attributes = {} if pd.api.types.is_object_dtype(dtype) else {"pandas_dtype": str(dtype)}
    if isinstance(dtype, pd.CategoricalDtype):
        attributes |= {"categories": _json(dtype.categories.tolist()), "ordered": int(dtype.ordered)}
    if isinstance(dtype, pd.DatetimeTZDtype):
        cells = cells.dt.tz_convert("UTC").dt.tz_localize(None)
    if cells.dtype.kind == "M":
        return np.datetime_as_string(cells.to_numpy()).astype(object), attributes
    if cells.dtype.kind == "m":
        return cells.to_numpy().astype("int64"), attributes
    return _as_text(list(cells.astype(object)), column, attributes)


def _as_text(cells, column, attributes):
    mark = "missing:"
    while any(isinstance(cell, str) and cell.startswith(mark) for cell in cells):
        mark = f"_{mark}"
    missing = [_missing(cell) for cell in cells]
    marked = [cell if name is None else f"{mark}{name}" for cell, name in zip(cells, missing, strict=True)]
    if any(missing):
        attributes |= {"missing_mark": mark}
    if not all(map(_plain, marked)):
        attributes |= {"cells": "json"}
        try:
            marked = [_json(cell) for cell in marked]
        except ValueError:
            row = next(row for row, cell in enumerate(marked) if not _is_json(cell))
            raise InputError(
                f"column {quoted(column)}, row {row} (counting from 0): found {quoted(cells[row])}, a "
                f"{type(cells[row]).__name__}, which a file cannot hold; turn the column into numbers or text, or "
                "leave it out"
            ) from None
    values = np.empty(len(marked), object)
    values[:] = marked
    return values, attributes


def _missing(cell):
    if cell is None:
        return "None"
    if cell is pd.NA:
        return "NA"
    if cell is pd.NaT:
        return "NaT"
    return "NaN" if isinstance(cell, float | np.floating) and cell != cell else None


def _plain(cell):
    """Return whether a file holds a cell unchanged: UTF-8 text without a zero byte, which would end it in a file."""
    return isinstance(cell, str) and "\0" not in cell and not re.search("[\ud800-\udfff]", cell)


def _json(value):
    value = value.item() if isinstance(value, np.generic) else value
    try:
        text = json.dumps(value)
    except TypeError as error:
        raise ValueError from error
    restored = json.loads(text)
    if type(restored) is not type(value) or restored != value:
        raise ValueError(f"{value!r} is not what is read back")
    return text


def _is_json(value):
    try:
        return bool(_json(value))
    except ValueError:
        return False


def _decoded(values, attributes):
    """Return the cells of a column of the table, a Series."""
    dtype = attributes.get("pandas_dtype")
    if values.dtype.kind in "biuf":
        return pd.Series(values if dtype is None else values.astype(dtype))
    values = values.tolist()
    if attributes.get("cells") == "json":
        values = [json.loads(cell) for cell in values]
    if "missing_mark" in attributes:
        of_mark = {f"{attributes['missing_mark']}{name}": cell for name, cell in MISSING.items()}
        values = [of_mark.get(cell, cell) if isinstance(cell, str) else cell for cell in values]
    cells = pd.Series(values, dtype=object)
    if dtype is None:
        return cells
    if dtype == "category":
        return cells.astype(pd.CategoricalDtype(json.loads(attributes["categories"]), bool(attributes["ordered"])))
    wanted = pd.api.types.pandas_dtype(dtype)
    if isinstance(wanted, pd.DatetimeTZDtype):
        return cells.astype(f"datetime64[{wanted.unit}]").dt.tz_localize("UTC").dt.tz_convert(wanted.tz)
    # Before pandas 3, text had no separate type.
    return cells if isinstance(wanted, np.dtype) and wanted.kind == "U" else cells.astype(wanted)

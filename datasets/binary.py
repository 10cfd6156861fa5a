"""Tables in binary files: Parquet and netCDF."""

import io

import numpy as np
import pandas as pd

from ..errors import InputError
from .columns import recognise
from .text import refuse_duplicates
from .wording import listed, reason


def read_parquet(data, label, _=()):
    """Read a Parquet file; an index with a name becomes a column."""
    try:
        frame = pd.read_parquet(io.BytesIO(data))
        for name in frame:
            frame[name].to_numpy()  # raises where text is not UTF-8
    # What a damaged file raises depends on where the damage lies, and the libraries document no set of exceptions.
    except Exception as error:
        raise InputError(f"{label}: not a Parquet file that can be read ({reason(error)}); write it again") from error
    named = any(name is not None for name in frame.index.names)
    return frame.reset_index(drop=not named, allow_duplicates=True).rename_axis(index="row")


def read_netcdf(data, label, _=()):
    """Read the one-dimensional variables of a netCDF file."""
    import xarray

    try:
        options = {"engine": "h5netcdf", "phony_dims": "access", "decode_timedelta": False}
        with xarray.open_datatree(io.BytesIO(data), **options) as tree:
            variables = [
                (name, variable.dims[0], variable.to_numpy())
                for node in tree.subtree
                for name, variable in node.to_dataset(inherit=False).variables.items()
                if variable.ndim == 1 and variable.dtype.kind != "V"
            ]
    # What HDF5 raises depends on which bytes are damaged.
    except Exception as error:
        raise InputError(f"{label}: not a netCDF file that can be read ({reason(error)}); write it again") from error
    return _make_table(variables, label)


def _make_table(variables, label):
    tables = {}
    for name, dimension, values in variables:
        if name != dimension:
            tables.setdefault((dimension, len(values)), []).append((name, values))
    if not tables:
        raise InputError(f"{label}: there are no one-dimensional variables; store each column of the table as one")
    if len(tables) > 1:
        tables = {
            key: columns
            for key, columns in tables.items()
            if any(recognise(name) in ("loss", "perplexity") for name, _ in columns)
        } or tables
    if len(tables) > 1:
        dimensions = sorted({dimension for dimension, _ in tables})
        raise InputError(f"{label}: there are tables along {listed(dimensions)}; leave only one in the file")
    ((dimension, size), columns) = tables.popitem()
    refuse_duplicates([name for name, _ in columns], label)
    labels = {
        name: values
        for name, along, values in variables
        if name == along == dimension and len(values) == size and not np.array_equal(values, np.arange(size))
    }
    return pd.DataFrame(labels | dict(columns)).rename_axis(index="row")

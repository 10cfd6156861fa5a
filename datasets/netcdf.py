"""netCDF files, written whole with the checksums of HDF5, and read into memory."""

import io
from pathlib import Path

import h5netcdf
import xarray as xr
from xarray.backends import H5NetCDFStore

from ..errors import InputError
from .files import written_whole
from .wording import printable, reason


def write(tree, path, *, parents=False, encoding=None):
    """Write a Dataset or DataTree to a path, whole or not at all, with the `encoding` of the variables of each group.

    HDF5 writes to memory: on a full disk it would end the process when it closes a file.
    """
    content = io.BytesIO()
    with h5netcdf.File(content, "w") as file:
        for node in xr.DataTree(tree).subtree if isinstance(tree, xr.Dataset) else tree.subtree:
            group = file if node.path == "/" else file.create_group(node.path)
            _write_group(node.to_dataset(inherit=False), group, (encoding or {}).get(node.path, {}))
    with written_whole(path, parents=parents) as partial:
        partial.write_bytes(content.getvalue())


def _write_group(dataset, group, encoding):
    """Write a Dataset, whose numbers HDF5 checks when it reads them.

    ``to_netcdf`` does the same after half a second, in which it imports ``distributed`` to look for a cluster.
    """
    variables = dataset.variables.items()
    numbers = [name for name, x in variables if x.size and x.ndim and x.dtype.kind in "biuf"]
    checked = {name: {"fletcher32": True} | encoding.get(name, {}) for name in numbers}
    dataset.dump_to_store(H5NetCDFStore(group, mode="a", lock=False), encoding=encoding | checked)


def read(path, opener):
    """Read what `write` wrote into memory, by ``xarray.open_dataset`` or ``open_datatree``; refuse a damaged file."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{printable(path)}: there is no such file")
    try:
        with opener(path, engine="h5netcdf", decode_timedelta=False) as opened:
            return opened.load()
    # What is raised depends on which bytes are damaged, and the libraries document no set of exceptions.
    except Exception as error:
        raise InputError(
            f"{printable(path)}: not a netCDF file that can be read ({reason(error)}); take another copy"
        ) from None

"""netCDF files, written whole with the checksums of HDF5, and read into memory."""

from pathlib import Path

import xarray as xr

from ..errors import InputError
from .files import written_whole
from .wording import printable, shortened


def write(tree, path, *, parents=False, encoding=None):
    """Write a Dataset or DataTree, whole or not at all.

    HDF5 writes to memory: on a full disk it would end the process when it closes a file.

    Parameters
    ----------
    tree : Dataset or DataTree
    path : path-like
    parents : bool
        Create the folder of the file, if needed.
    encoding : dict, optional
        As for ``to_netcdf``.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    if isinstance(tree, xr.Dataset):
        encoding = _with_checksums(tree.variables, encoding or {})
    else:
        groups = {node.path: node.to_dataset(inherit=False).variables for node in tree.subtree}
        encoding = {name: _with_checksums(group, (encoding or {}).get(name, {})) for name, group in groups.items()}
    content = tree.to_netcdf(engine="h5netcdf", encoding=encoding)
    with written_whole(path, parents=parents) as partial:
        partial.write_bytes(content)


def _with_checksums(variables, encoding):
    """Add to the encoding of a group that HDF5 checks its numbers when it reads them."""
    numbers = [name for name, x in variables.items() if x.size and x.ndim and x.dtype.kind in "biuf"]
    return encoding | {name: {"fletcher32": True} | encoding.get(name, {}) for name in numbers}


def read(path, opener):
    """Read what `write` wrote into memory.

    Parameters
    ----------
    path : path-like
    opener : callable
        ``xarray.open_dataset`` or ``xarray.open_datatree``.

    Raises
    ------
    InputError
        If there is no such file, it is damaged or it is no netCDF file.
    """
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


def reason(error):
    """Return the first line of an error's text, short enough for a message."""
    return shortened((str(error).splitlines() or [""])[0] or type(error).__name__)

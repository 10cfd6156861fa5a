"""netCDF files written whole and sealed, and read within bounds."""

import contextlib
import sys
from pathlib import Path

from ..errors import InputError
from .files import written_whole
from .seal import check_netcdf, seal
from .wording import printable, shortened

CLUSTERS = "distributed"  # the module whose clients are connected to clusters


def write(tree, path, *, parents=False, encoding=None):
    """Write a Dataset or DataTree, whole or not at all.

    The file is made in memory: where the disk is full, HDF5 would end the process when it closes its own.

    Parameters
    ----------
    tree : Dataset or DataTree
    path : path-like
    parents : bool
        Make the folder that it stands in, if needed.
    encoding : dict, optional
        As for ``to_netcdf``.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    with _local_locks():
        content = bytes(tree.to_netcdf(engine="h5netcdf", encoding=encoding))
    with written_whole(path, parents=parents) as partial:
        partial.write_bytes(seal(content))


@contextlib.contextmanager
def _local_locks():
    """Keep xarray from asking a dask cluster for the lock of a file, which needs its name.

    Where no cluster can be connected, for what connects was not imported, it is not imported to see, which takes a
    second.
    """
    absent = sys.modules.setdefault(CLUSTERS, None) is None
    dask = sys.modules.get("dask")
    try:
        with contextlib.nullcontext() if dask is None else dask.config.set(scheduler="synchronous"):
            yield
    finally:
        if absent and sys.modules.get(CLUSTERS) is None:
            sys.modules.pop(CLUSTERS, None)


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
        If there is no such file, it is damaged, is no netCDF file or claims to hold more than it can.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{printable(path)}: there is no such file")
    try:
        check_netcdf(path.read_bytes(), printable(path))
        with opener(path, engine="h5netcdf") as opened:
            return opened.load()
    except InputError:
        raise
    # What is raised depends on which bytes are damaged, and the libraries beneath promise nothing.
    except Exception as error:
        raise InputError(f"{printable(path)}: not a netCDF file that can be read ({reason(error)})") from None


def reason(error):
    """First line of an error's text, short enough for a message."""
    return shortened((str(error).splitlines() or [""])[0] or type(error).__name__)

"""netCDF files written whole and sealed, and read within bounds."""

import contextlib
import sys
from pathlib import Path

from ..errors import InputError
from .files import written_whole
from .seal import check_netcdf, remember, seal
from .wording import printable, shortened

CLUSTERS = "distributed"  # the module whose clients are connected to clusters


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
    with _local_locks():
        sealed = seal(tree.to_netcdf(engine="h5netcdf", encoding=encoding))
    with written_whole(path, parents=parents) as partial:
        partial.write_bytes(sealed)
    remember(sealed)


@contextlib.contextmanager
def _local_locks():
    """Prevent xarray from requesting the lock of a file from a dask cluster, which requires a file name.

    Without an import of ``distributed`` no cluster is connected. The module is then not imported to check, which would
    take a second.
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
    # What is raised depends on which bytes are damaged, and the libraries document no set of exceptions.
    except Exception as error:
        raise InputError(f"{printable(path)}: not a netCDF file that can be read ({reason(error)})") from None


def reason(error):
    """Return the first line of an error's text, short enough for a message."""
    return shortened((str(error).splitlines() or [""])[0] or type(error).__name__)

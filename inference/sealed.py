"""netCDF files that end with the SHA-256 of what stands before, so that damage is told before anything is read.

To the libraries that read netCDF the end is padding. A file without it, which other software wrote, is read too.
"""

import hashlib
import os
from pathlib import Path

from ..datasets.wording import printable, shortened
from ..errors import InputError
from ..files import written_whole

MARK = b"\nsha256 of all before: "
LENGTH = len(MARK) + 64
PIECE = 2**20
# Deflate makes nothing smaller than by this factor.
LARGEST_FACTOR = 1100


def write(tree, path):
    """Write a Dataset or DataTree, whole or not at all.

    The file is made in memory: where the disk is full, HDF5 would end the process when it closes its own.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    content = bytes(tree.to_netcdf(engine="h5netcdf"))
    with written_whole(path, parents=False) as partial:
        partial.write_bytes(content + MARK + hashlib.sha256(content).hexdigest().encode())


def read(path, opener, kind):
    """Read what `write` wrote into memory.

    Parameters
    ----------
    path : path-like
    opener : callable
        ``xarray.open_dataset`` or ``xarray.open_datatree``.
    kind : str
        What the file should hold, for messages.

    Raises
    ------
    InputError
        If there is no such file, it is damaged, is no netCDF file or claims to hold more than it can.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{printable(path)}: there is no such file")
    try:
        _check_seal(path, kind)
        with opener(path, engine="h5netcdf") as opened:
            _check_size(opened, path)
            return opened.load()
    except InputError:
        raise
    # What is raised depends on which bytes are damaged, and the libraries beneath promise nothing.
    except Exception as error:
        raise InputError(f"{printable(path)}: not a netCDF file that can be read ({reason(error)})") from None


def reason(error):
    """First line of an error's text, short enough for a message."""
    return shortened((str(error).splitlines() or [""])[0] or type(error).__name__)


def _check_seal(path, kind):
    length, digest = os.path.getsize(path) - LENGTH, hashlib.sha256()
    with open(path, "rb") as file:
        file.seek(max(length, 0))
        seal = file.read()
        if not seal.startswith(MARK):
            return
        file.seek(0)
        while length > 0 and (piece := file.read(min(PIECE, length))):
            digest.update(piece)
            length -= len(piece)
    if digest.hexdigest().encode() != seal[len(MARK) :]:
        raise InputError(f"{printable(path)}: the {kind} is damaged (its SHA-256 is another); make it again")


def _check_size(opened, path):
    nodes = opened.subtree if hasattr(opened, "subtree") else [opened]
    claimed = sum(variable.nbytes for node in nodes for variable in node.variables.values())
    if claimed > LARGEST_FACTOR * path.stat().st_size:
        raise InputError(
            f"{printable(path)}: claims {claimed} bytes in a file of {path.stat().st_size}, more than any compression "
            "allows; make it again"
        )

"""PyMC, imported in one place: without another library's announcements, and on machines without a home to write to."""

import atexit
import functools
import os
import shutil
import tempfile
import warnings
from pathlib import Path


@functools.cache
def pymc():
    """Import PyMC and return the module.

    ArviZ, which PyMC imports, announces its next version by a FutureWarning at its first import of each day. It does
    not concern users of this package and is not shown. nutpie imports ArviZ too: call this before importing it.

    Examples
    --------
    >>> pymc().Normal.__name__
    'Normal'
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\s*ArviZ is undergoing", category=FutureWarning)
        import pymc

    return pymc


def _find_room():
    """Redirect caches from folders that cannot be written to a temporary folder, by environment variables.

    ArviZ, PyTensor, Numba, JAX and Matplotlib save files in the user's home and fail or complain where they cannot.
    The temporary folder is removed when the process ends.
    """
    homes = {
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or "~/.cache",
        "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR") or os.environ.get("XDG_CONFIG_HOME") or "~/.config",
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache",
    }
    homeless = [variable for variable, folder in homes.items() if not _writable(folder)]
    flags = os.environ.get("PYTENSOR_FLAGS", "")
    if "compiledir=" not in flags and not _writable("~/.pytensor"):
        homeless.append("PYTENSOR_FLAGS")
    if not homeless:
        return
    room = Path(tempfile.mkdtemp(prefix="bayescaling-"))
    atexit.register(shutil.rmtree, room, ignore_errors=True)
    for variable in homeless:
        os.environ[variable] = str(room)
    if "PYTENSOR_FLAGS" in homeless:
        os.environ["PYTENSOR_FLAGS"] = ",".join(filter(None, (flags, f"base_compiledir={room / 'pytensor'}")))


def _writable(folder):
    """Return whether a folder is there, or can be made, and takes files; the libraries above would make it too."""
    folder = os.path.expanduser(folder)
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


# On import, since results are read, and Matplotlib with them, without PyMC too.
_find_room()

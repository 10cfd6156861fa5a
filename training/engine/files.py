"""Files written whole or not at all."""

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from ...datasets.wording import printable, shortened
from ...errors import InputError

# Names of this shape are of writes that were broken off, and nothing reads them.
PREFIX, SUFFIX = ".", ".partial"


@contextlib.contextmanager
def written_whole(path):
    """Give a temporary path beside `path`, which takes its place when the block ends without an error.

    Parameters
    ----------
    path : path
        File or folder to write. Its folder is made if it is not there. A file is replaced; a folder must not be there.

    Raises
    ------
    InputError
        If it cannot be written, a full disk included. What stood at `path` is then untouched.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=PREFIX, suffix=SUFFIX))
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        yield folder / path.name
        _synchronise(folder / path.name)
        os.replace(folder / path.name, path)
        _flush(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unwritable(path, error):
    """Error that says that a file cannot be written."""
    reason = shortened(" ".join((error.strerror or str(error)).split()))
    return InputError(
        f"{printable(path)}: cannot be written ({reason}); make room or choose another folder, and start again to go on"
    )


def remove_partial(folder):
    """Remove what broken-off writes left in a folder."""
    for leftover in Path(folder).glob(f"{PREFIX}*{SUFFIX}"):
        shutil.rmtree(leftover, ignore_errors=True)


def sha256_of_file(path):
    """SHA-256 of a file's bytes, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _synchronise(path):
    for part in path.iterdir() if path.is_dir() else ():
        _synchronise(part)
    _flush(path)


def _flush(path):
    # Windows cannot open a folder; there a rename is as durable as it gets.
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

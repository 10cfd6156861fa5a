"""Files written whole or not at all."""

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from ...datasets.wording import printable, shortened
from ...errors import InputError

# Temporary names; nothing reads what an interrupted write leaves under one.
PREFIX, SUFFIX = ".", ".partial"


@contextlib.contextmanager
def written_whole(path):
    """Give a temporary path, which is renamed to `path` when the block ends without an error.

    Parameters
    ----------
    path : path
        File or folder to write. Its parent folder is made if needed. A file is replaced; a folder must not exist yet.

    Raises
    ------
    InputError
        If it cannot be written, for example because the disk is full. What was at `path` before is then untouched.
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
    """Make the error for a file that cannot be written."""
    reason = shortened(" ".join((error.strerror or str(error)).split()))
    return InputError(
        f"{printable(path)}: cannot be written ({reason}); make room or choose another folder, and start again"
    )


def remove_partial(folder):
    """Remove what interrupted writes left in a folder."""
    for leftover in Path(folder).glob(f"{PREFIX}*{SUFFIX}"):
        shutil.rmtree(leftover, ignore_errors=True)


def sha256_of_file(path):
    """Compute the SHA-256 of a file, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _synchronise(path):
    for part in path.iterdir() if path.is_dir() else ():
        _synchronise(part)
    _flush(path)


def _flush(path):
    # Windows cannot open a folder to flush it.
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

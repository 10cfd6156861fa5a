"""Files that are written completely or not at all."""

import contextlib
import errno
import functools
import hashlib
import json
import os
import tempfile
from pathlib import Path

from ..errors import InputError
from .wording import printable, shortened

SUFFIX = ".partial"  # of temporary folders, one of which a killed process may leave; nothing reads them
PROBE = 4096  # bytes


@functools.cache
def evidence(name):
    """Read the results of a long study that come with the package: a dict, the content of ``evidence/NAME.json``."""
    return json.loads((Path(__file__).parents[1] / "evidence" / f"{name}.json").read_text(encoding="utf-8"))


@contextlib.contextmanager
def written_whole(path, *, parents=True):
    """Yield a temporary path, which is flushed to disk and renamed to `path` when the block ends without an error.

    A file is replaced, or what a link leads to; a folder must not exist yet. If it cannot be written, for example
    because the disk is full, that is refused, and what was there is untouched.
    """
    try:
        path = _replaceable(path)
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_folder(path) as folder:
            partial = Path(folder) / path.name
            yield partial
            # The path may have changed in the meantime.
            if partial.is_file():
                _refuse_others(path)
            _flush(partial)
            os.replace(partial, path)
    except OSError as error:
        raise unwritable(path, error) from error


def check_writable(path):
    """Refuse a path that could not be written, before the work that leads to it.

    It may be a folder, a device, a pipe or a file that is read-only, or in a folder that is absent, full or read-only.
    """
    try:
        path = _replaceable(path)
        _refuse_others(path)
        with _temporary_folder(path) as folder:
            (Path(folder) / path.name).write_bytes(bytes(PROBE))
    except OSError as error:
        raise unwritable(path, error) from error


def _replaceable(path):
    """Return the target of a link, else the path unchanged, so that a rename replaces the target and not the link."""
    path = Path(path)
    if "\0" in str(path):
        raise InputError(f"{printable(path)}: no file can have this name; choose another")
    try:
        return path.resolve() if path.is_symlink() else path
    except RuntimeError as error:  # before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error


def _refuse_others(path):
    """Refuse a path that a rename must not replace, such as a device or a pipe that other programs use."""
    if path.is_dir():
        raise InputError(f"{printable(path)}: is a folder; name a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{printable(path)}: is a device or a pipe; name a file")
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"{printable(path)}: is read-only; make it writable or name another file")


def unwritable(path, error):
    """Return the error for a file that cannot be written."""
    reason = shortened(" ".join((error.strerror or str(error)).split()))
    return InputError(
        f"{printable(path)}: cannot be written ({reason}); make room or choose another place, and start again"
    )


def sha256_of_file(path):
    """Compute the SHA-256 of a file, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _temporary_folder(path):
    """Make a folder next to a path, which is removed at the end of a block."""
    return tempfile.TemporaryDirectory(
        dir=path.parent, prefix=f".{path.name}.", suffix=SUFFIX, ignore_cleanup_errors=True
    )


def _flush(path):
    """Flush a file, or the files of a folder, to disk, so that no power cut leaves an empty file under its name."""
    for part in path.iterdir() if path.is_dir() else [path]:
        with open(part, "r+b") as file:
            os.fsync(file.fileno())

"""Files that are written completely or not at all."""

import contextlib
import errno
import functools
import glob
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

from ..errors import InputError
from .wording import printable, shortened

try:
    import fcntl
except ImportError:  # Windows has other locks
    fcntl = None  # type: ignore[assignment]

# Parts of temporary names, under which an interrupted write may leave files that nothing reads.
PREFIX, SUFFIX, LOCK = ".", ".partial", "lock"
PROBE = 4096  # bytes


@functools.cache
def evidence(name):
    """Read the results of a long study that come with the package: a dict, the content of ``evidence/NAME.json``."""
    return json.loads((Path(__file__).parents[1] / "evidence" / f"{name}.json").read_text(encoding="utf-8"))


@contextlib.contextmanager
def written_whole(path, *, parents=True):
    """Yield a temporary path, which is flushed to disk and renamed to `path` when the block ends without an error.

    Temporary folders of the same name that killed processes left are removed. A folder is locked while its process
    lives. A lock ends with its process, whereas a limit on age could remove the folder of a long write.

    Parameters
    ----------
    path : path
        File or folder to write. A file is replaced, or what a link leads to; a folder must not exist yet.
    parents : bool
        Create the folder of the file, if needed.

    Raises
    ------
    InputError
        If it cannot be written, for example because the disk is full. What was at `path` before is then untouched.
    """
    try:
        path = _replaceable(path)
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        remove_partial(path.parent, path.name)
        with _locked_folder(path) as folder:
            yield folder / path.name
            # The path may have changed in the meantime.
            if (folder / path.name).is_file():
                _refuse_others(path)
            _synchronise(folder / path.name)
            os.replace(folder / path.name, path)
            _flush(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error


def check_writable(path):
    """Refuse a path that could not be written, before the work that leads to it.

    Raises
    ------
    InputError
        If the folder does not exist, cannot be written or is full, or the path is a folder, a device, a pipe or a file
        that is read-only.
    """
    try:
        path = _replaceable(path)
        _refuse_others(path)
        remove_partial(path.parent, path.name)
        with _locked_folder(path) as folder:
            (folder / path.name).write_bytes(bytes(PROBE))
            _flush(folder / path.name)
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


def remove_partial(folder, name=None):
    """Remove temporary folders that killed processes left in `folder`, of all files or of the one called `name`."""
    named = f"{PREFIX}*" if name is None else f"{PREFIX}{glob.escape(name)}.*"
    # Without locks it is unknown which of them are in use.
    for leftover in Path(folder).glob(f"{named}{SUFFIX}") if fcntl is not None else ():
        with contextlib.suppress(OSError):
            held = lock(leftover, wait=False)
            if held is not None:
                shutil.rmtree(leftover, ignore_errors=True)
                os.close(held)


def sha256_of_file(path):
    """Compute the SHA-256 of a file, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _locked_folder(path):
    """Yield a new, locked folder in the folder of `path`, which is removed at the end."""
    folder, held = None, None
    try:
        # Another process may remove the folder before it is locked.
        while held is None:
            folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f"{PREFIX}{path.name}.", suffix=SUFFIX))
            held = lock(folder)
        yield folder
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)


def lock(folder, wait=True):
    """Lock a folder and return a descriptor, or None where it is gone or, without `wait`, locked already."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        return None
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(descriptor)
        return None
    if (folder / LOCK).exists():
        return descriptor
    os.close(descriptor)
    return None


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

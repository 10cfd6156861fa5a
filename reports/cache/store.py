"""Results on disk, in the user's cache: a report that was stopped resumes from them.

The name of a result is its key, a digest of everything that it depends on. These are the stage, its tables, seed and
options, versions of libraries, and the sources of the package. The folder of a report is never read.
"""

import functools
import hashlib
import json
import os
import pickle
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from ...datasets.files import written_whole
from ...errors import InputError
from ...inference.record import versions

LARGEST = 250_000_000  # bytes of all results; those that were used longest ago are deleted first
SUFFIX = ".stage"
DIGEST = 32  # bytes of the SHA-256 that begins a file
TIMES = "times.json"
PACKAGE = Path(__file__).parents[2]
FOLDERS = ("commands", "datasets", "inference", "models", "reports", "training")  # all files that results are made of
DRAWING = ("plotly", "jinja2")


def key_of(**origins):
    """Return the key of a result: the digest of its origins, of the package and of the versions of libraries."""
    made_by = {"code": code(), "versions": versions(), "drawing": list(map(version, DRAWING))}
    return hashlib.sha256(json.dumps(origins | made_by, sort_keys=True, default=str).encode()).hexdigest()


@functools.cache
def code(package=PACKAGE):
    """Return the digest of the package's files and of the results of long studies, computed once a process."""
    paths = {
        path for name in FOLDERS for path in (package / name).rglob("*") if path.is_file() and path.suffix != ".pyc"
    }
    paths |= {*package.glob("*.py"), *package.glob("evidence/*.json")}
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def folder():
    """Return the folder of the results."""
    from platformdirs import user_cache_path

    return user_cache_path("bayescaling") / "stages"


def has(key):
    """Return whether there is a result of a key."""
    return _path(key).is_file()


def _path(key):
    return folder() / f"{key}{SUFFIX}"


def get(key):
    """Return the result of a key, or None; a damaged file is deleted, a file of another user is ignored."""
    path = _path(key)
    try:
        # What is unpickled may run code.
        if os.name == "posix" and path.stat().st_uid != os.geteuid():
            return None
        content = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    try:
        if hashlib.sha256(content[DIGEST:]).digest() != content[:DIGEST]:
            raise ValueError("its digest is another")
        return pickle.loads(memoryview(content)[DIGEST:])
    except Exception:  # of any sort: a result that cannot be read is made again
        path.unlink(missing_ok=True)
        return None


def put(key, result):
    """Save a result, and delete old ones beyond `LARGEST`; returns False where the cache cannot be written."""
    content = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)  # of draws, which no compression makes much smaller
    try:
        with written_whole(_path(key)) as partial:
            partial.write_bytes(hashlib.sha256(content).digest() + content)
    except InputError:
        return False
    total = 0
    for path, _, size in sorted(listed(), key=lambda entry: entry[1], reverse=True):
        total += size
        if total > LARGEST:
            path.unlink(missing_ok=True)
    return True


def times():
    """Return the seconds that each stage took here when it was last made, by name."""
    try:
        entries = json.loads((folder() / TIMES).read_bytes())
        return {str(name): float(seconds) for name, seconds in entries.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def learn(name, seconds):
    """Save the seconds that a stage took."""
    with suppress(InputError), written_whole(folder() / TIMES) as partial:
        partial.write_text(json.dumps(times() | {name: seconds}), encoding="utf-8")


def listed():
    """Return the paths of the results, when each was last used, and its bytes."""
    try:
        paths = list(folder().glob(f"*{SUFFIX}"))
        return [(path, datetime.fromtimestamp(path.stat().st_mtime, UTC), path.stat().st_size) for path in paths]
    except OSError:
        return []


def clear():
    """Delete all results; returns what `listed` did."""
    entries = listed()
    shutil.rmtree(folder(), ignore_errors=True)
    return entries

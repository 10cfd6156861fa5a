"""Results of a report's stages, kept in the user's cache so that a report goes on where it stopped.

A result stands under a digest of all that it follows from: the stage, the tables, seed and settings, the code of the
package but for what only draws, and the versions of what computes. Nothing in a report's own folder is read back.
"""

import functools
import hashlib
import json
import os
import pickle
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ...datasets.files import written_whole
from ...datasets.seal import MARK, check_seal, seal
from ...errors import InputError
from ...inference.record import versions

MOST = 2_000_000_000  # bytes; what was used longest ago goes first
SUFFIX = ".stage"
TIMES = "times.json"
PACKAGE = Path(__file__).parents[2]
COMPUTED = ("datasets", "inference", "models", "reports")
# What only draws and prints: folders, files by their whole names, and by their ends.
DRAWN = {"reports/drawing", "reports/html", "reports/pages/front"}
DRAWN_FILES = {"__main__.py"}
DRAWN_FILES |= {
    f"reports/{name}.py"
    for name in ("cache/again", "cache/ahead", "render", "anchors", "output", "build", "pages/__init__", "summaries")
}
DRAWN_FILES |= {f"reports/pages/progress/{name}.py" for name in ("forest", "wording", "conclusions")}
DRAWN_ENDS = ("page.py", "figures.py")


def folder():
    """Where results are kept."""
    from platformdirs import user_cache_path

    return user_cache_path("bayescaling") / "stages"


@functools.cache
def code():
    """Digest of the package's code but for what draws and prints, and of the results of long studies."""
    found = hashlib.sha256()
    # A working tree holds environments and much else beside the package.
    studies = PACKAGE.glob("evidence/*.json")
    modules = (path for name in COMPUTED for path in (PACKAGE / name).rglob("*.py"))
    for path in sorted([*PACKAGE.glob("*.py"), *studies, *modules]):
        name = path.relative_to(PACKAGE).as_posix()
        if not draws(name):
            found.update(name.encode() + path.read_bytes())
    return found.hexdigest()


def files():
    """Digest of all files of the package that a report is made of, those that only draw and the tables included."""
    found = hashlib.sha256()
    for path in sorted(path for name in COMPUTED for path in (PACKAGE / name).rglob("*") if path.is_file()):
        if path.suffix != ".pyc":
            found.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return found.hexdigest()


def draws(name):
    """Whether a file of the package, by its path within, only draws and prints.

    Examples
    --------
    >>> draws("reports/build.py"), draws("reports/pages/own/build.py")
    (True, False)
    """
    return name.rpartition("/")[0] in DRAWN or name in DRAWN_FILES or name.endswith(DRAWN_ENDS)


def key_of(**what):
    """Digest of what a result follows from, the code and the versions included."""
    text = json.dumps(what | {"code": code(), "versions": versions()}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def has(key):
    """Whether something is kept under a key."""
    return _path(key).is_file()


def _path(key):
    return folder() / f"{key}{SUFFIX}"


def get(key):
    """Return the result kept under a key, or None; a damaged file is deleted, one of another user left alone."""
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
        check_seal(content, path)
        return pickle.loads(memoryview(content)[: content.rindex(MARK)])
    except Exception:  # of any sort: a result that cannot be had is made again
        path.unlink(missing_ok=True)
        return None


def put(key, result):
    """Keep a result under a key, and no more than `MOST` bytes of all; where the cache cannot be written, nothing.

    Returns
    -------
    bool
        Whether it is kept.
    """
    content = seal(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))  # of draws, which no compression makes much smaller
    try:
        with written_whole(_path(key)) as partial:
            partial.write_bytes(content)
    except InputError:
        return False
    size = 0
    for path, _, each in sorted(listed(), key=lambda entry: entry[1], reverse=True):
        size += each
        if size > MOST:
            path.unlink(missing_ok=True)
    return True


def times():
    """Seconds that stages took here when they were made last, by name."""
    try:
        found = json.loads((folder() / TIMES).read_bytes())
        return {str(name): float(seconds) for name, seconds in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def learn(name, seconds):
    """Remember what making a stage took."""
    with suppress(InputError), written_whole(folder() / TIMES) as partial:
        partial.write_text(json.dumps(times() | {name: seconds}), encoding="utf-8")


def listed():
    """Paths of what is kept, when each was last used, and its bytes."""
    try:
        paths = list(folder().glob(f"*{SUFFIX}"))
        return [(path, datetime.fromtimestamp(path.stat().st_mtime, UTC), path.stat().st_size) for path in paths]
    except OSError:
        return []


def clear():
    """Delete all that is kept; returns what `listed` did."""
    found = listed()
    for path, _, _ in found:
        path.unlink(missing_ok=True)
    with suppress(OSError):
        (folder() / TIMES).unlink(missing_ok=True)
    return found

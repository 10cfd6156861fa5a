"""Results on disk, in the user's cache: a report that was stopped resumes from them.

The name of a result is its key, a digest of everything that it depends on. These are the stage, its tables, seed and
options, versions of libraries, and the modules that its code imports. The folder of a report is never read.
"""

import ast
import functools
import hashlib
import json
import os
import pickle
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from ...datasets.files import written_whole
from ...datasets.seal import MARK, check_seal, seal
from ...errors import InputError
from ...inference.record import versions

LARGEST = 250_000_000  # bytes of all results; those that were used longest ago are deleted first
SUFFIX = ".stage"
TIMES = "times.json"
PACKAGE, NAME = Path(__file__).parents[2], __name__.partition(".")[0]  # a checkout may be in a folder of any name
FOLDERS = ("commands", "datasets", "inference", "models", "reports", "training")  # all files that results are made of
DRAWING = ("plotly", "jinja2")


# Keys -----------------------------------------------------------------------------------------------------------------


def key_of(module, **origins):
    """Return the key of a result that a module, by its dotted name, makes, or any file of the package if it is None."""
    made_by = {"code": code(module), "versions": versions(), "drawing": [] if module else list(map(version, DRAWING))}
    return hashlib.sha256(json.dumps(origins | made_by, sort_keys=True, default=str).encode()).hexdigest()


@functools.cache
def code(module, package=PACKAGE):
    """Return the digest of the files that `modules` finds, of the whole package if None, and of long studies' results.

    It is computed once a process, whose code does not change either.
    """
    if module is None:
        paths = {path for name in FOLDERS for path in (package / name).rglob("*") if path.is_file()}
        paths = {*package.glob("*.py"), *(path for path in paths if path.suffix != ".pyc")}
    else:
        paths = modules(module, package)
    digest = hashlib.sha256()
    for path in sorted({*paths, *package.glob("evidence/*.json")}):
        digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def modules(module, package=PACKAGE):
    """Return the files of the modules that a module reaches by import, itself included; imports in functions count.

    Where names are imported from a package, its ``__init__.py`` and the stub that this reads are followed for these
    names alone; the packages around a module are not.
    """
    steps, done, files = [(tuple(module.split(".")), None)], set(), set()
    while steps:
        if (step := steps.pop()) not in done:
            done.add(step)
            more_files, more_steps = _followed(package, *step)
            files.update(more_files)
            steps += more_steps
    if not files:
        raise ModuleNotFoundError(f"{module} is no module of {NAME}")
    return files


def _followed(package, parts, name):
    """Return the files that importing a name from a module needs, and what these import: modules and names of them."""
    path = _file(package, parts)
    if path is None:  # another library
        return [], []
    files = [file for file in (path, path.with_suffix(".pyi")) if file.is_file()]
    if name is None or path.name != "__init__.py":
        return files, [step for file in files for _, *steps in _read(package, file)[0] for step in steps]
    binding = [(file, steps) for file in files for bound, *steps in _read(package, file)[0] if bound == name]
    if binding:
        return [file for file, _ in binding], [step for _, steps in binding for step in steps]
    if name in _read(package, path)[1]:
        return [path], [step for _, *steps in _read(package, path)[0] for step in steps]
    if _file(package, (*parts, name)):
        return [], []
    # A name that cannot be traced may come from any module of the package.
    files = [file.relative_to(package).with_suffix("") for file in path.parent.rglob("*.py")]
    return [], [((NAME, *file.parts), None) for file in files]


@functools.cache
def _read(package, path):
    """Return the imports of a file, each as the name that it binds and what to follow, and names that it defines."""
    here, imports, names = (NAME, *path.parent.relative_to(package).parts), [], set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            imports += [(alias.asname or alias.name, (tuple(alias.name.split(".")), None)) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = here[: len(here) + 1 - node.level] if node.level else ()
            home = (*start, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                name = None if alias.name == "*" else alias.name
                imports.append((alias.asname or name, (home, name), ((*home, alias.name), None)))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return imports, names


@functools.cache
def _file(package, parts):
    """Return the file of a module of the package, by the parts of its name."""
    if parts[0] != NAME:
        return None
    path = package.joinpath(*parts[1:])
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)


# Files ----------------------------------------------------------------------------------------------------------------


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
        check_seal(content, path)
        return pickle.loads(memoryview(content)[: content.rindex(MARK)])
    except Exception:  # of any sort: a result that cannot be read is made again
        path.unlink(missing_ok=True)
        return None


def put(key, result):
    """Save a result, and delete old ones beyond `LARGEST`; returns False where the cache cannot be written."""
    content = seal(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))  # of draws, which no compression makes much smaller
    try:
        with written_whole(_path(key)) as partial:
            partial.write_bytes(content)
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
    for path, _, _ in entries:
        path.unlink(missing_ok=True)
    with suppress(OSError):
        (folder() / TIMES).unlink(missing_ok=True)
    return entries

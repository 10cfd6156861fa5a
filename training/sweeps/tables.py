"""The tables of a sweep's TOML file: read, merged with a preset, and checked where all kinds of sweep agree."""

import contextlib
import copy
import math
import os
import tomllib
from pathlib import Path

from ...datasets.wording import check_choice, printable, quoted, shortened
from ...errors import InputError

LARGEST = 2**63  # of whole numbers, as TOML has it
LONGEST = 600  # characters of a message
LONGEST_NAME = 100  # characters, since files are called so
# Tables of the commands that follow a sweep, which trains nothing of them.
AFTERWARDS = ("fit", "report")


def read_tables(path, make):
    """Read a TOML file and return the sweep that `make` returns for its tables and its folder."""
    path = Path(os.path.expanduser(path))
    label = printable(path.name or path)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(f"{label}: this is a device or a pipe; save the sweep as a file")
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{label}: the file cannot be opened ({error.strerror}); check its path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{label}: the file is not UTF-8 text; save it as UTF-8") from error
    except RecursionError as error:
        raise InputError(f"{label}: lists or tables within each other without end; write it flatter") from error
    except ValueError as error:  # a date that there is not is one, too
        raise InputError(f"{label}: not TOML ({shortened(error)}); correct it") from error
    with located(f"{label}: "):
        return make(tables, path.parent)


@contextlib.contextmanager
def located(place=""):
    """Put a place before a block's input errors, also of values of wrong types and of sizes too large for anything."""
    try:
        yield
    except TypeError as error:
        raise InputError(f"{place}a value is of the wrong type ({printable(error)}); correct it") from error
    except (OverflowError, MemoryError) as error:
        raise InputError(f"{place}a size is too large for any machine; give a smaller one") from error
    except InputError as error:
        text = f"{place}{error}"
        cut = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
        raise InputError(cut) from error


def merge_preset(tables, sections, presets, *, needed, whole):
    """Return a sweep's tables but `AFTERWARDS`, over those of its preset: key by key, or `whole`."""
    merged = dict(check_table("a sweep", tables, (*sections, *AFTERWARDS)))
    for section in AFTERWARDS:
        check_table(section, merged.pop(section, {}))
    for section, section_table in merged.items():
        _check_numbers(section, section_table)
    if "preset" in merged:
        name = merged.pop("preset")
        check_choice("preset", name, tuple(presets))
        base = copy.deepcopy(presets[name])
        for section, section_table in merged.items():
            base[section] = (
                section_table if section in whole else base.get(section, {}) | check_table(section, section_table)
            )
        merged = base
    for section in needed:
        if section not in merged:
            raise InputError(f"a sweep needs {quoted(section)}; add it, or a preset: {', '.join(presets)}")
    return merged


def _check_numbers(place, value):
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value, 1):
            _check_numbers(f"{place}: {key}", part)
    if isinstance(value, int | float) and not abs(value) < (LARGEST if isinstance(value, int) else math.inf):
        raise InputError(f"{place} is {shortened(value)}; give a finite number below 2^63")


def check_table(name, value, keys=None):
    """Return a value if it is a table of known keys, or of any if none are listed; else raise `InputError`."""
    if not hasattr(value, "keys"):
        raise InputError(f"{name}: found {quoted(value)} instead of a table; write it as a table of keys")
    for key in value:
        if keys is not None:
            check_choice(f"{name}: key", key, keys)
    return value


def name_tables(section, entries, keys, reserved=()):
    """Return a list of tables, such as ``[[stages]]``, as a dict by their names, by default ``stage-1`` and so on."""
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{section}: found none; write at least one as [[{section}]]")
    one, tables = section.removesuffix("s"), {}
    for position, table in enumerate(entries, 1):
        label = f"{section}: {one} {position}"
        name = check_table(label, table, keys).get("name", f"{one}-{position}")
        usable = isinstance(name, str) and name.replace("-", "").replace("_", "").isalnum()
        if not usable or len(name) > LONGEST_NAME or name in reserved:
            but = "".join(f", and not {quoted(other)}" for other in reserved)
            at_most = f"at most {LONGEST_NAME} " * (usable and len(name) > LONGEST_NAME)
            raise InputError(f'{label}: name is {name!r}; give {at_most}letters, digits, "-" and "_"{but}')
        if name in tables:
            raise InputError(f"{section}: {quoted(name)} is the name of several; give different names")
        tables[name] = table
    return tables


def chosen(table, keys):
    """Return those of the keys that a table has, with their values."""
    return {key: table[key] for key in keys if key in table}


def pick_optimiser(training, keys):
    """Return those settings of the optimiser that a table has; a clip of 0 is None, which clips nothing."""
    return chosen(training, keys) | {"clip": training["clip"] or None}

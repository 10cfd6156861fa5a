"""Keys of the tables of a sweep's file: what each takes, its default and what it means, by which they are checked."""

import inspect
from typing import Annotated, Any, NamedTuple

import pandas as pd
from pydantic import Field

from ...errors import InputError
from ..engine.fields import NotNegative, check_value, described, hints, words
from .tables import table_of

NEEDED = object()


class Said(str):
    """A default in words, where it follows from something else."""


class Key(NamedTuple):
    """A key of a table.

    Parameters
    ----------
    takes : type
        Type and range of its value.
    usual : object
        Value where it is left out, `Said` where that depends on others; `NEEDED` where it must not be.
    text : str
        What it means.
    such : str
        An example of a value, for messages.
    """

    takes: Any
    usual: object
    text: str
    such: str = ""


PRESET = "A sweep whose tables the file's replace: key by key, but a corpus and lists of tables whole."
CLIP = Key(NotNegative, 1.0, "Largest norm of the gradient; 0 does not clip.")


def seeds_below(limit):
    """Make the key of the seeds of a sweep."""
    seeds = Annotated[tuple[Annotated[int, Field(ge=0, lt=limit)], ...], Field(min_length=1)]
    return Key(seeds, [0], "Seeds: every run is trained with each.", "[0, 1, 2]")


def keys_of(kind, names, **usual):
    """Make the keys that stand for parameters of a dataclass or of a function.

    Parameters
    ----------
    kind : type or callable
    names : sequence of str
        Parameters that a table may set.
    **usual
        Defaults of a file that differ from its own.

    Returns
    -------
    dict of str to Key
    """
    parameters, said = inspect.signature(kind).parameters, described(kind)
    own = {name: NEEDED if x.default is inspect.Parameter.empty else x.default for name, x in parameters.items()}
    return {name: Key(hints(kind)[name], (own | usual)[name], said[name]) for name in names}


def checked(label, given, keys, *, whole=True):
    """Check that the keys of a table are known, its values of their types and ranges, and none is missing.

    Parameters
    ----------
    label : str
        Where the table is, such as ``"training"``; "" at the top.
    given : object
    keys : mapping of str to Key
    whole : bool
        Whether what is needed must be there.

    Returns
    -------
    mapping
        What was given.

    Raises
    ------
    InputError
    """
    place = f"{label}: " if label else ""
    for key, value in table_of(label, given, keys).items():
        check_value(f"{place}{key}", value, keys[key].takes, keys[key].such)
    for key, (takes, usual, *_, such) in keys.items():
        if whole and usual is NEEDED and key not in given:
            raise InputError(f"{place}{key} is missing; give {words(takes)}{f', such as {such}' if such else ''}")
    return given


def listed(tables):
    """List the keys of a sweep's file.

    Parameters
    ----------
    tables : mapping of str to mapping of str to Key
        By table, as a file has its name.

    Returns
    -------
    DataFrame
        Columns ``table``, ``key``, ``takes``, ``default`` and ``meaning``, all text.
    """
    rows = [
        (table, name, words(key.takes), _written(key.usual), key.text)
        for table, keys in tables.items()
        for name, key in keys.items()
    ]
    return pd.DataFrame(rows, columns=["table", "key", "takes", "default", "meaning"])


def _written(value):
    """Write a default as a file has it."""
    if value is NEEDED:
        return "needed"
    if isinstance(value, Said):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return {None: "none", "": '""'}.get(value) or (f'"{value}"' if isinstance(value, str) else f"{value:g}")

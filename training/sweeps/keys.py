"""Keys of the tables of a sweep's file: what each takes, its default and what it means, by which they are checked."""

import inspect
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
from pydantic import Field

from ...errors import InputError
from ..engine.fields import NotNegative, check_value, described, hints, takes
from .tables import check_table

NEEDED = object()


class Derived(str):
    """A default in words, where it follows from something else."""


class Key(NamedTuple):
    """A key of a table: the type and range of its value, its default, what it means, and an example of a value.

    The default is `Derived` where it depends on others, and `NEEDED` where the key must not be left out.
    """

    takes: Any
    usual: object
    text: str
    such: str = ""


PRESET = "A sweep whose tables the file's replace: key by key, but a corpus and lists of tables whole."
FITTED = Key(str, "runs", "Table of the sweep, which is OUT/TABLE.csv, such as scheme-1.")
FOLLOWING = {
    "[fit]": {
        "table": FITTED,
        "law": Key(
            str, "coupled", "Law to fit to it. Other keys are options of bayescaling fit, such as draws = 2000."
        ),
    },
    "[report]": {"table": FITTED._replace(text=f"{FITTED.text} Other keys are options of bayescaling report.")},
}
CLIP = Key(NotNegative, 1.0, "Largest norm of the gradient; 0 does not clip.")


def make_seeds_key(limit):
    """Make the key of the seeds of a sweep."""
    seeds = Annotated[tuple[Annotated[int, Field(ge=0, lt=limit)], ...], Field(min_length=1)]
    return Key(seeds, [0], "Seeds: every run is trained with each.", "[0, 1, 2]")


def make_keys(kind, names, **usual):
    """Make the keys, by name, of parameters of a dataclass or function; `usual` has defaults of a file that differ."""
    parameters, descriptions = inspect.signature(kind).parameters, described(kind)
    defaults = {name: NEEDED if x.default is inspect.Parameter.empty else x.default for name, x in parameters.items()}
    return {name: Key(hints(kind)[name], (defaults | usual)[name], descriptions[name]) for name in names}


def checked(label, table, keys, *, whole=True):
    """Return a table if its keys are known and their values right; unless `whole`, it may lack what is needed."""
    place = f"{label}: " if label else ""
    for key, value in check_table(label, table, keys).items():
        check_value(f"{place}{key}", value, keys[key].takes, keys[key].such)
    for key, (hint, usual, *_, such) in keys.items():
        if whole and usual is NEEDED and key not in table:
            raise InputError(f"{place}{key} is missing; give {takes(hint)}{f', such as {such}' if such else ''}")
    return table


def add_defaults(table, keys):
    """Return a table with the defaults of the keys that it leaves out, except those that depend on others."""
    usual = {name: key.usual for name, key in keys.items() if key.usual is not NEEDED}
    return {name: value for name, value in usual.items() if not isinstance(value, Derived)} | table


def listed(tables, presets):
    """List the keys of a sweep's file by table, with a preset and the tables of commands that follow."""
    preset = Key(Literal[tuple(presets)], Derived("none"), PRESET)
    rows = [
        (table, name, takes(key.takes), _written(key.usual), key.text)
        for table, keys in ({"": {"preset": preset}} | tables | FOLLOWING).items()
        for name, key in keys.items()
    ]
    return pd.DataFrame(rows, columns=["table", "key", "takes", "default", "meaning"])


def _written(value):
    if value is NEEDED:
        return "needed"
    if isinstance(value, Derived):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return {None: "none", "": '""'}.get(value) or (f'"{value}"' if isinstance(value, str) else f"{value:g}")

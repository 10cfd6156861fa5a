"""Fields of settings: the annotation of each is its type and range, by which it is checked and described."""

import dataclasses
import functools
import inspect
import os
import re
import types
import typing
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ...datasets.wording import unknown
from ...errors import InputError

Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
BelowOne = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]
ProperShare = Annotated[float, Field(gt=0, lt=1)]

BOUNDS = {"gt": "above", "ge": "of at least", "lt": "below", "le": "of at most"}
STRICT = ConfigDict(strict=True, allow_inf_nan=False)
WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    dict: "a table",
    types.NoneType: "",
    os.PathLike: "",
}


def check_fields(settings, section):
    """Raise `InputError` for fields of a dataclass outside the ranges, or of other types, than their annotations give.

    Only plain values are checked: numbers, texts and lists of them, which become tuples. `section`, such as
    ``"training"``, begins messages.
    """
    for name in (field.name for field in dataclasses.fields(settings)):
        hint, value = hints(type(settings))[name], getattr(settings, name)
        if _is_plain(hint):
            check_value(f"{section}: {name}", value, hint)
            object.__setattr__(settings, name, _frozen(value))


def check_value(label, value, hint, such=""):
    """Raise `InputError` for a value that is not of a type or out of its range; lists stand for tuples, as in TOML.

    The message begins with a label, such as ``"training: evaluations"``, and gives an example, `such`, of what is
    right.
    """
    try:
        _adapter(hint).validate_python(_frozen(value))
    except ValidationError as error:
        first = error.errors()[0]
        alone = all(isinstance(part, int) for part in first["loc"])  # and none of several types
        if first["type"] == "literal_error" and isinstance(first["input"], str) and alone:
            raise InputError(unknown(label, first["input"], _choices(hint))) from None
        example = f", such as {such}" if such else ""
        raise InputError(f"{label} is {value!r}; give {words(hint)}{example}") from None


def words(hint):
    """Return in words what a type and its range take, such as "a whole number of at least 1"."""
    of, origin = typing.get_args(hint), typing.get_origin(hint)
    if origin is Annotated:
        return _ranged(of[0], [limit for part in of[1:] for limit in getattr(part, "metadata", ())])
    if origin is typing.Literal:
        return " or ".join(filter(None, [", ".join(f'"{part}"' for part in of[:-1]), f'"{of[-1]}"']))
    if origin is tuple:
        number = "" if of[-1] is ... else f"{len(of)} "
        plural = re.sub("^a (.*?)(number|list)", r"\1\2s", words(of[0]))
        return f"a list of {number}{plural}"
    return " or ".join(filter(None, map(words, of))) if of and origin is not dict else WORDS[origin or hint]


def _ranged(hint, limits):
    bounds = {name: getattr(limit, name) for limit in limits for name in BOUNDS if hasattr(limit, name)}
    if bounds == {"gt": 0} and hint is float:
        return "a positive number"
    if set(bounds) == {"ge", "le"}:
        return f"{words(hint)} from {bounds['ge']} to {bounds['le']}"
    return " ".join([words(hint), " and ".join(f"{BOUNDS[name]} {_number(x)}" for name, x in bounds.items())]).strip()


def _number(bound):
    power = bound.bit_length() - 1 if isinstance(bound, int) else 0
    return f"2^{power}" if power > 30 and bound == 2**power else bound


def described(kind):
    """Return the descriptions in the docstring of a dataclass or function, as plain text by parameter."""
    _, _, section = inspect.getdoc(kind).partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w+\n-+\n", f"{section}\n\n")[0]
    descriptions = {}
    for names, text in re.findall(r"^(\w[\w, ]*)(?: :[^\n]*)?\n((?:    .*\n?|\n)*)", section, re.MULTILINE):
        plain = " ".join(text.replace("``", "").replace("`", "").split())
        descriptions |= dict.fromkeys(names.split(", "), plain)
    return descriptions


@functools.cache
def hints(kind):
    """Return the annotations of a dataclass or function, with their ranges."""
    return typing.get_type_hints(kind, include_extras=True)


@functools.cache
def _adapter(hint):
    return TypeAdapter(hint, config=STRICT)


def _is_plain(hint):
    """Return whether a type is of numbers, texts and lists of them."""
    of = [part for part in typing.get_args(hint) if part is not ...]
    if typing.get_origin(hint) in (Annotated, typing.Literal):
        return True
    return all(map(_is_plain, of)) if of else hint in WORDS


def _choices(hint):
    """Return every choice that a type names."""
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)
    return tuple(choice for part in typing.get_args(hint) for choice in _choices(part))


def _frozen(value):
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value

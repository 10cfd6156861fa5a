"""Fields of settings: the annotation of each is its type and range, by which it is checked and described."""

import dataclasses
import functools
import inspect
import json
import os
import re
import types
import typing
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ...errors import InputError

Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
BelowOne = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]
ProperShare = Annotated[float, Field(gt=0, lt=1)]

STRICT = ConfigDict(strict=True, allow_inf_nan=False)
PLAIN = {bool, int, float, str, dict, types.NoneType, os.PathLike}
LIMITS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}


def check_fields(settings, section):
    """Raise `InputError` for plain fields of a dataclass that their annotations do not allow; lists become tuples."""
    for name in (field.name for field in dataclasses.fields(settings)):
        hint, value = hints(type(settings))[name], getattr(settings, name)
        if _is_plain(hint):
            check_value(f"{section}: {name}", value, hint)
            object.__setattr__(settings, name, _frozen(value))


def check_value(label, value, hint, such=""):
    """Raise `InputError`, with a label and an example, `such`, for a value that a type does not allow."""
    try:
        _adapter(hint).validate_python(_frozen(value))
    except ValidationError as error:
        wrong = " or ".join(dict.fromkeys(map(_message, error.errors()))).replace(" or input should be", " or")
        raise InputError(f"{label} is {value!r}; {wrong}{f', such as {such}' if such else ''}") from None


def _message(error):
    """Write what pydantic says of a value, after the places of an item within it."""
    places = [f"item {place + 1}: " for place in error["loc"] if isinstance(place, int)]
    return "".join(places) + f"{error['msg'][0].lower()}{error['msg'][1:]}".replace("tuple", "list")


def takes(hint):
    """Return what a type and its range take, from the type's JSON schema, such as "integer, at least 1"."""
    return _taken(_adapter(hint).json_schema())


def _taken(schema):
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_taken(of) for of in schema["anyOf"] if of.get("type") != "null"))
    if choices := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return " or ".join(map(json.dumps, choices))
    kind = {"object": "table", "string": "text"}.get(schema["type"], schema["type"])
    if items := schema.get("items") or next(iter(schema.get("prefixItems", ())), None):
        number, inner = f"{schema['maxItems']} " if "maxItems" in schema else "", _taken(items)
        kind = f"list of {number}{f'({inner})' if ' ' in inner else inner}"
    return ", ".join(
        [kind, *(f"{word} {schema[key]:,}".removesuffix(".0") for key, word in LIMITS.items() if key in schema)]
    )


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
    of = [part for part in typing.get_args(hint) if part is not ...]
    if typing.get_origin(hint) in (Annotated, typing.Literal):
        return True
    return all(map(_is_plain, of)) if of else hint in PLAIN


def _frozen(value):
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value

"""Fixes of a table, in a script and on the command line."""

import json
import shlex
from dataclasses import dataclass, field

from ..wording import printable, quoted


@dataclass(frozen=True)
class Fix:
    """Options of `read` that answer a problem; fixes add up with ``+``, and `others` that are on are True.

    Examples
    --------
    >>> print(Fix(columns={"loss": "val_bpb"}) + Fix(unit={"loss": "bits-per-byte"}))
    columns={"loss": "val_bpb"}, unit={"loss": "bits-per-byte"} (--column loss=val_bpb --unit loss=bits-per-byte)
    """

    columns: dict = field(default_factory=dict)
    unit: dict = field(default_factory=dict)
    ignore: tuple = ()
    others: dict = field(default_factory=dict)

    def __add__(self, other):
        ignore = tuple(dict.fromkeys((*self.ignore, *other.ignore)))
        return Fix(self.columns | other.columns, self.unit | other.unit, ignore, self.others | other.others)

    def __bool__(self):
        return bool(self.columns or self.unit or self.ignore or self.others)

    def __str__(self):
        return f"{', '.join(self.in_a_script())} ({' '.join(self.on_the_command_line())})"

    def in_a_script(self):
        """Return the options as arguments of `read`."""
        columns = ", ".join(f'"{name}": "{printable(column)}"' for name, column in self.columns.items())
        unit = ", ".join(f'"{name}": {_plain(unit)}' for name, unit in self.unit.items())
        ignore = ", ".join(quoted(name) for name in self.ignore)
        texts = [columns and f"columns={{{columns}}}", unit and f"unit={{{unit}}}", ignore and f"ignore=[{ignore}]"]
        return [text for text in texts if text] + [f"{name}={_shown(value)}" for name, value in self.others.items()]

    def on_the_command_line(self):
        """Return the options as words of a shell."""
        pairs = [("column", f"{name}={column}") for name, column in self.columns.items()]
        pairs += [("unit", f"{name}={_plain(unit).strip(chr(34))}") for name, unit in self.unit.items()]
        pairs += [("ignore", name) for name in self.ignore]
        pairs += [
            (name.replace("_", "-"), quoted(x).strip(chr(34))) for name, x in self.others.items() if x is not True
        ]
        flags = [f"--{name.replace('_', '-')}" for name, value in self.others.items() if value is True]
        return [f"--{option} {shlex.quote(printable(value))}" for option, value in pairs] + flags


def _shown(value):
    return f'"{printable(value)}"' if isinstance(value, str) else f"{value}"


def _plain(unit):
    return json.dumps(unit) if isinstance(unit, str) else f"{unit:.3g}".replace("e+0", "e").replace("e+", "e")


NOTHING, DROPPING = Fix(), Fix(others={"drop_missing": True})


@dataclass(frozen=True)
class Problem:
    """What is wrong with a table, how to fix it and what else may be right."""

    text: str
    fix: Fix = NOTHING
    otherwise: str = ""

"""Fixes of a table, in a script and on the command line."""

import json
import shlex
from dataclasses import dataclass, field

from ..wording import printable, quoted


@dataclass(frozen=True)
class Fix:
    """Options of `read` and of a `law` that answer a problem; fixes add up with ``+``, `others` that are on are True.

    Examples
    --------
    >>> print(Fix(columns={"loss": "val_bpb"}) + Fix(unit={"loss": "bits-per-byte"}))
    columns={"loss": "val_bpb"}, unit={"loss": "bits-per-byte"} (--column loss=val_bpb --unit loss=bits-per-byte)
    """

    columns: dict = field(default_factory=dict)
    unit: dict = field(default_factory=dict)
    ignore: tuple = ()
    others: dict = field(default_factory=dict)
    law: dict = field(default_factory=dict)

    def __add__(self, other):
        ignore = tuple(dict.fromkeys((*self.ignore, *other.ignore)))
        columns, unit, others = self.columns | other.columns, self.unit | other.unit, self.others | other.others
        return Fix(columns, unit, ignore, others, self.law | other.law)

    def __bool__(self):
        return bool(self.columns or self.unit or self.ignore or self.others or self.law)

    def __str__(self):
        return f"{', '.join(self.in_a_script())} ({' '.join(self.on_the_command_line())})"

    def in_a_script(self):
        """Return the options as arguments of `read`."""
        columns = ", ".join(f'"{name}": "{printable(column)}"' for name, column in self.columns.items())
        unit = ", ".join(f'"{name}": {_plain(unit)}' for name, unit in self.unit.items())
        ignore = ", ".join(quoted(name) for name in self.ignore)
        texts = [columns and f"columns={{{columns}}}", unit and f"unit={{{unit}}}", ignore and f"ignore=[{ignore}]"]
        texts += [f"{name}={_shown(value)}" for name, value in self.others.items()]
        return [text for text in texts if text] + [f"a law with {name}={value}" for name, value in self.law.items()]

    def on_the_command_line(self):
        """Return the options as words of a shell."""
        pairs = [("column", f"{name}={column}") for name, column in self.columns.items()]
        pairs += [("unit", f"{name}={_plain(unit).strip(chr(34))}") for name, unit in self.unit.items()]
        pairs += [("ignore", name) for name in self.ignore]
        pairs += [
            (name.replace("_", "-"), x if isinstance(x, str) else quoted(x))
            for name, x in self.others.items()
            if x is not True
        ]
        pairs += [("option", f"{name}={json.dumps(value)}") for name, value in self.law.items()]
        flags = [f"--{name.replace('_', '-')}" for name, value in self.others.items() if value is True]
        return [f"--{option} {shlex.quote(printable(value))}" for option, value in pairs] + flags


def _shown(value):
    return f'"{printable(value)}"' if isinstance(value, str) else f"{value}"


def _plain(unit):
    return json.dumps(unit) if isinstance(unit, str) else f"{unit:.3g}".replace("e+0", "e").replace("e+", "e")


NOTHING, DROPPING, EFFECTS = Fix(), Fix(others={"drop_missing": True}), Fix(law={"run_effects": True})


@dataclass(frozen=True)
class Problem:
    """What is wrong with a table, how to fix it and what else may be right."""

    text: str
    fix: Fix = NOTHING
    otherwise: str = ""

"""Fixes of a table, in a script and on the command line."""

import json
import shlex
from dataclasses import dataclass, field

from .wording import printable, shorten_number


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
    formula: str = ""  # or a law that is fitted in place of another, or `ANY`

    def __add__(self, other):
        ignore = tuple(dict.fromkeys((*self.ignore, *other.ignore)))
        columns, unit, others = self.columns | other.columns, self.unit | other.unit, self.others | other.others
        return Fix(columns, unit, ignore, others, self.law | other.law, self.formula or other.formula)

    def __bool__(self):
        return bool(self.columns or self.unit or self.ignore or self.others or self.law or self.formula)

    def __str__(self):
        if self.formula == ANY:
            return "fit the formula that these rows carry"
        if self.formula:
            return f"fit '{self.formula}'"
        return f"{', '.join(self.in_a_script())} ({self.on_the_command_line()})"

    def in_a_script(self):
        """Return the options as arguments of `read`."""
        mappings = {"columns": self.columns, "unit": self.unit}
        texts = [
            f"{option}={{{', '.join(f'{_write(name)}: {_write(value)}' for name, value in pairs.items())}}}"
            for option, pairs in mappings.items()
            if pairs
        ]
        texts += [f"ignore=[{', '.join(map(_write, self.ignore))}]"] if self.ignore else []
        texts += [f"{name}={_write(value)}" for name, value in self.others.items()]
        return texts + [f"a law with {name}={value}" for name, value in self.law.items()]

    def on_the_command_line(self):
        """Return the options as words of a shell."""
        return shlex.join(word for pair in self.pairs() for word in pair)

    def pairs(self):
        """Return the options of the command line, each a tuple of its name and its value, if it takes one."""
        pairs = [("column", f"{name}={column}") for name, column in self.columns.items()]
        pairs += [("unit", f"{name}={_write(unit, '')}") for name, unit in self.unit.items()]
        pairs += [("ignore", name) for name in self.ignore]
        pairs += [(name, _write(x, "")) for name, x in self.others.items() if x is not True]
        pairs += [("option", f"{name}={json.dumps(value)}") for name, value in self.law.items()]
        pairs += [(name, None) for name, x in self.others.items() if x is True]
        return [(f"--{name.replace('_', '-')}", *([] if x is None else [printable(x)])) for name, x in pairs]


def _write(value, quote='"'):
    if isinstance(value, float):
        return shorten_number(value)
    return f"{quote}{printable(value)}{quote}" if isinstance(value, str) else str(value)


ANY = "~"  # a formula that is found for the table
NOTHING, DROPPING, EFFECTS = Fix(), Fix(others={"drop_missing": True}), Fix(law={"run_effects": True})


def choice(canonical, name):
    """Return the option that names the column for `canonical`, in a script and on the command line."""
    return str(Fix(columns={canonical: name}))


def setting_aside(name):
    """Return the option that leaves a column out, in a script and on the command line."""
    return str(Fix(ignore=(name,)))

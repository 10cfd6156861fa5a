"""The columns of a table that the letters of a published formula stand for."""

from dataclasses import replace
from shlex import quote

from ...datasets.columns import recognise, recognise_later
from ...datasets.formula_nodes import replace_names
from ...datasets.meaning.names import words
from ...datasets.wording import listed
from ...errors import InputError


def spell_out(law, table):
    """Return a formula with names of columns in the place of its letters; refuse a letter of which none has one."""
    found = {letter: _find_column(table, letter, what) for letter, what in law.letters.items()}
    left, right = (
        replace_names(side, lambda name: replace(name, name=found.get(name.name, name.name)))
        for side in (law.parsed.left, law.parsed.right)
    )
    return replace(law, formula=f"{left} ~ {right}", letters={})


def _find_column(table, letter, what):
    """Return the column that a letter of a formula stands for: of its name, or of that of what it is."""
    called, numbers = what.partition(",")[0], [str(name) for name in table.select_dtypes("number")]
    found = [name for name in (letter, called) if name in numbers][:1]
    found = found or [name for name in numbers if recognise(name) == called]
    found = found or [name for name in numbers if {*_stems(called)} <= {*_stems(name)}]
    found = found or [name for name in numbers if recognise_later(name) == called]
    if len(found) == 1:
        return found[0]
    why = f"columns {listed(found)} may be" if found else "no column is"
    example = found[0] if found else "NAME"
    place, known = table.attrs.get("source", "the table"), f"the columns are {listed(table.columns)}"
    way = f"name it with columns={{{letter!r}: {example!r}}} (--column {letter}={quote(example)})"
    raise InputError(f"{place}: {why} {letter}, the {what}; {way}; {known}")


def _stems(name):
    return [part.removesuffix("s") for part in words(name)]

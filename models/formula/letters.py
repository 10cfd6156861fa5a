"""The columns of a table that the letters of a published formula stand for."""

from dataclasses import replace
from shlex import quote

from ...datasets.columns import recognise, recognise_later
from ...datasets.formula_nodes import names_in, replace_names
from ...datasets.formulas import endings
from ...datasets.meaning.names import words
from ...datasets.wording import listed, quoted, source_of
from ...errors import InputError


def spell_out(law, table):
    """Return a formula with names of columns in the place of its letters; refuse a letter of which none has one.

    A response that is a share, and neither 0 nor 1, scatters on its log-odds.
    """
    found = {letter: _find_column(table, letter, what) for letter, what in law.letters.items()}
    left, right = (
        replace_names(side, lambda name: replace(name, name=found.get(name.name, name.name)))
        for side in (law.parsed.left, law.parsed.right)
    )
    what, name = law.letters[str(law.parsed.left)], str(left)
    shares = what.endswith(", share") and name in table and table[name].between(0, 1, inclusive="neither").all()
    return replace(law, formula=f"{left} ~ {right}", letters={}, noise=law.noise or ("logit" if shares else ""))


def group_constants(law, table):
    """Return a formula whose constants, but for those that are shared, have a value for each value of a column."""
    names = [name.name for name in names_in(law.parsed.right)]
    constants = dict.fromkeys(x for x in names if x not in table and not endings(x, table.columns))
    for name in law.shared:
        if name not in constants:
            raise InputError(f"shared {quoted(name)} is no constant of {law.formula!r}; they are {listed(constants)}")

    def grouped(name):
        alone = name.name not in constants or name.name in law.shared or name.levels
        return name if alone else replace(name, levels=(law.by,))

    right = replace_names(law.parsed.right, grouped)
    return replace(law, formula=f"{law.parsed.left} ~ {right}", by="", shared=())


def _find_column(table, letter, what):
    """Return the column that a letter of a formula stands for: of its name, or of that of what it is."""
    numbers = [str(name) for name in table.select_dtypes("number")]
    if letter in numbers:
        return letter
    for called in what.partition(",")[0].split(" or "):
        found = [name for name in numbers if name == called] or [name for name in numbers if recognise(name) == called]
        found = found or [name for name in numbers if {*_stems(called)} <= {*_stems(name)}]
        found = found or [name for name in numbers if recognise_later(name) == called]
        if len(found) == 1:
            return found[0]
    why = f"columns {listed(found)} may be" if found else "no column is"
    example = found[0] if found else "NAME"
    place, known = source_of(table), f"the columns are {listed(table.columns)}"
    way = f"name it with columns={{{letter!r}: {example!r}}} (--column {letter}={quote(example)})"
    raise InputError(f"{place}: {why} {letter}, the {what}; {way}; {known}")


def _stems(name):
    return [part.removesuffix("s") for part in words(name)]

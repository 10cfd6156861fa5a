"""Published laws by name: formulas with the columns, the constants and the sources of their papers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..datasets.wording import quoted, suggestion
from ..errors import InputError


@dataclass(frozen=True)
class PublishedLaw:
    """A law as its paper has it.

    Attributes
    ----------
    name, formula, fitted_to, source : str
    of : str
        What the law is of, such as "sizes" or "experts".
    columns : dict of str to str
        What the letters of the formula are that a table has, with their units; the response comes first.
    constants : dict of str to float
        As published, in the units of the columns; those that are not known are left out.
    read : {"paper", "code", "notes"}
        Where form and constants were read.
    unknown : str
        What was not found.
    priors : dict of str to str
        Of constants whose place in the formula does not tell what they are.
    """

    name: str
    of: str
    formula: str
    columns: Mapping[str, str]
    fitted_to: str
    source: str
    read: str
    constants: Mapping[str, float] = field(default_factory=dict)
    unknown: str = ""
    priors: Mapping[str, str] = field(default_factory=dict)

    def law(self, priors: Mapping | None = None, **options: Any) -> Any:
        """Return the law, whose letters are found in a table by what they are."""
        from .formula.law import Formula

        return Formula(self.formula, letters=self.columns, priors={**self.priors, **(priors or {})}, **options)


@cache
def laws() -> dict[str, PublishedLaw]:
    """Return the published laws by name.

    Examples
    --------
    >>> laws()["hoffmann-2022"].constants["alpha"]
    0.34
    """
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    every = {name: entries.get(of.pop("like", ""), {}) | of for name, of in entries.items()}
    return {name: PublishedLaw(name, **of) for name, of in every.items()}


def find(name: str) -> PublishedLaw:
    """Return the published law of a name, refusing an unknown one.

    Examples
    --------
    >>> find("krajewski-2024").columns["G"]
    'granularity'
    """
    if name not in laws():
        near = suggestion(name, laws()) or ";"
        raise InputError(f"published law {quoted(name)} is unknown{near} bayescaling laws lists them")
    return laws()[name]

"""What a built-in table is."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """A built-in table: what it holds, where it is from, its columns with their units, and those that are derived.

    A table of scores is `joined` with the table of that name, whose rows are the models.
    """

    name: str
    rows: int
    kind: str
    description: str
    source: str
    licence: str
    columns: dict[str, str]
    derived: dict[str, Callable] = field(default_factory=dict)
    joined: str | None = None

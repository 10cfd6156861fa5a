"""The kinds of table: of runs, of dated evaluations, of counts, of scores."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from . import storing
from .catalogue import load
from .counts import OF_A_CELL, read_counts
from .evaluations import read_evaluations
from .reading import read
from .scores import read_scores


@dataclass(frozen=True)
class Kind:
    """A kind of table.

    Parameters
    ----------
    name : str
        As in `KINDS` and in the catalogue.
    read : callable
        What reads and checks a user's own table, ``read(source, *, columns=None)``; that of runs has more options.
    built_in : str
        Name of the built-in table that stands where a user gives none.
    dimension : str
        Name of the dimension of its rows.
    group : str, optional
        Column within whose values others are constant, which are then stored once.
    own : tuple of str
        Columns of the rows themselves, never stored by `group`.

    Examples
    --------
    >>> kind = KINDS["evaluations"]
    >>> kind.built_in, kind.dimension
    ('lm_progress', 'evaluation')
    """

    name: str
    read: Callable
    built_in: str
    dimension: str
    group: str | None = None
    own: tuple[str, ...] = ()

    @property
    def options(self):
        """Names of the options that the reader takes."""
        return tuple(inspect.signature(self.read).parameters)[1:]

    def load(self):
        """Load the built-in table of the kind.

        Examples
        --------
        >>> len(KINDS["runs"].load())
        245
        """
        return load(self.built_in)

    def to_dataset(self, frame):
        """Store a checked table as an xarray Dataset that netCDF can hold; see `storing.to_dataset`.

        Examples
        --------
        >>> kind = KINDS["counts"]
        >>> dict(kind.to_dataset(kind.load()).sizes)
        {'cell': 1728, 'run': 12}
        """
        return storing.to_dataset(frame, self.dimension, group=self.group, own=self.own)

    def from_dataset(self, dataset):
        """Return the table that `to_dataset` stored; see `storing.from_dataset`.

        Examples
        --------
        >>> kind = KINDS["runs"]
        >>> runs = kind.load()
        >>> kind.from_dataset(kind.to_dataset(runs)).equals(runs)
        True
        """
        return storing.from_dataset(dataset, self.dimension, group=self.group)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("runs", read, "chinchilla_runs", "run"),
        Kind("evaluations", read_evaluations, "lm_progress", "evaluation"),
        Kind("counts", read_counts, "arithmetic_runs", "cell", group="run", own=OF_A_CELL),
        Kind("scores", read_scores, "eci_scores", "row"),
    )
}

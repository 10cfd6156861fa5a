"""The log posterior density of a law on a table, as something to compile and sample."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np


class Density(NamedTuple):
    """A log posterior density of coordinates on the real line, with its data.

    Coordinates come in blocks, the first a vector. Another block has one row for each member of an axis of the table,
    such as a group or a model.

    Attributes
    ----------
    terms : callable
        ``terms(blocks, arrays)`` returns a tuple of scalars and arrays whose elements sum to the density. It is written
        in the functions of `arrays`, so that it can be traced, differentiated and compiled.
    start : tuple of ndarray
        Blocks of coordinates about which chains start, (coordinate,) and (member, coordinate).
    arrays : dict of str to ndarray
        Data of the density, by name.
    axes : dict of str to (str or None)
        What the first axis of each array is of, where a table may have any number of them; None where it may not.
    named : callable
        ``named(z)`` returns the sampled variables, a Dataset, at coordinates (chain, draw, coordinate).
    key : hashable
        What the code of `terms` follows from: the law with its options.
    block_axes : tuple of str
        What the blocks after the first have one row for.
    used : ndarray of bool, shape (coordinate,), optional
        Which coordinates are sampled; all by default. The others are switched off by data, and the density does not
        depend on them but for their own standard normal terms.
    """

    terms: Callable[[tuple, dict], tuple]
    start: tuple
    arrays: dict[str, np.ndarray]
    axes: dict[str, str | None]
    named: Callable[[np.ndarray], Any]
    key: Hashable
    block_axes: tuple = ()
    used: np.ndarray | None = None

    @property
    def program(self) -> Hashable:
        """Return what densities have in common that differ by data alone, so that one compilation serves them all."""
        blocks = tuple(block.shape for block in self.start)
        arrays = tuple((name, x.shape if self.axes[name] is None else x.shape[1:]) for name, x in self.arrays.items())
        return self.key, blocks, arrays

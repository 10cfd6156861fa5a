"""The log posterior density of a law on a table, as something to compile and sample."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from ..datasets.deferred import xr
from .draws import draw_coordinates

POTENTIAL = "potential"  # the density of what informs a law besides its observations


class Density(NamedTuple):
    """A log posterior density of coordinates on the real line, with its data.

    * ``blocks``: what is sampled: quantities that have priors, and what the law gives a density. The first is a vector
      of coordinates. A block with an axis has one row for each member of it, such as a group or a model.
    * ``rest``: ``rest(values, arrays)`` returns a dict of scalars and arrays whose elements sum to the density of all
      but the priors, given the values of what is sampled. Under the name of each block of `Units` it has their density,
      and under `POTENTIAL` that of what informs the law in addition to its observations. Other names are of the
      observations. It is written in the functions of `arrays`, so that it can be traced, differentiated, compiled, and
      run on JAX and PyTensor.
    * ``arrays``: data of the density, by name.
    * ``axes``: what the first axis of each array is of, where a table may have any number of them; None where it may
      not.
    * ``key``: the law and those of its options that change the code of `rest`, hashable.
    * ``labels``: names along the dims of what is sampled.
    * ``low_rank``: whether nutpie's mass matrix has some directions besides its diagonal. Where coordinates are
      correlated it takes fewer steps so, elsewhere each step takes longer for nothing.
    """

    blocks: tuple
    rest: Callable[[dict, dict], dict]
    arrays: dict[str, np.ndarray]
    axes: dict[str, str | None]
    key: Hashable
    labels: dict[str, list] = {}  # noqa: RUF012
    low_rank: bool = True

    @property
    def start(self) -> tuple:
        """Return blocks of coordinates about which chains start, (coordinate,) and (member, coordinate)."""
        return tuple(block.start for block in self.blocks)

    @property
    def block_axes(self) -> tuple:
        """Return what blocks of several rows have one row for."""
        return tuple(block.axis for block in self.blocks if block.start.ndim > 1)

    @property
    def program(self) -> Hashable:
        """Return the key and shapes of the density: one compilation serves all densities that agree in these."""
        blocks = tuple(block.shape for block in self.start)
        arrays = tuple((name, x.shape if self.axes[name] is None else x.shape[1:]) for name, x in self.arrays.items())
        return self.key, blocks, arrays

    def terms(self, coordinates: tuple, arrays: dict) -> tuple:
        """Return scalars and arrays whose elements sum to the density, at blocks of coordinates."""
        values, priors = {}, []
        for block, z in zip(self.blocks, coordinates, strict=True):
            constrained, densities = block.values(z, values)
            values |= constrained
            priors += densities.values()
        return (*priors, *self.rest(values, arrays).values())

    def named(self, z: np.ndarray) -> Any:
        """Return what is sampled, a Dataset, at coordinates (chain, draw, coordinate)."""
        variables, at = {}, 0
        for block in self.blocks:
            size = block.start.size
            variables |= block.named(z[..., at : at + size])
            at += size
        labels = {dim: names for dim, names in self.labels.items() if names}
        return xr.Dataset(variables, draw_coordinates(*z.shape[:2]) | labels)

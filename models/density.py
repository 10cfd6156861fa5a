"""The log posterior density of a law on a table, as something to compile and sample, and its coordinates."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..datasets.deferred import xr
from .arrays import log
from .draws import DRAWS, draw_coordinates

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


# Blocks of coordinates: the place, the prior density and the name of each quantity ------------------------------------


def place(mean, variance, estimate, information):
    """Return the mean and the log sd of a normal quantity given an estimate of it of this information.

    A coordinate that is sampled is best standardised so: by the prior where the estimate tells little, by the estimate
    where it tells much. Arrays may be of any library of `arrays`.
    """
    precision = information + 1.0 / variance
    return mean + information / precision * (estimate - mean), -0.5 * log(precision)


@dataclass(frozen=True)
class Coordinates:
    """Quantities that have priors, each mapped onto the real line, one after the other.

    Those of `several` values have a dimension and a number of them; without any, they have no coordinate. Of an axis,
    such as groups, the block has one row of coordinates for each of its members.

    Examples
    --------
    >>> from bayescaling.models.priors import Prior
    >>> coordinates = Coordinates({"omega": Prior.parse("LogNormal(0, 1)"), "shift": Prior.parse("Normal(2, 1)")})
    >>> coordinates.start
    array([0., 2.])
    >>> values, _ = coordinates.values(coordinates.start)
    >>> float(values["omega"])
    1.0
    """

    priors: dict
    several: dict = field(default_factory=dict)
    axis: str | None = None
    members: int = 1

    def _placed(self):
        """Yield pairs of a name and its place: an index of the one value, or a slice of several."""
        place = 0
        for name in self.priors:
            count = self.several[name][1] if name in self.several else 1
            if count:
                yield name, slice(place, place + count) if name in self.several else place
            place += count

    def __len__(self):
        return sum(count for _, count in self.several.values()) + len(self.priors.keys() - self.several.keys())

    @property
    def start(self):
        """Return the medians of the priors, (coordinate,) or (member, coordinate)."""
        medians = np.empty(len(self))
        for name, place in self._placed():
            medians[place] = self.priors[name].start
        return medians if self.axis is None else np.tile(medians, (self.members, 1))

    def values(self, z, parents=None):
        """Return values and log prior densities of the quantities at coordinates of any array library, dicts by name.

        Coordinates are (coordinate,) or (member, coordinate), and `parents` the values of the blocks before, which a
        prior may depend on. Values are scalars or, of several values or members, (value,).
        """
        z = z if self.axis is None else z.T
        pairs = {name: self.priors[name].of_coordinate(z[place]) for name, place in self._placed()}
        return {name: x for name, (x, _) in pairs.items()}, {name: density for name, (_, density) in pairs.items()}

    def dims_of(self, name):
        """Return the dims of a quantity besides those of draws."""
        return tuple(dim for dim in (self.several.get(name, (None,))[0], self.axis) if dim)

    def named(self, z):
        """Return the variables of a Dataset by name, from coordinates (chain, draw, coordinate)."""
        z = z if self.axis is None else z.reshape(*z.shape[:2], self.members, len(self))
        return {
            name: ((*DRAWS, *self.dims_of(name)), self.priors[name].from_unconstrained(z[..., place])[0])
            for name, place in self._placed()
        }

    def variables(self, parents):
        """Register the quantities in the PyMC model of the context; `parents` are those of the blocks before."""
        return {name: self.priors[name].variable(name, dims=self.dims_of(name) or None) for name, _ in self._placed()}


@dataclass(frozen=True, eq=False)
class Units:
    """Coordinates of one kind that the law gives a density, such as the capabilities of models, and where they start.

    Dims, besides those of draws, are of what they are called by. An axis names what the first of `start` is of, where a
    table may have any number of them.
    """

    name: str
    dims: tuple
    start: np.ndarray
    axis: str | None = None

    def __len__(self):
        return self.start.size

    def values(self, z, parents=None):
        """Return the coordinates by their name, and no prior; see `Coordinates.values`."""
        return {self.name: z}, {}

    def named(self, z):
        """Return the variables of a Dataset by name, from coordinates (chain, draw, coordinate)."""
        return {self.name: ((*DRAWS, *self.dims), z.reshape(*z.shape[:2], *self.start.shape[: len(self.dims)]))}

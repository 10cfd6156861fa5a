"""Sampled quantities side by side on the real line: where each stands, what its prior says there, its name."""

from dataclasses import dataclass, field

import numpy as np

from ..datasets.deferred import xr
from .draws import DRAWS, draw_coordinates


@dataclass(frozen=True)
class Coordinates:
    """Quantities that have priors of their own, each mapped onto the real line, one after the other.

    Parameters
    ----------
    priors : dict of str to Prior
    several : dict of str to (str, int)
        Dimension and number of the values of a quantity that has several; without any, it has no coordinate.

    Examples
    --------
    >>> from bayescaling.models.priors import Prior
    >>> coordinates = Coordinates({"omega": Prior.parse("LogNormal(0, 1)"), "shift": Prior.parse("Normal(2, 1)")})
    >>> coordinates.start()
    array([0., 2.])
    >>> values, _ = coordinates.values(coordinates.start())
    >>> float(values["omega"])
    1.0
    """

    priors: dict
    several: dict = field(default_factory=dict)

    def _placed(self):
        """Pairs of a name and its place: an index of the one value, or a slice of several."""
        place = 0
        for name in self.priors:
            count = self.several[name][1] if name in self.several else 1
            if count:
                yield name, slice(place, place + count) if name in self.several else place
            place += count

    def __len__(self):
        return sum(count for _, count in self.several.values()) + len(self.priors.keys() - self.several.keys())

    def start(self):
        """Medians of the priors, (coordinate,)."""
        found = np.empty(len(self))
        for name, place in self._placed():
            found[place] = self.priors[name].to_unconstrained(self.priors[name].frozen.median())
        return found

    def values(self, z):
        """Value and log density of each quantity at coordinates, (coordinate,) of any array library.

        Returns
        -------
        values, densities : dict of str to array_like
            Scalars or, of several values, (value,).
        """
        pairs = {name: self.priors[name].of_coordinate(z[place]) for name, place in self._placed()}
        return {name: x for name, (x, _) in pairs.items()}, {name: density for name, (_, density) in pairs.items()}

    def named(self, z):
        """Variables of a Dataset by name, from coordinates (chain, draw, coordinate); those after the last are left."""
        found = {}
        for name, place in self._placed():
            dims = (*DRAWS, self.several[name][0]) if name in self.several else DRAWS
            found[name] = (dims, self.priors[name].from_unconstrained(z[..., place])[0])
        return found

    def dataset(self, z):
        """Return a Dataset of the quantities at coordinates (chain, draw, coordinate)."""
        return xr.Dataset(self.named(z), draw_coordinates(*z.shape[:2]))

"""Directions in which residuals are summed to test a law, chosen without a look at the observations.

If the law is true and z are its standardised residuals, independent standard normals, then for orthonormal rows u of
`directions` the sum of ``(u . z)**2`` is chi-square with as many degrees of freedom as there are rows.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Contrast:
    """Some directions and what they ask.

    Parameters
    ----------
    what : str
    directions : ndarray, shape (direction, row)
        Orthonormal.
    """

    what: str
    directions: np.ndarray

    def among(self, own):
        """Return the same directions among more rows, of which it is about those that are its `own`, of bool."""
        directions = np.zeros((len(self.directions), len(own)))
        directions[:, own] = self.directions
        return Contrast(self.what, directions)


def joined(of, contrasts):
    """Contrasts about different rows as one; what they ask is told once, and `of` what."""
    told = "; ".join(dict.fromkeys(each.what for each in contrasts))
    return Contrast(f"{of}: {told}", np.concatenate([each.directions for each in contrasts]))


def means(codes):
    """Directions of the mean of each group of rows, (group, row)."""
    codes = np.asarray(codes)
    return np.stack([(codes == code) / np.sqrt((codes == code).sum()) for code in np.unique(codes)])


def slopes(codes, x):
    """Directions of the slope in `x` within each group of rows in which it varies, (group, row)."""
    codes, x, found = np.asarray(codes), np.asarray(x, float), []
    for code in np.unique(codes):
        own = codes == code
        u = np.where(own, x - x[own].mean(), 0.0)
        if (u**2).sum() > 1e-12 * max(1.0, (x[own] ** 2).sum()):
            found.append(u / np.sqrt((u**2).sum()))
    return np.reshape(found, (len(found), len(codes)))

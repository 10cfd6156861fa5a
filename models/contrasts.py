"""Directions in which residuals are summed to test a law, chosen without a look at the observations.

If the law is true, its standardised residuals z are independent standard normals. For orthonormal rows u of
`directions`, the sum of ``(u . z)**2`` is then chi-square with as many degrees of freedom as there are rows.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..datasets.columns import CANONICAL

MOST_LEVELS = 20
LEAST_ROWS = 3
BINS = 10


def informed(contrasts):
    """Return those of contrasts, by name, that have a direction."""
    return {name: contrast for name, contrast in contrasts.items() if len(contrast.directions)}


@dataclass(frozen=True)
class Contrast:
    """Directions of residuals, (direction, row), and what they test.

    They are orthonormal, and 0 outside the rows of one bin or group. Names say what the rows of each direction are
    called, such as "the bin of largest compute"; see `named`.
    """

    what: str
    directions: np.ndarray
    names: tuple = ()

    @classmethod
    def of_means(cls, codes, of, labels=None):
        """Return the mean of z in each group of rows, named by the words `of`; `labels` of rows name the groups."""
        directions = means(codes)
        return cls(f"mean of z in each of {len(directions)} {of}", directions).named(
            codes if labels is None else labels
        )

    @classmethod
    def of_slopes(cls, codes, x, what, of, labels):
        """Return the slope of z in `x` in each group of rows in which it varies, named by the words `what`, `of`."""
        within = slopes(codes, x)
        return cls(f"slope of z in {what} in each of {len(within)} {of}", within).named(labels)

    def named(self, labels):
        """Return the same contrast with each direction called as the rows in it are, by labels of rows, (row,)."""
        labels = np.asarray(labels, object)
        return replace(self, names=tuple(str(labels[place]) for place in (self.directions != 0).argmax(1)))

    def among(self, rows, where=""):
        """Return the same directions among more rows; `rows`, of bool, marks those that they are about.

        The names of its directions end with `where`.
        """
        directions = np.zeros((len(self.directions), len(rows)))
        directions[:, rows] = self.directions
        return Contrast(self.what, directions, tuple(f"{name}{where}" for name in self.names))


def joined(of, contrasts):
    """Join contrasts of different rows into one; its text states what they test once, after `of`."""
    tests = "; ".join(dict.fromkeys(contrast.what for contrast in contrasts))
    names = tuple(name for contrast in contrasts for name in contrast.names)
    return Contrast(f"{of}: {tests}", np.concatenate([contrast.directions for contrast in contrasts]), names)


def ordinals(codes, what):
    """Label rows by their bin, "the bin of largest compute" or "bin 2 of 10 by compute", (row,) of str."""
    codes = np.unique(codes, return_inverse=True)[1]
    count = int(codes.max()) + 1
    ends = {0: f"the bin of smallest {what}", count - 1: f"the bin of largest {what}"}
    named = [ends.get(code, f"bin {code + 1} of {count} by {what}") for code in range(count)]
    return np.array(named, object)[codes]


def bin_levels(values):
    """Return the code of each row's bin: its level where there are at most 10, else one of 10 bins of neighbours."""
    levels, codes = np.unique(values, return_inverse=True)
    return codes * min(BINS, len(levels)) // len(levels)


def means(codes):
    """Return the directions of the mean of each group of rows, (group, row)."""
    codes = np.asarray(codes)
    return np.stack([(codes == code) / np.sqrt((codes == code).sum()) for code in np.unique(codes)])


def slopes(codes, x):
    """Return the directions of the slope in `x` within each group of rows in which it varies, (group, row)."""
    codes, x, directions = np.asarray(codes), np.asarray(x, float), []
    for code in np.unique(codes):
        group = codes == code
        u = np.where(group, x - x[group].mean(), 0.0)
        if (u**2).sum() > 1e-12 * max(1.0, (x[group] ** 2).sum()):
            directions.append(u / np.sqrt((u**2).sum()))
    return np.reshape(directions, (len(directions), len(codes)))


def groupings(rows, used=()):
    """Return the columns by which rows may form groups that a law ignores, with the codes of the groups.

    They have 2 to 20 values, each in 3 rows at least. The columns are of text, truth values or whole numbers, under
    other names than those `used` by the law or those that tables of runs have. Of columns that group the rows alike the
    first is returned.

    Examples
    --------
    >>> rows = pd.DataFrame({"lab": list("aaabbb"), "loss": range(6), "same": list("cccddd"), "note": list("abcdef")})
    >>> list(groupings(rows, ["loss"]))
    ['lab']
    """
    codes_by_column, seen, kind = {}, set(), pd.api.types
    names_groups = kind.is_object_dtype, kind.is_string_dtype, kind.is_bool_dtype, kind.is_integer_dtype
    for name, column in rows.items():
        if name in used or name in CANONICAL.values() or not any(of(column) for of in names_groups):
            continue
        codes, values = pd.factorize(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        if (codes < 0).any() or not 2 <= len(values) <= MOST_LEVELS or counts.min() < LEAST_ROWS:
            continue
        if codes.tobytes() not in seen:
            seen.add(codes.tobytes())
            codes_by_column[name] = codes
    return codes_by_column

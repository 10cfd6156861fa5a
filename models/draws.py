"""Draws under a law, with the methods that every technique calls."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ..datasets import filled, require
from ..datasets.deferred import xr
from ..errors import InputError
from .arrays import sum_by

DRAWS = ("chain", "draw")
COORDINATE = "coordinate"
BLOCK = 2**22  # log densities held at a time, 32 MiB; evaluating them takes several times that


class Draws:
    """Draws of a law's sampled quantities, with the rows that were fitted, or those whose densities are requested.

    The rows are from `Law.rows`, the reference is from `Law.reference`. DataArrays have the dims chain and draw. A
    subclass gives these methods, in which rows are by default those of the draws:

    ``named()``
        Sampled and derived quantities by name, a Dataset.
    ``mean(rows=None)``
        The mean observation at each row, in the table's unit.
    ``log_likelihood(rows=None, *, seed=0)``
        The log density of each unit. Its ``attrs`` hold figures on the precision of an evaluation by simulation.
    ``cdf(rows=None, *, conditioning="earlier")``
        The probability of at most each observation. Where rows share effects, it is given other rows of the group.
        Given the ``"earlier"`` ones, probabilities are independent and uniform if the law is true; leave-one-out needs
        all ``"others"``. A count is placed uniformly between the probabilities of fewer and of at most as many.
    ``relative_scatter()``
        The scatter of each observation about what `cdf` takes it to follow, an ndarray (chain, draw, row). Of losses it
        is a share of the mean loss, of counts one of the problems.
    ``log_prior()``, ``log_density()``
        The log prior density of each sampled quantity, a Dataset; that on the real line with the rows, which may lack a
        constant that is the same whatever rows the law is fitted to.
    ``replicate(rng, rows=None)``
        Observations that each draw predicts for the rows, scatter included, on the scale of the law.
    ``real_line()``, ``from_real_line(z)``
        Coordinates on the real line, with the dim coordinate, and draws of the same rows at such coordinates.
    ``left_out_density(fitted, i, *, seed=0)``
        The log predictive density of unit `i` under draws `fitted` to the others.
    """

    named: Callable[..., Any]
    mean: Callable[..., Any]
    log_likelihood: Callable[..., Any]
    cdf: Callable[..., Any]
    relative_scatter: Callable[..., Any]
    log_prior: Callable[..., Any]
    log_density: Callable[..., Any]
    replicate: Callable[..., Any]
    real_line: Callable[..., Any]
    from_real_line: Callable[..., Any]
    left_out_density: Callable[..., Any]

    def __init__(self, law, reference, rows):
        self.law, self.reference, self.rows = law, reference, rows

    def constants(self):
        """Return the scalars of `named` as arrays, (sample, 1), all draws of all chains in one axis."""
        scalars = {name: x for name, x in self.named().data_vars.items() if set(x.dims) == set(DRAWS)}
        return {name: x.transpose(*DRAWS).values.reshape(-1, 1) for name, x in scalars.items()}

    def by_draw(self, arrays, coordinates):
        """Name arrays that broadcast to (sample, ...) by chain, draw and coordinates: a Dataset."""
        axes = {dim: self.named()[dim] for dim in DRAWS}
        draws, lengths = [x.size for x in axes.values()], [len(x) for x in coordinates.values()]
        whole = {name: np.broadcast_to(x, (np.prod(draws), *lengths)) for name, x in arrays.items()}
        dims = (*DRAWS, *coordinates)
        return xr.Dataset({n: (dims, x.reshape(*draws, *lengths)) for n, x in whole.items()}, axes | coordinates)

    def blocks(self, rows=None):
        """Return the positions of rows whose log densities can be evaluated apart, in blocks; by default all in one."""
        return [np.arange(len(self.rows if rows is None else rows))]

    def log_likelihood_blocks(self, *, seed=0):
        """Yield the log density of each unit, some at a time: `log_likelihood` of each of `blocks`."""
        blocks = self.blocks()
        for positions in blocks:
            yield self.log_likelihood(None if len(blocks) == 1 else self.rows.iloc[positions], seed=seed)

    def total_log_likelihood(self, rows=None):
        """Return the log density of all rows together given each draw, (chain, draw)."""
        return self.log_likelihood(rows).sum(self.law.unit)

    def of_groups(self):
        """Return the log density of groups of rows that are independent given the draws, (chain, draw, group).

        It is None where units are independent given the draws.
        """

    def exchangeable(self):
        """Return the log density of what is exchangeable given the law's free parameters, None where that is the units.

        Its dims are (chain, draw, group), the last named after the column that holds the groups. What is sampled of
        each group is integrated out.
        """
        return self.of_groups()

    def by_group(self, by=None):
        """Return the log density of the rows of each value of a column together, dims (chain, draw, group) in order.

        The column is by default the law's `left_out_by`. It is refused where units are no rows, or where it is missing,
        is empty in a row, or takes apart rows that are not independent.
        """
        law, rows = self.law, self.rows
        if law.left_out_by is None and law.unit != "row":
            raise InputError(f"a fit of {law.name} leaves out all counts of a {law.unit} already; use loo")
        by = law.left_out_by if by is None else by
        if by is None:
            raise InputError(f"a fit of {law.name} leaves out rows by a column to be named: loo(by={law.columns[0]!r})")
        require(rows, [by], purpose="leaving groups out")
        filled(rows, by, purpose="leaving groups out")
        codes, names = pd.factorize(rows[by], sort=True)
        grouped = self.of_groups()
        parts = self.log_likelihood_blocks() if grouped is None else [grouped]
        places = self.blocks() if grouped is None else [slice(None)]
        codes = codes if grouped is None else self._of_parts(grouped, by, codes)
        values = 0.0
        for part, place in zip(parts, places, strict=True):
            part = part.transpose(*DRAWS, ...).values
            groups, group_codes = np.unique(codes[place], return_inverse=True)
            summed = np.zeros((*part.shape[:2], len(names)))
            summed[..., groups] = sum_by(part, group_codes, np.bincount(group_codes))
            values = values + summed
        return xr.DataArray(values, dims=(*DRAWS, "group"), coords={"group": names.to_numpy()})

    def _of_parts(self, grouped, by, codes):
        """Return the code of each of the groups that are independent, from those of their rows."""
        name, labels = self.law.left_out_by, grouped[grouped.dims[-1]].values
        pairs = pd.DataFrame({"group": self.rows[name].to_numpy(), "code": codes}).drop_duplicates()
        if len(pairs) > len(labels):
            raise InputError(
                f"column {by!r} has several values in one {name}, whose rows are not independent; leave groups out by "
                f"{name!r} or by a column that has one value in each"
            )
        return pairs.set_index("group")["code"].loc[labels].to_numpy()

    def of_planned(self, **planned):
        """Return the draws of the law of planned runs, and the options of these runs for it: here all."""
        return self, planned

    def of_unseen(self, rows, rng):
        """Return draws that predict rows, each of a group that was not fitted.

        Here the same draws: their replicates draw the quantities of each group. Where they do not, `rng` draws them.
        """
        return self

    def thinned(self, stride):
        """Return every `stride`-th draw of each chain."""
        return self if stride == 1 else self.from_real_line(self.real_line().isel(draw=slice(None, None, stride)))

    def unit_log_likelihood(self, i):
        """Return the log density of unit `i`, (chain, draw)."""
        return self.log_likelihood().isel({self.law.unit: i}, drop=True)

    def informed_by(self, rows):
        """Name the coordinates on the real line that only these rows inform, none by default.

        Without the rows each has its prior, whatever the other coordinates are; `log_prior_of` gives its density.
        """
        return ()

    def without(self, i):
        """Return the rows without those of unit `i`."""
        return self.rows.drop(index=self.rows.index[i]).reset_index(drop=True)

    def left_out_group(self, fitted, rows, by=None):
        """Return the log predictive density of a group of `rows` under draws fitted to the other rows."""
        return fitted.total_log_likelihood(rows)

    def left_out_mean(self, fitted, i):
        """Return the mean of the observations of unit `i`, added up, under draws `fitted` to the others."""
        return float(fitted.mean(self.rows.iloc[[i]]).values.mean((0, 1)).sum())

    @property
    def can_be_simulated(self):
        """Return whether a table can state what these draws predict."""
        return True


class CoordinateDraws(Draws):
    """Draws of coordinates z on the real line, an ndarray (chain, draw, coordinate).

    A subclass gives ``rowwise()``, the log density of each row, (chain, draw, row), and ``coordinate_names()``.
    """

    def __init__(self, law, reference, rows, z):
        super().__init__(law, reference, rows)
        self.z = z

    def _at(self, rows):
        return self if rows is None else type(self)(self.law, self.reference, rows, self.z)

    def _array(self, values, *dims, **coords):
        coords = draw_coordinates(*self.z.shape[:2]) | coords
        return xr.DataArray(values, dims=(*DRAWS, *dims), coords=coords)

    def log_likelihood(self, rows=None, *, seed=0):
        """Return the log density of each row, given what `rowwise` states: dims (chain, draw, unit)."""
        densities, unit = self._at(rows).rowwise(), self.law.unit
        return self._array(densities, unit, **{unit: np.arange(densities.shape[-1])}).rename(self.law.scale)

    def real_line(self):
        """Return the coordinates on the real line: of laws with members free parameters, then the blocks."""
        return self._array(self.z, COORDINATE, **{COORDINATE: self.coordinate_names()})

    def from_real_line(self, z):
        """Return draws at coordinates as `real_line` gives them."""
        return type(self)(self.law, self.reference, self.rows, z.transpose(*DRAWS, COORDINATE).values)


def flatten(dataset):
    """Return scalars of a dataset by name, ``alpha_year[ptb]`` with levels: dict of (chain, draw) arrays.

    Examples
    --------
    >>> import xarray as xr
    >>> sorted(flatten(xr.Dataset({"a": (("chain", "draw", "text"), [[[1.0, 2.0]]])}, {"text": ["x", "y"]})))
    ['a[x]', 'a[y]']
    """
    out = {}
    for name, variable in dataset.data_vars.items():
        levels = [dim for dim in variable.dims if dim not in DRAWS]
        if not levels:
            out[name] = variable.values
            continue
        (dim,) = levels
        out |= {f"{name}[{label}]": variable.sel({dim: label}).values for label in variable[dim].values}
    return out


def draw_coordinates(chains, draws):
    """Return the coordinates of the dims chain and draw, from 0."""
    return {"chain": np.arange(chains), "draw": np.arange(draws)}

"""Draws under a law, and what every technique asks of them."""

import numpy as np

DRAWS = ("chain", "draw")


class Draws:
    """Draws of a law's sampled quantities, with the rows they belong to.

    Parameters
    ----------
    law : Law
    reference : dict
        From `Law.reference`.
    rows : DataFrame
        From `Law.rows`: the rows that were fitted, or those that densities are asked of.
    """

    def __init__(self, law, reference, rows):
        self.law, self.reference, self.rows = law, reference, rows

    def named(self):
        """Name the sampled and derived quantities: a Dataset of dims (chain, draw, ...)."""
        raise NotImplementedError

    def mean(self, rows=None):
        """Mean of the observations at the rows, in the unit of the table: a DataArray of dims (chain, draw, row)."""
        raise NotImplementedError

    def log_likelihood(self, rows=None, *, seed=0):
        """Log density of each unit: a DataArray of dims (chain, draw, unit).

        Its ``attrs`` hold figures that say how exact the evaluation was; `seed` is that of an evaluation by simulation.
        """
        raise NotImplementedError

    def total_log_likelihood(self, rows=None):
        """Log density of all rows together given each draw, (chain, draw)."""
        return self.log_likelihood(rows).sum(self.law.unit)

    def of_groups(self):
        """Log density of groups of rows that are independent given the draws, where the rows themselves are not.

        Returns
        -------
        DataArray or None
            Dims (chain, draw, group); None where units are independent given the draws.
        """

    def log_prior(self):
        """Log prior density of each sampled quantity: a Dataset of dims (chain, draw, ...)."""
        raise NotImplementedError

    def log_density(self):
        """Log posterior density on the real line up to a constant: a DataArray of dims (chain, draw)."""
        raise NotImplementedError

    def replicate(self, rng, rows=None):
        """Observations that each draw foretells for the rows, scatter included.

        Returns
        -------
        DataArray
            On the scale of the law, dims (chain, draw, row).
        """
        raise NotImplementedError

    def real_line(self):
        """Coordinates of the draws on the real line: a DataArray of dims (chain, draw, coordinate)."""
        raise NotImplementedError

    def from_real_line(self, z):
        """Return draws at coordinates `z` as `real_line` gives them, of the same rows."""
        raise NotImplementedError

    def unit_log_likelihood(self, i):
        """Log density of unit `i`, (chain, draw)."""
        return self.log_likelihood().isel({self.law.unit: i}, drop=True)

    def without(self, i):
        """Rows without those of unit `i`."""
        return self.rows.drop(index=self.rows.index[i]).reset_index(drop=True)

    def left_out_density(self, fitted, i, *, seed=0):
        """Log predictive density of unit `i` under draws `fitted` to the others, (chain, draw)."""
        raise NotImplementedError

    def left_out_mean(self, fitted, i):
        """Mean of the observations of unit `i`, added up, under draws `fitted` to the others."""
        return float(fitted.mean(self.rows.iloc[[i]]).values.mean((0, 1)).sum())

    @property
    def can_be_simulated(self):
        """Whether a table can state what these draws foretell."""
        return True


def flatten(dataset):
    """Scalars of a dataset by name, ``alpha_year[ptb]`` where a variable has levels: dict of (chain, draw) arrays.

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
    """Coordinates of the dims chain and draw, from 0."""
    return {"chain": np.arange(chains), "draw": np.arange(draws)}

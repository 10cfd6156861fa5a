"""Draws of laws of models that have several rows each: free parameters, and blocks of coordinates of their members."""

import numpy as np
import pandas as pd

from ..datasets.deferred import xr
from ..datasets.wording import quoted, source_of
from ..errors import InputError
from .draws import BLOCK, CoordinateDraws, flatten


def places(rows, column, names, values=None):
    """Return the places among names of the rows' values in a column, such as models, or of `values`; refuse others."""
    values = rows[column] if values is None else values
    codes = pd.Index(names).get_indexer(values)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise InputError(
            f"{source_of(rows)}: {column} {quoted(values.iloc[row])} in row "
            f"{rows.index[row] + 1} is none of those fitted; fit a table that has it"
        )
    return codes


def nodes(draws, count, width):
    """Return evenly spaced nodes, (..., node), so many sds of draws on either side, and the logarithms of steps."""
    places = np.linspace(-width, width, count)
    centre, sd = draws.mean((0, 1)), draws.std((0, 1))
    return centre[:, None] + sd[:, None] * places, np.log(sd * (places[1] - places[0]))


class MemberDraws(CoordinateDraws):
    """Draws of coordinates z, (chain, draw, coordinate), of a law in which models have a quantity each, as capability.

    A subclass gives three methods. ``terms()`` returns log densities of units and of rows by name, (chain, draw, ...),
    and ``rowwise()`` those of rows given their model, (chain, draw, row). ``integrated(draws)`` returns that of each
    model's rows under draws by name, (chain, draw), its quantity integrated out. The quantity of an unseen model
    follows from what the law knows of it.

    Free parameters are `values` by name, (chain, draw) or (chain, draw, value). Blocks of coordinates of members are
    `units`, (chain, draw, ...), in the order of the law's ``blocks(reference)``, which has none where rows have no
    members.
    """

    def __init__(self, law, reference, rows, z):
        super().__init__(law, reference, rows, z)
        self.free = law.free(reference)
        at, self.units = len(self.free), []
        for _, block, _ in law.blocks(reference).values():
            self.units.append(z[..., at : at + block.size].reshape(*z.shape[:2], *block.shape))
            at += block.size
        self.values = {name: x for name, (_, x) in self.free.named(z).items()}
        self.design = law.design_arrays(rows, reference)

    @classmethod
    def at_random(cls, law, reference, rows, values, rng):
        """Return draws from free parameters, by name; a subclass of a law with members draws these given them."""
        return cls.of(law, reference, rows, values, [])

    @classmethod
    def of(cls, law, reference, rows, values, units):
        """Return draws from free parameters, by name, and blocks of coordinates."""
        lead = [prior.to_unconstrained(values[name]) for name, prior in law.free(reference).priors.items()]
        return cls(
            law, reference, rows, np.concatenate([x.reshape(*x.shape[:2], -1) for x in (*lead, *units)], axis=-1)
        )

    def blocks(self, rows=None):
        """Cut rows into those whose log densities are held at a time."""
        count = len(self.rows if rows is None else rows)
        most = max(1, BLOCK // int(np.prod(self.z.shape[:2])))
        return np.array_split(np.arange(count), max(1, -(-count // most)))

    def log_prior(self):
        """Return the log prior density of the free parameters; members have the law's density, not a prior's."""
        priors = self.free.priors
        return xr.Dataset(
            {name: x.copy(data=priors[name].log_density(x.values)) for name, x in self.parameters().items()}
        )

    def parameters(self):
        """Return the free parameters by name, each a DataArray."""
        labels, dims = self.law.labels(self.reference), {name: self.free.dims_of(name) for name in self.values}
        along = {name: {dim: labels[dim] for dim in of} for name, of in dims.items()}
        return {name: self._array(x, *dims[name], **along[name]) for name, x in self.values.items()}

    def log_density(self):
        """Return the log joint density of the coordinates and the rows: dims (chain, draw)."""
        _, priors = self.free.values(np.moveaxis(self.z, -1, 0))
        total = sum(x if x.ndim == 2 else x.sum(0) for x in priors.values())
        return self._array(total + sum(term.sum(-1) for term in self.terms().values()))

    def coordinate_names(self):
        """List the names of the coordinates: the free parameters, and of laws with members more."""
        return [*flatten(xr.Dataset(self.parameters()))]

    # Leaving out -----------------------------------------------------------------------------------------------------

    def left_out_density(self, fitted, i, *, seed=0):
        """Return the log predictive density of row `i` under draws fitted to the others, (chain, draw)."""
        if not self.units:
            return fitted.log_likelihood(self.rows).isel(row=i, drop=True)
        return fitted.log_likelihood(self.rows.iloc[[i]]).isel(row=0, drop=True)

    def by_group(self, by=None):
        """Return log densities of rows by a column's values; for models with their quantities integrated out."""
        by = self.law.left_out_by if by is None else by
        densities = super().by_group(by)
        if not self._of_models(by):
            return densities
        labels = self.rows.drop_duplicates("model").set_index("model")[by] if by != "model" else None
        groups, values = densities["group"].values.tolist(), np.zeros(densities.shape)
        for model, density in self.integrated(self).items():
            values[..., groups.index(model if labels is None else labels[model])] += density
        return densities.copy(data=values)

    def exchangeable(self):
        """Return each model's log density, its quantity integrated out: dims (chain, draw, model)."""
        return self.by_group("model").rename(group="model") if self._of_models("model") else self.of_groups()

    def left_out_group(self, fitted, rows, by=None):
        """Return the log predictive density of a group of rows under draws fitted to the others, (chain, draw)."""
        if not self._of_models(self.law.left_out_by if by is None else by):
            return super().left_out_group(fitted, rows, by)
        return fitted._array(sum(self.integrated(fitted._at(rows)).values()))

    def _of_models(self, by):
        if by == "model" or not self.units:
            return bool(self.units)
        return bool((self.rows.groupby("model")[by].nunique(dropna=False) == 1).all())

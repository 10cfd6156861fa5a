"""Draws under a law whose quantities differ between groups of rows, and groups that no row informs."""

from functools import cached_property

import numpy as np
import pandas as pd

from ...datasets.deferred import xr
from ...datasets.wording import listed, quoted
from ...errors import InputError
from ..draws import COORDINATE, DRAWS, draw_coordinates
from . import grouping
from .draws import LossDraws
from .grouping import GROUP, GROUPS, labelled
from .noise import OF_EFFECTS


class GroupedDraws(LossDraws):
    """Draws of the sampled quantities of a `Grouped` law; quantities by group have the dim ``group``."""

    @cached_property
    def _named(self):
        values = {name: self.sampled[name] for name in self.sampled.data_vars}
        return self.sampled.merge(xr.Dataset(self.law.derived(values, self.reference)))

    @property
    def _of_law(self):
        """Return the quantities of the law of the groups: scalars where shared, else by group."""
        return {name: self.sampled[name] for name in self.law.law.prior_of}

    def of(self, group):
        """Return the draws of the law of one group of the fit, with its rows, refusing any other."""
        names = self.reference[GROUPS]
        if str(group) not in names:
            given = "the law is fitted by groups" if group is None else f"group {quoted(group)} is none of the fit"
            raise InputError(f"{given}: name one of {listed(names)} with group=NAME (--plan group=NAME)")
        place = names.index(str(group))
        sampled = xr.Dataset(
            {n: x.isel({GROUP: place}, drop=True) if GROUP in x.dims else x for n, x in self._of_law.items()}
        )
        reference = {name: x[place] for name, x in self.reference.items() if name != GROUPS}
        rows = self.rows[self.law.codes(self.rows, self.reference) == place].reset_index(drop=True)
        return self.law.law.draws(sampled.drop_vars(GROUP, errors="ignore"), rows, reference)

    def of_planned(self, *, group=None, **planned):
        """Return the draws of the law of the planned runs' group, and the options of these runs for it."""
        return self.of(group), planned

    def _constants(self, rows):
        at = {GROUP: xr.DataArray(self.law.codes(rows, self.reference), dims="run")}
        picked = {name: x.isel(at) if GROUP in x.dims else x for name, x in self._named.items()}
        return {name: x.drop_vars(GROUP, errors="ignore") for name, x in picked.items()}

    def _values(self, rows, *, of_effects=False):
        codes = self.law.codes(rows, self.reference)
        shared = codes
        if of_effects and self.law.effects_of:
            shared = codes[np.unique(self.law.groups(rows).codes, return_index=True)[1]]
        return {
            name: x.values[..., shared if name in OF_EFFECTS else codes] if GROUP in x.dims else x.values[..., None]
            for name, x in self._of_law.items()
        }

    def _origin(self, rows):
        codes = self.law.codes(rows, self.reference)
        return {name: np.asarray(x)[codes] for name, x in self.reference.items() if name != GROUPS}

    def slopes(self, law, names, **options):
        """Differentiate the mean by each group's quantities of a law, and by shared ones; see `LossDraws.slopes`."""
        codes, slopes = self.law.codes(self.rows, self.reference), {}
        for name, slope in super().slopes(law, names, **options).items():
            if name in law.shared:
                slopes[name] = slope
            else:
                slopes |= {f"{name}[{g}]": slope * (codes == i) for i, g in enumerate(self.reference[GROUPS])}
        return slopes

    def log_prior(self):
        """Return each sampled quantity's log prior density, on that quantity's scale; pooled: given its population."""
        densities, priors = super().log_prior(), self.law.prior_of
        for name in self.law.pooled:
            z, slope = self._of_population(name)
            densities[name] = z - slope
        return densities[list(priors)]

    def _of_population(self, name):
        """Return a pooled quantity's log density on the real line given its population, and its value's log slope."""
        prior, x = self.law.prior_of[name], self.sampled[name]
        z = prior.to_unconstrained(x)
        _, slope = prior.from_unconstrained(z)
        return grouping.population_logp(name, prior, z, self.sampled).transpose(*x.dims), slope

    def log_prior_of(self, labels):
        """Return the log prior density, on the real line, of these labels' coordinates: the dims of the draws."""
        places, pooled = self.law.labels(self.reference), self.law.pooled
        pooled_labels = [label for label in labels if places[label][0] in pooled]
        total = super().log_prior_of([label for label in labels if label not in pooled_labels])
        for label in pooled_labels:
            name, place = places[label]
            total = total + self._of_population(name)[0].isel(place, drop=True)
        return total

    def informed_by(self, rows):
        """Name the coordinates of the groups whose rows are all among these."""
        names = self.reference[GROUPS]
        counts, counts_among = (
            np.bincount(self.law.codes(table, self.reference), minlength=len(names)) for table in (self.rows, rows)
        )
        whole = set(np.flatnonzero((counts_among > 0) & (counts_among == counts)))
        labels = self.law.labels(self.reference)
        return tuple(label for label, (_, place) in labels.items() if place.get(GROUP) in whole)

    def from_real_line(self, z):
        """Return draws at coordinates as `real_line` gives them."""
        priors, parts = self.law.prior_of, {}
        for label, (name, place) in self.law.labels(self.reference).items():
            value, _ = priors[name].from_unconstrained(z.sel({COORDINATE: label}, drop=True))
            parts.setdefault(name, []).append(value if place else (value,))
        along = pd.Index(self.reference[GROUPS], name=GROUP)
        values = {
            name: groups[0][0] if isinstance(groups[0], tuple) else xr.concat(groups, dim=along).transpose(..., GROUP)
            for name, groups in parts.items()
        }
        return GroupedDraws(self.law, self.reference, self.rows, xr.Dataset(values), z)


# Groups that no row informs -------------------------------------------------------------------------------------------


def prior_draws(law, rng, reference, rows, draws=1, truth=None):
    """Return the draws of the prior, dims (chain, draw) with one chain."""
    law._refuse_truth(truth)
    names, of_groups, sampled = reference[GROUPS], law.of_groups, {}
    for name, prior in law.prior_of.items():
        if name in of_groups:
            sampled[name] = ((*DRAWS, GROUP), _drawn(law, name, sampled, (1, draws, len(names)), rng))
        else:
            sampled[name] = (DRAWS, prior.drawn(rng, (1, draws)))
    return law.draws(xr.Dataset(sampled, draw_coordinates(1, draws) | {GROUP: names}), rows, reference)


def _drawn(law, name, sampled, shape, rng, *, typical=False):
    """Return the values of a quantity in new groups, (chain, draw, group): of its population, or of its prior."""
    prior = law.prior_of[name]
    if name not in law.pooled:
        return prior.drawn(rng, shape)
    one = {parameter: np.asarray(sampled[parameter][1])[..., None] for parameter in grouping.population(name)}
    return one[grouping.TYPICAL.format(name)] if typical else grouping.draw_population(name, prior, one, shape, rng)


def with_group(law, draws, name, rng, *, typical=False):
    """Return the draws with one more group that no row is of, its quantities drawn from the population or their priors.

    A `typical` one has the population's typical values of what is pooled.
    """
    rows, reference = draws.rows, draws.reference
    centre = law.law.reference(rows)
    names = [*reference[GROUPS], str(name)]
    more = {GROUPS: names} | {key: [*x, centre[key]] for key, x in reference.items() if key != GROUPS}
    along = {dim: draws.sampled[dim] for dim in DRAWS} | {GROUP: names}
    variables = {quantity: (x.dims, x.values) for quantity, x in draws.sampled.data_vars.items()}
    for quantity in law.of_groups:
        x = variables[quantity][1]
        new = _drawn(law, quantity, variables, (*x.shape[:-1], 1), rng, typical=typical)
        variables[quantity] = ((*DRAWS, GROUP), np.concatenate([x, new], axis=-1))
    return law.draws(xr.Dataset(variables, along), rows, more)


def regrouped(law, rows, runs, name):
    """Return the rows of the table and of runs of another group, together."""
    labels = np.concatenate([labelled(rows[law.by]), np.full(len(runs), str(name))])
    table = pd.concat([rows, runs], ignore_index=True).assign(**{law.by: labels.astype(object)})
    table.attrs = dict(rows.attrs)
    return table

"""A law of the loss whose quantities differ between groups of rows: each group's own, pooled over groups, or shared."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import xarray as xr

from ...datasets import filled, require
from ...datasets.wording import listed, quoted
from ...errors import InputError
from ..arrays import pick
from ..backend import pymc
from ..contrasts import Contrast
from ..coordinates import Coordinates
from ..draws import DRAWS, draw_coordinates
from ..law import Law
from ..priors import FreeParameter
from .grouped_draws import GROUP, GroupedDraws
from .law import LossLaw
from .noise import OF_RUNS

GROUPS = "groups"  # entry of the reference: the groups' names, in order
SPREAD, TYPICAL, OFFSET = "spread_{}", "typical_{}", "{}_offset"
CODES, CODES_OF_RUNS, OF_GROUPS = "group_codes", "group_codes_of_runs", "of_group_"  # names of data


@dataclass(frozen=True)
class Grouped(Law):
    """A law of the loss with quantities of their own for the groups of rows that a column names, such as corpora.

    A *shared* quantity is one number. A *pooled* quantity q has one value a group, drawn from a population: on the scale
    on which q has no bounds (the logarithm of what is positive, log-odds of a share) ``q_group = typical_q + spread_q
    q_offset``. Every other quantity of the law and of its noise is each group's own, with the prior that the law gives
    it and nothing learned from other groups. Sampled are

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    typical_q         that of q in the law     median of the population from which the groups' values come
    spread_q          Gamma(2, 8)              its sd, 0.03 to 0.70: exponents of language models differ by tens of
                                               percent between studies; it avoids 0, as that of few groups should [1]_
    q_offset          Normal(0, 1)             how far a group's q lies from the typical one, in spreads
    any other         that of the law          of each group, or shared
    ================= ======================== ==================================================================

    Derived, draw by draw and by group: the pooled quantities and what the law derives. Exponents are pooled by default;
    E, A, B and sigma are not, since they are as many as there are tokenisers, texts and measures of the loss, and a
    spread of a few of them would only be a prior. Of two or three groups a spread is hardly more than its prior either:
    it then says how far the groups' values may lie apart, and a prediction for a new group rests on that.

    Quantities that are defined at the centre of the runs (a loss at N0, D0; shares of it; sigma where it depends on the
    sizes) are defined at each group's own centre. Where one of these is shared or pooled it is the whole table's, for
    all of them, so that a law with everything shared is the law of the table without groups, and one with nothing
    shared or pooled is the law fitted to each group alone.

    Parameters
    ----------
    law : LossLaw
        Such as ``Chinchilla()``. `EmbeddingCorrected` and `Configurations`, of sizes of models, are refused.
    by : str
        Column whose values are the groups.
    pooled : sequence of str, optional
        Sampled quantities of the law; by default its exponents, those that are not shared.
    shared : sequence of str
    priors : mapping of str to str
        Of the law's quantities (of a pooled one: that of its typical value) and of spreads.

    Raises
    ------
    InputError
        If a quantity is not the law's or is both shared and pooled, or a prior cannot be used.

    References
    ----------
    .. [1] Chung, Y. et al. (2013). A nondegenerate penalized likelihood estimator for variance parameters in
       multilevel models. Psychometrika 78, 685-709.

    Examples
    --------
    >>> from bayescaling.models.loss.chinchilla import Chinchilla
    >>> Grouped(Chinchilla(noise="normal"), "corpus", shared=("beta",)).label
    'chinchilla, noise=normal, by corpus, pooled alpha, shared beta'
    """

    law: LossLaw
    by: str
    pooled: tuple | None = None
    shared: tuple = ()
    priors: Mapping = field(default_factory=dict)

    name: ClassVar[str] = "grouped"
    kind: ClassVar[str] = "runs"
    unit: ClassVar[str] = "run"
    traceable: ClassVar[bool] = True
    block_axis: ClassVar[str] = GROUP

    def __post_init__(self):
        if not isinstance(self.law, LossLaw):
            raise InputError(f"groups are of a law of the loss such as Chinchilla(), not of {self.law!r}")
        if not (isinstance(self.by, str) and self.by):
            raise InputError(f"groups are named by a column of the table, not by {self.by!r}")
        shared = _names(self.shared, "shared")
        usual = tuple(name for name in self.law.exponents if name in self.law.prior_of and name not in shared)
        pooled = usual if self.pooled is None else _names(self.pooled, "pooled")
        for name in (*shared, *pooled):
            if name not in self.law.prior_of:
                raise InputError(
                    f"{name!r} is no sampled quantity of the {self.law.name} law: {', '.join(self.law.prior_of)}"
                )
        both = [name for name in shared if name in pooled]
        if both:
            raise InputError(f"{', '.join(both)}: a quantity is shared or pooled, not both")
        if not self.law.groupable:
            raise InputError(f"the {self.law.name} law rests on sizes of other models and cannot be grouped")
        spreads = {name: x for name, x in self.priors.items() if name in map(SPREAD.format, pooled)}
        others = {name: x for name, x in self.priors.items() if name not in spreads}
        own = {"shared": shared, "pooled": pooled, "priors": spreads}
        own["law"] = replace(self.law, priors={**self.law.priors, **others})
        for option, value in own.items():
            object.__setattr__(self, option, value)
        object.__setattr__(self, "priors", self.checked_priors())

    @classmethod
    def made(cls, options, make):
        """Make the law of its `options`, that of the groups by `make` of a name and options."""
        inner = options.get("law")
        if not (isinstance(inner, dict) and isinstance(inner.get("name"), str) and "by" in options):
            raise InputError("a grouped law is made of a law and a column: fit chinchilla --group COLUMN")
        return cls(**options | {"law": make(inner["name"], **inner.get("options", {}))})

    def __getattr__(self, name):
        """Answer what a law of the loss is asked and this one does not say as the law of the groups does."""
        if name.startswith("_") or "law" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.law, name)

    in_all_parameters: ClassVar[bool] = False
    observed = property(lambda self: self.law.observed)
    effort = property(lambda self: self.law.effort)
    group = property(lambda self: self.law.group)

    def on_scale(self, observed):
        """Losses on the scale of the residuals."""
        return self.law.on_scale(observed)

    def from_scale(self, values):
        """Losses from values on the scale of the residuals."""
        return self.law.from_scale(values)

    @property
    def clusters(self):
        """Those of the law, and the groups."""
        return (*self.law.clusters, self.by)

    @property
    def needed(self):
        """Columns that a table must have."""
        return (*self.law.needed, self.by)

    @property
    def without_reading_error(self):
        """The same law of the losses themselves, before they are read off with an error."""
        return replace(self, law=self.law.without_reading_error)

    def usual_table(self):
        """Refuse to be fitted to no table in particular."""
        raise InputError(f"groups of column {self.by!r} need a table that has it; name one (--data)")

    # The table -------------------------------------------------------------------------------------------------------

    def rows(self, table):
        """Return the table, refusing one that cannot inform this law.

        Raises
        ------
        InputError
            As the law does, and if the column is missing or empty in a row, names fewer than two groups or one of fewer
            rows than the mean has quantities of its own there, or a run is of two groups.
        """
        place = table.attrs.get("source", "the table")
        require(table, [self.by], purpose="grouping")
        filled(table, self.by, purpose="grouping")
        table = self.law.rows(table)
        labels = labelled(table[self.by])
        names, counts = np.unique(labels, return_counts=True)
        if len(names) < 2:
            raise InputError(
                f"{place}: column {self.by!r} is {quoted(names[0])} in every row; groups need at least two values: fit "
                f"{self.law.name} without them"
            )
        own = [q.name for q in self.law.mean_parameters if q.name not in (*self.shared, *self.pooled)]
        if (counts < len(own)).any():
            few = int(np.argmin(counts))
            raise InputError(
                f"{place}: group {quoted(names[few])} of column {self.by!r} has {counts[few]} rows, fewer than the "
                f"{len(own)} quantities of its own ({', '.join(own)}); leave it out, or share or pool some of them"
            )
        if self.run_effects:
            self._check_runs_within(table, labels, place)
        return table

    def _check_runs_within(self, table, labels, place):
        runs = table[self.group].to_numpy()
        several = table.assign(**{self.by: labels}).groupby(self.group)[self.by].nunique()
        if (several > 1).any():
            run = several.index[np.argmax(several > 1)]
            found = listed(sorted(set(labels[runs == run])))
            raise InputError(
                f"{place}: run {quoted(run)} is in groups {found} of column {self.by!r}, but rows of a run are of one "
                "group; name the runs of each group apart"
            )

    def reference(self, rows):
        """Names of the groups and, of each, the scalars that its quantities refer to."""
        labels, law = labelled(rows[self.by]), self.law
        names = sorted(set(labels))
        one = {*self.shared, *self.pooled}
        found = {GROUPS: names}
        for of_table, centre in (
            (one & set(law.centred), law.centre),
            (one & {law.residuals.scale_name} if law.residuals.sizes else (), law.residuals.centre),
        ):
            parts = [centre(rows if of_table else rows[labels == name]) for name in names]
            found |= {key: [part[key] for part in parts] for key in parts[0]}
        return found

    def codes(self, rows, reference):
        """Place of each row's group among those of the reference, (row,).

        Raises
        ------
        InputError
            If the column is missing or empty in a row, or names another group.
        """
        require(rows, [self.by], purpose=f"a law grouped by {self.by!r}")
        filled(rows, self.by, purpose=f"a law grouped by {self.by!r}")
        labels, names = labelled(rows[self.by]), reference[GROUPS]
        for row, label in zip(rows.index, labels, strict=True):
            if label not in names:
                raise InputError(
                    f"{rows.attrs.get('source', 'the table')}: column {self.by!r} is {quoted(label)} in row {row}, which "
                    f"is no group of the fit: {listed(names)}; see new_group"
                )
        return np.searchsorted(names, labels)

    def contrasts(self, rows):
        """Those of the law, within each group."""
        labels, found = labelled(rows[self.by]), {}
        for name in sorted(set(labels)):
            own = labels == name
            for test, contrast in self.law.contrasts(rows[own]).items():
                directions = np.zeros((len(contrast.directions), len(rows)))
                directions[:, own] = contrast.directions
                found.setdefault(test, []).append(Contrast(contrast.what, directions))
        return {
            test: Contrast(
                f"of each value of {self.by}: {'; '.join(dict.fromkeys(c.what for c in each))}",
                np.concatenate([c.directions for c in each]),
            )
            for test, each in found.items()
        }

    def together(self, rows, simulated):
        """Rows and simulated rows as one table; see the law's."""
        return self.law.together(rows, simulated)

    # Quantities ------------------------------------------------------------------------------------------------------

    @property
    def free_parameters(self):
        """Everything that is sampled, as `FreeParameter` objects."""
        found, priors = [], self.law.prior_of
        for q in self.law.free_parameters:
            known = replace(q, prior=str(priors[q.name]))
            if q.name in self.pooled:
                found += [replace(known, name=TYPICAL.format(q.name)), _spread(q.name), _offset(q.name)]
            else:
                found.append(known)
        return tuple(found)

    @property
    def of_groups(self):
        """Names of the sampled quantities that have a value for each group."""
        offsets = {OFFSET.format(name) for name in self.pooled}
        own = {name for name in self.law.prior_of if name not in (*self.pooled, *self.shared)}
        return tuple(name for name in self.prior_of if name in own | offsets)

    @property
    def _blocks(self):
        """Coordinates of what has one value, and of what has one for each group."""
        priors, of_groups = self.prior_of, self.of_groups
        one = {name: prior for name, prior in priors.items() if name not in of_groups}
        return Coordinates(one), Coordinates({name: priors[name] for name in of_groups})

    def in_groups(self, sampled):
        """Return the quantities of the law from those that are sampled: scalars where shared, else by group."""
        found, priors = {}, self.law.prior_of
        for name, prior in priors.items():
            if name not in self.pooled:
                found[name] = sampled[name]
                continue
            centre = prior.to_unconstrained(sampled[TYPICAL.format(name)])
            offset = sampled[OFFSET.format(name)]
            found[name] = prior.of_coordinate(centre + sampled[SPREAD.format(name)] * offset)[0]
        return found

    def derived(self, values, reference):
        """Named results by group: the pooled quantities, the law's constants and the noise's."""
        own = self.in_groups(values)
        names = reference[GROUPS]
        origin = {
            name: xr.DataArray(x, dims=GROUP, coords={GROUP: names}) for name, x in reference.items() if name != GROUPS
        }
        pooled = {name: own[name] for name in self.pooled}
        found = pooled | self.law.derived(own, origin)
        return {name: x.transpose(*DRAWS, ...) for name, x in found.items()}

    def check(self, rows, reference):
        """Refuse priors whose medians give a loss that is not finite; see the law's."""
        codes = self.codes(rows, reference)
        for i in np.unique(codes):
            self.law.check(rows[codes == i], at(reference, i))

    @property
    def wider(self):
        """The wider law of the groups, its further quantity one for all of them."""
        if self.law.wider is None:
            return None
        wider, name, value = self.law.wider
        return Grouped(wider, self.by, self.pooled, (*self.shared, name), self.priors), name, value

    def check_calibration(self, truth):
        """Refuse what the law refuses."""
        self.law.check_calibration(truth)

    # The density -----------------------------------------------------------------------------------------------------

    def model_data(self, rows, reference):
        """Values of everything that the PyMC model holds as data, by name: the reference by group too."""
        codes, arrays = self.codes(rows, reference), self.law.design_arrays(rows)
        found = arrays | {CODES: codes}
        if self.run_effects:
            first = np.unique(arrays["run_codes"], return_index=True)[1]
            found[CODES_OF_RUNS] = codes[first]
        centre = {OF_GROUPS + name: np.asarray(x, float) for name, x in reference.items() if name != GROUPS}
        return found | centre

    design_arrays = model_data

    def axis_of(self, name, array):
        """Reference is of groups; all else of rows or runs."""
        if name.startswith(OF_GROUPS):
            return GROUP
        return "run" if name in ("run_counts", CODES_OF_RUNS) else "row"

    def baked(self, rows, reference):
        """Names of the groups; all else is data."""
        return tuple(reference[GROUPS])

    def start(self, reference):
        """Medians of the priors."""
        one, several = self._blocks
        return one.start(), np.tile(several.start(), (len(reference[GROUPS]), 1))

    def at_coordinates(self, z, reference):
        """Name what is sampled; what each group has of its own has the dim ``group``."""
        one, several = self._blocks
        names = reference[GROUPS]
        apart = z[..., len(one) :].reshape(*z.shape[:2], len(names), len(several))
        of_groups = {name: ((*DRAWS, GROUP), x) for name, (_, x) in several.named(apart).items()}
        return xr.Dataset(one.named(z) | of_groups, draw_coordinates(*z.shape[:2]) | {GROUP: names})[list(self.prior_of)]

    def log_density_terms(self, blocks, data):
        """Log density of the priors and of the rows or runs."""
        one, several = self._blocks
        values, priors = one.values(blocks[0])
        by_group, theirs = several.values(blocks[1].T)
        return (*priors.values(), *theirs.values(), self._density(values | by_group, data))

    def _density(self, sampled, data):
        constants = self.law.constants(self.in_groups(sampled), _origin(data))
        values, data = self._at_rows(sampled, data)
        # What depends on no size is computed once a group, not once a row.
        constants = {name: pick(x, data[CODES]) for name, x in constants.items()}
        return self.law.density_of_rows(values, data, constants)

    def _at_rows(self, sampled, data):
        """Return the quantities of the law at each row, and the data with the reference there."""
        values = {
            name: pick(x, data[CODES_OF_RUNS if self.run_effects and name in OF_RUNS else CODES])
            for name, x in self.in_groups(sampled).items()
        }
        return values, data | {name: pick(x, data[CODES]) for name, x in _origin(data).items()}

    def model(self, rows, reference=None):
        """Build the PyMC model."""
        pm = pymc()
        reference = reference or self.reference(rows)
        self.check(rows, reference)
        of_groups = self.of_groups
        with pm.Model(coords={GROUP: reference[GROUPS]}) as model:
            data = {name: pm.Data(name, x) for name, x in self.model_data(rows, reference).items()}
            sampled = {
                name: prior.variable(name, dims=GROUP if name in of_groups else None)
                for name, prior in self.prior_of.items()
            }
            values, data = self._at_rows(sampled, data)
            self.law.observe(self.scale, values, {}, data)
        return model

    # Draws -----------------------------------------------------------------------------------------------------------

    def draws(self, sampled, rows, reference):
        """Return the `GroupedDraws` of a Dataset that holds the sampled quantities."""
        return GroupedDraws(self, reference, rows, sampled)

    def prior_draws(self, rng, reference, rows, draws=1):
        """Draws of the prior, dims (chain, draw) with one chain."""
        names, of_groups = reference[GROUPS], self.of_groups
        sampled = {}
        for name, prior in self.prior_of.items():
            dims = (*DRAWS, GROUP) if name in of_groups else DRAWS
            sampled[name] = (dims, prior.frozen.rvs((1, draws, len(names))[: len(dims)], random_state=rng))
        return self.draws(xr.Dataset(sampled, draw_coordinates(1, draws) | {GROUP: names}), rows, reference)

    def labels(self, reference):
        """Name each coordinate, with the quantity and the place of its group."""
        of_groups = self.of_groups
        return {
            label: (name, place)
            for name in self.prior_of
            for label, place in (
                [(f"{name}[{group}]", {GROUP: i}) for i, group in enumerate(reference[GROUPS])]
                if name in of_groups
                else [(name, {})]
            )
        }

    # Decisions -------------------------------------------------------------------------------------------------------

    @property
    def planned(self):
        """What `optimum` may be told: which group the runs planned are of, and what the law may be told."""
        return (GROUP, *self.law.planned)

    def planned_rows(self, rows, *, group=None, **planned):
        """Rows of the group that the runs planned are of."""
        return rows if group is None else rows[labelled(rows[self.by]) == str(group)]

    def optimum(self, draws, compute, *, group=None, **planned):
        """Compute-optimal sizes in one group; see the law's.

        Raises
        ------
        InputError
            If no group is named, or one that the fit lacks.
        """
        return self.law.optimum(draws.of(group), compute, **planned)

    # What it is called -----------------------------------------------------------------------------------------------

    @property
    def options(self):
        """What rebuilds this law."""
        inner = {"name": self.law.name, "options": self.law.options}
        own = {"pooled": list(self.pooled), "shared": list(self.shared), "priors": dict(self.priors)}
        return {"law": inner, "by": self.by} | own

    @property
    def label(self):
        """Name of the law in a sentence, with what is pooled and shared."""
        told = [f"{word} {', '.join(names)}" for word, names in (("pooled", self.pooled), ("shared", self.shared)) if names]
        priors = [f"prior {name} {prior}" for name, prior in self.priors.items()]
        return ", ".join([self.law.label, f"by {self.by}", *told, *priors])


def labelled(column):
    """Names of the groups of rows as text, (row,): whole numbers without a point."""
    return np.array([f"{x:g}" if isinstance(x, float | np.floating) else str(x) for x in column])


def at(reference, place):
    """Scalars that the quantities of one group refer to."""
    return {name: x[place] for name, x in reference.items() if name != GROUPS}


def _origin(data):
    return {name.removeprefix(OF_GROUPS): x for name, x in data.items() if name.startswith(OF_GROUPS)}


def _names(given, option):
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise InputError(f"{option} is a sequence of names of quantities, not {given!r}")
    return tuple(given)


def _spread(name):
    return FreeParameter(
        SPREAD.format(name),
        "Gamma(2, 8)",
        (0, np.inf),
        "",
        f"Sd of {name} between groups, on the scale where it has no bounds: 0.03 to 0.70, since exponents of language "
        "models differ by tens of percent between studies; it avoids 0 (Chung et al. 2013).",
    )


def _offset(name):
    return FreeParameter(
        OFFSET.format(name), "Normal(0, 1)", (-np.inf, np.inf), "", f"How far {name} of a group lies out, in spreads."
    )

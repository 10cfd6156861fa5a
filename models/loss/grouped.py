"""A law of the loss whose quantities differ between groups of rows: each group's own, pooled over groups, or shared."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ...datasets.deferred import xr
from ...datasets.wording import shown
from ...errors import InputError
from ..contrasts import joined
from ..draws import DRAWS
from ..law import Law
from . import grouped_density, grouped_draws, grouping
from .grouping import GROUP, GROUPS, SPREAD, TYPICAL, check_population, labelled, population, spread
from .law import LossLaw
from .noise import OF_EFFECTS

TARGET_ACCEPT, CAREFUL = 0.99, (0.998, 0.9995)  # of groups that agree the spread is small: longer steps diverge


@dataclass(frozen=True)
class Grouped(Law):
    """A law of the loss whose quantities may differ by group of rows, such as corpora; a column names the groups.

    A *shared* quantity is one number. A *pooled* quantity q has one value a group, drawn from a population. These are
    normal about the typical value on the scale on which q has no bounds: the logarithm of what is positive, or the
    log-odds of a share. Every other quantity of the law and of its noise is separate in each group. It has the prior of
    the law, and nothing of it is learned from other groups. Sampled are

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    typical_q         that of q in the law     median of the population from which the groups' values come
    spread_q          LogNormal(-2, 0.8)       its sd on that scale, 0.03 to 0.65: exponents of language models differ
                                               by tens of percent between studies; it avoids 0, as that of few groups
                                               should [1]_
    q of a group      of the population        of each q that is pooled
    any other         that of the law          of each group, or shared
    ================= ======================== ==================================================================

    Derived, draw by draw and by group: what the law derives. Exponents are pooled by default. E, A, B and sigma are
    not: they depend on a text, its tokeniser and a recipe, and a few of them barely inform the next. From two or three
    groups a spread is barely more than its prior: a prediction for a new group depends on that prior. Chains sample the
    groups' values themselves. Where each group has tens of rows, these mix better than their distances from the typical
    value in spreads.

    Some quantities are defined at the centre of the runs: a loss at N0 and D0, shares of it, and sigma where it depends
    on the sizes. These are defined at the centre of each group. Where one of them is shared or pooled, all are defined
    at the centre of the whole table. So a law with everything shared is the law of the table without groups. One
    with nothing shared or pooled is the law fitted to each group alone.

    Parameters
    ----------
    law : LossLaw
        Such as ``Chinchilla()``. `EmbeddingCorrected` and `Configurations`, of sizes of models, are refused. Rows of
        several groups may share a run effect, such as that of a pair, if its scale is shared.
    by : str
        Column whose values are the groups.
    pooled : sequence of str, optional
        Sampled quantities of the law; by default its exponents, those that are not shared.
    shared : sequence of str
        With effects of sizes that the law has by default, also ``size_sd``.
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

    def __post_init__(self):
        if not isinstance(self.law, LossLaw):
            raise InputError(f"groups are of a law of the loss such as Chinchilla(), not of {shown(self.law)}")
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
        if not self.law._groupable:
            raise InputError(f"the {self.law.name} law depends on sizes of other models and cannot be grouped")
        spreads = {name: x for name, x in self.priors.items() if name in map(SPREAD.format, pooled)}
        others = {name: x for name, x in self.priors.items() if name not in spreads}
        options = {"shared": shared, "pooled": pooled, "priors": spreads}
        options["law"] = replace(self.law, priors={**self.law.priors, **others})
        for option, value in options.items():
            object.__setattr__(self, option, value)
        object.__setattr__(self, "priors", self._checked_priors())
        for name in pooled:
            check_population(name, self.law.prior_of[name])

    @classmethod
    def _from_options(cls, options, make):
        """Make the law of its `options`, that of the groups by `make` of a name and options."""
        inner = options.get("law")
        if not (isinstance(inner, dict) and isinstance(inner.get("name"), str) and "by" in options):
            raise InputError("a grouped law is made of a law and a column: fit chinchilla --group COLUMN")
        return cls(**options | {"law": make(inner["name"], **inner.get("options", {}))})

    def __getattr__(self, name):
        """Return the attribute of the law of the groups where this law has none."""
        if name.startswith("__") or "law" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.law, name)

    in_all_parameters: ClassVar[bool] = False
    check_calibration = property(lambda self: self.law.check_calibration)
    repeated_size = property(lambda self: self.law.repeated_size)
    grouped_by = property(lambda self: self.by)
    axes = property(lambda self: self.law.axes)
    columns = property(lambda self: self.law.columns)
    apart = property(lambda self: (self.by,))
    left_out_by = property(lambda self: self.law.left_out_by)
    clusters = property(lambda self: (*self.law.clusters, self.by))
    numbers_along = property(lambda self: self.law.numbers_along)
    join_simulated = property(lambda self: self.law.join_simulated)
    planned = property(lambda self: (GROUP, *self.law.planned))
    plan = property(lambda self: self.law.plan)
    observed = property(lambda self: self.law.observed)
    on_scale = property(lambda self: self.law.on_scale)
    from_scale = property(lambda self: self.law.from_scale)
    _equation = property(lambda self: self.law._equation)
    effort = property(lambda self: replace(self.law.effort, target_accept=TARGET_ACCEPT, careful=CAREFUL))

    @property
    def needed(self):
        """Return the columns that a table must have."""
        return (*self.law.needed, self.by)

    @property
    def without_reading_error(self):
        """Return the same law of the losses themselves, before they are read off with an error."""
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
            As the law does, and if the column is missing or empty in a row, names fewer than two groups, or a run is of
            two groups. Also if a group has fewer rows than the mean has quantities by group.
        """
        grouping.check_column(table, self.by)
        table = self.law.rows(self._sized(table))
        by_group = [q.name for q in self.law.mean_parameters if q.name not in (*self.shared, *self.pooled)]
        grouping.check_groups(table, self.by, by_group)
        if self.effects_of and (single := [name for name in self.of_groups if name in OF_EFFECTS]):
            grouping.check_runs(table, self.by, self.effect_column, single)
        return table

    def _sized(self, rows):
        """Return rows with a column for the size within its group: equal sizes of two groups share no effect."""
        if not self.size_effects or self.effect_column in rows:
            return rows
        pairs = zip(labelled(rows[self.by]), rows[self.size_column], strict=True)
        return rows.assign(**{self.effect_column: [f"{group}, {float(size)!r}" for group, size in pairs]})

    def groups(self, rows):
        """Return the rows that share an effect; see the law's."""
        return self.law.groups(self._sized(rows))

    def _effect_labels(self, rows):
        """Return the run or size of each row, sizes within each group; see the law's."""
        return self.law._effect_labels(self._sized(rows))

    def _scattered(self, mean, values, reference, rows, rng):
        """Add noise to means on the scale of the residuals; see the law's."""
        return self.law._scattered(mean, values, reference, self._sized(rows), rng)

    def reference(self, rows):
        """Return the names of the groups and, of each, the scalars that its quantities refer to."""
        labels, law = labelled(rows[self.by]), self.law
        names = sorted(set(labels))
        one = {*self.shared, *self.pooled}
        scalars = {GROUPS: names}
        for of_table, centre in (
            (one & set(law._centred), law.centre),
            (one & {law.residuals.scale_name} if law.residuals.sizes else (), law.residuals.centre),
        ):
            parts = [centre(rows if of_table else rows[labels == name]) for name in names]
            scalars |= {key: [part[key] for part in parts] for key in parts[0]}
        return scalars

    def codes(self, rows, reference):
        """Return the place of each row's group among those of the reference, (row,); see `grouping.codes`."""
        return grouping.codes(rows, self.by, reference[GROUPS])

    # Quantities ------------------------------------------------------------------------------------------------------

    @property
    def _free_parameters(self):
        """Return everything that is sampled, as `FreeParameter` objects."""
        parameters, priors = [], self.law.prior_of
        for q in self.law._free_parameters:
            parameter = replace(q, prior=str(priors[q.name]))
            if q.name in self.pooled:
                parameters += [replace(parameter, name=TYPICAL.format(q.name)), spread(q.name)]
            parameters.append(parameter)
        return tuple(parameters)

    def described_priors(self):
        """Return the prior of each sampled quantity as text, by name; that of a pooled one is its population."""
        return super().described_priors() | {name: f"population({', '.join(population(name))})" for name in self.pooled}

    @property
    def of_groups(self):
        """Return the names of the sampled quantities that have a value for each group."""
        return tuple(name for name in self.law.prior_of if name not in self.shared)

    def derived(self, values, reference):
        """Return the named results by group: the law's constants and the noise's."""
        sampled = {name: values[name] for name in self.law.prior_of}
        at = {GROUP: reference[GROUPS]}
        origin = {name: xr.DataArray(x, at, [GROUP]) for name, x in reference.items() if name != GROUPS}
        return {name: x.transpose(*DRAWS, ...) for name, x in self.law.derived(sampled, origin).items()}

    # The density -----------------------------------------------------------------------------------------------------

    density = grouped_density.density

    # Draws -----------------------------------------------------------------------------------------------------------

    def draws(self, sampled, rows, reference):
        """Return the `GroupedDraws` of a Dataset that holds the sampled quantities."""
        return grouped_draws.GroupedDraws(self, reference, rows, sampled[list(self.prior_of)])

    prior_draws = grouped_draws.prior_draws
    with_group = grouped_draws.with_group
    regrouped = grouped_draws.regrouped

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

    # Tests and plans -------------------------------------------------------------------------------------------------

    @property
    def wider(self):
        """Return the wider law of the groups, its further quantity one for all of them."""
        if self.law.wider is None:
            return None
        wider, name, value = self.law.wider
        return replace(self, law=wider, shared=(*self.shared, name)), name, value

    def check_priors(self, rows, reference):
        """Refuse priors whose medians give a loss that is not finite; see the law's."""
        codes = self.codes(rows, reference)
        for i in np.unique(codes):
            inner = {name: x[i] for name, x in reference.items() if name != GROUPS}
            self.law.check_priors(rows[codes == i], inner)

    def contrasts(self, rows):
        """Return the contrasts of the law, within each group."""
        by, contrasts = self.by, {}
        labels = labelled(rows[by])
        for name in sorted(set(labels)):
            group = labels == name
            for test, contrast in self.law.contrasts(rows[group]).items():
                contrasts.setdefault(test, []).append(contrast.among(group, f" of {by} {name}"))
        return {test: joined(f"of each value of {by}", of_groups) for test, of_groups in contrasts.items()}

    def suited(self, table):
        """Return the law as its default options leave it to the rows; effects of sizes are within groups, of one scale.

        They are there where the rows of some group alone would have them.
        """
        law = replace(self.law.suited(table), size_effects=self.size_effects)
        if self.size_effects is not None or self.by not in table:
            return replace(self, law=law)
        if not any(self.law.suited(rows).size_effects for _, rows in table.groupby(self.by)):
            return replace(self, law=law)
        law = replace(law, size_effects=True)
        return replace(self, law=law, shared=(*self.shared, law.residuals.effect_sd))

    def size_apart(self, rows):
        """Return the size that lies furthest from the law of the others in its group; see the law's."""
        labels, found = labelled(rows[self.by]), []
        for name in sorted(set(labels)):
            if apart := self.law.size_apart(rows[labels == name]):
                share = apart["share"] * (labels == name).mean()
                found.append(apart | {"share": share, "name": f"{apart['name']} of {self.by} {name}"})
        least = min(found, key=lambda apart: apart["p"], default=None)
        return least and least | {"p": min(1.0, len(found) * least["p"])}

    def groupings(self, rows):
        """Return the codes of the groups that other columns name; see the law's."""
        codes_by_column = self.law.groupings(rows)
        return {name: codes for name, codes in codes_by_column.items() if name != self.by}

    def wider_laws(self, rows):
        """Return those of the law, of the same groups."""
        return [replace(self, law=other) for other in self.law.wider_laws(rows)]

    def optimum(self, draws, compute, *, group=None, **planned):
        """Return the compute-optimal sizes in one group, which must be one of the fit; see the law's."""
        return self.law.optimum(draws.of(group), compute, **planned)

    def planned_rows(self, rows, *, group=None, **planned):
        """Return the rows of the group that the runs planned are of."""
        return rows if group is None else rows[labelled(rows[self.by]) == str(group)]

    # What it is called -----------------------------------------------------------------------------------------------

    @property
    def options(self):
        """Return the options that rebuild this law."""
        inner = {"name": self.law.name, "options": self.law.options}
        options = {"pooled": list(self.pooled), "shared": list(self.shared), "priors": dict(self.priors)}
        return {"law": inner, "by": self.by} | options

    @property
    def label(self):
        """Name of the law in a sentence, with what is pooled and shared."""
        texts = [
            f"{word} {', '.join(names)}" for word, names in (("pooled", self.pooled), ("shared", self.shared)) if names
        ]
        priors = [f"prior {name} {prior}" for name, prior in self.priors.items()]
        return ", ".join([self.law.label, f"by {self.by}", *texts, *priors])


def _names(names, option):
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{option} is a sequence of names of quantities, not {shown(names)}")
    return tuple(names)

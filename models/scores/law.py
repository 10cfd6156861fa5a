"""The law of scores as something to fit: its options, priors, density and simulation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ...datasets import filled, require
from ...datasets.wording import shown, source_of
from ...errors import InputError
from ..arrays import exp, pick
from ..contrasts import Contrast, informed
from ..law import Effort, MemberLaw
from ..naming import positive
from ..parts import ModelsOnItems
from . import design
from .draws import ScoresDraws
from .item import (
    expected,
    items,
    logits,
    parts_of,
    place_of_capabilities,
    placed_items,
    prior_of_items,
    sampled_items,
)
from .noise import NOISES, SCATTERS, Normal
from .priors import OF_FORMS, free_parameters

PACES = (None, *OF_FORMS)
COMPUTE_PRIORS = ("flat", "normal")
LEAST_KNOWN = 5
BENCHMARK_UNITS, CAPABILITY = "benchmark_units", "capability"
FAMILY_UNITS, VERSION_UNITS, STEPS = "family_units", "version_units", "gain_steps"


@dataclass(frozen=True)
class Scores(ModelsOnItems, MemberLaw):
    """Scores of models on benchmarks by capability and difficulty, and capability by compute and date.

    Model m scores on benchmark b about ``mean = sigmoid(slope_b (capability_m - difficulty_b))``, item response theory
    for whole benchmarks (the Epoch Capabilities Index; Ho et al. 2025). Here every score also scatters: as a beta whose
    precision differs by benchmark. A score within 0.005 of 0 or 1 counts as that interval. Where a column ``items`` has
    the number of questions, the scatter of their mean comes on top.

    Log slopes and difficulties add up to 0, so that capability is in logits of the typical benchmark above the mean
    difficulty. With ceilings the sigmoid is scaled by the highest mean score that a benchmark allows. With a `pace`,
    capabilities are normal about ``centre + slope log(compute/1e24) + gain (date - 2024.5)``,
    those of models of unknown compute about a separate trend in the date.

    ====================== ========================= ============================================================
    quantity               prior                     what it is
    ====================== ========================= ============================================================
    difficulty_sd          HalfNormal(5)             spread of difficulties, logits
    log_slope_sd           HalfNormal(1)             spread of log slopes
    log_noise_centre       Normal(-2.3, 0.7)         log sd of a score at 1/2
    log_noise_sd           LogNormal(-1, 0.5)        its spread between benchmarks
    capability_centre      Normal(0, 3)              capability at 1e24 FLOP in mid-2024; the mean for pace=None
    capability_sd          HalfNormal(1.5)           spread of models about it; LogNormal(-0.9, 0.4) within families
    family_sd              HalfNormal(1)             spread of families
    version_sd             HalfNormal(1)             spread of versions of a model
    compute_slope          TruncatedNormal(0.5, 0.5, 0, 10)  capability an e-fold of compute
    yearly_gain            Normal(1, 1)              capability a year at fixed compute
    yearly_gain_change     Normal(0, 1)              its change at the break
    break_place            Uniform(0, 1)             where a sampled break lies, see `pace`
    acceleration           Normal(0, 0.5)            change a year of the yearly gain
    gain_step_sd           HalfNormal(0.5)           spread of its changes by half-year, of a random walk
    log_slope_ratio        Normal(0, 0.5)            log ratio of the slopes of compute after and before the break
    unknown_centre, ...    as the three above        of models whose compute is not known
    logit_ceiling_centre   Normal(3, 1)              log odds of the highest mean score of the typical benchmark
    logit_ceiling_sd       LogNormal(-0.5, 0.5)      its spread between benchmarks
    ====================== ========================= ============================================================

    `scores.priors` states the reason for each prior.

    Parameters
    ----------
    noise : {"beta", "logit_t4"}
        Scores scatter as a beta, or their logits as Student's t with 4 degrees of freedom.
    pace : {None, "linear", "break", "sampled_break", "acceleration", "random_walk"}
        None gives all models one normal distribution of capability. The others let capability depend on compute and
        date, and differ in the yearly gain at fixed compute. It is constant (``linear``), or changes at `break_year`
        (``break``) or at a sampled date (``sampled_break``). That date lies between the 10th and the 90th percentile of
        the dates of models of known compute. Or the gain changes by the same amount each year (``acceleration``), or by
        a normal step at the start of each half-year (``random_walk``).
    break_year : float
        Date of the break of ``pace="break"``. The default is 2024-05-13, the change of the frontier that Ho et al.
        (2025) find.
    slope_by_period : bool
        What compute buys differs before and after `break_year`. Gains are then those at 1e24 FLOP. Needs
        ``pace="break"``.
    family_effects : bool
        Models of one ``family`` have an effect in common.
    version_effects : bool
        Scores of one ``version`` of a model have an effect in common. A model of one version is that version, and
        scatters as both do.
    scatter : {"normal", "t4"}
        Capabilities scatter about what compute and date predict as a normal, or as Student's t with 4 degrees of
        freedom, a few of them far off.
    ceilings : bool
        Each benchmark has a highest mean score below 1, since some of its labels are wrong.
    compute_errors : tuple of float
        Standard errors of computes in decades: Confident, Likely, Speculative. If these mean within 3x, 10x and 30x
        in nine of ten cases, use ``(0.29, 0.61, 0.9)``.
    compute_prior : {"flat", "normal"}
        What is known of a true compute before the stated one. ``flat`` integrates over true computes that lie about
        the stated one (errors of Berkson's kind), which does not correct the attenuation of the slope. ``normal`` lets
        true log computes be normal about a trend in the date, estimated from the stated ones (classical errors), and
        corrects it. Of `eci_scores` the stated computes then have a mean reliability of 0.96, so the slope changes by
        4% or so. It is 0.81 if errors are as large as Confident, Likely and Speculative may mean.
    speculative : bool
        Take Speculative computes for known ones.
    priors : mapping of str to str
        Replacements of the default priors, such as ``{"capability_sd": "HalfNormal(0.5)"}``.

    Raises
    ------
    InputError
        If an option or prior is unknown or out of range.

    References
    ----------
    .. [1] Ho, A. et al. (2025). A Rosetta stone for AI benchmarks. arXiv:2512.00193.

    Examples
    --------
    >>> Scores(pace="break").label
    'scores, pace=break'
    """

    noise: str = "beta"
    pace: str | None = None
    break_year: float = 2024.37
    family_effects: bool = False
    version_effects: bool = False
    scatter: str = "normal"
    ceilings: bool = False
    compute_errors: tuple = (0.1, 0.3, 0.7)
    speculative: bool = False
    slope_by_period: bool = False
    compute_prior: str = "flat"
    priors: Mapping = field(default_factory=dict)

    item = "benchmark"
    share_of = "the scale of scores"
    clusters = ("model", "family")
    axes = {"date": "year", "compute": "training_compute_flop"}  # noqa: RUF012
    name: ClassVar[str] = "scores"
    kind: ClassVar[str] = "scores"
    observed: ClassVar[str] = "score"
    scale: ClassVar[str] = "score"  # type: ignore[misc]
    effort: ClassVar[Effort] = Effort(target_accept=0.9, careful=(0.97, 0.99), least_ess=400, longest=4)
    drawn_as: ClassVar[type] = ScoresDraws

    def __post_init__(self):
        switches = ("family_effects", "version_effects", "ceilings", "speculative", "slope_by_period")
        choices = {"noise": NOISES, "pace": PACES, "scatter": SCATTERS, "compute_prior": COMPUTE_PRIORS}
        self._check_options(*switches, **choices)
        if isinstance(self.break_year, bool) or not isinstance(self.break_year, int | float):
            raise InputError(f"break_year must be a year such as 2024.37, not {shown(self.break_year)}")
        errors = self.compute_errors
        if not (isinstance(errors, list | tuple) and len(errors) == 3 and all(map(positive, errors))):
            message = "compute_errors must be three positive numbers such as [0.1, 0.3, 0.7]"
            raise InputError(f"{message}, not {shown(errors)}")
        object.__setattr__(self, "compute_errors", tuple(map(float, errors)))
        if self.pace is None and self.family_effects:
            raise InputError("family_effects are about what compute and date predict; set pace='linear' or 'break'")
        if self.slope_by_period and self.pace != "break":
            raise InputError(f"slope_by_period needs pace='break', whose periods it is by, not pace={self.pace!r}")
        if self.pace is None and self.compute_prior != "flat":
            raise InputError(
                "compute_prior='normal' needs capability by compute and date; set pace='linear' or 'break'"
            )
        object.__setattr__(self, "priors", self._checked_priors())

    _free_parameters = property(free_parameters)
    reference = design.reference
    design_arrays = design.arrays

    @property
    def needed(self):
        """Return the columns of the table that this law needs besides those that its reader does."""
        dated = ("year", "training_compute_flop") if self.pace else ()
        return dated + tuple(self._effects)

    @property
    def _effects(self):
        """Return the blocks of the effects of groups of models, by what they are of."""
        flags = {"family": self.family_effects, "version": self.version_effects}
        return {axis: f"{axis}_units" for axis, on in flags.items() if on}

    def blocks(self, reference):
        """Return the blocks of coordinates of benchmarks, models, families, versions and steps; see `MemberLaw`."""
        of_benchmarks = np.zeros((len(reference["benchmarks"]), len(parts_of(self.prior_of))))
        blocks = {BENCHMARK_UNITS: (("benchmark", "part"), of_benchmarks, "benchmark")}
        plurals = {"model": "models", "family": "families", "version": "versions"}
        for axis, name in ({"model": CAPABILITY} | self._effects).items():
            blocks[name] = (axis,), np.zeros((len(reference[plurals[axis]]), 1)), axis
        walk = {STEPS: (("half_year",), np.zeros(len(reference.get("half_years", []))), None)}
        return blocks | (walk if self.pace == "random_walk" else {})

    # The table -------------------------------------------------------------------------------------------------------

    def rows(self, table):
        """Return the table, indexed from 0, refusing one that cannot inform this law.

        Raises
        ------
        InputError
            If a column is missing, or there are fewer than three models or two benchmarks. With a `pace` also if a
            model has no date, or fewer than five have a known compute.
        """
        require(table, ("model", "benchmark", "score", *self.needed), purpose="the scores law")
        place = source_of(table)
        for what, column, least in (("models", "model", 3), ("benchmarks", "benchmark", 2)):
            if (count := table[column].nunique()) < least:
                raise InputError(f"{place}: {count} {what}; the scores law needs at least {least}")
        for column in self.needed:
            if column != "training_compute_flop":
                filled(table, column, purpose=f"the {self.label} law")
        if self.pace is not None:
            usable = len(self.with_compute(table))
            if usable < LEAST_KNOWN:
                raise InputError(
                    f"{place}: column 'training_compute_flop' is known of {usable} models; pace={self.pace!r} needs at "
                    f"least {LEAST_KNOWN}, Confident or Likely (or Speculative with speculative=True); add some or "
                    "set pace=None"
                )
        if self.version_effects and table.groupby("model")["version"].nunique().max() < 2:
            raise InputError(f"{place}: no model has several versions; leave version_effects out")
        return table.reset_index(drop=True)

    def with_compute(self, rows):
        """Return the names of the models whose compute this law takes as known."""
        models = rows.drop_duplicates("model")
        return models["model"][np.isfinite(design.computes(self, models)[0])].tolist()

    def on_scale(self, observed):
        """Return the scores, those at the ends of the scale rounded to the end."""
        return np.where(design.at_low(observed), 0.0, np.where(design.at_high(observed), 1.0, observed))

    def _sampled_arrays(self, rows, reference):
        """Return the same with the estimates and rows that place what is sampled."""
        return self.design_arrays(rows, reference) | design.placing(self, rows, reference)

    def contrasts(self, rows):
        """Return the means of the residuals of each benchmark and, where models are dated, their yearly slopes."""
        benchmark = rows["benchmark"].to_numpy(object)
        named = "benchmark " + benchmark
        contrasts = {"means by benchmark": Contrast.of_means(benchmark, "benchmarks", named)}
        if "year" in rows and rows["year"].notna().all():
            year = rows["year"].to_numpy(float)
            contrasts["slopes by date"] = Contrast.of_slopes(benchmark, year, "the date", "benchmarks", named)
        return informed(contrasts)

    # The density -----------------------------------------------------------------------------------------------------

    def _rest(self, values, data):
        """Return the log density of benchmarks, of models, and of scores by where they lie, at what is sampled."""
        names = [BENCHMARK_UNITS, CAPABILITY, *self._effects.values(), *([STEPS] if self.pace == "random_walk" else [])]
        benchmarks, (raw, *units), log_scales = self.placed(values, [values[name] for name in names], data)
        terms = self._parts(values, benchmarks, raw, units, data)
        return terms | {name: terms[name] + log_scale for name, log_scale in log_scales.items()}

    def placed(self, values, units, data):
        """Return benchmarks and coordinates of draws from what is sampled, and the logs of derivatives by block.

        What is sampled of benchmarks, and of capabilities given these, is standardised by what scores and priors tell;
        see `item.placed_items` and `item.place_of_capabilities`. The rest is the same in both.
        """
        benchmarks, raw, of_benchmarks = placed_items(values, units[0], data)
        mean, log_scale = self._place(values, benchmarks, units, data)
        capability = (mean + exp(log_scale) * units[1][..., 0])[..., None]
        return benchmarks, [raw, capability, *units[2:]], {BENCHMARK_UNITS: of_benchmarks, CAPABILITY: log_scale}

    def _place(self, values, benchmarks, units, data):
        families, steps = self.effects(units).get(FAMILY_UNITS), self.steps(units)
        return place_of_capabilities(values, benchmarks, *expected(values, self.pace, data, families, steps), data)

    def parts(self, values, units, data):
        """Return log densities, with names, of benchmarks, models, families, versions and of the scores.

        Coordinates are of benchmarks (..., benchmark, part), models (..., model, 1), families (..., family, 1),
        versions (..., version, 1) and steps of a random walk (..., half_year).
        """
        raw = [units[0][..., i] for i in range(units[0].shape[-1])]
        return self._parts(values, items(units[0], data), raw, units[1:], data)

    def _parts(self, values, benchmarks, raw, units, data):
        capability, effects = units[0][..., 0], self.effects([None, *units])
        families, versions = effects.get(FAMILY_UNITS), effects.get(VERSION_UNITS)
        density = SCATTERS[self.scatter].log_density
        densities = {
            BENCHMARK_UNITS: prior_of_items(values, raw),
            CAPABILITY: density(capability, *expected(values, self.pace, data, families, self.steps(units))),
        } | {name: Normal.log_density(x, 0.0, 1.0) for name, x in effects.items()}
        if self.pace == "random_walk":
            densities[STEPS] = Normal.log_density(units[-1], 0.0, 1.0)
        noise = NOISES[self.noise]
        for where in design.WHERE:
            ability, item = pick(capability, data[f"{where}_model"]), data[f"{where}_item"]
            if versions is not None:
                effect = values["version_sd"][..., None] * pick(versions, data[f"{where}_version"])
                ability = ability + data[f"{where}_nested"] * effect
            eta, log_noise = logits(ability, benchmarks, item), pick(benchmarks.log_noise, item)
            if f"{where}_per_item" in data:
                log_noise = noise.with_sampling(eta, log_noise, data[f"{where}_per_item"])
            if where == "inner":
                term = noise.log_density(eta, log_noise, data["inner_log_score"], data["inner_log_rest"])
            else:
                term = noise.log_below(eta if where == "low" else -eta, log_noise)
            densities[where] = term
        return densities

    def effects(self, units):
        """Select standardised effects of families and of versions, those that there are, by name."""
        return {name: x[..., 0] for name, x in zip(self._effects.values(), units[2:], strict=False)}

    def steps(self, units):
        """Select standardised steps of a random walk, one array (...) each; none of other forms."""
        return [units[-1][..., i] for i in range(units[-1].shape[-1])] if self.pace == "random_walk" else []

    # Draws -----------------------------------------------------------------------------------------------------------

    def _units_of_draws(self, values, units, rows, reference):
        _, (raw, *units), _ = self.placed(values, list(units.values()), self._sampled_arrays(rows, reference))
        return [np.stack(raw, -1), *units]

    def _draw_units(self, values, rows, reference, rng):
        """Draw what is sampled of benchmarks, models, families, versions and steps given free parameters, a list."""
        draws, data = ScoresDraws.at_random(self, reference, rows, values, rng), self._sampled_arrays(rows, reference)
        mean, log_scale = self._place(values, draws.items, draws.units, data)
        capability = (draws.units[1] - mean[..., None]) * np.exp(-log_scale)[..., None]
        return [sampled_items(values, draws.units[0], data), capability, *draws.units[2:]]

"""The law of time horizons as something to fit: its options, priors, density and simulation."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ...datasets import filled, require
from ...datasets.wording import source_of
from ...errors import InputError
from ..arrays import exp, log, pick, sum_by
from ..contrasts import Contrast, bin_levels, informed, ordinals
from ..density import POTENTIAL, place
from ..law import Effort, MemberLaw
from ..lengths.curve import log_rising
from ..parts import ModelsOnItems
from ..trends import level
from . import design
from .draws import HorizonsDraws
from .outcomes import log_density, shares
from .priors import OF_TRENDS, free_parameters

NOISES = ("beta_binomial", "binomial")
HORIZON, TASK = "horizon_units", "task_units"
LEAST_MODELS, LEAST_TASKS = 3, 3
OF_THE_TABLE = {  # options that are left to its columns, and why they are set
    "family_effects": "tasks of a family may be alike",
    "estimates": "timed tasks tell how wrong estimated times are",
}
BENT = "break", "logistic"  # trends with a date of their own


@dataclass(frozen=True)
class Horizons(ModelsOnItems, MemberLaw):
    """Successes of models on tasks by how long people need for these, and the horizon of models by date.

    Model m succeeds on task j, for which people need t minutes, with a probability ``p = sigmoid(slope_j (horizon_m -
    log t - effect_j))``. The horizon is the log of the human time of a typical task that the model does with a
    probability of one half. The effect of a task is how much harder it is than its time tells: the horizon of a random
    task differs from that of the typical one. Horizons are normal about a trend in the date.

    Several thresholds of one task, such as rising accuracies, are one ordered outcome of a run. The runs that reach one
    are those at risk of the next.

    ================== ======================== ================================================================
    quantity           prior                    what it is
    ================== ======================== ================================================================
    horizon_centre     Normal(3, 3)             log minutes in mid-2024; the mean for trend=None
    horizon_sd         HalfNormal(1.5)          spread of models about the trend
    log_slope          Normal(-0.3, 0.7)        logits an e-fold of human time costs, its log, of the typical task
    task_sd            HalfNormal(2)            effects of tasks, log minutes
    log_slope_sd       HalfNormal(0.5)          spread of log slopes between tasks
    family_sd          HalfNormal(1)            effects of families of tasks, log minutes
    estimate_bias      Normal(0, 1)             log of estimated over timed minutes
    estimate_sd        LogNormal(-0.7, 0.5)     its spread between tasks
    log_precision      Normal(2, 1.5)           of the beta-binomial
    yearly_gain        Normal(1, 1.5)           log minutes gained a year
    yearly_gain_change Normal(0, 1.5)           its change at the break
    break_place        Uniform(0, 1)            where the break lies among the dates of models
    acceleration       Normal(0, 0.7)           change a year of the yearly gain
    midpoint           Normal(2026, 2)          year in which the logistic trend has half of its rise
    width              LogNormal(0.7, 0.5)      of the logistic trend, years
    ================== ======================== ================================================================

    `horizons.priors` states the reason for each prior.

    Parameters
    ----------
    trend : {"linear", "break", "acceleration", "logistic", None}
        How the mean log horizon depends on the date; None for not at all, where models have no dates.
    noise : {"beta_binomial", "binomial"}
        Whether runs of one model on one task may end more alike than independent ones.
    task_slopes : bool
        Let tasks differ in how fast success rises with the horizon.
    family_effects : bool, optional
        Tasks of one ``task_family`` have an effect in common; by default where families of the table have several.
    estimates : bool, optional
        Human times that the column ``time_source`` calls estimates have a bias and an error. Tasks that were timed and
        have ``estimated_minutes`` too inform both; by default where there are such tasks.
    priors : mapping of str to str
        Replacements of the default priors, such as ``{"yearly_gain": "Normal(0, 3)"}``.

    Raises
    ------
    InputError
        If an option or prior is unknown or out of range.

    References
    ----------
    .. [1] Kwa, T. et al. (2025). Measuring AI ability to complete long tasks. arXiv:2503.14499.

    Examples
    --------
    >>> Horizons(trend="break").label
    'horizons, trend=break'
    """

    trend: str | None = "linear"
    noise: str = "beta_binomial"
    task_slopes: bool = True
    family_effects: bool | None = None
    estimates: bool | None = None
    priors: Mapping = field(default_factory=dict)

    item = "task"
    share_of = "the runs"
    clusters = ("model", "task")
    axes = {"date": "year", "time": "minutes"}  # noqa: RUF012
    name: ClassVar[str] = "horizons"
    kind: ClassVar[str] = "horizons"
    observed: ClassVar[str] = "successes"
    centre: ClassVar[str] = "horizon_centre"
    linear_unit: ClassVar[None] = None  # horizons are on a log scale
    scale: ClassVar[str] = "successes"  # type: ignore[misc]
    drawn_as: ClassVar[type] = HorizonsDraws

    def __post_init__(self):
        given = [name for name in OF_THE_TABLE if getattr(self, name) is not None]
        self._check_options("task_slopes", *given, trend=OF_TRENDS, noise=NOISES)
        object.__setattr__(self, "priors", self._checked_priors())

    @property
    def effort(self):
        """Return how hard to sample: where the date of a bend is unknown, 0.8 makes a draw in a thousand diverge."""
        return Effort(0.9 if self.trend in BENT else 0.8, tune=400, careful=(0.95, 0.99), least_ess=400, longest=4)

    _free_parameters = property(free_parameters)
    reference = design.reference
    design_arrays = design.arrays

    @property
    def needed(self):
        """Return the columns of the table that this law needs besides those that its reader does."""
        return (
            *(("year",) if self.trend is not None else ()),
            *(("task_family",) if self.family_effects else ()),
            *(("time_source",) if self.estimates else ()),
        )

    # The table -------------------------------------------------------------------------------------------------------

    def suited(self, table):
        """Return the law with effects of families and a bias of estimates where the table has both."""
        has = {"family_effects": design.has_families(table), "estimates": design.has_anchors(table)}
        return replace(self, **{name: True for name in OF_THE_TABLE if getattr(self, name) is None and has[name]})

    def notes(self, suited, rows):
        """Return a sentence on why a law is `suited` to the rows."""
        because = [why for name, why in OF_THE_TABLE.items() if getattr(suited, name) != getattr(self, name)]
        return [f"the law fitted is {suited.label}, because {' and '.join(because)}"] if because else []

    def rows(self, table):
        """Return the rows with what comes before each in its cell, refusing a table that cannot inform this law.

        Raises
        ------
        InputError
            If a column is missing or empty in a row, there are fewer than three models or tasks, or all tasks are of
            one length.
        """
        place = source_of(table)
        if self.trend is not None and "year" not in table:
            raise InputError(
                f"{place}: no column has the dates of models, which trend={self.trend!r} needs; add a column 'date', "
                "or fit the models alone with trend=None (--option trend=none)"
            )
        require(table, ("model", "task", "minutes", "successes", "runs", *self.needed), purpose="the horizons law")
        for column in self.needed:
            filled(table, column, purpose=f"the {self.label} law")
        for what, column, least in (("models", "model", LEAST_MODELS), ("tasks", "task", LEAST_TASKS)):
            if (count := table[column].nunique()) < least:
                raise InputError(f"{place}: {count} {what}; the horizons law needs at least {least}")
        if table["minutes"].nunique() < 2:
            raise InputError(
                f"{place}: column 'minutes' has one value; the horizons law needs tasks of several lengths"
            )
        return design.nested(table)

    def _sampled_arrays(self, rows, reference):
        """Return the same with the estimates that place what is sampled on these rows."""
        data = self.design_arrays(rows, reference) | design.estimates(rows, reference)
        of_models = {f"dated_{name}": data.get(f"model_{name}") for name in design.OF_DATED}
        data |= {name: x for name, x in of_models.items() if x is not None}
        counts = {f"level_{axis}": np.array([float(len(reference[axis]))]) for axis in ("models", "tasks")}
        return data | counts | {"level_share_estimated": np.array([np.mean(reference.get("estimated", 0.0))])}

    def contrasts(self, rows):
        """Return means of residuals by human time, and slopes in it by model."""
        log_minutes = np.log(rows["minutes"].to_numpy(float))
        bins, model = bin_levels(log_minutes), rows["model"].to_numpy(object)
        means = Contrast.of_means(bins, "bins of human time", ordinals(bins, "time"))
        within = Contrast.of_slopes(model, log_minutes, "the log of human time", "models", "model " + model)
        return informed({"means by time": means, "slopes by model": within})

    def with_observed(self, rows, observed):
        """Return rows with other successes, those that no run is then at risk of left out."""
        return design.nested(super().with_observed(rows, observed))

    # The density -----------------------------------------------------------------------------------------------------

    @property
    def _task_parts(self):
        """Return the names of the coordinates of a task."""
        return ("effect", "slope") if self.task_slopes else ("effect",)

    def blocks(self, reference):
        """Return the blocks of coordinates of models and of tasks, by name: (dims, start, axis)."""
        models, tasks = len(reference["models"]), len(reference["tasks"])
        return {
            HORIZON: (("model",), np.zeros((models, 1)), "model"),
            TASK: (("task", "part"), np.zeros((tasks, len(self._task_parts))), "task"),
        }

    def density(self, rows, reference):
        """Return the `Density`; where each task has one threshold, hundreds of tasks are nearly independent."""
        return super().density(rows, reference)._replace(low_rank=not reference["in_logits"])

    def _rest(self, values, data):
        """Return the log density of models, tasks, families, estimates and rows at the coordinates sampled."""
        return self.parts(values, *self.placed(values, data), data)

    def parts(self, values, quantities, log_scales, data):
        """Return log densities, with names, of models, tasks, families, estimates and rows.

        The quantities and the logs of derivatives are those that `placed` returns.
        """
        (horizon, effect, slope), (of_models, of_tasks) = quantities, log_scales
        sd = values["horizon_sd"][..., None]
        densities = {HORIZON: _standard((horizon - self.expected(values, data)) / sd) - log(sd) + of_models}
        mean, variance = self._expected_effects(values, data)
        densities[TASK] = _standard((effect - mean) / variance**0.5) - 0.5 * log(variance) + of_tasks
        if self.task_slopes:
            sd = values["log_slope_sd"][..., None]
            away = (log(slope) - values["log_slope"][..., None]) / sd
            densities[TASK] = densities[TASK] + _standard(away) - log(sd)
        if self.family_effects:
            densities["family"] = self._shared_by_families(values, effect - mean, variance, data)
        if self.estimates:
            sd = values["estimate_sd"][..., None]
            away = (data["anchor_log_ratio"] - values["estimate_bias"][..., None]) / sd
            densities[POTENTIAL] = _standard(away) - log(sd)
        precision = self.precision(values)
        densities["total"] = data["total_choose"]
        if precision is not None:
            densities["total"] = data["total_choose"] - data["total_cells"] * log_rising(precision, data["total_count"])
        places = self.places(effect, slope, {name: data[f"threshold_{name}"] for name in design.OF_THRESHOLDS})
        for size in design.SIZES:
            model, threshold, *counts = (data[f"{size}_{name}"] for name in ("model", "threshold", *design.SIDES))
            chances = self.shares(pick(horizon, model), *(pick(x, threshold) for x in places))
            densities[size] = log_density(chances, precision, counts, few=size == "few")
        return densities

    def _shared_by_families(self, values, away, variance, data):
        """Return what an effect that tasks of a family have in common adds to their log density, (..., family).

        That effect is integrated out: the tasks of a family are normal with the variance of the family in common.
        """
        of_family = data["task_family"], data["family_tasks"]
        weights, sums = sum_by(1.0 / variance, *of_family), sum_by(away / variance, *of_family)
        common = values["family_sd"][..., None] ** 2
        return 0.5 * (common * sums**2 / (1.0 + common * weights) - log(1.0 + common * weights))

    def precision(self, values):
        """Return the precision of the beta-binomial, (..., 1), or None for a binomial."""
        return exp(values["log_precision"][..., None]) if self.noise == "beta_binomial" else None

    def quantities(self, values, horizon, tasks):
        """Return horizons, effects in log minutes and slopes from coordinates of draws: these and logs of slopes."""
        effect = tasks[..., 0]
        log_slope = tasks[..., 1] if self.task_slopes else values["log_slope"][..., None] + 0.0 * effect
        return horizon[..., 0], effect, np.exp(log_slope)

    def coordinates(self, horizon, effect, slope):
        """Return coordinates of draws, (..., model, 1) and (..., task, part): the inverse of `quantities`."""
        return [horizon[..., None], np.stack([effect, np.log(slope)][: len(self._task_parts)], -1)]

    def placed(self, values, data):
        """Return the same from what is sampled, and the logs of derivatives of horizons and of those of tasks.

        What is sampled is standardised by what rows and priors tell of each quantity. Where rows tell little, it is the
        distance from the prior's mean in the prior's standard deviations; where they tell much, that from their
        estimate in standard errors. Either is nearly a standard normal, however small the spread of tasks or models.
        """
        slope, of_slopes = values["log_slope"][..., None] * data["task_one"], 0.0
        if self.task_slopes:
            mean, of_slopes = self._place_of_slopes(values, data)
            slope = mean + exp(of_slopes) * values[TASK][..., 1]
        mean, of_tasks = self._place_of_tasks(values, data)
        effect = mean + exp(of_tasks) * values[TASK][..., 0]
        mean, of_models = self._place_of_models(values, effect, data)
        return (mean + exp(of_models) * values[HORIZON][..., 0], effect, exp(slope)), (of_models, of_tasks + of_slopes)

    def _place_of_slopes(self, values, data):
        log_slope, variance = values["log_slope"][..., None], values["log_slope_sd"][..., None] ** 2
        estimate = data["task_log_slope"] + data["task_in_logits"] * log_slope
        return place(log_slope, variance, estimate, data["task_slope_information"])

    def _place_of_tasks(self, values, data):
        slope = exp(data["task_in_logits"] * values["log_slope"][..., None])
        estimate = data["task_logit"] / slope + data["task_minutes"]
        estimate = estimate + pick(self._level_of_tasks(values, data), data["task_whole"])
        return place(*self._expected_effects(values, data), estimate, data["task_information"] * slope**2)

    def _level_of_tasks(self, values, data):
        """Return an estimate of the mean effect, (..., 1), from its prior and from where models' dates place them."""
        models = {f"model_{name}": data[f"dated_{name}"] for name in design.OF_DATED if f"dated_{name}" in data}
        slope = exp(models["model_in_logits"] * values["log_slope"][..., None])
        above = self.expected(values, models) - models["model_logit"] / slope - models["model_minutes"]
        information, spread = models["model_information"] * slope**2, values["horizon_sd"][..., None] ** 2
        weight = information / (information + 1.0 / spread)
        count, above = (sum_by(x, data["dated_whole"], data["level_models"]) for x in (weight, weight * above))
        prior = self._expected_effects(values, {"task_one": 1.0, "task_estimated": data["level_share_estimated"]})
        return place(prior[0], prior[1] / data["level_tasks"], above / count, count / spread)[0]

    def _place_of_models(self, values, effect, data):
        slope = exp(data["model_in_logits"] * values["log_slope"][..., None])
        variance = values["horizon_sd"][..., None] ** 2
        level = sum_by(effect, data["task_whole"], data["whole_tasks"]) / data["whole_tasks"]
        estimate = data["model_logit"] / slope + data["model_minutes"] + pick(level, data["model_whole"])
        return place(self.expected(values, data), variance, estimate, data["model_information"] * slope**2)

    def expected(self, values, data):
        """Return the mean log horizon of models given their dates, log minutes, (..., model)."""
        values = {name: values[name][..., None] for name in self.prior_of}
        values["centre"] = values[self.centre]
        span = (data["model_break_low"], data["model_break_high"]) if self.trend == "break" else None
        return level(values, self.trend, data["model_year"], span)

    def _expected_effects(self, values, data):
        """Return the mean and variance of the effects of tasks about those of families, (..., task)."""
        mean, variance = 0.0 * data["task_one"], values["task_sd"][..., None] ** 2 * data["task_one"]
        if self.estimates:
            variance = variance + data["task_estimated"] * values["estimate_sd"][..., None] ** 2
            mean = mean - values["estimate_bias"][..., None] * data["task_estimated"]
        return mean, variance

    def places(self, effect, slope, of_thresholds):
        """Return slopes of thresholds, the log minutes of a typical task as hard, and what `outcomes.shares` takes.

        Effects and slopes are by task, (..., task), and `of_thresholds` is from `design.thresholds`.
        """
        slope = pick(slope, of_thresholds["task"])
        place = of_thresholds["log_minutes"] + pick(effect, of_thresholds["task"])
        return slope, place, of_thresholds["nested"] * exp(-slope * of_thresholds["gap"])

    def shares(self, horizon, slope, place, passed):
        """Return the probabilities that a run at risk reaches a threshold, and that it does not."""
        return shares(slope * (horizon - place), passed)

    # Draws -----------------------------------------------------------------------------------------------------------

    def _units_of_draws(self, values, units, rows, reference):
        quantities, _ = self.placed(values | units, self._sampled_arrays(rows, reference))
        return self.coordinates(*quantities)

    def _draw_units(self, values, rows, reference, rng):
        """Draw what is sampled of models and tasks given free parameters, a list: the inverse of `placed`."""
        draws = HorizonsDraws.at_random(self, reference, rows, values, rng)
        (effect, slope), data = draws.tasks, self._sampled_arrays(rows, reference)
        places = [(effect, *self._place_of_tasks(values, data))]
        places += [(np.log(slope), *self._place_of_slopes(values, data))] if self.task_slopes else []
        models = (draws.horizon, *self._place_of_models(values, effect, data))
        tasks, models = ([(x - mean) * np.exp(-log_scale) for x, mean, log_scale in of] for of in (places, [models]))
        return [np.stack(models, -1), np.stack(tasks, -1)]


def _standard(x):
    """Return the log density of a standard normal."""
    return -0.5 * (np.log(2 * np.pi) + x**2)

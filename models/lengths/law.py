"""The law of length generalisation as something to fit: its options, priors, PyMC model and simulation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ...datasets import require
from ...datasets.wording import quoted, shown, source_of, unknown
from ...errors import InputError
from ..arrays import log1p, spread
from ..contrasts import Contrast, bin_levels, ordinals, slopes
from ..density import Coordinates
from ..law import Effort, MemberLaw
from . import design, modes
from .counts import draw_counts
from .curve import PARTS, SHAPES, natural, right_and_wrong, terms
from .draws import LengthsDraws
from .priors import EFFECT, FREE_PARAMETERS, LEVEL, WITH_EFFECTS

NOISES = ("beta_binomial", "binomial")
OPERANDS = ("weighted", "longest")
UNITS = "run_units"


@dataclass(frozen=True)
class Lengths(MemberLaw):
    """How many problems are right by the lengths of their operands (results like those of McLeish et al. 2024).

    Of m problems with operands of i and j digits, run r gets k right, beta-binomially about an accuracy ``p = (1 -
    lapse)/(1 + (length/half_length)**steepness)``. It falls from a plateau with an effective length; `lengths.curve`
    has the curve and its five parameters. Each parameter has a value for each embedding, and a normal deviation of each
    run, by which runs of several seeds are pooled. The half-length, the steepness and the lapse also have effects of
    architecture and the like. The precision has one value for all.

    ================== ================== ==============================================================================
    parameter          by embedding       effects; spread between runs
    ================== ================== ==============================================================================
    log_reach          Normal(0.5, 1)     ``log_reach_effect`` Normal(0, 0.7); ``log_reach_sd`` Gamma(2, 6)
    log_steepness      Normal(2, 1)       ``log_steepness_effect`` Normal(0, 0.5); ``log_steepness_sd`` Gamma(2, 6)
    logit_lapse        Normal(-4, 2)      ``logit_lapse_effect`` Normal(0, 1); ``logit_lapse_sd`` Gamma(2, 2)
    logit_shorter      Normal(-2, 1.5)    ``logit_shorter_sd`` Gamma(2, 4)
    log_precision      Normal(3.4, 1.5)   the same for all embeddings; ``log_precision_sd`` Gamma(2, 4)
    ================== ================== ==============================================================================

    `lengths.priors.FREE_PARAMETERS` states the reason for each prior. Effects are relative to the architecture
    ``standard`` (or the next that begins so) and to the mean number of doublings over runs. Conditions that the runs
    cannot separate share a coefficient; `reference` names those. A run that was evaluated at several offsets of
    Abacus embeddings counts as one at each: at offset 8 its embedding is "abacus at offset 8".

    Parameters
    ----------
    noise : {"beta_binomial", "binomial"}
        Whether cells of one accuracy scatter more than counts of independent problems do.
    shape : {"log", "linear"}
        The logit falls with the log of the effective length, or with the length itself.
    operands : {"weighted", "longest"}
        The effective length weighs the shorter operand by a learned weight, or is the longer one's.
    lapse : bool
        Learn a plateau below 1. Without, a model that errs on short problems contradicts the law.
    seeds : bool
        Let runs of one condition differ.
    effects : str
        Formula in the columns embedding, architecture, arm, recurrences, layers, d_model, k_max and train_digits. The
        last five are by doubling, and h also depends on train_digits. ``a:b`` is an interaction and ``a*b`` both and
        their interaction. A column that is the same in all runs, or not there, has no coefficient.
    task : str, optional
        Which task's counts to fit, where a table has several.
    priors : mapping of str to str
        Replacements of the default priors, such as ``{"log_reach_sd": "HalfNormal(0.2)"}``.

    Raises
    ------
    InputError
        If an option or prior is unknown or out of range.

    References
    ----------
    .. [1] McLeish, S. et al. (2024). Transformers can do arithmetic with the right embeddings. arXiv:2405.17399.

    Examples
    --------
    >>> Lengths(shape="linear").parts
    ('log_reach', 'log_steepness', 'logit_lapse', 'logit_shorter', 'log_precision')
    """

    noise: str = "beta_binomial"
    shape: str = "log"
    operands: str = "weighted"
    lapse: bool = True
    seeds: bool = True
    effects: str = "embedding + architecture + recurrences + layers + d_model + k_max + train_digits"
    task: str | None = None
    priors: Mapping = field(default_factory=dict)

    share_of = "the problems"
    tolerance = 0.05
    name: ClassVar[str] = "lengths"
    kind: ClassVar[str] = "counts"
    unit: ClassVar[str] = "run"
    apart = ("run",)
    observed: ClassVar[str] = "correct"
    effort: ClassVar[Effort] = Effort(target_accept=0.95, careful=(0.99,), least_ess=400, longest=2)
    scale: ClassVar[str] = "correct"  # type: ignore[misc]
    drawn_as: ClassVar[type] = LengthsDraws
    columns: ClassVar[tuple] = ("run", "embedding", "train_digits", "length_a", "length_b", "correct", "total")

    def __post_init__(self):
        self._check_options("lapse", "seeds", noise=NOISES, shape=SHAPES, operands=OPERANDS)
        if not isinstance(self.effects, str):
            raise InputError(f"effects must be a formula such as 'embedding + architecture', not {shown(self.effects)}")
        design.terms(self.effects)
        object.__setattr__(self, "priors", self._checked_priors())

    # What is sampled -------------------------------------------------------------------------------------------------

    @property
    def parts(self):
        """Return the names of the curve's parameters under these options."""
        absent = {
            "logit_lapse": not self.lapse,
            "logit_shorter": self.operands == "longest",
            "log_precision": self.noise == "binomial",
        }
        return tuple(part for part in PARTS if not absent.get(part))

    @property
    def _free_parameters(self):
        """Return everything that has a prior, as `FreeParameter` objects."""
        with_effects = [f"{part}_effect" for part in WITH_EFFECTS if part in self.parts]
        spreads = [f"{part}_sd" for part in self.parts] if self.seeds else []
        return tuple(FREE_PARAMETERS[name] for name in (*self.parts, *with_effects, *spreads))

    def free(self, reference):
        """Return the coordinates of coefficients and spreads; an effect that no run has is none of them."""
        labels, priors = self.labels(reference), self.prior_of
        dims = {name: EFFECT if name.endswith("_effect") else LEVEL for name in priors if not name.endswith("_sd")}
        several = {name: (dim, len(labels[dim])) for name, dim in dims.items() if name != "log_precision"}
        present = {name: prior for name, prior in priors.items() if several.get(name) != (EFFECT, 0)}
        return Coordinates(present, {name: of for name, of in several.items() if name in present})

    def labels(self, reference):
        """Return the names of embeddings and of effects."""
        return {LEVEL: reference["levels"], EFFECT: reference["effects"]}

    def blocks(self, reference):
        """Return the block of the coordinates of runs, where these differ; see `curves`."""
        start = np.zeros((len(reference["runs"]), len(self.parts)))
        return {UNITS: (("run", "part"), start, "run")} if self.seeds else {}

    # The table -------------------------------------------------------------------------------------------------------

    def rows(self, counts):
        """Return the rows that this law is fitted to, refusing counts that cannot inform it."""
        rows = _by_offset(self._of_task(counts))
        place = source_of(rows)
        if rows[["length_a", "length_b"]].max(axis=1).nunique() < 2:
            raise InputError(f"{place}: the longer operand has one length in every row; the lengths law needs several")
        runs = design.runs_of_counts(rows)
        twins = design.alike(runs, self.effects)
        if twins:
            first, second = twins
            arms = [runs[design.ARM].get(name) for name in twins] if design.ARM in runs else []
            fix = "tell them apart in a column 'arm' and name it in the effects, or delete one"
            if len(set(arms)) > 1:
                fix = f"name 'arm' in the effects (--option \"effects={self.effects} + arm\"), or delete one"
            raise InputError(
                f"{place}, column 'seed': runs {quoted(first)} and {quoted(second)} have one condition and one seed, "
                f"{runs.at[second, 'seed']:g}, so they differ in what the law does not know; {fix}"
            )
        return rows

    def _of_task(self, counts):
        require(counts, (*self.columns, "architecture", "recurrences"), purpose="the lengths law")
        place = source_of(counts)
        tasks = sorted(counts["task"].unique()) if "task" in counts else []
        if self.task is None and len(tasks) > 1:
            raise InputError(
                f"{place}: column 'task' has {', '.join(tasks)}; fit one at a time, with task={quoted(tasks[0])} "
                f"(--option task={tasks[0]})"
            )
        if self.task is None:
            return counts
        if self.task not in tasks:
            raise InputError(f"{place}: {unknown('task', self.task, tasks or ['none'])}")
        return counts[counts["task"] == self.task].reset_index(drop=True)

    def reference(self, rows):
        """Describe runs with their conditions, names and centres that coefficients refer to; see `design.reference`."""
        return design.reference(rows, self.effects)

    def groups(self, rows, reference):
        """Return the cells put together; see `design.groups`."""
        return design.groups(rows, reference["runs"], longest=self.operands == "longest")

    def design_arrays(self, rows, reference):
        """Return columns of runs and groups of cells.

        Runs of the reference that have no cell in the rows inform nothing; other runs are refused.
        """
        design.check_runs(rows, reference, self.effects)
        return self.matrices(design.runs_of(reference), reference) | self.groups(rows, reference)

    def _sampled_arrays(self, rows, reference):
        """Return the same with where its counts alone put each run, the centre, and their information."""
        data = self.design_arrays(rows, reference)
        if self.seeds:
            priors = [self.prior_of[part] for part in self.parts]
            wide = [(p.median, 1.5 * float(np.diff(p.quantile([0.16, 0.84]))[0])) for p in priors]
            data["centre"], data["information"] = modes.modes(data, data["log_train"], self.parts, wide, self.shape)
        return data

    def matrices(self, runs, reference):
        """Return the columns of runs or conditions: ``levels``, ``effects`` and ``log_train``."""
        return {
            "levels": design.levels_matrix(runs, reference),
            "effects": design.effects_matrix(runs, reference, self.effects),
            "log_train": design.log_train(runs),
        }

    def contrasts(self, rows):
        """Return means of cells by length and embedding, within and beyond training, and shorter operands' slopes."""
        a, b = (rows[name].to_numpy(float) for name in ("length_a", "length_b"))
        longer = np.maximum(a, b)
        lengths = bin_levels(longer)
        beyond = np.where(longer > rows["train_digits"].to_numpy(float), "beyond", "within").astype(object)
        named, embedding = ordinals(lengths, "length"), rows["embedding"].astype(str).to_numpy(object)
        contrasts = {
            "means by length": Contrast.of_means(lengths, "bins of the longer operand", named),
            "means by embedding": Contrast.of_means(
                embedding + beyond,
                "embeddings, within and beyond the lengths of training",
                "embedding " + embedding + ", " + beyond + " the lengths of training",
            ),
        }
        within = slopes(lengths, np.log(np.minimum(a, b) / longer))
        if len(within):
            what = f"slope of z in the log of shorter over longer operand in each of {len(within)} bins of the longer"
            contrasts["slopes by shorter operand"] = Contrast(what, within).named(named)
        return contrasts

    # The curve -------------------------------------------------------------------------------------------------------

    def typical(self, values, matrices):
        """Return the parameters of the curve of a run or condition without deviations: dict of (..., run).

        The values are coefficients, of shapes (..., embedding), (..., effect) and, of ``log_precision``, (...).
        """
        parameters = {}
        for part in self.parts:
            if part == "log_precision":
                parameters[part] = spread(values[part][..., None], matrices["log_train"])
                continue
            parameters[part] = values[part] @ matrices["levels"].T
            if f"{part}_effect" in values:
                parameters[part] = parameters[part] + values[f"{part}_effect"] @ matrices["effects"].T
        return parameters

    def new(self, values, matrices, rng):
        """Return the parameters of the curve of a new run of each run's condition: dict of (..., run)."""
        curve = self.typical(values, matrices)
        if not self.seeds:
            return curve
        return {p: x + values[f"{p}_sd"][..., None] * rng.standard_normal(x.shape) for p, x in curve.items()}

    def density(self, rows, reference):
        """Return the `Density`; runs start where their counts and conditions put them."""
        density = super().density(rows, reference)
        return density._replace(axes={name: _axis(name) for name in density.arrays}, low_rank=False)

    def _rest(self, values, data):
        """Return the log density of the runs' units, and of the counts."""
        curve, of_units = self.curves(values, data)
        counted = terms(curve, data["log_train"], data, self.shape)
        return {UNITS: of_units} | {f"counts {i}": x for i, (x, _) in enumerate(counted)}

    def _draw_units(self, values, rows, reference, rng):
        """Draw the runs' units z given coefficients and spreads, a list of one array (..., run, part)."""
        arrays, units = self._sampled_arrays(rows, reference), []
        for i, (part, typical) in enumerate(self.typical(values, arrays).items()):
            sd, away = values[f"{part}_sd"][..., None], arrays["centre"][..., i] - typical
            ratio = arrays["information"][..., i] * sd**2
            deviation = sd * rng.standard_normal(typical.shape)
            units.append((deviation - ratio / (1 + ratio) * away) * (1 + ratio) ** 0.5 / sd)
        return [np.stack(units, -1)]

    def _units_of_draws(self, values, units, rows, reference):
        if not self.seeds:
            return []
        curve, _ = self.curves(values | units, self._sampled_arrays(rows, reference))
        return [np.stack([*curve.values()], -1)]

    def curves(self, values, arrays):
        """Return the parameters of the curve of each run, and the log density of the units that they were sampled in.

        A run's parameters u are sampled as z, given what its counts and its condition imply. Its counts put u at m with
        information i, and its condition puts it at mu with spread s. Then u has mean
        ``(mu + i s**2 m) / (1 + i s**2)`` and deviation ``z s / sqrt(1 + i s**2)``. z is nearly standard normal
        whatever the spread, from a run of many cells to one of none.

        Both results have shape (..., run); the density is up to a constant, and 0 without spreads. The values are
        coefficients, spreads (...) and z, (..., run, part); the arrays are those of the density.
        """
        curve, log_density = self.typical(values, arrays), 0.0
        if self.seeds:
            for i, (part, typical) in enumerate(curve.items()):
                sd, z = values[f"{part}_sd"][..., None], values[UNITS][..., i]
                centre, information = arrays["centre"][..., i], arrays["information"][..., i]
                ratio = information * sd**2
                deviation = ratio / (1 + ratio) * (centre - typical) + sd * z / (1 + ratio) ** 0.5
                scaled = information * sd / (1 + ratio) * (centre - typical) + z / (1 + ratio) ** 0.5
                curve[part] = typical + deviation
                log_density = log_density - 0.5 * scaled**2 - 0.5 * log1p(ratio)
        return curve, log_density

    def simulate(self, curve, rows, rng, runs=None):
        """Draw counts of the law, (..., cell), from parameters of shape (..., run).

        The runs are by default those of the rows in order of appearance.
        """
        return draw_counts(*self.probabilities(curve, rows, runs), rows["total"].to_numpy(int), rng)

    def probabilities(self, curve, rows, runs=None):
        """Return probabilities that a problem of each cell is right and wrong, and counts' precision, (..., cell)."""
        runs = design.runs_of_counts(rows) if runs is None else runs
        run = runs.index.get_indexer(rows["run"])
        a, b = (rows[c].to_numpy(float) for c in ("length_a", "length_b"))
        log_longer = np.log(np.maximum(a, b))
        of_runs = natural({name: np.asarray(x) for name, x in curve.items()}, design.log_train(runs))
        cells = {name: x[..., run] for name, x in of_runs.items()}
        right, wrong = right_and_wrong(cells, log_longer, np.log(np.minimum(a, b)) - log_longer, self.shape)
        return right, wrong, cells.get("precision")


def _axis(name):
    """Return the axis of an array: the first word of its name for groups of cells, ``run`` for columns of runs."""
    axis = name.split("_")[0]
    return axis if axis in ("pair", "right", "wrong", "total") else "run"


def _by_offset(counts):
    """Add the offset to the name and the embedding of a run that was evaluated at an offset other than 0."""
    if "offset" not in counts:
        return counts
    shifted, text = counts["offset"] != 0, " at offset " + counts["offset"].astype(str)
    named = {name: counts[name].where(~shifted, counts[name] + text).astype(object) for name in ("run", "embedding")}
    return counts.assign(**named).drop(columns="offset")

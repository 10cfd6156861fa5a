"""The law of length generalisation as something to fit: its options, priors, PyMC model and simulation."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from ..datasets import require
from ..datasets.wording import quoted, unknown
from ..errors import InputError
from . import lengths, lengths_design, lengths_modes
from .arrays import log1p
from .backend import pymc
from .priors import Quantity

NOISES = ("beta_binomial", "binomial")
OPERANDS = ("weighted", "longest")
REAL = (-np.inf, np.inf)
POSITIVE = (0, np.inf)
SEEDS = (
    "Spread between runs that differ in nothing but the seed. Two or three seeds hardly inform it, so the prior "
    "matters: it avoids zero, for no two seeds end with one curve, "
)

QUANTITIES = {
    "log_reach": Quantity(
        "log_reach",
        "Normal(0.5, 1)",
        REAL,
        "e-folds",
        "Half-length over training length: 0.23 to 12, from models that fail within the training lengths to ones that "
        "go tenfold beyond.",
    ),
    "log_steepness": Quantity(
        "log_steepness",
        "Normal(2, 1)",
        REAL,
        "",
        "Fall of the logit for each e-fold of length: 1 to 52; accuracy goes from 90% to 10% within 9% of the length "
        "or over a factor of 80.",
    ),
    "logit_lapse": Quantity(
        "logit_lapse",
        "Normal(-4, 2)",
        REAL,
        "",
        "Share of problems that are wrong at any length: 0.04% to 48%, from a trained model to one that training left "
        "half done.",
    ),
    "logit_shorter": Quantity(
        "logit_shorter",
        "Normal(-2, 1.5)",
        REAL,
        "",
        "Weight of the shorter operand: 0.7% to 72%; near 0 the longer operand alone counts, at 1/2 both alike.",
    ),
    "log_precision": Quantity(
        "log_precision",
        "Normal(3.4, 1.5)",
        REAL,
        "",
        "Precision of the beta-binomial: 1.6 to 570; cells of one accuracy scatter almost from 0 to 1, or hardly more "
        "than a binomial does.",
    ),
    "log_reach_effect": Quantity(
        "log_reach_effect",
        "Normal(0, 0.7)",
        REAL,
        "e-folds",
        "An architecture, a doubling or an interaction multiplies the half-length by 0.25 to 4.",
    ),
    "log_steepness_effect": Quantity(
        "log_steepness_effect", "Normal(0, 0.5)", REAL, "", "The steepness is multiplied by 0.4 to 2.7."
    ),
    "logit_lapse_effect": Quantity(
        "logit_lapse_effect", "Normal(0, 1)", REAL, "", "The odds of a lapse are multiplied by 0.14 to 7."
    ),
    "log_reach_sd": Quantity(
        "log_reach_sd", "Gamma(2, 6)", POSITIVE, "e-folds", SEEDS + "and has half-lengths differ by 4% to 93%."
    ),
    "log_steepness_sd": Quantity(
        "log_steepness_sd", "Gamma(2, 6)", POSITIVE, "", SEEDS + "and has steepnesses differ by 4% to 93%."
    ),
    "logit_lapse_sd": Quantity(
        "logit_lapse_sd", "Gamma(2, 2)", POSITIVE, "", SEEDS + "and is 0.12 to 2.8 on the logit of the lapse."
    ),
    "logit_shorter_sd": Quantity(
        "logit_shorter_sd", "Gamma(2, 4)", POSITIVE, "", SEEDS + "and is 0.06 to 1.4 on the logit of the weight."
    ),
    "log_precision_sd": Quantity(
        "log_precision_sd", "Gamma(2, 4)", POSITIVE, "", SEEDS + "and has precisions differ by 6% to fourfold."
    ),
}  # fmt: skip
WITH_EFFECTS = ("log_reach", "log_steepness", "logit_lapse")
LEVEL, EFFECT, RUN = "embedding", "effect", "run"
UNITS = "z"


@dataclass(frozen=True)
class Lengths:
    """How many problems are right by the lengths of their operands (results like those of McLeish et al. 2024).

    Of m problems with operands of i and j digits, run r gets k right, beta-binomially about an accuracy that falls from
    a plateau with an effective length; `models.lengths` has the curve and its five parameters. Each parameter has a
    value for each embedding, effects of architecture and the like (of the half-length, the steepness and the lapse),
    and a normal deviation of each run, by which runs of several seeds are pooled. The precision has one value for all.

    ================== ================== ==============================================================================
    parameter          by embedding       effects; spread between runs
    ================== ================== ==============================================================================
    log_reach          Normal(0.5, 1)     ``log_reach_effect`` Normal(0, 0.7); ``log_reach_sd`` Gamma(2, 6)
    log_steepness      Normal(2, 1)       ``log_steepness_effect`` Normal(0, 0.5); ``log_steepness_sd`` Gamma(2, 6)
    logit_lapse        Normal(-4, 2)      ``logit_lapse_effect`` Normal(0, 1); ``logit_lapse_sd`` Gamma(2, 2)
    logit_shorter      Normal(-2, 1.5)    ``logit_shorter_sd`` Gamma(2, 4)
    log_precision      Normal(3.4, 1.5)   the same for all embeddings; ``log_precision_sd`` Gamma(2, 4)
    ================== ================== ==============================================================================

    Why each prior is as it is stands in `lengths_law.QUANTITIES`. Effects are relative to the architecture ``standard``
    (or the next that begins so) and to the mean number of doublings over runs. Conditions that the runs cannot tell
    apart share a coefficient; `reference` names those.

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
        Formula in the columns embedding, architecture, arm, recurrences, layers, d_model, k_max and train_digits (the
        last five by doubling; h goes with train_digits besides); ``a:b`` is an interaction and ``a*b`` both and their
        interaction. A column that is the same in all runs, or not there, has no coefficient.
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
    """

    noise: str = "beta_binomial"
    shape: str = "log"
    operands: str = "weighted"
    lapse: bool = True
    seeds: bool = True
    effects: str = "embedding + architecture + recurrences + layers + d_model + k_max + train_digits"
    task: str | None = None
    priors: Mapping = field(default_factory=dict)

    name: ClassVar[str] = "lengths"
    scale: ClassVar[str] = "correct"
    columns: ClassVar[tuple] = ("run", "embedding", "train_digits", "length_a", "length_b", "correct", "total")

    def __post_init__(self):
        for option, choices in (("noise", NOISES), ("shape", lengths.SHAPES), ("operands", OPERANDS)):
            if getattr(self, option) not in choices:
                raise InputError(unknown(option, getattr(self, option), choices))
        for option in ("lapse", "seeds"):
            if not isinstance(getattr(self, option), bool):
                raise InputError(f"{option} must be true or false, not {getattr(self, option)!r}")
        if not isinstance(self.effects, str):
            raise InputError(f"effects must be a formula such as 'embedding + architecture', not {self.effects!r}")
        lengths_design.terms(self.effects)
        sampled = {q.name: q for q in self.quantities}
        for name in self.priors:
            if name not in sampled:
                raise InputError(f"prior on {name!r}: it is not known to this law; priors can be set on "
                                 f"{', '.join(sampled)}")  # fmt: skip
        checked = {name: str(sampled[name].checked(text)) for name, text in self.priors.items()}
        object.__setattr__(self, "priors", checked)

    # What is sampled -------------------------------------------------------------------------------------------------

    @property
    def parts(self):
        """Names of the curve's parameters under these options."""
        absent = {
            "logit_lapse": not self.lapse,
            "logit_shorter": self.operands == "longest",
            "log_precision": self.noise == "binomial",
        }
        return tuple(part for part in lengths.PARTS if not absent.get(part))

    @property
    def quantities(self):
        """Everything with a prior of its own, as `Quantity` objects."""
        with_effects = [f"{part}_effect" for part in WITH_EFFECTS if part in self.parts]
        spreads = [f"{part}_sd" for part in self.parts] if self.seeds else []
        return tuple(QUANTITIES[name] for name in (*self.parts, *with_effects, *spreads))

    @property
    def prior_of(self):
        """Dict from the name of each quantity to its `Prior`."""
        return {q.name: q.checked(self.priors.get(q.name, q.prior)) for q in self.quantities}

    @property
    def options(self):
        """What rebuilds this law: ``laws.law(name, **options)``."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"priors": dict(self.priors)}

    # The table -------------------------------------------------------------------------------------------------------

    def rows(self, counts):
        """Return the rows that this law is fitted to.

        Raises
        ------
        InputError
            If a column is missing, or there are several tasks and none was chosen.
        """
        require(counts, (*self.columns, "architecture", "recurrences"), purpose="the lengths law")
        place = counts.attrs.get("source", "the table")
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
        kept = counts[counts["task"] == self.task].reset_index(drop=True)
        kept.attrs = dict(counts.attrs)
        return kept

    def check(self, counts):
        """Refuse counts that cannot inform this law.

        Raises
        ------
        InputError
            If a column is missing, there are several tasks, every problem has one effective length, or two runs of one
            condition have one seed.
        """
        rows = self.rows(counts)
        place = rows.attrs.get("source", "the table")
        if rows[["length_a", "length_b"]].max(axis=1).nunique() < 2:
            raise InputError(f"{place}: the longer operand has one length in every row; the lengths law needs several")
        runs = lengths_design.runs_of_counts(rows)
        twins = lengths_design.alike(runs, self.effects)
        if twins:
            first, second = twins
            arms = [runs[lengths_design.ARM].get(name) for name in twins] if lengths_design.ARM in runs else []
            mend = "tell them apart in a column 'arm' and name it in the effects, or delete one"
            if len(set(arms)) > 1:
                mend = f"name 'arm' in the effects (--option \"effects={self.effects} + arm\"), or delete one"
            raise InputError(
                f"{place}, column 'seed': runs {quoted(first)} and {quoted(second)} have one condition and one seed, "
                f"{runs.at[second, 'seed']:g}, so they differ in what the law is not told; {mend}"
            )

    def reference(self, counts):
        """Names and centres that coefficients refer to; see `lengths_design.reference`."""
        return lengths_design.reference(self.rows(counts), self.effects)

    def groups(self, counts, reference):
        """Cells put together; see `lengths_design.groups`."""
        return lengths_design.groups(counts, reference["runs"], longest=self.operands == "longest")

    def design(self, counts, reference, runs=None):
        """Arrays that the PyMC model holds as data: columns of runs, groups of cells, and each run's centre.

        Parameters
        ----------
        counts : DataFrame
            Cells; runs of the reference that have none inform nothing.
        reference : dict
        runs : DataFrame, optional
            Conditions of all runs, from `lengths_design.runs_of_counts`, where `counts` lacks some.
        """
        rows = self.rows(counts)
        runs = lengths_design.runs_of_counts(rows) if runs is None else runs
        found = self.matrices(runs.loc[reference["runs"]], reference) | self.groups(rows, reference)
        if self.seeds:
            priors = [self.prior_of[part].frozen for part in self.parts]
            wide = [(float(p.median()), 1.5 * float(np.diff(p.ppf([0.16, 0.84]))[0])) for p in priors]
            found["centre"], found["information"] = lengths_modes.modes(
                found, found["log_train"], self.parts, wide, self.shape
            )
        return found

    def matrices(self, runs, reference):
        """Columns of runs or conditions: ``levels``, ``effects`` and ``log_train``."""
        return {
            "levels": lengths_design.levels_matrix(runs, reference),
            "effects": lengths_design.effects_matrix(runs, reference, self.effects),
            "log_train": _log_train(runs),
        }

    # The curve -------------------------------------------------------------------------------------------------------

    def typical(self, values, matrices):
        """Parameters of the curve of a run that deviates in nothing, by run or condition.

        Parameters
        ----------
        values : mapping of str to array_like
            Coefficients, of shapes (..., embedding), (..., effect) and, of ``log_precision``, (...).
        matrices : mapping of str to array_like
            From `matrices`.

        Returns
        -------
        dict of str to array_like, shape (..., run)
        """
        found = {}
        for part in self.parts:
            if part == "log_precision":
                found[part] = values[part][..., None] + 0 * matrices["log_train"]
                continue
            found[part] = values[part] @ matrices["levels"].T
            if f"{part}_effect" in values:
                found[part] = found[part] + values[f"{part}_effect"] @ matrices["effects"].T
        return found

    def model(self, counts, reference=None):
        """Build the PyMC model of this law on a table of counts.

        A run's parameters u are sampled as ``z``, by what its counts and its condition say together: with counts that
        put u at m with information i, and a condition that puts it at mu with spread s, u has mean
        ``(mu + i s**2 m) / (1 + i s**2)`` and deviation ``z s / sqrt(1 + i s**2)``. z is then nearly standard normal
        whatever the spread, from a run of many cells to one of none.

        Parameters
        ----------
        counts : DataFrame
            From `read_counts`.
        reference : dict, optional
            From `reference`; by default that of the table.

        Returns
        -------
        pymc.Model
            With `pymc.Data` for the design, so that it is compiled once and refitted to other counts.
        """
        pm = pymc()

        self.check(counts)
        reference = reference or self.reference(counts)
        priors = self.prior_of
        coords = {LEVEL: reference["levels"], EFFECT: reference["effects"]}
        with pm.Model(coords=coords) as model:
            d = {name: pm.Data(name, x) for name, x in self.design(counts, reference).items()}
            values = {}
            for part in self.parts:
                values[part] = priors[part].variable(part, dims=None if part == "log_precision" else LEVEL)
                if part in WITH_EFFECTS and reference["effects"]:
                    values[f"{part}_effect"] = priors[f"{part}_effect"].variable(f"{part}_effect", dims=EFFECT)
            if self.seeds:
                values |= {f"{part}_sd": priors[f"{part}_sd"].variable(f"{part}_sd") for part in self.parts}
                values[UNITS] = pm.Flat(UNITS, shape=(len(reference["runs"]), len(self.parts)))
            curve, log_density = self.curve(values, d)
            if self.seeds:
                pm.Potential("deviations", log_density.sum())
            pm.Potential(
                self.scale,
                lengths.log_likelihood(curve, d["log_train"], d, self.shape, lambda values, _: values.sum()),
            )
        return model

    def curve(self, values, design):
        """Parameters of the curve of each run, and the log density of the units that they were sampled in.

        Parameters
        ----------
        values : mapping of str to array_like
            Coefficients, spreads (...) and the units ``z``, (..., run, part).
        design : mapping of str to array_like
            From `design`.

        Returns
        -------
        curve : dict of str to array_like, shape (..., run)
        log_density : array_like, shape (..., run)
            Up to a constant; 0 without spreads.
        """
        curve = self.typical(values, design)
        log_density = 0.0
        if self.seeds:
            for i, (part, typical) in enumerate(curve.items()):
                sd, z = values[f"{part}_sd"][..., None], values[UNITS][..., i]
                centre, information = design["centre"][..., i], design["information"][..., i]
                known = information * sd**2
                deviation = known / (1 + known) * (centre - typical) + sd * z / (1 + known) ** 0.5
                scaled = information * sd / (1 + known) * (centre - typical) + z / (1 + known) ** 0.5
                curve[part] = typical + deviation
                log_density = log_density - 0.5 * scaled**2 - 0.5 * log1p(known)
        return curve, log_density

    def simulate(self, curve, counts, rng):
        """Draw counts of the law.

        Parameters
        ----------
        curve : mapping of str to ndarray, shape (run,)
            Parameters of each run, in order of appearance in `counts`.
        counts : DataFrame
            Cells; their ``correct`` are not looked at.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of int, shape (cell,)
            Problems right of ``total``.
        """
        runs = lengths_design.runs_of_counts(counts)
        run = runs.index.get_indexer(counts["run"])
        a, b, total = (counts[c].to_numpy(float) for c in ("length_a", "length_b", "total"))
        log_longer = np.log(np.maximum(a, b))
        of_runs = lengths.natural({name: np.asarray(x) for name, x in curve.items()}, _log_train(runs))
        cells = {name: x[run] for name, x in of_runs.items()}
        probabilities = lengths.right_and_wrong(cells, log_longer, np.log(np.minimum(a, b)) - log_longer, self.shape)
        return draw_counts(*probabilities, cells.get("precision"), total.astype(int), rng)


def _log_train(runs):
    return np.log(runs["train_digits"].to_numpy(float))


def draw_counts(right, wrong, precision, total, rng):
    """Draw counts of `total` problems, (...), about probabilities; binomial where there is no precision."""
    if precision is None:
        return rng.binomial(total, right)
    a, b = rng.standard_gamma(precision * right), rng.standard_gamma(precision * wrong)
    # Where both gammas are too small for a float, the beta is all but 0 or 1.
    extreme = rng.random(np.shape(a)) < right
    with np.errstate(invalid="ignore"):
        share = np.where(a + b > 0, a / (a + b), extreme)
    return rng.binomial(total, share)

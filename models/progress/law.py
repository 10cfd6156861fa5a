"""The law of algorithmic progress as something to fit: a specification, its variant, its priors and its PyMC model."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...datasets import require
from ...datasets.wording import check_choice, shown, source_of, unknown
from ...errors import InputError
from ..contrasts import Contrast, groupings, informed, means
from ..density import Density, Units
from ..law import Effort, Law
from . import density, design, specifications
from . import priors as progress_priors
from .draws import ProgressDraws
from .specifications import BENCHMARKS, SPECIFICATIONS, Specification

LARGEST_LOSS = 700.0  # nats: exp(700) is near the largest perplexity that a float holds
DATA = ("dataset", "tokens_seen", "diminishing", "repeated")
OPTIONS = {
    "noise": ("normal", "student_t"),
    "scale": ("loss", "log_loss"),
    "transformer": (None, "sigmoid", "exp"),
    "cutoff_form": ("hinge", "jump"),
    "data": (None, *DATA),
    "unknown_epochs": ("one", "drop"),
    "unknown_vocabulary": ("impute", "drop"),
    "architectures": ("all", "other"),
    "scatter": ("one", "by_benchmark"),
    "pace": ("constant", "random_walk"),
}

# Options that change the data of the density, not its code.
OF_DATA = (
    *("cutoff", "cutoff_form", "data", "unknown_epochs", "unknown_vocabulary"),
    *("architectures", "priors", "benchmarks"),
)


@dataclass(frozen=True)
class Progress(Law):
    """Algorithmic progress in language models (Ho et al. 2024), ``log perplexity = exp(eta_N) + exp(eta_D)``.

    Parameters
    ----------
    specification : int or Specification
        1 to 20 of table 10, or a custom one.
    noise : {"normal", "student_t"}
        Residuals in nats; the paper's least squares is normal.
    scale : {"loss", "log_loss"}
        Residuals of L = log(perplexity), or of log L.
    transformer : {None, "sigmoid", "exp"}
        A factor on the reducible loss of transformers: sigma(gamma_T), which forces a gain (equation 7), or
        exp(gamma_T).
    irreducible : bool
        An irreducible loss for each benchmark, at least 0 (equation 12).
    cutoff : float, optional
        Year at which the year slopes change.
    cutoff_form : {"hinge", "jump"}
        A continuous change, or the paper's, whose years still count from Y0 so that the law jumps.
    pace : {"constant", "random_walk"}
        Whether the yearly fall is one number or a random walk. This takes a step at each of the years
        `specifications.KNOTS`, the same for all benchmarks; the size of its steps is estimated.
    data : {None, "dataset", "tokens_seen", "diminishing", "repeated"}
        What D is; None as the specification states. ``tokens_seen`` is D x epochs, ``diminishing`` the paper's
        ``D (1 + R (1 - exp(-epochs/R)))``, ``repeated`` that of Muennighoff et al. (2023).
    unknown_epochs, unknown_vocabulary : str
        ``"one"`` or ``"drop"``; ``"impute"`` (10,000 ptb, 33,278 wt2, 268,000 wt103) or ``"drop"``.
    paper_effects : bool, optional
        A Gaussian random intercept for each paper, integrated out; normal noise only. By default there is none, as in
        the paper, but `fit` returns a fit with them where rows of one paper share a deviation.
    scatter : {"one", "by_benchmark"}
        Whether the scatter about the law is one for all rows or differs by benchmark.
    pooling : bool
        Estimate how much benchmarks differ (loss centres, shares, year slopes) instead of a fixed prior sd.
    architectures : {"all", "other"}
        All rows, or non-transformers only.
    penalty : float, optional
        The paper's delta: its L1 penalty as a Laplace prior of the coefficients, in place of the default priors.
    priors : mapping of str to (float, float)
        Location and spread of quantities, see `progress_priors.JUDGED`.
    benchmarks : sequence of str
        What the specification's benchmarks are, two or more; the first is the one that growth rates are stated for.

    Raises
    ------
    InputError
        If an option is unknown or options exclude each other.

    Examples
    --------
    >>> Progress(7, cutoff=2018.0).label
    'progress-7, cutoff=2018'
    >>> Progress(Specification("b + y + n", "b + y + d")).name
    'progress'
    """

    specification: int | Specification = 7
    noise: str = "normal"
    scale: str = "loss"
    transformer: str | None = None
    irreducible: bool = False
    cutoff: float | None = None
    cutoff_form: str = "hinge"
    pace: str = "constant"
    data: str | None = None
    unknown_epochs: str = "one"
    unknown_vocabulary: str = "impute"
    paper_effects: bool | None = None
    pooling: bool = False
    architectures: str = "all"
    scatter: str = "one"
    penalty: float | None = None
    priors: Mapping = field(default_factory=dict)
    benchmarks: tuple = BENCHMARKS

    tolerance = 0.05
    deviation_test = "means by paper"
    apart = ("benchmark",)
    clusters = ("paper_id",)
    axes = {"date": "year"}  # noqa: RUF012
    left_out_by = "paper_id"
    kind: ClassVar[str] = "evaluations"
    unit: ClassVar[str] = "evaluation"
    observed: ClassVar[str] = "perplexity"
    effort: ClassVar[Effort] = Effort(target_accept=0.95, careful=(0.99, 0.998), least_ess=1000, longest=16)
    columns: ClassVar[tuple] = ("parameters", "dataset_tokens", "year", "benchmark", "transformer", "perplexity")

    def __post_init__(self):
        if isinstance(self.specification, Mapping):
            object.__setattr__(self, "specification", Specification(**self.specification))
        if not isinstance(self.specification, Specification) and self.specification not in SPECIFICATIONS:
            raise InputError(unknown("specification", self.specification, SPECIFICATIONS))
        object.__setattr__(self, "benchmarks", design.check_benchmarks(self.benchmarks))
        optional = ("paper_effects",) if self.paper_effects is not None else ()
        self._check_options("irreducible", "pooling", *optional, **OPTIONS)
        for name in ("cutoff", "penalty"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
                raise InputError(f"{name} must be a number, not {shown(value)}")
        for name in self.priors:
            check_choice("prior on", name, progress_priors.JUDGED)
        priors = {name: progress_priors.judged_prior(name, prior) for name, prior in self.priors.items()}
        object.__setattr__(self, "priors", priors)
        if self.paper_effects and self.noise != "normal":
            raise InputError("paper_effects are integrated out under normal noise only; set noise='normal'")
        if self.penalty is not None and not 0 < self.penalty < np.inf:
            raise InputError(
                f"penalty {self.penalty!r}: a Laplace prior needs a positive delta; at 0 the prior is flat and improper"
            )
        if self.penalty is not None and self.scatter != "one":
            raise InputError("penalty: the paper's has one scatter for all rows; set scatter='one'")
        for name, changed in (("cutoff", self.cutoff is not None), ("pace", self.pace != "constant")):
            if changed and not self._timed:
                raise InputError(f"{name}: this specification has no year slope that could change")
        if self.pace != "constant" and (self.cutoff is not None or self.penalty is not None):
            other = "cutoff" if self.cutoff is not None else "penalty"
            raise InputError(f"pace={self.pace!r} and {other} exclude each other; set {other}=None or pace='constant'")

    # The specification -----------------------------------------------------------------------------------------------

    @property
    def name(self):
        """Return ``progress-7``, or ``progress`` for a custom specification."""
        return f"progress-{self.specification}" if isinstance(self.specification, int) else "progress"

    @property
    def spec(self):
        """Return the `Specification`."""
        return SPECIFICATIONS[self.specification] if isinstance(self.specification, int) else self.specification

    @property
    def _timed(self):
        return any(c.factors == ("y",) for c in (*self.spec.columns_parameters, *self.spec.columns_data))

    def _option_text(self, name, value):
        """Return the text of an option in the label; the name states which of the 20 specifications it is."""
        if name != "specification":
            return super()._option_text(name, value)
        return "" if isinstance(value, int) else " | ".join(filter(None, (value["parameters"], value["data"])))

    @property
    def data_definition(self):
        """Return the definition of D."""
        return self.data or ("diminishing" if self.spec.diminishing else "dataset")

    # The table -------------------------------------------------------------------------------------------------------

    def rows(self, table):
        """Return the rows of a table that this law is fitted to.

        Raises
        ------
        InputError
            If a column that the law needs is missing, there are too few rows, or a benchmark of the specification has
            none.
        """
        rows = self.selected(table)
        self._check(rows)
        return rows

    def selected(self, table):
        """Return the rows of a table that the options leave in, however few; refuse one that lacks a needed column."""
        needed = [*self.columns]
        needed += ["epochs"] if self.data_definition != "dataset" else []
        needed += ["vocabulary"] if self.spec.vocabulary or self.unknown_vocabulary == "drop" else []
        require(table, needed, purpose=f"{self.name}")
        rows = table
        if self.architectures == "other":
            rows = rows[rows["transformer"] == 0]
        if self.data_definition != "dataset" and self.unknown_epochs == "drop":
            rows = rows[rows["epochs"].notna()]
        if self.unknown_vocabulary == "drop":
            rows = rows[rows["vocabulary"].notna()]
        return rows.reset_index(drop=True)

    def _check(self, rows):
        place = source_of(rows)
        needed = self.dimension
        if len(rows) < needed:
            raise InputError(
                f"{place}: {len(rows)} rows are fewer than the {needed} sampled quantities of {self.name}; add "
                "evaluations"
            )
        design.check_rows(self, rows, place)

    def on_scale(self, observed):
        """Return the losses, logarithms of perplexities, or their logarithms."""
        return np.log(np.log(observed)) if self.scale == "log_loss" else np.log(observed)

    def from_scale(self, values):
        """Return the perplexities of losses on the law's scale, refusing one that no number holds."""
        loss = np.exp(values) if self.scale == "log_loss" else values
        if np.max(loss) > LARGEST_LOSS:
            raise InputError(
                f"{self.name}: a simulated loss is {float(np.max(loss)):.3g} nats, whose perplexity no number holds; "
                "draw truths from the posterior"
            )
        return np.exp(loss)

    def check_calibration(self, truth):
        """Refuse a penalty, whose prior changes with the number of rows."""
        if self.penalty is not None:
            raise InputError(
                f"{self.name} with a penalty has a prior that depends on the number of rows, which simulated rows "
                "would change; calibrate it without"
            )

    def contrasts(self, rows):
        """Return residuals' means and yearly slopes by benchmark, and means of papers with several rows."""
        benchmark, year = rows["benchmark"].to_numpy(object), rows["year"].to_numpy(float)
        named = "benchmark " + benchmark
        contrasts = {
            "means by benchmark": Contrast.of_means(benchmark, "benchmarks", named),
            "slopes by date": Contrast.of_slopes(benchmark, year, "the date", "benchmarks", named),
        }
        if "paper_id" in rows:
            by_paper = means(rows["paper_id"])
            several = by_paper[(by_paper > 0).sum(1) > 1]
            what = f"mean of z of each of {len(several)} papers of several rows"
            contrasts["means by paper"] = Contrast(what, several).named("paper " + rows["paper_id"].astype(str))
        return informed(contrasts)

    def with_effects(self, rows):
        """Return the law with paper effects, None where they are no default or no paper has several rows."""
        papers = rows.get("paper_id")
        if self.paper_effects is not None or self.noise != "normal" or papers is None or not papers.duplicated().any():
            return None
        return replace(self, paper_effects=True)

    def groupings(self, rows):
        """Return the codes of the groups that columns besides benchmarks and papers name, transformers among them."""
        return groupings(rows, ("benchmark", "paper", "paper_id"))

    def wider_laws(self, rows):
        """Return laws with paper effects or with a scatter by benchmark, where this law has none."""
        laws = []
        if not self.paper_effects and self.noise == "normal" and "paper_id" in rows:
            laws.append(replace(self, paper_effects=True))
        if self.scatter == "one" and self.penalty is None:
            laws.append(replace(self, scatter="by_benchmark"))
        return laws

    @property
    def one_prior(self):
        """Return whether the prior is the same whatever rows are fitted: the paper's penalty is one on their number."""
        return self.penalty is None

    def join_simulated(self, rows, simulated):
        """Return rows and simulated ones as one table; simulated papers are others than the rows'."""
        return super().join_simulated(rows, simulated.assign(paper_id=simulated["paper_id"] + rows["paper_id"].max()))

    # The design ------------------------------------------------------------------------------------------------------

    predictors = cached_property(specifications.predictors)
    sizes = cached_property(specifications.sizes)
    drifts = cached_property(specifications.drifts)
    levels = cached_property(specifications.levels)
    blocks = cached_property(specifications.blocks)
    slices = cached_property(specifications.slices)
    coordinates = property(specifications.coordinates)
    places_of_drifts = specifications.places_of_drifts
    tokens = design.tokens
    points = design.points
    reference = design.reference
    design_arrays = design.design_arrays
    described_priors = progress_priors.described_priors

    @property
    def options(self):
        """Return the options that rebuild this law."""
        spec = self.specification if isinstance(self.specification, int) else asdict(self.specification)
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("specification", "benchmarks")}
        others = {} if self.benchmarks == BENCHMARKS else {"benchmarks": list(self.benchmarks)}
        return {"specification": spec} | values | {"priors": {k: list(v) for k, v in self.priors.items()}} | others

    @property
    def _equation(self):
        """Return the equation with the terms of the predictors, whose coefficients it leaves out."""
        equation, spec = super()._equation, self.spec
        equation = equation.replace("eta_N", spec.parameters).replace("eta_D", spec.data).removesuffix(" + exp()")
        return equation + " + gamma log(vocabulary)" * spec.vocabulary

    @property
    def dimension(self):
        """Return the number of coordinates."""
        return sum(self.blocks.values())

    def with_options(self, **options):
        """Return the same law with other options."""
        return replace(self, **options)

    def density(self, rows, reference):
        """Return the `Density`; laws that differ by priors, definitions of the data or a cutoff are of one program."""
        arrays = self.design_arrays(rows, reference)
        blocks = (Units("z", ("z_dim",), np.zeros(self.dimension)),)
        code = {name: value for name, value in self.options.items() if name not in OF_DATA}
        key = type(self), json.dumps(code, sort_keys=True)
        return Density(blocks, self._rest, arrays, {name: design.axes(name) for name in arrays}, key)

    def log_prior(self, z, c, d):
        """Return the log prior density of coordinates z, (...), given their `density.coefficients`."""
        return (density.log_prior if self.penalty is None else density.penalised_log_prior)(self, z, c, d)

    def _rest(self, values, data):
        """Return the log density of the coordinates z, and of the rows or papers."""
        c = density.coefficients(self, values["z"], data)
        rule = density.paper_log_likelihood if self.paper_effects else density.log_likelihood
        return {"z": self.log_prior(values["z"], c, data), self.scale: rule(self, c, data)}

    # Draws -----------------------------------------------------------------------------------------------------------

    def draws(self, sampled, rows, reference):
        """Return the `ProgressDraws` of a Dataset that holds ``z``."""
        return ProgressDraws(self, reference, rows, sampled["z"].values)

    def _draw_units(self, values, rows, reference, rng):
        """Draw the coordinates z, a list of one array."""
        return [rng.standard_normal(self.dimension)]

    def prior_draws(self, rng, reference, rows, draws=1, truth=None):
        """Return the draws of the prior, dims (chain, draw) with one chain."""
        self._refuse_truth(truth)
        return ProgressDraws(self, reference, rows, rng.standard_normal((1, draws, self.dimension)))

"""The law of algorithmic progress as something to fit: a specification, its variant, its priors and its PyMC model."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import ClassVar

import numpy as np

from ..datasets import require
from ..datasets.wording import unknown
from ..errors import InputError
from . import progress
from .specifications import BENCHMARKS, SPECIFICATIONS, Column, Specification

VOCABULARY = {"ptb": 10_000, "wt2": 33_278, "wt103": 268_000}
DIMINISHING = 2.9157
REPEATED = 15.39
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
}


@dataclass(frozen=True)
class Judged:
    """A quantity whose prior can be judged: its location and spread on the sampled scale, and why."""

    location: float
    spread: float
    form: str
    rationale: str


JUDGED = {
    "loss_centre": Judged(
        1.3, 0.3, "LogNormal", "Loss at the centre of a benchmark's rows: 2.0 to 6.6 nats, perplexity 8 to 730."
    ),
    "share": Judged(
        0.0,
        0.5,
        "LogitNormal",
        "Share of the parameter term there: common mean of sd 1.5 (5% to 95%), benchmarks within sd 0.5 of it.",
    ),
    "elasticity_parameters": Judged(
        -3.0,
        1.0,
        "LogNormal",
        "Fall of log loss per e-fold of parameters: 0.7% to 35%, so tenfold lowers the loss by 2% to 55%.",
    ),
    "elasticity_data": Judged(-3.0, 1.0, "LogNormal", "The same for data."),
    "yearly_total": Judged(
        0.0,
        0.05,
        "Normal",
        "Yearly fall of log loss at fixed size, through both terms: -10% to 10%, no sign preferred.",
    ),
    "yearly_split": Judged(
        0.0, 0.1, "Normal", "Difference of the two terms' yearly falls: either term may carry the progress."
    ),
    "irreducible_share": Judged(-1.0, 1.5, "LogitNormal", "Share of the loss that no size removes: 2% to 87%."),
    "vocabulary": Judged(0.0, 0.1, "Normal", "Nats of loss per e-fold of vocabulary."),
    "transformer": Judged(
        0.0, 0.3, "Normal", "Log factor of a transformer on the reducible loss (or the log-odds of the factor, sd 3)."
    ),
    "sigma": Judged(
        -1.6, 0.7, "LogNormal", "Scatter about the law: 0.05 to 0.8 nats (or a quarter of that on log loss)."
    ),
    "nu_minus_one": Judged(2.3, 1.0, "LogNormal", "Degrees of freedom above 1: from nearly Cauchy to nearly normal."),
    "paper_sd": Judged(-1.9, 0.8, "LogNormal", "Scatter between papers: 0.03 to 0.7 nats."),
    "pooled_sd": Judged(
        -1.6, 0.8, "LogNormal", "Scatter of benchmarks about their common mean, where it is estimated."
    ),
}
SHARE_MEAN_SD = 1.5


def judged_prior(name, prior):
    """Location and spread of a prior: a pair, or text such as ``"LogNormal(-3, 1)"`` of the quantity's own form.

    Raises
    ------
    InputError
        If the text cannot be read, is of another form, or the spread is not positive.
    """
    form = JUDGED[name].form
    mend = f"write {form}({JUDGED[name].location:g}, {JUDGED[name].spread:g}) or another location and spread"
    if isinstance(prior, str):
        found = re.fullmatch(r"(\w+)\(\s*(?:mu\s*=\s*)?([^,=]+),\s*(?:sigma\s*=\s*)?([^,=]+)\)", prior.strip())
        if not found or found[1] != form:
            raise InputError(f"prior {name}={prior!r}: {name} has a {form} prior; {mend}")
        prior = found[2], found[3]
    try:
        location, spread = (float(x) for x in prior)
    except (TypeError, ValueError):
        raise InputError(f"prior {name}={prior!r} cannot be read; {mend}") from None
    if not (np.isfinite(location) and 0 < spread < np.inf):
        raise InputError(f"prior {name}=({location:g}, {spread:g}): the spread must be positive; {mend}")
    return location, spread


@dataclass(frozen=True)
class Progress:
    """Algorithmic progress in language models (Ho et al. 2024).

    Parameters
    ----------
    specification : int or Specification
        1 to 20 of table 10, or one's own.
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
    data : {None, "dataset", "tokens_seen", "diminishing", "repeated"}
        What D is; None as the specification says. ``tokens_seen`` is D x epochs, ``diminishing`` the paper's
        ``D (1 + R (1 - exp(-epochs/R)))``, ``repeated`` that of Muennighoff et al. (2023).
    unknown_epochs, unknown_vocabulary : str
        ``"one"`` or ``"drop"``; ``"impute"`` (10,000 ptb, 33,278 wt2, 268,000 wt103) or ``"drop"``.
    paper_effects : bool
        A Gaussian random intercept for each paper, integrated out; normal noise only.
    pooling : bool
        Estimate how much benchmarks differ (loss centres, shares, year slopes) instead of a fixed prior sd.
    architectures : {"all", "other"}
        All rows, or non-transformers only.
    penalty : float, optional
        The paper's delta: its L1 penalty as a Laplace prior of the coefficients, in place of the default priors.
    priors : mapping of str to (float, float)
        Location and spread of judged quantities, see `JUDGED`.

    Raises
    ------
    InputError
        If an option is unknown or options exclude each other.
    """

    specification: int | Specification = 7
    noise: str = "normal"
    scale: str = "loss"
    transformer: str | None = None
    irreducible: bool = False
    cutoff: float | None = None
    cutoff_form: str = "hinge"
    data: str | None = None
    unknown_epochs: str = "one"
    unknown_vocabulary: str = "impute"
    paper_effects: bool = False
    pooling: bool = False
    architectures: str = "all"
    penalty: float | None = None
    priors: Mapping = field(default_factory=dict)

    columns: ClassVar[tuple] = ("parameters", "dataset_tokens", "year", "benchmark", "transformer", "perplexity")

    def __post_init__(self):
        if isinstance(self.specification, Mapping):
            object.__setattr__(self, "specification", Specification(**self.specification))
        if not isinstance(self.specification, Specification) and self.specification not in SPECIFICATIONS:
            raise InputError(unknown("specification", self.specification, SPECIFICATIONS))
        for option, choices in OPTIONS.items():
            if getattr(self, option) not in choices:
                raise InputError(unknown(option, getattr(self, option), choices))
        for name in ("irreducible", "paper_effects", "pooling"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be true or false, not {getattr(self, name)!r}")
        for name in ("cutoff", "penalty"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
                raise InputError(f"{name} must be a number, not {value!r}")
        for name in self.priors:
            if name not in JUDGED:
                raise InputError(unknown("prior on", name, JUDGED))
        object.__setattr__(self, "priors", {name: judged_prior(name, prior) for name, prior in self.priors.items()})
        if self.paper_effects and self.noise != "normal":
            raise InputError("paper_effects are integrated out under normal noise only; set noise='normal'")
        if self.penalty is not None and not 0 < self.penalty < np.inf:
            raise InputError(
                f"penalty {self.penalty!r}: a Laplace prior needs a positive delta; at 0 the prior is flat and improper"
            )
        if self.cutoff is not None and not self._timed:
            raise InputError("cutoff: this specification has no year slope that could change")

    # The specification -----------------------------------------------------------------------------------------------

    @property
    def name(self):
        """``progress-7``, or ``progress`` for a specification of one's own."""
        return f"progress-{self.specification}" if isinstance(self.specification, int) else "progress"

    @property
    def spec(self):
        """The `Specification`."""
        return SPECIFICATIONS[self.specification] if isinstance(self.specification, int) else self.specification

    @property
    def _timed(self):
        return any(c.factors == ("y",) for c in (*self.spec.columns_parameters, *self.spec.columns_data))

    @property
    def predictors(self):
        """Columns of eta_N and eta_D, the change of slope at the cutoff included."""
        extra = {"hinge": "hinge", "jump": "after"}[self.cutoff_form]

        def with_cutoff(columns):
            added = [Column((extra,), c.benchmark, c.architecture) for c in columns if c.factors == ("y",)]
            return (*columns, *(added if self.cutoff is not None else ()))

        return with_cutoff(self.spec.columns_parameters), with_cutoff(self.spec.columns_data)

    @property
    def data_definition(self):
        """What D is."""
        return self.data or ("diminishing" if self.spec.diminishing else "dataset")

    @property
    def slots(self):
        """Size columns of each predictor, and drifts as {key: (column of eta_N or None, of eta_D or None)}."""
        sizes = [[c for c in p if c.kind == "size"] for p in self.predictors]
        drifts = {}
        for side, predictor in enumerate(self.predictors):
            for column in predictor:
                if column.kind in ("year", "rate"):
                    timed = tuple(f for f in column.factors if f not in ("n", "d", "c"))
                    drifts.setdefault((timed, column.kind, column.benchmark, column.architecture), [None, None])[
                        side
                    ] = column
        if max(len(sizes[0]), len(sizes[1])) > progress.SIZES or len(drifts) > progress.DRIFTS:
            raise InputError(
                f"specification {self.spec.parameters!r}, {self.spec.data!r}: at most {progress.SIZES} size columns "
                f"in a predictor and {progress.DRIFTS} columns with a date can be fitted"
            )
        return sizes[0], sizes[1], drifts

    @property
    def levels(self):
        """Levels of the intercepts: the benchmarks, or ("all",)."""
        intercepts = [c for c in self.predictors[0] if c.kind == "intercept"]
        return BENCHMARKS if intercepts[0].benchmark else ("all",)

    # The table -------------------------------------------------------------------------------------------------------

    def rows(self, table):
        """Return the rows of a table that this law is fitted to.

        Raises
        ------
        InputError
            If a column that the law needs is missing.
        """
        needed = [*self.columns]
        needed += ["epochs"] if self.data_definition != "dataset" else []
        needed += ["vocabulary"] if self.spec.vocabulary or self.unknown_vocabulary == "drop" else []
        require(table, needed, purpose=f"{self.name}")
        kept = table
        if self.architectures == "other":
            kept = kept[kept["transformer"] == 0]
        if self.data_definition != "dataset" and self.unknown_epochs == "drop":
            kept = kept[kept["epochs"].notna()]
        if self.unknown_vocabulary == "drop":
            kept = kept[kept["vocabulary"].notna()]
        kept = kept.reset_index(drop=True)
        kept.attrs = dict(table.attrs)
        return kept

    def tokens(self, table):
        """D by the law's definition, (row,)."""
        tokens = table["dataset_tokens"].to_numpy(float)
        if self.data_definition == "dataset":
            return tokens
        epochs = table["epochs"].fillna(1).to_numpy(float)
        if self.data_definition == "tokens_seen":
            return tokens * epochs
        if self.data_definition == "diminishing":
            return tokens * (1 + DIMINISHING * (1 - np.exp(-epochs / DIMINISHING)))
        return tokens * (1 + REPEATED * (1 - np.exp(-(epochs - 1) / REPEATED)))

    def origin(self, table):
        """N0, D0 and Y0, the least values of the fitted table, and the year at which exponents are reported."""
        rows = self.rows(table)
        year = rows["year"].to_numpy(float)
        return {
            "N0": float(rows["parameters"].min()),
            "D0": float(self.tokens(rows).min()),
            "Y0": float(year.min()),
            "Yc": float(np.exp(np.log(year).mean())),
        }

    def points(self, origin, *, parameters, tokens, year, benchmark, transformer):
        """Values of all factors at sizes, dates, benchmarks and architectures of one shape; derivatives by date."""
        n, d = np.log(np.asarray(parameters, float) / origin["N0"]), np.log(np.asarray(tokens, float) / origin["D0"])
        year = np.asarray(year, float) + np.zeros_like(n)
        late = (year >= (np.inf if self.cutoff is None else self.cutoff)).astype(float)
        return {
            "n": n,
            "d": d,
            "c": n + d,
            "y": year - origin["Y0"],
            "log(Y)": (np.log(year) - np.log(origin["Yc"])) * origin["Yc"],
            "after": late * (year - origin["Y0"]),
            "hinge": late * (year - (self.cutoff or 0)),
            "d y": np.ones_like(n),
            "d log(Y)": origin["Yc"] / year,
            "d after": late,
            "d hinge": late,
            "benchmark": np.broadcast_to(np.asarray(benchmark, object), n.shape),
            "architecture": np.where(np.asarray(transformer, bool), "transformer", "other"),
        }

    def points_of(self, rows, origin):
        """`points` at the rows of a table."""
        return self.points(
            origin,
            parameters=rows["parameters"].to_numpy(float),
            tokens=self.tokens(rows),
            year=rows["year"].to_numpy(float),
            benchmark=rows["benchmark"].to_numpy(object),
            transformer=rows["transformer"].to_numpy(),
        )

    # The design ------------------------------------------------------------------------------------------------------

    def reference(self, table):
        """Say what coordinates refer to, fixed in every refit: the origin, and each column's mean within each level."""
        rows = self.rows(table)
        origin = self.origin(table)
        points = self.points_of(rows, origin)
        level = self._level(rows)
        weights = level / level.sum(0, keepdims=True).clip(min=1)
        sizes_n, sizes_d, drifts = self.slots
        scale = [self._rate_scales(points, side) for side in (0, 1)]
        means = {}
        for name, columns in (("sizes_parameters", sizes_n), ("sizes_data", sizes_d)):
            means[name] = [[float(x) for x in weights.T @ c.values(points)] for c in columns]
        for side, name in enumerate(("drifts_parameters", "drifts_data")):
            means[name] = [
                [float(x) / s for x in weights.T @ c[side].values(points)] if c[side] else [0.0] * progress.LEVELS
                for c, s in zip(drifts.values(), scale[side], strict=True)
            ]
        vocabulary = weights.T @ self._log_vocabulary(rows)
        counts = level.sum(0)
        return origin | {
            "means": means,
            "rate_scales": scale,
            "log_vocabulary": [float(x) for x in vocabulary],
            "level_shares": [float(x) for x in counts / counts.sum()],
        }

    def _rate_scales(self, points, side):
        """Mean size that divides a rate column, its drift then a yearly change at the centre; 1 for other drifts."""
        size = ("n", "d")[side]
        drifts = self.slots[2]
        return [
            float(points[size].mean()) if kind == "rate" and d[side] else 1.0 for (_, kind, _, _), d in drifts.items()
        ]

    def _level(self, rows):
        level = np.zeros((len(rows), progress.LEVELS))
        for i, name in enumerate(self.levels):
            level[:, i] = 1.0 if name == "all" else rows["benchmark"].to_numpy(object) == name
        return level

    def _log_vocabulary(self, rows):
        if not self.spec.vocabulary:
            return np.zeros(len(rows))
        return np.log(rows["vocabulary"].fillna(rows["benchmark"].map(VOCABULARY)).to_numpy(float))

    def design(self, table, reference):
        """Return the arrays of `progress.DESIGN` for a table.

        Parameters
        ----------
        table : DataFrame
        reference : dict
            From `reference`, usually of the whole table.

        Returns
        -------
        dict of str to ndarray
        """
        rows = self.rows(table)
        points = self.points_of(rows, reference)
        level = self._level(rows)
        sizes_n, sizes_d, drifts = self.slots
        d = {name: np.zeros((len(rows), width)) for name, width in _ROW_WIDTHS.items()}
        d |= {"centre_" + name: np.zeros((progress.LEVELS, width)) for name, width in _ROW_WIDTHS.items()}
        columns = {
            "sizes_parameters": [(c, 1.0) for c in sizes_n],
            "sizes_data": [(c, 1.0) for c in sizes_d],
            "drifts_parameters": [(c[0], s) for c, s in zip(drifts.values(), reference["rate_scales"][0], strict=True)],
            "drifts_data": [(c[1], s) for c, s in zip(drifts.values(), reference["rate_scales"][1], strict=True)],
        }
        for name, listed in columns.items():
            for j, (column, scale) in enumerate(listed):
                if column is None:
                    continue
                centre = np.asarray(reference["means"][name][j])
                d["centre_" + name][:, j] = centre
                d[name][:, j] = column.values(points) / scale - level @ centre
        used = np.zeros(progress.LEVELS)
        used[: len(self.levels)] = 1.0
        papers = rows["paper_id"].to_numpy() if "paper_id" in rows else np.arange(len(rows))
        penalised = self.active(sampled_only=True)
        location, spread = self._priors()
        loss = np.log(rows["perplexity"].to_numpy(float))
        switches = {
            "two_terms": bool(self.predictors[1]),
            "use_vocabulary": self.spec.vocabulary,
            "use_irreducible": self.irreducible,
            "factor_sigmoid": self.transformer == "sigmoid",
            "factor_exp": self.transformer == "exp",
            "on_log": self.scale == "log_loss",
            "student_t": self.noise == "student_t",
            "use_papers": self.paper_effects,
            "pooling": self.pooling,
            "penalty": self.penalty or 0.0,
        }
        d |= self._drift_roles(reference)
        d |= {
            "observed": np.log(loss) if self.scale == "log_loss" else loss,
            "level": level,
            "weights_parameters": self._weights(sizes_n, progress.SIZES, reference),
            "weights_data": self._weights(sizes_d, progress.SIZES, reference),
            "weights_drifts": self._weights([c[0] or c[1] for c in drifts.values()], progress.DRIFTS, reference),
            "levels": used,
            "log_vocabulary": self._log_vocabulary(rows),
            "log_vocabulary_centre": np.asarray(reference["log_vocabulary"]),
            "transformer": rows["transformer"].to_numpy(float),
            "paper": (papers == np.unique(papers)[:, None]).astype(float),
            "intercepts": _OFFSETS if len(self.levels) > 1 else np.eye(progress.LEVELS),
            "penalised": penalised.astype(float),
            "location": location,
            "spread": spread,
            "between": self._between(spread),
        }
        d |= {name: np.asarray(float(x)) for name, x in switches.items()}
        return {name: np.asarray(d[name], float) for name in progress.DESIGN}

    def _weights(self, columns, slots, reference):
        weights = np.zeros((slots, progress.LEVELS))
        for j, column in enumerate(columns):
            if column.benchmark and len(self.levels) > 1:
                weights[j, BENCHMARKS.index(column.benchmark)] = 1.0
            else:
                weights[j] = reference["level_shares"]
        return weights

    def _drift_roles(self, reference):
        roles = {
            name: np.zeros(progress.DRIFTS)
            for name in ("both", "only_parameters", "only_data", "shared", "by_benchmark")
        }
        coded = _coding(list(self.slots[2]), progress.DRIFTS)
        roles |= {"coded_drifts_parameters": coded, "coded_drifts_data": coded.copy()}
        for side, name in enumerate(("parameters", "data")):
            keys = [(c.factors, c.kind, c.benchmark, c.architecture) for c in self.slots[side]]
            roles[f"coded_sizes_{name}"] = _coding(keys, progress.SIZES)
        roles |= {
            name: np.zeros((progress.SIZES, progress.DRIFTS)) for name in ("uncentred_parameters", "uncentred_data")
        }
        year = reference["Yc"]
        for j, ((timed, kind, benchmark, architecture), (in_n, in_d)) in enumerate(self.slots[2].items()):
            role = (
                "only_data"
                if in_n is None
                else "only_parameters"
                if in_d is None
                else "shared"
                if self.spec.shared_year
                else "both"
            )
            roles[role][j] = 1.0
            roles["by_benchmark"][j] = float(benchmark is not None)
            for side, name in enumerate(("parameters", "data")):
                if kind == "rate" and (in_n, in_d)[side] is not None:
                    centred = timed == ("log(Y)",)
                    factor = (year if centred else 1.0) / reference["rate_scales"][side][j]
                    roles[f"coded_drifts_{name}"][:, j] *= factor
                    for i, size in enumerate(self.slots[side]):
                        if centred and (size.benchmark, size.architecture) == (benchmark, architecture):
                            roles[f"uncentred_{name}"][i, j] = factor * np.log(year)
        return roles

    def _priors(self):
        location, spread = np.zeros(progress.DIMENSION), np.ones(progress.DIMENSION)
        for name, s in progress.SLICES.items():
            location[s], spread[s] = self.priors.get(name, self._default_prior(name))
        return location, spread

    def _between(self, spread):
        pooled = [spread[progress.SLICES[name]][0] * self.pooling for name in ("loss_centre", "yearly_total")]
        return np.array([pooled[0], SHARE_MEAN_SD, pooled[1]])

    def _default_prior(self, name):
        judged = JUDGED[name]
        if name == "transformer" and self.transformer == "sigmoid":
            return 0.0, 3.0
        if name == "sigma" and self.scale == "log_loss":
            return judged.location - np.log(4), judged.spread
        return judged.location, judged.spread

    def active(self, *, sampled_only=False):
        """Which coordinates of z stand for something in this law, (z,) of bool.

        With `sampled_only`, only those that stand for coefficients which the paper's penalty covers.
        """
        active = np.zeros(progress.DIMENSION, bool)
        sizes_n, sizes_d, drifts = self.slots

        def use(name, count):
            active[progress.SLICES[name]] = np.arange(progress.BLOCKS[name]) < count

        use("loss_centre", len(self.levels))
        use("share", len(self.levels) if self.predictors[1] else 0)
        use("elasticity_parameters", len(sizes_n))
        use("elasticity_data", len(sizes_d))
        use("yearly_total", len(drifts))
        split = [in_n is not None and in_d is not None and not self.spec.shared_year for in_n, in_d in drifts.values()]
        active[progress.SLICES["yearly_split"]] = [*split, *([False] * (progress.DRIFTS - len(split)))]
        use("vocabulary", self.spec.vocabulary)
        use("transformer", self.transformer is not None)
        if sampled_only:
            return active
        use("irreducible_share", len(self.levels) if self.irreducible else 0)
        use("sigma", 1)
        use("nu_minus_one", self.noise == "student_t")
        use("paper_sd", self.paper_effects)
        if self.pooling:
            by_benchmark = [benchmark is not None for (_, _, benchmark, _) in drifts]
            active[progress.SLICES["pooled_sd"]] = [True, bool(self.predictors[1]), any(by_benchmark)]
        return active

    @property
    def coordinates(self):
        """Names of the active coordinates."""
        names = [f"{name}[{i}]" for name, width in progress.BLOCKS.items() for i in range(width)]
        return [name for name, active in zip(names, self.active(), strict=True) if active]

    @property
    def options(self):
        """What rebuilds this law."""
        spec = self.specification if isinstance(self.specification, int) else asdict(self.specification)
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "specification"}
        return {"specification": spec} | values | {"priors": {k: list(v) for k, v in self.priors.items()}}

    def check(self, rows):
        """Refuse rows that cannot inform this law.

        Raises
        ------
        InputError
            If there are too few, or a benchmark of the specification has none.
        """
        place = rows.attrs.get("source", "the table")
        needed = int(self.active().sum())
        if len(rows) < needed:
            raise InputError(
                f"{place}: {len(rows)} rows are fewer than the {needed} sampled quantities of {self.name}; add "
                "evaluations"
            )
        for level in self.levels:
            if level != "all" and not (rows["benchmark"] == level).any():
                raise InputError(
                    f"{place}: column 'benchmark' has no row of {level!r}, which {self.name} has an intercept for"
                )

    def described_priors(self):
        """Prior of each judged quantity that is sampled, in words."""
        active = self.active()
        location, spread = self._priors()
        return {
            name: f"{JUDGED[name].form}({location[s][0]:.4g}, {spread[s][0]:.4g})"
            for name, s in progress.SLICES.items()
            if active[s].any()
        }

    def with_options(self, **options):
        """Return the same law with other options."""
        return replace(self, **options)

    @property
    def features(self):
        """Switches that are on beyond what the 20 specifications need; each set of them is a graph of its own."""
        used = {
            "use_irreducible": self.irreducible,
            "factor_sigmoid": self.transformer == "sigmoid",
            "factor_exp": self.transformer == "exp",
            "on_log": self.scale == "log_loss",
            "student_t": self.noise == "student_t",
            "use_papers": self.paper_effects,
            "pooling": self.pooling,
            "penalty": self.penalty is not None,
        }
        return tuple(name for name, on in used.items() if on)

    def model(self, table, reference=None, *, features=None):
        """Return the PyMC model of the family, switched to this law by its data.

        Parameters
        ----------
        table : DataFrame
        reference : dict, optional
        features : sequence of str, optional
            Switches of `OPTIONAL` that are data in the graph, at least those that this law needs (the default). Laws
            whose features are among them share one compilation.
        """
        import pymc as pm

        features = self.features if features is None else features
        arrays = self.design(table, reference or self.reference(table))
        with pm.Model() as model:
            d = {
                name: float(array)
                if name in OPTIONAL and name not in features
                else pm.Data(name, array, shape=_static_shape(name, array))
                for name, array in arrays.items()
            }
            z = pm.Flat("z", shape=progress.DIMENSION)
            c = progress.coefficients(z, d)
            pm.Potential("log_prior", progress.log_prior(z, c, d))
            pm.Potential("log_likelihood", progress.total_log_likelihood(c, d))
        return model


OPTIONAL = (
    "use_irreducible",
    "factor_sigmoid",
    "factor_exp",
    "on_log",
    "student_t",
    "use_papers",
    "pooling",
    "penalty",
)


def _coding(keys, slots):
    """Slopes by benchmark as the paper codes them: that of the first benchmark, and the others' offsets from it."""
    coded = np.eye(slots)
    for j, (factors, kind, benchmark, architecture) in enumerate(keys):
        if benchmark not in (None, BENCHMARKS[0]):
            coded[j, keys.index((factors, kind, BENCHMARKS[0], architecture))] = -1.0
    return coded


def _static_shape(name, array):
    """Shape of an array in the compiled graph: only numbers of rows and papers may change."""
    axes = progress.DESIGN[name].split(")")[0].strip("(").replace(" ", "").split(",")
    return tuple(None if axis in ("row", "paper") else length for axis, length in zip(axes, array.shape, strict=False))


_ROW_WIDTHS = {
    "sizes_parameters": progress.SIZES,
    "sizes_data": progress.SIZES,
    "drifts_parameters": progress.DRIFTS,
    "drifts_data": progress.DRIFTS,
}
_OFFSETS = np.array([[1.0, 0, 0], [-1, 1, 0], [-1, 0, 1]])

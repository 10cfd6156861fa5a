"""Fit the family of algorithmic-progress laws: one compilation serves every specification, table and refit."""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets import load
from ...models.progress import family
from ...models.progress.design import OPTIONAL
from ...models.progress.law import Progress
from ...models.progress.specifications import ARCHITECTURES, BENCHMARKS, SPECIFICATIONS
from .. import diagnostics
from ..storage import law_of, metadata, with_metadata
from .fit import check_options, document, settings_of
from .samplers import Compiled, choose

TARGET_ACCEPT = 0.95
CAREFUL = 0.99
LEAST_ESS = 1000
LONGEST = 16
PRIOR_DRIVEN = 0.8


class ProgressFitter:
    """The compiled family, to fit any of its laws to any rows.

    Parameters
    ----------
    table : DataFrame
        Evaluations; the table that coordinates refer to, in every refit.
    sampler : {"nutpie", "numpyro", "pymc"}, optional
        nutpie alone keeps its compiled program from one fit to the next.
    features : sequence of str, optional
        Switches of the graph that serves variants: all of them by default, so that one compilation serves every
        variant; a graph with no more than one law needs compiles and samples in about half the time.
    """

    def __init__(self, table, *, sampler=None, features=OPTIONAL):
        self.table = table
        self.sampler = choose(sampler)
        self.features = features
        self._compiled = {}

    def compiled(self, law):
        """Return the compiled graph that serves `law`: plain for the specifications, with switches for variants."""
        features = self.features if law.features else ()
        if features not in self._compiled:
            self._compiled[features] = Compiled(law.model(self.table, features=features), self.sampler)
        return self._compiled[features]

    def sample(self, law, rows, reference, settings, seed, *, progress=False):
        """Draws of z for some rows: (posterior Dataset, sample_stats, seconds)."""
        arrays = law.design(rows, reference)
        return self.compiled(law).sample(settings, seed, arrays, progress)

    def fit(self, law, *, rows=None, seed=1, progress=False, least_ess=LEAST_ESS, **settings):
        """Fit one law.

        Parameters
        ----------
        law : Progress
        rows : DataFrame, optional
            Rows to fit, by default the whole table; coordinates still refer to the whole table.
        seed : int
        progress : bool
        least_ess : int
            Where the least bulk ESS of a coefficient is lower, or chains disagree, they are run 4 and then 16 times as
            long and thinned to the draws asked for; 0 for never. After a divergence the chains are run once more with
            a target acceptance of 0.99.
        **settings
            As for `fit`.

        Returns
        -------
        DataTree
            ``posterior`` (named coefficients, dims benchmark or architecture where they differ),
            ``unconstrained_posterior`` (z), ``sample_stats``, ``log_likelihood``, ``observed_data`` and
            ``constant_data`` (evaluation).
        """
        check_options(seed, self.sampler, settings)
        settings = settings_of({"target_accept": TARGET_ACCEPT} | settings)
        rows = law.rows(self.table if rows is None else rows)
        law.check(rows)
        reference = law.reference(self.table)
        thin, careful = 1, False
        while True:
            sampled, stats, seconds = self.sample(law, rows, reference, settings.longer(thin), seed, progress=progress)
            z = sampled["z"].values[:, ::thin]
            stats = stats.isel(draw=slice(None, None, thin)).assign(diverging=_diverged(stats["diverging"], thin))
            stats = stats.assign_coords(draw=np.arange(z.shape[1]))
            state = State(law, reference, rows, z)
            verdict = diagnostics.judge(state.named(), stats)
            if verdict["divergences"] and not careful:
                careful, settings = True, replace(settings, target_accept=max(CAREFUL, settings.target_accept))
            elif least_ess and thin < LONGEST and _too_short(verdict, least_ess, settings.chains):
                thin *= 4
            else:
                break
        said = document(
            law=law, reference=reference, priors=law.described_priors(), table=rows, seed=seed, sampler=self.sampler,
            settings=settings, seconds={"compile": self.compiled(law).seconds, "sample": seconds}, verdict=verdict |
            {"thinned_by": thin},
        )  # fmt: skip
        diagnostics.warn(law, verdict)
        return with_metadata(state.tree(stats), said)


def _too_short(verdict, least_ess, chains):
    unmixed = verdict["r_hat_max"] is not None and verdict["r_hat_max"] > diagnostics.R_HAT_LIMIT
    tail = verdict["ess_tail_min"] < diagnostics.ESS_PER_CHAIN * chains
    return unmixed or tail or verdict["ess_bulk_min"] < least_ess


def _diverged(diverging, thin):
    """Whether any of the iterations that one kept draw stands for diverged."""
    return diverging.coarsen(draw=thin).max().astype(bool) if thin > 1 else diverging


class State:
    """Draws of z under a law: its coefficients, means and log likelihoods.

    Parameters
    ----------
    law : Progress
    reference : dict
        From `Progress.reference`.
    rows : DataFrame
        Rows that were fitted.
    z : ndarray, shape (chain, draw, z)
    """

    def __init__(self, law, reference, rows, z):
        self.law, self.reference, self.rows, self.z = law, reference, rows, z
        self.design = law.design(rows, reference)
        self.c = family.coefficients(z, self.design)

    @classmethod
    def of(cls, fit):
        """State of a stored fit."""
        law = law_of(fit)
        active = fit["unconstrained_posterior"]["z"]
        z = np.zeros((active.sizes["chain"], active.sizes["draw"], family.DIMENSION))
        z[..., law.active()] = active.values
        return cls(law, metadata(fit)["law"]["reference"], evaluations_of(fit), z)

    def log_likelihood(self):
        """Log density of each row, (chain, draw, row), given its paper's other rows under paper effects."""
        rule = family.conditional_log_likelihood if self.law.paper_effects else family.log_likelihood
        return rule(self.c, self.design)

    def log_density(self):
        """Log posterior density of z up to a constant, (chain, draw)."""
        rule = family.paper_log_likelihood if self.law.paper_effects else family.log_likelihood
        return family.log_prior(self.z, self.c, self.design) + rule(self.c, self.design).sum(-1)

    def paper_log_likelihood(self):
        """Log density of each paper's rows together, (chain, draw, paper), papers in order of their ids."""
        if self.law.paper_effects:
            return family.paper_log_likelihood(self.c, self.design)
        return self.log_likelihood() @ self.design["paper"].T

    def predicted(self):
        """Mean loss of the fitted rows, (chain, draw, row), in nats."""
        return family.mean(self.c, self.design)

    def mean(self, table):
        """Mean loss at the rows of another table, (chain, draw, row)."""
        return family.mean(self.c, self.law.design(table, self.reference))

    def named(self):
        """Dataset of named coefficients."""
        return xr.Dataset(
            named_coefficients(self.law, self.reference, self.c, self.design), coords=_coordinates(self.z)
        )

    def tree(self, sample_stats):
        """Return the groups of a fit."""
        run = {"evaluation": np.arange(len(self.rows))}
        scale = self.law.scale
        draws = ("chain", "draw")
        coordinates = _coordinates(self.z)
        z = xr.DataArray(
            self.z[..., self.law.active()],
            dims=(*draws, "coordinate"),
            coords=coordinates | {"coordinate": self.law.coordinates},
        )
        log_likelihood = xr.DataArray(self.log_likelihood(), dims=(*draws, "evaluation"), coords=coordinates | run)
        return xr.DataTree.from_dict(
            {
                "posterior": self.named(),
                "unconstrained_posterior": z.to_dataset(name="z"),
                "sample_stats": sample_stats,
                "log_likelihood": log_likelihood.to_dataset(name=scale),
                "observed_data": xr.Dataset({scale: ("evaluation", self.design["observed"])}, run),
                "constant_data": _constant_data(self.rows, run),
            }
        )


STORED = (
    "system",
    "paper_id",
    "benchmark",
    "year",
    "parameters",
    "dataset_tokens",
    "epochs",
    "vocabulary",
    "transformer",
    "perplexity",
)


def _constant_data(rows, coordinates):
    kept = {name: rows[name] for name in STORED if name in rows}
    return xr.Dataset(
        {
            name: ("evaluation", x.astype(str).to_numpy(object) if x.dtype.kind not in "iufb" else x.to_numpy())
            for name, x in kept.items()
        },
        coordinates,
    )


def evaluations_of(fit):
    """Table of evaluations that a fit saw."""
    frame = fit["constant_data"].to_dataset().to_dataframe().reset_index(drop=True)
    frame.attrs["source"] = metadata(fit)["data"]["source"]
    return frame


def _coordinates(z):
    return {"chain": np.arange(z.shape[0]), "draw": np.arange(z.shape[1])}


def _by_label(columns, values, which):
    """One variable from slots: scalar, by benchmark, by architecture, or by a mixed level."""
    labels = [column.label for column in columns]
    chosen = values[..., which]
    if labels == ["all"]:
        return ("chain", "draw"), chosen[..., 0]
    dimension = {BENCHMARKS: "benchmark", ARCHITECTURES: "architecture"}.get(tuple(labels), "level")
    return ("chain", "draw", dimension), chosen, labels


NAMES = {"y": "year", "after": "year_change", "hinge": "year_change"}


def named_coefficients(law, reference, c, d):
    """Coefficients by name, as DataArrays of dims (chain, draw, [benchmark | architecture | level]).

    ``alpha_`` and ``beta_`` stand for the terms of parameters and of data: ``const``, ``year`` (yearly fall),
    ``year_change`` (its change at the cutoff), ``param`` or ``data`` (the exponent, at the year ``Yc`` of the reference
    where it changes), ``param_rate`` or ``data_rate`` (its yearly change there), ``compute`` (specification 18);
    ``shared_year`` where one coefficient serves both.
    """
    out = {}

    def put(name, found):
        dims, values, *labels = found
        coords = {dims[-1]: labels[0]} if labels else {}
        out[name] = xr.DataArray(values, dims=dims, coords=coords)

    by_level = len(law.levels) > 1
    plain = d | {"intercepts": np.eye(family.LEVELS)}
    raw = family.raw(c, plain)

    def put_levels(name, values):
        kept = values[..., : len(law.levels)]
        put(
            name,
            (("chain", "draw", "benchmark"), kept, list(law.levels)) if by_level else (("chain", "draw"), kept[..., 0]),
        )

    sizes_n, sizes_d, drifts = law.slots
    put_levels("alpha_const", raw["const_parameters"])
    size = "compute" if sizes_n[0].factors == ("c",) else "param"
    put(f"alpha_{size}", _by_label(sizes_n, c["alpha"], list(range(len(sizes_n)))))
    sides = [("alpha", size, "drift_parameters", 0)]
    if sizes_d:
        put_levels("beta_const", raw["const_data"])
        put("beta_data", _by_label(sizes_d, c["beta"], list(range(len(sizes_d)))))
        sides.append(("beta", "data", "drift_data", 1))
    for prefix, sized, key, side in sides:
        groups = {}
        for j, ((timed, kind, _, _), columns) in enumerate(drifts.items()):
            if columns[side] is not None:
                groups.setdefault((timed[0], kind), []).append(j)
        for (factor, kind), which in groups.items():
            columns = [list(drifts.values())[j][side] for j in which]
            scales = np.asarray([reference["rate_scales"][side][j] for j in which])
            shared = law.spec.shared_year and kind == "year"
            if shared and side == 1:
                continue
            name = (
                f"{prefix}_{sized}_rate"
                if kind == "rate"
                else "shared_" + NAMES[factor]
                if shared
                else f"{prefix}_{NAMES[factor]}"
            )
            dims, values, *labels = _by_label(columns, c[key], which)
            put(name, (dims, values / (scales if labels else scales[0]), *labels))
    if law.spec.vocabulary:
        put("gamma_vocabulary", (("chain", "draw"), c["vocabulary"][..., 0]))
    if law.transformer:
        put("gamma_transformer", (("chain", "draw"), c["gamma_transformer"][..., 0]))
        put("transformer_factor", (("chain", "draw"), np.exp(c["log_factor"][..., 0])))
    if law.irreducible:
        put_levels("irreducible", c["irreducible"])
    put("sigma", (("chain", "draw"), c["sigma"][..., 0]))
    if law.noise == "student_t":
        put("nu", (("chain", "draw"), c["nu"][..., 0]))
    if law.paper_effects:
        tau, sigma = c["paper_sd"][..., 0], c["sigma"][..., 0]
        put("paper_sd", (("chain", "draw"), tau))
        put("rho", (("chain", "draw"), tau**2 / (tau**2 + sigma**2)))
    put_levels("loss_centre", c["loss_centre"])
    if sizes_d:
        put_levels("parameter_share", c["share"])
    return out


def prior_driven(fit, *, draws=4000, seed=0):
    """Coefficients that the data hardly inform: half-width of the posterior's central 68% above 0.8 of the prior's.

    Returns
    -------
    DataFrame
        One row a coefficient: ``coefficient``, ``posterior``, ``prior`` (half-widths), ``ratio``, ``prior_driven``.
    """
    state = State.of(fit)
    z = np.random.default_rng(seed).standard_normal((1, draws, family.DIMENSION))
    prior = State(state.law, state.reference, state.rows, z).named()
    rows = []
    for name, draws_of in flatten(state.named()).items():
        own, theirs = (float(np.diff(np.quantile(x, [0.16, 0.84]))[0]) / 2 for x in (draws_of, flatten(prior)[name]))
        rows.append(
            {
                "coefficient": name,
                "posterior": own,
                "prior": theirs,
                "ratio": own / theirs,
                "prior_driven": own > PRIOR_DRIVEN * theirs,
            }
        )
    return pd.DataFrame(rows)


def flatten(dataset):
    """Scalars of a dataset by name, ``alpha_year[ptb]`` where a variable has levels: dict of (chain, draw) arrays."""
    out = {}
    for name, variable in dataset.data_vars.items():
        levels = [dim for dim in variable.dims if dim not in ("chain", "draw")]
        if not levels:
            out[name] = variable.values
            continue
        (dim,) = levels
        out |= {f"{name}[{label}]": variable.sel({dim: label}).values for label in variable[dim].values}
    return out


def fit_progress(
    table=None,
    *,
    specifications=tuple(SPECIFICATIONS),
    fitter=None,
    seed=1,
    sampler=None,
    progress=False,
    **settings,
):
    """Fit specifications of algorithmic progress, all 20 by default, with one compilation.

    Parameters
    ----------
    table : DataFrame, optional
        Evaluations; the built-in ``lm_progress`` by default.
    specifications : sequence of int
    fitter : ProgressFitter, optional
        Compiled before, on its own table.
    seed : int
    sampler : str, optional
    progress : bool
        Show a progress bar on standard error.
    **settings
        Options of `Progress` (``noise``, ``pooling``, ...) and of the sampler (``draws``, ``chains``, ...).

    Returns
    -------
    dict of int to DataTree
    """
    from rich.console import Console
    from rich.progress import Progress as Bar

    if fitter is None:
        fitter = ProgressFitter(load("lm_progress") if table is None else table, sampler=sampler)
    options = {name: settings.pop(name) for name in list(settings) if name in {f.name for f in fields(Progress)}}
    laws = {k: Progress(k, **options) for k in specifications}
    fits = {}
    with Bar(console=Console(stderr=True), disable=not progress) as bar:
        task = bar.add_task("compiling", total=len(laws))
        for k, law in laws.items():
            fits[k] = fitter.fit(law, seed=seed, **settings)
            bar.update(task, advance=1, description=f"specification {k}")
    return fits

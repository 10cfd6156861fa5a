"""Fit a law to a table of runs with NUTS."""

import importlib.metadata
import platform
import time

import numpy as np
import xarray as xr

from ...datasets import sha256
from ...datasets.wording import unknown
from ...errors import InputError
from ...models import Lengths, Progress
from .. import diagnostics
from ..storage import with_metadata
from . import evaluate
from .samplers import Compiled, Settings, choose

PACKAGES = ("pymc", "pytensor", "nutpie", "numpyro", "jax", "numpy", "xarray", "arviz-stats")


class Fitter:
    """A law compiled for one table, to be fitted again on other rows, losses or tables without compiling.

    Parameters
    ----------
    law : Law
    runs : DataFrame
        The table whose centre the sampled quantities refer to, in every refit.
    sampler : {"nutpie", "numpyro", "pymc"}, optional
        nutpie alone keeps its compiled program from one fit to the next.
    """

    def __init__(self, law, runs, *, sampler=None):
        law.check(runs)
        self.law = law
        self.reference = law.reference(runs)
        self.sampler = choose(sampler)
        self.compiled = Compiled(law.model(runs, self.reference), self.sampler)
        self._fresh = runs

    def fit(self, runs, *, seed=None, prior_predictive=False, posterior_predictive=False, progress=False, **settings):
        """Fit to `runs`; see `fit` for the parameters and the result."""
        settings = settings_of(settings)
        seed = seed_of(seed)
        self.law.check(runs)
        data = {} if runs is self._fresh else self.law.design(runs)
        sampled, sample_stats, seconds = self.compiled.sample(settings, seed, data, progress)
        if data:
            self._fresh = None
        posterior = sampled.merge(evaluate.derived(self.law, sampled, self.reference))
        rng = np.random.default_rng(seed)
        runs_coordinate = {"run": np.arange(len(runs))}
        groups = {
            "posterior": posterior,
            "sample_stats": sample_stats,
            "log_likelihood": evaluate.log_likelihood(self.law, posterior, runs)
            .to_dataset()
            .assign_coords(runs_coordinate),
            "observed_data": xr.Dataset(
                {self.law.scale: ("run", self.law.on_scale(runs[self.law.observed].to_numpy(float)))}, runs_coordinate
            ),
            "constant_data": _constant_data(runs, runs_coordinate),
        }
        if posterior_predictive:
            replicated = evaluate.replicated_loss(self.law, posterior, runs, rng)
            groups["posterior_predictive"] = _predictive(self.law, replicated, runs_coordinate)
        if prior_predictive:
            prior = evaluate.prior_draws(self.law, self.reference, settings.draws, rng)
            groups["prior"] = prior
            replicated = evaluate.replicated_loss(self.law, prior, runs, rng)
            groups["prior_predictive"] = _predictive(self.law, replicated, runs_coordinate)
        verdict = diagnostics.judge(posterior, sample_stats)
        said = document(
            law=self.law,
            reference=self.reference,
            priors={name: str(prior) for name, prior in self.law.prior_of.items()},
            table=runs,
            seed=seed,
            sampler=self.sampler,
            settings=settings,
            seconds={"compile": self.compiled.seconds, "sample": seconds},
            verdict=verdict,
        )
        diagnostics.warn(self.law, verdict)
        return with_metadata(xr.DataTree.from_dict(groups), said)


def _fit_law(law, runs, *, sampler, **options):
    return Fitter(law, runs, sampler=sampler).fit(runs, **options)


def document(*, law, reference, priors, table, seed, sampler, settings, seconds, verdict):
    """Say what a fit was, in plain values: all that is needed to go on from a file, or to do it again."""
    return {
        "schema": 1,
        "law": {"name": law.name, "options": law.options, "reference": reference},
        "priors": priors,
        "data": {"sha256": sha256(table), "rows": len(table), "source": str(table.attrs.get("source", "the table"))},
        "seed": seed,
        "sampler": sampler,
        "settings": settings.asked,
        "seconds": seconds,
        "versions": versions(),
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "diagnostics": verdict,
    }


def settings_of(options):
    """Make `Settings` of keyword arguments, refusing unknown ones."""
    for option in options:
        if option not in Settings.__dataclass_fields__:
            raise InputError(unknown("option", option, Settings.__dataclass_fields__))
    return Settings(**options)


def seed_of(seed):
    """Return the seed itself, or one drawn at random, refusing what is none."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0] >> 1)
    if not (isinstance(seed, (int, np.integer)) and 0 <= seed < 2**31):
        raise InputError(f"seed must be a whole number from 0 to 2**31 - 1, not {seed!r}")
    return int(seed)


def check_options(seed, sampler, settings):
    """Refuse options of `fit` before the work that leads to it.

    Raises
    ------
    InputError
        If the seed, the sampler or a setting cannot be used.
    """
    settings_of(settings)
    seed_of(seed)
    choose(sampler)


def _constant_data(runs, coordinates):
    kept = {str(c): ("run", runs[c].to_numpy()) for c in runs.columns if runs[c].dtype.kind in "iufb"}
    return xr.Dataset(kept, coordinates)


def _predictive(law, loss, coordinates):
    return law.on_scale(loss).rename(law.scale).to_dataset().assign_coords(coordinates)


def versions():
    """Versions of this package, of Python and of the packages that made a number."""
    from ... import __version__

    found = {"bayescaling": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def fit(
    law,
    runs,
    *,
    seed=None,
    sampler=None,
    prior_predictive=False,
    posterior_predictive=False,
    progress=False,
    **settings,
):
    """Fit a law to a table of runs with NUTS.

    Parameters
    ----------
    law : Law, Progress or Lengths
        Such as ``Chinchilla()`` or ``Progress(7)``.
    runs : DataFrame
        Runs from `load` or `read`; evaluations, for `Progress`, from `load` or `read_evaluations`; counts, for
        `Lengths`, from `read_counts`.
    seed : int, optional
        The same seed gives the same draws on one machine; drawn at random and recorded if absent.
    sampler : {"nutpie", "numpyro", "pymc"}, optional
        nutpie by default; NumPyro with vectorised chains where JAX sees an accelerator.
    prior_predictive, posterior_predictive : bool
        Add the groups of these names (and ``prior``).
    progress : bool
        Show a progress bar on standard error.
    **settings
        ``draws=1000``, ``tune=1000``, ``chains=4``, ``cores`` and ``target_accept=0.9``.

    Returns
    -------
    DataTree
        Groups ``posterior`` (sampled quantities and the law's constants; dims chain, draw), ``sample_stats``,
        ``log_likelihood`` (with run), ``observed_data`` and ``constant_data`` (run). What the fit was stands as JSON in
        the attribute ``bayescaling``; `metadata` reads it.

    Raises
    ------
    InputError
        If the table cannot inform the law or an option is unknown.

    Warns
    -----
    DiagnosticWarning
        If the chains did not converge.
    """
    check_options(seed, sampler, settings)
    if isinstance(law, Progress | Lengths) and (prior_predictive or posterior_predictive):
        raise InputError(f"prior_predictive and posterior_predictive are not offered for {law.name}")
    if isinstance(law, Lengths):
        from .lengths import LengthsFitter

        return LengthsFitter(law, runs, sampler=sampler).fit(seed=seed, progress=progress, **settings)
    if isinstance(law, Progress):
        from .progress import ProgressFitter

        fitter = ProgressFitter(runs, sampler=sampler, features=law.features)
        return fitter.fit(law, seed=seed_of(seed), progress=progress, **settings)
    seed = seed_of(seed)
    if law.given:
        from .cut import fit_cut as sampled
    else:
        sampled = _fit_law
    return sampled(
        law,
        runs,
        seed=seed,
        sampler=sampler,
        prior_predictive=prior_predictive,
        posterior_predictive=posterior_predictive,
        progress=progress,
        **settings,
    )


def diagnose(fit):
    """Return the stored diagnostics of a fit: figures, ``ok`` and ``warnings``."""
    from ..storage import metadata

    return metadata(fit)["diagnostics"]

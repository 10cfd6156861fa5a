"""What calibration asks of each kind of law: draw truths, simulate a table from one, fit, and name the draws."""

import numpy as np
import pandas as pd
import xarray as xr

from ..errors import InputError
from ..models import Lengths, Progress, lengths
from ..models import progress as family
from ..models.base import Law
from . import diagnostics, evaluate
from .fit import Fitter
from .lengths_fit import LengthsFitter
from .progress import ProgressFitter, flatten
from .progress import State as ProgressState
from .storage import metadata

LOG_LIKELIHOOD = "log_likelihood"
LARGEST_LOSS = 700.0
ONE = ("chain", "draw")


def family_of(law, table, sampler=None):
    """Return what calibrates `law` on a table: `OfRuns`, `OfEvaluations` or `OfCounts`.

    Raises
    ------
    InputError
        If the law has no one posterior that simulations could agree with.
    """
    if isinstance(law, Progress):
        return OfEvaluations(law, table, sampler)
    return (OfCounts if isinstance(law, Lengths) else OfRuns)(law, table, sampler)


class OfRuns:
    """Laws of losses.

    Parameters
    ----------
    law : Law
    table : DataFrame
        The design, and the observations that truths are drawn given.
    sampler : str, optional
    """

    def __init__(self, law, table, sampler=None):
        if not isinstance(law, Law):
            raise InputError(f"calibration: {law!r} is no law; pass one such as Chinchilla()")
        if law.given:
            raise InputError(
                f"{law.name} takes {' and '.join(law.given)} from sizes alone and has no one posterior to calibrate; "
                "calibrate it with joint=True (--option joint=true)"
            )
        self.law, self.table, self.sampler = law, table, sampler
        self.reference, self.fitter = law.reference(table), None

    def given(self, values):
        """One truth of known values of the sampled quantities."""
        missing = [name for name in self.law.prior_of if name not in values]
        if missing:
            raise InputError(
                f"truth lacks {', '.join(missing)}; give every sampled quantity of the {self.law.name} law"
            )
        return xr.Dataset({name: (ONE, [[float(values[name])]]) for name in self.law.prior_of})

    def prior(self, number, rng):
        """Truths drawn from the prior, dims (chain, draw)."""
        drawn = evaluate.prior_draws(self.law, self.reference, number, rng)
        if evaluate.log_density_beside(self.law, drawn, self.reference).any():
            raise InputError(f"{self.law.name} learns from other data too, so its prior alone gives no truths")
        return drawn[list(self.law.prior_of)]

    def posterior(self, number, seed, **settings):
        """Truths drawn from the posterior of the table, dims (chain, draw)."""
        self.fitter = Fitter(self.law, self.table, sampler=self.sampler)
        sampled = evaluate.posterior_of(self.fitter.fit(self.table, seed=seed, **settings))
        return _spread(sampled[list(self.law.prior_of)], number)

    def simulated(self, truth, rng):
        """Table of the design with observations simulated from one truth."""
        values = {name: float(x.item()) for name, x in truth.items()}
        observed = self.law.simulate(values, self.table, rng, self.reference)
        return self.table.assign(**{self.law.observed: observed})

    def together(self, simulated):
        """Give the table and a simulated one as a single table."""
        return _stacked(self.table, simulated)

    def fit(self, table, simulated, seed, settings):
        """Fit to a table; give the named draws, with the log likelihood of the simulated rows, and the verdict."""
        # The design need have no observations of its own.
        self.fitter = self.fitter or Fitter(self.law, simulated, sampler=self.sampler)
        fit = self.fitter.fit(table, seed=seed, **settings)
        return self.named(evaluate.posterior_of(fit), simulated), _verdict(fit)

    def named(self, values, simulated):
        """Scalars by name, (chain, draw) each, of draws or of a truth."""
        values = values[list(self.law.prior_of)]
        values = values.merge(evaluate.derived(self.law, values, self.reference))
        found = evaluate.log_likelihood(self.law, values, simulated).sum("run")
        return {name: x.values for name, x in values.items()} | {LOG_LIKELIHOOD: found.values}


class OfEvaluations:
    """Laws of algorithmic progress; parameters as for `OfRuns`."""

    def __init__(self, law, table, sampler=None):
        if law.penalty is not None:
            raise InputError(
                f"{law.name} with a penalty has a prior that depends on the number of rows, which simulated rows would "
                "change; calibrate it without"
            )
        self.law = law
        self.fitter = ProgressFitter(table, sampler=sampler, features=law.features)
        self.reference, self.table = law.reference(table), law.rows(table)

    def prior(self, number, rng):
        """Truths drawn from the prior: coordinates z, dims (chain, draw, coordinate).

        Those with a mean loss whose perplexity no number holds are drawn again: losses that can be observed rule them
        out, so the prior without them has the same posterior.
        """
        kept = np.empty((1, 0, family.DIMENSION))
        while kept.shape[1] < number:
            z = rng.standard_normal((1, number, family.DIMENSION))
            mean = ProgressState(self.law, self.reference, self.table, z).predicted()
            kept = np.concatenate([kept, z[:, mean[0].max(-1) < LARGEST_LOSS - 100]], axis=1)
        return self._truths(kept[:, :number])

    def posterior(self, number, seed, **settings):
        """Truths drawn from the posterior of the table."""
        return _spread(self._truths(ProgressState.of(self._fit(self.table, seed, settings)).z), number)

    def _truths(self, z):
        return xr.Dataset({"z": (("chain", "draw", "coordinate"), z)})

    def _fit(self, rows, seed, settings):
        return self.fitter.fit(self.law, rows=rows, seed=seed, least_ess=0, **settings)

    def simulated(self, truth, rng):
        """Table of the design with perplexities simulated from one truth; a paper's effect is drawn anew."""
        state = ProgressState(self.law, self.reference, self.table, truth["z"].values)
        mean, rows = state.predicted()[0, 0], len(self.table)
        noise = rng.standard_t(state.c["nu"].item(), rows) if self.law.noise == "student_t" else rng.normal(size=rows)
        noise = state.c["sigma"].item() * noise
        if self.law.paper_effects:
            papers, paper = np.unique(self.table["paper_id"], return_inverse=True)
            noise = noise + state.c["paper_sd"].item() * rng.normal(size=len(papers))[paper]
        loss = (
            np.maximum(mean, family.LEAST_REDUCIBLE) * np.exp(noise) if self.law.scale == "log_loss" else mean + noise
        )
        return self.table.assign(perplexity=np.exp(np.minimum(loss, LARGEST_LOSS)))

    def together(self, simulated):
        """Give the table and a simulated one as a single table; simulated papers are others than the table's."""
        return _stacked(self.table, simulated.assign(paper_id=simulated["paper_id"] + self.table["paper_id"].max()))

    def fit(self, table, simulated, seed, settings):
        """As `OfRuns.fit`."""
        fit = self._fit(table, seed, settings)
        return self.named(self._truths(ProgressState.of(fit).z), simulated), _verdict(fit)

    def named(self, values, simulated):
        """As `OfRuns.named`."""
        state = ProgressState(self.law, self.reference, simulated, values["z"].values)
        return flatten(state.named()) | {LOG_LIKELIHOOD: state.log_likelihood().sum(-1)}


class OfCounts:
    """The law of length generalisation; parameters as for `OfRuns`. Runs keep their own curves."""

    def __init__(self, law, table, sampler=None):
        self.law = law
        self.fitter = LengthsFitter(law, table, sampler=sampler)
        self.reference, self.table, self.runs = self.fitter.reference, self.fitter.rows, self.fitter.runs

    def prior(self, number, rng):
        """Truths drawn from the prior: coefficients and the parameters of runs."""
        prior = {name: p.frozen for name, p in self.law.prior_of.items()}
        shapes = {"effect": (len(self.reference["effects"]),), "level": (len(self.reference["levels"]),)}
        values = {}
        for name in prior:
            shared = name == "log_precision" or name.endswith("_sd")
            shape = () if shared else shapes["effect" if name.endswith("_effect") else "level"]
            if shape != (0,):
                values[name] = prior[name].rvs((1, number, *shape), random_state=rng)
        curve = self.law.typical(values, self.law.matrices(self.runs, self.reference))
        if self.law.seeds:
            curve = {p: x + values[f"{p}_sd"][..., None] * rng.standard_normal(x.shape) for p, x in curve.items()}
        return _truths_of(values, curve)

    def posterior(self, number, seed, **settings):
        """Truths drawn from the posterior of the table."""
        state, *_ = self.fitter.sample_carefully(self.table, settings, seed)
        return _spread(_truths_of(state.values, state.curve), number)

    def simulated(self, truth, rng):
        """Table of the design with counts simulated from the curves of one truth."""
        curve = {part: truth[f"curve {part}"].values[0, 0] for part in self.law.parts}
        return self.table.assign(correct=self.law.simulate(curve, self.table, rng))

    def together(self, simulated):
        """Give the table and a simulated one as a single table: further problems of the same cells and runs."""
        return _stacked(self.table, simulated)

    def fit(self, table, simulated, seed, settings):
        """As `OfRuns.fit`."""
        state, stats, _, _ = self.fitter.sample_carefully(table, settings, seed)
        verdict = diagnostics.judge(state.posterior(), stats)
        return self.named(_truths_of(state.values, state.curve), simulated), verdict

    def named(self, values, simulated):
        """As `OfRuns.named`; runs' parameters as ``log_reach_run[NAME]``."""
        curve = {part: values[f"curve {part}"].values for part in self.law.parts}
        coefficients = {n: x.values for n, x in values.items() if not n.startswith("curve ") and n != "z"}
        labels = {"effect": self.reference["effects"], "level": self.reference["levels"]}
        found = {}
        for name, x in coefficients.items():
            if x.ndim == 2:
                found[name] = x
                continue
            of = labels["effect" if name.endswith("_effect") else "level"]
            found |= {f"{name}[{label}]": x[..., i] for i, label in enumerate(of)}
        if self.law.seeds:
            for part, x in curve.items():
                found |= {f"{part}_run[{run}]": x[..., i] for i, run in enumerate(self.reference["runs"])}
        groups = self.law.groups(simulated, self.reference)
        log_train = np.log(self.runs["train_digits"].to_numpy(float))
        density = lengths.log_likelihood(curve, log_train, groups, self.law.shape, lambda values, _: values.sum(-1))
        return found | {LOG_LIKELIHOOD: density}


def _verdict(fit):
    """Return the stored diagnostics of a fit."""
    return metadata(fit)["diagnostics"]


def _truths_of(values, curve):
    named = {name: x for name, x in values.items() if name != "z"} | {f"curve {part}": x for part, x in curve.items()}
    return xr.Dataset(
        {name: ((*ONE, *(f"{name} {i}" for i in range(x.ndim - 2))), np.asarray(x)) for name, x in named.items()}
    )


def _stacked(table, simulated):
    found = pd.concat([table, simulated], ignore_index=True)
    found.attrs = dict(table.attrs)
    return found


def _spread(draws, number):
    """Return `number` draws, evenly from all chains, as dims (chain, draw) with one chain."""
    flat = draws.drop_vars(ONE, errors="ignore").stack(all=("draw", "chain"), create_index=False)
    if number > flat.sizes["all"]:
        raise InputError(f"simulations is {number} and the fit has {flat.sizes['all']} draws; ask for more draws")
    chosen = np.linspace(0, flat.sizes["all"] - 1, number).round().astype(int)
    return flat.isel(all=chosen).rename(all="draw").expand_dims("chain").transpose(*ONE, ...)

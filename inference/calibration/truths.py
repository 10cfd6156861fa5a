"""What calibration asks of each kind of law: draw truths, simulate a table from one, fit, and name the draws.

Truths and draws are Datasets of the same variables, dims (chain, draw, ...); a truth is one draw.
"""

import numpy as np
import pandas as pd
import xarray as xr

from ...errors import InputError
from ...models import Lengths, Progress
from ...models.lengths import curve as lengths
from ...models.lengths.law import EFFECT, LEVEL, WITH_EFFECTS
from ...models.loss.law import Law
from ...models.progress import family
from .. import diagnostics
from ..fitting import evaluate
from ..fitting.evaluate import DRAWS
from ..fitting.fit import Fitter, diagnose
from ..fitting.lengths import LengthsFitter, curve_of
from ..fitting.lengths import State as LengthsState
from ..fitting.progress import ProgressFitter, flatten
from ..fitting.progress import State as ProgressState

LOG_LIKELIHOOD = "log_likelihood"
LARGEST_MEAN, LARGEST_LOSS = 600.0, 700.0  # nats


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
        """Give the truth of known values of the sampled quantities."""
        missing = [name for name in self.law.prior_of if name not in values]
        if missing:
            raise InputError(
                f"truth lacks {', '.join(missing)}; give every sampled quantity of the {self.law.name} law"
            )
        return xr.Dataset({name: (DRAWS, [[float(values[name])]]) for name in self.law.prior_of})

    def prior(self, rng):
        """Give one truth drawn from the prior."""
        drawn = evaluate.prior_draws(self.law, self.reference, 1, rng)
        if evaluate.log_density_beside(self.law, drawn, self.reference).any():
            raise InputError(f"{self.law.name} learns from other data too, so its prior alone gives no truths")
        return drawn[list(self.law.prior_of)]

    def posterior(self, seed, settings):
        """Fit the table; give its draws, to take truths from."""
        self.fitter = Fitter(self.law, self.table, sampler=self.sampler)
        return evaluate.posterior_of(self.fitter.fit(self.table, seed=seed, **settings))[list(self.law.prior_of)]

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
        return self.named(evaluate.posterior_of(fit), simulated), diagnose(fit)

    def named(self, draws, simulated):
        """Scalars by name, (chain, draw) each, of draws or of a truth."""
        values = draws[list(self.law.prior_of)]
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

    def prior(self, rng):
        """Give one truth drawn from the prior, its coordinates z.

        One with a mean loss of 600 nats or more is drawn again: losses that a perplexity can state rule it out, so the
        prior without it has the same posterior.
        """
        while True:
            truth = self._draws(rng.standard_normal((1, 1, family.DIMENSION)))
            if self._state(truth, self.table).predicted().max() < LARGEST_MEAN:
                return truth

    def posterior(self, seed, settings):
        """Fit the table; give its draws, to take truths from."""
        return self._draws(ProgressState.of(self._fit(self.table, seed, settings)).z)

    def _draws(self, z):
        return xr.Dataset({"z": ((*DRAWS, "coordinate"), z)})

    def _state(self, draws, rows):
        return ProgressState(self.law, self.reference, rows, draws["z"].values)

    def _fit(self, rows, seed, settings):
        return self.fitter.fit(self.law, rows=rows, seed=seed, least_ess=0, **settings)

    def simulated(self, truth, rng):
        """Table of the design with perplexities simulated from one truth; a paper's effect is drawn anew.

        Raises
        ------
        InputError
            If no number holds a perplexity.
        """
        state = self._state(truth, self.table)
        mean, rows = state.predicted()[0, 0], len(self.table)
        noise = rng.standard_t(state.c["nu"].item(), rows) if self.law.noise == "student_t" else rng.normal(size=rows)
        noise = state.c["sigma"].item() * noise
        if self.law.paper_effects:
            papers, paper = np.unique(self.table["paper_id"], return_inverse=True)
            noise = noise + state.c["paper_sd"].item() * rng.normal(size=len(papers))[paper]
        if self.law.scale == "log_loss":
            loss = np.maximum(mean, family.LEAST_REDUCIBLE) * np.exp(noise)
        else:
            loss = mean + noise
        if loss.max() > LARGEST_LOSS:
            raise InputError(
                f"{self.law.name}: a simulated loss is {loss.max():.3g} nats, whose perplexity no number holds; draw "
                "truths from the posterior"
            )
        return self.table.assign(perplexity=np.exp(loss))

    def together(self, simulated):
        """Give the table and a simulated one as a single table; simulated papers are others than the table's."""
        return _stacked(self.table, simulated.assign(paper_id=simulated["paper_id"] + self.table["paper_id"].max()))

    def fit(self, table, simulated, seed, settings):
        """As `OfRuns.fit`."""
        fit = self._fit(table, seed, settings)
        return self.named(self._draws(ProgressState.of(fit).z), simulated), diagnose(fit)

    def named(self, draws, simulated):
        """As `OfRuns.named`."""
        state = self._state(draws, simulated)
        return flatten(state.named()) | {LOG_LIKELIHOOD: state.log_likelihood().sum(-1)}


class OfCounts:
    """The law of length generalisation; parameters as for `OfRuns`. Runs keep their own curves."""

    def __init__(self, law, table, sampler=None):
        self.law = law
        self.fitter = LengthsFitter(law, table, sampler=sampler)
        self.reference, self.table, self.runs = self.fitter.reference, self.fitter.rows, self.fitter.runs

    def prior(self, rng):
        """Give one truth drawn from the prior: coefficients and, where runs differ, the parameters of each."""
        labels = {LEVEL: self.reference["levels"], EFFECT: self.reference["effects"]}
        dimension = {part: LEVEL for part in self.law.parts if part != "log_precision"}
        dimension |= {f"{part}_effect": EFFECT for part in WITH_EFFECTS}
        values = {}
        for name, prior in self.law.prior_of.items():
            own = [dimension[name]] if name in dimension else []
            shape = (1, 1, *(len(labels[d]) for d in own))
            if 0 not in shape:
                values[name] = ((*DRAWS, *own), prior.frozen.rvs(shape, random_state=rng))
        drawn = xr.Dataset(values, {d: names for d, names in labels.items() if names})
        state = LengthsState(self.law, self.reference, self.table, self.runs, drawn, curve={})
        state.curve = state.new(self.runs, rng)
        return state.posterior()

    def posterior(self, seed, settings):
        """Fit the table; give its draws, to take truths from."""
        state, stats, *_ = self.fitter.sample_carefully(self.table, settings, seed)
        draws = state.posterior()
        diagnostics.warn(self.law, diagnostics.judge(draws, stats))
        return draws

    def _curve(self, draws):
        return curve_of(self.law, draws, self.runs, self.reference)

    def simulated(self, truth, rng):
        """Table of the design with counts simulated from the curves of one truth."""
        curve = {part: x[0, 0] for part, x in self._curve(truth).items()}
        return self.table.assign(correct=self.law.simulate(curve, self.table, rng))

    def together(self, simulated):
        """Give the table and a simulated one as a single table: further problems of the same cells and runs."""
        return _stacked(self.table, simulated)

    def fit(self, table, simulated, seed, settings):
        """As `OfRuns.fit`."""
        state, stats, *_ = self.fitter.sample_carefully(table, settings, seed)
        draws = state.posterior()
        return self.named(draws, simulated), diagnostics.judge(draws, stats)

    def named(self, draws, simulated):
        """As `OfRuns.named`; runs' parameters as ``log_reach_run[NAME]``."""
        groups = self.law.groups(simulated, self.reference)
        log_train = np.log(self.runs["train_digits"].to_numpy(float))
        density = lengths.log_likelihood(
            self._curve(draws), log_train, groups, self.law.shape, lambda values, _: values.sum(-1)
        )
        return flatten(draws) | {LOG_LIKELIHOOD: density}


def _stacked(table, simulated):
    found = pd.concat([table, simulated], ignore_index=True)
    found.attrs = dict(table.attrs)
    return found

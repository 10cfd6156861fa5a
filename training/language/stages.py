"""A sweep of language models: stages over sizes, rates, schedules, budgets and seeds, and tables of their runs."""

import itertools
import math
import warnings
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ...errors import DiagnosticWarning
from ..engine.fields import Count, Positive
from ..engine.loop import SCHEDULES
from ..engine.updates import OPTIMISERS
from ..sweeps import base, records
from ..sweeps.base import Execution, distinct, mark_evaluations
from .language_run import Run
from .transformer import Configuration

# Column by variable or coordinate of a record, where the names differ.
RENAMED = {"flop": "training_flop", "loss_eval": "loss", "loss_eval_se": "loss_se"}
COLUMNS = (
    *("parameters", "tokens", "training_flop", "loss", "d_model", "vocabulary", "parameters_nonembedding"),
    *("loss_se", "loss_oracle", "excess", "excess_se", "layers", "context", "optimiser", "schedule"),
    *("learning_rate_peak", "batch_tokens", "budget_fraction", "annealed", "seed", "scheme", "run"),
)
# Columns of sweeps with experts, named as in `routed_lms`, and what they are of a `Configuration`.
EXPERTS = {"experts": "experts", "active_experts": "active"}
EXPERTS |= {name: name for name in ("total_parameters", "active_parameters")}
ENTROPY = {"entropy": "irreducible_loss", "entropy_se": "irreducible_loss_se"}


def table(dataset, scheme=None, *, curves=False):
    """Make a table of runs L(N, D), as `bayescaling.read` takes it, of the dataset that `train` returns.

    It has the runs of one `scheme`, by default those of any. Every evaluation of a run at a constant rate counts as a
    run of that many tokens. Of a run that anneals only the last one does, or with `curves` all.

    Its columns are parameters (N_T), tokens, training_flop (6 N_T D), loss (nats per token), d_model, vocabulary and
    parameters_nonembedding. Then come loss_se, loss_oracle, excess, excess_se and what describes the run. `annealed` is
    the share of the schedule that was done. For a corpus of known law irreducible_loss is the entropy, the least
    expected loss, and irreducible_loss_se its error. Rows without a finite loss are left out.

    Of a sweep with experts there are also experts, active_experts, total_parameters and active_parameters. Then
    parameters are those of the dense model of the same width and depth, and training_flop counts the active ones.
    """
    rows = dataset.to_dataframe().reset_index().rename(columns=RENAMED)
    rows["annealed"] = rows["step"] / rows["updates"]
    wanted = rows["scheme"].str.split().map(lambda names: bool(names) if scheme is None else scheme in names)
    ended = (rows["schedule"] == "constant") | (rows["annealed"] == 1)
    rows = rows[np.isfinite(rows["loss"]) & wanted & (ended | curves)]
    entropy = {column: dataset.attrs[name] for name, column in ENTROPY.items() if name in dataset.attrs}
    return rows[[*COLUMNS, *(name for name in EXPERTS if name in rows)]].assign(**entropy).reset_index(drop=True)


BEST = "best"


@dataclass(frozen=True)
class Stage:
    """Runs that are trained together, at one schedule.

    Parameters
    ----------
    name : str
        Name of their table.
    schedule : str
        ``"constant"`` or ``"cosine"``.
    learning_rates : tuple of float or "best"
        Peak rates. ``"best"`` takes for each size the rate with the lowest final evaluation loss, a mean over seeds, of
        the longest runs at a constant rate in earlier stages.
    budgets : tuple of float
        Updates as shares of those of the size.
    batch_tokens : tuple of int
        Tokens in an update, the sweep's by default. Runs of all batches see the same tokens.
    optimiser : str, optional
        ``"adamw"`` or ``"muon"``, by default the sweep's.
    keep : str
        ``"all"``, or ``"best"`` to count only the runs at each size's best rate as runs of the stage.

    Examples
    --------
    >>> from bayescaling.training import Stage
    >>> Stage("scheme-3", "cosine", "best", budgets=(0.5, 1.0)).keep
    'all'
    """

    name: str
    schedule: Literal[SCHEDULES]
    learning_rates: Annotated[tuple[Positive, ...], Field(min_length=1)] | Literal["best"]
    budgets: Annotated[tuple[Positive, ...], Field(min_length=1)] = (1.0,)
    batch_tokens: tuple[Count, ...] = ()
    optimiser: Literal[OPTIMISERS] | None = None
    keep: Literal["all", "best"] = "all"

    @property
    def compares(self):
        """Whether it compares rates at the sweep's batch and optimiser, of which later stages may take the best."""
        usual = not self.batch_tokens and self.optimiser is None
        return self.schedule == "constant" and self.learning_rates != BEST and usual


@dataclass(frozen=True)
class Sweep(base.BaseSweep):
    """A sweep of language models: sizes, a corpus and stages, checked.

    `base` has what all runs share, apart from the model and the optimisation. Each size has a full budget in `updates`.
    The `evaluations` of a run are evenly spaced.
    """

    base: Run
    sizes: tuple[Configuration, ...]
    updates: tuple[int, ...]
    evaluations: int
    seeds: tuple[int, ...]
    stages: tuple[Stage, ...]
    execution: Execution

    def settled(self, where):
        """Return the sweep with its runs settled, as `Run.settled` does."""
        return replace(self, base=self.base.settled(where))

    def runs(self, stage, best):
        """List the runs of a stage by size, rate, budget, batch and seed; `best` has the best rate of each size."""
        runs, usual = [], self.base.batch_tokens
        for model, updates in zip(self.sizes, self.updates, strict=True):
            rates = stage.learning_rates
            if rates == BEST:
                rates = [best[model]] if model in best else []
            several = itertools.product(rates, stage.budgets, stage.batch_tokens or (usual,), self.seeds)
            for rate, budget, batch, seed in several:
                total = max(1, round(updates * budget * usual / batch))
                warmup = min(self.base.optimisation.warmup, total)
                settings = {"learning_rate": rate, "schedule": stage.schedule, "updates": total, "warmup": warmup}
                settings |= {"optimiser": stage.optimiser or self.base.optimisation.optimiser}
                optimisation = replace(self.base.optimisation, **settings)
                marks = mark_evaluations(total, self.evaluations)
                run = replace(self.base, model=model, optimisation=optimisation, evaluate_at=marks, batch_tokens=batch)
                runs.append(replace(run, seed=seed, budget_fraction=budget))
        return runs

    def groups(self):
        """Return the runs of each stage."""
        best = dict.fromkeys(self.sizes, 1.0)
        return {stage.name: self.runs(stage, best) for stage in self.stages}

    def rounds(self, results):
        """Yield the runs of each stage, and warn of sizes that diverged at every rate."""
        best, trained = {}, []
        for stage in self.stages:
            runs = distinct(self.runs(stage, best))
            yield stage.name, runs
            trained += runs
            if stage.compares:
                best = best_rates(trained, results, self.base)
                for model in self.sizes:
                    if model not in best:
                        routed = f", {model.experts} experts" if model.experts > 1 else ""
                        warnings.warn(
                            f"d_model {model.d_model}, {model.layers} layers{routed}: every learning rate diverged, so "
                            "stages that take the best leave this size out; try lower ones",
                            DiagnosticWarning,
                            stacklevel=5,
                        )

    def gathered(self, rounds, results):
        """Merge the runs, with a table of all of them and one of each stage."""
        planned = [run for runs in rounds.values() for run in runs]
        whole = records.merged(planned, results, self._members(rounds, results), "scheme")
        if any(model.experts > 1 for model in self.sizes):
            models = {run.name: run.model for run in planned}
            counts = {
                column: ("run", [getattr(models[run], name) for run in whole["run"].values])
                for column, name in EXPERTS.items()
            }
            whole = whole.assign_coords(counts)
        tables = {"runs": table(whole)}
        for stage in self.stages:
            curves = stage.schedule != "constant" and len(stage.budgets) == 1
            tables[stage.name] = table(whole, stage.name, curves=curves)
        return whole, tables

    def _members(self, rounds, results):
        members, best, trained = {}, {}, []
        for stage in self.stages:
            runs = rounds.get(stage.name, [])
            trained += runs
            if not all(run.name in results for run in runs):
                best = {}
            elif stage.compares:
                best = best_rates(trained, results, self.base)
            members[stage.name] = {
                run.name for run in runs if stage.keep != BEST or best.get(run.model) == run.optimisation.learning_rate
            }
        return members


def best_rates(runs, results, base):
    """Choose each size's rate of the lowest final loss, a mean over seeds of its longest runs at a constant rate."""
    usual, losses = (base.batch_tokens, base.optimisation.optimiser, "constant"), {}
    alike = [x for x in distinct(runs) if (x.batch_tokens, x.optimisation.optimiser, x.optimisation.schedule) == usual]
    for run in alike:
        longest = max(other.optimisation.updates for other in alike if other.model == run.model)
        if run.name in results and run.optimisation.updates == longest:
            loss = results[run.name]["loss_eval"].values[0, -1]
            losses.setdefault(run.model, {}).setdefault(run.optimisation.learning_rate, []).append(loss)
    means = {model: {rate: sum(x) / len(x) for rate, x in rates.items()} for model, rates in losses.items()}
    finite = {model: [rate for rate in rates if math.isfinite(rates[rate])] for model, rates in means.items()}
    return {model: min(rates, key=means[model].get) for model, rates in finite.items() if rates}

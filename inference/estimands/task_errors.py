"""Errors of planned models on tasks, by way of their losses."""

import xarray as xr

from ...datasets.kinds.runs import RUNS
from ...datasets.units import unit_of_loss
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.loss.grouping import GROUP
from ...models.loss.tasks import TaskError
from ..fitted import of_kind, place_of

TASK = "task"


def task_errors(tasks, fit, loss, rng, *, noise=True):
    """Draw the errors of models on tasks, (chain, draw, run, task), from draws of their losses, (chain, draw, run).

    Each draw of the losses meets a draw of the curves at random, since the two fits are of different rows. `tasks` is a
    fit of the law ``task-error``, of one task or grouped by tasks, and `fit` the one that the losses are of. With
    `noise` single models scatter about the curves.
    """
    law = getattr(of_kind(tasks, RUNS).law, "law", tasks.law)
    if not isinstance(law, TaskError):
        raise InputError(f"{place_of(tasks)} is a fit of {law.name}; errors of tasks need a fit of task-error")
    units = [unit_of_loss(one.rows) for one in (tasks, fit)]
    if len(set(units)) > 1:
        raise InputError(f"{place_of(tasks)} has losses in {units[0]}, {place_of(fit)} in {units[1]}; fit one unit")
    named = tasks.draws.named()
    named = named.rename({GROUP: TASK}) if GROUP in named.dims else named.expand_dims({TASK: [law.observed]})
    named = named.stack(sample=DRAWS)
    picks = xr.DataArray(rng.integers(named.sizes["sample"], size=loss.shape[:2]), dims=DRAWS)
    named = named.isel(sample=picks).drop_vars(["sample", *DRAWS])
    error = law.mean(named, {"loss": loss}).transpose(*DRAWS, "run", TASK)
    if not noise:
        return error
    arguments = [x.broadcast_like(error).transpose(*error.dims).values for x in law.residuals.arguments(named)]
    return (error + law.residuals.draw(rng, error.shape, *arguments)).clip(0.0, 1.0)

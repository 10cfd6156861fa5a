"""Losses of runs not made, draw by draw, which print a short table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.kinds.runs import RUNS
from ...datasets.meaning.magnitudes import LEAST
from ...datasets.printed import Printed, Text
from ...datasets.requirements import positive_columns, rows_of
from ...datasets.units import NATS
from ...datasets.wording import shorten_number
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.loss.grouping import GROUP
from ...models.loss.tasks import TaskError
from ..fitted import Fit, of_kind, place_of, table_named
from ..intervals import check_level, named, without_nonfinite
from ..quoted import quote_draws
from ..settings import seed_of
from ..standing import graded, lines, standing, strength_sentence
from ..words import flop, plain, probability, si
from .allocation import how, times_largest
from .beyond import check_beyond, decades_beyond, draw_errors, sides_outside
from .strength import GRADES


def predict(
    fit: Fit,
    runs: pd.DataFrame | Mapping[str, Any] | None = None,
    *,
    noise: bool = True,
    beyond: str = "drift",
    robust: bool = True,
    task: Fit | None = None,
    above: float | None = None,
    seed: int | None = None,
    **sizes: Any,
) -> Prediction:
    """Predict losses of runs, and their errors on tasks, draw by draw.

    Parameters
    ----------
    fit : Fit
    runs : DataFrame or mapping, optional
        Sizes of runs; the columns that the law needs (``parameters`` and ``tokens`` for Chinchilla's).
    noise : bool
        Losses of single runs (default), or the law's mean without the scatter of runs. A reading error is left out: the
        prediction is of the loss, not of its reading. Under run effects one effect is drawn for each run that a column
        ``run`` names, as of a new run. Without that column each row is a separate run.
    beyond : {"drift", "none"}
        Whether runs above the largest fitted one or below the least carry the drift of the law: in compute, size or
        tokens. It is learned from rollouts of other tables (see `rollout`). It has one error a decade for all of them
        on a side, and one for each run where `noise` is drawn. Intervals without it are too narrow: over ten public
        tables those of 90% hold about 70% of later runs.
    robust : bool
        Whether means without noise are spread to their robust width where the rows reject the law, see `quote_draws`.
    task : Fit, optional
        Of the law ``task-error``: errors follow from the losses, whose uncertainty is carried. Losses of both fits are
        of the same text.
    above : float, optional
        An accuracy: the probability that a run exceeds it on each task is given too.
    seed : int, optional
        Seed of the noise and the drift; that of the fit by default.
    **sizes
        Columns of one run or several in place of `runs`, such as ``parameters=7e9, tokens=140e9``.

    Returns
    -------
    Prediction
        A Dataset that prints a short table; ``.table()`` returns its numbers. It holds ``loss`` in nats per token, dims
        (chain, draw, run), with the runs' sizes as coordinates. So are ``beyond`` and ``below``, the decades above the
        largest and below the least fitted run in compute or a column of the law: 0 inside, NaN where that is unknown.
        With `task` it holds ``error``, dims (chain, draw, run, task), and
        ``.tasks()`` returns its numbers.

    Raises
    ------
    InputError
        If a column is missing, a size is not a positive number, `beyond` is unknown, or `task` is of another law.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.laws.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> fit.predict(runs.head(3))["loss"].dims
    ('chain', 'draw', 'run')
    """
    check_beyond(beyond)
    if above is not None and task is None:
        raise InputError("above is an accuracy on tasks; give their fit as task (--task TASKS.nc)")
    if above is not None and not (isinstance(above, int | float) and 0 < above < 1):
        raise InputError(f"above must be an accuracy between 0 and 1 such as 0.6, not {above!r}")
    draws = of_kind(fit, RUNS).draws
    law = draws.law.without_reading_error
    runs = rows_of(runs, sizes, [*draws.rows.columns], "a prediction")
    for name, values in positive_columns(runs, law.columns, purpose="a prediction").items():
        least = min(LEAST, draws.rows[name].min()) if name in ("parameters", "tokens") else 0
        if (small := values[values < least]).size:
            raise InputError(
                f"{name} is {small[0]:g}, and no run has fewer than {least:,.0f}; write the number in full, such as "
                f"{shorten_number(small[0] * 1e9)} for {small[0]:g}B"
            )
    rng = np.random.default_rng(seed_of(seed, fit))
    if noise:
        loss = law.from_scale(law.draws(draws.named(), runs, draws.reference).replicate(rng))
    else:
        loss = draws.mean(runs).transpose(..., "run")
    decades, drift = decades_beyond(draws.law, draws.rows, runs), None
    if beyond == "drift" and decades.any():
        drift = loss.copy(data=draw_errors(law, rng, decades, loss.shape[:2], scatter=noise))
    loss = quote_draws(fit, loss, robust=robust and not noise, drift=drift)
    names = {column: "at_loss" if column == "loss" else column for column in law.columns}
    sizes = {name: ("run", np.asarray(runs[column], float)) for column, name in names.items()}
    sizes |= {name: ("run", x) for name, x in zip(SIDES, sides_outside(draws.law, draws.rows, runs), strict=True)}
    result = loss.to_dataset(name="loss").assign_coords(run=np.arange(len(runs)), **sizes)
    result.attrs = {"law": law.label, "table": table_named(fit), "noise": noise, "beyond": beyond, "of": law.observed}
    result.attrs |= {"unit": NATS, "standing": standing(fit, robust=robust and not noise)}
    if task is not None:
        result["error"] = task_errors(task, fit, result["loss"], rng, noise=noise)
        result.attrs |= {"tasks": table_named(task), "least_loss": float(task.rows["loss"].min()), "above": above}
        result.attrs["standing_of_tasks"] = standing(task, robust=False)
    return Prediction(result.data_vars, result.coords, result.attrs)


SIDES = ("beyond", "below")


class Prediction(Printed, xr.Dataset):
    """Predicted losses and errors, draw by draw; see `predict`."""

    __slots__ = ()

    def tasks(self, level: float = 0.95) -> pd.DataFrame:
        """Return the median error and the ends of its interval at a level by run and task, and ``p_above``."""
        ends, above = [(1 - check_level(level)) / 2, 0.5, (1 + level) / 2], self.attrs["above"]
        error = self["error"].stack(row=("run", "task"))
        columns = named(error.quantile(ends, DRAWS).values, ends)
        columns |= {} if above is None else {"p_above": (1 - error > above).mean(DRAWS).values}
        return pd.DataFrame(columns, index=error.indexes["row"])

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return sizes, the median loss and the ends of its interval at a level, a DataFrame with one row a run."""
        ends = [(1 - check_level(level)) / 2, 0.5, (1 + level) / 2]
        quantiles = self["loss"].quantile(ends, DRAWS).transpose("quantile", "run").values
        columns = {name: x.values for name, x in self.coords.items() if x.dims == ("run",) and name != "run"}
        return pd.DataFrame(columns | named(quantiles, ends), index=self["run"].values)

    def entries(self) -> list[dict[str, Any]]:
        """Return the rows of the table, each with the ``strength`` of its number and why it is no stronger."""
        held = self.attrs["standing"]
        return [
            row | graded(held, row, max(row["beyond"], -row["below"], key=abs))
            for row in self.table().to_dict("records")
        ]

    def text(self) -> Text | None:
        """Return what is printed; None of a part of a prediction."""
        if "noise" not in self.attrs or not {*DRAWS, "run"} <= {*self["loss"].dims}:
            return None
        of = self.attrs["of"]
        what, entries = f"loss, {self.attrs['unit']}" if of == "loss" else of, self.entries()
        rows = [
            {
                name.replace("_", " "): flop(x) if name == "training_flop" else si(x)
                for name, x in row.items()
                if name in self.coords and name not in SIDES
            }
            | {what: plain(row), "times the largest run": _outside(row), "strength": row["strength"]}
            for row in entries
        ]
        of = f"{of.capitalize()} of single runs" if self.attrs["noise"] else f"Mean {of} of runs"
        below = [how(self.attrs), *lines(self.attrs["standing"])]
        below += [strength_sentence(entries[0])] if len(entries) == 1 else []
        if "error" in self:
            for (run, task), row in self.tasks().iterrows():
                of_task = "" if task == "error" else f", {task}"
                rows[run][f"error{of_task}"] = plain(row)
                if "p_above" in row:
                    rows[run][f"P(accuracy above {self.attrs['above']:g}){of_task}"] = probability(row["p_above"])
            below.append(f"Errors follow from the loss, with its uncertainty, by curves through {self.attrs['tasks']}.")
            if (least := self.attrs["least_loss"]) > float(self["loss"].median(DRAWS).min()):
                below.append(f"Errors at losses below {least:.3f}, the lowest there, are extrapolated along the curve.")
            below += [f"Of the tasks: {line}" for line in lines(self.attrs["standing_of_tasks"])]
        table = pd.DataFrame(rows, index=[f"run {i + 1}" for i in range(len(rows))])
        return Text(f"{of} ({self.attrs['law']}, {self.attrs['table']})", table, tuple(below))

    def document(self) -> dict[str, Any]:
        """Return what JSON holds: ``runs`` with their sizes and quantiles, and what holds of them."""
        more = {"tasks": self.tasks().reset_index().to_dict("records")} if "error" in self else {}
        entries = self.entries()
        worst = max(entries, key=lambda row: GRADES.index(row["strength"]))
        held = self.attrs["standing"] | {name: worst[name] for name in ("strength", "because", "width")}
        return without_nonfinite({"runs": entries, **more, "standing": held})


def _outside(row):
    """Write how far a run lies outside the fitted ones, on both sides."""
    sides = [times_largest(x) for x in (row["beyond"], -row["below"]) if x]
    return "; ".join(dict.fromkeys(sides)) or times_largest(0.0)


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

"""Losses of runs not made, draw by draw, which print a short table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.printed import Printed, Text
from ...datasets.requirements import positive_columns
from ...datasets.units import unit_of_loss
from ...models.draws import DRAWS
from ..checks.sandwich import quotable_places
from ..fitted import table_named
from ..intervals import check_level, named
from ..needs import of_kind
from ..settings import seed_of
from ..standing import lines, standing
from ..words import plain, si
from .allocation import how, times_largest
from .beyond import check_beyond, decades_beyond, drift_of

if TYPE_CHECKING:
    from ..fitted import Fit


def predict(
    fit: Fit,
    runs: pd.DataFrame,
    *,
    noise: bool = True,
    beyond: str = "drift",
    robust: bool = True,
    seed: int | None = None,
) -> Prediction:
    """Predict losses of runs, draw by draw.

    Parameters
    ----------
    fit : Fit
    runs : DataFrame
        Sizes of runs; the columns that the law needs (``parameters`` and ``tokens`` for Chinchilla's).
    noise : bool
        Losses of single runs (default), or the law's mean without the scatter of runs. A reading error is left out: the
        prediction is of the loss, not of its reading. Under run effects one effect is drawn for each run that a column
        ``run`` names, as of a new run. Without that column each row is a separate run.
    beyond : {"drift", "none"}
        Whether runs beyond the largest fitted one carry the drift of the law: in compute, size or tokens. It is learned
        from rollouts of other tables (see `rollout`). It has one error a decade for all of them, and one for each run
        where `noise` is drawn. Intervals without it are too narrow: over ten public tables those of 90% hold about 70%
        of later runs.
    robust : bool
        Whether means without noise are spread to their robust width where the rows reject the law, see `quotable`.
    seed : int, optional
        Seed of the noise and the drift; that of the fit by default.

    Returns
    -------
    Prediction
        A Dataset that prints a short table; ``.table()`` returns its numbers. It holds ``loss`` in nats per token, dims
        (chain, draw, run), with the runs' sizes as coordinates. So is ``beyond``, the decades above the largest fitted
        run in compute, size or tokens, 0 inside.

    Raises
    ------
    InputError
        If a column is missing, a size is not a positive number, or `beyond` is unknown.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.laws.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> fit.predict(runs.head(3))["loss"].dims
    ('chain', 'draw', 'run')
    """
    check_beyond(beyond)
    draws = of_kind(fit, "runs").draws
    law = draws.law.without_reading_error
    positive_columns(runs, law.columns, purpose="a prediction")
    rng = np.random.default_rng(seed_of(seed, fit))
    if noise:
        loss = law.from_scale(law.draws(draws.named(), runs, draws.reference).replicate(rng))
    else:
        loss = draws.mean(runs).transpose(..., "run")
        loss = quotable_places(fit, {"loss": loss})["loss"] if robust else loss
    decades = decades_beyond(draws.law, draws.rows, runs)
    if beyond == "drift" and decades.any():
        loss = loss * np.exp(drift_of(law).errors(rng, decades, loss.shape[:2], scatter=noise))
    sizes = {column: ("run", np.asarray(runs[column], float)) for column in law.columns} | {"beyond": ("run", decades)}
    result = loss.to_dataset(name="loss").assign_coords(run=np.arange(len(runs)), **sizes)
    result.attrs = {"law": law.label, "table": table_named(fit), "noise": noise, "beyond": beyond}
    result.attrs |= {"unit": unit_of_loss(fit.rows), "standing": standing(fit, robust=robust and not noise)}
    return Prediction(result.data_vars, result.coords, result.attrs)


class Prediction(Printed, xr.Dataset):
    """Predicted losses, draw by draw; see `predict`."""

    __slots__ = ()

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return sizes, the median loss and the ends of its interval at a level, a DataFrame with one row a run."""
        ends = [(1 - check_level(level)) / 2, 0.5, (1 + level) / 2]
        quantiles = self["loss"].quantile(ends, DRAWS).transpose("quantile", "run").values
        columns = {name: x.values for name, x in self.coords.items() if x.dims == ("run",) and name != "run"}
        return pd.DataFrame(columns | named(quantiles, ends), index=self["run"].values)

    def text(self) -> Text | None:
        """Return what is printed; None of a part of a prediction."""
        if "noise" not in self.attrs or not {*DRAWS, "run"} <= {*self["loss"].dims}:
            return None
        rows = [
            {name.replace("_", " "): si(x) for name, x in row.items() if name[0] != "q" and name != "beyond"}
            | {f"loss, {self.attrs['unit']}": plain(row), "times the largest run": times_largest(row["beyond"])}
            for row in self.table().to_dict("records")
        ]
        of = "Loss of single runs" if self.attrs["noise"] else "Mean loss of runs"
        table = pd.DataFrame(rows, index=[f"run {i + 1}" for i in range(len(rows))])
        below = (how(self.attrs), *lines(self.attrs["standing"]))
        return Text(f"{of} ({self.attrs['law']}, {self.attrs['table']})", table, below)

    def document(self) -> dict[str, Any]:
        """Return what JSON holds: ``runs`` with their sizes and quantiles, and what holds of them."""
        return {"runs": self.table().to_dict("records"), "standing": self.attrs["standing"]}

"""What each size lost by the learning rates and batches that were tried, draw by draw."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.kinds.runs import RUNS
from ...datasets.printed import PrintedTable, Text
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.loss.tuned import rungs as rungs_of
from ..fitted import Fit, of_kind, place_of, table_named
from ..intervals import QUANTILES, quantiles
from ..quoted import quote_draws
from ..words import HIGH, LOW, MIDDLE, plain, size

LEAST = 0.005  # our choice: a run that lost half a percent of its loss lost more than most changes are worth
SURE = 0.95
NAMES = {"learning_rate_peak": "learning rate", "batch_tokens": "batch"}


class Tuning(PrintedTable):
    """The rungs of a sweep, which print a short table; see `tuning`."""

    def text(self):
        """Return what is printed."""
        settings = [name for name in NAMES if (name, MIDDLE) in self.columns]
        rows = {_named(rung): _row(rung, settings) for _, rung in self.iterrows()}
        return Text(self.attrs["title"], pd.DataFrame.from_dict(rows, orient="index"), (sentence(self),))


def tuning(fit: Fit, *, least: float = LEAST) -> Tuning:
    """Compute the best learning rate and batch of each size, and what its best run lost by those that were tried.

    Rungs are runs of the same parameters and of tokens that differ by less than 10%. The best run of a rung is that of
    the lowest loss, the one that a law of tuned runs would be fitted to.

    Parameters
    ----------
    fit : Fit
        Of ``learning-rate`` or ``rate-and-batch``.
    least : float
        Share of the loss; a rung whose best run lost more with probability .95 is undertuned.

    Returns
    -------
    Tuning
        A DataFrame that prints a short table, one row a rung in order of size, with two levels of columns.
        ``parameters``, ``tokens`` and ``runs`` describe it. ``learning_rate_peak`` and, of ``rate-and-batch``,
        ``batch_tokens`` have the median (``q50``) of the best one and the ends of its 95% interval (``q2.5`` and
        ``q97.5``). ``used`` is that of the best run, and ``min tried`` and ``max tried`` are the ends of all. ``lost``
        has the quantiles of the share of the loss that the best run lost, in logarithms, and ``undertuned`` is whether
        that is too much. Where the rows reject the law, intervals are robust.

    Raises
    ------
    InputError
        If the fit is of another law or of groups, or `least` is not positive.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("small_lm_rates")
    >>> runs = runs[runs["batch_tokens"] == 1024].reset_index(drop=True)
    >>> fit = bs.fit("learning-rate", runs, seed=1, draws=500, tune=500)
    >>> rungs = fit.tuning()
    >>> bool((rungs["learning_rate_peak", "q50"] > 0.001).all())
    True
    """
    law, rows = of_kind(fit, RUNS).law, fit.rows
    settings = law.settings
    if not settings:
        raise InputError(f"{place_of(fit)} is a fit of {law.name}, which knows no learning rate; fit learning-rate")
    if law.grouped_by:
        raise InputError(f"{place_of(fit)} is a fit of groups; fit learning-rate to the rows of one {law.grouped_by}")
    if not (isinstance(least, (int, float)) and least > 0):
        raise InputError(f"least must be a positive share of the loss, not {least!r}")
    rungs = [group for _, group in rows.groupby(rungs_of(rows).to_numpy())]
    best = pd.concat([rung.loc[[rung[law.observed].idxmin()]] for rung in rungs], ignore_index=True)
    constants = fit.draws.named()
    sizes = [xr.DataArray(best[name].to_numpy(float), dims="run") for name in law.sized_by]
    lost = np.log(fit.draws.mean(best) / law.mean_of_sizes(constants, None, *sizes))
    settled = law.best_settings(constants, *sizes)
    quoted = quote_draws(fit, {"lost": lost, **settled})
    table = {
        ("parameters", ""): best["parameters"],
        ("tokens", ""): best["tokens"],
        ("runs", ""): list(map(len, rungs)),
    }
    for name in settings:
        table |= _ends(name, quoted[name])
        table[name, "used"] = best[name]
        table |= {(name, f"{end} tried"): [getattr(rung[name], end)() for rung in rungs] for end in ("min", "max")}
    table |= _ends("lost", quoted["lost"])
    table["undertuned", ""] = (quoted["lost"] > least).mean(DRAWS).values >= SURE
    result = pd.DataFrame(table).sort_values([("parameters", ""), ("tokens", "")], ignore_index=True)
    result.attrs = {"title": f"Rungs of the sweep ({law.label}, {table_named(fit)})", "least": least}
    return Tuning.of(result)


def _ends(name, draws):
    """Return the quantiles of each rung, (rung,), of draws of dims (chain, draw, run)."""
    values = draws.transpose(*DRAWS, ...).values
    ends = quantiles(values.reshape(-1, values.shape[-1]), list(QUANTILES.values()))
    return {(name, q): x for q, x in zip(QUANTILES, ends, strict=True)}


def _named(rung):
    """Name a rung by its size and tokens."""
    return f"{size(rung['parameters', ''])} on {size(rung['tokens', ''])}"


def _row(rung, settings):
    """Return cells of one rung, text by column."""
    forms = {"learning_rate_peak": lambda x: f"{x:.2g}", "batch_tokens": size}
    lost = plain({q: 100 * rung["lost", q] for q in QUANTILES}, "{:.2g}")
    cells = {"lost, % of the loss": lost, "": "undertuned" if rung["undertuned", ""] else ""}
    for name in settings:
        middle, low, high, used = (forms[name](rung[name, key]) for key in (MIDDLE, LOW, HIGH, "used"))
        cells |= {f"best {NAMES[name]}": f"{middle} [{low}, {high}]", f"{NAMES[name]} used": used}
    return cells


def sentence(rungs):
    """Write which rungs are undertuned, and by what."""
    bad = rungs[rungs["undertuned", ""]]
    least = f"{100 * rungs.attrs['least']:.2g}% of its loss"
    if bad.empty:
        return f"No rung is undertuned: none lost more than {least} with probability {SURE:g}."
    named = ", ".join(f"{_named(rung)}{_why(rung)}" for _, rung in bad.iterrows())
    return f"{len(bad)} of {len(rungs)} rungs are undertuned, their best run having lost more than {least}: {named}."


def _why(rung):
    """Name the setting whose best value lies beyond all that were tried."""
    ends = [
        f"{what} {side} all tried"
        for name, what in NAMES.items()
        if (name, LOW) in rung.index
        for side, beyond in (
            ("above", rung[name, LOW] > rung[name, "max tried"]),
            ("below", rung[name, HIGH] < rung[name, "min tried"]),
        )
        if beyond
    ]
    return f" ({'best ' + ' and '.join(ends)})" if ends else ""

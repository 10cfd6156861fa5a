"""Fit a law to the rows below a cutoff and predict the rest: what its predictions were worth where they were needed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets import KINDS, fractional_years
from ...datasets.deferred import special
from ...datasets.printed import Printed, Text, drawn_by
from ...datasets.progress_messages import counted
from ...datasets.reader import as_table
from ...datasets.wording import quoted, shorten_number, source_of
from ...errors import DiagnosticWarning, InputError
from ...models.draws import DRAWS
from ...models.law import Law
from ...models.laws import as_law
from ..estimands.beyond import check_beyond, decades_beyond, draw_errors, sided
from ..fitting import check_options
from ..fitting import fit as fit_law
from ..intervals import finite
from ..kinds import find_record
from ..words import flop
from ..workers import mapped
from .scoring import binomial_interval, crps

LEVELS = {0.5: ("q25", "q75"), 0.8: ("q10", "q90"), 0.9: ("q5", "q95")}
QUANTILES = {"q5": 0.05, "q10": 0.1, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q90": 0.9, "q95": 0.95}
PARTS = 8  # Of the draws, from which the Monte-Carlo error of a score is estimated.
AT_ONCE = 4_000_000  # Predictive draws held in memory together.
ALONE = "_law_alone"  # Ends the names of what a law predicts without its drift.
DIAGNOSTICS = ("ok", "r_hat_max", "ess_bulk_min", "divergences")
WHOLE = ("fitted", "predicted", "divergences")
LEAST_LEVELS, LEFT_OUT = 12, 4  # of a column, of which the largest 1 in 4 are left out
BRIEF = {"draws": 400, "tune": 500, "chains": 2}
UNSETTLED = 0.2  # share of the CRPS; with a larger Monte-Carlo error the CRPS is not settled


def rollout(
    law: Law | str,
    table: pd.DataFrame,
    by: str,
    cutoffs: float | str | Sequence[float | str],
    *,
    beyond: str = "drift",
    seed: int = 1,
    sampler: str | None = None,
    progress: bool = False,
    **settings: Any,
) -> Rollout:
    """Fit a law to the rows below each cutoff and predict each row at or above it.

    Nothing of the rows predicted is used: what the law's quantities refer to is that of the rows below. Every row is
    predicted alone, as that of a new run or paper where rows of these share an effect. A law of counts predicts new
    problems of the same runs. A law of scores predicts a new model of that date and compute, on benchmarks that at
    least three models below the cutoff have scores on. Predictions are on the scale of the law, since the mean of a
    loss whose logarithm is Student-t does not exist. For a law of the loss this is ``log_loss`` by default, so that
    0.01 is 1% of the loss.

    Parameters
    ----------
    law : Law or str
        Or its name.
    table : DataFrame
        As for `fit`.
    by : str
        What to cut along: ``"compute"``, training FLOP, of runs, ``"date"`` of evaluations, or a column of numbers or
        dates.
    cutoffs : number, str or sequence of them
        Rows below one are fitted. A date may be given as fractional years or as text (2019-06-30).
    beyond : {"drift", "none"}
        Whether runs above the largest fitted one or below the least carry the drift of the law. This is an error of log
        loss that grows with the distance. Its scale is learned from rollouts of ten public tables
        (``evidence/beyond.json``). Laws of other tables than runs have none.
    seed : int
        Of every fit and of the predictions.
    sampler : str, optional
    progress : bool
        Show a progress bar on standard error.
    **settings
        Of the sampler, as for `fit`.

    Returns
    -------
    Rollout
        A pair, ``scores, rows``, that prints the scores. ``.table()`` is the scores, and ``.plot()`` draws the rows.

        ``scores`` is a DataFrame by ``cutoff``: ``fitted`` and ``predicted`` (rows). ``coverage_50``, ``coverage_80``
        and ``coverage_90`` are the shares of rows within central predictive intervals. Each has the ends ``_low`` and
        ``_high`` of its 95% interval (as if rows were independent; those of one cutoff share the error of one fit).
        ``crps`` is the mean continuous ranked probability score and ``crps_se`` its Monte-Carlo standard error. This is
        large where a few draws predict anything, so that the score barely exists. With the drift,
        ``coverage_50_law_alone``, ``coverage_80_law_alone``, ``coverage_90_law_alone`` and ``crps_law_alone`` are those
        without it. ``mae`` and ``bias`` are the mean absolute and the mean difference of predicted medians from what
        was observed. ``log_score`` is the mean log predictive density (NaN where the law has none by row). ``ok``,
        ``r_hat_max``, ``ess_bulk_min`` and ``divergences`` are of the chains, and ``law`` is the label of the law that
        suits the rows below.
        ``attrs["scale"]`` names the scale of the scores.

        ``rows`` is a Dataset by ``prediction``, on the law's scale: ``observed``, quantiles ``q5`` to ``q95``, ``pit``
        (share of predictive draws below what was observed), ``crps`` and, where there is one, ``log_score``. With the
        drift there are also quantiles and ``crps`` that end in ``_law_alone``. ``beyond`` is then the decades above the
        largest run fitted (positive) or below the least. The coordinates are ``cutoff``, ``row`` (position in the law's
        rows) and ``value`` (of `by`).

    Raises
    ------
    InputError
        If `beyond` is unknown, the column is missing or holds no numbers, or a cutoff leaves no row on one side. Also
        if the rows below a cutoff cannot inform the law.

    Warns
    -----
    DiagnosticWarning
        If chains did not converge.

    Examples
    --------
    >>> import bayescaling as bs
    >>> law, runs = bs.laws.Chinchilla(), bs.load("chinchilla_runs")
    >>> scores, rows = bs.rollout(law, runs, "compute", 1e21, seed=1, draws=250, tune=500, chains=2)
    >>> int(scores.loc[1e21, "predicted"]) == rows.sizes["prediction"]
    True
    """
    law = as_law(law)
    check_options(seed, sampler, settings)
    check_beyond(beyond)
    table = as_table(table, law.kind, law.needed)
    whole = law.suited(table)
    rows = whole.rows(table)
    values = law.numbers_along(rows, by)
    cutoffs = sorted({_number(cutoff) for cutoff in np.atleast_1d(np.asarray(cutoffs, object))})
    cut = {cutoff: _cut(law, rows, values, by, cutoff) for cutoff in cutoffs}
    entries, parts = {}, []
    options = {"seed": seed, "sampler": sampler, **settings}
    items = [(past, rows[ahead].reset_index(drop=True)) for past, ahead in cut.values()]
    results = counted(mapped(_rolled, (law, beyond, options), items), "rolling out", progress, total=len(items))
    for (cutoff, (past, ahead)), (diagnosed, predictions) in zip(cut.items(), results, strict=True):
        entries[cutoff] = {"fitted": len(past)} | summarised(predictions) | diagnosed
        named = {"cutoff": np.full(ahead.sum(), cutoff), "row": np.flatnonzero(ahead), "value": values[ahead]}
        predictions = predictions.drop_vars("crps_without")
        parts.append(predictions.assign_coords({name: ("prediction", x) for name, x in named.items()}))
    predictions = xr.concat(parts, "prediction")
    predictions.attrs = {"law": law.label, "by": by, "scale": whole.scale}
    summary = pd.DataFrame.from_dict(entries, orient="index").rename_axis("cutoff")
    summary.attrs = {"scale": whole.scale, "source": source_of(table)}
    return Rollout(summary, predictions)


def larger_rows(fit):
    """Return a sentence on how a formula of one column predicts the largest rows from the others, "" of too few."""
    law, rows = fit.law, fit.rows
    _, orders = law.orders(rows)
    if not KINDS[law.kind].of_any_columns or len(orders) != 1:
        return ""
    (by,) = orders
    levels = np.unique(rows[by])
    if len(levels) < LEAST_LEVELS:
        return ""
    cutoff = float(levels[-(len(levels) // LEFT_OUT)])
    with warnings.catch_warnings(action="ignore", category=DiagnosticWarning):
        try:
            scores = rollout(law, rows, by, cutoff, **BRIEF).scores.iloc[0]
        except InputError:  # a group that has no row below the cutoff
            return ""
    fitted, ahead = int(scores["fitted"]), int(scores["predicted"])
    return (
        f"Fitted to the {fitted} rows with {by} below {shorten_number(cutoff)}, the law predicts the other {ahead}: "
        f"its 90% intervals hold {scores['coverage_90'] * ahead:.0f} of them"
        f"{', so do not extrapolate with it' if scores['coverage_90_high'] < 0.9 else ''}"
    )


class _Pair(NamedTuple):
    scores: pd.DataFrame
    rows: xr.Dataset


class Rollout(Printed, _Pair):
    """Scores by cutoff, and the predictions of rows; see `rollout`."""

    __slots__ = ()

    plot = drawn_by("plot_rollout")

    def table(self) -> pd.DataFrame:
        """Return the scores, a DataFrame with one row a cutoff."""
        return self.scores

    def text(self) -> Text:
        """Return what is printed."""
        attrs, records = self.rows.attrs, [*self.scores.iterrows()]
        names = [cutoff_named(attrs["by"], cutoff) for cutoff, _ in records]
        form = "{:.3g}" if not attrs["scale"].startswith("log_") else "{:.2%}"
        cells = {f"below {name}": _cells(row, form) for name, (_, row) in zip(names, records, strict=True)}
        unit = " of the loss" if attrs["scale"] == "log_loss" else f" on the scale {attrs['scale']}"
        below = [
            "Brackets are 95% intervals that treat rows as independent, but those of one cutoff share one fit",
            f"Bias, of the median, and CRPS are{unit}; ± is a Monte-Carlo standard error",
        ]
        for name, (_, row) in zip(names, records, strict=True):
            below += [f"Below {name}: {remark}" for remark in _remarks(row, attrs["law"])]
        title = f"{attrs['law']}, fitted below each cutoff, and what it predicted of the other rows"
        return Text(title, pd.DataFrame.from_dict(cells, orient="index"), tuple(below))

    def document(self) -> dict[str, Any]:
        """Return what JSON holds: ``scale``, ``cutoffs`` with their scores, and ``predictions``."""
        cutoffs = [{"cutoff": float(cutoff), **_plain(row)} for cutoff, row in self.scores.iterrows()]
        names = (*self.rows.coords, *self.rows.data_vars)
        predictions = {name: [finite(x) for x in self.rows[name].values] for name in names}
        return {"scale": self.rows.attrs["scale"], "cutoffs": cutoffs, "predictions": predictions}


def cutoff_named(by, cutoff):
    """Name a cutoff with its unit."""
    return flop(cutoff) if by == "compute" else f"{by} {cutoff:g}"


def _cells(row, form):
    """Return cells of the scores of one cutoff, text by column."""

    def share(level):
        name = f"coverage_{level}"
        return f"{row[name]:.0%} [{row[f'{name}_low']:.0%}, {row[f'{name}_high']:.0%}]"

    cells = {"rows fitted": f"{row['fitted']}", "rows predicted": f"{row['predicted']}"}
    cells |= {f"{level}% intervals hold": share(level) for level in (50, 90)}
    if f"coverage_90{ALONE}" in row:
        cells["90% without drift"] = f"{row[f'coverage_90{ALONE}']:.0%}"
    cells |= {
        "bias": form.replace(":", ":+").format(row["bias"]),
        "CRPS": f"{form.format(row['crps'])} ± {form.format(row['crps_se'])}",
    }
    return cells | ({"log score": f"{row['log_score']:.3g}"} if np.isfinite(row["log_score"]) else {})


def _remarks(row, law):
    """Yield what to know of the scores of one cutoff, in sentences."""
    if row["coverage_90_high"] < 0.9:
        yield "the 90% intervals hold fewer rows than they state: do not quote its predictions beyond the runs"
    if row["law"] != law:
        yield f"the rows need {row['law']}"
    if not row["crps_se"] < UNSETTLED * row["crps"]:
        yield "the CRPS is not settled, as a few draws predict anything; read the log score"
    if not row["ok"]:
        yield "the chains did not converge; draw more"


def _plain(row):
    """Return the scores of one cutoff as types that JSON knows."""
    numbers = {name: int(x) if name in WHOLE else finite(x) for name, x in row.drop(["ok", "law"]).items()}
    return numbers | {"ok": bool(row["ok"]), "law": row["law"]}


def _rolled(shared, item):
    """Fit rows and predict others; returns diagnostics of the chains, and the predictions."""
    (law, beyond, options), (past, ahead) = shared, item
    fit = fit_law(law, past, check=False, **options)
    diagnosed = {name: fit.diagnostics[name] for name in DIAGNOSTICS} | {"law": fit.law.label}
    return diagnosed, predicted(fit.draws, ahead, options["seed"], beyond)


def _number(cutoff):
    """Read a cutoff: a number, or a date as text, in fractional years."""
    try:
        value = float(cutoff)
    except (TypeError, ValueError):
        dates = pd.Series(pd.to_datetime([str(cutoff)], format="ISO8601", errors="coerce"))
        value = float(fractional_years(dates).iloc[0])
    if not np.isfinite(value):
        raise InputError(f"cutoff {cutoff!r} is neither a number nor a date such as 2019-06-30")
    return value


def _cut(law, rows, values, by, cutoff):
    """Return the rows below a cutoff, refused where they are too few, and which others, (row,), they predict."""
    place = source_of(rows)
    below = values < cutoff
    if below.all() or not below.any():
        side = "at or above it to predict" if below.all() else "below it to fit"
        raise InputError(
            f"{place}: a cutoff of {cutoff:g} leaves no row {side}; {by} goes from {values.min():g} to {values.max():g}"
        )
    past = rows[below].reset_index(drop=True)
    try:
        past = law.suited(past).rows(past)
    except InputError as error:
        raise InputError(f"below {by} {cutoff:g}: {error}") from None
    if not law.unit_is_row and (strange := set(rows[law.unit][~below]) - set(past[law.unit])):
        raise InputError(
            f"{place}: {law.unit} {quoted(sorted(strange)[0])} has no row below {by} {cutoff:g}, so that nothing "
            "predicts its rows; cut along what every one has on both sides"
        )
    ahead = ~below
    ahead[ahead] = law.are_informed(past, rows[ahead])
    if not ahead.any():
        raise InputError(f"{place}: rows below {by} {cutoff:g} do not inform any other; choose a later cutoff")
    return past, ahead


def predicted(draws, rows, seed, beyond="none"):
    """Predict rows and score the predictions, each row alone, by draws that were not fitted to them.

    The Dataset is the second of `rollout`, without coordinates, with ``crps_without`` (part, prediction), which is
    without each part of the draws.
    """
    law, rng = draws.law, np.random.default_rng(seed)
    alone = rows if law.left_out_by is None else rows.assign(**{law.left_out_by: np.arange(len(rows))})
    samples = int(np.prod([draws.named().sizes[dim] for dim in DRAWS]))
    step = max(1, AT_ONCE // samples)
    drifts = beyond == "drift" and find_record(law.kind).drifts
    parts = [
        _scored(draws, alone.iloc[start : start + step].reset_index(drop=True), rng, drifts)
        for start in range(0, len(rows), step)
    ]
    return xr.concat(parts, "prediction")


def _scored(draws, rows, rng, drifts):
    law, decades = draws.law, decades_beyond(draws.law, draws.rows, rows)
    draws = draws.of_unseen(rows, rng)
    sample = draws.replicate(rng, rows).transpose(*DRAWS, ...).values.reshape(-1, len(rows))
    observed = law.on_scale(rows[law.observed].to_numpy(float))
    scores = scored(sample, observed)
    if law.unit_is_row:
        density = draws.log_likelihood(rows).transpose(*DRAWS, ...).values.reshape(-1, len(rows))
        scores["log_score"] = ("prediction", special.logsumexp(density, axis=0) - np.log(len(density)))
    return _drifted(scores, law, sample, observed, decades, rng) if drifts else scores


def _drifted(alone, law, sample, observed, decades, rng):
    """Score predictions with the drift as well, those without it under names that end in `ALONE`."""
    losses = law.from_scale(sample)
    drifted = scored(law.on_scale(losses * np.exp(draw_errors(law, rng, decades, (len(sample),)))), observed)
    log_score = alone["log_score"].values.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        # A loss below 0, which noise on the loss itself allows, predicts no loss.
        errors = np.nan_to_num(np.log(law.from_scale(observed)) - np.log(losses), nan=np.inf)
    jacobian = np.zeros(len(observed)) if law.scale.startswith("log_") else np.log(observed)
    for drift, far in sided(law, decades):
        log_score[far > 0] = drift.log_density(rng, errors[:, far > 0], far[far > 0]) - jacobian[far > 0]
    named = {name: alone[name].rename(None) for name in (*QUANTILES, "crps")}
    return drifted.assign(
        {"log_score": ("prediction", log_score), "beyond": ("prediction", decades)}
        | {f"{name}{ALONE}": x for name, x in named.items()}
    )


def scored(sample, observed):
    """Return quantiles and scores of predictive draws, (sample, row), of what was observed, (row,); see `predicted`."""
    columns = dict(zip(QUANTILES, np.quantile(sample, list(QUANTILES.values()), axis=0), strict=True))
    columns |= {
        "observed": observed,
        "pit": (sample < observed).mean(0) + (sample == observed).mean(0) / 2,
        "crps": crps(sample, observed),
    }
    part = np.arange(len(sample)) * PARTS // len(sample)
    columns["crps_without"] = np.stack([crps(sample[part != left], observed) for left in np.unique(part)])
    return xr.Dataset({name: (("part", "prediction")[-x.ndim :], x) for name, x in columns.items()})


def _within(predictions, low, high):
    return (predictions["observed"] >= predictions[low]) & (predictions["observed"] <= predictions[high])


def summarised(predictions):
    """Return coverage, scores and bias of predictions, as in `rollout`; of some of them without ``crps_se``."""
    count, observed = predictions.sizes["prediction"], predictions["observed"]
    entry = {"predicted": count}
    for level, (low, high) in LEVELS.items():
        hits = int(_within(predictions, low, high).sum())
        name = f"coverage_{100 * level:.0f}"
        ends = binomial_interval(hits, count)
        entry |= {name: hits / count, f"{name}_low": float(ends[0]), f"{name}_high": float(ends[1])}
    entry["crps"] = float(predictions["crps"].mean())
    if "crps_without" in predictions:  # the jackknife over parts of the draws
        without = predictions["crps_without"].mean("prediction")
        entry["crps_se"] = float(without.std() * np.sqrt(without.size - 1))
    if f"crps{ALONE}" in predictions:
        ends = {level: (f"{low}{ALONE}", f"{high}{ALONE}") for level, (low, high) in LEVELS.items()}
        entry |= {f"coverage_{100 * x:.0f}{ALONE}": float(_within(predictions, *e).mean()) for x, e in ends.items()}
        entry[f"crps{ALONE}"] = float(predictions[f"crps{ALONE}"].mean())
    error = predictions["q50"] - observed
    entry |= {"mae": float(abs(error).mean()), "bias": float(error.mean())}
    return entry | {"log_score": float(predictions["log_score"].mean()) if "log_score" in predictions else np.nan}

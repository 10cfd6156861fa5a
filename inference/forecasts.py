"""Forecasts that are written down with their date, and scored when what they are of has come.

A forecast is the quantiles of what a fit predicts, with those of a straight line through the same past. The file holds
the law, the fingerprint of the data, and a fingerprint of all this, by which a later change is noticed.
"""

from __future__ import annotations

import hashlib
import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import __version__
from ..datasets.cells import as_days, fractional_years
from ..datasets.deferred import stats
from ..datasets.files import written_whole
from ..datasets.wording import listed, printable, quoted, unknown
from ..errors import InputError
from .comparison.scoring import crps
from .fitted import place_of
from .forecast_result import COUNT, Forecast
from .intervals import without_nonfinite
from .needs import of_kind
from .settings import seed_of
from .standing import standing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .fitted import Fit

PROBABILITIES = np.arange(1, COUNT) / COUNT
LEVELS = (0.5, 0.9)
NEW = "a new model"
LEAST = 4  # points of a straight line
MOST_BYTES = 200_000
SIGNIFICANT = 6
NEAR = 0.01  # relative difference of sizes of a planned run and of the run that came
WITHIN = 45.0  # days between the date of a forecast and the release of a model that it is scored on
UNITS = {"runs": "nats/token", "scores": "share", "horizons": "minutes", "values": "that of the value"}
SCHEMA = 1


def forecast(
    fit: Fit,
    at: str | None = None,
    *,
    benchmarks: Sequence[str] = (),
    plan: Mapping[str, float] | None = None,
    seed: int | None = None,
) -> Forecast:
    """Forecast what a new model, or a planned run, will show.

    Parameters
    ----------
    fit : Fit
        Of ``scores`` with dates or of ``horizons`` with a trend, for a new model of unknown compute released at a date.
        What is forecast is the score on each benchmark, or the time horizon. Of ``trend`` it is the value of a new row.
        Of a law of runs it is the loss of a planned run.
    at : str, optional
        Date such as 2027-01-31, of models; a month or a year takes its middle.
    benchmarks : sequence of str
        Of scores; all by default.
    plan : mapping of str to float, optional
        Sizes of the planned run, such as ``{"parameters": 7e9, "tokens": 1.4e11}``.
    seed : int, optional
        Of the draws of the new model or run; that of the fit by default.

    Returns
    -------
    Forecast
        A dict that prints a short table, and that `write` writes. It has the law, the data, the date and ``entries``:
        ``name``, ``quantiles`` and those of a ``straight_line`` through the same past.

    Raises
    ------
    InputError
        If the fit is of another law or has no trend, a benchmark is not in it, or the date or a size is no such.

    Examples
    --------
    >>> import bayescaling as bs
    >>> from bayescaling.inference.forecasts import forecast
    >>> fit = bs.fit("chinchilla", bs.load("chinchilla_runs"), seed=1, draws=300, tune=500)
    >>> document = forecast(fit, plan={"parameters": 7e10, "tokens": 1.4e12})
    >>> document["entries"][0]["name"], len(document["entries"][0]["quantiles"])
    ('loss', 199)
    """
    kind = of_kind(fit).law.kind
    seed = seed_of(seed, fit)
    rng = np.random.default_rng(seed)
    if kind not in UNITS:
        raise InputError(
            f"{place_of(fit)} is a fit of {fit.law.name}; forecasts are of runs, scores, horizons and values"
        )
    if kind == "runs":
        entries, of = _loss(fit, at, benchmarks, plan, seed), {"plan": {k: float(x) for k, x in plan.items()}}
    else:
        if plan:
            raise InputError(f"a forecast of {kind} takes a date, not the sizes of a run")
        year = _year(at)
        of = {"at": at, "year": year, "log": kind != "scores" and fit.law.linear_unit is None}
        entries = OF_DATE[kind](fit, year, benchmarks, rng)
    document = {
        "schema": SCHEMA,
        "kind": kind,
        "unit": UNITS[kind],
        "made": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "law": fit.law.label,
        "data": dict(fit.record["data"]),
        "version": __version__,
        "seed": seed,
        "converged": bool(fit.diagnostics["ok"]),
        **of,
        "entries": entries,
    }
    return Forecast(document, standing(fit, robust=False))


def _year(at):
    """Return a date as a year with decimals."""
    if at is None:
        raise InputError("a forecast of new models needs the date of their release, such as 2027-01 (--at 2027-01)")
    days, _, faults = as_days(pd.Series([str(at)]))
    if faults:
        raise InputError(f"date {quoted(at)} is none; write for example 2027-01-31 (--at 2027-01-31)")
    return float(fractional_years(days).iloc[0])


def _entry(name, draws, line):
    return {"name": name, "quantiles": _rounded(np.quantile(draws, PROBABILITIES)), "straight_line": _rounded(line)}


def _rounded(values):
    return None if values is None else [float(f"{x:.{SIGNIFICANT}g}") for x in values]


def straight_line(x, y, at):
    """Return quantiles of a new point at `at` of a straight line by least squares, or None with too few points."""
    if len(x) < LEAST or np.ptp(x) == 0:
        return None
    line = stats.linregress(x, y)
    spread = math.sqrt(((y - line.intercept - line.slope * x) ** 2).sum() / (len(x) - 2))
    spread *= math.sqrt(1 + 1 / len(x) + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())
    return line.intercept + line.slope * at + spread * stats.t(len(x) - 2).ppf(PROBABILITIES)


def _loss(fit, at, benchmarks, plan, seed):
    if at is not None or len(benchmarks):
        raise InputError("a forecast of a loss takes the sizes of the run, not a date or benchmarks")
    if not plan:
        raise InputError("a forecast of a loss needs the sizes of the run, such as --plan parameters=7e9")
    if lacking := [name for name in fit.law.columns if name not in plan]:
        options = " ".join(f"--plan {name}=NUMBER" for name in lacking)
        raise InputError(f"a forecast of the law {fit.law.name} needs {listed(lacking)} of the run; add {options}")
    for name in plan:
        if name not in fit.law.columns:
            raise InputError(f"plan: {unknown(f'size of a run of the law {fit.law.name}', name, fit.law.columns)}")
    loss = fit.predict(pd.DataFrame([dict(plan)]), seed=seed)["loss"].values.ravel()
    rows, line = fit.draws.rows, None
    if {"parameters", "tokens"} <= {*rows, *plan}:
        compute = np.log(rows["parameters"] * rows["tokens"]).to_numpy()
        line = straight_line(compute, np.log(rows["loss"].to_numpy()), math.log(plan["parameters"] * plan["tokens"]))
        line = None if line is None else np.exp(line)
    return [_entry("loss", loss, line)]


def _horizon(fit, year, benchmarks, rng):
    if len(benchmarks):
        raise InputError("a forecast of time horizons takes no benchmarks")
    draws = fit.draws
    if draws.law.trend is None:
        raise InputError(
            f"{place_of(fit)} was fitted with trend=None, which forecasts nothing; fit with trend='linear'"
        )
    rows = draws.rows[draws.rows["model"] == draws.rows["model"].iloc[0]].assign(model=NEW, year=year)
    new = draws.of_unseen(rows.reset_index(drop=True), rng).horizon[..., 0].ravel()
    line = straight_line(np.array(draws.reference["years"]), np.median(draws.horizon, (0, 1)), year)
    return [_entry("time horizon", np.exp(new), None if line is None else np.exp(line))]


def _value(fit, year, benchmarks, rng):
    if len(benchmarks):
        raise InputError("a forecast of dated values takes no benchmarks")
    law, rows = fit.law, fit.draws.rows
    blank = {name: np.nan for name in ("low", "high", "halfwidth") if name in rows}
    new = rows.head(1).assign(year=year, **blank, **({law.groups: NEW} if law.groups else {}))
    draws = law.from_scale(fit.draws.replicate(rng, new).values.ravel())
    line = straight_line(rows["year"].to_numpy(float), law.on_scale(rows["value"].to_numpy(float)), year)
    return [_entry("value", draws, None if line is None else law.from_scale(line))]


def _scores(fit, year, benchmarks, rng):
    draws = fit.draws
    if draws.law.pace is None:
        raise InputError(f"{place_of(fit)} was fitted with pace=None, which forecasts nothing; fit with pace='linear'")
    fitted = draws.reference["benchmarks"]
    for name in benchmarks:
        if name not in fitted:
            raise InputError(f"{place_of(fit)}: {unknown('benchmark', name, fitted)}")
    chosen = list(benchmarks) or fitted
    rows = draws.rows.drop_duplicates("benchmark").set_index("benchmark").loc[chosen].reset_index()
    blank = {"training_compute_flop": np.nan, "family": NEW, "version": NEW}
    blank = {name: x for name, x in blank.items() if name in rows}
    new = draws.of_unseen(rows.assign(model=NEW, year=year, **blank), rng).replicate(rng)
    entries = []
    for name, values in zip(chosen, new.transpose("row", ...).values.reshape(len(chosen), -1), strict=True):
        past = draws.rows[draws.rows["benchmark"] == name]
        line = straight_line(past["year"].to_numpy(float), past["score"].to_numpy(float), year)
        entries.append(_entry(name, values, None if line is None else np.clip(line, 0, 1)))
    return entries


OF_DATE = {"horizons": _horizon, "scores": _scores, "values": _value}

# The ledger -----------------------------------------------------------------------------------------------------------


def write(document: dict, folder: str | Path) -> Path:
    """Write a forecast into a folder, under its date, kind and fingerprint, and return its path.

    A file that would have more than 200 kB, exists already, or cannot be written is refused.
    """
    document = without_nonfinite(document)
    content = json.dumps({**document, "sha256": _fingerprint(document)}, allow_nan=False)
    if len(content) > MOST_BYTES:
        count = len(document["entries"])
        raise InputError(
            f"a forecast of {count} benchmarks has {len(content):,} bytes, above {MOST_BYTES:,}; name fewer"
        )
    name = f"{document['made'][:10]}-{document['kind']}-{_fingerprint(document)[:12]}.json"
    path = Path(folder) / name
    if path.exists():
        raise InputError(f"{path} exists already; a forecast is not written again")
    with written_whole(path) as partial:
        partial.write_text(content + "\n", encoding="utf-8")
    return path


def _fingerprint(document):
    content = {key: x for key, x in document.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read(path: str | Path) -> dict:
    """Read a forecast, refusing a file that is none or that was changed after it was written."""
    label = printable(path)
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{label}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label}: no forecast; name a file that 'bayescaling forecast' wrote") from error
    if not isinstance(document, dict) or {"schema", "kind", "entries", "sha256"} - document.keys():
        raise InputError(f"{label}: no forecast; name a file that 'bayescaling forecast' wrote")
    if document["sha256"] != _fingerprint(document):
        raise InputError(f"{label}: changed after it was written: its fingerprint is not that of its content")
    return document


def scored(document: dict, later: pd.DataFrame | Fit, *, within: float = WITHIN) -> pd.DataFrame:
    """Score a forecast on what came.

    Parameters
    ----------
    document : dict
        From `read` or `forecast`.
    later : DataFrame or Fit
        A table of runs, scores or dated values as `bayescaling.read` returns it. For time horizons a fit of
        ``horizons`` to later data, whose medians are taken for what came.
    within : float
        Days between the date of the forecast and the release of a model that it is scored on.

    Returns
    -------
    DataFrame
        A row for each outcome: ``name``, ``model``, ``observed``, ``covers_50``, ``covers_90``, ``crps`` and
        ``log_score``. Scores of the straight line have the prefix ``line_`` and are NaN where there is none. Horizons
        and values on a log scale are scored in their logarithm.

    Raises
    ------
    InputError
        If the table is of another kind, nothing in it is what was forecast, or `within` is no number of days.
    """
    if not (math.isfinite(within) and within >= 0):
        raise InputError(f"within must be a number of days such as 45, not {within!r}")
    came = _outcomes(document, later, within)
    if came.empty:
        what = "the planned run" if document["kind"] == "runs" else f"models released within {within:g} days of it"
        raise InputError(f"nothing to score a forecast for {document.get('at', 'a run')} on: no row is of {what}")
    by_name = {entry["name"]: entry for entry in document["entries"]}
    log = document.get("log", document["kind"] == "horizons")
    records = []
    for name, model, observed in came.itertuples(index=False):
        of = {"": by_name[name]["quantiles"], "line_": by_name[name]["straight_line"]}
        record = {"name": name, "model": model, "observed": observed}
        for prefix, quantiles in of.items():
            scores = _score(quantiles, observed, log=log)
            record |= {f"{prefix}{key}": x for key, x in scores.items()}
        records.append(record)
    return pd.DataFrame(records)


def _outcomes(document, later, within):
    """Return name, model and value of everything that came and was forecast."""
    kind = document["kind"]
    if kind == "horizons":
        if not hasattr(later, "law"):
            raise InputError("a forecast of time horizons is scored on a fit to later data, not on a table")
        draws = of_kind(later, "horizons").draws
        values = pd.Series(np.exp(np.median(draws.horizon, (0, 1))), draws.reference["models"])
        frame = pd.DataFrame({"name": "time horizon", "model": values.index, "value": values.to_numpy()})
        near = abs(np.array(draws.reference["years"]) - document["year"]) * 365.25 <= within
        return frame[near]
    needed = {
        "runs": (*document.get("plan", {}), "loss"),
        "scores": ("model", "benchmark", "score", "year"),
        "values": ("value", "year"),
    }[kind]
    if lacking := [name for name in needed if name not in getattr(later, "columns", ())]:
        raise InputError(f"a forecast of {kind} is scored on a table of {kind}; there is no column {listed(lacking)}")
    if kind == "runs":
        plan = pd.Series(document["plan"])
        same = (abs(later[plan.index] / plan - 1) <= NEAR).all(axis=1).to_numpy()
        label = (
            later["model"].astype(str) if "model" in later else "run " + pd.Series(later.index, later.index).astype(str)
        )
        return pd.DataFrame({"name": "loss", "model": label, "value": later["loss"]})[same]
    names = [entry["name"] for entry in document["entries"]]
    near = abs(later["year"] - document["year"]) * 365.25 <= within
    if kind == "values":
        label = later["model"] if "model" in later else later["date"].dt.strftime("%Y-%m-%d")
        return pd.DataFrame({"name": "value", "model": label, "value": later["value"]})[near]
    rows = later[near & later["benchmark"].isin(names)]
    return pd.DataFrame({"name": rows["benchmark"], "model": rows["model"], "value": rows["score"]})


def _score(quantiles, observed, *, log):
    if quantiles is None:
        return dict.fromkeys(("covers_50", "covers_90", "crps", "log_score"), math.nan)
    values, observed = np.array(quantiles), float(observed)
    if log:
        values, observed = np.log(values), math.log(observed)
    covers = {}
    for level in LEVELS:
        low, high = np.interp([(1 - level) / 2, (1 + level) / 2], PROBABILITIES, values)
        covers[f"covers_{100 * level:.0f}"] = float(low <= observed <= high)
    return covers | {
        "crps": float(crps(values[:, None], np.array([observed]))[0]),
        "log_score": _log_density(values, observed),
    }


def _log_density(values, x):
    """Return the log density at x of a distribution of given quantiles, exponential beyond them."""
    least = max(1e-4 * (values[-1] - values[0]), 1e-12)
    ten = COUNT // 20
    if x <= values[0] or x >= values[-1]:
        end, inner = (values[0], values[ten - 1]) if x <= values[0] else (values[-1], values[-ten])
        scale = max(abs(inner - end) / math.log(ten), least)
        return -math.log(COUNT * scale) - abs(x - end) / scale
    k = int(np.searchsorted(values, x)) - 1
    return -math.log(COUNT * max(values[k + 1] - values[k], least))


def summary(scores: pd.DataFrame) -> dict:
    """Return shares of outcomes within intervals, and mean scores, of the forecasts and of the straight line.

    The line is compared over the outcomes that it has forecasts of.
    """
    columns = ("covers_50", "covers_90", "crps", "log_score")
    with_line = scores[scores["line_crps"].notna()]
    means = {"forecast": scores}
    if 0 < len(with_line) < len(scores):
        means["forecast, where there is a line"] = with_line
    result = {name: {"outcomes": len(rows)} | {c: _mean(rows[c]) for c in columns} for name, rows in means.items()}
    line = {c: _mean(with_line[f"line_{c}"]) for c in columns}
    return result | {"straight line": {"outcomes": len(with_line)} | line}


def _mean(x):
    return float(x.mean()) if len(x) else None

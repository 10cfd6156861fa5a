"""Forecasts that are written down with their date, and scored when what they are of has come.

A forecast is the quantiles of what a fit predicts, with those of a straight line through the same past. The file holds
the law, the fingerprint of the data, and a fingerprint of all this, by which a later change is noticed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from .. import __version__
from ..datasets.cells import as_days, fractional_years
from ..datasets.deferred import stats
from ..datasets.files import written_whole
from ..datasets.printed import Printed, Text
from ..datasets.wording import listed, printable, quoted
from ..errors import InputError
from .comparison.scoring import crps
from .fitted import Fit, command_of, place_of, record_of
from .intervals import QUANTILES, without_nonfinite
from .kinds import find_record, list_records
from .settings import seed_of
from .standing import lines, standing
from .words import enumerated

COUNT = 200  # quantiles are at 1/200 to 199/200
COLUMNS = {"forecast": "quantiles", "straight line": "straight_line"}
MOST = 20  # entries that are printed


class Forecast(Printed, dict):
    """What `forecast` returns: a dict that prints what it forecasts and what holds of the fit, its `standing`."""

    def __init__(self, document, held):
        super().__init__(document)
        self.standing = held

    def text(self):
        """Return what is printed."""
        form, entries = find_record(self["kind"]).forecasts.form, self["entries"]
        rows = {
            entry["name"]: {name: written(entry[key], form) for name, key in COLUMNS.items()}
            for entry in entries[:MOST]
        }
        of = f"what comes in {self['at']}" if "at" in self else "the planned run"
        title = f"Forecast of {of}, {self['unit']} ({self['law']}, {self['data']['source']})"
        more = [f"{len(entries) - MOST} further benchmarks follow"] if len(entries) > MOST else []
        below = ("Medians and 95% intervals", *more, *lines(self.standing))
        return Text(title, pd.DataFrame.from_dict(rows, orient="index"), below)


def written(quantiles, form):
    """Write a median with its interval, given all quantiles; a dash where there are none."""
    if quantiles is None:
        return "–"
    return form({name: quantiles[int(COUNT * p) - 1] for name, p in QUANTILES.items()})


PROBABILITIES = np.arange(1, COUNT) / COUNT
LEVELS = (0.5, 0.9)
NEW = "a new model"
LEAST = 4  # points of a straight line
MOST_BYTES = 200_000
SIGNIFICANT = 6
WITHIN = 45.0  # days between the date of a forecast and the release of a model that it is scored on
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
    record, seed = record_of(fit), seed_of(seed, fit)
    if record.forecasts is None:
        kinds = enumerated(record.name for record in list_records("forecasts"))
        raise InputError(f"{place_of(fit)} is a fit of {fit.law.name}; forecasts are of {kinds}{command_of(fit)}")
    entries, of = record.forecasts.make(fit, at, benchmarks, plan, seed)
    document = {
        "schema": SCHEMA,
        "kind": record.name,
        "unit": record.forecasts.unit,
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


# What kinds of table share --------------------------------------------------------------------------------------------


def release(fit, at, plan):
    """Return the release of a new model that is forecast: its date and its year with decimals."""
    if plan:
        raise InputError(f"a forecast of {fit.law.kind} takes a date, not the sizes of a run")
    if at is None:
        raise InputError("a forecast of new models needs the date of their release, such as 2027-01 (--at 2027-01)")
    days, _, faults = as_days(pd.Series([str(at)]))
    if faults:
        raise InputError(f"date {quoted(at)} is none; write for example 2027-01-31 (--at 2027-01-31)")
    return {"at": at, "year": float(fractional_years(days).iloc[0])}


def entry(name, draws, line):
    """Return an entry of a forecast: quantiles of draws, and those of a straight line, None for none."""
    return {"name": name, "quantiles": _rounded(np.quantile(draws, PROBABILITIES)), "straight_line": _rounded(line)}


def near(document, years, within):
    """Return which dates lie within a number of days of the release that a forecast is of."""
    return abs(years - document["year"]) * 365.25 <= within


def with_columns(later, document, columns):
    """Return a table of what came, refusing one without the columns that a forecast is scored on."""
    kind = document["kind"]
    if lacking := [name for name in columns if name not in getattr(later, "columns", ())]:
        raise InputError(f"a forecast of {kind} is scored on a table of {kind}; there is no column {listed(lacking)}")
    return later


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
    forecasts = find_record(document["kind"]).forecasts
    if forecasts is None:
        kinds = enumerated(record.name for record in list_records("forecasts"))
        raise InputError(f"a forecast of {quoted(document['kind'])} is unknown; forecasts are of {kinds}")
    came = forecasts.outcomes(document, later, within)
    if came.empty:
        what = f"models released within {within:g} days of it" if "at" in document else "the planned run"
        raise InputError(f"nothing to score a forecast for {document.get('at', 'a run')} on: no row is of {what}")
    by_name = {entry["name"]: entry for entry in document["entries"]}
    log = document.get("log", False)
    records = []
    for name, model, observed in came.itertuples(index=False):
        of = {"": by_name[name]["quantiles"], "line_": by_name[name]["straight_line"]}
        record = {"name": name, "model": model, "observed": observed}
        for prefix, quantiles in of.items():
            scores = _score(quantiles, observed, log=log)
            record |= {f"{prefix}{key}": x for key, x in scores.items()}
        records.append(record)
    return pd.DataFrame(records)


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

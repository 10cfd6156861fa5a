"""Records of a speedrun, forecast from the records before, next to a straight line through their logarithms."""

from functools import partial

import bayescaling as bs
import numpy as np
from bayescaling.inference.comparison.scoring import binomial_interval
from bayescaling.inference.forecasts import PROBABILITIES, straight_line
from bayescaling.reports.pages.speedruns import page
from bayescaling.reports.pages.speedruns.records import GAINS, NUMBER, TIME, WAITS, Process
from study import register, selected

FIRST, LAST = 10, 20  # increments before the first cut, and records of the shorter line
AHEAD = {"next record": None, "90 days": 90, "180 days": 180}
LEVEL, LEAST = 0.9, 0.01  # of intervals; minutes below which a path ends
ROWS = page.rows_of(page.ALL)
LAWS = {
    f"gains by {gain}, waits by {wait}": (GAINS[gain], WAITS[wait]) for gain, wait in ((TIME, TIME), (NUMBER, NUMBER))
}


@register("records of a speedrun, each forecast from those before",
          lambda: [(law.suited(ROWS), ROWS) for of in LAWS.values() for law in of],
          seed=1, draws=500, tune=500)  # fmt: skip
def speedruns_ahead(parts, *, seed, **settings):
    """Forecast the next record, and those 90 and 180 days later, from every record after the tenth."""
    cuts = range(FIRST, len(ROWS))
    of = {str(cut): parts.entry(f"cut {cut}", partial(_forecast, cut, seed=seed, **settings)) for cut in cuts}
    names = [*LAWS, "straight line", f"straight line of the last {LAST}"]
    return {
        "forecasts": {name: {ahead: _scored(of.values(), name, ahead) for ahead in AHEAD} for name in names},
        "cuts": of,
    }


def _forecast(cut, *, seed, **settings):
    """Return intervals of the logarithm of the time by forecast, and what it was; none beyond the last record."""
    rows, now = selected(ROWS, ROWS.index < cut), ROWS.iloc[cut - 1]
    days = (ROWS["date"] - now["date"]).dt.days.to_numpy()
    within = {name: cut if far is None else int(np.flatnonzero(days <= far)[-1]) for name, far in AHEAD.items()}
    due = {name: i for name, i in within.items() if AHEAD[name] is None or days[-1] >= AHEAD[name]}
    entry = {"measured": {name: float(np.log(ROWS["minutes"][i])) for name, i in due.items()}}
    for name, laws in LAWS.items():
        process = Process(*(bs.fit(law, rows, seed=seed, check=False, **settings) for law in laws), seed=seed)
        draws = {
            ahead: now["minutes"] * np.exp(-process.next(now["minutes"], cut + 1)[0])
            if AHEAD[ahead] is None
            else process.minutes_after(AHEAD[ahead], now["minutes"], cut + 1)
            for ahead in due
        }
        entry[name] = {ahead: np.log(np.quantile(np.maximum(x, LEAST), _ends())).tolist() for ahead, x in draws.items()}
    for name, few in (("straight line", cut), (f"straight line of the last {LAST}", LAST)):
        at = {ahead: days[cut] if AHEAD[ahead] is None else AHEAD[ahead] for ahead in due}
        x, y = days[max(0, cut - few) : cut], np.log(rows["minutes"].to_numpy())[-few:]
        entry[name] = {
            ahead: np.interp(_ends(), PROBABILITIES, straight_line(x, y, when)).tolist() for ahead, when in at.items()
        }
    return entry


def _ends():
    return (1 - LEVEL) / 2, (1 + LEVEL) / 2


def _scored(entries, name, ahead):
    """Return how many intervals hold the record, their median width and mean interval score, as shares of the time."""
    found = [(*of[name][ahead], of["measured"][ahead]) for of in entries if ahead in of["measured"]]
    low, high, y = np.array(found).T
    held = (low <= y) & (y <= high)
    score = high - low + 2 / (1 - LEVEL) * (np.maximum(low - y, 0) + np.maximum(y - high, 0))
    return {"forecasts": len(y), "held": int(held.sum()), "share": binomial_interval(int(held.sum()), len(y)),
            "width": float(np.median(high - low)), "score": float(score.mean())}  # fmt: skip

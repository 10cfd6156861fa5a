"""Records of a contest as a process: what each gains, how long it takes, and what is to come.

A record is the best of all tries so far, so that records are no independent rows of a trend. What each gains on the one
before, and the days until it, are.
"""

import numpy as np
import pandas as pd

from ....datasets.formula_nodes import NUMPY, evaluate
from ....models.laws import Formula

MONTH = 365.25 / 12  # days
SAME_DAY = 0.5  # days between records of one day
MOST = 5000  # records of one path
TIME, NUMBER = "the time so far", "the number of the record"
GAINS = {
    TIME: "gain ~ k * minutes_before**a",
    f"{TIME}, and a least gain": "gain ~ g + k * minutes_before**a",
    NUMBER: "gain ~ k * record**-a",
}
WAITS = {TIME: "days ~ w * minutes_before**b", NUMBER: "days ~ w * record**b"}
EITHER = {"b": "Normal(0, 0.5)"}  # waits may rise or fall
GAINS = {name: Formula(x, tails="normal") for name, x in GAINS.items()}
WAITS = {name: Formula(x, tails="normal", priors=EITHER) for name, x in WAITS.items()}


def increments(records):
    """Return what each record gained on the one before, and how long it took.

    A row whose number is that of the row before is the same record measured again. It gains nothing, and the next one
    is compared with it.

    Parameters
    ----------
    records : DataFrame
        With ``record``, ``date`` and ``minutes``, in the order of the records.

    Returns
    -------
    DataFrame
        Of every record after the first: ``record`` counts them from 1; ``date``; ``minutes``; ``minutes_before``, the
        time that it beat; ``gain``, by how much it lowered the natural logarithm of the time; and ``days`` since the
        row before, half a day for those of one day.
    """
    before = records.shift()
    table = pd.DataFrame({
        "date": records["date"],
        "minutes": records["minutes"],
        "minutes_before": before["minutes"],
        "gain": np.log(before["minutes"] / records["minutes"]),
        "days": (records["date"] - before["date"]).dt.days.clip(lower=SAME_DAY),
    })[records["record"] != before["record"]].iloc[1:].reset_index(drop=True)  # fmt: skip
    table.insert(0, "record", np.arange(1, len(table) + 1))
    return table.assign(record=table["record"].astype(float))


class Process:
    """Records under a law of gains and one of waits, with a value for each draw of the two fits."""

    def __init__(self, gain, wait, *, seed=1):
        self.laws, self.rng = (gain.law, wait.law), np.random.default_rng(seed)
        self.values = [{name: x.values.ravel() for name, x in of["posterior"].data_vars.items()} for of in (gain, wait)]
        self.draws = len(self.values[0]["sigma"])

    def _medians(self, row):
        return [
            evaluate(law.parsed.right, lambda name, of=of: of[name.name] if name.name in of else row[name.name], NUMPY)
            for law, of in zip(self.laws, self.values, strict=True)
        ]

    def months_to_halve(self, rows):
        """Return the months in which the time halves at the mean pace of records such as those of `rows`, by draw."""
        means = np.zeros((2, self.draws))
        for row in rows[["record", "minutes_before"]].to_dict("records"):
            means += [m * np.exp(of["sigma"] ** 2 / 2) for m, of in zip(self._medians(row), self.values, strict=True)]
        return np.log(2) * means[1] / means[0] / MONTH

    def next(self, minutes, record):
        """Draw the gain of a record and the days until it, given the time to beat and its number."""
        medians = self._medians({"minutes_before": minutes, "record": record})
        noises = (np.exp(of["sigma"] * self.rng.standard_normal(self.draws)) for of in self.values)
        return [median * noise for median, noise in zip(medians, noises, strict=True)]

    def months_until(self, target, minutes, record):
        """Draw the months until the time is at most a target, infinite where `MOST` records do not reach it."""
        minutes, days = np.full(self.draws, float(minutes)), np.zeros(self.draws)
        for number in range(record, record + MOST):
            above = minutes > target
            if not above.any():
                break
            gain, wait = self.next(minutes, number)
            days = np.where(above, days + wait, days)
            minutes = np.where(above, minutes * np.exp(-gain), minutes)
        return np.where(minutes > target, np.inf, days / MONTH)

    def minutes_after(self, days, minutes, record):
        """Draw the record that holds some days after one, given its time and the number of the next."""
        minutes, left = np.full(self.draws, float(minutes)), np.full(self.draws, float(days))
        for number in range(record, record + MOST):
            gain, wait = self.next(minutes, number)
            left = left - wait
            if not (left >= 0).any():
                break
            minutes = np.where(left >= 0, minutes * np.exp(-gain), minutes)
        return minutes

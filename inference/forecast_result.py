"""What `forecast` returns: quantiles of what will come, which print a short table."""

import pandas as pd

from ..datasets.printed import Printed, Text
from .intervals import QUANTILES
from .kinds import find_record
from .remarks import lines

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

"""A table of medians and 95% intervals that prints itself in the units of a reader."""

import numpy as np
import pandas as pd

from .intervals import ends
from .printed import PrintedTable, Text
from .words import HIGH, LOW, MIDDLE, dates, durations, months, plain, probability

FORMS = {
    "human time": durations,
    "days": months,
    "date": dates,
    "gain a year": lambda q: plain(q, "{:.3g}"),
    "value": lambda q: plain(q, "{:.3g}"),
}
CHANCES = {
    "solved": "runs with any success",
    "p_growth": "P(growth)",
    "p_faster": "P(faster than the first)",
    "p_not_until": "P(not by then)",
}


class IntervalTable(PrintedTable):
    """A DataFrame of quantiles by label, which prints medians and intervals."""

    def text(self):
        """Return what is printed; None of a part of the table."""
        if "heading" not in self.attrs or not {LOW, MIDDLE, HIGH} <= set(self):
            return None
        form = FORMS[self.attrs["heading"]]
        rows = {}
        for label, row in self.iterrows():
            name = f"{label[0]}, {label[1]:.0%} of runs" if isinstance(label, tuple) else str(label)
            rows[name] = {self.attrs["heading"]: form(ends(row))}
            rows[name] |= {text: _share(row[column], column) for column, text in CHANCES.items() if column in row}
            if "elpd_diff" in row:
                rows[name]["elpd"] = f"{row['elpd_diff']:.1f} ± {row['dse']:.1f}" if row["elpd_diff"] else "best"
        return Text(self.attrs["title"], pd.DataFrame.from_dict(rows, orient="index"), (self.attrs["note"],))


def _share(x, column):
    return "" if np.isnan(x) else f"{x:.0%}" if column == "solved" else probability(x)


def printed(table, heading, title, note):
    """Return a DataFrame of quantiles as one that prints itself.

    Parameters
    ----------
    table : DataFrame
    heading : str
        A key of `FORMS`.
    title, note : str
        Above and below the table.
    """
    table.attrs = {"heading": heading, "title": title, "note": note}
    return IntervalTable.of(table)

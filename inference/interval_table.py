"""A table of medians and 95% intervals that prints itself in the units of a reader, with what holds of its numbers."""

from itertools import product

import numpy as np
import pandas as pd

from ..datasets.printed import PrintedTable, Text
from .intervals import ends, name_quantiles
from .intervals import entries as rows_as_json
from .remarks import lines
from .standing import standing
from .words import HIGH, LOW, MIDDLE, dates, digits, durations, months, plain, probability, yearly

MOST = 20  # labels that are printed
FORMS = {
    "human time": durations,
    "days": months,
    "months": months,
    "date": dates,
    "rank": lambda q: plain(q, "{:.0f}"),
    "digits": digits,
    "gain a year": lambda q: plain(q, "{:.3g}"),
    "fall of compute": yearly,
    "value": lambda q: plain(q, "{:.3g}"),
    "answer": lambda q: plain(q, "{:.3g}"),
    "loss": lambda q: plain(q, "{:.3f}"),
}
OF_SHARES = {"human time": "of runs", "digits": "left"}
BESIDES = {  # other columns that are printed
    "count": ("rows", "{:.0f}".format),
    "solved": ("any success", "{:.0%}".format),
    "p_progress": ("P(progress)", probability),
    "p_growth": ("P(growth)", probability),
    "p_faster": ("P(faster than the first)", probability),
    "p_not_until": ("P(not by then)", probability),
    "p_below": ("P(below)", probability),
    "p": ("P(> 0)", probability),
    "never": ("never", "{:.0%}".format),
    "times": ("times the rows' end", "{:.2g}".format),
    "p_best": ("P(best)", probability),
    "plateau": ("right at short lengths", "{:.0%}".format),
    "similar": ("similar", "{:.0f}".format),
}


class IntervalTable(PrintedTable):
    """A DataFrame of quantiles by label, which prints medians and intervals and what holds of them."""

    def text(self):
        """Return what is printed; of a part of it its rows."""
        if "heading" not in self.attrs or not {LOW, MIDDLE, HIGH} <= set(self):
            return super().text()
        form = FORMS[self.attrs["heading"]]
        rows, besides = {}, {}
        shown = self.index.unique(0)[:MOST]
        for label, row in self[self.index.get_level_values(0).isin(shown)].iterrows():
            name, share = label if isinstance(label, tuple) else (label, None)
            heading = self.attrs["heading"] if share is None else f"{share:.0%} {OF_SHARES[self.attrs['heading']]}"
            rows.setdefault(name, {})[heading] = form(ends(row))
            besides[name] = {
                text: "" if np.isnan(row[column]) else written(row[column])
                for column, (text, written) in BESIDES.items()
                if column in row
            }
            if "elpd_diff" in row:
                besides[name]["elpd"] = f"{row['elpd_diff']:.1f} ± {row['dse']:.1f}" if row["elpd_diff"] else "best"
        rows = {name: cells | besides[name] for name, cells in rows.items()}
        left = len(self.index.unique(0)) - len(shown)
        more = [f"{left} further rows follow"] if left else []
        below = (self.attrs["note"], *more, *lines(self.attrs["standing"]))
        return Text(self.attrs["title"], pd.DataFrame.from_dict(rows, orient="index"), below)

    def document(self):
        """Return what JSON holds: ``rows`` by label, and what holds of their numbers (`standing`)."""
        if self.index.nlevels == 1:
            rows = rows_as_json(self)
        else:
            rows = {str(name): rows_as_json(self.loc[name]) for name in self.index.unique(0)}
        return {"rows": rows, "standing": self.attrs["standing"]}


def tabulate_by_share(draws, labels, **besides):
    """Return quantiles of draws, dims (chain, draw, label, share), by label and share, with values besides by label."""
    dimension, records = draws.dims[2], {}
    for label, share in product(labels, draws["share"].values):
        values = {name: float(of[label]) for name, of in besides.items()}
        records[label, float(share)] = name_quantiles(draws.sel({dimension: label, "share": share})) | values
    return pd.DataFrame.from_dict(records, orient="index").rename_axis([dimension, "share"])


def printed(table, heading, title, note, fit, *, quoted=None, robust=True):
    """Return a DataFrame of quantiles as one that prints itself, with a title above and a note below.

    The heading is a key of `FORMS`. The row whose label is `quoted` is that whose width is graded; fit and `robust` are
    those of `standing`.
    """
    interval = None if quoted is None else ends(table.loc[quoted])
    table.attrs = {"heading": heading, "title": title, "note": note, "standing": standing(fit, interval, robust=robust)}
    return IntervalTable.of(table)

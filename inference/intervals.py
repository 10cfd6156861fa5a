"""Intervals of posterior draws: as plain numbers, and as a table that prints itself in the units of a reader."""

import math
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr

from ..datasets.printed import PrintedTable, Text
from ..errors import InputError
from ..models.draws import DRAWS, flatten
from .checks.sandwich import robust_sds
from .kinds import find_record
from .quoted import quote_draws
from .standing import lines, standing
from .words import HIGH, LOW, MIDDLE, dates, digits, durations, months, plain, probability, yearly

QUANTILES = {"q2.5": 0.025, "q50": 0.5, "q97.5": 0.975}
ROBUST = ("clusters", "posterior_sd", "robust_sd", "ratio")


def check_level(level):
    """Return a level, refusing what is no share."""
    if not (isinstance(level, int | float) and 0 < level < 1):
        raise InputError(f"level must be a share between 0 and 1 such as 0.95, not {level!r}")
    return float(level)


def check_shares(shares):
    """Return shares as an array (share,), refusing what does not lie between 0 and 1."""
    shares = np.atleast_1d(np.asarray(shares, float))
    if not ((shares > 0) & (shares < 1)).all():
        raise InputError(f"shares must lie between 0 and 1, not {shares.tolist()}")
    return shares


def summary(draws, *, ratio=False, level=0.95):
    """Compute the mean, standard deviation and quantiles of draws.

    Parameters
    ----------
    draws : array_like
        Draws of one quantity, of any shape.
    ratio : bool
        The quantity is a ratio or a time: its mean and standard deviation need not exist and are null.
    level : float
        Of the interval.

    Returns
    -------
    dict
        ``mean``, ``sd``, ``q2.5``, ``q50``, ``q97.5``; a value that is not finite is null.
    """
    values = np.ravel(np.asarray(draws, float))
    ratio = ratio or bool(np.isinf(values).any())
    moments = {"mean": None, "sd": None} if ratio else {"mean": values.mean(), "sd": values.std(ddof=1)}
    ends = ((1 - check_level(level)) / 2, 0.5, (1 + level) / 2)
    return {name: finite(x) for name, x in (moments | name_quantiles(values, ends)).items()}


def table_of(rows):
    """Return summaries by label and quantity as a DataFrame, with a column for each pair of a quantity and a quantile.

    What is not a summary has a column by its name and "".
    """
    cells = {
        label: {
            (name, q): x
            for name, value in row.items()
            for q, x in (value.items() if isinstance(value, dict) else [("", value)])
            if q not in ("mean", "sd")
        }
        for label, row in rows.items()
    }
    return pd.DataFrame.from_dict(cells, orient="index")


def quantiles(draws, probabilities):
    """Return quantiles of draws along their first axis, an ndarray (probability, ...).

    Examples
    --------
    >>> quantiles([1.0, 2.0, np.inf], [0.5, 0.975])
    array([ 2., inf])
    """
    values = np.asarray(draws, float)
    # Between a finite and an infinite draw there is no linear interpolation.
    return np.quantile(values, probabilities, axis=0, method="inverted_cdf" if np.isinf(values).any() else "linear")


def finite(x):
    """Return `x` as a float, or None where it is None or not finite."""
    return None if x is None or not math.isfinite(x) else float(x)


def without_nonfinite(document):
    """Return a document that JSON can hold, null for what is not finite; ``not_finite`` has what it was by path."""
    nulls = {}

    def cleared(value, path):
        if isinstance(value, dict):
            return {key: cleared(x, (*path, key)) for key, x in value.items()}
        if isinstance(value, list | tuple):
            return [cleared(x, (*path, i)) for i, x in enumerate(value)]
        if isinstance(value, float) and not math.isfinite(value):
            nulls[".".join(map(str, path))] = "not a number" if math.isnan(value) else "infinite"
            return None
        return value

    document = cleared(document, ())
    return document | {"not_finite": nulls} if nulls else document


def ends(row):
    """Return the median and 95% interval of a row of quantiles; None where one is not finite.

    Examples
    --------
    >>> ends({"q2.5": 1.0, "q50": 2.0, "q97.5": np.inf, "p": 0.5})
    {'q2.5': 1.0, 'q50': 2.0, 'q97.5': None}
    """
    return {name: finite(row[name]) for name in QUANTILES}


def entries(table):
    """Return the rows of a table as JSON holds them, by label: text unchanged, numbers as `finite`."""
    return {
        str(label): {name: x if isinstance(x, str) else finite(x) for name, x in row.items()}
        for label, row in table.iterrows()
    }


def named(values, probabilities=(0.025, 0.5, 0.975), prefix=""):
    """Return quantiles by their names, a dict of float or, of several quantities, of ndarray.

    Examples
    --------
    >>> named([1, 2], (0.05, 0.5), "factor_")
    {'factor_q5': 1.0, 'factor_q50': 2.0}
    """
    values = np.asarray(values, float)
    return {f"{prefix}q{100 * p:g}": x if x.ndim else float(x) for p, x in zip(probabilities, values, strict=True)}


def name_quantiles(draws, probabilities=(0.025, 0.5, 0.975)):
    """Return quantiles of draws of any shape by their names, by default the median and the ends of a 95% interval."""
    return named(quantiles(np.ravel(draws), probabilities), probabilities)


def parameters(fit):
    """Summarise every scalar of the posterior, ``alpha_year[ptb]`` where it has levels.

    Of a law of runs that its rows reject the draws are those of `quote_draws`, so that one interval of each is printed.
    """
    draws = flatten(fit["posterior"].to_dataset())
    if find_record(fit.law.kind).widens_constants:
        quoted = quote_draws(fit, {name: xr.DataArray(x, dims=DRAWS) for name, x in draws.items()})
        draws = {name: x.values for name, x in quoted.items()}
    return {name: summary(x) for name, x in draws.items()}


def robust_entries(fit):
    """Return the posterior sd of each scalar of the posterior with the largest robust (sandwich) sd.

    They are by level where it has levels, ``alpha[c4]``, without those of one unit, whose rows are all that inform it.
    """
    entries, unit = {}, fit.law.unit
    variables = {name: x for name, x in fit["posterior"].to_dataset().data_vars.items() if unit not in x.dims}
    draws = flatten(xr.Dataset(variables))
    varying = {name: xr.DataArray(x, dims=DRAWS) for name, x in draws.items() if x.std() > 0}
    for name, table in robust_sds(fit, varying).items():
        if table.empty:
            continue
        widest = table["robust_sd"].idxmax()
        row = table.loc[widest]
        if not row["robust_sd"] > 0:  # nothing but Monte-Carlo error: the units do not inform it
            continue
        entries[name] = {"by": widest} | {column: finite(row[column]) for column in ROBUST}
        entries[name]["posterior_mean"] = finite(draws[name].mean())
    return entries


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
            rows.setdefault(name, {})[heading] = row["answer"] if "answer" in row else form(ends(row))
            if "answer" in row:
                besides[name] = {}
                continue
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
            rows = entries(self)
        else:
            rows = {str(name): entries(self.loc[name]) for name in self.index.unique(0)}
        return {"rows": rows, "standing": self.attrs["standing"]}


def tabulate_by_share(draws, labels, **besides):
    """Return quantiles of draws, dims (chain, draw, label, share), by label and share, with values besides by label."""
    dimension, records = draws.dims[2], {}
    for label, share in product(labels, draws["share"].values):
        values = {name: float(of[label]) for name, of in besides.items()}
        records[label, float(share)] = name_quantiles(draws.sel({dimension: label, "share": share})) | values
    return pd.DataFrame.from_dict(records, orient="index").rename_axis([dimension, "share"])


def printed(table, heading, title, note, fit, *, quoted=None, robust=True, guessed=None):
    """Return a DataFrame of quantiles as one that prints itself, with a title above and a note below.

    The heading is a key of `FORMS`. The row whose label is `quoted` is that whose width is graded; fit, `robust` and
    `guessed` are those of `standing`.
    """
    interval = None if quoted is None else ends(table.loc[quoted])
    held = standing(fit, interval, robust=robust, guessed=guessed)
    table.attrs = {"heading": heading, "title": title, "note": note, "standing": held}
    return IntervalTable.of(table)

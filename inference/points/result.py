"""What point estimators return: named estimates with standard errors, and how the search for them ended."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...datasets.printed import Printed, Text
from ...datasets.wording import check_choice

MOST_PRINTED = 12


@dataclass(frozen=True, repr=False)
class PointEstimate(Printed):
    """Point estimates of one table; ``estimate["exponent"]`` returns one by its name.

    Attributes
    ----------
    estimator : str
        What was minimised, or how the estimates were computed.
    estimates : dict
        By name. An estimate is a number, NaN or None where there is none, or a dict of numbers by name, such as the
        constants of a law. Or it is a Series with a number for each model, benchmark or family.
    source : str
        Name or path of the table.
    rows : int
        Rows of it that the estimates depend on.
    converged : bool
        Whether they are those that the estimator defines.
    message : str
        Whether and why the search is reliable.
    errors : dict of str to float
        Standard errors by the name of the estimate, of those that the estimator gives one.
    search : dict
        Options of the estimator and measures of its search, such as ``objective``.
    points : DataFrame or None
        Optima through which a power law was put: one row a level of compute.
    """

    estimator: str
    estimates: dict
    source: str
    rows: int
    converged: bool
    message: str
    errors: dict = field(default_factory=dict)
    search: dict = field(default_factory=dict)
    points: pd.DataFrame | None = None

    def __getitem__(self, name):
        constants = {n: x for group in self.estimates.values() if isinstance(group, dict) for n, x in group.items()}
        named = constants | self.estimates
        check_choice("estimate", name, list(named))
        return named[name]

    def table(self):
        """Return the estimates, a DataFrame with columns ``estimate`` and ``standard_error``, one row a number."""
        numbers = {}
        for name, value in self.estimates.items():
            if isinstance(value, pd.Series):
                numbers |= {f"{name}[{level}]": x for level, x in value.items()}
            else:
                numbers |= value if isinstance(value, dict) else {name: value}
        columns = {"estimate": pd.Series(numbers, dtype=float), "standard_error": pd.Series(self.errors, dtype=float)}
        return pd.DataFrame(columns, index=list(numbers))

    def text(self):
        """Return what is printed."""
        table = self.table()
        cells = table.dropna(axis="columns", how="all").head(MOST_PRINTED).rename(columns=lambda x: x.replace("_", " "))
        sentences = [self.message]
        if self.points is not None and "reason" in self.points:
            set_aside = self.points.loc[~self.points["used"], "reason"].value_counts()
            sentences += [f"Not used: {count}, {reason}" for reason, count in set_aside.items()]
        if len(table) > MOST_PRINTED:
            sentences.insert(0, f"The first {MOST_PRINTED} of {len(table)} estimates")
        return Text(f"{self.estimator}, {self.rows} rows of {self.source}", cells.map(_written), tuple(sentences))

    def to_dict(self):
        """Return everything as types that JSON knows; NaN becomes None, an error is entered as ``exponent_se``."""
        levels = {} if self.points is None else {"points": self.points.to_dict("records")}
        rest = {name: getattr(self, name) for name in ("estimator", "rows", "converged", "message")}
        errors = {f"{name}_se": error for name, error in self.errors.items()}
        return _plain(rest | self.estimates | errors | self.search | levels)


def _written(x):
    """Write a number with four digits, without an exponent below a million."""
    if np.isnan(x):
        return "–"
    return f"{x:,.0f}" if 1e3 <= abs(x) < 1e6 else f"{x:.4g}".replace("e+", "e")


def _plain(value):
    if isinstance(value, dict | pd.Series):
        return {name: _plain(x) for name, x in value.items()}
    if isinstance(value, list):
        return [_plain(x) for x in value]
    if isinstance(value, float) and np.isnan(value):
        return None
    return value.item() if isinstance(value, np.generic) else value

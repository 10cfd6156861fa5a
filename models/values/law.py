"""The law of dated values as something to fit: its options, priors, density and simulation."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from ...datasets import filled, require
from ...datasets.deferred import special
from ...datasets.wording import quoted, shown, source_of
from ...errors import InputError
from ..contrasts import Contrast, groupings, informed, ordinals
from ..effects import joint_logp
from ..law import Effort, MemberLaw
from ..loss.noise import normal_logp
from ..naming import positive
from ..priors import FreeParameter
from ..trends import forms, level, span_of
from .draws import TrendDraws, groups_of

LEAST_ROWS, LEAST_DATES = 5, 3
LOG = "log"
BINS, LEAST_OF_BIN = 10, 5  # of rows by date, in the tests of the law
NARROW = 2.0  # greatest over least value, below which a log scale is not taken for granted

# All are relative to one unit: an e-fold of the value, or the unit of a linear scale.
OF_ROWS = (
    FreeParameter(
        "centre",
        "Normal(0, 50)",
        "Mean at the middle of the dates: 1e-43 to 1e43 on a log scale, so that the rows decide.",
        "units",
    ),
    FreeParameter(
        "scatter",
        "HalfNormal(2)",
        "Scatter of values about the trend besides the errors that the table states: up to a factor of 50 either way.",
        "units",
    ),
)
GROUP_SD = FreeParameter(
    "group_sd",
    "HalfNormal(2)",
    "Spread of what the values of a group have in common, by the prior of the scatter.",
    "units",
)
OF_TRENDS = forms(
    "units",
    (
        "Normal(0, 2)",
        "Gain a year in either direction: up to a factor of 50. Published growth of training compute, of horizons and "
        "of prices is 0.5 to 4 e-folds a year.",
    ),
    ("Normal(0, 2)", "How much faster the value grows after the break, so that either direction is as likely."),
    FreeParameter(
        "midpoint_after",
        "Normal(0, 4)",
        "When the value grows fastest, after the latest date: from 8 years before it to 8 years after it.",
        "years",
    ),
)


def free_parameters(law):
    """List the free parameters of a law of dated values."""
    return (*OF_ROWS, *((GROUP_SD,) if law.groups else ()), *OF_TRENDS[law.trend])


@dataclass(frozen=True)
class Trend(MemberLaw):
    """A dated value, such as a price, a rating or the compute of a training run: a trend in the date with scatter.

    Values are normal about the trend, on a log scale or on a linear one: ``value = trend(year) + scatter``. Errors that
    the table states add to the scatter. The values of a group, such as those of one developer, may have an effect in
    common.

    ================== ======================== ================================================================
    quantity           prior                    what it is, in e-folds or in units of a linear scale
    ================== ======================== ================================================================
    centre             Normal(0, 50)            mean in the middle of the dates
    scatter            HalfNormal(2)            sd about the trend besides the stated errors
    group_sd           HalfNormal(2)            sd of what values of a group have in common
    yearly_gain        Normal(0, 2)             gain a year
    yearly_gain_change Normal(0, 2)             its change at the break
    break_place        Uniform(0, 1)            where the break lies among the dates
    acceleration       Normal(0, 0.7)           change a year of the yearly gain
    midpoint_after     Normal(0, 4)             midpoint of the logistic trend, years after the latest date
    width              LogNormal(0.7, 0.5)      its width, years
    ================== ======================== ================================================================

    `values.law.free_parameters` states the reason for each prior.

    Parameters
    ----------
    trend : {"linear", "break", "acceleration", "logistic"}
        How the mean depends on the date.
    value_unit : float or "log", optional
        A number is the unit of a linear scale, of which priors are a few: 100 for ratings in points. ``"log"`` is a log
        scale, the default of values that differ by more than a factor of two.
    groups : str, optional
        Column whose rows of one value have an effect in common, integrated out.
    limits : float
        Probability of the stated limits, the columns ``low`` and ``high`` or ``halfwidth``.
    priors : mapping of str to str
        Replacements of the default priors, such as ``{"yearly_gain": "Normal(0, 1)"}``.

    Raises
    ------
    InputError
        If an option or prior is unknown or out of range.

    Examples
    --------
    >>> Trend(trend="break", groups="organization").label
    'trend, trend=break, groups=organization'
    """

    trend: str = "linear"
    value_unit: float | str | None = None
    groups: str | None = None
    limits: float = 0.95
    priors: Mapping = field(default_factory=dict)

    share_of = "the value"
    tolerance = 0.05
    axes = {"date": "year"}  # noqa: RUF012
    name: ClassVar[str] = "trend"
    kind: ClassVar[str] = "values"
    observed: ClassVar[str] = "value"
    centre: ClassVar[str] = "centre"
    noise = "normal"
    effort: ClassVar[Effort] = Effort(careful=(0.97, 0.99), least_ess=400, longest=4, quick=True)
    drawn_as: ClassVar[type] = TrendDraws

    def __post_init__(self):
        self._check_options(trend=OF_TRENDS)
        if self.value_unit not in (None, LOG) and not positive(self.value_unit):
            raise InputError(
                f'value_unit must be "log" or the unit of a linear scale, such as 100, not {shown(self.value_unit)}'
            )
        if self.groups is not None and not (isinstance(self.groups, str) and self.groups):
            raise InputError(f"groups must be the name of a column, not {shown(self.groups)}")
        if not (positive(self.limits) and self.limits < 1):
            raise InputError(f"limits must be a probability between 0 and 1, such as 0.95, not {shown(self.limits)}")
        object.__setattr__(self, "priors", self._checked_priors())

    @property
    def linear_unit(self):
        """Return the unit of the linear scale, or None of a log scale."""
        return float(self.value_unit) if positive(self.value_unit) else None

    @property
    def scale(self):
        """Return the name of the variable of observations: of logarithms of values, or of values in the unit."""
        return "log_value" if self.linear_unit is None else "value_in_units"

    _free_parameters = property(free_parameters)

    @property
    def needed(self):
        """Return the columns of the table that this law needs besides those that its reader does."""
        return (self.groups,) if self.groups else ()

    # The table -------------------------------------------------------------------------------------------------------

    def rows(self, table):
        """Return the rows, refusing a table that cannot inform this law.

        Raises
        ------
        InputError
            If a column is missing, there are too few rows or dates, or a log scale does not suit the values.
        """
        place = source_of(table)
        require(table, ("value", "year", *self.needed), purpose="the trend law")
        for column in self.needed:
            filled(table, column, purpose=f"the {self.label} law")
        if len(table) < LEAST_ROWS:
            raise InputError(f"{place}: {len(table)} rows; the trend law needs at least {LEAST_ROWS}")
        if (count := table["year"].nunique()) < LEAST_DATES:
            raise InputError(f"{place}: {count} dates; the trend law needs at least {LEAST_DATES}")
        if self.linear_unit is None:
            self._check_log_scale(table, place)
        return table.reset_index(drop=True)

    def _check_log_scale(self, table, place):
        values = table["value"].to_numpy(float)
        sd = float(np.std(values))
        like = 10.0 ** math.floor(math.log10(sd)) if sd > 0 else 1.0
        linear = f"value_unit={like:g} for a linear one in units of {like:g} (--option value_unit={like:g})"
        if (values <= 0).any():
            row = int(np.argmax(values <= 0))
            raise InputError(
                f"{place}: column 'value' is {quoted(values[row])} in row {table.index[row] + 1}; a log scale needs "
                f"positive values; give {linear}"
            )
        if self.value_unit is None and values.max() < NARROW * values.min():
            raise InputError(
                f"{place}: values lie between {values.min():g} and {values.max():g}; choose a scale: {linear}, or "
                'value_unit="log" (--option value_unit=log)'
            )

    def on_scale(self, observed):
        """Return values as the law scores them."""
        return np.log(observed) if self.linear_unit is None else observed / self.linear_unit

    def from_scale(self, values):
        """Invert `on_scale`."""
        return np.exp(values) if self.linear_unit is None else values * self.linear_unit

    def error_variance(self, rows):
        """Return the variances of the stated errors on the law's scale, 0 where none is stated, an ndarray (row,)."""
        z = special.ndtri((1 + self.limits) / 2)
        sd = np.zeros(len(rows))
        if "halfwidth" in rows:
            unit = rows["value"] if self.linear_unit is None else self.linear_unit
            sd = (rows["halfwidth"] / unit / z).fillna(0.0).to_numpy(float)
        if {"low", "high"} <= set(rows):
            ends = [self.on_scale(rows[name].to_numpy(float)) for name in ("low", "high")]
            sd = np.where(np.isfinite(ends[0] + ends[1]), (ends[1] - ends[0]) / (2 * z), sd)
        return sd**2

    def reference(self, rows):
        """Return the date that the centre is of, the latest one, and the dates between which a break lies."""
        years = rows["year"].to_numpy(float)
        span = span_of(years)
        return {
            "zero": float(np.round(np.median(years))),
            "last": float(years.max()),
            "break_span": span,
            "parts": span,
        }

    def design_arrays(self, rows, reference):
        """Return the arrays that the model holds as data, dates in years after that of the centre."""
        years, one = rows["year"].to_numpy(float), np.ones(len(rows))
        data = {"row_t": years - reference["zero"], "row_variance": self.error_variance(rows)}
        data["row_y"] = self.on_scale(rows["value"].to_numpy(float))
        if self.trend == "break":
            ends = zip(("low", "high"), reference["break_span"], strict=True)
            data |= {f"row_break_{end}": (date - reference["zero"]) * one for end, date in ends}
        if self.trend == "logistic":
            data["row_last"] = (reference["last"] - reference["zero"]) * one
        if self.groups:
            codes = pd.factorize(rows[self.groups])[0]
            data |= {"row_group": codes, "group_rows": np.bincount(codes).astype(float)}
        return data

    def contrasts(self, rows):
        """Return means of residuals by date and, of groups, slopes in the date."""
        year = rows["year"].to_numpy(float)
        ranks = rows["year"].rank(method="dense").to_numpy(int) - 1
        count = max(2, min(BINS, len(rows) // LEAST_OF_BIN, ranks.max() + 1))
        bins = ranks * count // (ranks.max() + 1)
        contrasts = {"means by date": Contrast.of_means(bins, "bins of dates", ordinals(bins, "date"))}
        if self.groups:
            group = rows[self.groups].astype(str).to_numpy(object)
            contrasts["slopes by group"] = Contrast.of_slopes(group, year, "the date", "groups", "group " + group)
        return informed(contrasts)

    def groupings(self, rows):
        """Return the codes of the groups that other columns of text name; numbers may follow from the values."""
        numbers = rows.select_dtypes("number").columns
        return groupings(rows, ("model", *numbers, *((self.groups,) if self.groups else ())))

    def wider_laws(self, rows):
        """Return laws whose gain changes, where this one's does not."""
        if self.trend != "linear":
            return ()
        return tuple(replace(self, trend=trend) for trend in ("break", "acceleration"))

    @property
    def clusters(self):
        """Return the column of groups, where the law has them."""
        return (self.groups,) if self.groups else ()

    @property
    def left_out_by(self):
        """Return the column of groups, None where the law has none."""
        return self.groups

    # The density -----------------------------------------------------------------------------------------------------

    def _rest(self, values, data):
        """Return the log density of rows, or of groups of rows, by name."""
        values = {name: values[name][..., None] for name in self.prior_of}
        residual, sigma = data["row_y"] - self._mean_at(values, data), self.sigma(values, data)
        if not self.groups:
            return {"rows": normal_logp(residual, sigma)}
        return {"groups": joint_logp(residual, values["group_sd"], groups_of(data), sigma)}

    def _mean_at(self, values, data):
        """Return the mean of rows on the law's scale, (..., row), from values (..., 1)."""
        span = (data["row_break_low"], data["row_break_high"]) if self.trend == "break" else None
        if self.trend == "logistic":
            values = values | {"midpoint": values["midpoint_after"] + data["row_last"]}
        return level(values, self.trend, data["row_t"], span, zero=0.0)

    def sigma(self, values, data):
        """Return the sd of rows about the trend and the effect of their group, (..., row)."""
        return (values["scatter"] ** 2 + data["row_variance"]) ** 0.5

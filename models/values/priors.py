"""Priors of the law of dated values, and why they are what they are.

All are relative to one unit: an e-fold of the value, or the unit of a linear scale.
"""

from ..priors import FreeParameter
from ..trends import forms

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

"""Priors of the law of time horizons, and why they are what they are."""

from ..priors import FreeParameter, named
from ..trends import forms

MINUTES = "log minutes"

PARAMETERS = named(
    horizon_centre=(
        "Normal(3, 3)",
        "Log of the horizon of the typical model, or of one of mid-2024, in minutes: 20 minutes, from 3 seconds to 5 "
        "days.",
        MINUTES,
    ),
    horizon_sd=(
        "HalfNormal(1.5)",
        "Spread of models about what the date predicts: up to a factor of 20 either way.",
        MINUTES,
    ),
    log_slope=(
        "Normal(-0.3, 0.7)",
        "Log of how many logits an e-fold of human time costs, in the typical task: 0.19 to 2.9. Fits of single models "
        "give about 0.9.",
    ),
    task_sd=(
        "HalfNormal(2)",
        "How much harder or easier a task is than its human time tells: up to a factor of 50 in time either way.",
        MINUTES,
    ),
    log_slope_sd=(
        "HalfNormal(0.5)",
        "Spread of the log slopes of tasks: success rises up to 2.7 times as fast in one task as in the typical one.",
    ),
    family_sd=(
        "HalfNormal(1)",
        "Spread of families of tasks, besides that of tasks: up to a factor of 7 in time either way.",
        MINUTES,
    ),
    estimate_bias=(
        "Normal(0, 1)",
        "Log of estimated over timed minutes: estimates may be 7 times too long or too short. Published comparisons "
        "are 3 to 8 times apart.",
        MINUTES,
    ),
    estimate_sd=(
        "LogNormal(-0.7, 0.5)",
        "Spread of that between tasks: factors of 1.2 to 3.7 either way. It avoids 0, since no estimate is exact.",
        MINUTES,
    ),
    log_precision=(
        "Normal(2, 1.5)",
        "Log precision of the beta-binomial: 0.4 to 140. Runs of one model on one task may all end alike, or barely "
        "more alike than a binomial has them.",
    ),
)
OF_TRENDS = {None: ()} | forms(
    MINUTES,
    (
        "Normal(1, 1.5)",
        "Log horizon gained a year: -2 to 4, a doubling in 63 days at the fast end. Published doubling times of 4 to 7 "
        "months are 1.2 to 2.1.",
    ),
    ("Normal(0, 1.5)", "How much faster horizons grow after the break, so that either direction is as likely."),
    FreeParameter(
        "midpoint",
        "Normal(2026, 2)",
        "When log horizons grow fastest: 2022 to 2030. Before it growth accelerates, after it slows.",
        "year",
    ),
)


def free_parameters(law):
    """List the free parameters of a law of horizons."""
    absent = {
        "log_slope_sd": not law.task_slopes,
        "family_sd": not law.family_effects,
        "estimate_bias": not law.estimates,
        "estimate_sd": not law.estimates,
        "log_precision": law.noise != "beta_binomial",
    }
    return (*(q for name, q in PARAMETERS.items() if not absent.get(name)), *OF_TRENDS[law.trend])

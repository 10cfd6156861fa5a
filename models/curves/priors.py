"""Priors of the law of a run's loss, and why they are what they are.

They are learned from the 27 curves of `schedule_curves`, of three sizes and nine schedules, and widened: those
curves are of one recipe.
"""

from ..priors import FreeParameter

SHARE = "share of the loss"

PRIORS = (
    FreeParameter(
        "loss_centre",
        "LogNormal(1.1, 0.7)",
        "Loss at the last reading without annealing: 0.7 to 12 nats per token, so that the readings decide.",
        "nats/token",
    ),
    FreeParameter(
        "reducible_share",
        "LogNormal(-2.6, 0.6)",
        "What training on can still remove of it: 2 to 24%. The curves have 3 to 16% at their ends and more before.",
        SHARE,
    ),
    FreeParameter(
        "alpha",
        "LogNormal(-0.65, 0.25)",
        "Power of the area with which the reducible loss falls: 0.32 to 0.85. The curves have 0.43 to 0.64.",
        "1",
    ),
    FreeParameter(
        "anneal",
        "LogNormal(-3.25, 0.35)",
        "Loss removed by a whole fall of the rate: 2 to 8%. The curves have 3 to 6%.",
        SHARE,
    ),
    FreeParameter(
        "drift",
        "LogNormal(-7, 0.8)",
        "Sd of the slow deviation from the law: 0.02 to 0.4%. The curves have 0.02 to 0.3%.",
        SHARE,
    ),
    FreeParameter(
        "drift_range",
        "LogNormal(0, 0.5)",
        "How far along a run deviations are alike; the curves have 1 to 1.8 e-folds.",
        "e-folds of the steps",
    ),
    FreeParameter(
        "noise",
        "LogNormal(-7.5, 0.8)",
        "Sd of one reading about them: 0.01 to 0.3%; losses of single batches have more and inform it.",
        SHARE,
    ),
)

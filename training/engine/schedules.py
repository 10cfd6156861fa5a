"""Learning-rate schedules."""

import math

from .checks import check_choice

# Shares of a trapezoid's run.
RISE, FALL = 0.1, 0.1


def constant(progress):
    """Full rate all along."""
    return 1.0


def cosine(progress):
    """Half a cosine from the full rate down to none at the end."""
    return (1 + math.cos(math.pi * progress)) / 2


def trapezoid(progress):
    """Up in a line over the first tenth, and down in one over the last."""
    return min(1.0, progress / RISE, (1 - progress) / FALL)


SCHEDULES = {"constant": constant, "cosine": cosine, "trapezoid": trapezoid}


def factor(schedule, step, updates, warmup=0):
    """Factor of the peak learning rate at an update.

    Parameters
    ----------
    schedule : str
        ``"constant"``, ``"cosine"`` or ``"trapezoid"``.
    step : int
        Updates done before this one, from 0.
    updates : int
        Updates of the whole run.
    warmup : int
        Updates over which the rate first rises in a line from 1 / warmup.

    Returns
    -------
    float
        From 0 to 1.
    """
    if step < warmup:
        return (step + 1) / warmup
    return SCHEDULES[schedule]((step - warmup) / max(1, updates - warmup))


def check_schedule(name):
    """Refuse an unknown schedule.

    Raises
    ------
    InputError
        Naming the schedules there are.
    """
    check_choice("schedule", name, SCHEDULES)

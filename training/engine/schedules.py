"""Learning-rate schedules."""

import math

# Shares of the run in which a trapezoid rises and falls, as McLeish et al. (2024, arXiv:2405.17399) train.
RISE, FALL = 0.1, 0.1


def constant(progress, rise=RISE, fall=FALL):
    """Return the full rate."""
    return 1.0


def cosine(progress, rise=RISE, fall=FALL):
    """Fall from the full rate to zero at the end along half a cosine."""
    return (1 + math.cos(math.pi * progress)) / 2


def trapezoid(progress, rise=RISE, fall=FALL):
    """Rise in a line over the first share of the run and fall in a line over the last; a share of 0 is left out."""
    rising = progress / rise if rise else 1.0
    falling = (1 - progress) / fall if fall else 1.0
    return min(1.0, rising, falling)


SCHEDULES = {"constant": constant, "cosine": cosine, "trapezoid": trapezoid}


def factor(schedule, step, updates, warmup=0, rise=RISE, fall=FALL):
    """Compute the learning rate of an update as a share of the peak, from 0 to 1.

    `step` updates of `updates` were done before it; the first `warmup` rise in a line from 1 / warmup. A trapezoid
    rises and falls in shares `rise` and `fall` of the run.
    """
    if step < warmup:
        return (step + 1) / warmup
    return SCHEDULES[schedule]((step - warmup) / max(1, updates - warmup), rise, fall)

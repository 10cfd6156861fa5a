"""Learning-rate schedules."""

import math

SCHEDULES = ("constant", "cosine", "trapezoid")
# Shares of the run in which a trapezoid rises and falls, as McLeish et al. (2024, arXiv:2405.17399) train.
RISE, FALL = 0.1, 0.1


def factor(schedule, progress, rise=RISE, fall=FALL):
    """Compute the learning rate as a share of the peak, from 0 to 1, when a share `progress` of the run is done.

    A cosine falls to zero at the end along half a period. A trapezoid rises in a line over the first share of the run
    and falls in a line over the last; a share of 0 is left out.
    """
    if schedule == "cosine":
        return (1 + math.cos(math.pi * progress)) / 2
    if schedule == "trapezoid":
        rising = progress / rise if rise else 1.0
        falling = (1 - progress) / fall if fall else 1.0
        return min(1.0, rising, falling)
    return 1.0

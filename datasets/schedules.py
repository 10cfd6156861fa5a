"""Learning-rate schedules as text, ``cosine:peak=3e-4,warmup=2000,final=3e-5``: parsed, and evaluated on a clock."""

import re

import numpy as np

from ..errors import InputError
from .wording import listed, shown, unknown

SHAPES = {
    "constant": lambda x: np.ones_like(x),
    "linear": lambda x: 1.0 - x,
    "cosine": lambda x: (1.0 + np.cos(np.pi * x)) / 2.0,
    "exponential": lambda x: x,  # of the logarithm, see `rates`
}
HELD = "held"  # in the place of a schedule: the last rate, to the end
OPTIONS = {"peak": 1.0, "warmup": 0.0, "final": 0.1, "from": 0.0}
EXAMPLE = "cosine:peak=3e-4,warmup=2000,final=3e-5"
CLEAR = 0.9  # of the highest: rates that have fallen to this, at so many readings, tell the shape of their fall
FEWEST = 3
HIGHEST = 3.0  # times the highest rate logged, that the peak of a fall may have
MISFIT = 0.01  # of the highest, by which rates may miss the shape that they are taken to follow


class RateSchedule:
    """A schedule: a linear warm-up, then the peak, and a fall of some shape to the end.

    The text states the shape of the fall: ``constant``, ``linear``, ``cosine`` or ``exponential``. Options follow a
    colon: the rates ``peak`` and ``final``, and on the clock ``warmup`` and ``from``, where the fall begins. By default
    it begins after the warm-up and ends at a tenth of the peak. Anything else is refused.

    Examples
    --------
    >>> RateSchedule("linear:peak=2,from=50,final=0").rates([0, 50, 75, 100], 100).tolist()
    [2.0, 2.0, 1.0, 0.0]
    """

    def __init__(self, text):
        shape, _, rest = str(text).partition(":")
        self.shape, self.text = shape.strip(), str(text)
        if self.shape not in SHAPES:
            raise InputError(unknown("schedule", self.shape, SHAPES) + f"; write it as {EXAMPLE}")
        pairs = [part.partition("=") for part in rest.split(",") if part.strip()]
        strange = [name.strip() for name, _, _ in pairs if name.strip() not in OPTIONS]
        if strange:
            raise InputError(f"schedule: {strange[0]!r} is unknown; options are {listed(OPTIONS)}, as in {EXAMPLE}")
        stated = {name.strip(): self._number(name.strip(), cell) for name, _, cell in pairs}
        peak = stated.get("peak", OPTIONS["peak"])
        self.options = OPTIONS | {"final": OPTIONS["final"] * peak} | stated
        if not (self.options["final"] <= self.options["peak"] and self.options["peak"] > 0):
            raise InputError(f"schedule {shown(self.text)}: the final rate must not exceed the peak, which is positive")

    @staticmethod
    def _number(name, cell):
        if not re.fullmatch(r"\s*\d*\.?\d+([eE][+-]?\d+)?\s*", cell):
            raise InputError(f"schedule: {name} must be a number of at least 0, not {cell.strip()!r}; as in {EXAMPLE}")
        return float(cell)

    def rates(self, clock, end):
        """Return the rates at places of the clock, of a run that ends at `end`, an ndarray."""
        clock = np.asarray(clock, float)
        peak, warmup, final = (self.options[name] for name in ("peak", "warmup", "final"))
        start = max(self.options["from"], warmup)
        progress = np.clip((clock - start) / np.maximum(np.asarray(end) - start, 1e-12), 0.0, 1.0)
        if self.shape == "exponential":
            falling = peak * (max(final, 1e-12 * peak) / peak) ** progress
        elif self.shape == "constant":
            falling = np.full_like(clock, peak)
        else:
            falling = final + (peak - final) * SHAPES[self.shape](progress)
        return falling * (np.minimum(clock / warmup, 1.0) if warmup else 1.0)


def followed(clock, shares, end):
    """Return the schedule that falling rates follow and that ends at `end`, or None where no shape is clear.

    The rates at readings are shares of the highest. A log may begin in the middle of a fall, whose peak is higher then.
    """
    from scipy.optimize import least_squares

    fallen = clock[shares < 1 - MISFIT]
    if len(fallen) < FEWEST or shares[-1] > CLEAR:
        return None

    def planned(place, shape):
        start, final, peak = place
        return RateSchedule(f"{shape}:peak={peak:.6g},from={start:.6g},final={final * peak:.6g}")

    def errors(place, shape):
        return planned(place, shape).rates(clock, end) - shares

    fits = []
    for shape in ("cosine", "linear", "exponential"):
        start, ranges = (0.5 * fallen[0], 0.1, 1.05), ([0.0, 0.0, 1.0], [fallen[0], 1.0, HIGHEST])
        place = least_squares(errors, start, bounds=ranges, x_scale=(end, 1.0, 1.0), diff_step=1e-3, args=[shape]).x
        fits.append((np.abs(errors(place, shape)).max(), planned(place, shape)))
    misfit, best = min(fits, key=lambda pair: pair[0])
    return best if misfit < MISFIT else None

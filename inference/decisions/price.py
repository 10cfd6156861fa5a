"""What compute takes in hours of a GPU and in money."""

from dataclasses import dataclass

from ...datasets.wording import shown
from ...errors import InputError

FLOP_PER_SECOND = 9.89e14  # of an H100 in bfloat16, without sparsity, by its maker's sheet
UTILISATION = 0.4  # of which large training runs report 30% to 50%
SECONDS = 3600.0


@dataclass(frozen=True)
class Price:
    """The price of compute.

    Parameters
    ----------
    hour : float
        Money for an hour of one GPU.
    flop_per_second : float
        Of one GPU at its peak.
    utilisation : float
        Share of the peak that training reaches.

    Examples
    --------
    >>> price = Price(2.0, flop_per_second=1e15, utilisation=0.5)
    >>> price.hours(3.6e18), price.money(3.6e18)
    (2.0, 4.0)
    """

    hour: float
    flop_per_second: float = FLOP_PER_SECOND
    utilisation: float = UTILISATION

    def __post_init__(self):
        for name in ("hour", "flop_per_second", "utilisation"):
            value = getattr(self, name)
            most = 1.0 if name == "utilisation" else float("inf")
            if isinstance(value, bool) or not (
                isinstance(value, int | float) and 0 < value <= most and value < float("inf")
            ):
                what = "gpu_hour" if name == "hour" else name
                must = "a share of the peak, above 0 and at most 1" if name == "utilisation" else "a positive number"
                raise InputError(f"{what} must be {must}, not {shown(value)}")

    def hours(self, flop):
        """Return the hours of one GPU that compute takes."""
        return flop / (SECONDS * self.flop_per_second * self.utilisation)

    def money(self, flop):
        """Return the money that compute takes."""
        return self.hour * self.hours(flop)

    @property
    def text(self):
        """Name the price in a sentence."""
        return f"{self.hour:g} a GPU-hour of {self.flop_per_second:.3g} FLOP/s, {self.utilisation:.0%} of it used"

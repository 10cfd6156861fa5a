"""What compute takes in hours of a GPU and in money, and budgets as people write them."""

import re
from dataclasses import dataclass

from ...datasets.wording import shown
from ...errors import InputError

FLOP_PER_SECOND = 9.89e14  # of an H100 in bfloat16, without sparsity, by its maker's sheet
UTILISATION = 0.4  # of which large training runs report 30% to 50%
SECONDS = 3600.0
# Units of a budget without blanks, hyphens and plurals, in FLOP. A prefix may come before each, as in PF-days.
UNITS = {"": 1.0, "flop": 1.0, "fday": 24 * SECONDS, "flopsday": 24 * SECONDS}
UNITS |= {f"{gpu}hour": SECONDS * UTILISATION * peak for gpu, peak in (("h100", FLOP_PER_SECOND), ("a100", 3.12e14))}
PREFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18, "z": 1e21, "y": 1e24}


def flop(text):
    """Return the FLOP that a text states, or None; the budget field of a report reads the same.

    Examples
    --------
    >>> flop("3x10^23"), flop("100 PF-days"), flop("2 ZFLOP"), flop("much")
    (3e+23, 8.64e+21, 2e+21, None)
    >>> Price(1.0).hours(flop("1,000 H100-hours"))
    1000.0
    """
    text = re.sub(r"\s*[x*×·]\s*10\s*\^\s*", "e", text.strip().lower())
    match = re.fullmatch(r"([0-9,]*\.?[0-9]+(?:e\+?[0-9]+)?)(.*)", text)
    unit = re.sub(r"[\s/-]|(?<=[pyr])s$", "", match[2]) if match else "e"
    prefix, rest = ("", unit) if unit in UNITS else (unit[:1], unit[1:])
    if unit == "e" or rest not in UNITS or prefix not in ("", *PREFIXES):
        return None
    return float(f"{float(match[1].replace(',', '')) * PREFIXES.get(prefix, 1.0) * UNITS[rest]:.12g}")


@dataclass(frozen=True)
class Price:
    """Money for an hour of one GPU, its FLOP a second at its peak, and the share of the peak that training reaches.

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

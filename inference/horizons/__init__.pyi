"""What `bayescaling.horizons` exports, with its types."""

from .quantities import (
    dates_reached as dates_reached,
    doubling_days as doubling_days,
    minutes as minutes,
    summary as summary,
)

__all__: list[str]

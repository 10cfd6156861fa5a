"""Answers on runs in flight, with their types."""

from .ends import ends as ends
from .forecast import forecast as forecast, losses as losses

__all__: list[str]

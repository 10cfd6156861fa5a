"""What `bayescaling.horizons` exports, with its types."""

from .quantities import minutes as minutes, summary as summary

__all__: list[str]

"""The first screen of a report: its questions, each answered from the content of results.json alone."""

from .answers import answers
from .page import front
from .published import claims

__all__ = ["answers", "claims", "front"]

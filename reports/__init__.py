"""Figures, tables and the HTML report."""

from .build import report

__all__ = ["report"]

"""Reports on a table of one's own, or on fits that one already has."""

from .build import report_fits, report_table

__all__ = ["report_fits", "report_table"]

"""Reports on a custom table, or on fits of the user."""

from .build import report_fits, report_table

__all__ = ["report_fits", "report_table"]

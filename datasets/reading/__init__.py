"""Reading a stranger's table: formats, columns and units, rows chosen, and every fault told at once."""

from .runs import read

__all__ = ["read"]

"""Quantities of interest, draw by draw."""

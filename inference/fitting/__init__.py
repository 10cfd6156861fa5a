"""Posteriors by NUTS."""

"""Sweeps of runs of any kind: read from tables, trained here or on an executor, recorded and gathered."""

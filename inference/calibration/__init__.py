"""Calibration by simulation."""

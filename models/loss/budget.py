"""Compute: 6 N D floating-point operations to train N parameters on D tokens, 2 N D to serve D (Kaplan et al. 2020)."""

import numpy as np

from ..arrays import exp, log

FLOP_PER_PARAMETER_TOKEN = 6.0
FLOP_PER_PARAMETER_TOKEN_SERVED = 2.0  # the forward pass alone
SIZES = ("parameters", "parameters_nonembedding")  # columns of model sizes, the first of them counts
MOST_LEVELS = 15
MOST_BINS = 10
LEAST_IN_BIN = 8


def log_slots(compute):
    """Return the logarithm of the product N D that a budget C pays for."""
    return log(compute) - log(FLOP_PER_PARAMETER_TOKEN)


def tokens_at(compute, parameters):
    """Return the tokens D that a budget C pays for at N parameters."""
    return exp(log_slots(compute) - log(parameters))


def training_flop(rows):
    """Compute the FLOP of runs, (row,): 6 N D, or ``training_flop`` of a table without sizes, None with neither."""
    size = next((name for name in SIZES if name in rows), None)
    if size is not None and "tokens" in rows:
        return FLOP_PER_PARAMETER_TOKEN * rows[size].to_numpy(float) * rows["tokens"].to_numpy(float)
    return rows["training_flop"].to_numpy(float) if "training_flop" in rows else None


def compute_bins(compute):
    """Return the bin of each run: levels of log10 C to 0.1 where at most 15, else up to 10 bins of equal counts."""
    levels, codes = np.unique(np.round(np.log10(compute), 1), return_inverse=True)
    if len(levels) <= MOST_LEVELS:
        return codes
    bins = max(1, min(MOST_BINS, len(compute) // LEAST_IN_BIN))
    return (np.argsort(np.argsort(compute, kind="stable")) * bins) // len(compute)

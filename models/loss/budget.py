"""Training compute: C = 6 N D floating-point operations for N parameters and D tokens (Kaplan et al. 2020)."""

from ..arrays import exp, log

FLOP_PER_PARAMETER_TOKEN = 6.0


def log_slots(compute):
    """Logarithm of the product N D that a budget C pays for."""
    return log(compute) - log(FLOP_PER_PARAMETER_TOKEN)


def tokens_at(compute, parameters):
    """Tokens D that a budget C pays for at N parameters."""
    return exp(log_slots(compute) - log(parameters))

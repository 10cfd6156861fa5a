"""How accuracy falls with the lengths of operands: the curve, its inverse and the densities of counts.

A run's curve has five parameters, each on the whole real line:

* ``log_reach``: log of h/T, h the length at which the falling part is at one half and T the training length;
* ``log_steepness``: log of s, by how much the logit falls for each e-fold of length at h;
* ``logit_lapse``: logit of the share of problems that are wrong at any length, 1 - the plateau;
* ``logit_shorter``: logit of w, the weight of the shorter operand in the effective length;
* ``log_precision``: log of the precision of the beta-binomial counts, the sum of the two shapes of its beta.

Lengths i and j have effective length ``ell = max(i, j)**(1-w) min(i, j)**w``, which is i on the diagonal. Accuracy is
``p = (1 - lapse) / (1 + exp(-eta))`` with ``eta = -s log(ell/h)``, or ``eta = -s (ell/h - 1)`` where the shape is
linear; both fall equally steeply at h. Functions work on arrays of any broadcastable shape and any array library.
"""

import numpy as np

from ..arrays import clip, exp, gammaln, log, sigmoid

PARTS = ("log_reach", "log_steepness", "logit_lapse", "logit_shorter", "log_precision")
SHAPES = ("log", "linear")
LARGEST_LOG_PRECISION = 16.0  # There counts are binomial. Far beyond, differences of log gammas lose all digits.
LARGEST_LOGIT = 150.0  # Beyond it an accuracy is 0 or 1 for any count, and derivatives of its logs overflow.


def logit_fall(log_length, log_half, steepness, shape):
    """Return the logit of the falling part at an effective length."""
    excess = log_length - log_half
    eta = -steepness * (excess if shape == "log" else exp(clip(excess, -LARGEST_LOGIT, LARGEST_LOGIT)) - 1)
    return clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT)


def natural(curve, log_train):
    """Return the constants that accuracies are made of, from the parameters of curves and the logs of training lengths.

    They are ``log_half``, ``steepness`` and, where a curve has them, ``lapse``, ``plateau``, ``weight``, ``precision``.
    Without ``logit_lapse`` there is no lapse, without ``logit_shorter`` the longer operand alone counts, without
    ``log_precision`` counts are binomial.
    """
    constants = {"log_half": log_train + curve["log_reach"], "steepness": exp(curve["log_steepness"])}
    if "logit_lapse" in curve:
        constants |= {"lapse": sigmoid(curve["logit_lapse"]), "plateau": sigmoid(-curve["logit_lapse"])}
    if "logit_shorter" in curve:
        constants["weight"] = sigmoid(curve["logit_shorter"])
    if "log_precision" in curve:
        constants["precision"] = exp(clip(curve["log_precision"], -LARGEST_LOG_PRECISION, LARGEST_LOG_PRECISION))
    return constants


def right_and_wrong(constants, log_longer, log_ratio, shape):
    """Return the probabilities that a problem is right and that it is wrong, each accurate where it is small.

    The constants are those that `natural` returns. The logs are of the longer operand's length, and of the shorter's
    over it.
    """
    length = log_longer
    if "weight" in constants:
        length = log_longer + constants["weight"] * log_ratio
    odds_against = exp(-logit_fall(length, constants["log_half"], constants["steepness"], shape))
    right = 1 / (1 + odds_against)
    wrong = odds_against * right
    if "lapse" not in constants:
        return right, wrong
    return constants["plateau"] * right, constants["lapse"] + constants["plateau"] * wrong


def length_at(curve, log_train, share, shape):
    """Return the length of two equal operands at which accuracy has fallen to a share, from 0 to 1, of its plateau.

    It is in digits, at least 1, since no operand is shorter; infinity where it is beyond floats.
    """
    beyond = (np.log1p(-share) - np.log(share)) / np.exp(curve["log_steepness"])
    log_half = log_train + curve["log_reach"]
    with np.errstate(over="ignore"):
        length = np.exp(log_half + beyond) if shape == "log" else np.exp(log_half) * (1 + beyond)
    return np.maximum(length, 1.0)


def log_rising(x, k):
    """Return the log of ``x (x + 1) ... (x + k - 1)``."""
    return gammaln(x + k) - gammaln(x)


def log_likelihood(curve, log_train, groups, shape):
    """Return the log density of the counts of all runs but for binomial coefficients, (...), as the sum of `terms`."""
    return sum(values.sum(-1) for values, _ in terms(curve, log_train, groups, shape))


def terms(curve, log_train, groups, shape):
    """Return the terms of the log density of counts but for binomial coefficients, a list of pairs of arrays.

    A pair has values, (..., group), and the runs that they are of. The curve has parameters of shape (..., run),
    `log_train` has shape (run,), and `design.groups` makes the groups.
    With ``log_precision`` the counts are beta-binomial, else binomial.
    """
    run = groups["pair_run"]
    constants = natural(curve, log_train)
    precision = constants.pop("precision", None)
    of_pairs = {name: x[..., run] for name, x in constants.items()}
    right, wrong = right_and_wrong(of_pairs, groups["pair_log_longer"], groups["pair_log_ratio"], shape)
    if precision is None:
        return [(groups["pair_correct"] * log(right) + groups["pair_wrong"] * log(wrong), run)]
    densities = []
    for side, share in (("right", right), ("wrong", wrong)):
        pair = groups[f"{side}_pair"]
        beta_shape = (precision[..., run] * share)[..., pair]
        densities.append((groups[f"{side}_cells"] * log_rising(beta_shape, groups[f"{side}_count"]), run[pair]))
    of_all = groups["total_cells"] * log_rising(precision[..., groups["total_run"]], groups["total_count"])
    return [*densities, (-of_all, groups["total_run"])]

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

from ..arrays import clip, exp, gammaln, log

PARTS = ("log_reach", "log_steepness", "logit_lapse", "logit_shorter", "log_precision")
SHAPES = ("log", "linear")
LARGEST_LOG_PRECISION = 16.0  # There counts are binomial. Far beyond, differences of log gammas lose all digits.
LARGEST_LOGIT = 150.0  # Beyond it an accuracy is 0 or 1 for any count, and derivatives of its logs overflow.


def sigmoid(x):
    """Return the logistic function."""
    return 1 / (1 + exp(-x))


def log_effective(log_longer, log_ratio, weight):
    """Return the log of the effective length, from the log of the longer length and that of the shorter over it."""
    return log_longer + weight * log_ratio


def logit_fall(log_length, log_half, steepness, shape):
    """Return the logit of the falling part at an effective length."""
    excess = log_length - log_half
    eta = -steepness * (excess if shape == "log" else exp(clip(excess, -LARGEST_LOGIT, LARGEST_LOGIT)) - 1)
    return clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT)


def natural(curve, log_train):
    """Return the constants of curves that accuracies are made of.

    Parameters
    ----------
    curve : mapping of str to array_like
        The parameters; without ``logit_lapse`` there is no lapse, without ``logit_shorter`` the longer operand alone
        counts, without ``log_precision`` counts are binomial.
    log_train : array_like
        Log of the training length.

    Returns
    -------
    dict of str to array_like
        ``log_half``, ``steepness`` and, where they are, ``lapse``, ``plateau``, ``weight``, ``precision``.
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
    """Return the probabilities that a problem is right and that it is wrong.

    Parameters
    ----------
    constants : mapping of str to array_like
        From `natural`.
    log_longer, log_ratio : array_like
        Logs of the longer operand's length and of the shorter's over it.
    shape : {"log", "linear"}

    Returns
    -------
    right, wrong : array_like
        They sum to 1; each is accurate where it is small.
    """
    length = log_longer
    if "weight" in constants:
        length = log_effective(log_longer, log_ratio, constants["weight"])
    odds_against = exp(-logit_fall(length, constants["log_half"], constants["steepness"], shape))
    right = 1 / (1 + odds_against)
    wrong = odds_against * right
    if "lapse" not in constants:
        return right, wrong
    return constants["plateau"] * right, constants["lapse"] + constants["plateau"] * wrong


def length_at(curve, log_train, share, shape):
    """Return the length of two equal operands at which accuracy has fallen to a share of its plateau.

    Parameters
    ----------
    curve : mapping of str to array_like
    log_train : array_like
    share : array_like
        Between 0 and 1.
    shape : {"log", "linear"}

    Returns
    -------
    ndarray
        Digits, at least 1: no operand is shorter. Infinity where the length is beyond floats.
    """
    beyond = (np.log1p(-share) - np.log(share)) / np.exp(curve["log_steepness"])
    log_half = log_train + curve["log_reach"]
    with np.errstate(over="ignore"):
        length = np.exp(log_half + beyond) if shape == "log" else np.exp(log_half) * (1 + beyond)
    return np.maximum(length, 1.0)


def log_rising(x, k):
    """Return the log of ``x (x + 1) ... (x + k - 1)``."""
    return gammaln(x + k) - gammaln(x)


def log_likelihood(curve, log_train, groups, shape, total):
    """Return the log density of counts but for binomial coefficients, added up by `total`.

    Parameters
    ----------
    curve, log_train, groups, shape
        As for `terms`.
    total : callable
        ``total(values, runs)`` adds up values of shape (..., group), whose runs are given.

    Returns
    -------
    array_like
        What `total` made.
    """
    return sum(total(values, runs) for values, runs in terms(curve, log_train, groups, shape))


def terms(curve, log_train, groups, shape):
    """Return the terms of the log density of counts but for binomial coefficients.

    Parameters
    ----------
    curve : mapping of str to array_like, shape (..., run)
        With ``log_precision`` the counts are beta-binomial, else binomial.
    log_train : array_like, shape (run,)
    groups : mapping of str to array_like
        From `design.groups`.
    shape : {"log", "linear"}

    Returns
    -------
    list of (array_like, array_like)
        Values, (..., group), and the runs that they are of.
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

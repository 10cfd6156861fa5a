"""Differences of elpd from the best of several fits: their errors, when these mislead, and a sentence to quote.

References
----------
.. [1] Sivula, T., Magnusson, M., Matamoros, A. A. and Vehtari, A. (2020). Uncertainty in Bayesian leave-one-out
       cross-validation based model comparison. arXiv:2008.10296.
"""

import numpy as np
import pandas as pd

from ...datasets.deferred import special
from ..checks.chains import PARETO_K_LIMIT
from ..words import enumerated
from .weights import sum_error

FEW_UNITS, SMALL = 100, 4.0  # of Stan's loo, after [1]_
FEW, CLOSE, HIGH_K = f"n<{FEW_UNITS}", f"diff<{SMALL:g}", f"k>{PARETO_K_LIMIT}"
MEANING = {
    FEW: "the standard error may be half of what it should be",
    CLOSE: "too small a difference to tell two fits apart",
    HIGH_K: "the elpd of this fit or of the best may be wrong",
}
DISTINGUISHED = 2.0  # standard errors, our choice
LEAST_P = 1e-6  # the normal approximation is not valid so far into the tail


def p_worse(difference, error):
    """Compute the probability that an elpd lies below the best one, under a normal approximation of their difference.

    It is ``Phi(-difference / error)``, as R's ``loo_compare`` has it, so at least one half. The difference is the elpd
    less that of the best, at most 0, and the error its standard error. NaN where there is no difference, as of the best
    from itself.

    Examples
    --------
    >>> p_worse([0.0, -26.9, -2.0], [0.0, 7.1, 0.0]).round(5)
    array([    nan, 0.99992, 1.     ])
    """
    difference, error = np.asarray(difference, float), np.asarray(error, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference == 0, np.nan, special.ndtr(-difference / error))


def is_apart(difference, error):
    """Return whether an elpd is below another by more than two standard errors and 4 nats: else they predict as well.

    Standard errors of differences below 4 nats are too small where two fits predict alike [1]_.
    """
    return difference < -np.maximum(DISTINGUISHED * error, SMALL)


def differences(pointwise, high_k=None):
    """Compare log predictive densities, of a unit a row and a fit a column, with those of the fit whose sum is highest.

    By fit, the DataFrame has ``elpd_diff``, ``dse``, ``p_worse`` and ``flags``, the reasons why the normal
    approximation may mislead [1]_. ``n<100`` marks fewer than 100 units: the error may be half of what it should be.
    ``diff<4`` marks a difference so small that the two fits cannot be distinguished, whatever its error. ``k>0.7``
    marks an elpd, of this fit or of the best, that depends on units whose Pareto k is too high; `high_k` counts them by
    fit. It is so where a law misses some of them, and the difference itself may be wrong. The best has that last flag
    alone. R's ``loo_compare`` shows ``n<100`` in place of ``diff<4`` where both hold.
    """
    best = pointwise.sum().idxmax()
    apart = pointwise.sub(pointwise[best], axis=0)
    table = pd.DataFrame({"elpd_diff": apart.sum(), "dse": pd.Series(sum_error(apart), apart.columns)})
    table["p_worse"] = p_worse(table["elpd_diff"], table["dse"])
    high_k = {} if high_k is None else high_k
    flags = []
    for name, difference in table["elpd_diff"].items():
        holds = {
            FEW: name != best and len(pointwise) < FEW_UNITS,
            CLOSE: name != best and -difference < SMALL,
            HIGH_K: high_k.get(name, 0) + high_k.get(best, 0) > 0,
        }
        flags.append(", ".join(flag for flag, held in holds.items() if held))
    return table.assign(flags=flags)


def sentence(table, *, left_out, named=str, error="dse"):
    """Return sentences on which fit predicts best and by how much, or that several cannot be distinguished.

    The table is of at least two fits, best first, with what `differences` returned. `left_out` names what was left out,
    in the plural, and `named` turns what stands in the index into a name; `error` is the column of the standard error.
    """
    best, second = (named(name) for name in table.index[:2])
    row = table.iloc[1]
    difference, se = -row["elpd_diff"], row[error]
    close = [named(name) for name, other in table.iloc[1:].iterrows() if CLOSE in other["flags"]]
    if close:
        largest = table.iloc[len(close)]
        text = (
            f"Predictions of left-out {left_out} do not distinguish {best} from {enumerated(close)}: a difference "
            f"of {'at most ' if len(close) > 1 else ''}{abs(largest['elpd_diff']):.1f} nats (standard error "
            f"{largest[error]:.1f}), below {SMALL:g}"
        )
    else:
        worse = float(special.ndtr(-difference / se)) if se else 0.0
        p = f"below {LEAST_P:.0e}" if worse < LEAST_P else f"{worse:.2g}"
        text = (
            f"{best} predicts left-out {left_out} better than {second} by {difference:.1f} nats (standard error "
            f"{se:.1f}); probability that it is worse {p.replace('e-0', 'e-')}"
        )
    if FEW in row["flags"]:
        text += f". With fewer than {FEW_UNITS} {left_out} {MEANING[FEW]}"
    if HIGH_K in row["flags"]:
        text += f". Pareto k is above {PARETO_K_LIMIT} at some {left_out}, and the difference may be wrong"
    return text

"""Compute-optimal model size without a law of the loss: approaches 1 and 2 of Hoffmann et al. (2022).

Both put power laws through optima, ``N* = G C**a`` and ``D* = H C**b``, by least squares of their logarithms on log C.

References
----------
.. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. arXiv:2203.15556, section 3.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...datasets.deferred import stats
from ...datasets.reader import TableSource, as_table
from ...datasets.requirements import positive_columns
from ...datasets.wording import source_of
from ...errors import DiagnosticWarning, InputError
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from .curves import slopes
from .result import PointEstimate

SIZED = ("parameters", "tokens", "training_flop")
COLUMNS = (*SIZED, "loss")
WIDTH, MINIMUM_RUNS = 0.1, 8
BINS = 20
FEWEST_OPTIMA = 3
FEWEST_SIZES = 4


def fit_isoflop(
    runs: TableSource,
    *,
    compute: Sequence[float] | None = None,
    by: str | None = None,
    width: float = WIDTH,
    minimum_runs: int | None = None,
) -> PointEstimate:
    """Estimate a power law from the minima of parabolas at equal compute, approach 2 of Hoffmann et al. (2022).

    Runs of about one compute make a group. A parabola of their loss in log N has its minimum at N* (section 3.2), and
    ``D* = C/(6 N*)`` with C the geometric mean of the group [1]_. A group is set aside if its parabola has no minimum
    within the group's range of N. Differences of compute within a group count as noise, and a parabola is symmetric
    where the loss is not. Both make this a rough estimate, more so the wider the range of N.

    Parameters
    ----------
    runs : DataFrame, path, str or mapping
        One row a run: ``parameters``, ``tokens``, ``training_flop`` and ``loss`` in nats per token, all positive.
    compute : sequence of float, optional
        Compute of the groups in FLOP. By default the windows of `width` that hold most runs, one after the other while
        one holds `minimum_runs`.
    by : str, optional
        Column that has the compute of each run's group, such as the budgets of a study that counts FLOP another way
        than 6ND. N* is then a power of that compute, and D* is C/(6 N*) with C the geometric mean of 6ND in the group.
    width : float
        Width of a group in log10 of compute.
    minimum_runs : int, optional
        Fewest runs of a group, at least 4; by default 8, and 4 with `by`.

    Returns
    -------
    PointEstimate
        ``exponent`` a and ``coefficient`` G of ``N* = G C**a``, C in FLOP, and ``exponent_tokens`` and
        ``coefficient_tokens`` of D*, NaN without 3 optima. The error of the exponent is the ordinary one of a
        regression on the optima. `points` has a row a group: ``training_flop`` (FLOP), ``runs``, and the optimum's
        ``parameters``, ``tokens`` and ``loss`` (nats per token, NaN if there is none). ``used`` is whether it was used,
        and ``reason`` why not. `rows` counts the runs of those used.

    Raises
    ------
    InputError
        If a column is missing or not positive, an option is out of range, or no group has enough runs.

    Warns
    -----
    DiagnosticWarning
        If fewer than 3 groups have a minimum.

    Examples
    --------
    >>> import bayescaling as bs
    >>> 0.3 < bs.points.fit_isoflop(bs.load("chinchilla_runs"))["exponent"] < 0.7
    True
    """
    runs = as_table(runs)
    if minimum_runs is None:
        minimum_runs = MINIMUM_RUNS if by is None else FEWEST_SIZES
    check_isoflop(compute=compute, by=by, width=width, minimum_runs=minimum_runs)
    names = COLUMNS if by is None else (*COLUMNS, by)
    columns = positive_columns(runs, names, purpose="fit_isoflop")
    if by is None:
        groups = _equal_compute(columns, runs, compute, width, minimum_runs)
    else:
        groups = [np.flatnonzero(columns[by] == budget) for budget in np.unique(columns[by])]
    tables = [{name: x[group] for name, x in columns.items()} for group in groups]
    points = [_parabola_minimum(group, minimum_runs, by) for group in tables]
    return _power_law("isoFLOP parabolas", points, runs)


def exponents_by_isoflop(runs, losses):
    """Compute the exponents that `fit_isoflop` estimates in tables of the same runs with other losses.

    The losses have the shape (run, table), and the exponents (table,), NaN where there are fewer than 3 optima.
    """
    columns, optima = positive_columns(runs, SIZED, purpose="fit_isoflop"), []
    for group in _equal_compute(columns, runs):
        log_parameters = np.log(columns["parameters"][group])
        if _too_few(log_parameters, MINIMUM_RUNS):
            continue
        lowest, _, inside = _parabolas(log_parameters, losses[group])
        log_compute = np.log(columns["training_flop"][group]).mean()
        optima.append((np.full(len(lowest), log_compute), np.where(inside, lowest, np.nan)))
    return _exponents(optima, losses.shape[1])


def _equal_compute(columns, runs, compute=None, width=WIDTH, minimum_runs=MINIMUM_RUNS):
    log_compute = np.log10(columns["training_flop"])
    if compute is None:
        groups = _densest_windows(log_compute, width, minimum_runs)
    else:
        distance = np.abs(log_compute[:, None] - np.unique(np.log10(np.asarray(compute, float))))
        nearest = np.where(distance.min(axis=1) <= width / 2, distance.argmin(axis=1), -1)
        groups = [np.flatnonzero(nearest == i) for i in np.unique(nearest[nearest >= 0])]
    if not groups:
        raise InputError(
            f"{source_of(runs)}: column 'training_flop' has no {minimum_runs} runs within {width:g} decades; "
            "raise width, lower minimum_runs or name the compute of groups"
        )
    return groups


def check_isoflop(*, compute=None, by=None, width=WIDTH, minimum_runs=None):
    """Raise `InputError` for options of `fit_isoflop` that no table could be used with."""
    minimum_runs = MINIMUM_RUNS if minimum_runs is None else minimum_runs
    if by is not None and compute is not None:
        raise InputError("compute and by both choose the groups; give one of them")
    if not (np.isfinite(width) and width > 0):
        raise InputError(f"width must be a positive number of decades of compute, not {width!r}")
    if minimum_runs < FEWEST_SIZES:
        raise InputError(f"minimum_runs must be {FEWEST_SIZES} or more for a parabola, not {minimum_runs!r}")
    if compute is not None:
        compute = np.asarray(compute, dtype=float)
        if compute.ndim != 1 or not len(compute) or not (np.isfinite(compute) & (compute > 0)).all():
            raise InputError(f"compute must be positive numbers of FLOP, not {compute.tolist()!r}")


def fit_frontier(runs: TableSource, *, bins: int = BINS, minimum_runs: int = 3) -> PointEstimate:
    """Estimate a power law from the best run at each level of compute, a rough approach 1 of Hoffmann et al. (2022).

    Approach 1 takes, at each of many budgets, the lowest of all training curves (section 3.1 of [1]_). This one has
    only final losses: it cuts log C into equal bins and takes the run of lowest loss in each. So an optimum is no finer
    than the sizes trained, and favours the upper end of its bin and whichever run was lucky. Its standard error
    reflects none of that. A bin whose best run is its smallest or largest is set aside, since the optimum may lie
    beyond.

    Parameters
    ----------
    runs : DataFrame, path, str or mapping
        As for `fit_isoflop`.
    bins : int
        Number of bins, equal in log C.
    minimum_runs : int
        Fewest runs of a bin, at least 3.

    Returns
    -------
    PointEstimate
        As of `fit_isoflop`; `points` has the best run of each bin that holds any.

    Raises
    ------
    InputError
        If a column is missing or not positive, or an option is out of range.

    Warns
    -----
    DiagnosticWarning
        If fewer than 3 bins have an optimum.

    Examples
    --------
    >>> import bayescaling as bs
    >>> 0.3 < bs.points.fit_frontier(bs.load("chinchilla_runs"))["exponent"] < 0.7
    True
    """
    runs = as_table(runs)
    if bins < FEWEST_OPTIMA:
        raise InputError(f"bins must be {FEWEST_OPTIMA} or more, not {bins!r}")
    if minimum_runs < FEWEST_OPTIMA:
        raise InputError(f"minimum_runs must be {FEWEST_OPTIMA} or more for an inner optimum, not {minimum_runs!r}")
    columns = positive_columns(runs, COLUMNS, purpose="fit_frontier")
    groups = _bins_of_compute(columns, bins)
    points = [_best_run({name: x[group] for name, x in columns.items()}, minimum_runs) for group in groups]
    return _power_law("frontier of final losses", points, runs)


def exponents_by_frontier(runs, losses):
    """Compute the exponents that `fit_frontier` estimates in tables with other losses; see `exponents_by_isoflop`."""
    columns, optima = positive_columns(runs, SIZED, purpose="fit_frontier"), []
    for group in _bins_of_compute(columns):
        log_parameters = np.log(columns["parameters"][group])
        best = losses[group].argmin(axis=0)
        inside = (len(group) >= FEWEST_OPTIMA) & _within(log_parameters, log_parameters[best])
        log_compute = np.log(columns["training_flop"][group])
        optima.append((log_compute[best], np.where(inside, log_parameters[best], np.nan)))
    return _exponents(optima, losses.shape[1])


def _bins_of_compute(columns, bins=BINS):
    """Return rows of bins equal in log C, those that hold any."""
    log_compute = np.log10(columns["training_flop"])
    edges = np.linspace(log_compute.min(), log_compute.max(), bins + 1)
    bin_of = np.clip(np.searchsorted(edges, log_compute, side="right") - 1, 0, bins - 1)
    return [np.flatnonzero(bin_of == i) for i in np.unique(bin_of)]


def _densest_windows(log_compute, width, minimum_runs):
    """Return rows of the windows that hold most of the runs that are left, in order of compute."""
    left = np.argsort(log_compute, kind="stable")
    groups = []
    while len(left):
        levels = log_compute[left]
        ends = np.searchsorted(levels, levels + width, side="right")
        counts = ends - np.arange(len(left))
        first = int(counts.argmax())
        if counts[first] < minimum_runs:
            break
        groups.append(left[first : ends[first]])
        left = np.delete(left, slice(first, ends[first]))
    return sorted(groups, key=lambda group: log_compute[group].mean())


def _point(compute, runs, parameters=np.nan, tokens=np.nan, loss=np.nan, *, reason=""):
    return {
        "training_flop": float(compute),
        "runs": runs,
        "parameters": float(parameters),
        "tokens": float(tokens),
        "loss": float(loss),
        "used": not reason,
        "reason": reason,
    }


def _parabola_minimum(group, minimum_runs, level=None):
    log_parameters = np.log(group["parameters"])
    mean, runs = np.exp(np.log(group["training_flop"]).mean()), len(log_parameters)
    compute = mean if level is None else group[level][0]
    if runs < minimum_runs:
        return _point(compute, runs, reason=f"fewer than {minimum_runs} runs")
    if _too_few(log_parameters, minimum_runs):
        return _point(compute, runs, reason=f"fewer than {FEWEST_SIZES} model sizes")
    (lowest,), (loss,), (inside,) = _parabolas(log_parameters, group["loss"][:, None])
    if not inside:
        return _point(compute, runs, reason="the parabola has no minimum within the sizes of the group")
    parameters = np.exp(lowest)
    return _point(compute, runs, parameters, mean / (FLOP_PER_PARAMETER_TOKEN * parameters), loss)


def _too_few(log_parameters, minimum_runs):
    return len(log_parameters) < minimum_runs or len(np.unique(log_parameters)) < FEWEST_SIZES


def _parabolas(log_parameters, losses):
    """Return where parabolas of losses, (run, table), are lowest in log N, their minima, whether within the sizes.

    Each has shape (table,).
    """
    centre = log_parameters.mean()
    bend, tilt, level = np.polyfit(log_parameters - centre, losses, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        lowest = np.where(bend > 0, centre - tilt / (2 * bend), np.inf)
        return lowest, level - tilt**2 / (4 * bend), _within(log_parameters, lowest)


def _within(sizes, size):
    return (sizes.min() < size) & (size < sizes.max())


def _best_run(group, minimum_runs):
    compute, parameters, tokens, loss = (group[name] for name in ("training_flop", "parameters", "tokens", "loss"))
    best, reason = int(loss.argmin()), ""
    if len(loss) < minimum_runs:
        reason = f"fewer than {minimum_runs} runs"
    elif not _within(parameters, parameters[best]):
        reason = "the best run is the smallest or largest of its bin"
    return _point(compute[best], len(loss), parameters[best], tokens[best], loss[best], reason=reason)


def _power_law(estimator, points, runs):
    points = pd.DataFrame(points)
    used = points[points["used"]]
    converged = len(used) >= FEWEST_OPTIMA
    message = f"{len(used)} of {len(points)} levels of compute have an optimum"
    laws = ((np.nan,) * 3,) * 2
    if converged:
        log_compute = np.log(used["training_flop"])
        lines = [stats.linregress(log_compute, np.log(used[size])) for size in ("parameters", "tokens")]
        laws = [(float(line.slope), float(np.exp(line.intercept)), float(line.stderr)) for line in lines]
    else:
        message = (
            f"{estimator}: {message}, and a power law needs {FEWEST_OPTIMA}; add runs of other sizes at equal compute"
        )
        warnings.warn(message, DiagnosticWarning, stacklevel=3)
    (exponent, coefficient, error), (exponent_tokens, coefficient_tokens, _) = laws
    of_tokens = {"exponent_tokens": exponent_tokens, "coefficient_tokens": coefficient_tokens}
    return PointEstimate(
        estimator=estimator,
        estimates={"exponent": exponent, "coefficient": coefficient} | of_tokens,
        source=source_of(runs),
        rows=int(used["runs"].sum()),
        converged=converged,
        message=message,
        errors={"exponent": error},
        points=points,
    )


def _exponents(levels, tables):
    """Return exponents through optima of tables: `levels` are pairs of log C and log N*, each of shape (table,)."""
    if not levels:
        return np.full(tables, np.nan)
    log_compute, log_size = np.moveaxis(np.array(levels), (1, 2), (0, 1))
    enough = np.isfinite(log_size).sum(-1) >= FEWEST_OPTIMA
    return np.where(enough, slopes(log_compute, log_size), np.nan)

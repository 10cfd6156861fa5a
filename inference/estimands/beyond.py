"""Compute how far a law may miss outside the runs fitted: the drift, which rollouts of other tables teach.

A law's residuals do not show its misfit outside its runs. Inside, laws miss by 0.1 to 0.4% of the loss. At ten times
the largest run's compute they miss by 1 to 3%. So the log loss of runs outside carries ``b h + e``, with h the decades
above the largest fitted run or below the least, in compute, size or tokens. ``b ~ Normal(0, tau exp(spread z))`` is one
draw for all runs predicted on a side, z standard normal, and ``e ~ Normal(0, step)`` is one by run. Log N* carries
``c h``, c drawn as b. Scales are learned by ``evidence/beyond.py`` from rollouts of ten public tables of six sources,
apart for each side and for laws of one column. ``evidence/beyond.json`` holds them with the coverage on each source
when the other five teach.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from ...datasets.deferred import special
from ...datasets.files import evidence
from ...datasets.wording import check_choice
from ...models.loss.budget import training_flop
from ..kinds import find_record

BEYOND = ("drift", "none")
SIDES = {"above": 1, "below": -1}  # of the runs fitted, and the sign of decades there
SUM = "chinchilla"  # The law whose drift other laws take: most are sums of a term in N and one in D.
FRONTIER = "frontier"  # The drift of laws of one column.
ROUNDING = 1e-6  # Decades: runs of one budget differ by so much in the last digits.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)  # of the logarithm of a scale


class Drift(NamedTuple):
    """Scales of a law's error beyond its runs.

    Of log loss, `loss` is the median scale tau of the error a decade of compute, `spread` the standard deviation of log
    tau between tables, and `step` that of the error of a single run. Of log N*, `size` is the median scale of the error
    a decade, and `size_spread` the standard deviation of its logarithm between tables.
    """

    loss: float
    spread: float
    step: float
    size: float
    size_spread: float

    def scales(self, of):
        """Return the median scale of errors a decade of log ``"loss"`` or log N* (``"size"``), and its spread."""
        return (self.loss, self.spread) if of == "loss" else (self.size, self.size_spread)

    def mean_square(self, of="loss"):
        """Return the mean square of an error a decade, whose scale is log-normal."""
        scale, spread = self.scales(of)
        return scale**2 * np.exp(2 * spread**2)

    def slopes(self, rng, shape, of="loss"):
        """Return errors a decade, one for each posterior draw: even quantiles in random order, an ndarray of `shape`.

        A draw by itself would leave the ends of intervals to a few draws of heavy tails.
        """
        scale, spread = self.scales(of)
        count, x = int(np.prod(shape)), np.sinh(np.linspace(-9, 9, 4001))
        p = special.ndtr(x[:, None] * np.exp(-spread * NODES)) @ (WEIGHTS / WEIGHTS.sum())
        return scale * rng.permutation(np.interp((np.arange(count) + 0.5) / count, p, x)).reshape(shape)

    def slopes_of_groups(self, rng, shape, groups, difference):
        """Draw errors of log loss a decade of several groups of runs: an ndarray (*shape, group).

        `difference` has the median scale of the error of the difference of two groups, and the spread of its logarithm.
        The rest of the error of a group is common to all of them.
        """
        scale, spread = difference
        whole = self.loss * np.exp(self.spread * rng.standard_normal(shape))[..., None]
        single = np.minimum(scale / np.sqrt(2) * np.exp(spread * rng.standard_normal(shape))[..., None], whole)
        common = np.sqrt(whole**2 - single**2) * rng.standard_normal((*shape, 1))
        return common + single * rng.standard_normal((*shape, groups))

    def errors(self, rng, decades, shape, *, scatter=True):
        """Draw errors of log loss, (*shape, run), at runs so many decades, (run,), beyond the last; 0 inside.

        With `scatter` there is also an independent error for each run.
        """
        errors = self.slopes(rng, shape)[..., None] * decades
        return errors + self.step * rng.standard_normal(errors.shape) * (decades > 0) if scatter else errors

    def log_density(self, rng, errors, decades):
        """Compute the log density, (run,), of errors of log loss, averaged over draws.

        The errors (sample, run) are log losses observed minus those that draws predict, noise included, at runs so many
        decades, (run,), beyond the last.
        """
        tau = self.loss * np.exp(self.spread * rng.standard_normal((len(errors), 1)))
        scale = np.hypot(tau * decades, self.step)
        density = -0.5 * (errors / scale) ** 2 - np.log(scale) - 0.5 * np.log(2 * np.pi)
        return special.logsumexp(density, axis=0) - np.log(len(errors))


@cache
def drifts():
    """Read the drift of each law that was rolled out, by side and name."""
    by_side = evidence("beyond")["result"]["drift"]
    return {side: {name: Drift(**scales) for name, scales in by_law.items()} for side, by_law in by_side.items()}


@cache
def _differences():
    return {name: of["difference"] for name, of in evidence("alike")["result"].items()}


def drift_of(law, side="above"):
    """Return the drift of a law on a side of its runs; where it was not rolled out, that of laws with as many columns.

    These are the power law of a frontier for one column, else Chinchilla's.
    """
    by_law = drifts()[side]
    return by_law.get(_name(law), by_law[FRONTIER if len(law.columns) == 1 else SUM])


def sided(law, decades):
    """Yield the drift of a law on each side, and decades there: signed ones, of one sign by side, as positive ones."""
    for side, sign in SIDES.items():
        yield drift_of(law, side), (sign * decades).clip(min=0)


def draw_errors(law, rng, decades, shape, *, scatter=True):
    """Draw errors of log loss, (*shape, run), at runs so many signed decades, (run,), outside those fitted."""
    return sum(drift.errors(rng, far, shape, scatter=scatter) for drift, far in sided(law, decades))


def error_variance(law, decades):
    """Compute the variance of errors of log loss at runs so many signed decades outside those fitted, (run,)."""
    return sum(drift.mean_square() * far**2 + drift.step**2 * (far > 0) for drift, far in sided(law, decades))


def difference_of(law):
    """Return the scale of the error a decade of a difference of log losses of two groups, and the scale's spread.

    ``evidence/alike.py`` learns them from rollouts of tables of groups.
    """
    return _differences().get(_name(law), _differences()[SUM])


def _name(law):
    return law.options.get("law", {}).get("name", law.name)


def check_beyond(beyond):
    """Refuse what names neither the drift nor none."""
    check_choice("beyond", beyond, BEYOND)


def decades_beyond(law, fitted, runs):
    """Compute by how many decades runs lie above (positive) or below the fitted ones, (run,), as far as the law drifts.

    The farther side counts. Rollouts, from which the drift is learned, cut along compute. It is 0 inside the fitted
    runs, and for laws that have no drift: those of other tables than runs, or of another response than the loss.
    """
    if not find_record(law.kind).drifts or law.observed != "loss":
        return np.zeros(len(runs))
    above, below = np.nan_to_num(sides_outside(law, fitted, runs))
    return np.where(above >= below, above, -below)


def sides_outside(law, fitted, rows):
    """Compute by how many decades rows lie above the largest and below the least fitted one: two arrays, (row,).

    They are counted along each column of the law, and of runs along their compute: 6 N D, or ``training_flop``. The
    farthest counts: a run of more parameters than any that was fitted is an extrapolation, whatever its compute. Where
    groups of rows have quantities of their own, the fitted rows are those of the group. Both are NaN where nothing is
    known, such as rows without compute under a law of compute, or of a group without fitted rows.
    """
    by, above, below = law.grouped_by, np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    for before, after in zip(_measures(law, fitted), _measures(law, rows), strict=True):
        if before is None or after is None:
            continue
        low, high = np.full(len(rows), np.nanmin(before)), np.full(len(rows), np.nanmax(before))
        if by in rows and by in fitted:
            groups, new_groups = (table[by].astype(str).to_numpy() for table in (fitted, rows))
            for group in np.intersect1d(groups, new_groups):
                of = before[groups == group]
                low[new_groups == group], high[new_groups == group] = np.nanmin(of), np.nanmax(of)
        decades = decades_outside(after, low, high)
        above, below = np.fmax(above, decades.clip(min=0)), np.fmax(below, -decades.clip(max=0))
    unseen = ~np.isin(rows[by].astype(str), fitted[by].astype(str)) if by in rows and by in fitted else False
    unknown = unseen & (np.fmax(above, below) <= ROUNDING)
    return tuple(np.where(unknown, np.nan, np.where(x <= ROUNDING, 0.0, x)) for x in (above, below))


def decades_outside(x, least, greatest):
    """Return decades by which values lie above (positive) or below (negative) a range; 0 within.

    Of a range that is not of positive numbers its length counts as a decade.
    """
    if not np.all(least > 0):
        length = greatest - least
        return ((x - greatest) / length).clip(min=0) + ((x - least) / length).clip(max=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        above = np.log10(x / (greatest * (1 + 1e-9))).clip(min=0)
        return above + np.log10(x / (least * (1 - 1e-9))).clip(max=0)


def _measures(law, rows):
    """Return the compute of rows and the columns of the law that are not tuned, None of what is unknown."""
    columns = [name for name in law.columns if name not in law.settings]
    return [training_flop(rows), *(rows[name].to_numpy(float) if name in rows else None for name in columns)]

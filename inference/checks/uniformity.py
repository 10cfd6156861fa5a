"""Whether ranks, or values between 0 and 1, are uniform: a probability, and a simultaneous band to draw.

The statistic is the least two-sided binomial tail of the empirical distribution over 99 places [1]_. Its distribution
under uniformity is exact: counts below successive places are a Markov chain of binomial steps.

References
----------
.. [1] Saeilynoja, T., Buerkner, P.-C. and Vehtari, A. (2022). Graphical test for discrete uniformity and its
   applications in goodness-of-fit evaluation and multiple sample comparison. Statistics and Computing 32.
"""

import functools

import numpy as np

from ...datasets.deferred import special, xr
from ...datasets.deferred import stats as st

RANKS = 100
PLACES = np.arange(1, RANKS) / RANKS
HALVINGS = 30
UNLIKELY = 0.05
MOST_RANKS = 20_000  # Beyond these the distribution of the statistic changes its probabilities by less than 2%.


def p_uniform(ranks):
    """Compute the probability of ranks, (simulation,), as far from uniform on 0..99 as these, if they were uniform.

    Examples
    --------
    >>> p_uniform(np.arange(100)), p_uniform(np.full(100, 3)) < 1e-12
    (1.0, True)
    """
    ranks = np.asarray(ranks)
    return _p_of_tail(len(ranks), least_tail(ranks))


def not_uniform(table):
    """Return the quantities whose ranks are not uniform at 5%, tested together (Holm)."""
    p = table["p_uniform"].sort_values()
    passed = (p * np.arange(len(p), 0, -1)).cummax() > UNLIKELY
    return [str(name) for name in p.index[~passed]]


def least_tail(ranks):
    """Compute the least two-sided binomial tail of the counts of ranks below each of 1..99."""
    counts = np.bincount(ranks, minlength=RANKS).cumsum()[:-1]
    return float(_tails(counts, len(ranks)).min())


def band(simulations, level=0.95):
    """Return the simultaneous band of the share of ranks below each of 1..99, of uniform ranks: two arrays, (99,)."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _p_of_tail(simulations, middle) <= 1 - level else (low, middle)
    return (
        st.binom.ppf(low / 2, simulations, PLACES) / simulations,
        st.binom.ppf(1 - low / 2, simulations, PLACES) / simulations,
    )


def shares_below(ranks):
    """Compute the share of ranks below each of 1..99, (99,)."""
    return (np.asarray(ranks)[:, None] < np.arange(1, RANKS)).mean(0)


def tree(calibration):
    """Return the places of truths among draws as the group that ArviZ's `plot_ecdf_pit` takes.

    The group is ``prior_sbc`` or ``posterior_sbc``, by where truths came from. Simulations are its draws.
    """
    group = "posterior_sbc" if calibration.record["truth"] == "posterior" else "prior_sbc"
    places = (calibration["rank"] + 0.5) / RANKS
    names = [str(name) for name in places["quantity"].values]
    by_name = {name: places.sel(quantity=name, drop=True).rename(simulation="draw") for name in names}
    return xr.DataTree.from_dict({group: xr.Dataset(by_name).expand_dims(chain=[0])})


def _tails(counts, simulations):
    """Compute two-sided binomial tails of counts below places, (..., 99)."""
    below = special.bdtr(counts, simulations, PLACES)
    above = np.where(counts > 0, special.bdtrc(np.maximum(counts - 1, 0), simulations, PLACES), 1.0)
    return np.minimum(1.0, 2 * np.minimum(below, above))


@functools.lru_cache(maxsize=2)
def _tails_of_all(simulations):
    """Compute the tails of every count below each place, (simulations + 1, 99)."""
    return _tails(np.arange(simulations + 1)[:, None], simulations)


@functools.lru_cache(maxsize=4096)
def _p_of_tail(simulations, tail):
    """Compute the probability that the least tail of uniform ranks is at most `tail`; of `MOST_RANKS` at most."""
    simulations = min(simulations, MOST_RANKS)
    # A hair of slack: the tail of a table is computed once more here.
    allowed = _tails_of_all(simulations) > tail * (1 + 1e-9)
    states, probability, p = np.zeros(1, int), np.ones(1), 0.0
    for place in range(RANKS - 1):
        following = np.flatnonzero(allowed[:, place])
        if not following.size:
            return 1.0
        steps = following - states[:, None]
        share = 1 / (RANKS - place)
        left = simulations - states[:, None]
        with np.errstate(invalid="ignore"):  # of steps back, and of more than are left
            log_choose = -special.betaln(steps + 1, left - steps + 1) - np.log(left + 1)
            pmf = np.exp(log_choose + steps * np.log(share) + special.xlog1py(left - steps, -share))
        # The counts allowed have no gaps: what leaves them is in two tails, whose sum is exact where it is small.
        fewer, more = (following[end] - states for end in (0, -1))
        below = np.where(fewer > 0, special.bdtr(np.maximum(fewer - 1, 0), left[:, 0], share), 0.0)
        above = np.where(more >= 0, special.bdtrc(np.maximum(more, 0), left[:, 0], share), 1.0)
        p += float(probability @ (below + above))
        probability = probability @ np.where((steps >= 0) & (steps <= left), pmf, 0.0)
        states = following
    return min(p, 1.0)

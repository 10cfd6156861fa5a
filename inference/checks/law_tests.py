"""Test whether a law fits the rows it was fitted to, without simulation, and how large its misfit is.

If the law and its noise are true, ``z_i = Phi^-1(F(y_i | theta))`` are independent standard normals under the law's
quantities theta. Then ``u . z`` is one too, for any unit vector u that does not depend on the observations. Where rows
of a run or a paper share an effect, F is conditional on the rows before it. A count is placed uniformly between the
probabilities of fewer and of at most as many. A probability is the mean over posterior draws of that of the draw. The
data are used twice, so that all of these probabilities err high.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...datasets.deferred import special
from ...models.contrasts import Contrast
from ...models.draws import BLOCK, DRAWS
from ..comparison.importance import importance_sampling, left_out_cdf
from ..densities import is_held
from ..fitted import WEIGHTED, Fit, once, results_of
from .uniformity import RANKS, least_tail, p_uniform
from .verdict import BY_COLUMN, NEIGHBOURS

MISFIT = 0.01  # our choice: below it a law does not fit
DRAWS_USED = 400
FEW_DRAWS = 100  # of tables with more than `LARGE` values under `DRAWS_USED` draws, whose posterior is narrow
LARGE = 10_000_000  # 25,000 rows
MOST_VALUES = 500_000  # of rows under draws whose LOO-PIT is computed: beyond, from some of the draws
NEAREST = 1e-300
PERMUTATIONS, FEWEST = 4999, 199  # of settings; fewer of more than 4,000
SMALL = 60  # rows up to which groups are tested against random orders
AT_ONCE = 1_000_000  # residuals in random orders held in memory together
NOISE = "loo_pit"  # the test of the noise alone
APART = "one size"  # the test of each size against the others
NOWHERE = {"worst_size": np.nan, "worst_where": ""}  # of a test that is of all rows at once


def law_tests(fit: Fit) -> pd.DataFrame:
    """Test a law against the rows it was fitted to.

    Parameters
    ----------
    fit : Fit

    Returns
    -------
    DataFrame
        Indexed by ``test``, those that the law and its columns allow. ``statistic``, ``df`` and ``p``, the posterior
        mean of the tail probability, are of the test. ``size`` is the mean over rows of what the law leaves out in
        these directions, without the part that noise explains. It is a share of the loss, or of a cell's problems.
        ``worst_size`` is the same mean over the rows of the bin or group where it is largest, which ``worst_where``
        names. ``size`` is NaN for ``loo_pit``, and ``score`` and ``loo_pit`` have no worst bin (NaN and ""). ``fits``
        is whether p is at least 0.01, and ``what`` describes the test.

        ``score``
            Of a quantity that makes the law wider, such as the outer exponent kappa of `Coupled`. The derivative of the
            mean by it, over sigma, minus its projection on the derivatives by the law's quantities, makes u. The
            statistic is the mean of ``u . z``.
        ``means by compute``
            ``sum n_b mean(z)_b**2`` over bins b of compute: levels where there are at most 15, else up to 10 bins of
            equal counts.
        ``slopes by compute``
            ``sum (u_b . z)**2``, u_b the unit vector of log(N/D) centred in bin b.
        ``means by size``
            ``sum n_s mean(z)_s**2`` over model sizes s with several rows, where there are at least two.
        ``one size``
            The shift of one size from the law of the others, of the size where p is least. Its runs lie on one side of
            that law. Not under effects of sizes, which have such shifts; `Fit.check` names the size there too.
        ``means by benchmark``, ``slopes by date``, ``means by paper``
            The same of evaluations: means of benchmarks, slopes in the date within each, and means of the papers that
            have several rows.
        ``means by length``, ``means by embedding``, ``slopes by shorter operand``
            The same of counts.
        ``means by column ...``
            Means of the groups that a column of the table names and the law does not use (`groupings`), of up to 60
            rows against random orders, since the scatter takes up what groups of few rows explain. The result is
            that of the column where p is least; p is multiplied by the number of such columns.
        ``neighbours by ...``
            Products of mean residuals of settings that follow each other along a column, against random orders: whether
            the form is another. Of the column where they are largest, as in each of the random orders. It sees nothing
            in fewer than eight settings.
        ``loo_pit``
            Uniformity of ``F(y_i)`` under draws that did not see the row, by importance sampling. Where rows of a run
            share an effect, F is conditional on the other rows, and the values depend on each other a little. Not for
            counts, of which whole runs are left out.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> table = fit.law_tests()
    >>> bool(table.loc["score", "p"] < 1e-4), bool(0.001 < table.loc["score", "size"] < 0.01)
    (True, True)
    """
    draws, posterior = fit.draws, fit["posterior"]
    law, rows = draws.law, draws.rows
    tests = {} if law.wider is None else {"score": _Score(law)}
    tests |= {name: _Directions(contrast) for name, contrast in law.contrasts(rows).items()}
    groups = {
        BY_COLUMN + name: _Directions(
            Contrast.of_means(codes, f"groups of rows that {name!r} names", f"{name} " + rows[name].astype(str))
        )
        for name, codes in law.groupings(rows).items()
    }
    settings, orders = law.orders(rows)
    along = [_Neighbours(settings, orders)] if orders else []
    used = DRAWS_USED if DRAWS_USED * len(rows) <= LARGE else FEW_DRAWS
    stride = max(1, int(np.ceil(posterior.sizes["chain"] * posterior.sizes["draw"] / used)))
    total = np.zeros(len(rows))
    for some in _draws_at_a_time(draws.real_line().isel(draw=slice(None, None, stride)), len(rows)):
        part = draws.from_real_line(some)
        z = special.ndtri(np.clip(part.cdf().transpose(*DRAWS, ...).values, NEAREST, 1 - 1e-16))
        sigma, total = part.relative_scatter(), total + z.sum((0, 1))
        for test in (*tests.values(), *groups.values(), *along):
            test.see(part, z, sigma)
    results = {name: test.entry() for name, test in tests.items()}
    if groups:
        entries = {name: test.entry() for name, test in groups.items()}
        if len(rows) <= SMALL:
            _set_against_orders(entries, groups, total)
        worst, entry = min(entries.items(), key=lambda pair: pair[1]["p"])
        results[worst] = _of_several(entry, len(entries))
    results |= {NEIGHBOURS + test.along: entry for test in along for entry in [test.entry()]}
    if (apart := law.size_apart(rows)) and not law.size_effects:
        results[APART] = _apart(apart)
    if law.unit_is_row:
        results[NOISE] = _pit(fit)
    table = pd.DataFrame.from_dict(results, orient="index").rename_axis("test")
    table.insert(6, "fits", table["p"] >= MISFIT)
    return table


def _draws_at_a_time(z, rows):
    """Return coordinates cut along the draws, into parts whose values of all rows and slopes fit into memory."""
    most = BLOCK // (8 * rows * z.sizes["chain"])
    for start in range(0, z.sizes["draw"], max(1, most)):
        part = z.isel(draw=slice(start, start + max(1, most)))
        yield from [part] if most else (part.isel(chain=[chain]) for chain in range(z.sizes["chain"]))


class _Test:
    """A test that sees some of the draws at a time; it has `df`, `what` and `tails`, the p of each draw's statistic."""

    worst: Any = NOWHERE

    def __init__(self):
        self.statistics, self.squares, self.draws = [], 0.0, 0

    def add(self, statistic, squares):
        """Add a statistic, (chain, draw), and squared residuals minus what noise explains, (chain, draw, row)."""
        self.statistics.append(statistic.ravel())
        self.squares = self.squares + squares.sum((0, 1))
        self.draws += statistic.size

    @property
    def sizes(self):
        """Return the residual of each row, (row,)."""
        return np.sqrt(np.maximum(self.squares / self.draws, 0.0))

    def see(self, draws, z, sigma):
        """Add some draws: standardised residuals z, (chain, draw, row), and the scatter of the rows."""

    def entry(self):
        """Return the row of the test."""
        statistic = np.concatenate(self.statistics)
        return {
            "statistic": float(statistic.mean()),
            "df": self.df,
            "p": float(self.tails(statistic).mean()),
            "size": float(self.sizes.mean()),
            **self.worst,
            "what": self.what,
        }


class _Score(_Test):
    df = 1

    def __init__(self, law):
        super().__init__()
        self.law, self.name, self.value = law.wider
        below = f"below 0 if {self.name} should be less"
        self.what = f"score of {self.name} at {self.value:g}, standard normal if the law is true, {below}"

    def see(self, draws, z, sigma):
        names = [q.name for q in self.law.mean_parameters]
        slopes = draws.slopes(self.law, names, **{self.name: self.value})
        units = {name: draws.standardised(np.broadcast_to(x, z.shape)) for name, x in slopes.items()}
        u = units.pop(self.name)
        basis, _ = np.linalg.qr(np.stack(list(units.values()), axis=-1))
        u = u - np.einsum("...ij,...j->...i", basis, np.einsum("...ij,...i->...j", basis, u))
        u = u / np.sqrt((u**2).sum(-1, keepdims=True))
        score = (u * z).sum(-1)
        self.add(score, (u * sigma) ** 2 * (score[..., None] ** 2 - 1))

    def tails(self, statistic):
        return 2 * special.ndtr(-np.abs(statistic))


class _Directions(_Test):
    def __init__(self, contrast):
        super().__init__()
        self.contrast, self.df = contrast, len(contrast.directions)
        self.what = f"{contrast.what}, chi-square if the law is true"

    def see(self, draws, z, sigma):
        squares = (z @ self.contrast.directions.T) ** 2
        self.add(squares.sum(-1), sigma**2 * ((squares - 1) @ self.contrast.directions**2))

    def tails(self, statistic):
        return special.chdtrc(self.df, statistic)

    @property
    def worst(self):
        """Return the largest mean residual over the rows of one direction, and the name of these rows."""
        members = self.contrast.directions != 0
        by_direction = members @ self.sizes / members.sum(1)
        worst = int(by_direction.argmax())
        return {"worst_size": float(by_direction[worst]), "worst_where": self.contrast.names[worst]}


class _Neighbours(_Test):
    """Whether settings that follow each other along a column miss the law alike, as where its form is another."""

    def __init__(self, settings, orders):
        super().__init__()
        self.settings, self.orders, self.total, self.scatter = settings, orders, 0.0, 0.0

    def see(self, draws, z, sigma):
        self.total = self.total + z.sum((0, 1))
        self.scatter = self.scatter + np.broadcast_to(sigma, z.shape).sum((0, 1))
        self.draws += z.shape[0] * z.shape[1]

    def entry(self):
        """Return the row of the test; `along` is then the column."""
        counts = np.bincount(self.settings)
        residuals = np.bincount(self.settings, self.total / self.draws) / np.sqrt(counts)
        self.along, statistic, p, count = neighbours(residuals, self.orders)
        df = len(residuals) - 1
        size = np.sqrt(max(0.0, statistic / df)) * (self.scatter / self.draws / np.sqrt(counts[self.settings])).mean()
        largest = f", the largest of {len(self.orders)} columns" if len(self.orders) > 1 else ""
        what = f"products of residuals of neighbours along {self.along}{largest}, against {count:,} random orders"
        return {"statistic": statistic, "df": df, "p": p, "size": float(size), **NOWHERE, "what": what}


def neighbours(residuals, orders):
    """Test the products of residuals, (setting,), that follow each other in orders, by name, against random orders.

    Returns the name of the order in which their sum is largest, the sum, the share of random orders in which the
    largest is at least that, and how many these are.
    """

    def sums(values):
        products = (values[..., order[1:]] * values[..., order[:-1]] for order in orders.values())
        return np.stack([x.sum(-1) for x in products])

    observed, rng, length = sums(residuals), np.random.default_rng(0), len(residuals)
    count = int(np.clip(2 * LARGE // length, FEWEST, PERMUTATIONS))
    at_once, reached = max(1, AT_ONCE // length), 0
    for start in range(0, count, at_once):
        random = rng.permuted(np.tile(residuals, (min(at_once, count - start), 1)), axis=1)
        reached += np.count_nonzero(sums(random).max(0) >= observed.max())
    return [*orders][observed.argmax()], float(observed.max()), (1 + reached) / (1 + count), count


def _set_against_orders(entries, groups, residuals):
    """Replace p of groups in few rows, whose scatter takes up what groups explain, by that of random orders of rows."""
    orders = np.random.default_rng(0).permuted(np.tile(residuals, (PERMUTATIONS, 1)), axis=1)
    for name, test in groups.items():
        directions = test.contrast.directions.T
        observed, random = (((x @ directions) ** 2).sum(-1) for x in (residuals, orders))
        what = f"{test.contrast.what}, against {PERMUTATIONS:,} random orders"
        p = (1 + np.count_nonzero(random >= observed * (1 - 1e-9))) / (1 + PERMUTATIONS)
        entries[name] |= {"p": p, "what": what}


def _of_several(entry, count):
    """Return the test of least p with its p multiplied by the number of tests."""
    more = f"; p is {count} times that of this column, the least of {count}" if count > 1 else ""
    return entry | {"p": min(1.0, entry["p"] * count), "what": entry["what"] + more}


def _apart(apart):
    what = "mean shift of a size from the law of the others, Student's t; p is that of the least, times their number"
    of_rows = {"size": abs(apart["shift"]) * apart["share"], "worst_size": abs(apart["shift"])}
    return {"statistic": apart["shift"], "df": 1, "p": apart["p"], "worst_where": apart["name"], "what": what} | of_rows


def _pit(fit):
    ranks = np.minimum(RANKS * loo_pit(fit), RANKS - 1).astype(int)
    return {
        "statistic": least_tail(ranks),
        "df": len(ranks),
        "p": p_uniform(ranks),
        "size": np.nan,
        **NOWHERE,
        "what": "least two-sided binomial tail of the empirical distribution of LOO-PIT values",
    }


def loo_pit(fit):
    """Compute the probability of an observation of at most the one made under draws that did not see it, (row,)."""
    result = importance_sampling(fit)
    if not is_held(fit):
        return results_of(fit)[WEIGHTED]["pit"].values
    stride = -(-result.log_weights.size // MOST_VALUES)
    log_weights = result.log_weights.isel(draw=slice(None, None, stride))
    return once(fit, "loo_pit", lambda: left_out_cdf(fit.draws.thinned(stride), slice(None), log_weights))

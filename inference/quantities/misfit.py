"""Whether a law fits the rows it was fitted to: tests whose answers are known without simulation, and how far off.

Given the law's quantities theta, ``z_i = Phi^-1(F(y_i | theta))`` are independent standard normals if the law and its
noise are true, so that for any unit vector u that does not look at the observations ``u . z`` is one too. Where rows
of a run or a paper share an effect, F is given the rows before it; a count is placed uniformly between the
probabilities of fewer and of at most as many. A probability is the mean over posterior draws of that of the draw. The
data are used twice, so that all of them err high.
"""

import numpy as np
import pandas as pd
import scipy.special
import scipy.stats as st

from ...models.contrasts import Contrast
from ...models.draws import DRAWS
from ..calibration.uniformity import RANKS, least_tail, p_uniform
from ..loo.importance import importance_sampling
from ..storage import draws_of

MISFIT = 0.01  # our choice: below it a law is said not to fit
DRAWS_USED = 400
CELLS = 2_000_000  # numbers in an array of draws by rows: of more rows fewer draws are used, but 50 at least
LEAST_DRAWS = 50
NEAREST = 1e-300
NOISE = "loo_pit"  # the test of the noise alone
BY_COLUMN = "means by column "


def misfit(fit):
    """Test a law against the rows it was fitted to.

    Parameters
    ----------
    fit : DataTree

    Returns
    -------
    DataFrame
        Indexed by ``test``, those that the law and its columns allow: ``statistic``, ``df``, ``p``, the posterior mean
        of the tail probability, ``size``, the mean over rows of what the law leaves out in these directions, as a share
        of the loss (of a cell's problems for counts), the part that noise explains taken away, NaN for ``loo_pit``,
        ``fits``, whether p is at least 0.01, and ``what`` it is.

        ``score``
            Of a quantity that makes the law wider, such as the outer exponent kappa of `Coupled`: the derivative of the
            mean by it, over sigma, less its projection on the derivatives by the law's own quantities, makes u. The
            statistic is the mean of ``u . z``.
        ``means by compute``
            ``sum n_b mean(z)_b**2`` over bins b of compute: levels where there are at most 15, else up to 10 bins of
            equal counts.
        ``slopes by compute``
            ``sum (u_b . z)**2``, u_b the unit vector of log(N/D) centred in bin b.
        ``means by benchmark``, ``slopes by date``, ``means by paper``
            The same of evaluations: means of benchmarks, slopes in the date within each, and means of the papers that
            have several rows.
        ``means by length``, ``means by embedding``, ``slopes by shorter operand``
            The same of counts.
        ``means by column ...``
            Means of the groups that a column of the table names and the law takes no account of (`groupings`): of the
            column where p is least, times the number of such columns.
        ``loo_pit``
            Uniformity of ``F(y_i)`` under draws that did not see the row, by importance sampling. Where rows of a run
            share an effect it is given the other rows, and the values depend on each other a little. Not for counts,
            of which whole runs are left out.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> table = bs.misfit(fit)
    >>> bool(table.loc["score", "p"] < 1e-4), bool(0.001 < table.loc["score", "size"] < 0.01)
    (True, True)
    """
    draws = draws_of(fit)
    law, rows, posterior = draws.law, draws.rows, fit["posterior"]
    most = max(LEAST_DRAWS, min(DRAWS_USED, CELLS // len(rows)))
    stride = max(1, int(np.ceil(posterior.sizes["chain"] * posterior.sizes["draw"] / most)))
    few = draws.from_real_line(draws.real_line().isel(draw=slice(None, None, stride)))
    z = scipy.special.ndtri(np.clip(few.cdf().transpose(*DRAWS, ...).values, NEAREST, 1 - 1e-16))
    sigma = few.relative_scatter()
    tests = {} if law.wider is None else {"score": _score(few, z, sigma)}
    tests |= {name: _chi_square(contrast, z, sigma) for name, contrast in law.contrasts(rows).items()}
    if groups := {name: _by_group(name, codes, z, sigma) for name, codes in law.groupings(rows).items()}:
        worst = min(groups, key=lambda name: groups[name]["p"])
        tests[BY_COLUMN + worst] = _of_several(groups[worst], len(groups))
    if law.unit_is_row:
        tests[NOISE] = _pit(fit, draws)
    table = pd.DataFrame.from_dict(tests, orient="index").rename_axis("test")
    table.insert(4, "fits", table["p"] >= MISFIT)
    return table


def _score(draws, z, sigma):
    law, name, value = draws.law.wider
    slopes = draws.slopes(law, [q.name for q in law.mean_parameters], **{name: value})
    units = {name: draws.standardised(np.broadcast_to(x, z.shape)) for name, x in slopes.items()}
    u = units.pop(name)
    own = np.stack(list(units.values()), axis=-1)
    basis, _ = np.linalg.qr(own)
    u = u - np.einsum("...ij,...j->...i", basis, np.einsum("...ij,...i->...j", basis, u))
    u = u / np.sqrt((u**2).sum(-1, keepdims=True))
    score = (u * z).sum(-1)
    return {
        "statistic": float(score.mean()),
        "df": 1,
        "p": float(2 * scipy.special.ndtr(-np.abs(score)).mean()),
        "size": _size((u * sigma) ** 2 * (score[..., None] ** 2 - 1)),
        "what": f"score of {name} at {value:g}, standard normal if the law is true, below 0 if {name} should be less",
    }


def _chi_square(contrast, z, sigma):
    squares = (z @ contrast.directions.T) ** 2
    statistic, df = squares.sum(-1), len(contrast.directions)
    return {
        "statistic": float(statistic.mean()),
        "df": df,
        "p": float(st.chi2.sf(statistic, df).mean()),
        "size": _size(sigma**2 * ((squares - 1) @ contrast.directions**2)),
        "what": f"{contrast.what}, chi-square if the law is true",
    }


def _size(squares):
    """Mean over rows of a departure, from its square in each draw less what noise explains, (chain, draw, row)."""
    return float(np.sqrt(np.maximum(squares.mean((0, 1)), 0.0)).mean())


def _by_group(name, codes, z, sigma):
    return _chi_square(Contrast.of_means(codes, f"groups of rows that {name!r} names"), z, sigma)


def _of_several(found, count):
    """Give the test of least p its p times the number of tests."""
    more = f"; p is {count} times that of this column, the least of {count}" if count > 1 else ""
    return found | {"p": min(1.0, found["p"] * count), "what": found["what"] + more}


def _pit(fit, draws):
    ranks = np.minimum(RANKS * loo_pit(fit, draws), RANKS - 1).astype(int)
    return {
        "statistic": least_tail(ranks),
        "df": len(ranks),
        "p": p_uniform(ranks),
        "size": np.nan,
        "what": "least two-sided binomial tail of the empirical distribution of LOO-PIT values",
    }


def loo_pit(fit, draws=None):
    """Probability of an observation of at most the one made under draws that did not see it, (row,)."""
    draws = draws_of(fit) if draws is None else draws
    weights = importance_sampling(fit).log_weights.transpose(*DRAWS, ...).values
    weights = np.exp(weights - weights.max((0, 1)))
    return (weights * draws.cdf(given="others").transpose(*DRAWS, ...).values).sum((0, 1)) / weights.sum((0, 1))

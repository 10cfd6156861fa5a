"""Whether a law fits the rows it was fitted to: tests whose answers are known without simulation.

Given the law's quantities theta, ``z_i = Phi^-1(F(y_i | theta))`` are independent standard normals if the law and its
noise are true, so that for any unit vector u that does not look at the losses ``u . z`` is one too. Where rows of a run
or a paper share an effect, F is given the rows before it. A probability is the mean over posterior draws of that of the
draw. The data are used twice, so that all of them err high.
"""

import numpy as np
import pandas as pd
import scipy.special
import scipy.stats as st

from ...models.draws import BLOCK, DRAWS
from ..calibration.uniformity import RANKS, least_tail, p_uniform
from ..densities import is_held
from ..loo.importance import STORED, importance_sampling, left_out_cdf, weighted
from ..storage import draws_of

MISFIT = 0.01  # our choice: below it a law is said not to fit
DRAWS_USED = 400
NEAREST = 1e-300


def misfit(fit):
    """Test a law of losses against the rows it was fitted to.

    Parameters
    ----------
    fit : DataTree

    Returns
    -------
    DataFrame
        Indexed by ``test``, those that the law and its columns allow: ``statistic``, ``df``, ``p``, the posterior mean
        of the tail probability, ``fits``, whether it is at least 0.01, and ``what`` it is.

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
        ``loo_pit``
            Uniformity of ``F(y_i)`` under draws that did not see the row, by importance sampling. Where rows of a run
            share an effect it is given the other rows, and the values depend on each other a little.

    Raises
    ------
    InputError
        If the fit is of a law of counts.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> table = bs.misfit(fit)
    >>> bool(table.loc["score", "p"] < 1e-4)
    True
    """
    draws = draws_of(fit)
    posterior = fit["posterior"]
    stride = max(1, int(np.ceil(posterior.sizes["chain"] * posterior.sizes["draw"] / DRAWS_USED)))
    few = draws.real_line().isel(draw=slice(None, None, stride))
    contrasts = draws.law.contrasts(draws.rows)
    scores, squares = [], {name: [] for name in contrasts}
    for some in _draws_at_a_time(few, len(draws.rows)):
        part = draws.from_real_line(some)
        z = scipy.special.ndtri(np.clip(part.cdf().transpose(*DRAWS, ...).values, NEAREST, 1 - 1e-16))
        if draws.law.wider is not None:
            scores.append(_score(part, z))
        for name, contrast in contrasts.items():
            squares[name].append(((z @ contrast.directions.T) ** 2).sum(-1))
    rows = {"score": _scored(draws.law, np.concatenate(scores, axis=1))} if scores else {}
    rows |= {name: _chi_square(contrasts[name], np.concatenate(x, axis=1)) for name, x in squares.items()}
    rows["loo_pit"] = _pit(fit, draws)
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("test")
    table.insert(3, "fits", table["p"] >= MISFIT)
    return table


def _draws_at_a_time(z, rows):
    """Coordinates cut along the draws, so many that what they say of all rows and slopes stays within memory."""
    most = max(1, BLOCK // (8 * rows * z.sizes["chain"]))
    return (z.isel(draw=slice(start, start + most)) for start in range(0, z.sizes["draw"], most))


def _score(draws, z):
    """Score of the quantity that makes the law wider, under each draw."""
    law, name, value = draws.law.wider
    slopes = draws.slopes(law, [q.name for q in law.mean_parameters], **{name: value})
    units = {name: draws.standardised(np.broadcast_to(x, z.shape)) for name, x in slopes.items()}
    u = units.pop(name)
    own = np.stack(list(units.values()), axis=-1)
    basis, _ = np.linalg.qr(own)
    u = u - np.einsum("...ij,...j->...i", basis, np.einsum("...ij,...i->...j", basis, u))
    return (u * z).sum(-1) / np.sqrt((u**2).sum(-1))


def _scored(law, score):
    _, name, value = law.wider
    return {
        "statistic": float(score.mean()),
        "df": 1,
        "p": float(2 * scipy.special.ndtr(-np.abs(score)).mean()),
        "what": f"score of {name} at {value:g}, standard normal if the law is true, below 0 if {name} should be less",
    }


def _chi_square(contrast, statistic):
    return {
        "statistic": float(statistic.mean()),
        "df": len(contrast.directions),
        "p": float(st.chi2.sf(statistic, len(contrast.directions)).mean()),
        "what": f"{contrast.what}, chi-square if the law is true",
    }


def _pit(fit, draws):
    ranks = np.minimum(RANKS * loo_pit(fit, draws), RANKS - 1).astype(int)
    return {
        "statistic": least_tail(ranks),
        "df": len(ranks),
        "p": p_uniform(ranks),
        "what": "least two-sided binomial tail of the empirical distribution of LOO-PIT values",
    }


def loo_pit(fit, draws=None):
    """Probability of an observation of at most the one made under draws that did not see it, (row,)."""
    if not is_held(fit):
        importance_sampling(fit)
        return fit[STORED]["pit"].values
    draws = draws_of(fit) if draws is None else draws
    ((positions, _, log_weights, _),) = weighted(fit)
    return left_out_cdf(draws, positions, log_weights)

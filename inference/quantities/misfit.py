"""Whether a law of the loss fits the runs it was fitted to: tests whose answers are known without simulation.

Given the law's quantities theta, ``z_i = Phi^-1(F(y_i | theta))`` are independent standard normals if the law and its
noise are true, so that for any unit vector u that does not look at the losses ``u . z`` is one too. Where rows of a run
share an effect, F is given the rows before it in its run. A probability is the mean over posterior draws of that of the
draw. The data are used twice, so that all of them err high.
"""

import numpy as np
import pandas as pd
import scipy.special
import scipy.stats as st

from ...models.draws import DRAWS
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ..calibration.uniformity import RANKS, least_tail, p_uniform
from ..loo.loo import importance_sampling
from ..storage import draws_of

MISFIT = 0.01  # our choice: below it a law is said not to fit
DRAWS_USED = 400
MOST_LEVELS = 15
MOST_BINS = 10
LEAST_IN_BIN = 8
NEAREST = 1e-300


def misfit(fit):
    """Test a law of the loss against the runs it was fitted to.

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
        ``loo_pit``
            Uniformity of ``F(y_i)`` under draws that did not see the row, by importance sampling. Where rows of a run
            share an effect it is given the other rows, and the values depend on each other a little.

    Raises
    ------
    InputError
        If the fit is of no law of the loss of runs.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> table = bs.misfit(fit)
    >>> bool(table.loc["score", "p"] < 1e-4)
    True
    """
    draws = draws_of(fit, "runs")
    stride = max(1, int(np.ceil(draws.sampled.sizes["chain"] * draws.sampled.sizes["draw"] / DRAWS_USED)))
    few = draws.law.draws(
        draws.sampled.merge(draws.upstream).isel(draw=slice(None, None, stride)), draws.rows, draws.reference
    )
    z = scipy.special.ndtri(np.clip(few.cdf().transpose(*DRAWS, "run").values, NEAREST, 1 - 1e-16))
    rows = {"score": _score(few, z)} | _by_compute(few, z) | {"loo_pit": _pit(fit, draws)}
    table = pd.DataFrame.from_dict({name: x for name, x in rows.items() if x}, orient="index").rename_axis("test")
    table.insert(3, "fits", table["p"] >= MISFIT)
    return table


def _score(draws, z):
    if draws.law.wider is None:
        return None
    law, name, value = draws.law.wider
    slopes = draws.slopes(law, [q.name for q in law.mean_parameters], **{name: value})
    units = {name: draws.standardised(np.broadcast_to(x, z.shape)) for name, x in slopes.items()}
    u = units.pop(name)
    own = np.stack(list(units.values()), axis=-1)
    basis, _ = np.linalg.qr(own)
    u = u - np.einsum("...ij,...j->...i", basis, np.einsum("...ij,...i->...j", basis, u))
    score = (u * z).sum(-1) / np.sqrt((u**2).sum(-1))
    return {
        "statistic": float(score.mean()),
        "df": 1,
        "p": float(2 * scipy.special.ndtr(-np.abs(score)).mean()),
        "what": f"score of {name} at {value:g}, standard normal if the law is true, below 0 if {name} should be less",
    }


def _by_compute(draws, z):
    columns = draws.law.columns
    size = next((c for c in ("parameters", "parameters_nonembedding") if c in columns), None)
    if size is None or "tokens" not in columns:
        return {}
    n, d = (draws.rows[name].to_numpy(float) for name in (size, "tokens"))
    bins = compute_bins(FLOP_PER_PARAMETER_TOKEN * n * d)
    ratio, count = np.log(n / d), bins.max() + 1
    means, slopes, used = 0.0, 0.0, 0
    for b in range(count):
        own = bins == b
        means = means + own.sum() * z[..., own].mean(-1) ** 2
        u = ratio[own] - ratio[own].mean()
        if (u**2).sum() > 1e-12 * max(1.0, (ratio[own] ** 2).sum()):
            slopes, used = slopes + (z[..., own] @ (u / np.sqrt((u**2).sum()))) ** 2, used + 1
    found = {"means by compute": _chi_square(means, count, f"mean of z in each of {count} bins of compute")}
    if used:
        found["slopes by compute"] = _chi_square(slopes, used, f"slope of z in log(N/D) in each of {used} bins")
    return found


def compute_bins(compute):
    """Give the bin of each run: levels of log10 C to 0.1 where at most 15, else up to 10 bins of equal counts."""
    levels, codes = np.unique(np.round(np.log10(compute), 1), return_inverse=True)
    if len(levels) <= MOST_LEVELS:
        return codes
    bins = max(1, min(MOST_BINS, len(compute) // LEAST_IN_BIN))
    return (np.argsort(np.argsort(compute, kind="stable")) * bins) // len(compute)


def _chi_square(statistic, df, what):
    return {
        "statistic": float(statistic.mean()),
        "df": df,
        "p": float(st.chi2.sf(statistic, df).mean()),
        "what": f"{what}, chi-square if the law is true",
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
    """Probability of a loss of at most the one observed under draws that did not see the run, (run,)."""
    draws = draws_of(fit, "runs") if draws is None else draws
    weights = importance_sampling(fit).log_weights.transpose(*DRAWS, ...).values
    weights = np.exp(weights - weights.max((0, 1)))
    return (weights * draws.cdf(given="others").transpose(*DRAWS, "run").values).sum((0, 1)) / weights.sum((0, 1))

"""How much of the width of the yearly factor each source of uncertainty makes alone."""

import numpy as np

from ...datasets.kinds.scores import SCORES
from ..needs import of_kind
from .compute import progress_at_fixed_compute
from .compute import summary as progress_summary

DRAWS = 1000  # of computes and of coefficients


def widths(fit):
    """Compute the sd of log10 of the yearly factor, and what scores, computes, models, slope and gain make of it alone.

    The posterior has all of them at once. Scores, computes and models are separated by the least-squares line of
    capability on log compute and date, of the models whose compute is known. Its slope and gain vary as capabilities do
    from draw to draw, as computes do within their errors, and by the standard errors of the line. Slope and gain alone
    are draws of one with the posterior mean of the other. Parts do not add up, for they are dependent.

    The fit is of the law ``scores`` with one ``pace``. The keys are ``posterior``; ``families``, with families as the
    unit, NaN of fewer than 10; ``scores``; ``computes``; ``models``; ``slope``; ``gain``.
    """
    draws, rng = of_kind(fit, SCORES).draws, np.random.default_rng(1)
    progress, d = progress_at_fixed_compute(fit), draws.design
    slope, gain = progress["slope"].values.ravel(), progress["gain"].values.ravel()
    measured = d["model_known"] > 0.5
    capability = draws.capability[..., measured].reshape(-1, measured.sum())
    compute, year = d["model_log_compute"][measured], d["model_year"][measured]
    error = np.sqrt(d["model_compute_variance"][measured])
    middle, columns = capability.mean(0), _columns(compute, year)
    of_models = rng.multivariate_normal(*_line(columns, middle), DRAWS)
    moved = compute + error * rng.standard_normal((DRAWS, len(compute)))
    lines = {
        "scores": np.linalg.lstsq(columns, capability.T)[0].T,
        "computes": np.array([np.linalg.lstsq(_columns(computes, year), middle)[0] for computes in moved]),
        "models": of_models,
    }
    summary = progress_summary(fit)
    ratio = np.nan
    if ("all", "family") in summary.index:
        width = summary["factor_q97.5"] / summary["factor_q2.5"]
        ratio = np.log(width["all", "family"]) / np.log(width["all", "model"])
    posterior = _sd(gain / slope)
    return {
        "posterior": posterior,
        "families": float(ratio * posterior),
        **{name: _sd(line[:, 1] / line[:, 0]) for name, line in lines.items()},
        "slope": _sd(gain.mean() / slope),
        "gain": _sd(gain / slope.mean()),
    }


def _columns(compute, year):
    return np.column_stack([compute, year, np.ones(len(year))])


def _line(columns, capability):
    """Return coefficients of a least-squares line and their covariance."""
    coefficients, *_ = np.linalg.lstsq(columns, capability)
    residual = capability - columns @ coefficients
    variance = residual @ residual / (len(capability) - columns.shape[1])
    return coefficients, variance * np.linalg.inv(columns.T @ columns)


def _sd(rate):
    return float(np.std(rate / np.log(10), ddof=1))

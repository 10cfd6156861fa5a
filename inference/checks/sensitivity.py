"""What a result depends on: the priors, the likelihood and, of growth rates, each paper."""

import contextlib
import io
import logging
import warnings

import numpy as np
import pandas as pd
import xarray as xr

from ...models.draws import DRAWS, flatten
from ...models.progress.growth import doubling_quantiles
from ...models.progress.priors import JUDGED
from ..comparison.importance import smoothed as smoothed_weights
from ..densities import total
from ..needs import of_kind
from ..progress.rate_at_optimum import growth_rates
from ..progress.rate_at_rows import compute_equivalent_gain
from ..workers import mapped

PROBABILITIES = (0.025, 0.5, 0.975)
SHARE_SPREADS = (0.1, 0.5, 2.0)
YEAR_SPREADS = (0.5, 1.0, 3.0)
SENSITIVE = 0.05  # Kallioinen et al. (2024), section 3.4
PRIOR_DRIVEN = 0.8  # our choice: a posterior no more than a fifth narrower than its prior was hardly informed


def first_rate(fit):
    """Draws of the growth rate under the first label of a specification, (chain, draw)."""
    return next(iter(growth_rates(fit).values()))


# What progress is asked for: at the evaluations' own sizes, and at the compute-optimal ones.
RATES = {"rows": compute_equivalent_gain, "optimum": first_rate}


def power_scaling(fit, quantity, *, log_likelihood=None):
    """Sensitivity of a quantity to scaling the power of the prior and of the likelihood (Kallioinen et al. 2024).

    Parameters
    ----------
    fit : Fit
    quantity : DataArray, dims (chain, draw)
        Draws of anything that follows from the posterior, such as a growth rate; those that are not finite take the
        median's place.
    log_likelihood : DataArray, dims (chain, draw), optional
        Of all units together, from `densities.total`, which is called if absent.

    Returns
    -------
    dict
        ``prior``, ``likelihood`` (cumulative Jensen-Shannon distance per doubling of the power; above 0.05 is
        sensitive) and ``diagnosis``; NaN of chains that stay where they are.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> power_scaling(fit, fit["posterior"]["exponent_parameters"])["prior"] < 0.05
    True
    """
    (found,) = _power_scalings(fit, {"quantity": quantity}, log_likelihood).values()
    return found


def _power_scalings(fit, quantities, log_likelihood=None):
    """Take `power_scaling` of several quantities, by their names, whose draws are weighted alike."""
    import arviz_stats as azs

    finite = {
        name: x.where(np.isfinite(x), x.median()).drop_vars(list(x.coords)).variable for name, x in quantities.items()
    }
    coords = {name: fit["posterior"][name] for name in DRAWS}
    whole = total(fit) if log_likelihood is None else log_likelihood
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(finite, coords=coords),
            "log_likelihood": whole.expand_dims("all", -1).to_dataset(name="density"),
            "log_prior": fit["log_prior"].to_dataset(),
        }
    )
    # What it prints and logs is for notebooks; the verdict is in the table.
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), _unlogged("arviz_stats"):
        warnings.simplefilter("ignore", UserWarning)
        try:
            table = azs.psense_summary(tree, round_to=6)
        except ValueError:  # of the largest weights, which are all the same
            nothing = {"prior": np.nan, "likelihood": np.nan, "diagnosis": "cannot be told: chains stay where they are"}
            return dict.fromkeys(quantities, nothing)
    return {
        name: {
            "prior": float(row["prior"]),
            "likelihood": float(row["likelihood"]),
            "diagnosis": str(row["diagnosis"]),
        }
        for name, (_, row) in zip(quantities, table.iterrows(), strict=True)
    }


@contextlib.contextmanager
def _unlogged(name):
    """Log nothing below an error under a name."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def prior_sensitive(fit, names):
    """Quantities of a posterior that move with the power of the prior, by more than 0.05 per doubling.

    Parameters
    ----------
    fit : Fit
    names : sequence of str
        Those that the posterior lacks are passed over; of one with levels each is looked at.

    Returns
    -------
    dict of str to float
        The distance of `power_scaling`, by name.
    """
    posterior = fit["posterior"].to_dataset()
    scalars = flatten(posterior[[name for name in names if name in posterior]])
    found = _power_scalings(fit, {name: xr.DataArray(x, dims=DRAWS) for name, x in scalars.items()}) if scalars else {}
    return {name: each["prior"] for name, each in found.items() if each["prior"] > SENSITIVE}


def prior_driven(fit, *, draws=4000, seed=0):
    """Coefficients that the data hardly inform: half-width of the posterior's central 68% above 0.8 of the prior's.

    Returns
    -------
    DataFrame
        One row a coefficient: ``coefficient``, ``posterior``, ``prior`` (half-widths), ``ratio``, ``prior_driven``.
        What the law takes from upstream has no prior here.
    """
    fitted = fit.draws
    prior = flatten(fitted.law.prior_draws(np.random.default_rng(seed), fitted.reference, fitted.rows, draws).named())
    rows = []
    for name, posterior in flatten(fitted.named().drop_vars(fitted.law.upstream, errors="ignore")).items():
        own, theirs = (float(np.diff(np.quantile(x, [0.16, 0.84]))[0]) / 2 for x in (posterior, prior[name]))
        rows.append(
            {
                "coefficient": name,
                "posterior": own,
                "prior": theirs,
                "ratio": own / theirs,
                "prior_driven": own > PRIOR_DRIVEN * theirs,
            }
        )
    return pd.DataFrame(rows)


def prior_grid(fitter, law, *, share_spreads=SHARE_SPREADS, year_spreads=YEAR_SPREADS, seed=1, **settings):
    """Doubling times under other priors: how shares differ between benchmarks, and how wide the yearly falls may be.

    Parameters
    ----------
    fitter : Fitter
        From `progress.new_fitter`.
    law : Progress
    share_spreads : sequence of float
        Standard deviation of the benchmarks' logit shares about their common mean.
    year_spreads : sequence of float
        Factors on the default prior standard deviations of the yearly falls (total and split).

    Returns
    -------
    DataFrame
        ``share_sd``, ``yearly_sd``, ``estimand`` (of `RATES`), ``p_progress`` and quantiles ``q2.5``, ``q50``,
        ``q97.5`` of the doubling time in months.
    """
    cells = [(share, factor) for share in share_spreads for factor in year_spreads]
    found = mapped(_under_other_priors, (fitter, law, {"seed": seed, **settings}), cells)
    return pd.DataFrame([row for rows in found for row in rows])


def _under_other_priors(shared, cell):
    """Rows of `prior_grid` for one spread of shares and one factor."""
    (fitter, law, options), (share, factor) = shared, cell
    priors = {
        "share": (JUDGED["share"].location, share),
        "yearly_total": (0.0, factor * JUDGED["yearly_total"].spread),
        "yearly_split": (0.0, factor * JUDGED["yearly_split"].spread),
    }
    fit, rows = fitter.fit(law=law.with_options(priors={**law.priors, **priors}), **options), []
    for estimand, of in RATES.items():
        rate = of(fit).values
        rate = rate[np.isfinite(rate)]
        rows.append(
            {
                "share_sd": share,
                "yearly_sd": factor * JUDGED["yearly_total"].spread,
                "estimand": estimand,
                "p_progress": float((rate > 0).mean()),
            }
            | dict(zip(("q2.5", "q50", "q97.5"), doubling_quantiles(rate, PROBABILITIES), strict=True))
        )
    return rows


def paper_influence(fit, titles=None, *, rate=None):
    """How the median doubling time moves when a paper is left out, by importance sampling.

    Parameters
    ----------
    fit : Fit
    titles : dict of int to str, optional
        Titles by ``paper_id``.
    rate : DataArray, dims (chain, draw), optional
        Draws of the growth rate; by default that at the evaluations' own sizes.

    Returns
    -------
    DataFrame
        One row a paper, most influential first: ``paper_id``, ``title``, ``rows``, ``median`` without it and ``shift``
        in months, ``p_progress`` without it, ``pareto_k`` (above 0.7 the row is not reliable).
    """
    draws = of_kind(fit, "evaluations").draws
    rate = (compute_equivalent_gain(fit) if rate is None else rate).values
    rate = np.where(np.isfinite(rate), rate, np.nanmedian(rate))
    papers, counts = np.unique(draws.rows["paper_id"], return_counts=True)
    joint = draws.by_group("paper_id")
    smoothed, k = smoothed_weights(-joint.values, joint)
    whole = doubling_quantiles(rate, [0.5])[0]
    order = np.argsort(rate, axis=None)[::-1]
    sorted_rate = rate.ravel()[order]
    rows = []
    for i, paper in enumerate(papers):
        weights = np.exp(smoothed.sel(group=paper).values.ravel()[order])
        weights = weights / weights.sum()
        middle = sorted_rate[np.searchsorted(np.cumsum(weights), 0.5)]
        median = 12 * np.log(2) / middle if middle > 0 else np.inf
        rows.append(
            {
                "paper_id": int(paper),
                "title": (titles or {}).get(int(paper), str(paper)),
                "rows": int(counts[i]),
                "median": median,
                "shift": median - whole,
                "p_progress": float(weights[sorted_rate > 0].sum()),
                "pareto_k": float(k.sel(group=paper)),
            }
        )
    return pd.DataFrame(rows).sort_values("shift", key=np.abs, ascending=False, ignore_index=True)

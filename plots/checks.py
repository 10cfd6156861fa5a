"""Figures that check a fit: its constants, its residuals, and its predictions of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
import scipy.special

from ..datasets import load
from ..datasets.kinds.runs import RUNS
from ..datasets.wording import check_choice
from ..errors import InputError
from ..inference.checks.verdict import percent as share
from ..inference.fitted import Fit
from ..inference.quoted import quote_draws
from ..inference.words import borne, symbols
from ..models.draws import DRAWS
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame
from .runs import COMPUTE, run_sizes
from .shared import check_level, chinchilla_estimates, ends, in_words, named_fits, percent, wanted, with_looks
from .style import BLUE, GREY, OUTER, RED, Look, look_of

LEAST_DRAWS = 50  # of a prior inside a picture, below which no density is drawn
EXPONENT = "exponent_parameters"
PRIOR_DRAWS = 20_000
OF_LOSS = ("E", "A", "B")  # constants that depend on the corpus and on how tokens are counted
NAMES = {EXPONENT: "Exponent of the best size in compute", "E": "Irreducible loss E (nats/token)"}
RESIDUALS = {"compute": COMPUTE, "parameters": Axis("Parameters N", "size", log=True),
             "tokens": Axis("Training tokens D", "size", log=True),
             "tokens_per_parameter": Axis("Tokens per parameter D/N", log=True)}  # fmt: skip


def density_layers(name, draws, look, level):
    """Return layers of a density over the central 99.8% of draws, and the low end, median and high end of its shade."""
    from scipy.stats import gaussian_kde

    values = np.ravel(draws)
    grid = np.linspace(*np.quantile(values, [0.001, 0.999]), 160)
    height = gaussian_kde(values)(grid)
    three = ends(draws, level)
    inside = (grid >= three[0]) & (grid <= three[2])
    shade = frame(x=grid[inside], low=0.0, high=height[inside])
    band = Layer("band", f"{name}, {percent(level)}", shade, look, False, opacity=OUTER)
    return [band, Layer("line", name, frame(x=grid, y=height), look)], three


def density_within(draws, low, high):
    """Return the grid and density of draws between two ends, which may hold a small share of them.

    Draws far outside do not widen the kernel. None where fewer than 50 draws lie near.
    """
    from scipy.stats import gaussian_kde

    values = np.ravel(draws)
    near = values[(values >= low - (high - low)) & (values <= high + (high - low))]
    if len(near) < LEAST_DRAWS or not near.std() > 0:
        return None
    grid = np.linspace(low, high, 80)
    return grid, gaussian_kde(near)(grid) * len(near) / len(values)


@figure
def plot_posterior(
    fits: Fit | Sequence[Fit] | Mapping[str, Fit],
    quantity: str = EXPONENT,
    *,
    prior: bool = True,
    published: bool | None = None,
    level: float = 0.95,
    **drawing: Unpack[Drawing],
) -> Picture:
    """Plot the posterior density of one quantity, for one or several fits, with its prior and published estimates.

    Parameters
    ----------
    fits : Fit, sequence of Fit, or mapping of str to Fit
        Of laws of runs.
    quantity : str
        A scalar of the posterior, such as ``"alpha"``; by default the exponent of the best size in compute.
    prior : bool
        Whether to draw the density of the prior, which follows from 20,000 draws of the priors of the law.
    published : bool, optional
        Whether to mark published estimates of the constants of Chinchilla's law; by default of fits of
        ``chinchilla_runs``. E, A and B are marked for such fits alone.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_posterior(fit)
    >>> axes.get_title(loc="left")[:43]
    'The exponent of the best size in compute is'
    """
    level, named = check_level(level), named_fits(fits, RUNS)
    layers, answers, top = [], [], 0.0
    for name, look in with_looks(named):
        of_fit, three = density_layers(name, _quoted_draws(named[name], quantity), look, level)
        layers += of_fit
        answers.append(in_words(three, borne) + (f" ({name})" if len(named) > 1 else ""))
        top = max(top, float(of_fit[1].data["y"].max()))
    table = chinchilla_estimates(load("published"))
    of_runs = wanted(None, named.values())
    if wanted(published, named.values()) and (quantity not in OF_LOSS or of_runs):
        for row in table[table["quantity"] == quantity].itertuples():
            look = look_of(row.source)
            layers.append(Layer("line", row.source, frame(x=row.estimate, y=[0.0, top]), look))
            if np.isfinite(row.low):
                bar = frame(x=row.estimate, y=0.06 * top, low=row.low, high=row.high)
                layers.append(Layer("level", f"{row.source}, 95%", bar, look, False, width=5))
    if prior:
        places = np.concatenate([layer.data["x"] for layer in layers])
        for name, look in with_looks(named):
            fit, rng = named[name], np.random.default_rng(0)
            draws = fit.law.prior_draws(rng, fit.draws.reference, fit.rows, PRIOR_DRAWS).named()[quantity].values
            at = density_within(draws, places.min(), places.max())
            if at is not None:
                one, data = len(named) == 1, frame(x=at[0], y=at[1])
                series = "prior" if one else f"{name}, prior"
                layers.append(Layer("line", series, data, Look(look.colour, "dot"), one, 1.2))
    called = NAMES.get(quantity, symbols(quantity))
    subject = called.partition(" (")[0]
    subject = f"The {subject[0].lower()}{subject[1:]}" if quantity in NAMES else subject
    return Picture(
        title=f"{subject} is {' and '.join(answers)}",
        caption=f"Curves are densities of the draws, shaded over the central {percent(level)}; dotted curves "
        "are priors. Where the rows reject a law, its draws are spread to the robust standard error.",
        x=Axis(called),
        y=Axis("Posterior density", range=(0.0, 1.05 * top)),
        layers=tuple(layers),
    )


def _quoted_draws(fit, quantity):
    posterior = fit["posterior"]
    scalars = [name for name, x in posterior.data_vars.items() if x.dims == DRAWS]
    check_choice(f"for a fit of {fit.law.name}, the quantity", quantity, scalars)
    draws = posterior[quantity]
    if not float(draws.std()) > 0:
        raise InputError(f"{quantity} of a fit of {fit.law.name} does not vary; choose another quantity")
    return quote_draws(fit, draws)


@figure
def plot_residuals(fit: Fit, *, against: str = "compute", level: float = 0.95, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the residuals of the runs in units of the law's noise.

    A residual is the normal quantile of a probability: the posterior mean probability of a loss of at most the observed
    one. Residuals are standard normal if the law and its noise are true.

    Parameters
    ----------
    fit : Fit
        Of a law of runs.
    against : {"compute", "parameters", "tokens", "tokens_per_parameter"}
    level : float
        Of the band that holds this share of residuals if the law is true.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_residuals(fit, against="tokens_per_parameter")
    >>> axes.get_title(loc="left")[:30]
    'The law misses the runs by 0.2'
    """
    level, runs = check_level(level), run_sizes(fit)
    check_choice("against", against, RESIDUALS)
    runs["tokens_per_parameter"] = runs["tokens"] / runs["parameters"]
    probabilities = fit.draws.cdf().transpose(*DRAWS, ...).values.mean((0, 1))
    residuals = scipy.special.ndtri(np.clip(probabilities, 1e-12, 1 - 1e-12))
    edge = scipy.special.ndtri((1 + level) / 2)
    x = runs[against].to_numpy()
    span = np.array([x.min(), x.max()])
    outside = np.abs(residuals) > edge
    layers = [
        Layer("band", f"{percent(level)} if true", frame(x=span, low=-edge, high=edge), Look(BLUE), opacity=OUTER),
        Layer("line", "no residual", frame(x=span, y=0.0), Look(GREY), False, 1.2),
        *in_and_out(x, residuals, outside),
    ]
    check = fit.check()
    if check["size"] is None:
        finding = f"{(~outside).mean():.0%} of the residuals lie within the band of {percent(level)}"
    else:
        misfit = f"{share(check['size'])} of {check['share_of']}"
        finding = f"The law misses the runs by {misfit} on average, more than noise explains"
    return Picture(
        title=finding,
        caption=f"Each point is a run's residual under {fit.law.label} in units of the law's noise; {percent(level)} "
        "lie in the band if the law is true. A trend or a group on one side shows what the law misses.",
        x=RESIDUALS[against],
        y=Axis("Standardised residual"),
        layers=tuple(layers),
        checked=True,
    )


def in_and_out(x, y, outside):
    """Return layers of the points inside and outside of their intervals."""
    pairs = (("inside", ~outside, Look(BLUE)), ("outside", outside, Look(RED, marker="diamond")))
    return [
        Layer("points", f"{name} ({int(chosen.sum())})", frame(x=x[chosen], y=y[chosen]), look, width=3.5, opacity=0.8)
        for name, chosen, look in pairs
        if chosen.any()
    ]


@figure
def plot_ppc(fit: Fit, *, level: float = 0.95, **drawing: Unpack[Drawing]) -> Picture:
    """Plot the observed losses against their posterior predictive intervals, in percent of the predicted median.

    Parameters
    ----------
    fit : Fit
        Of a law of runs.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> axes = bs.plot_ppc(fit)
    >>> axes.get_title(loc="left")[:30]
    'Predictive intervals of 95% ho'
    """
    level, runs = check_level(level), run_sizes(fit)
    order = np.argsort(runs["compute"].to_numpy(), kind="stable")
    low, middle, high = ends(fit.predict(fit.rows)["loss"], level)
    observed = runs["loss"].to_numpy()
    outside = (observed < low) | (observed > high)
    low, high, away = (x / middle - 1 for x in (low, high, observed))
    # Where sizes scatter very differently, intervals of a few runs would hide all the others.
    bottom = 1.15 * min(away.min(), float(np.quantile(low, 0.02)))
    top = 1.15 * max(away.max(), float(np.quantile(high, 0.98)))
    x = runs["compute"].to_numpy()
    band = frame(x=x[order], low=low[order], high=high[order])
    return Picture(
        title=f"Predictive intervals of {percent(level)} hold {(~outside).mean():.0%} of {len(runs)} fitted runs",
        caption=f"Bars are {percent(level)} posterior predictive intervals of single runs under {fit.law.label}; "
        "points are observed losses. These runs were fitted; plot_rollout shows runs that were not.",
        x=COMPUTE,
        y=Axis("Observed against predicted median", "percent", range=(bottom, top)),
        layers=(
            Layer("upright", f"{percent(level)} interval", band, Look(BLUE), width=1.0, opacity=0.35),
            *in_and_out(x, away, outside),
        ),
    )

"""Pointwise log densities of a fit: those that it holds, or evaluated again from its draws, some rows at a time.

A table of 100,000 rows with 4,000 draws has 3.2 GB of them. Beyond `MOST` they are left out of a fit, since all that
depends on them can be computed from the draws and the rows. There `ENOUGH` draws, evenly spaced in the chains, sum the
rows up, and at least `FEWEST` of a still larger table. So many rows determine the posterior well, and the Monte-Carlo
error is far below the standard error: that of a robust sd from 250 draws is about 5%.
"""

import warnings

import numpy as np

from ..errors import SizeNote
from ..models.draws import DRAWS

GROUP = "log_likelihood"
KEPT, MADE = "kept", "made when it is needed"
LEFT_OUT = "left out: evaluated again where it is needed"
MOST = 20_000_000  # of a fit that holds them by default: 160 MB, 5,000 rows of 4,000 draws
ENOUGH, FEWEST = 1_000, 250  # Draws by which rows are summed up where all draws have more than `MOST` log densities.
MOST_SUMMED = 100_000_000  # log densities of 100,000 rows under 1,000 draws, beyond which draws are fewer
TOTAL = "total log density"


def held(asked, law, units, draws):
    """Return how a fit is to hold its pointwise log densities: `KEPT`, `MADE` or `LEFT_OUT`.

    They are in files too, in memory when they are needed, or evaluated again. Where `asked` is None the size decides,
    and a `SizeNote` warns if they are left out for it alone.
    """
    if asked is not None:
        return KEPT if asked else LEFT_OUT
    if units * draws <= MOST:
        return MADE
    size = 8e-9 * units * draws
    warnings.warn(
        f"{law.label}: the log likelihood of {units:,} {law.unit}s under {draws:,} draws ({size:.2g} GB) is not saved "
        "in the fit; what needs it evaluates it again (log_likelihood=True or --log-likelihood saves it)",
        SizeNote,
        stacklevel=3,
    )
    return LEFT_OUT


def evaluated(draws, seed):
    """Evaluate the pointwise log densities that a fit holds, (chain, draw, unit), and figures of how exact they are."""
    law = draws.law
    density = draws.log_likelihood(seed=seed)
    figures, density.attrs = dict(density.attrs), {}
    if law.unit_is_row:
        density = density.assign_coords({law.unit: np.arange(len(draws.rows))})
    return density.to_dataset(name=law.scale), figures


def is_held(fit):
    """Return whether a fit holds its pointwise log densities."""
    return GROUP in fit


def selection(fit):
    """Return which draws of each chain sum the units up, a slice: all unless the log densities are more than `MOST`."""
    law, (chains, draws) = fit.law, (fit["posterior"].sizes[name] for name in DRAWS)
    every = 1
    if law.unit_is_row and not law.upstream and not is_held(fit) and chains * draws * len(fit.rows) > MOST:
        used = min(ENOUGH, max(FEWEST, MOST_SUMMED // len(fit.rows)))
        every = max(1, chains * draws // used)
    return slice(None, None, every)


def selected(fit):
    """Return the draws that `selection` names, a `Draws`."""
    return fit.draws.thinned(selection(fit).step)


def blocks(fit):
    """Yield positions and log densities, (chain, draw, unit), of a fit's units under the draws of `selection`.

    Units are taken some at a time; their positions are a slice or an ndarray of int.
    """
    law = fit.law
    if is_held(fit):
        yield slice(None), fit[GROUP][law.scale].transpose(*DRAWS, law.unit)
        return
    draws, summed = selected(fit), 0.0
    for positions, density in zip(draws.blocks(), draws.log_likelihood_blocks(seed=fit.record["seed"]), strict=True):
        if law.unit_is_row:
            density = density.assign_coords({law.unit: positions})
        density = density.transpose(*DRAWS, law.unit)
        summed = summed + density.sum(law.unit)
        yield positions if law.unit_is_row else slice(None), density
    fit._results[TOTAL] = summed


def of_rows(fit, positions, draws=None):
    """Return log densities of some units that are rows, independent given the draws: dims (chain, draw, unit).

    They are those of the fit where it holds them, else those under `draws`, by default all of the fit.
    """
    draws = fit.draws if draws is None else draws
    if is_held(fit):
        return fit[GROUP][draws.law.scale].isel({draws.law.unit: positions}).transpose(*DRAWS, ...)
    return draws.log_likelihood(draws.rows.iloc[positions]).transpose(*DRAWS, ...)


def of_unit(fit, i):
    """Return the log density of one unit, an ndarray (chain, draw)."""
    if is_held(fit):
        return fit[GROUP][fit.law.scale].isel({fit.law.unit: i}).transpose(*DRAWS).values
    return fit.draws.unit_log_likelihood(i).transpose(*DRAWS).values


def units(fit):
    """Return the coordinate of the units that leave-one-out leaves out, an ndarray (unit,)."""
    law = fit.law
    if law.unit_is_row:
        return np.arange(fit["observed_data"].sizes[law.unit])
    ((_, density),) = blocks(fit)
    return density[law.unit].values


def total(fit):
    """Return the log density of all units together under the draws of `selection`, dims (chain, draw).

    Where units are not exchangeable given the free parameters, it is that of the groups that are.
    """
    grouped = selected(fit).exchangeable()
    if grouped is not None:
        grouped = grouped.transpose(*DRAWS, ...)
        return grouped.sum(grouped.dims[-1])
    if TOTAL in fit._results and not is_held(fit):
        return fit._results[TOTAL]
    return sum(density.sum(fit.law.unit) for _, density in blocks(fit))

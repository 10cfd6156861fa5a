"""Sample until there are draws enough: with smaller steps after a divergence, longer where chains are too short."""

import math
from dataclasses import replace

import numpy as np
import xarray as xr

from .checks import chains
from .settings import Settings, settings_of

SPARE = 1.25  # How much longer chains run than their effective draws so far require.
SHORT = 1000  # Draws of all chains.
APART = 1.1  # Above this r_hat, chains may be far from the posterior: they start again instead of continuing.
USUAL_DRAWS = Settings().draws * Settings().chains


def sample_enough(draw, named, effort, *, least_ess=None, **settings):
    """Sample until the demands of an `Effort` are met, with the options of `fit` as `settings`.

    After a divergence the chains run again with a higher target acceptance, unless `settings` name one. Where the least
    bulk ESS, that of `effort` unless `least_ess` is given, is too low or chains disagree, the chains run for longer and
    are thinned. Earlier draws are retained, unless the chains disagree so much that these may be of no use.

    `draw` takes `Settings` and the number of this part of the chains, from 0; it returns what is sampled and the
    sampler's statistics, Datasets of dims (chain, draw, ...). `named` takes what is sampled of the whole chains and
    returns anything and the posterior, a Dataset. The result is both, the statistics, the `Settings` of the last try,
    and the result of `chains.diagnose_chains`, with ``thinned_by`` where chains ran longer than requested.
    """
    asked = settings_of({"target_accept": effort.target_accept, "tune": effort.tune} | settings)
    least_ess = effort.least_ess if least_ess is None else least_ess
    careful = [] if "target_accept" in settings else list(effort.careful)
    thin, pieces, ran = 1, [], 0
    while True:
        pieces.append(draw(asked.longer(thin - ran), len(pieces)))
        ran = thin
        sampled, stats = (thinned(xr.concat(part, "draw"), thin) for part in zip(*pieces, strict=True))
        drawn, posterior = named(sampled)
        diagnosis = chains.diagnose_chains(posterior, stats)
        longer = min(effort.longest, _times(diagnosis, least_ess, asked, thin)) if least_ess else thin
        if diagnosis["divergences"] and careful:
            asked, pieces, ran = replace(asked, target_accept=careful.pop(0)), [], 0
        elif longer <= thin:
            return drawn, posterior, stats, asked, diagnosis | ({"thinned_by": thin} if thin > 1 else {})
        elif diagnosis["r_hat_max"] is not None and diagnosis["r_hat_max"] > APART:
            pieces, ran = [], 0
        thin = max(thin, longer)


def thinned(dataset, stride):
    """Select every `stride`-th draw, marked as divergent where any of the draws that it stands for diverged."""
    if stride == 1:
        return dataset
    selection = dataset.isel(draw=slice(None, None, stride))
    if "diverging" in dataset:
        # By value: draws of other numbers would be matched with none.
        diverging = dataset["diverging"].coarsen(draw=stride).max()
        selection = selection.assign(diverging=(diverging.dims, diverging.values.astype(bool)))
    return selection.assign_coords(draw=np.arange(selection.sizes["draw"]))


def _times(diagnosis, least_ess, asked, thin):
    """Return how many times the requested length chains should run, after `thin` times; `thin` if that was enough.

    Where fewer draws than usual were requested, fewer effective ones are enough. `diagnose_chains` accepts these of all
    but the shortest chains, for which r_hat is noisier.
    """
    draws = asked.draws * asked.chains
    tail = chains.ESS_PER_CHAIN * asked.chains * min(1.0, draws / SHORT)
    bulk = max(tail, least_ess * min(1.0, draws / USUAL_DRAWS))
    unmixed = diagnosis["r_hat_max"] is not None and diagnosis["r_hat_max"] > max(chains.R_HAT_LIMIT, 1 + 10 / draws)
    short = max(bulk / diagnosis["ess_bulk_min"], tail / diagnosis["ess_tail_min"])
    return max(2 * thin, math.ceil(SPARE * short * thin)) if unmixed or short > 1 else thin

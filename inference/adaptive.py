"""Sample until there are draws enough: with smaller steps after a divergence, longer where chains are too short."""

import math
from dataclasses import replace

import numpy as np
import xarray as xr

from .checks import chains
from .settings import Settings, settings_of

SPARE = 1.25  # how much longer chains run than their effective draws so far say would do
SHORT = 1000  # draws of all chains
APART = 1.1  # an r_hat from which chains may not have come to the posterior, and are begun anew rather than continued
USUAL_DRAWS = Settings().draws * Settings().chains


def sample_enough(draw, named, effort, *, least_ess=None, **settings):
    """Sample until an `Effort` is content.

    After a divergence the chains run again with a higher target acceptance, unless `settings` name one; where the
    least bulk ESS is too low or chains disagree, they run as much longer as should do and are thinned: what they drew
    already is kept unless they disagree so much that it may be of no use. Both may be so at once.

    Parameters
    ----------
    draw : callable
        Given `Settings` and which piece of the chains this is, from 0, returns what is sampled and the sampler's
        statistics, Datasets of dims (chain, draw, ...).
    named : callable
        Given what is sampled of the whole chains, returns anything and the posterior, a Dataset.
    effort : Effort
    least_ess : int, optional
        In place of that of `effort`.
    **settings
        As for `fit`.

    Returns
    -------
    drawn
        What `named` returned last.
    posterior, sample_stats : Dataset
    settings : Settings
        Those of the last try.
    diagnostics : dict
        From `chains.diagnose_chains`, with ``thinned_by`` where chains ran longer than asked.
    """
    asked = settings_of({"target_accept": effort.target_accept} | settings)
    least_ess = effort.least_ess if least_ess is None else least_ess
    careful = [] if "target_accept" in settings else list(effort.careful)
    thin, pieces, ran = 1, [], 0
    while True:
        pieces.append(draw(asked.longer(thin - ran), len(pieces)))
        ran = thin
        sampled, stats = (_joined(each, thin) for each in zip(*pieces, strict=True))
        drawn, posterior = named(sampled)
        found = chains.diagnose_chains(posterior, stats)
        longer = min(effort.longest, _times(found, least_ess, asked, thin)) if least_ess else thin
        if found["divergences"] and careful:
            asked, pieces, ran = replace(asked, target_accept=careful.pop(0)), [], 0
        elif longer <= thin:
            return drawn, posterior, stats, asked, found | ({"thinned_by": thin} if thin > 1 else {})
        elif found["r_hat_max"] is not None and found["r_hat_max"] > APART:
            pieces, ran = [], 0
        thin = max(thin, longer)


def _joined(pieces, stride):
    return thinned(xr.concat(pieces, "draw") if len(pieces) > 1 else pieces[0], stride)


def thinned(dataset, stride):
    """Keep every `stride`-th draw; one kept diverged where any of those that it stands for did."""
    if stride == 1:
        return dataset
    kept = dataset.isel(draw=slice(None, None, stride))
    if "diverging" in dataset:
        # By value: draws of other numbers would be matched with none.
        diverging = dataset["diverging"].coarsen(draw=stride).max()
        kept = kept.assign(diverging=(diverging.dims, diverging.values.astype(bool)))
    return kept.assign_coords(draw=np.arange(kept.sizes["draw"]))


def _times(found, least_ess, asked, thin):
    """How many times as long as asked chains should run, which ran `thin` times as long; `thin` if that was enough.

    Where fewer draws were asked for than usual, fewer effective ones are enough, but `diagnose_chains` is content with
    all but the shortest chains; r_hat is noisier then.
    """
    kept = asked.draws * asked.chains
    tail = chains.ESS_PER_CHAIN * asked.chains * min(1.0, kept / SHORT)
    bulk = max(tail, least_ess * min(1.0, kept / USUAL_DRAWS))
    unmixed = found["r_hat_max"] is not None and found["r_hat_max"] > max(chains.R_HAT_LIMIT, 1 + 10 / kept)
    short = max(bulk / found["ess_bulk_min"], tail / found["ess_tail_min"])
    return max(2 * thin, math.ceil(SPARE * short * thin)) if unmixed or short > 1 else thin

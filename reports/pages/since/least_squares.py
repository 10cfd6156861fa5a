"""Published estimators of progress since 2023 on their own scores, in the unit of capability of a fit."""

import numpy as np
import pandas as pd

from ....datasets import load
from ....inference.points.item_response import fit_item_response
from ....inference.points.two_stages import fit_two_stages

DECADE = np.log(10)
# The families of Ho et al. (2025), in whose slope of capability the first stage lies.
FAMILIES = {
    "LLaMA": ["LLaMA-7B", "LLaMA-13B", "LLaMA-33B", "LLaMA-65B"],
    "Llama 2": ["Llama-2-7b", "Llama-2-13b", "Llama-2-34b", "Llama-2-70b-hf"],
    "Llama 3.1": ["Llama-3.1-8B-Instruct", "Llama-3.1-70B-Instruct", "Llama-3.1-405B", "Llama-3.1-405B-Instruct"],
}


def least_squares(fitted):
    """Compute slope per decade, yearly gain and yearly factor by two stages and by one regression.

    The published capabilities are scaled to those of a fit of the law of scores.
    """
    scores, models = load("rosetta_scores"), load("rosetta_models")
    capability = fit_item_response(scores, benchmark="Winogrande")["capability"]
    undistilled = models[models["distilled"] == 0]
    stages = fit_two_stages(capability, undistilled, FAMILIES)
    with_compute = undistilled.dropna(subset=["training_compute_flop"])
    with_compute = with_compute[with_compute["model"].isin(capability.index)]
    columns = np.log(with_compute["training_compute_flop"]), with_compute["year"], np.ones(len(with_compute))
    of_both = capability[with_compute["model"]].to_numpy()
    slope, gain, _ = map(float, np.linalg.lstsq(np.column_stack(columns), of_both, rcond=None)[0])
    unit = _unit(capability, models, fitted)
    return {
        "unit": unit,
        "two stages": {
            "slope": unit * DECADE * stages["slope"],
            "gain": unit * stages["yearly_gain"],
            "factor": stages["factor"],
        },
        "one regression": {"slope": unit * DECADE * slope, "gain": unit * gain, "factor": float(np.exp(gain / slope))},
        "models": {"two stages": stages.rows, "one regression": len(with_compute)},
    }


def _unit(capability, models, fitted):
    """Return the spread of posterior mean capabilities over that of least squares, for models of both tables."""
    named = models.set_index("model")["model_name"].reindex(capability.index)
    estimates = capability.groupby(named).mean()
    posterior = fitted["posterior"]["capability"].mean(("chain", "draw"))
    ours = pd.Series(posterior.values, posterior["model"].values)
    both = estimates.index.intersection(ours.index)
    return float(ours[both].std() / estimates[both].std())

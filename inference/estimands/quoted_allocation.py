"""Widen an allocation of the law alone to what is quoted: robust widths, and the drift outside the runs."""

import warnings

import numpy as np
import xarray as xr

from ...errors import DiagnosticWarning
from ...models.draws import DRAWS
from ...models.loss.plan import inference_compute, training_compute
from ..quoted import drift_errors, quote_draws
from .beyond import SIDES, decades_outside
from .planning import near_range

MOST_DECADES, SECANTS, CLOSE = 12.0, 12, 1e-4  # of the search for the compute at which a drifting loss is reached


def nonembedding_sizes(draws, planned, parameters):
    """Compute N_x of models of N_T parameters, infinite where they are."""
    draws, planned = draws.of_planned(**planned)
    finite = np.isfinite(parameters)
    size = draws.law.plan(draws.constants(), **planned).size(np.where(finite, parameters, 1.0))
    return np.where(finite, size, np.inf)


def solve_with_drift(fit, solved, asked, ends):
    """Solve for what reaches a target where the drift adds to the law's loss.

    The compute C of the answer has ``law(C) exp(b h(C)) = target``, h the decades of C outside the `ends` of the runs,
    positive above and negative below; h is found by secants, for each draw, on the side on which the law alone has it.
    """
    above, below = (drift_errors(fit, "loss", sign).values.reshape(-1, 1, 1) for sign in SIDES.values())

    def at(decades):
        """Solve for what reaches the target where the drift is that of so many decades."""
        return solved(asked[:, None] * np.exp(-np.where(decades > 0, above, -below) * decades))

    def further(decades):
        """Compute the decades that the law needs where the drift is that of so many, minus these."""
        spent = at(decades)["training_compute"].values.reshape(len(above), len(asked), -1)
        return decades_outside(spent, *ends).clip(-MOST_DECADES, MOST_DECADES) - decades

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)
        before = np.zeros_like(above)
        excess = further(before)
        decades, side = before + excess, np.sign(excess)
        for _ in range(SECANTS):
            now = further(decades)
            if not (np.abs(now) > CLOSE).any():
                break
            with np.errstate(all="ignore"):
                steepness = (now - excess) / (decades - before)
                # Where what is lacking grows with compute, none that is larger reaches the target.
                other = np.where(side * now > 0, side * MOST_DECADES, (before - decades) / 2)
                step = np.where(steepness < 0, -now / steepness, other)
                step = np.where(np.abs(now) <= CLOSE, 0.0, step)
            before, excess = decades, now
            decades = side * (side * (decades + step)).clip(0, MOST_DECADES)
    return at(decades)


def quoted(fit, result, demands, *, beyond, robust, nonembedding, largest):
    """Spread an allocation to its robust width, and add the drift where it lies outside the runs.

    `result` is from the law alone, with ``extrapolation``. `nonembedding` gives N_x of N_T. `largest` has the largest
    size and the most tokens of the fitted runs, beyond which the drift counts too, as do tokens per parameter that no
    run has where a demand is served. Sizes nearly as good move as N* does; what a budget leaves for tokens follows from
    N*.
    """
    law, by = result, "training_compute" if "target" in result.dims else "loss"
    decades = law["extrapolation"].where(np.isfinite(law["extrapolation"]), 0.0)
    further = [np.log10(law[name].median(DRAWS) / size).where(np.isfinite, 0.0) for name, size in largest.items()]
    if demands is not None and by == "loss":
        further.append(abs(law["tokens_per_parameter_extrapolation"].median(DRAWS)))
    for other in further:
        decades = xr.where(other > abs(decades), other, decades)
    names = [name for name in ("parameters", by, *fit.law.settings) if name in law]
    drifting = {"loss": "loss", "parameters": "size"} if beyond == "drift" else {}
    drift = {name: drift_errors(fit, of, decades) for name, of in drifting.items() if name in names}
    alone, paired = {name: law[name] for name in names}, bool({*DRAWS} & {*decades.dims})
    result = law.assign(quote_draws(fit, alone, robust=robust, drift=drift, paired=paired))
    if "parameters" not in law:
        return result
    if demands is not None and by == "loss":
        _share_budget(result, law)
    with np.errstate(invalid="ignore"):  # infinite where no size reaches a target
        moved = (result["parameters"] / law["parameters"]).fillna(1.0)
        paid = (result[by] / law[by]).fillna(1.0) if by == "training_compute" else 1.0
    if demands is None or by == "training_compute":
        result["tokens"] = law["tokens"] * paid / moved
    if "near_low" in law:
        result.update({name: law[name] * moved for name in ("parameters_near_low", "parameters_near_high")})
        result.update({name: law[name] * paid / moved for name in ("tokens_near_low", "tokens_near_high")})
        result.update(near_range(result["parameters_near_low"], result["parameters_near_high"]))
    if "epochs" in law:
        result["epochs"] = np.maximum(law["epochs"] * result["tokens"] / law["tokens"], 1.0)
    if "parameters_nonembedding" in law:
        result["parameters_nonembedding"] = result["parameters"].copy(data=nonembedding(result["parameters"].values))
    if "training_compute" in law:
        _count_compute(result, law, demands)
    return result


def _share_budget(result, law):
    """Share a budget between training and serving at tokens per parameter that moved as the best size would alone.

    Without a demand, a best size that is s times as large has s**-2 times the tokens per parameter r at the same budget
    C. With one, 6 r N**2 + 2 N demand = C gives the size N, so that something is left for training.
    """
    ratio = law["tokens"] / law["parameters"] * (law["parameters"] / result["parameters"]) ** 2
    trained, served = training_compute(1.0, ratio), inference_compute(1.0, result["demand"])
    spent = served + np.sqrt(served**2 + 4 * trained * result["compute"])
    result["parameters"] = 2 * result["compute"] / spent
    result["tokens"] = ratio * result["parameters"]


def _count_compute(result, law, demands):
    """Compute what training and inference take, infinite where the law reaches no target."""
    finite = np.isfinite(law["training_compute"])
    served = 0.0 if demands is None else result["demand"]
    training = training_compute(result["parameters"], result["tokens"])
    inference = inference_compute(result["parameters"], served)
    result["training_compute"] = training.where(finite, law["training_compute"])
    result["inference_compute"] = inference.where(finite, law["inference_compute"])
    result["total_compute"] = result["training_compute"] + result["inference_compute"]

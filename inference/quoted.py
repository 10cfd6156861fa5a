"""The draws whose interval every surface prints: robust where the rows reject a law, with the drift outside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ..datasets.deferred import special
from ..models.draws import DRAWS
from .checks.sandwich import spread_draws
from .checks.verdict import FITS, verdict_of
from .estimands.beyond import SIDES, drift_of
from .fitted import Fit, once

EVEN, PLACES = 400, 141  # quantiles of the narrower part of a sum, and values at which its distribution is computed


def quote_draws(
    fit: Fit,
    draws: xr.DataArray | Mapping[Any, xr.DataArray],
    *,
    robust: bool = True,
    bounded: bool = True,
    drift: Any = None,
    paired: bool = False,
) -> Any:
    """Return draws whose interval is quoted: as wide as `robust` makes them where the rows reject the law of a fit.

    Draws are a DataArray or several by name, dims (chain, draw, ...). Each place of the further dims is a quantity; log
    densities are evaluated once for all. The fit is checked if it was not before. Without `robust` the draws stay those
    of the posterior. `bounded` is whether what is positive in every draw must be so, as in `robust`; not so of
    differences and logarithms. The drift, one or by name, has errors of the logarithm of a quantity outside the runs
    (see `drift_errors`); they are added to what is not bounded. The draws with their errors are then moved, in their
    order, to the quantiles of every draw with every error: which draw met which error does not matter. With `paired`
    an error belongs to its draw, as where its decades do, and nothing is moved. The spread is unchanged where the law
    fits its rows, and where a quantity does not vary or a draw of it is not finite.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> exponent = fit["posterior"]["exponent_parameters"]
    >>> bool(quote_draws(fit, exponent).std() > 1.5 * exponent.std())
    True
    """
    if isinstance(draws, xr.DataArray):
        drift = {} if drift is None else {"": drift}
        return quote_draws(fit, {"": draws}, robust=robust, bounded=bounded, drift=drift, paired=paired)[""]
    quoted = _widened(fit, draws, bounded) if robust and draws else dict(draws)
    for name, error in (drift or {}).items():
        value, error = xr.broadcast(quoted[name], error)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = xr.apply_ufunc(_add, np.log(value) if bounded else value, error, paired,
                                   input_core_dims=[DRAWS, DRAWS, []], output_core_dims=[DRAWS])  # fmt: skip
            total = (np.exp(total) if bounded else total).transpose(*DRAWS, ...)
        quoted[name] = total.where(error != 0, value)
    return quoted


def _add(values, errors, paired):
    """Add errors to values, (..., chain, draw); at each place in the quantiles of every sum of one of each."""
    total = values + errors
    flat = total.reshape(-1, total.shape[-2] * total.shape[-1])
    values, errors = (x.reshape(flat.shape) for x in (values, errors))
    for place in range(0 if paired else len(flat)):
        if errors[place].any() and np.isfinite(flat[place]).all():
            flat[place] = _moved(flat[place], values[place], errors[place])
    return total


def _moved(total, values, errors):
    """Move sums, (sample,), in their order to the quantiles of the sums of any of the values with any of the errors."""
    narrow, wide = sorted((np.sort(values), np.sort(errors)), key=lambda x: np.subtract(*np.quantile(x, (0.75, 0.25))))
    count, ends = len(total), special.ndtr(np.linspace(-4, 4, PLACES))
    at = np.unique(np.quantile(narrow + wide, ends))
    few = np.quantile(narrow, (np.arange(EVEN) + 0.5) / EVEN)
    p = np.interp(at[:, None] - few, wide, (np.arange(count) + 0.5) / count, left=0.0, right=1.0).mean(1)
    inside = (p > 0) & (p < 1)
    asked = (np.arange(count) / (count - 1)).clip(0.5 / count, 1 - 0.5 / count)
    moved = np.empty(count)
    moved[total.argsort()] = np.interp(special.ndtri(asked), special.ndtri(p[inside]), at[inside])
    return moved


def _widened(fit, draws, bounded):
    """Spread draws by name to their robust width where the rows reject the law."""
    arrays = {name: x.transpose(*DRAWS, ...) for name, x in draws.items()}
    places = [np.moveaxis(x.values.reshape(*x.shape[:2], -1), -1, 0) for x in arrays.values()]
    values = np.concatenate(places)
    varies = np.isfinite(values).all((1, 2)) & (values != values[:, :1, :1]).any((1, 2))
    if varies.any() and verdict_of(fit)["verdict"] != FITS:
        values[varies] = spread_draws(fit, values[varies], bounded=bounded)
    ends = np.cumsum([len(part) for part in places])[:-1]
    parts = zip(arrays.items(), np.split(values, ends), strict=True)
    return {name: x.copy(data=np.moveaxis(part, 0, -1).reshape(x.shape)) for (name, x), part in parts}


def drift_errors(fit: Fit, of: str, decades: Any = 1.0) -> Any:
    """Return errors of log ``"loss"`` or log N* (``"size"``) at signed decades outside the runs, by the fit's seed."""

    def drawn():
        rng, coordinates = np.random.default_rng(fit.record["seed"]), {dim: fit["posterior"][dim] for dim in DRAWS}
        shape = tuple(x.size for x in coordinates.values())
        return {
            (kind, sign): xr.DataArray(drift_of(fit.law, side).slopes(rng, shape, kind), coordinates, DRAWS)
            for side, sign in SIDES.items()
            for kind in ("loss", "size")
        }

    slopes = once(fit, "drift", drawn)
    return sum(slopes[of, sign] * np.maximum(sign * decades, 0.0) for sign in SIDES.values())

"""The draws whose interval every surface prints: robust where the rows reject a law, with the drift beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ..models.draws import DRAWS
from .checks.sandwich import spread_draws
from .checks.verdict import FITS, verdict_of
from .estimands.beyond import drift_of
from .fitted import Fit


def quote_draws(
    fit: Fit,
    draws: xr.DataArray | Mapping[Any, xr.DataArray],
    *,
    robust: bool = True,
    bounded: bool = True,
    drift: Any = None,
) -> Any:
    """Return draws whose interval is quoted: as wide as `robust` makes them where the rows reject the law of a fit.

    Draws are a DataArray or several by name, dims (chain, draw, ...). Each place of the further dims is a quantity; log
    densities are evaluated once for all. The fit is checked if it was not before. Without `robust` the draws stay those
    of the posterior. `bounded` is whether what is positive in every draw must be so, as in `robust`; not so of
    differences and logarithms. The drift, one or by name, has errors of the logarithm of a quantity beyond the runs
    (see `drift_errors`); they are added to what is not bounded. The spread is unchanged where the law fits its rows,
    and where a quantity does not vary or a draw of it is not finite.

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
        return quote_draws(fit, {"": draws}, robust=robust, bounded=bounded, drift=drift)[""]
    quoted = _widened(fit, draws, bounded) if robust and draws else dict(draws)
    for name, error in (drift or {}).items():
        quoted[name] = quoted[name] * np.exp(error) if bounded else quoted[name] + error
    return quoted


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


def drift_errors(fit: Fit) -> dict[str, xr.DataArray]:
    """Draw errors a decade beyond the runs of log ``"loss"`` and log N* (``"size"``), by the seed of the fit."""
    drift, rng = drift_of(fit.law), np.random.default_rng(fit.record["seed"])
    coordinates = {dim: fit["posterior"][dim] for dim in DRAWS}
    shape = tuple(x.size for x in coordinates.values())
    return {of: xr.DataArray(drift.slopes(rng, shape, of), coordinates, DRAWS) for of in ("loss", "size")}

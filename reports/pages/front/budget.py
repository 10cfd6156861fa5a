"""The best size at every budget, from which a page gives the one at a budget that a reader types."""

import numpy as np

from ....errors import InputError
from ....inference.estimands.allocate import compute_range
from ....inference.estimands.quoted_loss import loss_off_optimum
from ....models.draws import DRAWS
from ... import optimum

BUDGETS = np.logspace(17, 28, 111)
BELOW, ABOVE, A_DECADE = 1.0, 3.0, 10  # decades below and above the runs of a custom table, and budgets in each
QUANTILES = (0.025, 0.5, 0.975)
DECIMALS = 6  # of logarithms: a card and the page round the same number
RULE = 20.0  # tokens per parameter, the rule of thumb
STRIDE = 10  # the excess loss of the rule changes slowly with the budget
QUANTITIES = ("parameters", "tokens", "tokens_per_parameter", "loss")


def optimum_grid(document, fits):
    """Tabulate the recommended optimum and its rivals by budget as `budget_grid` does; None where there is no optimum.

    Fits have the names of the laws in the document, the content of results.json.
    """
    if "allocation" not in document:
        return None
    names = [optimum.preferred(document), *optimum.rivals(document)]
    return budget_grid(fits, {name: f"the {optimum.NAMES[name]} law" for name in names}, BUDGETS)


def budgets_of(fit, last):
    """Return budgets about and beyond the runs of a fit, at least to the last one."""
    low, high = np.log10(compute_range(fit))
    first, top = np.floor(low - BELOW), np.ceil(np.fmax(high + ABOVE, np.log10(last) if last else high))
    return np.logspace(first, top, int(A_DECADE * (top - first)) + 1)


def budget_grid(fits, names, budgets):
    """Tabulate optima by budget, for interpolation.

    `names` has what a sentence calls each law, the recommended one first, then its rivals. Budgets are in FLOP.

    Returns
    -------
    dict or None
        ``law``, its name, and ``called``. ``least_run`` and ``largest_run`` are in FLOP, ``log10_compute`` are budgets.
        ``parameters``, ``tokens``, ``tokens_per_parameter`` and ``loss`` hold logarithms to base ten of three
        quantiles, (budget, 3). ``rivals`` have ``called`` and ``parameters``. ``rule`` is the median excess loss of 20
        tokens per parameter, as a share, at every tenth budget. None of a law without a best size.
    """
    law, *rivals = names
    main = fits[law]
    try:
        at = main.allocate(budgets)
        tables = {name: _quantiles(at[name]) for name in QUANTITIES}
    except (InputError, KeyError):
        return None
    low, high = compute_range(main)
    grid = {"law": law, "called": names[law], "least_run": low, "largest_run": high}
    grid |= {"log10_compute": np.log10(budgets).round(DECIMALS).tolist()} | tables
    grid["rivals"] = [
        {"called": names[name], "parameters": _quantiles(fits[name].allocate(budgets)["parameters"])} for name in rivals
    ]
    return grid | {"rule": [_excess(main, compute) for compute in budgets[::STRIDE]]}


def _quantiles(draws):
    quantiles = draws.quantile(QUANTILES, DRAWS).transpose("compute", "quantile").values
    return np.log10(quantiles).round(DECIMALS).tolist()


def _excess(fit, compute):
    size = np.sqrt(compute / (6 * RULE))
    return round(float(loss_off_optimum(fit, float(compute), [size]).median()), 6)

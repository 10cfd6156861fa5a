"""The quoted optimum at every budget, from which a page gives the best size at a budget that a reader types."""

import numpy as np

from ....models.draws import DRAWS
from ...drawing import optimum

BUDGETS = np.logspace(17, 28, 221)
QUANTILES = (0.025, 0.5, 0.975)
DECIMALS = 4


def optimum_grid(document, fits):
    """Tabulate the quoted optimum by budget, for interpolation.

    Parameters
    ----------
    document : dict
        The content of results.json.
    fits : dict of str to Fit
        By the names of the document's laws.

    Returns
    -------
    dict or None
        ``law``, its name; ``largest_run``, in FLOP; ``log10_compute``, budgets; and of ``parameters``, ``tokens`` and
        ``tokens_per_parameter`` the common logarithms of the 2.5%, 50% and 97.5% quantiles, (budget, 3). None where no
        optimum was made.
    """
    if "allocation" not in document:
        return None
    law = optimum.preferred(document)
    at = fits[law].allocate(BUDGETS)
    names = ("parameters", "tokens", "tokens_per_parameter")
    tables = {
        name: np.log10(at[name].quantile(QUANTILES, DRAWS).transpose("compute", "quantile").values).round(DECIMALS)
        for name in names
    }
    return {
        "law": law,
        "largest_run": optimum.largest_run(document),
        "log10_compute": np.log10(BUDGETS).round(DECIMALS).tolist(),
    } | {name: table.tolist() for name, table in tables.items()}

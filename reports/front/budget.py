"""The draws of the recommended optimum, from which a page gives the best size at a budget of one's own."""

import numpy as np

from ...inference import allocate
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ..drawing import optimum

MOST = 4000
BUDGETS = (1e18, 1e22, 1e26)
DECIMALS = 7


def optimum_draws(document, fits):
    """Draws of G and a, where the recommended law has N* = G (C/6)^a.

    Parameters
    ----------
    document : dict
        The content of results.json.
    fits : dict of str to DataTree
        By the names of the document's laws.

    Returns
    -------
    dict or None
        ``law``, its name; ``largest_run``, in FLOP; ``log10_g`` and ``a``, by draw, all of them or 4,000 evenly apart.
        None where no optimum was made, or the law's is no power of the budget.
    """
    if "allocation" not in document:
        return None
    law = optimum.preferred(document)
    n = np.log10(allocate(fits[law], BUDGETS)["parameters"].transpose("compute", ...).values.reshape(len(BUDGETS), -1))
    slots = np.log10(np.array(BUDGETS) / FLOP_PER_PARAMETER_TOKEN)
    a = (n[-1] - n[0]) / (slots[-1] - slots[0])
    if not np.allclose(n[1], n[0] + a * (slots[1] - slots[0]), rtol=0, atol=1e-9):
        return None
    chosen = np.unique(np.linspace(0, a.size - 1, min(MOST, a.size)).round().astype(int))
    found = {"log10_g": n[0] - a * slots[0], "a": a}
    return {"law": law, "largest_run": optimum.largest_run(document)} | {
        name: [round(float(x), DECIMALS) for x in draws[chosen]] for name, draws in found.items()
    }

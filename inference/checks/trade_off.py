"""Whether a table tells the floor of a law of one variable from its exponent."""

import pandas as pd

from ...models.draws import DRAWS

BARELY = 0.9  # rank correlation: of two such quantities, either alone has half the spread once the other is given


def trade_off(fit):
    """Return the rank correlation of E and the exponent in the posterior of a law of one variable, else None.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs").nsmallest(8, "loss")
    >>> fit = bs.fit("power-compute", runs, seed=1, draws=500, tune=500)
    >>> trade_off(fit) > 0.5
    True
    """
    law, posterior = fit.law, fit["posterior"]
    exponents = getattr(law, "exponents", ())
    if len(exponents) != 1 or len(law.columns) != 1:
        return None
    pair = [name for name in ("E", *exponents) if name in posterior and posterior[name].dims == DRAWS]
    draws = pd.DataFrame({name: posterior[name].values.ravel() for name in pair})
    return float(draws.rank().corr().loc[tuple(pair)]) if len(pair) == 2 else None


def trade_off_sentence(fit):
    """Return a sentence on E and the exponent where the rows can barely tell them apart, else ""."""
    correlation = trade_off(fit)
    if correlation is None or abs(correlation) < BARELY:
        return ""
    name = fit.law.exponents[0]
    return (
        f"these rows can barely tell E and {name} apart (rank correlation {correlation:.2f}): quote them together, or "
        "add runs of other sizes"
    )

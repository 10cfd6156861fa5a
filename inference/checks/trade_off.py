"""Whether a table tells the floor of a law from its exponent, and whether E is the floor where that is known."""

import pandas as pd

from ...models.draws import DRAWS
from .. import intervals

BARELY = 0.9  # rank correlation: of two such quantities, either alone has half the spread once the other is given


def trade_off(fit):
    """Return the rank correlation of E and the exponent in the posterior of a law of one variable, else None."""
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


COLUMN = "irreducible_loss"


def known_floor(fit):
    """Return the known floor, in nats per token, whether the 95% interval of E holds it, and a sentence.

    Only a table of runs on one synthetic language has a floor, in the column ``irreducible_loss``. The dict is empty
    without it, and with a law that has no E.
    """
    floors = fit.rows[COLUMN].unique() if COLUMN in fit.rows else ()
    if len(floors) != 1 or not floors[0] > 0 or "E" not in fit["posterior"]:
        return {}
    fitted = intervals.parameters(fit).get("E")
    if fitted is None:
        return {}
    low, middle, high = (fitted[name] for name in ("q2.5", "q50", "q97.5"))
    where = "ends below" if high < floors[0] else "begins above" if low > floors[0] else "holds"
    sentence = (
        f"the known floor of the language is {floors[0]:.3f}; E, {middle:.3g} [{low:.3g}, {high:.3g}], {where} it"
    )
    return {"known": float(floors[0]), "holds": where == "holds", "sentence": sentence}

"""The known floor of the synthetic language on which some runs were trained, next to the fitted E."""

from .. import intervals

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

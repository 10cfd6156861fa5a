"""A loss that rises with compute, which is none."""

from ...errors import TableWarning
from ..columns import choice
from .changes import tell

RISING = 0.5  # rank correlation of loss with compute: of tables of losses it is below -0.3, overfitted ones included
LEAST_ROWS = 10


def warn_of_rising(runs, label):
    """Warn where what is called the loss is the higher, the more compute a run had.

    Warns
    -----
    TableWarning

    Examples
    --------
    >>> import pandas as pd
    >>> warn_of_rising(pd.DataFrame({"training_flop": [1e18, 1e19], "loss": [3.0, 2.5]}), "table")
    """
    if len(runs) < LEAST_ROWS:
        return
    correlation = runs["loss"].rank().corr(runs["training_flop"].rank())
    if correlation > RISING:
        tell(
            f"{label}: the loss rises with compute (rank correlation {correlation:.2f}): is it an accuracy or another "
            f"score? A law of the loss is of what falls; name a loss with {choice('loss', 'NAME')}",
            TableWarning,
        )

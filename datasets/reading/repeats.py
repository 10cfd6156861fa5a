"""Rows of one size whose losses differ more than chance would let them."""

from ...errors import TableWarning
from ..wording import listed
from .changes import tell

APART = 0.03
SHOWN = 8
NOT_CAUSES = ("loss", "loss_halfwidth", "perplexity", "training_flop")


def warn_of_repeats(runs, sizes, label):
    """Warn where rows of the same sizes have losses further apart than 3%, naming the columns that vary there.

    Parameters
    ----------
    runs : pandas.DataFrame
    sizes : sequence of str
        Columns that the loss is thought to follow from: parameters, tokens and what else a law needs.
    label : str
        Name of the table in messages.
    """
    # Tokens that were derived from FLOP differ in the last digits.
    sizes = [name for name in sizes if name in runs]
    keys = [runs[name].map("{:.6g}".format) if runs[name].dtype == "float64" else runs[name] for name in sizes]
    grouped = runs.groupby(keys, sort=False)["loss"]
    spread = grouped.transform("max") / grouped.transform("min") - 1
    rows = runs[spread > APART]
    if rows.empty:
        return
    together = [key[rows.index] for key in keys]
    others = [name for name in runs.columns if name not in (*sizes, *NOT_CAUSES)]
    varied = [name for name in others if (rows[name].astype(str).groupby(together).nunique() > 1).any()]
    # A setting has few values; what was measured has many.
    varied.sort(key=lambda name: rows[name].astype(str).nunique())
    more = f" and {len(varied) - SHOWN} more" if len(varied) > SHOWN else ""
    causes = f"such rows differ in {listed(varied[:SHOWN])}{more}" if varied else "such rows differ in no other column"
    worst = runs.loc[spread.idxmax()]
    example = ", ".join(f"{name} {worst[name]:.4g}" for name in sizes if runs[name].dtype == "float64")
    count = rows.groupby(together).ngroups
    tell(
        f"{label}: {count} size{'s come' if count > 1 else ' comes'} with losses more than {APART:.0%} apart, up to "
        f"{spread.max():.0%} (at {example}); {causes}: a law of sizes takes that for noise; choose rows with where= "
        '(--where), best_of="parameters,tokens" (--best-of parameters,tokens) or last_of= (--last-of)',
        TableWarning,
    )

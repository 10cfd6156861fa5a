"""Warnings of columns that may not be losses of comparable runs: outliers, settings that differ."""

import numpy as np

from ...errors import TableWarning
from ..checks import place, warn
from ..columns import is_setting
from ..wording import listed, quoted

# Largest spread of losses of one size, as a share.
APART = 0.03

SETTINGS_SHOWN = 8
NOT_CAUSES = ("loss", "loss_halfwidth", "perplexity", "training_flop")
LEAST_ROWS = 10

# An outlier is a loss this many times that of its neighbours, and so many spreads of the residuals away.
OUTLYING = 1.5
SPREADS = 8
OUTLIERS_SHOWN = 3
OUTLYING_ALONE, SPREADS_ALONE = 1.15, 20  # of one row, by the others
LARGEST_LEVERAGE = 0.6  # of that row: beyond, the function of the others is extrapolated to it


def warn_of_repeats(runs, sizes, label):
    """Warn where rows of the same sizes have losses further apart than 3%, naming the columns that vary there."""
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
    different = listed(varied, SETTINGS_SHOWN) if varied else "no other column"
    tuned = (
        "fit learning-rate or rate-and-batch, laws of such runs, or "
        if any(is_setting(name, "learning_rate_peak") for name in varied)
        else ""
    )
    worst = runs.loc[spread.idxmax()]
    example = ", ".join(f"{name} {worst[name]:.4g}" for name in sizes if runs[name].dtype == "float64")
    count = rows.groupby(together).ngroups
    warn(
        f"{label}: {count} size{'s come' if count > 1 else ' comes'} with losses more than {APART:.0%} apart, up to "
        f"{spread.max():.0%} (at {example}); such rows differ in {different}: a law of sizes takes that for noise; "
        f'{tuned}fit groups (--group COLUMN), or choose rows with where= (--where), best_of="parameters,tokens" '
        "(--best-of parameters,tokens) or last_of= (--last-of)",
        TableWarning,
    )


def warn_of_outliers(runs, sizes, names, label):
    """Warn of losses, or sizes, that are far from those of runs of near sizes.

    The logarithm of the loss is compared with a quadratic function of those of the sizes, fitted robustly. One row of
    which a size is wrong bends that function; it is compared with the function of the other rows.

    Warns
    -----
    TableWarning
    """
    if len(runs) < LEAST_ROWS:
        return
    loss = np.log(runs["loss"].to_numpy(float))
    design = _quadratic(np.log(runs[list(sizes)].to_numpy(float)))
    expected = _smooth(design, loss)
    residual = np.abs(loss - expected)
    wrong = residual > max(np.log(OUTLYING), SPREADS * 1.4826 * np.median(residual))
    what = "outliers"
    if not wrong.any():
        expected, spreads = _without_each(design, loss)
        wrong = (spreads > SPREADS_ALONE) & (np.abs(loss - expected) > np.log(OUTLYING_ALONE))
        what = "an outlier, or a size of that row is wrong"
    if not wrong.any() or wrong.mean() > 0.1:
        return
    rows = runs.index[wrong][:OUTLIERS_SHOWN]
    header = names.get("loss", "loss")
    texts = [
        f"{place(runs, row)} has {runs.at[row, 'loss']:.4g} where its neighbours suggest "
        f"{np.exp(expected[runs.index.get_loc(row)]):.3g}"
        for row in rows
    ]
    more = f" and {wrong.sum() - len(rows)} more" if wrong.sum() > len(rows) else ""
    highest = set(runs["loss"].nlargest(wrong.sum()).index) == set(runs.index[wrong])
    fix = f"drop_highest={wrong.sum()} (--drop-highest {wrong.sum()})" if highest else "where= (--where)"
    warn(
        f"{label}: column {quoted(header)} has {what}: {'; '.join(texts)}{more}; correct them or leave them out with "
        f"{fix}",
        TableWarning,
    )


def _quadratic(sizes):
    """Return the columns of a quadratic function of sizes."""
    spread = sizes.std(axis=0)
    z = (sizes - sizes.mean(axis=0))[:, spread > 1e-9] / spread[spread > 1e-9]
    return np.column_stack([np.ones(len(z)), z, z**2])


@np.errstate(all="ignore")
def _without_each(design, loss):
    """Return what the other rows predict for each by least squares, and its distance in standard errors, 0 far out."""
    q, _ = np.linalg.qr(design)
    free = 1 - (q**2).sum(axis=1)
    residual = loss - q @ (q.T @ loss)
    variance = ((residual**2).sum() - residual**2 / free) / (len(loss) - design.shape[1] - 1)
    distance = np.abs(residual) / np.sqrt(variance * free)
    return loss - residual / free, np.where(free > 1 - LARGEST_LEVERAGE, distance, 0.0)


def _smooth(design, loss):
    """Return a function of sizes, fitted by least absolute deviations with reweighting."""
    weight = np.ones(len(loss))
    for _ in range(30):
        root = np.sqrt(weight)
        coefficients = np.linalg.lstsq(design * root[:, None], loss * root, rcond=None)[0]
        weight = 1 / np.maximum(np.abs(loss - design @ coefficients), 1e-4)
    return design @ coefficients

"""The figure of a rollout: observed against predicted values, drawn to a file."""

import numpy as np

from ...plots.with_matplotlib import write
from .style import BLUE, COMPUTE, GREY, RED

PANEL = (8.0, 3.2)  # inches
RANGE = 10.0  # greatest over least value from which an axis is logarithmic


def figure(rows):
    """Draw observed values minus predicted medians with 50% and 90% predictive intervals, a panel for each cutoff.

    Parameters
    ----------
    rows : Dataset
        The second of what `rollout` returns.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    cutoffs = np.unique(rows["cutoff"])
    drawn = Figure(figsize=(PANEL[0], PANEL[1] * len(cutoffs)), layout="constrained")
    axes = drawn.subplots(len(cutoffs), 1, squeeze=False)[:, 0]
    for cutoff, panel in zip(cutoffs, axes, strict=True):
        _panel(panel, rows.isel(prediction=(rows["cutoff"] == cutoff).values), cutoff)
    ends = min(rows["value"].min(), cutoffs[0]), rows["value"].max()
    if ends[0] > 0 and ends[1] / ends[0] > RANGE:
        for panel in axes:
            panel.set_xscale("log")
    axes[-1].set_xlabel({"compute": COMPUTE}.get(rows.attrs["by"], rows.attrs["by"]))
    return drawn


def _panel(panel, rows, cutoff):
    relative = rows.attrs["scale"].startswith("log_")
    value = rows["value"].values
    away = {name: rows[name].values - rows["q50"].values for name in ("observed", "q5", "q25", "q75", "q95")}
    away = {name: 100 * np.expm1(x) if relative else x for name, x in away.items()}
    for low, high, width, label in (("q5", "q95", 1.0, "central 90%"), ("q25", "q75", 3.0, "central 50%")):
        panel.vlines(value, away[low], away[high], color=BLUE, alpha=0.35, linewidth=width, label=label)
    inside = (away["observed"] >= away["q5"]) & (away["observed"] <= away["q95"])
    for chosen, colour, label in ((inside, BLUE, "within 90%"), (~inside, RED, "outside")):
        panel.plot(
            value[chosen],
            away["observed"][chosen],
            "o",
            color=colour,
            markersize=3.5,
            label=f"{label} ({chosen.sum()})",
        )
    panel.axhline(0, color=GREY, linewidth=0.8)
    panel.axvline(cutoff, color=GREY, linestyle=":", linewidth=1.2)
    panel.set_ylabel(
        "Observed against\npredicted median (%)" if relative else f"Observed minus\nmedian ({rows.attrs['scale']})"
    )
    panel.set_title(f"{rows.attrs['law']}: fitted below {cutoff:g}", loc="left", fontsize=10)
    panel.legend(fontsize=8, frameon=False, ncols=4, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.1)
    panel.spines[["top", "right"]].set_visible(False)


def draw(rows, path):
    """Write the figure of a rollout, whole or not at all.

    Parameters
    ----------
    rows : Dataset
    path : Path
        Its ending sets the format.
    """
    write(figure(rows), path)

"""The figure of the losses of a sweep while it trains, from the log that it writes."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..datasets.wording import printable
from ..errors import InputError
from ..inference.words import size
from .picture import Axis, Layer, Picture, drawn, frame
from .style import RED, Look, ramp

if TYPE_CHECKING:
    from os import PathLike

    from .picture import Axes, Backend, Figure

LOG = "log.jsonl"
FEWEST, TOGETHER = 12, 900  # points of a curve that is thinned, and of all curves together
COLUMNS = ["run", "step", "loss_train", "tokens"]


def plot_learning(
    log: str | PathLike[str], *, ax: Axes | None = None, backend: Backend = "matplotlib"
) -> Axes | Figure:
    r"""Plot the training loss of each run of a sweep against its tokens, also while the sweep still trains.

    Parameters
    ----------
    log : path
        The folder of a sweep, or its ``log.jsonl``.
    ax, backend
        As for `plot_fit`, which states what is returned.

    Raises
    ------
    InputError
        If there is no log, or it has no loss yet.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import bayescaling as bs
    >>> lines = [{"run": "a", "step": s, "loss_train": 4 / s, "tokens": 64 * s} for s in (1, 2)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ...     axes = bs.plot_learning(folder)
    >>> axes.finding
    'The lowest training loss of 1 run is 2.000, after 128 tokens; 0 are finished'
    """
    curves, ended = _read(Path(log).expanduser())
    runs = list(curves["run"].unique())
    most = max(FEWEST, TOGETHER // len(runs))
    layers, diverged = [], curves[curves["loss_train"].isna()]["run"].unique()
    for run, colour in zip(runs, ramp(len(runs)), strict=True):
        curve = curves[(curves["run"] == run) & curves["loss_train"].notna()]
        places = np.unique(np.geomspace(1, len(curve), most).round().astype(int)) - 1 if len(curve) else []
        data = frame(x=curve["tokens"].iloc[places], y=curve["loss_train"].iloc[places])
        layers.append(Layer("line", run, data, Look(RED if run in diverged else colour), False, 1.2))
    lowest = curves.loc[curves["loss_train"].idxmin()]
    picture = Picture(
        title=f"The lowest training loss of {len(runs)} run{'s' * (len(runs) != 1)} is {lowest['loss_train']:.3f}, "
        f"after {size(float(lowest['tokens']))} tokens; {len(ended)} are finished",
        caption="Each line is a run: its mean training loss since the evaluation before, in nats per token."
        + (f" Red ones diverged, {len(diverged)} of them." if len(diverged) else ""),
        x=Axis("Tokens trained on", "size", log=True),
        y=Axis("Training loss (nats/token)", log=True),
        layers=tuple(layers),
    )
    return drawn(picture, ax, backend)


def _read(path):
    """Return the losses in a log, a DataFrame, and the runs that are finished; of lines of one step the last counts."""
    path = path / LOG if path.is_dir() else path
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{printable(path)}: no log that can be read; name the folder of a sweep") from error
    entries = []
    for line in lines:
        # A process that was killed may leave a part of a line.
        with contextlib.suppress(ValueError):
            entries.append(json.loads(line))
    entries = [entry for entry in entries if isinstance(entry, dict) and "run" in entry]
    losses = [entry for entry in entries if {*COLUMNS} <= {*entry}]
    curves = pd.DataFrame(losses, columns=COLUMNS).drop_duplicates(["run", "step"], keep="last")
    curves["loss_train"] = pd.to_numeric(curves["loss_train"], errors="coerce")
    if not curves["loss_train"].notna().any():
        raise InputError(f"{printable(path)}: has no loss yet; a run writes one every few updates")
    ended = {entry["run"] for entry in entries if "status" in entry}
    return curves.sort_values(["run", "step"], kind="stable"), ended

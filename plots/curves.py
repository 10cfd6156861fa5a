"""Figures of losses while runs train: one run with the loss to come, and all runs of a sweep from its log."""

from __future__ import annotations

import contextlib
import json
from os import PathLike
from pathlib import Path
from typing import Unpack

import numpy as np
import pandas as pd

from ..datasets.kinds.curves import CURVES
from ..datasets.schedules import HELD
from ..datasets.wording import printable
from ..errors import InputError
from ..inference.curves import losses
from ..inference.curves.forecast import unit_of
from ..inference.fitted import Fit, of_kind
from ..inference.words import plain, size
from .figure import Drawing, figure
from .picture import Axis, Layer, Picture, frame, median_and_band
from .shared import check_level, ends, in_words, percent
from .style import BLACK, BLUE, GREY, ORANGE, RED, Look, ramp

LOG, TABLE = "log.jsonl", "runs.csv"
MOST_SIZES = 8  # that the key names
FEWEST, TOGETHER = 12, 900  # points of a curve that is thinned, and of all curves together
COLUMNS = ["run", "step", "loss_train", "tokens"]


@figure
def plot_curve(
    fit: Fit,
    until: float,
    *,
    schedule: str | None = None,
    run: str | None = None,
    level: float = 0.95,
    seed: int = 1,
    **drawing: Unpack[Drawing],
) -> Picture:
    """Plot the loss of a run while it trains, and what it will reach.

    Parameters
    ----------
    fit : Fit
        Of the law ``curve``.
    until, schedule, run, seed
        As for `curves.losses`.

    Examples
    --------
    >>> import bayescaling as bs
    >>> curves = bs.load("schedule_curves")
    >>> readings = curves[(curves["run"] == "100M cosine_24000") & (curves["step"] < 12_000)]
    >>> fit = bs.fit("curve", readings, seed=1, draws=300, tune=500)
    >>> axes = bs.plot_curve(fit, 24_000, schedule="cosine:peak=3e-4,warmup=2160,final=3e-5")
    >>> axes.finding[:26]
    'At step 24,000 the loss is'
    """
    level, rows = check_level(level), of_kind(fit, CURVES).rows
    clock, ahead = losses(fit, until, schedule=schedule, run=run, seed=seed)
    of, three = rows[rows["run"] == (rows["run"].iloc[-1] if run is None else run)], ends(ahead, level)
    unit = unit_of(rows)
    held = [] if of.empty else [losses(fit, until, schedule=HELD, run=run, seed=seed)[1]]
    held = [x for x in held if not x.equals(ahead)]
    readings = [Layer("points", "readings, averaged", frame(x=of["clock"], y=of["loss"]), Look(BLUE), True, 4.0)]
    return Picture(
        title=f"At {unit} {clock[-1]:,.10g} the loss is {in_words(three[:, -1], plain)} nats/token",
        caption=f"Points are averaged readings; the line is the median of the loss to come with its {percent(level)} "
        "band, in grey if the rate is held. Spikes are not modelled.",
        x=Axis(f"{unit[0].upper()}{unit[1:]}s", "size"),
        y=Axis("Loss (nats/token)"),
        layers=(
            *(Layer("line", "rate held", frame(x=clock, y=ends(x, level)[1]), Look(GREY, "dash")) for x in held),
            *median_and_band(clock, three, Look(ORANGE), "to come"),
            *(readings if len(of) else []),
        ),
    )


@figure
def plot_learning(log: str | PathLike[str], **drawing: Unpack[Drawing]) -> Picture:
    r"""Plot the training loss of each run of a sweep against its tokens, also while the sweep still trains.

    Parameters
    ----------
    log : path
        The folder of a sweep, or its ``log.jsonl``. The ``runs.csv`` of the folder has the sizes of finished runs, and
        the entropy of a corpus where it is known.

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
    'The lowest training loss of 1 run is 2, after 128 tokens; 0 are finished'
    """
    curves, ended = _read(Path(log).expanduser())
    runs, table = list(curves["run"].unique()), _table(Path(log).expanduser())
    sizes = dict(zip(table["run"], table["parameters"], strict=True))
    ladder = sorted({sizes[run] for run in runs if run in sizes})
    places = np.linspace(0, len(ladder) - 1, min(MOST_SIZES, len(ladder))).round().astype(int)
    looks, named = dict(zip(ladder, ramp(len(ladder)), strict=True)), {ladder[i] for i in places}
    most = max(FEWEST, TOGETHER // len(runs))
    layers, keys, diverged = [], set(), curves[curves["loss_train"].isna()]["run"].unique()
    for run in sorted(runs, key=lambda run: sizes.get(run, 0)):
        curve = curves[(curves["run"] == run) & curves["loss_train"].notna()]
        places = np.unique(np.geomspace(1, len(curve), most).round().astype(int)) - 1 if len(curve) else []
        data = frame(x=curve["tokens"].iloc[places], y=curve["loss_train"].iloc[places])
        if run in diverged:
            key, look = "diverged", Look(RED, "dash")
        elif run in sizes:
            key, look = f"{size(sizes[run])} parameters" * (sizes[run] in named), Look(looks[sizes[run]])
        else:
            key, look = "finished" if run in ended else "training", Look(GREY, "solid" if run in ended else "dot")
        layers.append(Layer("line", run, data, look, False if key in keys else key, 1.2))
        keys.add(key)
    if "irreducible_loss" in table:
        floor, reach = table["irreducible_loss"].iloc[0], curves["tokens"]
        data = frame(x=[reach.min(), reach.max()], y=floor)
        layers.append(Layer("line", "entropy of the corpus", data, Look(BLACK, "dash"), f"floor, {floor:.3f}", 1.2))
    lowest = curves.loc[curves["loss_train"].idxmin()]
    return Picture(
        title=f"The lowest training loss of {len(runs)} run{'s' * (len(runs) != 1)} is {lowest['loss_train']:.4g}, "
        f"after {size(float(lowest['tokens']))} tokens; {len(ended)} are finished",
        caption="Each line is a run: its mean training loss since the evaluation before, in nats per token."
        + (f" Red ones diverged, {len(diverged)} of them." if len(diverged) else "")
        + (" No model has less than the floor, the entropy of the corpus." if "irreducible_loss" in table else ""),
        x=Axis("Tokens trained on", "size", log=True),
        y=Axis("Training loss (nats/token)", log=True),
        layers=tuple(layers),
        source=f"Data: the log of {Path(log).expanduser().resolve().name}",
    )


def _table(path):
    path = (path if path.is_dir() else path.parent) / TABLE
    table = pd.read_csv(path) if path.is_file() else pd.DataFrame()
    return table if {"run", "parameters"} <= {*table} else pd.DataFrame(columns=["run", "parameters"])


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

"""Models whose weights a sweep saved, tested again: at other offsets, recurrences, lengths or in another precision."""

import os
from pathlib import Path

import pandas as pd
import torch

from ..engine.checkpoints import list_weights, restored
from ..engine.hardware import choose_device, choose_precision
from ..engine.updates import rounded
from ..sweeps.keys import add_defaults
from .cells import CELLS, OF_TASK, list_cells
from .evaluation import evaluate, evaluation_tokens
from .models.positions import check_digits
from .models.transformer import Configuration, Transformer
from .problems import TASKS

DESCRIBED = ("embedding", "architecture", "layers", "recurrences", "d_model", "k_max")


def check_saved(
    folder, *, offsets=(0,), recurrences=None, count=100, seed=0, precision="float32", device=None, **cells
):
    """Test every model whose weights are in ``FOLDER/weights``, where ``keep = "weights"`` puts them.

    Models with Abacus embeddings are tested at each of the `offsets`. Looped models are tested after each of the
    `recurrences`, by default after those of their training. `cells` has keys of ``[evaluation]``: longest, every,
    diagonal and diagonal_to. `precision` is that of the layers.

    The result is a DataFrame with a row for each run, offset, number of recurrences and cell. Its columns are those of
    ``runs.csv`` that apply, and ``tested_recurrences``. `InputError` is raised if there are no weights, a file is
    damaged, or an option cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> from bayescaling.training.arithmetic import check_saved, make_sweep, train
    >>> arm = {"task": "addition", "lengths": 1, "embeddings": ["abacus"], "architectures": ["1x2"]}
    >>> sweep = {
    ...     "model": {"d_model": 8, "heads": 2, "k_max": 2},
    ...     "training": {"samples": 64, "batch": 32, "evaluations": 1, "keep": "weights"},
    ...     "evaluation": {"longest": 1, "diagonal_to": 0, "count": 5},
    ...     "arms": [arm],
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = train(make_sweep(sweep), folder, device="cpu", progress=False)
    ...     table = check_saved(folder, offsets=[0, 1], recurrences=[1, 2, 3], longest=2, diagonal_to=0, count=5)
    >>> table.groupby(["offset", "tested_recurrences"])["total"].sum().tolist()
    [20, 20, 20, 20, 20, 20]
    """
    device, paths = choose_device(device), list_weights(Path(os.path.expanduser(folder)))
    precision = choose_precision(precision, device)
    options = {"count": count, "seed": seed, "device": device}
    tables = []
    for path in paths:
        model, settings = restored(path, lambda settings: Transformer(Configuration(**settings["model"])))
        model, shape, options_of_task = model.to(device), model.configuration, dict(settings["task"])
        task = TASKS[options_of_task.pop("name")](**options_of_task)
        described = {"run": path.stem, "task": task.name} | {name: getattr(shape, name) for name in DESCRIBED}
        described |= {"train_digits": task.largest, "seed": settings["seed"], "parameters": shape.parameters}
        chosen = list_cells(add_defaults(OF_TASK.get(task.name, {}) | cells, CELLS))
        axes = {"offsets": [0], "recurrences": [shape.recurrences]}
        if "abacus" in shape.parts:
            axes["offsets"] = list(offsets)
            longest = max(task.digits(*cell) for cell in chosen)
            check_digits(longest, shape.table_rows, 1 + max(offsets), "equals" in shape.parts)
        if recurrences is not None and shape.recurrences > 1:
            axes["recurrences"] = list(recurrences)
        tokens = evaluation_tokens(shape, device)
        with torch.no_grad():
            counts = evaluate(rounded(model, precision), task, chosen, batch_tokens=tokens, **options, **axes)
        rows = counts.rename(recurrences="tested_recurrences").to_dataframe().reset_index()
        rows = rows[rows["total"] > 0].assign(**described)
        tables.append(rows[[*described, *(name for name in rows if name not in described)]])
    return pd.concat(tables, ignore_index=True)

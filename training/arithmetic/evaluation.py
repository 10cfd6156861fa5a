"""The number of problems that a model answers exactly right, cell by cell, by one pass through it.

Greedy decoding takes the likeliest token at each place. Its answer is right if and only if the likeliest token is right
at every place when the model reads the right answer. As long as all tokens so far are right, both read the same, and at
the first wrong one both fail. This holds if the output at a token depends only on it and earlier ones, without chance.
So one pass over the whole problem gives the result of decoding, which takes a pass for each token of the answer.
"""

import contextlib
import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import xarray as xr

from ...errors import InputError
from ..engine.checkpoints import list_weights, restored
from ..engine.fields import Count, check_value
from ..engine.hardware import choose_device, choose_precision, measure_free_memory
from ..engine.updates import rounded
from ..sweeps.keys import add_defaults
from .cells import CELL, CELLS, OF_TASK, axes, default_cells, lay_on_grid, list_cells, regions
from .models.positions import check_digits
from .models.transformer import Configuration, Transformer
from .problems.layout import EOS, PAD
from .problems.tasks import TASKS, first_label

DESCRIBED = ("embedding", "architecture", "layers", "recurrences", "d_model", "k_max")
# On a GPU, widths are rounded up to a multiple of this, so that compiled layers see few shapes.
MULTIPLE = 32
# In evaluation: the share of free memory for a layer's activations, and the most tokens of a batch by whether on a GPU.
EVALUATION_SHARE = 0.25
MOST_TOKENS = {False: 2**14, True: 2**19}


@torch.no_grad()
def evaluate(
    model,
    task,
    cells=None,
    *,
    count=100,
    seed=0,
    device="cpu",
    batch_tokens=2**14,
    recurrences=None,
    offsets=None,
    multiple=None,
):
    """Count the problems that a model answers right in all tokens that `Task.tested` returns, in each cell.

    The dataset has dimensions length_a and length_b, the lengths in any of the cells; for sorting the numbers and their
    most digits. Its variables are correct and total, in problems, and split: ``"id"``, ``"ood"``, ``"ood100"``, or
    empty outside the cells. Sorting also has correct_minimum, the problems whose first label is right, and axis: in
    what a cell is out of distribution, ``"numbers"``, ``"digits"``, ``"both"`` or nothing. With `recurrences` or
    `offsets`, correct and correct_minimum have dimensions recurrences and offset before those.

    A problem depends on the seed, the cell and its place in it alone. `InputError` is raised if there are no cells, a
    cell cannot be written, or a number is out of range.

    The model is a callable that takes tokens, int64, shape (problems, length), and returns the logits of the tokens
    that follow, shape (problems, length, vocabulary). A `torch.nn.Module` is put into evaluation mode for the test. A
    looped model that takes ``recurrences`` can be tested after several. One that takes ``offset`` can be tested at
    several `offsets` of Abacus embeddings.

    Cells are `default_cells` by default. A cell has `count` problems, or fewer if it does not have as many different
    ones, as in OR. A batch has at least one problem and at most `batch_tokens` tokens, padding included; batches go
    from the longest problems to the shortest. A model reads one token fewer than a problem has. That number is rounded
    up to multiples of `multiple`, and the last batch is filled up, so that there is one shape for each width. By
    default the multiple is 32 on a GPU, where layers are compiled for each shape, and 1 elsewhere.

    Examples
    --------
    A model that always answers 0:

    >>> import torch
    >>> from bayescaling.training.arithmetic import Addition, evaluate
    >>> def model(tokens):
    ...     return torch.nn.functional.one_hot(torch.full_like(tokens, 4), 22).float()
    >>> counts = evaluate(model, Addition(1), cells=[(1, 1), (2, 2)], count=10)
    >>> int(counts["correct"].sum()), int(counts["total"].sum())
    (0, 20)
    """
    cells = [tuple(cell) for cell in (default_cells(task) if cells is None else cells)]
    device = torch.device(device)
    multiple = multiple or (MULTIPLE if device.type == "cuda" else 1)
    _check(task, cells, count, batch_tokens, multiple)
    axis_values = {"recurrences": recurrences, "offset": offsets}
    axis_values = {name: list(values) for name, values in axis_values.items() if values is not None}
    options = [dict(zip(axis_values, values, strict=True)) for values in itertools.product(*axis_values.values())]
    sizes = [task.cell_size(first, second, count) for first, second in cells]
    counts = torch.zeros(len(options), 2, len(cells), dtype=torch.int64, device=device)
    with judging(model):
        for indices, batch in _batches(task, cells, sizes, seed, device, batch_tokens, multiple):
            for place, option in enumerate(options):
                # Problems that only fill a batch up come last.
                results = _right(model, batch, option, task.tested(batch))
                right, minimum = (answers[: len(indices)] for answers in results)
                counts[place, 0].index_add_(0, indices, right.long())
                counts[place, 1].index_add_(0, indices, minimum.long())
    return _dataset(task, cells, sizes, counts.cpu().numpy(), axis_values)


@torch.no_grad()
def right(model, batch, **options):
    """Check which problems of a batch a model answers exactly right, by one pass: bool, shape (problems,)."""
    with judging(model):
        return _right(model, batch, options, batch.scored)[0]


@torch.no_grad()
def greedy(model, batch, **options):
    """Answer problems token by token, each time with the likeliest one, as a check of the test by one pass.

    The result has questions and answers, padded after their ends: the batch's tokens where the answer is right.
    """
    questions = (~batch.scored & (batch.tokens != PAD)).long()
    # Random padding within a question is part of it.
    lengths = (questions * torch.arange(1, 1 + questions.shape[1], device=questions.device)).amax(1)
    tokens = batch.tokens.clone()
    ended = torch.zeros_like(lengths, dtype=torch.bool)
    with judging(model):
        for place in range(int(lengths.min()), tokens.shape[1]):
            likeliest = model(tokens[:, :place], **options)[:, -1].float().argmax(-1)
            answering = place >= lengths
            answer = likeliest.masked_fill(ended, PAD)
            tokens[:, place] = torch.where(answering, answer, tokens[:, place])
            ended |= answering & (answer == EOS)
            if ended.all():
                tokens[:, place + 1 :] = PAD
                break
    return tokens


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


@contextlib.contextmanager
def judging(model):
    """Put a module into evaluation mode for a block."""
    training = getattr(model, "training", False)
    if training:
        model.eval()
    try:
        yield
    finally:
        if training:
            model.train()


def evaluation_tokens(model, device):
    """Choose how many tokens go through a model at once in evaluation, from the free memory of a device.

    It is a power of two, so that models of one shape are tested in batches of one shape.
    """
    a_token = 4 * (8 * model.d_model + 2 * model.feed_forward + 3 * model.vocabulary)
    most = MOST_TOKENS[device.type == "cuda"]
    tokens = int(max(1, min(most, EVALUATION_SHARE * measure_free_memory(device) / a_token)))
    return 1 << (tokens.bit_length() - 1)


def _right(model, batch, options, tested):
    """Return which problems are right in all tokens that are tested, and in the answer's first label."""
    logits = model(batch.tokens[:, :-1], **options).float()
    wrong = (logits.argmax(-1) != batch.tokens[:, 1:]) & tested[:, 1:]
    return ~wrong.any(1), ~(wrong & first_label(batch.tokens)[:, 1:]).any(1)


def _batches(task, cells, sizes, seed, device, batch_tokens, multiple):
    """Yield batches of problems, from the longest on, with the cells of their problems."""
    lengths = np.array([1 - (1 - task.length(*cell)) // multiple * multiple for cell in cells])
    order = np.argsort(-lengths, kind="stable")
    cell = np.repeat(order, np.asarray(sizes)[order])
    place = np.concatenate([np.arange(sizes[index]) for index in order])
    pairs, start = np.array(cells), 0
    while start < len(cell):
        width = int(lengths[cell[start]])
        rows = max(1, batch_tokens // width)
        part = slice(start, start + rows)
        indices, places = cell[part], place[part]
        real, start = len(indices), start + rows
        if multiple > 1 and real < rows:
            filled = np.arange(rows) % real
            indices, places = indices[filled], places[filled]
        bounds = tuple(pairs[indices].max(0).tolist())
        indices, places, first, second = (
            torch.from_numpy(array).to(device) for array in (indices, places, *pairs[indices].T.copy())
        )
        keys = task.keys(seed, first, second, places)
        batch = task.problems(first, second, keys, places, width=width, bounds=bounds)
        if multiple == 1:
            longest = int((batch.tokens != PAD).sum(1).max())
            batch = type(batch)(*(part[:, :longest] for part in batch))
        yield indices[:real], batch


def _dataset(task, cells, sizes, counts, axis_values):
    counted = (*axis_values, "cell")
    counts = counts.swapaxes(0, 1).reshape(2, *(len(values) for values in axis_values.values()), len(cells))
    problems = {"units": "problems"}
    variables = {
        "correct": (counted, counts[0], problems),
        "total": ("cell", sizes, problems),
        "split": ("cell", regions(task, cells)),
    }
    if task.name == "sorting":
        variables |= {"correct_minimum": (counted, counts[1], problems), "axis": ("cell", axes(task, cells))}
    lengths = {name: ("cell", list(side)) for name, side in zip(CELL[1:], zip(*cells, strict=True), strict=True)}
    return lay_on_grid(xr.Dataset(variables, axis_values | lengths).set_index(cell=CELL[1:]))


def _check(task, cells, count, batch_tokens, multiple):
    if not cells:
        raise InputError("evaluation: there are no cells; give at least one, such as (3, 3)")
    for cell in cells:
        if len(cell) != 2:
            raise InputError(f"evaluation: cell {cell!r} is no pair of lengths; give two whole numbers")
        task.check(*cell)
    if len(set(cells)) < len(cells):
        twice = next(cell for cell in cells if cells.count(cell) > 1)
        raise InputError(f"evaluation: cell {twice} is given twice; give each once")
    for name, value in (("count", count), ("batch_tokens", batch_tokens), ("multiple", multiple)):
        check_value(f"evaluation: {name}", value, Count)

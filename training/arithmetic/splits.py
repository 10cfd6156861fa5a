"""Regions of cells, in and out of the training distribution, and the cells that each task is judged on.

[Mc24] is McLeish et al. 2024, "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399.
"""

import numpy as np

# In distribution, out of it, and out of it with more digits than this.
ID, OOD, OOD100, HUNDRED = "id", "ood", "ood100", 100
# Side of the square of cells and end of its diagonal, by task ([Mc24] section 4).
GRIDS = {"multiplication": (25, 25), "sorting": (30, 30), "or": (100, 100)}
GRID = (100, 160)


def default_cells(task):
    """List the cells that a task is judged on ([Mc24] section 4).

    Parameters
    ----------
    task : Task

    Returns
    -------
    tuple of (int, int)
        All lengths to 100 and then equal lengths to 160; for multiplication to 25; for sorting to 30 numbers and 30
        digits; for OR to 100.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import Addition, default_cells
    >>> len(default_cells(Addition(20)))
    10060
    """
    side, end = GRIDS.get(task.name, GRID)
    square = [(first, second) for first in range(1, side + 1) for second in range(1, side + 1)]
    return tuple(square + [(length, length) for length in range(side + 1, end + 1)])


def regions(task, cells, train_digits=None):
    """Find the region of each cell.

    Parameters
    ----------
    task : Task
    cells : sequence of (int, int)
    train_digits : int, optional
        Most digits of an operand in training, the task's by default.

    Returns
    -------
    numpy.ndarray
        Text, shape (cells,): ``"id"`` if no length is above those trained on, ``"ood100"`` if one is and one is above
        100, ``"ood"`` otherwise.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import Addition, regions
    >>> regions(Addition(20), [(20, 20), (21, 3), (101, 101)]).tolist()
    ['id', 'ood', 'ood100']
    """
    above = _above(task, cells, train_digits).any(1)
    hundred = (np.reshape(cells, (-1, 2)) > HUNDRED).any(1)
    return np.where(above, np.where(hundred, OOD100, OOD), ID)


def axes(task, cells, train_digits=None):
    """Find the lengths in which each cell of sorting is out of distribution.

    Parameters
    ----------
    task, cells, train_digits
        As `regions` takes them.

    Returns
    -------
    numpy.ndarray
        Text, shape (cells,): ``"numbers"``, how many there are; ``"digits"``; ``"both"``; or nothing.
    """
    numbers, digits = _above(task, cells, train_digits).T
    return np.select([numbers & digits, numbers, digits], ["both", "numbers", "digits"], "")


def _above(task, cells, train_digits):
    digits = task.largest if train_digits is None else train_digits
    limits = (task.numbers, digits) if task.name == "sorting" else (digits, digits)
    return np.reshape(cells, (-1, 2)) > limits

"""Cells of problems on which models are judged."""

from ...errors import InputError
from ..engine.fields import Count, Whole
from ..sweeps.keys import Key, checked

# As McLeish et al. (2024, arXiv:2405.17399, section 4) judge addition.
CELLS = {
    "longest": Key(Count, 100, "Models are judged on all pairs of lengths from 1 to it."),
    "every": Key(Count, 1, "Only on its multiples."),
    "diagonal": Key(bool, False, "Only on pairs of equal lengths."),
    "diagonal_to": Key(Whole, 160, "And on pairs of equal lengths above longest and up to it; 0 for none."),
}
MOST = 100_000  # cells


def cells_of(table):
    """List the cells of an evaluation.

    Parameters
    ----------
    table : mapping
        Keys as `CELLS` has them.

    Returns
    -------
    tuple of (int, int)

    Raises
    ------
    InputError
        If a value cannot be used.
    """
    checked("evaluation", {name: table[name] for name in CELLS if name in table}, CELLS)
    longest, every, diagonal, last = (table.get(name, key.usual) for name, key in CELLS.items())
    lengths = range(every, longest + 1, every)
    if not lengths:
        raise InputError(f"evaluation: every is {every} and longest {longest}; give a longest of at least as much")
    cells = len(lengths) ** (1 if diagonal else 2) + max(0, last - longest)
    if cells > MOST:
        raise InputError(
            f"evaluation: longest {longest}, every {every} and diagonal_to {last} make {cells:,} cells; give smaller "
            f"lengths or a larger every, for at most {MOST:,}"
        )
    grid = [(a, b) for a in lengths for b in lengths if a == b or not diagonal]
    return tuple(grid + [(a, a) for a in range(longest + 1, last + 1)])

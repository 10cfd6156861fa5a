"""Cells of problems on which models are judged."""

from ...errors import InputError
from ..engine.checks import check_flag, check_whole

# As McLeish et al. (2024, arXiv:2405.17399, section 4) judge addition.
LONGEST, DIAGONAL_TO = 100, 160
MOST = 100_000  # cells


def cells_of(table):
    """List the cells of an evaluation.

    Parameters
    ----------
    table : mapping
        ``longest`` (100): all pairs of lengths from 1 to it; with ``every`` only its multiples; with ``diagonal`` only
        pairs of equal lengths. ``diagonal_to`` (160): pairs of equal lengths above `longest` and up to it; 0 for none.

    Returns
    -------
    tuple of (int, int)

    Raises
    ------
    InputError
        If a value cannot be used.
    """
    longest, every, last = (
        table.get(name, default) for name, default in (("longest", LONGEST), ("every", 1), ("diagonal_to", DIAGONAL_TO))
    )
    for name, value, least in (("longest", longest, 1), ("every", every, 1), ("diagonal_to", last, 0)):
        check_whole(f"evaluation: {name}", value, least)
    diagonal = table.get("diagonal", False)
    check_flag("evaluation: diagonal", diagonal)
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

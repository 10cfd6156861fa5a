"""Which way a quantity moves with each size at equal others: a law that only falls does not describe one that rises."""

import math

import numpy as np

from ...datasets.deferred import stats as st
from ...datasets.units import read_as
from ...datasets.wording import listed, p_value
from ...errors import InputError
from .budget import SIZES

FALLS_IN = (*SIZES, "tokens", "training_flop")
RISING, LIKELY = 0.5, 0.01  # rank correlation and its p, from which on a quantity rises; our choice
FLAT = 0.1  # p of a fall, above which rows show none
APART = 1e-6  # share of the variance of ranks that other columns must leave


def partial_rank_correlation(rows, column, others, observed):
    """Compute the rank correlation of what is observed with a column at fixed others, and p of a rise and of a fall.

    Ranks of both are regressed on the ranks of the other columns; the residuals are correlated. The probabilities are
    those of Student's t, and not below that of one order of so many rows.

    Returns
    -------
    tuple of float, or None
        None where the others determine the column.
    """
    x, y = (rows[name].rank().to_numpy() for name in (column, observed))
    design = np.column_stack([np.ones(len(rows)), *(rows[name].rank() for name in others)])
    q, _ = np.linalg.qr(design)
    residuals = [z - q @ (q.T @ z) for z in (x, y)]
    free = len(rows) - design.shape[1] - 1
    sizes = [np.linalg.norm(z) for z in residuals]
    if free < 1 or any(size**2 <= APART * len(rows) * z.var() for size, z in zip(sizes, (x, y), strict=True)):
        return None
    r = float(np.clip(residuals[0] @ residuals[1] / np.prod(sizes), -1, 1))
    t = r * math.sqrt(free / max(1 - r * r, np.finfo(float).tiny))
    least = 1 / math.factorial(min(len(rows), 20))
    return r, max(float(st.t.sf(t, free)), least), max(float(st.t.cdf(t, free)), least)


def directions(law, rows):
    """Return the partial rank correlations of the columns in which a law falls, by column, those that rows have."""
    columns = [name for name in law.columns if name in FALLS_IN]
    found = {x: partial_rank_correlation(rows, x, [y for y in columns if y != x], law.observed) for x in columns}
    return {column: result for column, result in found.items() if result is not None}


def check_falls(law, rows, place):
    """Refuse a quantity that rises with a size at equal others, with the laws that describe one.

    Raises
    ------
    InputError
    """
    for column, (r, p, _) in law.tests.directions(rows).items():
        if r > RISING and p < LIKELY:
            raise InputError(
                f"{place}: {_moves(law, column, 'rises')} (rank correlation {r:.2f}, {p_value(p)}), and the {law.name} "
                f"law only falls; {_fix(law, rows, column, place)}"
            )


def flat(law, rows):
    """Return a sentence for each size with which what is observed does not fall in the rows, at equal others."""
    return [
        f"{_moves(law, column, 'does not fall')} in these rows (rank correlation {r:.2f}, {p_value(p)}): they tell "
        "little of its exponent, which the prior decides"
        for column, (r, _, p) in law.tests.directions(rows).items()
        if p > FLAT
    ]


def _moves(law, column, verb):
    others = [name for name in law.columns if name in FALLS_IN and name != column]
    return f"the {law.observed} {verb} with {column}{f' at equal {listed(others)}' if others else ''}"


def _fix(law, rows, column, place):
    """Return how to fit a quantity that rises: a score as its error rate, anything else by a power law."""
    header, factor = read_as(rows, "loss")
    most = rows["loss"].max() / factor
    size = {"parameters_nonembedding": "parameters", "training_flop": "compute"}.get(column, column)
    start = f'--data "{place}" --column loss='
    power = f"power-{size} {start}{header} --unit loss=other --option floor=false"
    score = f'{law.name} {start}"1-{header}{"/100" if most > 1 else ""}" --unit loss=other'
    if most > 100 or " " in str(header):
        return f"fit a power law that may rise: bayescaling fit {power}"
    return f"a score is turned into an error rate: bayescaling fit {score}; else bayescaling fit {power}"

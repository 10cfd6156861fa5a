"""Sizes and losses that no run of a language model can have, which tell of another unit."""

import numpy as np

from ...errors import InputError
from ..columns import choice
from ..wording import quoted
from .faults import place

LEAST = 1000  # parameters or tokens
LOSSES = (0.01, 50)  # nats per token
USUAL = 20  # tokens a parameter
FEWEST = 0.01  # tokens a parameter: the least of Kaplan et al. (2020) is 0.03, of 22 million tokens
UNITS = (1e6, 1e9, 1e12)
OF_COMPUTE = (1e12, 1e15, 1e18, 1e21, 1e24)
PETAFLOP_DAY = 8.64e19


# Sizes may be as small or large as doubles are, and what they suggest is only a mend.
@np.errstate(all="ignore")
def check_possible(runs, names, label, *, sure=()):
    """Refuse a table some of whose sizes or losses cannot be, with the likely mend.

    Parameters
    ----------
    runs : pandas.DataFrame
        Finite positive ``parameters``, ``tokens``, ``training_flop`` and ``loss``.
    names : mapping of str to object
        Canonical name to the name of the column in the table, of those that were not derived.
    label : str
        Name of the table in messages.
    sure : sequence of str
        Columns whose unit the user gave, whatever they hold.

    Raises
    ------
    InputError
    """
    names = {name: column for name, column in names.items() if name not in sure}
    n, d, c = (runs[name] for name in ("parameters", "tokens", "training_flop"))
    guess = 1.0
    if n.median() < LEAST:
        usual = d.median() / USUAL if "tokens" in names else np.sqrt(c.median() / (6 * USUAL))
        guess = _nearest(n.median(), UNITS, usual) if usual > LEAST else 1e9
    if "parameters" in names:
        _refuse(n < LEAST, "parameters", "fewer than 1,000 parameters", _unit("parameters", guess), runs, names, label)
    if "tokens" in names:
        ratio = d.median() / (n.median() * guess)
        mend = _unit("tokens", _nearest(ratio, UNITS, USUAL))
        _refuse(d < LEAST, "tokens", "fewer than 1,000 tokens", mend, runs, names, label)
        # Of a table of tokens some row has more.
        few = (d / n < FEWEST) & ((d / n).max() < FEWEST)
        mend = (
            'if they are steps, give the tokens of one as unit={"tokens": 5e5} (--unit tokens=5e5); if right, tokens=1'
        )
        said = f"at most {(d / n).max():.2g} tokens per parameter in any row"
        _refuse(few, "tokens", said, mend, runs, names, label)
    elif "training_flop" in names and "tokens" not in sure:
        mend = _unit("training_flop", _nearest(c.median(), OF_COMPUTE, 6 * USUAL * n.median() ** 2))
        _refuse(d < LEAST, "training_flop", "which leaves fewer than 1,000 tokens by C = 6ND", mend, runs, names, label)
    if "parameters" not in (*names, *sure) and "training_flop" in names:
        mend = _unit("training_flop", _nearest(c.median(), OF_COMPUTE, 6 * d.median() ** 2 / USUAL))
        said = "which leaves fewer than 1,000 parameters by C = 6ND"
        _refuse(n < LEAST, "training_flop", said, mend, runs, names, label)
    if "loss" not in names:
        return
    low, high = LOSSES
    mend = (
        f"if it is a perplexity, say so with {choice('perplexity', names['loss'])} and perplexity=True (--perplexity)"
    )
    _refuse(runs["loss"] > high, "loss", "more than 50 nats per token", mend, runs, names, label)
    mend = f"if another column holds the loss, name it with {choice('loss', 'NAME')}, or delete such rows"
    _refuse(runs["loss"] < low, "loss", "less than 0.01 nats per token", mend, runs, names, label)


@np.errstate(all="ignore")
def compute_unit(ratio):
    """Say in which unit FLOP may be given, if they are `ratio` times what C = 6ND says; nothing if in none."""
    nearest = _nearest(ratio, (*OF_COMPUTE, PETAFLOP_DAY), 1)
    return _unit("training_flop", nearest) if abs(np.log(ratio * nearest)) < 0.5 else ""


def _nearest(value, units, usual):
    return min(units, key=lambda unit: abs(np.log(value * unit / usual)))


def _unit(name, unit):
    text = f"{unit:.3g}".replace("e+0", "e").replace("e+", "e")
    return (
        f'if it is in units of {text}, give unit={{"{name}": {text}}} (--unit {name}={text}); if it is right, {name}=1'
    )


def _refuse(wrong, canonical, fault, mend, runs, names, label):
    if wrong.any():
        row = wrong.idxmax()
        others = f", as are {wrong.sum() - 1} more" if wrong.sum() > 1 else ""
        raise InputError(
            f"{label}, {place(runs, row)}, column {quoted(names[canonical])}: found {quoted(runs.at[row, canonical])}, "
            f"{fault}{others}; {mend}"
        )

"""What several figures need: fits by name, intervals at a level, and the loss of planned models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle

import xarray as xr

from ..datasets.wording import quoted
from ..errors import InputError
from ..inference.checks.verdict import FITS
from ..inference.estimands.allocate import positive_numbers
from ..inference.intervals import check_level as check_level
from ..inference.intervals import finite, quantiles
from ..inference.needs import of_kind
from ..inference.standing import known_check
from ..inference.words import HIGH, LOW, MIDDLE
from ..models.draws import DRAWS
from .style import SERIES


def named_fits(fits, kind):
    """Return fits of one kind by name, a dict.

    Parameters
    ----------
    fits : Fit, sequence of Fit, or mapping of str to Fit
        A fit without a name is called by the label of its law.
    kind : str
        The kind of law that is needed, a key of `datasets.KINDS`.

    Raises
    ------
    InputError
        If there is none, one is of another kind, or two have one name.
    """
    if isinstance(fits, Mapping):
        pairs = [(str(name), of_kind(fit, kind)) for name, fit in fits.items()]
    else:
        several = fits if isinstance(fits, Sequence) else [fits]
        pairs = [(of_kind(fit, kind).law.label, fit) for fit in several]
    names = [name for name, _ in pairs]
    if not names:
        raise InputError("no fit is given; pass a fit, or a dict of fits by name")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two fits are called {quoted(twice)}; pass a dict that gives each another name")
    return dict(pairs)


def with_looks(names):
    """Return pairs of a name and its look."""
    return list(zip(names, cycle(SERIES)))


def ends(draws, level):
    """Return the low end, median and high end of the central interval of draws.

    Parameters
    ----------
    draws : DataArray, dims (chain, draw, ...), or ndarray, shape (sample, ...)
    level : float

    Returns
    -------
    ndarray, shape (3, ...)
    """
    if isinstance(draws, xr.DataArray):
        values = draws.transpose(*DRAWS, ...).values
        draws = values.reshape(-1, *values.shape[2:])
    return quantiles(draws, [(1 - level) / 2, 0.5, (1 + level) / 2])


def in_words(three, form):
    """Write a median with its interval: ``form`` takes a dict as `inference.words` does.

    Examples
    --------
    >>> from bayescaling.inference.words import sizes
    >>> in_words([1e9, 2e9, 3e9], sizes)
    '2B [1B, 3B]'
    """
    return form({name: finite(x) for name, x in zip((LOW, MIDDLE, HIGH), three, strict=True)})


def with_rejected(picture, fits):
    """Return a picture whose title names the laws that the rows reject, as far as their check is known or quick.

    Parameters
    ----------
    picture : Picture
    fits : Fit, or dict of str to Fit
    """
    named = fits if isinstance(fits, Mapping) else {"": fits}
    rejected = [name for name, fit in named.items() if (known_check(fit) or {}).get("verdict", FITS) != FITS]
    if not rejected:
        return picture
    every = "the law" if len(named) == 1 else "every law"
    which = every if len(rejected) == len(named) else f"the law of {' and '.join(map(quoted, rejected))}"
    return replace(picture, title=f"{picture.title}; the rows reject {which}")


def percent(level):
    """Write a level: 95%."""
    return f"{100 * level:g}%"


def budgets_of(compute, name="compute", unit="FLOP"):
    """Return budgets, or sizes, as an array of one axis, refusing what is no positive number.

    Raises
    ------
    InputError
    """
    return positive_numbers(compute, f"{name} must be positive {unit}")


def one_budget(compute):
    """Return one budget as a float.

    Raises
    ------
    InputError
    """
    budgets = budgets_of(compute)
    if len(budgets) > 1:
        raise InputError(f"compute must be one budget in FLOP, not {len(budgets)}")
    return float(budgets[0])

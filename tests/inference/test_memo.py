import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference import draws_of
from bayescaling.inference.memo import Memo
from bayescaling.inference.quantities.misfit import loo_pit


def counted():
    """Make a function that gives ten numbers, and a list of its calls."""
    calls = []

    def function(*arguments):
        calls.append(arguments)
        return (np.full(10, float(len(calls))),)

    return function, calls


def test_what_has_the_same_content_is_found_once():
    memo, (function, calls), x = Memo(), counted(), np.arange(6.0)
    first = memo.found(function, x)
    assert memo.found(function, x.copy()) is first
    assert len(calls) == 1
    for other in (x.reshape(2, 3), x.astype(int), x + 1e-12):
        memo.found(function, other)
    assert len(calls) == 4


def test_what_was_found_cannot_be_written_to():
    (found,) = Memo().found(counted()[0], np.zeros(1))
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_what_was_used_longest_ago_goes_first():
    memo, (function, calls) = Memo(2 * 80), counted()
    one, two, three = (np.full(1, x) for x in (1.0, 2.0, 3.0))
    memo.found(function, one)
    memo.found(function, two)
    memo.found(function, one)
    memo.found(function, three)
    assert len(calls) == 3
    memo.found(function, one)
    assert len(calls) == 3
    memo.found(function, two)
    assert len(calls) == 4


def test_draws_stand_for_their_law_rows_and_coordinates(fit_default, fit_normal):
    memo, (function, calls), draws = Memo(), counted(), draws_of(fit_default)
    memo.found(function, draws)
    memo.found(function, draws_of(fit_default))
    assert len(calls) == 1
    moved = draws.from_real_line(draws.real_line() + 1e-9)
    others = (
        draws_of(fit_normal),
        moved,
        type(draws)(draws.law, draws.reference, draws.rows.iloc[:-1], fit_default["posterior"].to_dataset()),
    )
    for other in others:
        memo.found(function, other)
    assert len(calls) == 1 + len(others)


def test_another_fit_has_other_pit_values_and_each_its_own_again(fit_default, fit_normal):
    first, other, again = loo_pit(fit_default), loo_pit(fit_normal), loo_pit(fit_default)
    assert (first == again).all() and (first != other).all()
    assert bs.misfit(fit_default).loc["loo_pit", "p"] != bs.misfit(fit_normal).loc["loo_pit", "p"]

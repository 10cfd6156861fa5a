import pytest
from bayescaling.inference.words import budgets, digits, durations, ratios, sizes, yearly


@pytest.mark.parametrize(
    ("q", "text"),
    [
        ((3.1, 4.4, 7.9), "4.4 [3.1, 7.9] times a year"),
        ((10.0, 40.0, 100.0), "40 [10, 100] times a year"),
        ((0.3, 0.5, 0.9), "0.5 [0.3, 0.9] times a year"),
        ((1.6, 3.9, 16.1), "a few to tens of times a year"),
        ((49.0, 184.0, 1040.0), "tens to thousands of times a year"),
        ((1.2e3, 9e3, 9e5), "thousands of times a year"),
        ((2e3, 9e3, 5e8), "thousands to millions of times a year"),
        ((0.4, 3.9, 12.1), "no fall to tens of times a year"),
        ((0.01, 0.2, 0.9), "no fall"),
        ((12.0, 50.0, None), "tens of times a year or more"),
        ((0.5, 50.0, None), "no fall or any factor"),
    ],
)
def test_a_factor_that_spans_more_than_ten_times_is_written_in_words(q, text):
    assert yearly(dict(zip(("q2.5", "q50", "q97.5"), q, strict=True))) == text


@pytest.mark.parametrize(
    ("write", "q", "text"),
    [
        (sizes, (78.2e9, 99.4e9, None), "99B [78B, never]"),
        (ratios, (10.84, 209.1, 4126.0), "209 [10.8, 4.13k]"),
        (digits, (6.41, 7.2, None), "7.2 [6.4, ∞]"),
        (digits, (83.4, 98.6, 115.0), "98.6 [83.4, 115]"),
        (durations, (0.4, 42.3, 663.0), "42 min [24 s, 11 h]"),
        (budgets, (3.2e21, 1e24, None), "1e24 [3.2e21, never]"),
    ],
)
def test_an_interval_is_written_in_the_units_of_a_reader(write, q, text):
    assert write(dict(zip(("q2.5", "q50", "q97.5"), q, strict=True))) == text

import re
from pathlib import Path

import numpy as np
import pytest
from bayescaling.datasets.wording import LEAST_P, p_value, plural
from bayescaling.inference.words import digits, factor, months, plain

ROOT = Path(__file__).resolve().parents[2]
# A number formatted after a bare p: a p value that does not come from `p_value`.
BY_HAND = re.compile(r"\bp (?:= )?\{[^{}]*:\.\d[ge]\}|\{[^{}]*\[.p.\]:\.\d[fge]\}")
NONE = dict.fromkeys(("q2.5", "q50", "q97.5"))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "p = 1"),
        (0.4681, "p = 0.47"),
        (0.0468, "p = 0.047"),
        (0.00642, "p = 0.006"),
        (0.00012, "p = 1e-4"),
        (4.2e-6, "p = 4e-6"),
        (3e-12, "p = 3e-12"),
        (LEAST_P, "p = 1e-16"),
        (9e-17, "p < 1e-16"),
        (0.0, "p < 1e-16"),
    ],
)
def test_a_p_value_is_written_in_one_way(p, text):
    assert p_value(p) == text
    assert p_value(p, "") == text.removeprefix("p = ").removeprefix("p ")


@pytest.mark.parametrize("p", [10 ** (-k / 7) for k in range(1, 112)])
def test_a_written_p_value_is_within_half_a_unit_of_its_last_digit(p):
    assert abs(float(p_value(p, "")) - p) <= 0.5001 * 10.0 ** (np.floor(np.log10(p)) - (1 if p >= 0.01 else 0))


def test_no_p_value_is_formatted_elsewhere():
    files = [p for folder in ("inference", "reports", "docs") for p in (ROOT / folder).rglob("*.py")]
    files += [*ROOT.glob("*.py")]
    assert len(files) > 100
    for path in files:
        assert not BY_HAND.findall(path.read_text(encoding="utf-8")), path


def test_one_is_singular_and_every_other_count_plural():
    assert plural(1, "warning") == "1 warning"
    assert plural(0, "warning") == "0 warnings"
    assert plural(12345, "row was", "rows were") == "12,345 rows were"


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (months, "never (probability above 0.975)"),
        (factor, "never (probability above 0.975)"),
        (digits, "∞"),
        (plain, "–"),
    ],
)
def test_an_interval_with_no_finite_end_is_written_in_words(write, text):
    assert write(NONE) == text
    finite = {"q2.5": 1.0, "q50": 2.0, "q97.5": 3.0}
    assert re.fullmatch(r"2\S* \[1\S*, 3\S*\]", write(finite))
    # One finite end is still informative.
    assert "[" in write(NONE | {"q97.5": 3.0}) or write is plain

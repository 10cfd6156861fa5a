import re

import bayescaling as bs
import pytest
from bayescaling.inference.storage import with_metadata


@pytest.fixture(scope="module")
def found(fit_default):
    return bs.summary(fit_default)


def test_the_sentence_to_quote_has_the_interval_of_the_exponent(fit_default, found):
    draws = bs.robust(fit_default, fit_default["posterior"]["exponent_parameters"])
    low, middle, high = draws.quantile([0.025, 0.5, 0.975]).values
    (said,) = found.quote
    assert f"{middle:.3f} [{low:.3f}, {high:.3f}]" in said
    assert "245 rows of chinchilla_runs" in said and "robust, since the rows reject the law" in said


def test_text_and_html_say_the_same(found):
    text, html = str(found), found._repr_html_()
    for line in (found.title, found.chains):
        assert line in text and line in html
    numbers = re.findall(r"<td>([^<]*)</td>", html)
    assert numbers == found.shown().to_numpy().ravel().tolist()
    assert set(numbers) <= set(text.split())


def test_nothing_is_quoted_of_chains_that_did_not_converge(fit_default):
    record = bs.diagnose(fit_default) | {"ok": False, "warnings": ["r_hat reaches 1.2"]}
    spoilt = fit_default.copy()
    spoilt.attrs = dict(fit_default.attrs)
    whole = bs.inference.metadata(fit_default) | {"diagnostics": record}
    found = bs.summary(with_metadata(spoilt, whole))
    assert not found.ok and found.quote == () and "Nothing here is to be quoted." in str(found)
    assert "NOT TO BE TRUSTED" in found._repr_html_()

import re

import pytest
from bayescaling.datasets.printed import as_sentence
from bayescaling.inference.fitted import changed_fit


@pytest.fixture(scope="module")
def summary(fit_default):
    return fit_default.summary()


def test_the_sentence_to_quote_has_the_interval_of_the_exponent(fit_default, summary):
    draws = fit_default.robust(fit_default["posterior"]["exponent_parameters"])
    low, middle, high = draws.quantile([0.025, 0.5, 0.975]).values
    (sentence,) = summary.quote
    assert f"{middle:.3f} [{low:.3f}, {high:.3f}]" in sentence
    assert "245 rows of chinchilla_runs" in sentence and "robust, since the rows reject the law" in sentence


def test_text_and_html_say_the_same(summary):
    text, html = " ".join(str(summary).split()), summary._repr_html_()
    for line in (summary.title, as_sentence(summary.chains)):
        assert line in text and line in html
    numbers = re.findall(r"<td>([^<]*)</td>", html)
    assert numbers == summary.text().table.to_numpy().ravel().tolist()
    assert set(numbers) <= set(text.split())


def test_nothing_is_quoted_of_chains_that_did_not_converge(fit_default):
    record = fit_default.diagnostics | {"ok": False, "warnings": ["r_hat reaches 1.2"]}
    summary = changed_fit(fit_default, {}, fit_default.record | {"diagnostics": record}).summary()
    assert not summary.ok and summary.quote == () and "Nothing here is to be quoted." in str(summary)
    assert "Did not converge" in summary._repr_html_()

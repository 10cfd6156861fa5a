import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.comparison.differences import differences, p_worse, sentence
from scipy.stats import norm


def pointwise(units, gaps, *, spread=0.2, seed=0):
    """Log densities of a best fit and of others that lie below it by `gaps` in sum."""
    random = np.random.default_rng(seed)
    base = random.normal(-1, 1, units)
    columns = {"best": base}
    for name, gap in gaps.items():
        noise = random.normal(0, spread, units)
        columns[name] = base - gap / units + noise - noise.mean()
    return pd.DataFrame(columns)


def compared(units, gaps, high_k=None, **options):
    table = differences(pointwise(units, gaps, **options), high_k)
    return table.sort_values("elpd_diff", ascending=False)


def test_differences_are_those_by_hand():
    values = pd.DataFrame({"a": [-1.0, -2.0, -3.0, -1.0], "b": [-2.0, -4.0, -3.0, -4.0]})
    table = differences(values)
    apart = np.array([-1.0, -2.0, 0.0, -3.0])
    error = 2 * np.sqrt(((apart + 1.5) ** 2).sum() / 3)
    assert table.loc["b", "elpd_diff"] == -6
    assert table.loc["b", "dse"] == pytest.approx(error)
    assert table.loc["b", "p_worse"] == pytest.approx(norm.cdf(6 / error))
    assert table.loc["a", ["elpd_diff", "dse"]].tolist() == [0, 0]
    assert np.isnan(table.loc["a", "p_worse"])


def test_p_worse_is_that_of_stans_loo():
    # R: `pnorm(0, c(-2.5, -0.1, -32, 0), c(1.3, 1.3, 0, 0))`, NA where there is no difference.
    probabilities = p_worse([-2.5, -0.1, -32.0, 0.0], [1.3, 1.3, 0.0, 0.0])
    np.testing.assert_allclose(probabilities, [0.9727648, 0.5306571, 1.0, np.nan], rtol=1e-6)


@pytest.mark.parametrize(
    ("units", "gap", "high_k", "flags"),
    [
        (245, 20.0, {}, ("", "")),
        (99, 20.0, {}, ("", "n<100")),
        (100, 3.9, {}, ("", "diff<4")),
        (60, 1.0, {}, ("", "n<100, diff<4")),
        (245, 20.0, {"other": 2}, ("", "k>0.7")),
        (245, 20.0, {"best": 1}, ("k>0.7", "k>0.7")),
    ],
)
def test_flags_say_why_the_normal_approximation_may_mislead(units, gap, high_k, flags):
    assert tuple(compared(units, {"other": gap}, high_k)["flags"]) == flags


def test_the_sentence_names_the_difference_and_how_likely_it_is_wrong():
    table = pd.DataFrame(
        {"elpd_diff": [0.0, -26.9, -60.0], "dse": [0.0, 7.1, 9.0], "flags": ["", "", ""]},
        index=["coupled", "chinchilla", "kaplan"],
    )
    assert sentence(table, left_out="runs") == (
        "coupled predicts left-out runs better than chinchilla by 26.9 nats (standard error 7.1); probability that it "
        "is worse 7.6e-5"
    )
    assert norm.cdf(-26.9 / 7.1) == pytest.approx(7.6e-5, rel=0.01)
    table.loc["chinchilla", "dse"] = 1.0
    assert sentence(table, left_out="runs").endswith("probability that it is worse below 1e-6")


def test_the_sentence_tells_apart_no_fits_that_differ_by_little():
    text = sentence(compared(245, {"near": 1.2, "nearer": 0.5, "far": 30.0}), left_out="runs")
    assert text.startswith("Predictions of left-out runs do not distinguish best from nearer and near")
    assert "at most 1.2 nats" in text and "probability" not in text
    alone = sentence(compared(60, {"near": 1.2}), left_out="evaluations", named="specification {}".format)
    assert alone.startswith("Predictions of left-out evaluations do not distinguish specification best from")
    assert "With fewer than 100 evaluations the standard error may be half of what it should be" in alone
    doubted = sentence(compared(245, {"far": 30.0}, {"far": 3}), left_out="runs")
    assert doubted.endswith("Pareto k is above 0.7 at some runs, and the difference may be wrong")

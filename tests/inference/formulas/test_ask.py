import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.quoted import quote_draws

N = np.exp(np.linspace(np.log(1e6), np.log(1e9), 16))


@pytest.fixture(scope="module")
def fit():
    rng, parts = np.random.default_rng(0), []
    for group, (a, exponent) in {"old": (60, 0.25), "new": (90, 0.28)}.items():
        y = (1.8 + a * N**-exponent) * np.exp(0.004 * rng.standard_normal(len(N)))
        parts.append(pd.DataFrame({"n": N, "loss": y, "kind": group}))
    return bs.fit("loss ~ E + A[kind] * n**-a[kind]", pd.concat(parts, ignore_index=True), draws=500, tune=500)


def medians(fit, *names):
    return [fit["posterior"][name] for name in names]


def test_a_function_of_constants_is_of_the_draws(fit):
    a = fit["posterior"]["a"]
    difference = a.sel(kind="new") - a.sel(kind="old")
    row = fit.ask("a[new] - a[old]").iloc[0]
    assert row[["q2.5", "q50", "q97.5"]].tolist() == pytest.approx(difference.quantile([0.025, 0.5, 0.975]).values)
    assert row["p"] == pytest.approx(float((difference > 0).mean()))
    assert fit.ask("a[new] > a[old]")["p"].iloc[0] == row["p"]


def test_a_place_is_where_the_value_is(fit):
    place = fit.ask("n where loss = 2.2 at kind = new").iloc[0]
    assert place["never"] == 0
    posterior = fit["posterior"]
    e, a, exponent = posterior["E"], posterior["A"].sel(kind="new"), posterior["a"].sel(kind="new")
    closed = ((2.2 - e) / a) ** (-1 / exponent)
    assert place["q50"] == pytest.approx(float(closed.median()), rel=1e-6)


def test_curves_cross_where_both_have_one_value(fit):
    crossing = fit.ask("n where loss[new] = loss[old]").iloc[0]
    posterior = fit["posterior"]
    a, exponent = posterior["A"], posterior["a"]
    closed = (a.sel(kind="new") / a.sel(kind="old")) ** (1 / (exponent.sel(kind="new") - exponent.sel(kind="old")))
    assert crossing["q50"] == pytest.approx(float(closed.median()), rel=1e-3)


def test_a_value_has_the_interval_of_every_surface_where_the_rows_reject_the_form():
    y = 3 * N**-0.05 * (1 + (N / 3e7) ** 5) ** -0.1 * np.exp(0.01 * np.random.default_rng(4).standard_normal(len(N)))
    wrong = bs.fit("y ~ E + A * n**-a", pd.DataFrame({"n": N, "y": y}), draws=500, tune=500)
    assert wrong.check()["verdict"] != "fits"
    at = wrong.rows.head(1).assign(n=1e10)
    mean = quote_draws(wrong, wrong.draws.mean(at)).quantile([0.025, 0.5, 0.975]).values
    asked = wrong.ask("y at n = 1e10")[["q2.5", "q50", "q97.5"]].iloc[0].tolist()
    assert asked == pytest.approx(mean, rel=1e-9)
    drawn = bs.plot_fit(wrong).table.dropna(subset=["low", "high"]).iloc[-1]
    assert drawn[["low", "high"]].tolist() == pytest.approx([asked[0], asked[2]], rel=1e-6)
    summary = wrong.summary().table.loc["a", ["q2.5", "q50", "q97.5"]].tolist()
    assert wrong.ask("a")[["q2.5", "q50", "q97.5"]].iloc[0].tolist() == pytest.approx(summary)


def test_how_far_beyond_the_rows_an_answer_lies_is_said_on_both_sides(fit):
    times = fit.ask("loss at n = 1e11, kind = new", "loss at n = 1e5, kind = new", "loss at n = 1e7, kind = new")[
        "times"
    ]
    assert times.iloc[:2].tolist() == pytest.approx([100, 0.1])
    assert np.isnan(times.iloc[2])


def test_the_best_on_a_budget_is_the_closed_form():
    rng = np.random.default_rng(1)
    n, d = np.exp(rng.uniform(np.log(1e8), np.log(1e10), 40)), np.exp(rng.uniform(np.log(1e9), np.log(1e11), 40))
    loss = (1.8 + 480 * n**-0.35 + 2000 * d**-0.37) * np.exp(0.002 * rng.standard_normal(40))
    fit = bs.fit("loss ~ E + A*n**-a + B*d**-b", pd.DataFrame({"n": n, "d": d, "loss": loss}), draws=500, tune=500)
    best = fit.ask("best n, d for 6*n*d = 1e22")["q50"].tolist()
    posterior = fit["posterior"]
    a, b, ratio = posterior["a"], posterior["b"], posterior["a"] * posterior["A"] / posterior["b"] / posterior["B"]
    closed = (ratio * (1e22 / 6) ** b) ** (1 / (a + b))
    assert best[0] == pytest.approx(float(closed.median()), rel=1e-4)
    assert best[0] * best[1] == pytest.approx(1e22 / 6, rel=0.1)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("m where loss = 2", '"m" is no column on the right of ~'),
        ("loss at m = 2", '"m" is no column of the formula'),
        ("loss at n = 1e9", "the group of (E|A|a) is missing; write"),
        ("loss at kind = new", 'the value of "n" is missing'),
        ("a[newer] - a[old]", '"newer" is no group of a; did you mean "new"'),
        ("a[new] = 2", "'=' has no meaning here; write x where y"),
        ("loss at", "after 'at' the name of a column is missing"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_in_a_line(fit, question, words):
    with pytest.raises(bs.InputError, match=words) as error:
        fit.ask(question)
    assert len(str(error.value).splitlines()) == 1

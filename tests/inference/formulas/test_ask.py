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


def test_a_complement_is_no_difference_of_which_a_direction_is_claimed(fit):
    complement, at_least = fit.ask("1 - a[new]"), fit.ask("0.2 < a[new]")
    a = fit["posterior"]["a"].sel(kind="new")
    assert "p" not in complement and complement["q50"].iloc[0] == pytest.approx(1 - float(a.median()))
    assert at_least["p"].iloc[0] == float((a > 0.2).mean())


def test_a_square_of_what_is_negative_and_a_floor_of_a_column_are_answered_as_the_law_has_them():
    x = np.r_[0.0, 0.0, np.linspace(0.02, 0.6, 18)]
    logs = np.log(np.maximum(x, 1e-3))
    y = 2 - 0.2 * logs + 0.03 * logs**2 + 0.003 * np.random.default_rng(0).standard_normal(len(x))
    quadratic = "y ~ a + b * log(max(x, 1e-3)) + c * log(max(x, 1e-3))**2"
    fit = bs.fit(quadratic, pd.DataFrame({"x": x, "y": y}), draws=500, tune=500)
    for at, log in ((0, np.log(1e-3)), (0.1, np.log(0.1))):
        value = fit.ask(f"y at x = {at}")["q50"].iloc[0]
        assert value == pytest.approx(2 - 0.2 * log + 0.03 * log**2, rel=0.01)


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
    assert crossing["q50"] == pytest.approx(float(closed.median()), rel=5e-3)  # below the rows, with drift


def test_a_value_has_the_interval_of_every_surface_where_the_rows_reject_the_form():
    y = 3 * N**-0.05 * (1 + (N / 3e7) ** 5) ** -0.1 * np.exp(0.01 * np.random.default_rng(4).standard_normal(len(N)))
    wrong = bs.fit("y ~ E + A * n**-a", pd.DataFrame({"n": N, "y": y}), draws=500, tune=500)
    assert wrong.check()["verdict"] != "fits"
    mean = quote_draws(wrong, wrong.draws.mean(wrong.rows.tail(1))).quantile([0.025, 0.5, 0.975]).values.ravel()
    within, beyond = wrong.ask("y at n = 1e9", "y at n = 1e10")[["q2.5", "q50", "q97.5"]].to_numpy()
    assert within == pytest.approx(mean, rel=1e-9)
    assert "The intervals are robust" in str(wrong.ask("y at n = 1e9"))
    drawn = bs.plot_fit(wrong).table.dropna(subset=["low", "high"]).iloc[-1]
    assert drawn[["low", "high"]].tolist() == pytest.approx([beyond[0], beyond[2]], rel=1e-6)
    summary = wrong.summary().table.loc["a", ["q2.5", "q50", "q97.5"]].tolist()
    assert wrong.ask("a")[["q2.5", "q50", "q97.5"]].iloc[0].tolist() == pytest.approx(summary)


def test_how_far_beyond_the_rows_an_answer_lies_is_said_on_both_sides(fit):
    asked = fit.ask("loss[new] at n = 1e11", "loss at n = 1e5, kind = new", "loss[new] at n = 1e7", "a[new]")
    assert asked["beyond"].tolist() == ["n 100 times the largest of new", "n 0.1 of the least of new", "", ""]
    assert asked["decades"].tolist() == pytest.approx([2, -1, 0, np.nan], abs=1e-6, nan_ok=True)
    assert asked["strength"].tolist() == ["weak", "fair", "strong", "strong"]
    assert "100 times above the largest fitted row" in asked["because"].iloc[0]
    assert asked["marks"].unique().tolist() == ["converged, fits"]


def test_beyond_the_largest_row_an_answer_drifts_and_groups_share_most_of_it(fit):
    posterior = fit["posterior"]
    law = (posterior["E"] + posterior["A"] * 1e11 ** -posterior["a"]).sel(kind=["new", "old"])
    spread = {}
    for name, question, alone in (
        ("one", "loss[new] at n = 1e11", law.sel(kind="new")),
        ("ratio", "(loss[new] at n = 1e11) / (loss[old] at n = 1e11)", law.sel(kind="new") / law.sel(kind="old")),
    ):
        row = fit.ask(question).iloc[0]
        assert row["q50"] == pytest.approx(float(alone.median()), rel=0.01)
        spread[name] = np.log(row["q97.5"] / row["q2.5"]), float(np.log(alone.quantile(0.975) / alone.quantile(0.025)))
    assert spread["one"][0] > 2 * spread["one"][1]
    assert spread["ratio"][0] < 0.5 * spread["one"][0]


def test_questions_in_brackets_are_numbers(fit):
    posterior = fit["posterior"]
    target = posterior["E"] + posterior["A"].sel(kind="old") * 1e8 ** -posterior["a"].sel(kind="old")
    place = ((target - posterior["E"]) / posterior["A"].sel(kind="new")) ** (-1 / posterior["a"].sel(kind="new"))
    for question in (
        "1e8 / (n where loss[new] = loss[old] at n = 1e8)",
        "1e8 / (n where loss[new] = (loss[old] at n = 1e8))",
    ):
        assert fit.ask(question)["q50"].iloc[0] == pytest.approx(float((1e8 / place).median()), rel=1e-5)


def test_comparisons_may_be_of_values_at_places(fit):
    at_one = fit.ask("loss[new] < loss[old] at n = 1e8").iloc[0]
    each = fit.ask("loss[new] at n = 1e8 < loss[old] at n = 1e8", "loss[new] at n = 1e8 < loss[old]")
    assert each["p"].tolist() == [at_one["p"]] * 2
    assert fit.ask("loss[new] at n = 1e7 < loss[old] at n = 1e9")["p"].iloc[0] == 0


def test_a_direction_is_claimed_where_other_choices_agree():
    rng, parts = np.random.default_rng(0), []
    for group, a in {"old": 60, "new": 57}.items():  # under a shared exponent; alone an exponent may take its place
        y = (1.8 + a * N**-0.25) * np.exp(0.004 * rng.standard_normal(len(N)))
        parts.append(pd.DataFrame({"n": N, "loss": y, "kind": group}))
    fit = bs.fit("loss ~ E + A[kind] * n**-a", pd.concat(parts, ignore_index=True), draws=500, tune=500)
    amplitude, loss = (row for _, row in fit.ask("A[new] < A[old]", "loss[new] < loss[old] at n = 1e7").iterrows())
    assert amplitude["p"] > 0.99 and amplitude["p_least"] < 0.95
    assert amplitude["direction"] == "open" and amplitude["strength"] == "weak"
    assert loss["direction"] == "> 0" and loss["p_least"] > 0.95
    assert "with nothing shared by kind" in loss["variants"]


def test_seeds_of_two_recipes_are_compared_at_one_size():
    rng = np.random.default_rng(3)
    old, new = 3.30 + 0.006 * rng.standard_normal(5), 3.27 + 0.006 * rng.standard_normal(5)
    table = pd.DataFrame({"recipe": ["old"] * 5 + ["new"] * 5, "parameters": 1.24e8, "loss": np.append(old, new)})
    fit = bs.fit("loss ~ mu[recipe]", table, draws=500, tune=500)
    row = fit.ask("mu[new] - mu[old]").iloc[0]
    assert row["q50"] == pytest.approx(new.mean() - old.mean(), abs=0.002)
    assert fit.ask("mu[new] < mu[old]")["direction"].iloc[0] == "> 0"


def test_a_budget_of_names_that_are_no_words_and_three_columns_are_searched():
    rng = np.random.default_rng(1)
    x = np.exp(rng.uniform(np.log(1), np.log(100), (60, 3)))
    y = (1 + 2 / x[:, 0] + 3 / x[:, 1] + 5 / x[:, 2]) * np.exp(0.001 * rng.standard_normal(60))
    table = pd.DataFrame(x, columns=["a/b", "c d", "e"]).assign(**{"test loss": y})
    formula = "`test loss` ~ E + A * `a/b`**-alpha + B * `c d`**-beta + C * e**-gamma"
    fit = bs.fit(formula, table, draws=500, tune=500)
    best = fit.ask("best `a/b`, `c d`, e for `a/b` + `c d` + e = 60")["q50"].tolist()
    assert best[:3] == pytest.approx(60 * np.sqrt([2, 3, 5]) / np.sqrt([2, 3, 5]).sum(), rel=0.03)
    assert fit.ask("`test loss` at `a/b` = 10, `c d` = 10, e = 10")["q50"].iloc[0] == pytest.approx(2, rel=0.01)


def test_shares_that_sum_to_one_are_best_at_ends_of_the_rows():
    rng = np.random.default_rng(11)
    w = rng.dirichlet([2, 2, 2], 40)
    y = 1 + np.exp(w @ [0.2, -1.5, 0.6]) + 0.01 * rng.standard_normal(40)
    table = pd.DataFrame(w, columns=["web", "code", "books"]).assign(loss=y)
    fit = bs.fit("loss ~ c + exp(a*web + b*code + d*books)", table, draws=500, tune=500)
    best = fit.ask("best web, code, books for web + code + books = 1")
    code, books = w[:, 1].max(), w[:, 2].min()
    assert best["q50"].tolist()[:3] == pytest.approx([1 - code - books, code, books], abs=1e-3)
    assert best["at_end"].tolist()[:3] == [0, 1, 1] and best["beyond"].tolist()[:3] == ["", "", ""]


def test_a_count_is_answered_where_the_number_of_trials_is_given():
    demos = np.array([10, 30, 100, 300, 1000.0])
    counts = pd.DataFrame({"demos": demos, "k": np.round(200 * (1 - (1 + demos / 30) ** -0.9)), "trials": 200})
    fit = bs.fit("k / trials ~ 1 - (1 + demos / x0)**-b", counts, draws=500, tune=500)
    shares = 1 - (1 + 100 / fit["posterior"]["x0"]) ** -fit["posterior"]["b"]
    asked = fit.ask("k at demos = 100, trials = 50", "trials at demos = 100, k = 50")["q50"].tolist()
    assert asked == pytest.approx([float((50 * shares).median()), float((50 / shares).median())])
    with pytest.raises(bs.InputError, match='the value of "trials" is missing'):
        fit.ask("k at demos = 100")


def test_other_commands_name_a_question_that_was_asked(fit):
    question = "1e9 / (n where loss[new] = loss[old] at n = 1e9)"
    runs = pd.DataFrame({"parameters": [1e9]})
    for call in (lambda: fit.predict(runs), lambda: fit.allocate(1e21), lambda: bs.worth(fit, "old", 1e21)):
        with pytest.raises(bs.InputError) as error:
            call()
        assert f"of this fit: bayescaling ask FILE.nc '{question}'" in str(error.value)
    assert fit.ask(question)["q50"].iloc[0] > 1


def test_the_best_on_a_budget_is_the_closed_form():
    rng = np.random.default_rng(1)
    n, d = np.exp(rng.uniform(np.log(1e8), np.log(1e10), 40)), np.exp(rng.uniform(np.log(1e9), np.log(1e11), 40))
    loss = (1.8 + 480 * n**-0.35 + 2000 * d**-0.37) * np.exp(0.002 * rng.standard_normal(40))
    fit = bs.fit("loss ~ E + A*n**-a + B*d**-b", pd.DataFrame({"n": n, "d": d, "loss": loss}), draws=500, tune=500)
    best = fit.ask("best n, d for 6*n*d = 1e20")["q50"].tolist()
    posterior = fit["posterior"]
    a, b, ratio = posterior["a"], posterior["b"], posterior["a"] * posterior["A"] / posterior["b"] / posterior["B"]
    closed = (ratio * (1e20 / 6) ** b) ** (1 / (a + b))
    assert best[0] == pytest.approx(float(closed.median()), rel=1e-4)
    assert best[0] * best[1] == pytest.approx(1e20 / 6, rel=0.1)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("m where loss = 2", '"m" is no column on the right of ~'),
        ("loss at m = 2", '"m" is no column of the formula'),
        ("loss at n = 1e9", "the group of (E|A|a) is missing; write"),
        ("loss at kind = new", 'the value of "n" is missing'),
        ("a[newer] - a[old]", '"newer" is no group of a; did you mean "new"'),
        ("a[new] = 2", "'=' has no meaning here; write x where y"),
        ("2 * (a[new] > a[old])", "a probability has no place in an expression"),
        ("loss at", "after 'at' the name of a column is missing"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_in_a_line(fit, question, words):
    with pytest.raises(bs.InputError, match=words) as error:
        fit.ask(question)
    assert len(str(error.value).splitlines()) == 1

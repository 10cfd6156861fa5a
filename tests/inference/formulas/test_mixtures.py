import json

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.commands.cli import app
from bayescaling.models.loss.search import least_of_sum
from scipy.optimize import minimize
from typer.testing import CliRunner

SOURCES, W, G, ALPHA = ("web", "code", "books", "talk"), np.array([1.0, 0.5, 0.25, 0.05]), 0.6, 0.2
SHARES = [f"share_{source}" for source in SOURCES]
FORMULA = "loss ~ sum(w_* * share_* ** g)**-alpha"
WRITTEN = f"loss ~ ({' + '.join(f'w_{x} * share_{x}**g' for x in SOURCES)})**-alpha"


def simulated(rows, seed=1, scatter=0.005):
    """Return a table of mixtures, some shares 0, whose losses follow a known law."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([0.4] * 4, rows).round(3)
    shares[:, 0] += 1 - shares.sum(1)
    shares = np.abs(shares)
    loss = (3 * shares**G @ W) ** -ALPHA * np.exp(scatter * rng.standard_normal(rows))
    return pd.DataFrame(shares, columns=SHARES).assign(loss=loss)


pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")


@pytest.fixture(scope="module")
def fit():
    return bs.fit(FORMULA, simulated(80), seed=1, draws=500, tune=700)


def test_a_sum_over_columns_is_the_formula_that_is_written_out():
    """Densities are the same to the last bit, and so are names, roles and priors."""
    table = simulated(30)
    laws = [bs.laws.Formula(formula).suited(table) for formula in (FORMULA, WRITTEN)]
    densities = [law.density(law.rows(table), law.reference(law.rows(table))) for law in laws]
    rng = np.random.default_rng(2)
    point = tuple(block + rng.standard_normal(block.shape) for block in densities[0].start)
    one, other = ([np.asarray(x) for x in of.terms(point, of.arrays)] for of in densities)
    assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))
    assert laws[0].roles == laws[1].roles and laws[0].prior_of == laws[1].prior_of
    assert laws[0].label == FORMULA and laws[0].columns == tuple(SHARES)


def test_sums_over_columns_have_groups_and_a_response_of_several_columns():
    table = simulated(40).assign(size=["1M", "60M"] * 20, loss_a=2.0, loss_b=3.0)
    law = bs.laws.Formula("loss ~ E + exp(sum(t_* * share_*))", by="size", shared=("E",)).suited(table)
    assert {name: law.groups.get(name) for name in law.roles} == {"E": None} | {f"t_{x}": ("size",) for x in SOURCES}
    both = bs.laws.Formula("sum(loss_*) / 2 ~ c + sum(b_* * share_*)").suited(table)
    assert both.response(table).tolist() == [2.5] * 40 and both.columns == tuple(SHARES)


def test_a_name_that_ends_in_an_underscore_may_still_be_multiplied():
    table = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [2.0, 3.1, 4, 5.2]})
    law = bs.laws.Formula("y ~ a_*x**b_ + c_").suited(table)
    assert {*law.roles} == {"a_", "b_", "c_"} and str(law.parsed) == "y ~ a_ * x**b_ + c_"


def test_the_law_that_made_the_mixtures_is_found(fit):
    assert fit.diagnostics["ok"]
    answers = fit.ask("g", "alpha", "w_code / w_web", "w_books / w_web")
    truth = [G, ALPHA, W[1] / W[0], W[2] / W[0]]
    assert ((answers["q2.5"] < truth) & (truth < answers["q97.5"])).all()
    assert (answers["q97.5"] / answers["q2.5"] < 2).all()


def test_the_best_mixture_is_the_closed_form_draw_by_draw(fit):
    best = fit.ask("best share_* for sum(share_*) = 1")
    posterior = fit["posterior"].to_dataset()
    size = np.stack([posterior[f"w_{x}"] ** (1 / (1 - posterior["g"])) for x in SOURCES])
    closed = np.median((size / size.sum(0)).reshape(4, -1), 1)
    assert best["q50"].to_numpy()[:4] == pytest.approx(closed, abs=2e-3)
    assert best.index[4] == "loss there" and best["q50"].iloc[4] < fit.rows["loss"].min() * 1.01


def test_a_best_mixture_stays_within_limits_and_rows(fit):
    limited = fit.ask("best share_* for sum(share_*) = 1, share_web <= 0.3, 0.2 <= share_talk")
    assert limited["q50"].to_numpy()[[0, 3]] == pytest.approx([0.3, 0.2], abs=1e-4)
    assert limited["q50"].iloc[:4].sum() == pytest.approx(1, abs=2e-3)
    assert limited["at_end"].iloc[[0, 3]].tolist() == [1, 1]


@pytest.mark.parametrize("form", ["powers", "linear", "quadratic"])
def test_the_least_of_a_sum_is_that_of_scipy(form):
    """Forms whose best parts are all above 0, at ends, and some of both, with parts that have a most."""
    rng = np.random.default_rng(5)
    w, b, root = rng.gamma(1, 1, (6, 3)) + 0.1, rng.standard_normal((6, 3)), rng.standard_normal((6, 6))
    most = np.full((6, 3), 0.5)

    def objective(x):
        over = (slice(None), *[None] * (x.ndim - 2))
        if form == "powers":
            return (w[over] * x**0.5).sum(0) ** -0.3
        linear = (b[over] * x).sum(0)
        return np.exp(linear) if form == "linear" else linear + np.einsum("i...,ij,j...->...", x, root @ root.T, x)

    found = least_of_sum(objective, np.full((6, 3), 1 / 6), most)
    assert found.sum(0) == pytest.approx(1) and (found <= most + 1e-12).all()
    for k in range(3):
        reference = minimize(
            lambda x, k=k: float(objective(np.repeat(x[:, None], 3, 1))[k]), np.full(6, 1 / 6), method="SLSQP",
            bounds=[(1e-12, 0.5)] * 6, constraints={"type": "eq", "fun": lambda x: x.sum() - 1}, tol=1e-14,
        )  # fmt: skip
        assert objective(found)[k] <= reference.fun + 1e-5 * abs(reference.fun)


def test_candidates_have_probabilities_of_being_the_best(fit):
    candidates = simulated(12, seed=3, scatter=0)
    asked = fit.ask("best share_* for sum(share_*) = 1", among=candidates.drop(columns="loss"))
    assert asked["p_best"].sum() == pytest.approx(1) and asked["p_best"].is_monotonic_decreasing
    assert asked.index[0] == f"row {candidates['loss'].argmin() + 1}"
    means = asked["q50"].loc[[f"row {k + 1}" for k in range(12)]]
    assert means.to_numpy() == pytest.approx(candidates["loss"].to_numpy(), rel=0.01)
    (value,) = fit.ask(f"loss at {', '.join(f'{name} = {candidates[name][0]}' for name in SHARES)}")["q50"]
    assert value == pytest.approx(means.iloc[0], rel=1e-6)
    equal = pd.concat([candidates.iloc[:1]] * 4, ignore_index=True)
    assert fit.ask("best share_*", among=equal)["p_best"].to_numpy() == pytest.approx([0.25] * 4, abs=0.05)


def test_p_best_is_as_often_right_as_it_says():
    """Over pools of runs of tables drawn again, the likeliest candidate is the best about as often as stated."""
    stated, right = [], []
    for seed in range(4):
        fit = bs.fit(FORMULA, simulated(24, seed, 0.03), seed=1, draws=400, tune=500, chains=2, check=False)
        runs = simulated(40, 100 + seed, 0.03)
        for pool in np.arange(40).reshape(8, 5):
            asked = fit.ask("best share_*", among=runs.iloc[pool].reset_index(drop=True))
            stated.append(asked["p_best"].iloc[0])
            right.append(asked.index[0] == f"row {runs['loss'].to_numpy()[pool].argmin() + 1}")
    error = np.sqrt(np.sum(np.multiply(stated, np.subtract(1, stated)))) / len(stated)
    assert abs(np.mean(right) - np.mean(stated)) < 4 * error


def test_a_value_at_several_shares_may_be_given_by_one_name(fit):
    each = "share_code = 0.2, share_books = 0.2, share_talk = 0.2, share_web = 0.4"
    one, other = fit.ask("loss at share_web = 0.4, share_* = 0.2", f"loss at {each}")["q50"]
    assert one == other


def test_shares_beyond_the_rows_lie_beyond_by_their_part_of_the_whole(fit):
    largest = fit.rows["share_talk"].max()
    row = fit.ask(f"loss at share_talk = {largest + 0.05}, share_* = 0.01").iloc[0]
    assert row["beyond"] == "share_talk 0.05 above" and row["decades"] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("loss ~ sum(w_* * part_*)", 'no column is called as "w_*", "part_*"; the columns are "share_web"'),
        ("loss ~ c + sum(a * share_web)", "no name has a *; write one for columns"),
        ("loss ~ c * share_*", '"share_*" stands for several columns; write it within sum(...)'),
        ("loss ~ c + sum(share_* * size_*)", "share_* and size_* are not of the same columns"),
    ],
)
def test_a_sum_that_cannot_be_written_out_is_refused_in_a_line(formula, words):
    with pytest.raises(bs.InputError) as error:
        bs.fit(formula, simulated(9).assign(size_web=1.0))
    assert words in str(error.value) and "\n" not in str(error.value) and formula in str(error.value)


@pytest.mark.parametrize(
    ("question", "change", "words"),
    [
        ("best part_*", {}, '"part_*" is no column on the right of ~'),
        ("best share_* for sum(share_*) = 9", None, "and never 9"),
        ("best share_* for sum(part_*) = 1", None, 'no column is called as "part_*"'),
        ("best share_* for sum(share_*) = 1", {"share_web": 0.9}, "mixtures, row 1: sum(share_*) is"),
        (
            "best share_* for sum(share_*) = 1, share_web <= 0.1",
            {},
            "and may be at most 0.1; correct it or leave it out",
        ),
        ("best share_*", {"share_code": "much"}, 'mixtures: column "share_code" holds what is no number'),
        ("best share_*", {"share_talk": None}, 'mixtures lacks "share_talk"'),
        ("best share_*", "no rows", "has no rows"),
    ],
)
def test_a_question_of_mixtures_that_has_no_answer_is_refused_in_a_line(fit, question, change, words):
    rows = None if change is None else simulated(4, seed=9)
    if rows is not None:
        rows = rows[:0] if change == "no rows" else rows.assign(**change).dropna(axis=1)
        rows.attrs["source"] = "mixtures"
    with pytest.raises(bs.InputError) as error:
        fit.ask(question, among=rows)
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_a_terminal_has_the_same_numbers(fit, tmp_path):
    rows = simulated(6, seed=3)
    rows.to_csv(tmp_path / "mixtures.csv", index=False)
    fit.save(tmp_path / "fit.nc")
    call = ["ask", str(tmp_path / "fit.nc"), "best share_*", "--among", str(tmp_path / "mixtures.csv"), "--json"]
    printed = CliRunner().invoke(app, [*call, "--where", "share_web > 0.01"])
    assert printed.exit_code == 0, printed.output
    entries = json.loads(printed.output)["rows"]
    asked = fit.ask("best share_*", among=rows[rows["share_web"] > 0.01].reset_index(drop=True))
    assert {name: row["p_best"] for name, row in entries.items()} == asked["p_best"].to_dict()

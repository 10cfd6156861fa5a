"""What rises is refused by a law that falls, with commands that then work; what sizes do not tell apart is named."""

import shlex

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.commands.cli import app
from bayescaling.models.loss.direction import directions, flat, partial_rank_correlation
from scipy import stats

SHORT = {"draws": 300, "tune": 400}


def grid(loss, sizes=4, counts=4):
    n, d = np.meshgrid(np.geomspace(1e7, 1e9, sizes), np.geomspace(2e8, 2e10, counts), indexing="ij")
    return pd.DataFrame({"parameters": n.ravel(), "tokens": d.ravel(), "loss": np.ravel(loss(n, d))})


def test_the_correlation_is_that_of_ranks_at_fixed_others():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(40, 3)), columns=["parameters", "tokens", "loss"])
    of = partial_rank_correlation(rows, "parameters", ["tokens"], "loss")
    r, rises, falls = of.r, of.p_rise(), of.p_fall()
    correlations = rows.rank().corr().to_numpy()
    expected = -np.linalg.inv(correlations)
    expected = expected[0, 2] / np.sqrt(expected[0, 0] * expected[2, 2])
    assert r == pytest.approx(expected) and rises + falls == pytest.approx(1)
    of = partial_rank_correlation(rows, "parameters", [], "loss")
    r, rises = of.r, of.p_rise()
    expected = stats.spearmanr(rows["parameters"], rows["loss"], alternative="greater")
    assert (r, rises) == pytest.approx((expected.statistic, expected.pvalue))


def test_one_order_of_few_rows_is_not_less_likely_than_it_is():
    rows = pd.DataFrame({"parameters": [1.0, 2, 3, 4, 5], "loss": [1.0, 2, 3, 4, 5]})
    assert partial_rank_correlation(rows, "parameters", [], "loss").p_rise() == pytest.approx(1 / 120)
    assert partial_rank_correlation(rows.assign(tokens=rows["parameters"]), "parameters", ["tokens"], "loss") is None


@pytest.mark.parametrize("law", ["coupled", "chinchilla", "offsets"])
def test_a_score_is_refused_with_a_formula_in_its_place(law):
    table = grid(lambda n, d: 1 - 0.3 * (n / 1e7) ** -0.2 - 0.3 * (d / 2e8) ** -0.2)
    with pytest.raises(bs.InputError) as refusal:
        bs.fit(law, bs.read(table))
    text = str(refusal.value)
    assert 'the loss rises with parameters at equal "tokens" (rank correlation 0.9' in text and "p = " in text
    assert "a score is fitted by a formula: bayescaling fit --data 'the table'" in text


def test_losses_of_every_kind_of_design_are_not_refused():
    rng, law = np.random.default_rng(1), bs.laws.Coupled()
    for noise in (0.001, 0.01, 0.05):
        for shape in ((2, 3), (3, 3), (6, 6)):
            table = grid(lambda n, d: 1.7 + 406 / n**0.34 + 411 / d**0.28, *shape)
            table["loss"] *= np.exp(noise * rng.standard_normal(len(table)))
            assert all(of.r < 0 for of in directions(law, table).values()), (noise, shape)


def test_a_size_with_which_the_loss_does_not_fall_is_named():
    rng = np.random.default_rng(2)
    table = grid(lambda n, d: 2 + 411 / d**0.28 + 0 * n)
    table["loss"] *= np.exp(0.01 * rng.standard_normal(len(table)))
    (sentence,) = flat(bs.laws.Chinchilla(), table)
    assert sentence.startswith('the loss does not fall with parameters at equal "tokens" in these rows')
    with pytest.warns(bs.errors.TableNote, match="which the prior decides"):
        bs.fit("chinchilla", bs.read(table), seed=1, **SHORT)


def test_tokens_that_follow_from_the_size_are_refused_by_laws_of_both():
    n = np.geomspace(1e7, 1e9, 12)
    table = bs.read(pd.DataFrame({"parameters": n, "tokens": 20 * n, "loss": 1.7 + 900 / n**0.3}))
    with pytest.raises(bs.InputError, match=r"to the power 1.00 in every row.*bayescaling fit --data"):
        bs.laws.Coupled().rows(table)


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
@pytest.mark.parametrize("rows", [6, 5, 4])
def test_few_rows_name_the_widest_law_that_they_carry(rows, tmp_path):
    table = bs.read(grid(lambda n, d: 1.7 + 406 / n**0.34 + 411 / d**0.28 + 1e-3 * np.sin(n * d), 3, 3)).head(rows)
    table.to_csv(tmp_path / "few.csv", index=False)
    with pytest.raises(bs.InputError, match="these rows carry: bayescaling fit ") as refusal:
        bs.fit("coupled", tmp_path / "few.csv")
    words = shlex.split(str(refusal.value).partition("bayescaling ")[2])
    assert (words[1] == "chinchilla") == (rows == 6)
    out = ["--out", str(tmp_path / "fit.nc"), "--draws", "300", "--tune", "300", "--chains", "2"]
    app([*(str(tmp_path / "few.csv") if x == "few.csv" else x for x in words), *out], standalone_mode=False)
    assert len(bs.open(tmp_path / "fit.nc").rows) == rows


def test_nine_rows_have_one_normal_scatter_and_their_fit_says_so():
    rng = np.random.default_rng(3)
    table = grid(lambda n, d: (1.7 + 406 / n**0.34 + 411 / d**0.28) * np.exp(0.01 * rng.normal(size=n.shape)), 3, 3)
    with pytest.warns(
        bs.errors.TableNote, match="law fitted is coupled, noise=normal, scatter=one, size_effects, because"
    ):
        fit = bs.fit("coupled", bs.read(table), seed=1, **SHORT)
    assert fit.law == bs.laws.Coupled(noise="normal", scatter="one", size_effects=True)

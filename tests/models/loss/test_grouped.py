import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.models.loss.grouped_draws import GROUP
from scipy import stats

PLAIN = bs.laws.Chinchilla(noise="normal", scatter="one")
LAWS = {
    "Student-t by size": bs.laws.Chinchilla(),
    "Kaplan": bs.laws.Kaplan(noise="normal"),
    "shifted sizes": bs.laws.Offsets(noise="huber"),
    "weighted embeddings": bs.laws.EmbeddingWeighted(skew=True),
    "reading error": bs.laws.Chinchilla(noise="normal", measurement_error=True),
    "run effects": bs.laws.Chinchilla(run_effects=True),
}


@pytest.fixture(scope="module")
def table():
    """The built-in runs in three groups of unequal sizes that are not in order, two rows a run."""
    runs = bs.load("chinchilla_runs")
    run = np.arange(len(runs)) // 2
    return runs.assign(corpus=np.array(["c", "a", "b", "b"])[run % 4], run=[f"run {i}" for i in run])


def drawn(law, table, draws=5):
    rows = law.rows(table)
    return law.prior_draws(np.random.default_rng(3), law.reference(rows), rows, draws)


def of_each(table):
    return {name: rows.reset_index(drop=True) for name, rows in table.groupby("corpus")}


@pytest.mark.parametrize("name", LAWS)
def test_with_nothing_shared_or_pooled_it_is_the_law_of_each_group(name, table):
    law = LAWS[name]
    draws = drawn(bs.laws.Grouped(law, "corpus", pooled=()), table)
    apart = 0
    for group, rows in of_each(table).items():
        alone = law.draws(draws.sampled.sel(group=group, drop=True), rows, law.reference(rows))
        apart = apart + alone.log_density()
        of = draws.of(group)
        assert of.reference == law.reference(rows) and of.rows.equals(rows)
        xr.testing.assert_allclose(of.log_density(), alone.log_density())
    np.testing.assert_allclose(draws.log_density(), apart, rtol=1e-10)


@pytest.mark.parametrize("name", LAWS)
def test_with_everything_shared_it_is_the_law_of_the_whole_table(name, table):
    law = LAWS[name]
    draws = drawn(bs.laws.Grouped(law, "corpus", shared=tuple(law.prior_of)), table)
    alone = law.draws(draws.sampled, table, law.reference(table))
    np.testing.assert_allclose(draws.log_density(), alone.log_density(), rtol=1e-10)
    np.testing.assert_allclose(draws.mean(), alone.mean(), rtol=1e-12)
    np.testing.assert_allclose(draws.log_likelihood(), alone.log_likelihood(), rtol=1e-9)
    np.testing.assert_allclose(draws.cdf(), alone.cdf(), rtol=1e-9)


def test_pooled_quantities_come_from_a_population(table):
    law = bs.laws.Grouped(PLAIN, "corpus", pooled=("alpha", "reducible_share"), shared=("beta",))
    draws = drawn(law, table)
    value = draws.sampled
    expected = draws.total_log_likelihood()
    for name, prior in law.prior_of.items():
        density = (
            prior.log_density(value[name]) + prior.from_unconstrained(prior.to_unconstrained(value[name].values))[1]
        )
        if name in law.pooled:
            along = {"alpha": np.log, "reducible_share": lambda x: np.log(x) - np.log1p(-x)}[name]
            centre, spread = along(value[f"typical_{name}"]), value[f"spread_{name}"]
            density = stats.norm.logpdf(along(value[name]), *(x.values[..., None] for x in (centre, spread)))
        expected = expected + (density.sum(-1) if np.ndim(density) == 3 else density)
    np.testing.assert_allclose(draws.log_density(), expected, rtol=1e-10)
    assert law.described_priors()["alpha"] == "population(typical_alpha, spread_alpha)"
    assert law.prior_of["typical_alpha"] == PLAIN.prior_of["alpha"]


def test_the_prior_of_a_group_is_normal_about_the_typical_value(table):
    law = bs.laws.Grouped(PLAIN, "corpus")
    draws = drawn(law, table, 4000).sampled
    z = (np.log(draws["alpha"]) - np.log(draws["typical_alpha"])) / draws["spread_alpha"]
    for group in "abc":
        assert stats.kstest(np.ravel(z.sel(group=group)), "norm").pvalue > 1e-3


def test_the_log_prior_is_of_each_quantity_on_its_own_scale(table):
    draws = drawn(bs.laws.Grouped(PLAIN, "corpus"), table)
    value = draws.sampled
    spread, median = (value[name].values[..., None] for name in ("spread_beta", "typical_beta"))
    expected = stats.lognorm.logpdf(value["beta"], spread, scale=median)
    np.testing.assert_allclose(draws.log_prior()["beta"], expected, rtol=1e-9)


def test_a_centre_is_the_groups_own_unless_what_it_defines_is_not(table):
    reference = bs.laws.Grouped(bs.laws.Chinchilla(), "corpus").reference(table)
    alone = {name: bs.laws.Chinchilla().reference(rows) for name, rows in of_each(table).items()}
    assert reference["groups"] == list(alone)
    assert all(reference[key] == [constants[key] for constants in alone.values()] for key in alone["a"])
    whole = bs.laws.Chinchilla().reference(table)
    centred = bs.laws.Grouped(bs.laws.Chinchilla(), "corpus", shared=("loss_centre",)).reference(table)
    assert centred["reference_tokens"] == 3 * [whole["reference_tokens"]]
    assert centred["log_tokens_mean"] == reference["log_tokens_mean"]
    scattered = bs.laws.Grouped(bs.laws.Chinchilla(), "corpus", shared=("sigma",)).reference(table)
    assert scattered["log_tokens_mean"] == 3 * [whole["log_tokens_mean"]]
    assert scattered["reference_tokens"] == reference["reference_tokens"]


def test_slopes_are_those_of_each_group(table):
    law = bs.laws.Grouped(PLAIN, "corpus", shared=("beta",))
    wider, kappa, value = law.wider
    assert wider.shared == ("beta", "kappa")
    draws = drawn(law, table)
    slopes = draws.slopes(wider, [q.name for q in wider.mean_parameters], **{kappa: value})
    assert set(slopes) >= {"kappa", "beta", "alpha[a]", "alpha[c]"} and "alpha" not in slopes
    for group in "abc":
        of = draws.of(group).slopes(
            bs.laws.Coupled(noise="normal", scatter="one"), ["alpha", "beta", "kappa"], kappa=1.0
        )
        members = (table["corpus"] == group).to_numpy()
        np.testing.assert_allclose(slopes[f"alpha[{group}]"][..., members], of["alpha"], rtol=1e-9)
        assert not slopes[f"alpha[{group}]"][..., ~members].any()
        np.testing.assert_allclose(slopes["beta"][..., members], of["beta"], rtol=1e-9)
        np.testing.assert_allclose(slopes["kappa"][..., members], of["kappa"], rtol=1e-9)


def test_contrasts_are_within_groups(table):
    law = bs.laws.Grouped(PLAIN, "corpus")
    for name, contrast in law.contrasts(table).items():
        np.testing.assert_allclose(
            contrast.directions @ contrast.directions.T, np.eye(len(contrast.directions)), atol=1e-12
        )
        groups = [set(table["corpus"][u != 0]) for u in contrast.directions]
        assert {next(iter(names)) for names in groups} == set("abc") and all(len(names) == 1 for names in groups), name


def test_runs_of_a_group_share_the_effects_of_its_own_scale(table):
    law = bs.laws.Grouped(bs.laws.Chinchilla(noise="normal", scatter="one", run_effects=True), "corpus")
    draws = drawn(law, table, 1)
    sampled = draws.sampled.copy(deep=True)
    sampled["sigma"] = sampled["sigma"].copy(data=[[[1e-4, 1e-4, 1e-4]]])
    sampled["run_sd"] = sampled["run_sd"].copy(data=[[[0.001, 0.01, 0.1]]])
    many = law.draws(sampled.isel(draw=np.zeros(400, int)), draws.rows, draws.reference)
    scattered = many.replicate(np.random.default_rng(1)) - np.log(many.mean())
    for group, scale in zip("abc", (0.001, 0.01, 0.1), strict=True):
        members = (table["corpus"] == group).to_numpy()
        assert float(scattered.isel(run=members).std()) == pytest.approx(scale, rel=0.05)
    pairs = scattered.values[..., :244].reshape(1, 400, 122, 2)
    np.testing.assert_allclose(pairs[..., 0], pairs[..., 1], atol=1e-3)


def test_only_the_rows_of_a_group_inform_its_own_coordinates(table):
    law = bs.laws.Grouped(PLAIN, "corpus", shared=("beta",))
    draws = drawn(law, table)
    coordinates = draws.informed_by(table[table["corpus"] == "b"])
    assert coordinates == ("loss_centre[b]", "reducible_share[b]", "parameter_share[b]", "alpha[b]", "sigma[b]")
    assert draws.informed_by(table[table["corpus"] == "b"].iloc[1:]) == ()
    rest = law.draws(draws.sampled, table[table["corpus"] != "b"], draws.reference)
    gone = draws.log_density() - rest.log_density() - draws.total_log_likelihood(table[table["corpus"] == "b"])
    np.testing.assert_allclose(gone, 0, atol=1e-7)


def test_the_law_is_rebuilt_from_its_options():
    law = bs.laws.Grouped(bs.laws.Kaplan(scatter="one"), "lab", shared=("aD",), priors={"aN": "LogNormal(-2, 1)"})
    law = bs.laws.Grouped(law.law, "lab", shared=("aD",), priors={"spread_aN": "Gamma(2, 4)"})
    from bayescaling.models import law as named

    again = named(law.name, **law.options)
    assert (
        again.label
        == law.label
        == "kaplan, scatter=one, prior aN LogNormal(-2, 1), by lab, pooled aN, shared aD, "
        + ("prior spread_aN Gamma(2, 4)")
    )
    assert str(again.prior_of["typical_aN"]) == "LogNormal(-2, 1)"
    assert str(again.prior_of["spread_aN"]) == "Gamma(2, 4)"


def test_groups_may_be_numbers(table):
    numbered = table.assign(corpus=table["corpus"].map({"a": 1.0, "b": 2.0, "c": 10.0}))
    law = bs.laws.Grouped(PLAIN, "corpus")
    assert law.reference(law.rows(numbered))["groups"] == ["1", "10", "2"]
    assert drawn(law, numbered).of(10).rows.equals(numbered[numbered["corpus"] == 10].reset_index(drop=True))


def test_what_cannot_be_grouped_is_refused_in_a_line():
    for options, message in (
        ({"shared": ("gamma",)}, "'gamma' is no sampled quantity of the chinchilla law"),
        ({"pooled": ("E",)}, "'E' is no sampled quantity"),
        ({"shared": ("alpha",), "pooled": ("alpha",)}, "alpha: a quantity is shared or pooled, not both"),
        ({"shared": "alpha"}, "shared is a sequence of names"),
        ({"priors": {"spread_gamma": "LogNormal(-2, 0.8)"}}, "prior on 'spread_gamma'"),
        ({"priors": {"alpha": "Uniform(0.1, 0.9)"}}, "a pooled quantity has no bounds but 0"),
    ):
        with pytest.raises(bs.InputError, match=message):
            bs.laws.Grouped(bs.laws.Chinchilla(), "corpus", **options)
    with pytest.raises(bs.InputError, match="depends on sizes of other models"):
        bs.laws.Grouped(bs.laws.EmbeddingCorrected(joint=True), "corpus")
    with pytest.raises(bs.InputError, match="not of 'chinchilla'"):
        bs.laws.Grouped("chinchilla", "corpus")


def test_tables_that_have_no_groups_are_refused_in_a_line(table):
    law, blank = bs.laws.Grouped(PLAIN, "corpus"), table.assign(corpus=table["corpus"].where(table.index != 7))
    few = table.assign(corpus=np.where(table.index < 2, "few", "many"))
    for wrong, message in (
        (table.drop(columns="corpus"), 'grouping rows needs "corpus"'),
        (table.assign(corpus="all"), ".all. in every row; groups need at least two values"),
        (blank, "column 'corpus' is empty in row 7"),
        (few, "group .few. of column 'corpus' has 2 rows, fewer than the 3 quantities of each group"),
    ):
        with pytest.raises(bs.InputError, match=message):
            law.rows(wrong)
    crossing = table.assign(run=table["corpus"].map({"a": "one", "b": "one", "c": "two"}))
    with pytest.raises(bs.InputError, match=r"run .one. is in groups .a., .b. of column 'corpus'"):
        bs.laws.Grouped(bs.laws.Chinchilla(run_effects=True), "corpus").rows(crossing)
    with pytest.raises(
        bs.InputError, match=r"column 'corpus' is .d. in row 0, which is no group of the fit.*predict_group"
    ):
        drawn(law, table).mean(pd.DataFrame({"parameters": [1e9], "tokens": [1e10], "corpus": ["d"]}))
    with pytest.raises(bs.InputError, match=r"group .d. is none of the fit: name one of .a., .b., .c."):
        drawn(law, table).of("d")
    assert drawn(law, table).named()["E"].dims == ("chain", "draw", GROUP)

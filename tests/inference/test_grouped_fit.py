"""Fits of groups of rows: what is recovered, a group left out, a new group."""

from functools import partial

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.inference.checks.suggestion import exponent_of
from bayescaling.inference.comparison.bridge import log_normaliser

law_alone = partial(bs.Fit.allocate, beyond="none", robust=False)

PLAIN = bs.laws.Chinchilla(noise="normal", scatter="one")
LAW = bs.laws.Grouped(PLAIN, "corpus", shared=("sigma",))
TYPICAL, SPREADS = {"alpha": 0.35, "beta": 0.4}, {"alpha": 0.25, "beta": 0.02}
OWN = {"loss_centre": 3.0, "reducible_share": 0.35, "parameter_share": 0.5, "sigma": 0.008}
ROWS = 24


def runs_of(name, rng, alpha, beta, rows=ROWS):
    sizes = pd.DataFrame({"parameters": rng.permutation(np.geomspace(1e7, 1e10, rows)), "tokens": np.nan, "loss": 1.0})
    sizes["tokens"] = np.geomspace(1e9, 1e12, rows)
    values = OWN | {"alpha": alpha, "beta": beta, "loss_centre": rng.uniform(2.5, 3.5)}
    return sizes.assign(loss=PLAIN.simulate(values, sizes, rng), corpus=name)


@pytest.fixture(scope="module")
def corpora():
    """Return constants and runs of eight corpora, whose alphas differ by a quarter and whose betas barely differ."""
    rng = np.random.default_rng(5)
    constants = pd.DataFrame(
        {name: TYPICAL[name] * np.exp(SPREADS[name] * rng.standard_normal(8)) for name in TYPICAL},
        index=list("abcdefgh"),
    )
    return constants, pd.concat([runs_of(name, rng, **row) for name, row in constants.iterrows()], ignore_index=True)


@pytest.fixture(scope="module")
def fitter(corpora):
    return bs.Fitter(LAW, corpora[1])


@pytest.fixture(scope="module")
def fit(fitter):
    return fitter.fit(seed=1, draws=500, tune=1000, least_ess=200)


def interval(x, width=0.99):
    return x.quantile([(1 - width) / 2, (1 + width) / 2], ("chain", "draw")).values


def test_known_constants_of_groups_and_their_spread_are_recovered(corpora, fit):
    posterior = fit["posterior"]
    assert fit.diagnostics["ok"]
    for name in TYPICAL:
        low, high = interval(posterior[name])
        assert ((low < corpora[0][name]) & (corpora[0][name] < high)).all()
        for quantity, true in ((f"typical_{name}", TYPICAL[name]), (f"spread_{name}", SPREADS[name])):
            low, high = interval(posterior[quantity])
            assert low < true < high
    assert float((posterior["spread_alpha"] > posterior["spread_beta"]).mean()) > 0.99
    assert posterior["sigma"].dims == ("chain", "draw")


def test_pooling_draws_groups_together(corpora, fit):
    _, runs = corpora
    beta = fit["posterior"]["beta"].std(("chain", "draw"))
    alone = bs.fit(PLAIN, runs[runs["corpus"] == "a"].reset_index(drop=True), seed=1, draws=500, tune=1000)
    # About .8, give or take .03 for the draws; without pooling, 1.
    assert float(beta.sel(group="a")) < 0.9 * float(alone["posterior"]["beta"].std())


@pytest.fixture(scope="module")
def two(corpora):
    _, runs = corpora
    return runs[runs["corpus"].isin(["a", "b"])].reset_index(drop=True)


def test_a_group_of_nothing_pooled_is_foretold_as_its_law_alone_says(two):
    apart = bs.fit(bs.laws.Grouped(PLAIN, "corpus", pooled=()), two, seed=1, draws=600, tune=1000)
    table = apart.loo(by="corpus")
    assert table["refitted"].all() and (table["overlap"] > 0.2).all()
    for name, rows in two.groupby("corpus"):
        alone = bs.fit(PLAIN, rows.reset_index(drop=True), seed=2, draws=600, tune=1000)
        whole = log_normaliser(alone.draws)
        error = np.hypot(table.loc[name, "elpd_se"], whole.se)
        assert table.loc[name, "elpd"] == pytest.approx(whole.log_density, abs=4 * error)
        assert error < 0.2
        for quantity in PLAIN.prior_of:
            x, y = apart["posterior"][quantity].sel(group=name), alone["posterior"][quantity]
            assert abs(float(x.mean() - y.mean())) < 0.2 * float(y.std())
            assert float(x.std() / y.std()) == pytest.approx(1, abs=0.15)


def test_leaving_a_group_out_is_a_ratio_of_marginal_likelihoods(two, quiet):
    law = bs.laws.Grouped(PLAIN, "corpus")
    fitter = bs.Fitter(law, two)
    fit = fitter.fit(seed=1, draws=600, tune=1000)
    density = fit.loo(by="corpus").loc["b"]
    sample = fitter.sample(two[two["corpus"] == "a"].reset_index(drop=True), seed=3, draws=600, tune=1000)
    whole, without = log_normaliser(fit.draws), log_normaliser(sample.draws)
    error = np.sqrt(whole.se**2 + without.se**2 + density["elpd_se"] ** 2)
    assert error < 0.3
    assert density["elpd"] == pytest.approx(whole.log_density - without.log_density, abs=4 * error)


@pytest.mark.thorough
def test_groups_that_share_exponents_are_foretold_better_than_alone(corpora, fit, fitter):
    """Betas agree, so that seven corpora inform the eighth's more than its prior does."""
    _, runs = corpora
    apart = bs.Fitter(bs.laws.Grouped(PLAIN, "corpus", pooled=(), shared=("sigma",)), runs)
    scores = [
        fitted.loo(by="corpus")["elpd"]
        for fitted, of_fitter in ((fit, fitter), (apart.fit(seed=1, draws=500, tune=1000, least_ess=200), apart))
    ]
    assert (scores[0] > scores[1]).all()


def test_a_new_group_without_runs_is_drawn_from_the_population(corpora, fit, tmp_path):
    new = fit.predict_group(name="i")
    before, after = fit["posterior"], new["posterior"]
    for name in ("alpha", "typical_alpha", "E"):
        values = after[name].sel(group=list("abcdefgh")) if "group" in after[name].dims else after[name]
        np.testing.assert_array_equal(values, before[name])
    z = (np.log(after["alpha"].sel(group="i")) - np.log(after["typical_alpha"])) / after["spread_alpha"]
    assert float(z.mean()) == pytest.approx(0, abs=0.1) and float(z.std()) == pytest.approx(1, abs=0.1)
    new.save(tmp_path / "new.nc")
    opened = bs.open(tmp_path / "new.nc")
    xr.testing.assert_equal(opened["posterior"].to_dataset(), after.to_dataset())
    at = law_alone(opened, 1e22, group="i")
    assert np.isfinite(at["loss"]).all()
    runs = corpora[1].head(2).assign(corpus="i")
    wide, narrow = (opened.predict(x, noise=False)["loss"].std(("chain", "draw")) for x in (runs, corpora[1].head(2)))
    assert (wide > 20 * narrow).all()


def test_a_typical_group_has_the_typical_values_of_what_is_pooled(fit):
    after = fit.predict_group(typical=True)["posterior"].sel(group="new")
    for name in TYPICAL:
        np.testing.assert_array_equal(after[name], fit["posterior"][f"typical_{name}"])
    with pytest.raises(bs.InputError, match="a typical group has no runs"):
        fit.predict_group(fit.rows, typical=True)


def test_a_new_group_of_few_runs_is_pooled(corpora, fit):
    rng = np.random.default_rng(9)
    runs = runs_of("other", rng, 0.3, 0.4, rows=ROWS)
    few, rest = runs.iloc[::6].drop(columns="corpus"), runs.drop(runs.index[::6])
    new = fit.predict_group(few, name="i", draws=500, tune=1000)
    assert list(new["posterior"]["group"].values) == list("abcdefghi")
    spread = {name: fit.predict_group()["posterior"][name].sel(group="new").std() for name in TYPICAL}
    assert all(float(new["posterior"][name].sel(group="i").std()) < float(x) for name, x in spread.items())
    low, high = interval(new.predict(rest.assign(corpus="i"))["loss"])
    assert ((low < rest["loss"]) & (rest["loss"] < high)).mean() > 0.9


def test_extrapolation_is_from_the_runs_of_the_group(corpora, fit):
    flop = 6 * corpora[1]["parameters"] * corpora[1]["tokens"]
    name = flop.groupby(corpora[1]["corpus"]).max().idxmin()
    of_group = flop[corpora[1]["corpus"] == name]
    at = law_alone(fit, 10 * of_group.max(), group=name)
    assert of_group.max() < flop.max() and float(at["extrapolation"][0]) == pytest.approx(1)


def test_a_wider_law_of_groups_has_no_single_exponent(fit):
    assert exponent_of(fit) == {}


def test_what_cannot_be_asked_of_groups_is_refused_in_a_line(corpora, fit):
    with pytest.raises(bs.InputError, match=r"the law is fitted by groups: name one of .a., .b."):
        law_alone(fit, 1e22)
    with pytest.raises(bs.InputError, match=r"group .a. is in the fit already"):
        fit.predict_group(name="a")
    with pytest.raises(bs.InputError, match="what is planned"):
        law_alone(fit, 1e22, group="a", unique_tokens=1e9)

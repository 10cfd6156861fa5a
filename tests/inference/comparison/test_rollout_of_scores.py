import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
from bayescaling.models.scores.noise import END
from scipy.special import expit

SHORT = {"draws": 300, "tune": 400, "chains": 2}
CUTOFF = 2025.0
pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")


@pytest.fixture(scope="module")
def design(scores_design):
    return type(scores_design)(seed=20, models=60)


@pytest.fixture(scope="module")
def rolled(design):
    return bs.rollout(bs.laws.Scores(pace="linear"), design.table, "date", CUTOFF, seed=3, **SHORT)


@pytest.fixture(scope="module")
def prior(design):
    law = bs.laws.Scores(pace="linear", family_effects=True)
    rows = law.rows(design.table[design.table["year"] < CUTOFF])
    return law.prior_draws(np.random.default_rng(4), law.reference(rows), rows, 4000)


def test_models_that_were_not_fitted_are_where_compute_and_date_say(prior, design):
    rows = design.table[design.table["year"] >= CUTOFF].reset_index(drop=True)
    unseen = prior.of_unseen(rows, np.random.default_rng(1))
    assert unseen.reference["models"] == sorted(rows["model"].unique())
    np.testing.assert_allclose(unseen.items.slope, prior.items.slope, rtol=1e-12)
    mean, sd = unseen.expected()
    z = (unseen.capability - mean) / sd
    for one in np.moveaxis(z[0], -1, 0)[:6]:
        assert st.kstest(one, "norm").pvalue > 1e-4
    assert abs(np.corrcoef(z[0].T) - np.eye(z.shape[-1])).max() < 0.1
    fitted = set(prior.reference["families"])
    ours, for_unseen = (draws.named()["family_effect"] for draws in (prior, unseen))
    both = [name for name in for_unseen["family"].values if name in fitted]
    assert 0 < len(both) < for_unseen.sizes["family"]
    np.testing.assert_allclose(ours.sel(family=both), for_unseen.sel(family=both), rtol=1e-12)


def test_scores_of_later_models_are_foretold_from_date_and_compute(rolled, design):
    table, rows = rolled
    summary, ahead = table.loc[CUTOFF], design.table[design.table["year"] >= CUTOFF]
    assert (summary["fitted"], summary["predicted"]) == (len(design.table) - len(ahead), len(ahead))
    np.testing.assert_array_equal(rows["observed"], bs.laws.Scores().on_scale(ahead["score"].to_numpy()))
    assert 0.35 < summary["coverage_50"] < summary["coverage_80"] < summary["coverage_90"]
    assert summary["coverage_90"] > 0.8
    error = rows["q50"] - rows["observed"]
    assert summary["mae"] == pytest.approx(float(abs(error).mean()))
    assert summary["crps"] < summary["mae"]


def test_the_density_of_a_score_ahead_is_averaged_over_capabilities(rolled, design):
    """Both noises and difficulties are known well, so that the truth's own density is near."""
    _, rows = rolled
    ahead = design.table.iloc[rows["row"].values]
    model, benchmark = (ahead[name].str[-2:].astype(int).to_numpy() for name in ("model", "benchmark"))
    truth, t = design.truth, ahead["year"].to_numpy() - 2024.5
    compute = np.log(ahead["training_compute_flop"].to_numpy() / 1e24)
    has_compute = np.isfinite(compute)
    mean = np.where(
        has_compute,
        truth["capability_centre"] + truth["compute_slope"] * np.nan_to_num(compute) + truth["yearly_gain"] * t,
        truth["unknown_centre"] + truth["unknown_yearly_gain"] * t,
    )
    sd = np.where(has_compute, truth["capability_sd"], truth["unknown_sd"])
    capability = mean[:, None] + sd[:, None] * st.norm.ppf((np.arange(400) + 0.5) / 400)
    share = expit(design.slope[benchmark][:, None] * (capability - design.difficulty[benchmark][:, None]))
    precision = 0.25 / design.noise[benchmark][:, None] ** 2
    score = ahead["score"].to_numpy()
    inner = (score > END) & (score < 1 - END)
    density = st.beta(precision * share, precision * (1 - share)).pdf(score[:, None]).mean(1)
    assert len(model) == len(score) and inner.sum() > 50
    difference = rows["log_score"].values[inner] - np.log(density[inner])
    assert abs(np.median(difference)) < 0.25


def test_benchmarks_of_few_scores_are_not_foretold(design):
    late = design.table["year"] >= CUTOFF
    few = design.table["model"].isin(design.table.loc[~late, "model"].unique()[:2])
    table = design.table[late | few | (design.table["benchmark"] != "test 2")].reset_index(drop=True)
    law = bs.laws.Scores(pace="linear")
    past, ahead = table[table["year"] < CUTOFF], table[table["year"] >= CUTOFF]
    informed = law.are_informed(past, ahead)
    np.testing.assert_array_equal(informed, (ahead["benchmark"] != "test 2").to_numpy())
    with pytest.raises(bs.InputError, match="do not inform any other"):
        only = pd.concat([past, ahead[ahead["benchmark"] == "test 2"]], ignore_index=True)
        bs.rollout(law, only, "date", CUTOFF, **SHORT)

import re

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.comparison import rollout as rolling
from bayescaling.inference.comparison.rollout import larger_rows
from bayescaling.inference.comparison.scoring import binomial_interval, crps
from scipy import stats

SHORT = {"draws": 250, "tune": 300, "chains": 2}
pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")


def crps_of_normal(y, mean, sd):
    """Equation 5 of Gneiting et al. (2005), Monthly Weather Review 133."""
    z = (y - mean) / sd
    return sd * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))


def test_crps_of_many_draws_is_the_closed_form_of_a_normal():
    rng = np.random.default_rng(1)
    y, mean, sd = rng.normal(0, 2, 40), rng.normal(size=40), np.exp(rng.normal(size=40))
    scores = crps(mean + sd * rng.normal(size=(20_000, 40)), y)
    np.testing.assert_allclose(scores, crps_of_normal(y, mean, sd), atol=0.02 * sd.max(), rtol=0.03)


def test_crps_is_the_mean_over_pairs_and_no_draw_far_out_spoils_it():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(50, 7)), 2 * rng.normal(size=7)
    between = abs(x[:, None] - x[None]).sum((0, 1)) / (50 * 49)
    np.testing.assert_allclose(crps(x, y), abs(x - y).mean(0) - between / 2, rtol=1e-12)
    near, far = x.copy(), x.copy()
    near[3], far[3] = 1e3, 1e18
    np.testing.assert_allclose(crps(far, y), crps(near, y), rtol=1e-9)


def test_a_share_has_the_interval_of_jeffreys():
    low, high = binomial_interval(90, 100)
    assert stats.beta.cdf(low, 90.5, 10.5) == pytest.approx(0.025)
    assert stats.beta.cdf(high, 90.5, 10.5) == pytest.approx(0.975)


@pytest.fixture(scope="module")
def law():
    return bs.laws.Chinchilla(noise="normal", scatter="one", size_effects=False)


@pytest.fixture(scope="module")
def rolled(law, runs):
    return bs.rollout(law, runs, "compute", [1e21, 1e20], seed=3, beyond="none", **SHORT)


def test_a_rollout_is_a_fit_to_the_rows_below_and_a_prediction_of_the_others(law, runs, rolled):
    table, rows = rolled
    assert list(table.index) == [1e20, 1e21]
    for cutoff, summary in table.iterrows():
        past, ahead = (
            runs[side].reset_index(drop=True)
            for side in (runs["training_flop"] < cutoff, runs["training_flop"] >= cutoff)
        )
        predictions = rows.isel(prediction=(rows["cutoff"] == cutoff).values)
        assert (
            (summary["fitted"], summary["predicted"])
            == (len(past), len(ahead))
            == (len(past), predictions.sizes["prediction"])
        )
        np.testing.assert_array_equal(runs["loss"].to_numpy()[predictions["row"]], ahead["loss"])
        np.testing.assert_array_equal(predictions["value"], ahead["training_flop"])
        np.testing.assert_allclose(predictions["observed"], np.log(ahead["loss"]))
        fit = bs.fit(law, past, seed=3, **SHORT, check=False)
        predicted = np.log(fit.predict(ahead, seed=3, beyond="none")["loss"].values.reshape(-1, len(ahead)))
        for name, level in rolling.QUANTILES.items():
            np.testing.assert_allclose(predictions[name], np.quantile(predicted, level, axis=0), rtol=1e-9)
        np.testing.assert_allclose(predictions["pit"], (predicted < predictions["observed"].values).mean(0))
        np.testing.assert_allclose(predictions["crps"], crps(predicted, predictions["observed"].values), rtol=1e-8)
        density = stats.norm.pdf(
            np.log(ahead["loss"].to_numpy()),
            np.log(fit.predict(ahead, noise=False, beyond="none", robust=False)["loss"].values.reshape(-1, len(ahead))),
            fit["posterior"]["sigma"].values.reshape(-1, 1),
        )
        np.testing.assert_allclose(predictions["log_score"], np.log(density.mean(0)), rtol=1e-8)
        assert summary["r_hat_max"] == fit.diagnostics["r_hat_max"]


def test_a_rollout_prints_its_scores_in_words_and_draws_itself(rolled):
    scores, rows = rolled
    assert rolled.table() is scores and rows.attrs["by"] == "compute"
    text = str(rolled)
    assert max(map(len, text.split("\n"))) <= 80 and "e+" not in text
    for cutoff, row in scores.iterrows():
        name = f"{cutoff:g}".replace("e+", "e")
        assert f"below {name} FLOP" in text and f"{row['coverage_90']:.0%} [" in text
        assert f"Fitted below {name} FLOP" in rolled.plot(cutoff=cutoff).get_title(loc="left")


def test_the_drift_widens_what_lies_beyond_the_runs_and_leaves_the_rest_unchanged(law, runs, rolled):
    table, rows = bs.rollout(law, runs, "compute", [1e21], seed=3, **SHORT)
    alone = rolled[1].isel(prediction=(rolled[1]["cutoff"] == 1e21).values)
    for name in (*rolling.QUANTILES, "crps"):
        np.testing.assert_array_equal(rows[f"{name}_law_alone"], alone[name])
    below = runs["training_flop"][runs["training_flop"] < 1e21]
    decades = np.log10(runs["training_flop"].to_numpy()[rows["row"]] / below.max())
    np.testing.assert_allclose(rows["beyond"], decades, atol=1e-6)
    assert (rows["beyond"] > 0).all() and set(table.columns) >= {"coverage_50_law_alone", "crps_law_alone"}
    far = rows["beyond"] > 0.5
    wide, narrow = (rows[f"q95{end}"] - rows[f"q5{end}"] for end in ("", "_law_alone"))
    assert (wide > narrow).sel(prediction=far).all()
    assert table.loc[1e21, "coverage_90"] >= table.loc[1e21, "coverage_90_law_alone"]
    with pytest.raises(bs.InputError, match="beyond"):
        bs.rollout(law, runs, "compute", [1e21], beyond="dift", **SHORT)


def test_the_table_sums_the_rows_up(rolled):
    table, rows = rolled
    for cutoff, summary in table.iterrows():
        predictions = rows.isel(prediction=(rows["cutoff"] == cutoff).values)
        for level, low, high in ((50, 0.25, 0.75), (90, 0.05, 0.95)):
            # Quantiles of draws are interpolated; the share of draws below what was observed is not.
            inside = ((predictions["pit"] >= low) & (predictions["pit"] <= high)).mean()
            assert summary[f"coverage_{level}"] == pytest.approx(float(inside), abs=2.01 / summary["predicted"])
            ends = binomial_interval(summary[f"coverage_{level}"] * summary["predicted"], summary["predicted"])
            assert (summary[f"coverage_{level}_low"], summary[f"coverage_{level}_high"]) == pytest.approx(ends)
        for name in ("crps", "log_score"):
            assert summary[name] == pytest.approx(float(predictions[name].mean()))
        assert summary["bias"] == pytest.approx(float((predictions["q50"] - predictions["observed"]).mean()))
    label = "chinchilla, noise=normal, scatter=one, size_effects=False"
    assert rows.attrs == {"law": label, "by": "compute", "scale": "log_loss"}


def test_where_the_law_is_true_intervals_cover_as_they_say(law, runs, truth):
    """Scatter is most of the error here, so that rows are nearly independent."""
    values = {name: truth[name] for name in ("loss_centre", "reducible_share", "parameter_share", "alpha", "beta")}
    observed = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table = runs.assign(loss=law.simulate(values | {"sigma": 0.03}, runs, rng))
        summary, _ = bs.rollout(law, table, "compute", 6e19, seed=seed, **SHORT)
        observed.append(summary.iloc[0])
    count = sum(row["predicted"] for row in observed)
    assert count > 500
    for level in (50, 90):
        hits = sum(round(row[f"coverage_{level}"] * row["predicted"]) for row in observed)
        assert stats.binomtest(int(hits), int(count), level / 100).pvalue > 1e-3


def test_many_rows_are_predicted_in_parts(law, runs, rolled, monkeypatch):
    monkeypatch.setattr(rolling, "AT_ONCE", 10 * SHORT["draws"] * SHORT["chains"])
    _, rows = bs.rollout(law, runs, "compute", 1e20, seed=3, beyond="none", **SHORT)
    whole = rolled[1].isel(prediction=(rolled[1]["cutoff"] == 1e20).values)
    for name in ("observed", "row", "log_score"):
        np.testing.assert_allclose(rows[name], whole[name], rtol=1e-9)
    np.testing.assert_allclose(rows["q50"], whole["q50"], atol=0.01)


def test_rows_of_a_run_are_foretold_as_those_of_a_new_run(runs):
    law = bs.laws.Chinchilla(noise="normal", scatter="one", run_effects=True)
    table = runs.assign(run=np.arange(len(runs)) // 2)
    rows, reference = law.rows(table), law.reference(table)
    values = {"loss_centre": 3.0, "reducible_share": 0.5, "parameter_share": 0.5, "alpha": 0.3, "beta": 0.3}
    draws = law.prior_draws(None, reference, rows, truth=values | {"sigma": 0.01, "run_sd": 0.03})
    ahead = rolling.predicted(draws, rows.head(8), 1)
    mean = np.log(draws.mean(rows.head(8)).values.ravel())
    sd = np.hypot(0.01, 0.03)
    np.testing.assert_allclose(ahead["log_score"], stats.norm.logpdf(np.log(rows["loss"].head(8)), mean, sd), rtol=1e-9)


def test_evaluations_are_cut_at_dates(evaluations):
    law = bs.laws.Progress(7)
    table, rows = bs.rollout(law, evaluations, "date", ["2020-01-01", 2021.5], seed=1, **SHORT)
    assert list(table.index) == [2020.0, 2021.5]
    for cutoff, summary in table.iterrows():
        assert summary["fitted"] == (evaluations["year"] < cutoff).sum()
        assert summary["predicted"] == (evaluations["year"] >= cutoff).sum()
    np.testing.assert_allclose(rows["observed"], np.log(evaluations["perplexity"].to_numpy()[rows["row"]]))
    by_column, _ = bs.rollout(law, evaluations, "publication_date", "2020-01-01", seed=1, **SHORT)
    assert by_column.loc[2020.0].equals(table.loc[2020.0])
    assert table.loc[2020.0, "coverage_90"] > 0.75


def test_a_score_that_a_few_draws_decide_says_so(law, runs, rolled):
    """Where the square root of the error has no mean, the CRPS does not exist."""
    table, _ = rolled
    assert (table["crps_se"] < 0.1 * table["crps"]).all()
    rng, observed = np.random.default_rng(3), np.zeros(5)
    settled = rolling.summarised(rolling.scored(rng.standard_normal((1000, 5)), observed))
    wild = rolling.summarised(rolling.scored(rng.standard_cauchy((1000, 5)) ** 3, observed))
    assert settled["crps_se"] < 0.05 * settled["crps"]
    assert wild["crps_se"] > 0.2 * wild["crps"]
    again = [rolling.summarised(rolling.scored(rng.standard_normal((400, 5)), observed))["crps"] for _ in range(300)]
    once = rolling.summarised(rolling.scored(rng.standard_normal((400, 5)), observed))["crps_se"]
    assert np.std(again) / 2.5 < once < 2.5 * np.std(again)


def test_compute_is_6nd_where_the_table_does_not_say_it(law, runs):
    rows = runs.drop(columns="training_flop")
    np.testing.assert_allclose(law.numbers_along(rows, "compute"), 6 * runs["parameters"] * runs["tokens"])
    np.testing.assert_array_equal(law.numbers_along(rows, "tokens"), runs["tokens"])


def test_counts_are_foretold_at_lengths_not_seen(lengths_counts):
    law = bs.laws.Lengths(seeds=False)
    table, rows = bs.rollout(law, lengths_counts, "length_a", 12, seed=1, **SHORT)
    assert table.loc[12.0, "predicted"] == (lengths_counts["length_a"] >= 12).sum()
    assert np.isnan(table.loc[12.0, "log_score"]) and "log_score" not in rows
    assert (rows["crps"] <= abs(rows["q50"] - rows["observed"]) + rows["q95"] - rows["q5"] + 1).all()


@pytest.mark.parametrize(
    ("by", "cutoff", "message"),
    [
        ("compute", 1e30, "a cutoff of 1e\\+30 leaves no row at or above it to predict; compute goes from"),
        ("compute", [1e20, 1.0], "a cutoff of 1 leaves no row below it to fit"),
        ("compute", 3e18, "below compute 3e\\+18: chinchilla_runs: . rows are fewer than the 6 sampled quantities"),
        ("computer", 1e20, 'column "computer" is unknown; did you mean "compute"'),
        ("compute", "soon", "cutoff 'soon' is neither a number nor a date such as 2019-06-30"),
        ("compute", np.nan, "cutoff nan is neither"),
        ("name", 1e20, "column 'name' is run-0 in row 1, which is no number to cut the rows by"),
    ],
)
def test_cutoffs_that_cannot_be_used_are_refused_before_anything_is_sampled(
    law, runs, by, cutoff, message, monkeypatch
):
    monkeypatch.setattr(rolling, "fit_law", None)
    table = runs.assign(name=[f"run-{i}" for i in range(len(runs))])
    with pytest.raises(bs.InputError, match=message):
        bs.rollout(law, table, by, cutoff)


def test_runs_of_which_nothing_was_seen_have_no_counts_foretold(lengths_counts):
    table = lengths_counts.assign(order=lengths_counts["run"].factorize()[0])
    with pytest.raises(bs.InputError, match="has no row below order 3, so that nothing predicts its rows"):
        bs.rollout(bs.laws.Lengths(seeds=False), table, "order", 3)


@pytest.mark.parametrize(("more", "held"), [(0.0, True), (1.2, False)])
def test_a_formula_predicts_the_largest_rows_of_its_form_and_not_those_beyond_a_break(more, held):
    rng, n = np.random.default_rng(1), np.geomspace(1e3, 1e6, 16)
    y = (0.1 + 5 * n**-0.3) * (1 + (n / 1.5e5) ** 4) ** (-more / 4) * np.exp(0.01 * rng.standard_normal(16))
    sentence = larger_rows(bs.fit("y ~ E + A * n**-a", pd.DataFrame({"n": n, "y": y}), seed=1, **SHORT))
    assert sentence.startswith("Fitted to the 12 rows with n below ")
    count = int(re.search(r"hold (\d) of them", sentence)[1])
    assert (count >= 3 and "do not" not in sentence) if held else (count <= 1 and "do not extrapolate" in sentence)
    few = bs.fit("y ~ E + A * n**-a", pd.DataFrame({"n": n[:11], "y": y[:11]}), seed=1, **SHORT)
    assert larger_rows(few) == ""


def test_a_rollout_of_a_formula_is_on_the_scale_of_its_noise():
    n = np.geomspace(1e3, 1e6, 12)
    y = (0.1 + 5 * n**-0.3) * np.exp(0.01 * np.random.default_rng(1).standard_normal(12))
    scores = bs.rollout("y ~ E + A * n**-a", pd.DataFrame({"n": n, "y": y}), "n", 1e5, **SHORT).scores
    assert scores.attrs["scale"] == "log_response" and abs(scores["bias"].iloc[0]) < 0.05

import json

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.datasets.files import evidence
from bayescaling.models.scores.law import Scores
from bayescaling.reports.pages.since import analysis, holdout, sensitivity
from bayescaling.reports.report import report

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
SETTINGS = {"draws": 200, "tune": 400, "chains": 2, "target_accept": 0.9, "seed": 3}
BENCHMARKS = 5
CUTOFFS = ("2025-01-01",)
CHANGED = ("families with effects of their own", "distilled models left out", "models to the end of 2024")


@pytest.fixture(scope="module")
def scores():
    """Scores of the models whose compute is known, on the benchmarks that most of them have."""
    table = bs.load("eci_scores")
    known = table[table["compute_confidence"].isin(["Confident", "Likely"])]
    kept = known[known["benchmark"].isin(known["benchmark"].value_counts().index[:BENCHMARKS])].reset_index(drop=True)
    kept.attrs = dict(table.attrs)
    return kept


@pytest.fixture(scope="module")
def folder(scores, tmp_path_factory):
    """Folder of a full report of the page, of few scores and with few draws."""
    folder, load = tmp_path_factory.mktemp("since"), analysis.load
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "load", lambda name: scores if name == "eci_scores" else load(name))
        patch.setattr(sensitivity, "CHANGES", {name: sensitivity.CHANGES[name] for name in CHANGED})
        patch.setattr(sensitivity, "BENCHMARKS", 1)
        patch.setattr(holdout, "CUTOFFS", CUTOFFS)
        patch.setattr(analysis, "SIMULATIONS", 2)
        report(folder, pages=("since",), full=True, **SETTINGS)
    return folder


@pytest.fixture(scope="module")
def entry(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)["since"]


@pytest.fixture(scope="module")
def two(folder):
    return bs.open(folder / "posteriors" / "since-break.nc")


def test_rates_are_those_of_the_posterior(entry, two):
    found = bs.scores.progress_at_fixed_compute(two)
    for period in ("before", "after"):
        said = entry["periods"][period]["model"]
        draws = found["factor"].sel(period=period).values.ravel()
        assert said["factor"]["q50"] == pytest.approx(np.median(draws), rel=1e-4)
        assert said["p_progress"] == pytest.approx(float((found["gain"].sel(period=period) > 0).mean()))
    change = found["gain"].sel(period="after") - found["gain"].sel(period="before")
    assert entry["periods"]["change"]["model"]["p_progress"] == pytest.approx(float((change > 0).mean()))
    decade = np.log(10) * found["slope"].values.ravel()
    assert entry["slope_a_decade"]["break"]["q50"] == pytest.approx(np.median(decade))


def test_gains_and_probabilities_of_all_analyses_are_in_the_results(entry, two):
    gain = bs.scores.progress_at_fixed_compute(two, at=(2023.5, 2025.5))["gain"]
    for period, year in (("before", 2023.5), ("after", 2025.5)):
        quantiles = np.quantile(gain.sel(period=year), [0.025, 0.5, 0.975])
        assert list(entry["gains"][period].values()) == pytest.approx(quantiles, rel=1e-4)
    found, evidence = entry["p_faster"], entry["forms"]
    faster = float((gain.sel(period=2025.5) > gain.sel(period=2023.5)).mean())
    assert found["break, models as the unit"] == pytest.approx(faster)
    changed = {name for name, of in entry["rests"].items() if "change" in of}
    assert {f"break, {name}" for name in changed} < set(found) and len(changed) == 2
    assert found["random walk by half-year"] == evidence["answers"]["default"]["random_walk"]["p_faster"]
    averaged = [of["averaged"]["p_faster"] for of in evidence["left_out"]["default"].values()]
    assert sorted(p for name, p in found.items() if "averaged" in name) == sorted(averaged)


def test_forms_are_compared_with_the_best_of_them():
    for by in evidence("scores_forms")["left_out"].values():
        for of in by.values():
            best = max(each["elpd"] for each in of["forms"].values())
            for each in of["forms"].values():
                assert each["elpd_diff"] == pytest.approx(each["elpd"] - best)
            assert sum(each["stacking"] for each in of["forms"].values()) == pytest.approx(1)
            assert of["averaged"]["gains"]["before"]["q50"] < of["averaged"]["gains"]["after"]["q50"]


def test_every_fit_that_a_number_rests_on_is_judged(folder):
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    fits = {"since, linear", "since, break", "2012 to 2023, by rows", "2012 to 2023, by papers"}
    assert set(document["diagnostics"]) == fits
    assert f"of {len(fits)} fits" in (folder / "index.html").read_text(encoding="utf-8")
    assert {path.stem for path in (folder / "posteriors").iterdir()} == {"since-linear", "since-break"}


def test_drawn_pairs_are_draws_of_one_posterior(entry, two):
    found = bs.scores.progress_at_fixed_compute(two)
    slope, gain = np.log(10) * found["slope"].values.ravel(), found["gain"].sel(period="after").values.ravel()
    pairs = entry["pairs"]["after"]
    assert len(pairs["slope"]) == analysis.PAIRS
    for one in zip(pairs["slope"], pairs["gain"], strict=True):
        assert np.isclose(np.column_stack([slope, gain]), one).all(1).any()


def test_published_estimators_are_those_of_the_paper_whatever_the_unit(entry):
    found = entry["least_squares"]
    assert found["two stages"]["factor"] == pytest.approx(5.95, abs=0.01)
    for each in (found["two stages"], found["one regression"]):
        assert 10 ** (each["gain"] / each["slope"]) == pytest.approx(each["factor"])
    assert found["one regression"]["factor"] > 2 * found["two stages"]["factor"]


def test_models_left_out_and_changes_stand_in_a_full_report(entry, folder, scores):
    assert entry["left_out"]["break"]["models"] == scores["model"].nunique()
    assert max(found["elpd_diff"] for found in entry["left_out"].values()) == 0
    left_out = f"{scores['benchmark'].value_counts().index[0]} left out"
    assert set(entry["rests"]) == {*CHANGED, left_out}
    for one in (CHANGED[-1], left_out):
        assert set(entry["rests"][one]) == {"all", "ok", "specification"}
    assert set(entry["rests"][CHANGED[0]]["left_out"]) == {"linear", "break"}
    assert "left_out" not in entry["rests"][CHANGED[1]]
    page = (folder / "index.html").read_text(encoding="utf-8")
    for title in (
        "One thing changed at a time",
        "One pace or two?",
        "Is the frontier foretold?",
        "Do intervals cover?",
    ):
        assert title in page
    assert 'id="what-to-quote"' not in page  # of this page alone there is nothing that can be


def test_every_interval_of_the_page_is_in_its_results(folder, not_in_results, two_intervals):
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert two_intervals(text)[0] == []
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    missing, count = not_in_results(text, document)
    assert not missing and count > 30


def test_the_frontier_is_foretold_beside_the_published_line(entry):
    found = entry["frontier"]
    assert (found["before"], found["after"]) == (6, 6)
    assert sum(found["models"].values()) == bs.load("rosetta_scores")["model"].nunique()
    line, two = found["forecasts"]["line"], found["forecasts"]["break"]
    assert line["mae"] == pytest.approx(0.379, abs=0.001) == -line["bias"]
    assert 0.1 < two["crps"] < two["mae"] < 0.5 and two["coverage_90"] > 0.5


def test_elpd_of_a_changed_law_is_that_of_models_left_out(scores_design):
    fits = [
        bs.fit(law, scores_design.table, seed=1, draws=200, tune=400, chains=2)
        for law in (Scores(pace="linear"), Scores(pace="linear", noise="logit_t4"))
    ]
    unchanged, changed = (sensitivity._by_model(each) for each in fits)
    found, by_group = (
        sensitivity._difference(changed, unchanged),
        [each.loo("model", high_k="none") for each in fits],
    )
    assert found["elpd_diff"] == pytest.approx((by_group[1]["elpd"] - by_group[0]["elpd"]).sum())
    high = (by_group[0]["pareto_k"] > 0.7) | (by_group[1]["pareto_k"] > 0.7)
    assert found["k_above_0.7"] == high.sum()


def test_later_scores_are_judged_beside_the_past_of_their_benchmark(entry, scores):
    ahead = scores["year"] >= 2025.0
    for by_cutoff in entry["later_models"].values():
        (found,) = by_cutoff.values()
        (of,) = found["given"].values()  # compute is known of every model of this table
        assert found["fitted"] == scores.loc[~ahead, "model"].nunique()
        assert of["scores"] + found["not_foretold"] == ahead.sum()
        assert of["coverage_50"] <= of["coverage_80"] <= of["coverage_90"]
        past = scores[~ahead].groupby("benchmark")["score"].mean()
        error = scores.loc[ahead, "benchmark"].map(past) - scores.loc[ahead, "score"]
        assert of["past_scores"]["bias"] == pytest.approx(error.mean())
        assert of["past_scores"]["crps"] < of["past_scores"]["mae"]


def test_models_of_known_compute_are_told_from_others(scores_design, monkeypatch):
    monkeypatch.setattr(holdout, "CUTOFFS", CUTOFFS)
    table = type(scores_design)(seed=20, models=60).table.sample(frac=1, random_state=1).reset_index(drop=True)
    ahead = table[table["year"] >= 2025.0]
    found = holdout.of_later_models({"one": Scores(pace="linear")}, table, SETTINGS)["one"][CUTOFFS[0]]["given"]
    for name, own in ahead.groupby(ahead["training_compute_flop"].notna().map({True: "compute", False: "date"})):
        assert (found[name]["models"], found[name]["scores"]) == (own["model"].nunique(), len(own))


def test_simulated_tables_start_from_the_medians_of_the_posterior(entry, two):
    found = entry["calibration"]["break"]
    assert found["simulations"] == 2 and found["truth"].keys() == Scores(pace="break").prior_of.keys()
    slope = float(two["posterior"]["compute_slope"].median())
    assert found["quantities"]["compute_slope"]["truth"] == pytest.approx(slope)
    assert set(found["quantities"]) == {*analysis.CALIBRATED, "rate[before]", "rate[after]"}


def test_halving_times_to_2023_stand_beside_those_since(entry):
    for found in entry["earlier"]["units"].values():
        assert 12 * np.log(2) / np.log(found["factor"]["q50"]) == pytest.approx(found["halving"]["q50"], rel=0.01)
        assert 6 < found["halving"]["q50"] < 20


def test_widths_are_those_of_the_factor(entry, folder):
    found, one = entry["widths"], bs.open(folder / "posteriors" / "since-linear.nc")
    factor = bs.scores.progress_at_fixed_compute(one)["factor"].values
    assert found["posterior"] == pytest.approx(np.log10(factor).std(ddof=1), rel=1e-6)
    assert found["families"] >= found["posterior"] > 0
    assert 0 < found["computes"] < found["models"] and 0 < found["scores"] < found["models"]
    medians = [entry["periods"]["all"]["model"]] + [
        each["all"]["model"] for each in entry["rests"].values() if each["specification"]
    ]
    spread = np.std([np.log10(each["factor"]["q50"]) for each in medians], ddof=1)
    assert found["specification"] == pytest.approx(spread)


def test_computes_of_2025_have_what_was_withdrawn_since():
    table = bs.load("eci_scores")
    models = sensitivity._computes_of_2025(table).drop_duplicates("model").set_index("model")
    before = table.drop_duplicates("model").set_index("model")
    new = models.index[models["training_compute_flop"].notna() & before["training_compute_flop"].isna()]
    assert "Claude 3 Opus" in new and (models.loc[new, "compute_confidence"] == "Speculative").all()
    assert (models.loc[before["training_compute_flop"].notna(), "training_compute_flop"] > 0).all()
    assert models.at["DeepSeek-V3", "training_compute_flop"] == 3.4078e24


def test_the_answer_says_what_the_numbers_say(folder):
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (answer,) = document["answers"]
    since = document["since"]
    for gain in since["gains"].values():
        assert f"{gain['q50']:.1f} [{gain['q2.5']:.1f}, {gain['q97.5']:.1f}]" in answer["number"]
    least, most = (f"{x:.3f}" if x <= 0.999 else "> 0.999" for x in (f(since["p_faster"].values()) for f in (min, max)))
    assert answer["page"] == "since" and f"{least} to {most} over {len(since['p_faster'])}" in answer["number"]
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert f"between {least} and {most.replace('>', '&gt;')} in {len(since['p_faster'])} analyses" in page

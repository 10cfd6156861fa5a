import dataclasses
import json
import math
import sys
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.models import published
from bayescaling.models.scores.law import Scores

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "evidence"))

import formulas  # noqa: E402
import make  # noqa: E402
import scalebench  # noqa: E402
import since  # noqa: E402
import small_models  # noqa: E402
import study  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
SHORT = {"draws": 200, "tune": 400, "chains": 2}
CUTOFFS = ("2025-01-01",)
CHANGED = ("families with effects of their own", "distilled models left out", "models to the end of 2024")
ONE = "beyond"  # a study of three laws of one table


@pytest.mark.parametrize("name", make.STUDIES)
def test_each_study_is_of_todays_laws_and_tables(name):
    document = study.read(name)
    assert study.changes(document, make.STUDIES[name]) == [], f"make evidence makes {name} again"
    assert document["what"] == make.STUDIES[name].what and document["made"] >= "2026-11-25"


def test_every_file_is_of_a_study():
    assert {path.stem for path in (ROOT / "evidence").glob("*.json")} == set(make.STUDIES)


def test_chains_of_the_study_of_single_fits_converged():
    changed = study.read("small_models_changed")["result"]["changed"]
    left = {key for key, of in changed.items() if not of["ok"]}
    said = {"scheme-1, one sigma", "scheme-3, without the smallest size"}
    assert left <= said, "pages say that these did not converge"


def test_rates_and_the_smallest_size_move_the_fitted_floor_and_noise_does_not():
    changed = study.read("small_models_changed")["result"]["changed"]

    def median(of, change):
        return changed[f"{of}, {change}"]["E_minus_entropy"]["q50"]

    assert median("scheme-2", "coupled") - median("scheme-1", "coupled") > 0.3
    assert median("small_lm_rates", "best rates") - median("small_lm_rates", "rate 0.003 for all sizes") > 0.3
    for scheme in ("scheme-1", "scheme-2", "scheme-3", "scheme-4"):
        copies = [changed[f"{scheme}, {change}"]["copies"] for change in ("coupled", "without the smallest size")]
        rise = copies[1]["bias"] - copies[0]["bias"]
        if changed[f"{scheme}, without the smallest size"]["ok"]:
            assert median(scheme, "without the smallest size") - median(scheme, "coupled") > max(0.03, 2 * rise)
        shift = median(scheme, "normal noise") - median(scheme, "coupled")
        assert abs(shift) < 0.2 * changed[f"{scheme}, coupled"]["E_minus_entropy"]["sd"]
        assert copies[0]["coverage_90"] >= 0.8


def test_changes_that_do_nothing_are_seldom_claimed_however_often_one_looks_and_real_ones_are():
    result = study.read("change")["result"]
    for way in ("split", "split in their order", "drawn again"):
        assert result[way]["worth"]["20"] <= 0.05 < result[way]["t test, p < .05"]["20"]
    assert all(result["in flight"][of]["0.0"][1] <= 0.05 for of in ("simulated", "public curves"))
    assert result["power"]["0.005"]["1 / 20"]["claimed"] > 0.99 and result["power"]["0.005"]["1 / 20"]["runs"] < 6
    below = result["below the target"]
    assert below["0.0"]["1 / 50"]["claimed"] < 0.02 < 0.08 < below["0.0"]["t test at every run"]["claimed"]


def test_intervals_of_the_right_law_of_horizons_hold_the_truths_of_simulated_tables():
    result = study.read("horizons_recovery")["result"]
    for case in set(result) - {"noise too small", "trend too stiff"}:
        assert result[case]["converged"] >= 0.95
        assert all(0.85 <= result[case][of]["90%"] <= 0.97 for of in ("horizons", "doubling time")), case


def test_intervals_with_the_drift_hold_runs_of_sources_that_did_not_teach_it_on_both_sides():
    result = study.read("beyond")["result"]
    for side, by_law in result["laws"].items():
        assert set(by_law) == {"coupled", "chinchilla", "offsets", "frontier"} == set(result["drift"][side])
        for name, of in by_law.items():
            alone, drifting = (of["all"][way] for way in ("law alone", "with drift"))
            assert max(alone["coverage_90"], 0.88) <= drifting["coverage_90"] <= 0.97, (side, name)
            assert alone["width"] < drifting["width"] < 1.6 * alone["width"], (side, name)
            assert of["converged"] >= 0.5 * of["rollouts"] and set(of["learned_without"]) == set(
                of["by_source"]["law alone"]
            )


def test_right_formulas_are_rarely_rejected_and_wrong_ones_of_thirty_rows_are():
    result = study.read("neighbours")["result"]
    assert result["alarms"]["rejected"]["share"] <= 0.08 and result["alarms"]["by neighbours"]["share"] <= 0.03
    assert result["alarms"]["rejected"]["tables"] >= 900
    assert result["seen in 30 rows"]["rejected"]["share"] >= 0.8


def test_formulas_converge_hold_the_truths_of_simulated_tables_and_are_rejected_where_wrong():
    result = study.read("formulas_simulated")["result"]
    right = result["right"].values()
    assert len(right) == 12 and all(of["converged"] >= 0.95 and of["rejected"] <= 0.08 for of in right)
    assert all(of["rejected"] >= 0.8 for of in result["wrong"].values())
    held = [share for of in right for share in of["held"]["90%"].values()]
    assert 0.85 <= sum(held) / len(held) <= 0.95


def test_published_constants_are_held_by_fits_to_tables_simulated_from_them():
    result = study.read("published_simulated")["result"]
    laws = published.laws()
    known = {name for name, of in laws.items() if {*of.law(columns=[*of.columns][1:]).roles} == {*of.constants}}
    assert {*result["laws"]} == known and len(known) >= 15
    everything = result["all"]
    assert everything["converged"] >= 0.95 * result["tables"]
    assert 0.85 <= everything["90%"] <= 0.95
    # Constants of one table go together: no more are taken to be independent than there are tables.
    for width, share in (("90%", 0.9), ("50%", 0.5)):
        assert abs(everything[width] - share) <= 2 * math.sqrt(share * (1 - share) / result["tables"])


def test_laws_of_a_benchmark_converge_and_predict_as_least_squares_within_its_bounds_do():
    result = study.read("scalebench")["result"]
    laws = [law for task in result["tasks"].values() for law in task["laws"].values()]
    assert len(laws) == 59 == sum(len(task["laws"]) for task in scalebench.TASKS.values())
    assert sum(task["converged"] for task in result["tasks"].values()) >= 0.5 * len(laws)
    assert sum(task["as_good"] for task in result["tasks"].values()) >= 0.65 * len(laws)
    for task in result["tasks"].values():
        ranked = sorted(task["laws"].values(), key=lambda law: -law["quoted"]["R2"])
        assert ranked[task["rank"] - 1] == task["laws"][task["chosen"]] and ranked[0] == task["laws"][task["best"]]


def test_half_of_the_draws_of_an_answer_are_below_its_median():
    x = np.geomspace(1, 1e3, 12)
    y = 3 * x**-0.3 * np.exp(0.01 * np.random.default_rng(0).standard_normal(12))
    fit = bs.fit("y ~ A * x**-a", pd.DataFrame({"x": x, "y": y}), draws=500, tune=500)
    for question in ("a", "y at x = 30", "x where y = 1.5"):
        median = float(fit.ask(question)["q50"].iloc[0])
        assert formulas.share_below(fit, question, median) == pytest.approx(0.5, abs=0.01)


def test_steps_from_published_horizons_lead_to_those_of_the_law():
    result = study.read("horizons_metr")["result"]
    assert all(result["ok"].values())
    for of in result["models"].values():
        if None not in of["factors"].values():
            assert of["published"] * math.prod(of["factors"].values()) == pytest.approx(of["law"]["q50"])


def test_sizes_trained_at_one_rate_can_take_their_best_rates():
    tables = small_models._tables()
    mixed = small_models.with_best_rates(tables, 3)
    assert len(mixed) == len(tables["scheme-1"]) and mixed["run"].nunique() == tables["scheme-1"]["run"].nunique()
    rates = mixed.groupby("parameters")["learning_rate_peak"].unique()
    assert [list(rates_of_size) for rates_of_size in rates] == [[0.03], [0.03], [0.03], [0.003], [0.003]]
    assert set(small_models.second_half(tables["scheme-1"]).groupby("run").size()) == {6}


def test_a_study_of_another_law_table_or_setting_is_seen():
    document, of = study.read(ONE), make.STUDIES[ONE]
    table, fewer = of.laws()[0][1], of.laws()[0][1].iloc[:-1]
    fewer.attrs = dict(table.attrs)

    def seen(laws=None, **more):
        changed = dataclasses.replace(of, **({"laws": lambda: laws} if laws else {}), **more)
        return " and ".join(study.changes(document, changed))

    assert seen() == ""
    assert "the table chinchilla_runs has changed" in seen([(law, fewer) for law, _ in of.laws()])
    prior = [(dataclasses.replace(law, priors={"alpha": "LogNormal(-1, 0.3)"}), table) for law, _ in of.laws()]
    assert seen(prior).count("the log density of") == len(prior)
    assert "settings are {'seed': 2}" in seen(settings={"seed": 2})
    assert "is no longer part of it" in seen(of.laws()[1:])


def test_a_study_that_is_stopped_goes_on_from_its_parts_and_writes_a_whole_file_or_none(tmp_path):
    steps, table = [], bs.load("chinchilla_runs")

    def work(parts, *, seed, stop):
        def part(name):
            steps.append(name)
            if name == stop:
                raise KeyboardInterrupt
            return {"seed": seed, "never": float("nan") if name == "none" else None}

        def fitted():
            steps.append("fit")
            return bs.fit("chinchilla", table, seed=seed, draws=100, tune=200)

        draws = parts.fit("fit", fitted)["posterior"].sizes["draw"]
        return {"draws": draws} | {name: parts.entry(name, lambda name=name: part(name)) for name in ("one", "two")}

    def one(stop):
        return study.Study("a trial", lambda parts, seed: work(parts, seed=seed, stop=stop),
                           lambda: [(bs.laws.Chinchilla(), table)], {"seed": 3})  # fmt: skip

    options = {"folder": tmp_path, "parts": tmp_path / "parts"}
    with pytest.raises(KeyboardInterrupt):
        study.made("trial", one("two"), **options)
    assert steps == ["fit", "one", "two"] and not (tmp_path / "trial.json").exists()
    document = study.made("trial", one(None), **options)
    assert steps == ["fit", "one", "two", "two"]
    assert document["result"] == {"draws": 100, "one": {"seed": 3, "never": None}, "two": {"seed": 3, "never": None}}
    assert document == json.loads((tmp_path / "trial.json").read_text())
    assert study.changes(document, one(None)) == []


@pytest.fixture(scope="module")
def scores():
    """Scores of the models whose compute is known, on the benchmarks that most of them have."""
    table = bs.load("eci_scores")
    trusted = table[table["compute_confidence"].isin(["Confident", "Likely"])]
    return study.selected(trusted, trusted["benchmark"].isin(trusted["benchmark"].value_counts().index[:5]))


@pytest.fixture
def few(scores, monkeypatch):
    """Studies of fewer scores and fewer changes."""
    load = bs.load
    monkeypatch.setattr(bs, "load", lambda name: scores if name == "eci_scores" else load(name))
    monkeypatch.setattr(since, "FULL", {"draws": 200, "tune": 400})
    monkeypatch.setattr(since, "CHANGES", {name: since.CHANGES[name] for name in CHANGED})
    monkeypatch.setattr(since, "BENCHMARKS", 1)
    monkeypatch.setattr(since, "CUTOFFS", CUTOFFS)


@pytest.mark.thorough
@pytest.mark.slow
def test_changes_are_compared_with_the_laws_unchanged(few, scores, tmp_path):
    parts = study.Parts(tmp_path)
    with bs.parallel(2):
        changes = since.since_changes(parts, seed=3, draws=150, tune=300)
    left_out = f"{scores['benchmark'].value_counts().index[0]} left out"
    assert set(changes) == {*CHANGED, left_out}
    for one in (CHANGED[-1], left_out):
        assert set(changes[one]) == {"all", "ok"}
    assert set(changes[CHANGED[0]]["left_out"]) == {"linear", "break"} and "left_out" not in changes[CHANGED[1]]


@pytest.mark.thorough
@pytest.mark.slow
def test_simulated_tables_start_from_the_medians_of_the_posterior(few, tmp_path):
    parts = study.Parts(tmp_path)
    coverage = since.since_coverage(parts, seed=3, simulations=2, **SHORT)["linear"]
    assert coverage["simulations"] == 2 and coverage["truth"].keys() == Scores(pace="linear").prior_of.keys()
    slope = float(bs.open(tmp_path / "linear.nc")["posterior"]["compute_slope"].median())
    assert coverage["quantities"]["compute_slope"]["truth"] == pytest.approx(slope)
    assert set(coverage["quantities"]) == {"compute_slope", "yearly_gain", "capability_sd", "rate[all]"}


def test_later_scores_are_judged_beside_the_past_of_their_benchmark(few, scores):
    scored = since.of_later_models(Scores(pace="linear"), scores, {"seed": 3, **SHORT})[CUTOFFS[0]]
    ahead = scores["year"] >= 2025.0
    (of,) = scored["given"].values()  # compute is known of every model of this table
    assert scored["fitted"] == scores.loc[~ahead, "model"].nunique()
    assert of["scores"] + scored["not_foretold"] == ahead.sum()
    assert of["coverage_50"] <= of["coverage_80"] <= of["coverage_90"]
    past = scores[~ahead].groupby("benchmark")["score"].mean()
    error = scores.loc[ahead, "benchmark"].map(past) - scores.loc[ahead, "score"]
    assert of["past_scores"]["bias"] == pytest.approx(error.mean())
    assert of["past_scores"]["crps"] < of["past_scores"]["mae"]


def test_models_of_known_compute_are_judged_apart(scores_design, monkeypatch):
    monkeypatch.setattr(since, "CUTOFFS", CUTOFFS)
    table = type(scores_design)(seed=20, models=60).table.sample(frac=1, random_state=1).reset_index(drop=True)
    ahead = table[table["year"] >= 2025.0]
    scored = since.of_later_models(Scores(pace="linear"), table, {"seed": 3, **SHORT})[CUTOFFS[0]]["given"]
    for name, members in ahead.groupby(ahead["training_compute_flop"].notna().map({True: "compute", False: "date"})):
        assert (scored[name]["models"], scored[name]["scores"]) == (members["model"].nunique(), len(members))


@pytest.mark.thorough
def test_elpd_of_a_changed_law_is_that_of_models_left_out(scores_design):
    fits = [
        bs.fit(law, scores_design.table, seed=1, draws=200, tune=400, chains=2)
        for law in (Scores(pace="linear"), Scores(pace="linear", noise="logit_t4"))
    ]
    unchanged, changed = (since._by_model(fit) for fit in fits)
    total, by_group = since._difference(changed, unchanged), [fit.loo("model", high_k="none") for fit in fits]
    assert total["elpd_diff"] == pytest.approx((by_group[1]["elpd"] - by_group[0]["elpd"]).sum())
    high = (by_group[0]["pareto_k"] > 0.7) | (by_group[1]["pareto_k"] > 0.7)
    assert total["k_above_0.7"] == high.sum()


def test_computes_of_2025_have_what_was_withdrawn_since():
    table = bs.load("eci_scores")
    models = since._computes_of_2025(table).drop_duplicates("model").set_index("model")
    before = table.drop_duplicates("model").set_index("model")
    new = models.index[models["training_compute_flop"].notna() & before["training_compute_flop"].isna()]
    assert "Claude 3 Opus" in new and (models.loc[new, "compute_confidence"] == "Speculative").all()
    assert (models.loc[before["training_compute_flop"].notna(), "training_compute_flop"] > 0).all()
    assert models.at["DeepSeek-V3", "training_compute_flop"] == 3.4078e24

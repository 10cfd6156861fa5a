import shutil
from pathlib import Path

import bayescaling as bs
import pandas as pd
import pytest
from bayescaling import InputError, load, read
from bayescaling.datasets.catalogue import FOLDER
from bayescaling.errors import TableNote

WHOLE = pd.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "benchmark": ["quiz", "sums", "quiz", "sums"],
        "score": [0.2, 0.9, 0.5, 1.0],
        "date": ["2024-01-01", "2024-01-01", "2025-01-01", "2025-01-01"],
        "training_compute_flop": [1e24, 1e24, None, None],
        "compute_confidence": ["likely", "likely", None, None],
        "family": ["first", "first", "second", "second"],
    }
)


def changed(row, column, value):
    table = WHOLE.astype(object)
    table.loc[row, column] = value
    return table


def test_a_whole_table_is_read_with_its_years():
    table = read(WHOLE, "scores")
    assert table["year"].tolist() == [2024.0, 2024.0, 2025.0, 2025.0]
    assert table["compute_confidence"].tolist()[:2] == ["Likely", "Likely"]
    assert table["compute_confidence"].isna().tolist() == [False, False, True, True]
    assert table["score"].dtype == "float64"


def test_names_and_scores_are_enough():
    assert list(read(WHOLE[["model", "benchmark", "score"]], "scores")) == ["model", "benchmark", "score"]


def test_columns_of_other_names_are_recognised(tmp_path):
    names = {"model": "Model name", "benchmark": "Task", "score": "Accuracy (%)", "date": "Release Date"}
    names |= {"training_compute_flop": "Training compute (FLOP)", "family": "Model Family"}
    renamed = WHOLE.assign(score=100 * WHOLE["score"], model=["007", "007", "7", "7"]).rename(columns=names)
    renamed.to_csv(tmp_path / "theirs.csv", index=False)
    with pytest.warns(TableNote, match="scores are read as percent"):
        table = read(tmp_path / "theirs.csv", "scores")
    ours = read(WHOLE.assign(model=["007", "007", "7", "7"]), "scores")
    pd.testing.assert_frame_equal(table[list(ours)], ours)


def test_messages_and_conditions_name_the_columns_of_the_file():
    renamed = WHOLE.rename(columns={"benchmark": "Task", "score": "Accuracy", "date": "Release date"})
    for name in ("Task", "benchmark"):
        with pytest.warns(TableNote, match="2 of 4 rows left out"):
            assert len(read(renamed, "scores", where=f"{name} == 'quiz'")) == 2
    assert renamed.attrs == {}
    renamed.loc[1, "Accuracy"], renamed.loc[2, "Release date"] = -0.5, "soon"
    with pytest.raises(InputError, match=r'column "Accuracy": found -0.5.*column "Release date": found "soon"'):
        read(renamed, "scores")
    renamed.loc[1, "Accuracy"], renamed.loc[2, "Release date"] = 0.5, "2025-01-02"
    with pytest.raises(InputError, match=r'column "Release date": found "2025-01-01.*where model "b" had'):
        read(renamed, "scores")


def test_a_unit_that_is_given_is_believed_before_the_header():
    table = WHOLE.rename(columns={"score": "score_pct"})
    assert read(table, "scores", unit={"score": "share"})["score"].tolist() == WHOLE["score"].tolist()
    with pytest.warns(TableNote, match="percent"):
        scores = read(table, "scores", unit={"score": "percent"})["score"]
    assert scores.tolist() == pytest.approx((WHOLE["score"] / 100).tolist())
    with pytest.raises(
        InputError, match=r'column "score_pct" states percent but holds nothing above 1; give.*score=share'
    ):
        read(table, "scores")


def test_a_column_chosen_for_another_part_leaves_its_own_to_one_of_a_common_name():
    table = WHOLE[["model", "benchmark", "score"]].rename(columns={"benchmark": "LLM"})
    swapped = read(table, "scores", columns={"benchmark": "model"})
    assert swapped["benchmark"].tolist() == WHOLE["model"].tolist()
    assert swapped["model"].tolist() == WHOLE["benchmark"].tolist()


def test_a_compute_that_may_be_of_answering_is_not_taken_for_that_of_training():
    table = read(WHOLE.drop(columns="training_compute_flop").assign(compute="high"), "scores")
    assert "training_compute_flop" not in table and set(table["compute"]) == {"high"}


def test_a_column_of_the_very_name_goes_before_others():
    table = WHOLE.assign(task="other", accuracy=0.1)
    assert read(table, "scores")["benchmark"].tolist() == WHOLE["benchmark"].tolist()
    with pytest.raises(InputError, match=r'columns "Task", "eval" could each be benchmark; choose one with .*--column'):
        read(WHOLE.rename(columns={"benchmark": "Task"}).assign(eval="x"), "scores")


def test_names_are_text_as_they_are_written(tmp_path):
    (tmp_path / "mine.csv").write_text("who,benchmark,score\n007,quiz,0.5\n7,quiz,0.25\n")
    assert read(tmp_path / "mine.csv", "scores", columns={"model": "who"})["model"].tolist() == ["007", "7"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (changed(1, "score", 90), 'row 1 .*column "score": found 90, which is above 1; give shares .*score=percent'),
        (changed(1, "score", -0.1), "found -0.1, which is not a number from 0 to 1"),
        (changed(1, "score", 101), "found 101, which is above 1; correct it"),
        (changed(1, "score", None), "found nothing.*--drop-missing"),
        (changed(1, "score", "high"), 'found "high", which is not a number'),
        (changed(1, "benchmark", "quiz"), 'row 1 .*model "a" has a score on "quiz" before; leave one'),
        (changed(1, "model", None), 'column "model": found nothing'),
        (changed(1, "date", "2024-01-02"), 'found "2024-01-02.*" where model "a" had "2024-01-01'),
        (changed(1, "date", "last year"), 'found "last year", which is no date; write it as 2019-02-14'),
        (changed(1, "training_compute_flop", 2e24), 'found 2e\\+24 where model "a" had 1e\\+24 before'),
        (changed(1, "training_compute_flop", None), 'found nothing where model "a" had 1e\\+24 before'),
        (changed(2, "training_compute_flop", -1.0), "found -1, which is not a positive finite number"),
        (changed(1, "compute_confidence", "sure"), 'found "sure", which is none of "Confident", "Likely"'),
        (changed(1, "family", "second"), 'found "second" where model "a" had "first" before'),
        (WHOLE.drop(columns="score"), '"score" is needed and not there'),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(table, message):
    with pytest.raises(InputError, match=message) as error:
        read(table, "scores")
    assert len(str(error.value).splitlines()) == 1


def test_percent_are_read_as_such_when_told():
    with pytest.warns(TableNote, match="read as percent"):
        table = read(WHOLE.assign(score=100 * WHOLE["score"]), "scores", unit={"score": "percent"})
    assert table["score"].tolist() == pytest.approx(WHOLE["score"].tolist())
    assert table.attrs["reading"][0]["factor"] == 0.01


def test_a_score_above_100_percent_is_refused():
    with pytest.raises(InputError, match="found 190, which is above 100"):
        read(changed(1, "score", 190), "scores", unit={"score": "percent"})


@pytest.mark.parametrize(
    ("unit", "message"),
    [({"loss": "bits"}, '"loss" has none in a table of scores'), ({"score": "persent"}, 'did you mean "percent"')],
)
def test_other_units_are_refused(unit, message):
    with pytest.raises(InputError, match=message):
        read(WHOLE, "scores", unit=unit)


def test_rows_without_a_score_can_be_left_out():
    with pytest.warns(TableNote, match="1 lack score"):
        assert len(read(changed(1, "score", None), "scores", drop_missing=True)) == 3


def test_a_model_may_lack_its_date():
    table = read(WHOLE.assign(date=["2024-01-01", "2024-01-01", None, ""]).replace({"date": {"": None}}), "scores")
    assert table["year"].isna().tolist() == [False, False, True, True]


# The built-in tables -------------------------------------------------------------------------------------------------


def test_the_scores_of_the_index_are_all_there():
    table, models = load("eci_scores"), load("eci_models")
    assert table["model"].nunique() == len(models) == 222
    assert table["benchmark"].nunique() == 57
    assert not table.duplicated(["model", "benchmark"]).any()
    assert (table["score"] <= 0.005).sum() == 62
    assert (table["score"] >= 0.995).sum() == 5
    stated = models.dropna(subset=["training_compute_flop"])
    assert stated["compute_confidence"].value_counts().to_dict() == {"Confident": 53, "Likely": 18, "Speculative": 8}
    assert str(stated["date"].max().date()) == "2025-12-22"


def test_sources_of_scores_are_those_that_the_note_counts():
    sources, note = load("eci_scores")["score_source"], bs.notes("eci_scores")
    epoch, named = (sources == "Epoch evaluations").sum(), sources.nunique() - 1
    others, none = sources.notna().sum() - epoch, sources.isna().sum()
    assert (epoch, others, named, none) == (691, 1224, 70, 334)
    for count in (f"{epoch} scores are", f"{others:,} are from {named} other names", f"For {none} the file names none"):
        assert count in " ".join(note.split())


@pytest.fixture
def certain():
    """The scores that the line of the note selects."""
    (line,) = [line for line in bs.notes("eci_scores").splitlines() if line.startswith("    scores = scores[")]
    selected = {"scores": load("eci_scores")}
    exec(line.strip(), selected)
    return selected["scores"]


def test_the_line_of_the_note_leaves_the_doubtful_scores_out(certain):
    note = " ".join(bs.notes("eci_scores").split())
    assert set(certain["score_source"]) == {"Epoch evaluations"}
    computes = certain.dropna(subset=["training_compute_flop"])["model"].nunique()
    counts = len(certain), certain["model"].nunique(), certain["benchmark"].nunique(), computes
    assert "{} scores of {} models on {} benchmarks. Of these models, {} have".format(*counts) in note
    law = bs.laws.Scores(pace="break")
    assert law.with_compute(certain) and set(certain["year"] < law.break_year) == {True, False}
    guide = (Path(bs.__file__).parent / "docs" / "guides" / "scores.md").read_text(encoding="utf-8")
    assert 'scores[scores["score_source"] == "Epoch evaluations"].reset_index(drop=True)' in guide


def test_a_package_without_the_doubtful_scores_loads(certain, tmp_path, monkeypatch):
    for name in ("eci_scores", "eci_models"):
        table = pd.read_csv(FOLDER / f"{name}.csv")
        if "score_source" in table:
            table = table[table["score_source"] == "Epoch evaluations"]
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        shutil.copy(FOLDER / f"{name}.md", tmp_path)
    monkeypatch.setitem(load.__globals__, "FOLDER", tmp_path)
    pd.testing.assert_frame_equal(load("eci_scores"), certain)


def test_a_download_of_the_benchmarking_hub_is_read_unchanged(tmp_path):
    """A file of the columns that Epoch AI's has, of made-up models; the law takes it with computes joined."""
    lines = ["model,model_version,date,benchmark,benchmark_release_date,performance,source"]
    for i in range(6):
        for j, benchmark in enumerate(("Quiz", '"Sums, long"')):
            lines.append(f"Model {i},m-{i}-v1,202{3 + i // 3}-0{1 + i}-15,{benchmark},,0.{i + 1}{j},A leaderboard")
    path = tmp_path / "benchmarks.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = bs.read(path, "scores")
    assert table["score"].tolist() == [float(f"0.{i + 1}{j}") for i in range(6) for j in range(2)]
    assert table["benchmark"].unique().tolist() == ["Quiz", "Sums, long"]
    assert table["source"].eq("A leaderboard").all()
    computes = pd.DataFrame({"model": [f"Model {i}" for i in range(5)], "training_compute_flop": 1e24})
    joined = bs.read(pd.read_csv(path).merge(computes, on="model", how="left"), "scores")
    law = bs.laws.Scores(pace="acceleration")
    assert law.with_compute(law.rows(joined)) == computes["model"].tolist()


def test_the_published_index_lies_in_its_interval_but_for_the_anchors():
    models = load("eci_models").set_index("model")
    limited = models.dropna(subset=["eci_low"])
    assert len(limited) == 220
    assert ((limited["eci_low"] <= limited["eci"]) & (limited["eci"] <= limited["eci_high"])).all()
    assert models.loc[["Claude 3.5 Sonnet", "GPT-5"], "eci"].round().tolist() == [130, 150]


@pytest.mark.parametrize("name", ["eci", "rosetta"])
def test_what_is_joined_is_that_of_the_model(name):
    table, models = load(f"{name}_scores"), load(f"{name}_models").set_index("model")
    shared = [column for column in table if column in models]
    joined = models.loc[table["model"], shared].reset_index(drop=True)
    pd.testing.assert_frame_equal(table[shared], joined, check_names=False)


def test_families_are_sizes_of_one_model():
    models = load("eci_models").set_index("model")["family"]
    assert models["LLaMA-7B"] == models["LLaMA-65B"] != models["Llama 2-7B"] == models["Llama 2-70B"]


def test_scores_are_a_kind_of_table():
    assert len(read(load("eci_scores"), "scores")) == 2249


def test_a_unit_that_is_unknown_is_refused_before_the_file_is_opened(tmp_path):
    with pytest.raises(InputError, match='unit of score: "x" is unknown'):
        read(tmp_path / "absent.csv", "scores", unit={"score": "x"})

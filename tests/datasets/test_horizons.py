"""Tables of successes on tasks with human times: forms that are read, and refusals."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest

CELLS = """model,release_date,task_id,human_minutes,human_source,n_success,n_runs
a,2024-01-15,t1,4,baseline,5,8
a,2024-01-15,t2,60,estimate,1,8
b,2025-02-01,t1,4,baseline,8,8
b,2025-02-01,t2,60,estimate,4,8
"""


def read(tmp_path, text, name="cells.csv", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return bs.read(path, "horizons", **options)


def test_common_names_are_read_and_dates_become_years(tmp_path):
    table = read(tmp_path, CELLS)
    assert table["minutes"].tolist() == [4, 60, 4, 60]
    assert table["successes"].tolist() == [5, 1, 8, 4]
    assert table["year"].iloc[0] == pytest.approx(2024 + 14 / 366)


def test_a_cell_that_is_no_number_is_named_as_in_the_file(tmp_path):
    with pytest.raises(bs.InputError, match='column "human_minutes": found "long", which is not a number'):
        read(tmp_path, CELLS.replace("t1,4,", "t1,long,", 1))


@pytest.mark.parametrize(
    ("name", "options", "factor"),
    [("hours", {}, 60.0), ("human_minutes", {"unit": {"minutes": "hours"}}, 60.0), ("human_minutes", {}, 1.0)],
)
def test_hours_become_minutes(tmp_path, name, options, factor):
    table = read(tmp_path, CELLS.replace("human_minutes", name), **options)
    assert table["minutes"].iloc[1] == 60 * factor


def test_single_runs_are_counted(tmp_path):
    lines = [
        {"model": m, "task_id": t, "human_minutes": 5.0 * (t == "y") + 1, "score_binarized": s} for m, t, s in RUNS
    ]
    text = "\n".join(pd.Series(line).to_json() for line in lines)
    with pytest.warns(bs.errors.TableNote, match="one run"):
        table = read(tmp_path, text, "runs.jsonl")
    counted = table.set_index(["model", "task"])[["successes", "runs"]]
    assert counted.loc[("a", "x")].tolist() == [2, 3]
    assert counted.loc[("b", "y")].tolist() == [0, 1]


RUNS = [("a", "x", 1), ("a", "x", 0), ("a", "x", 1), ("a", "y", 0), ("b", "x", 1), ("b", "y", 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CELLS.replace("baseline,5,8", "baseline,9,8"), r"found 9 of 8 runs"),
        (CELLS.replace("baseline,5,8", "baseline,2.5,8"), r"no whole number"),
        (CELLS.replace("t1,4,", "t1,0,"), r"positive finite number"),
        (CELLS + "b,2025-02-01,t2,60,estimate,4,8\n", r"has successes on .t2. at 60 minutes before"),
        (CELLS + "b,2025-02-01,t2,90,estimate,5,8\n", r"at a lower threshold"),
        (CELLS + "b,2025-02-01,t2,90,estimate,3,7\n", r"at another threshold"),
        (CELLS.replace("b,2025-02-01,t1", "b,2025-02-02,t1"), r"date"),
    ],
)
def test_what_contradicts_itself_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(bs.InputError, match=message) as refusal:
        read(tmp_path, text)
    assert "cells.csv" in str(refusal.value)
    assert "\n" not in str(refusal.value) or len(str(refusal.value)) < 600


def test_an_unknown_unit_is_refused(tmp_path):
    with pytest.raises(bs.InputError, match="unit of minutes"):
        read(tmp_path, CELLS, unit={"minutes": "weeks"})


def test_the_built_in_table_has_nested_thresholds():
    table = bs.load("weirdml")
    wide = table.pivot(index=["model", "task"], columns="threshold", values="successes")
    assert (np.diff(wide.to_numpy(), axis=1) <= 0).all()
    assert table.groupby("task")["time_source"].first().eq("timed").sum() == 3
    assert len(table) == 87 * 17 * 5


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
@pytest.mark.parametrize(
    "write",
    [
        lambda x: f"{x:g}m",
        lambda x: f"{x // 60:g}h {x % 60:g}m",
        lambda x: f"{x // 60:g}:{x % 60:02g}:00",
        lambda x: f"{x / 60:.10g} hrs",
        lambda x: f"PT{x // 60:g}H{x % 60:g}M",
        lambda x: pd.Timedelta(minutes=x),
        lambda x: f"{x / 480:.10g} days",  # of work
    ],
)
def test_times_are_read_by_their_own_units_whatever_the_header_states(write):
    minutes = [2.0, 45.0, 80.0, 657.0]
    table = pd.DataFrame({"model": "a", "task": list("wxyz"), "human_hours": [write(x) for x in minutes], "success": 1})
    np.testing.assert_allclose(bs.read(table, "horizons")["minutes"], minutes, rtol=0.02)


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_classes_of_time_take_their_middle_and_open_ones_are_refused():
    table = pd.DataFrame({"model": "a", "task": list("xy"), "time": ["15 min - 1 hour", "1-4 hours"], "solved": [1, 0]})
    with pytest.warns(bs.errors.TableNote, match="geometric middle"):
        assert bs.read(table, "horizons")["minutes"].tolist() == [30, 120]
    with pytest.raises(bs.InputError, match=r'found "<15 min", .* write the number that it stands for'):
        bs.read(table.assign(time=["<15 min", "1-4 hours"]), "horizons")
    with pytest.warns(bs.errors.TableNote, match='"time" names no unit of time and is read in minutes'):
        bs.read(table.assign(time=[4, 8]), "horizons")


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
@pytest.mark.parametrize("words", [(False, True), ("false", "true"), ("fail", "pass"), ("No", "Yes")])
def test_successes_in_words_are_0_and_1(words, tmp_path):
    table = pd.DataFrame({"model": "a", "task": list("wxyz"), "minutes": 3.0, "success": np.repeat(words, 2)})
    table.to_csv(tmp_path / "runs.csv", index=False)
    for given in (table, tmp_path / "runs.csv"):
        with pytest.warns(bs.errors.TableNote, match="written in words"):
            assert bs.read(given, "horizons")["successes"].tolist() == [0, 0, 1, 1]

"""Made-up files of users' forms: each is read at the first try, or at the second as the error message proposes."""

import bz2
import gzip
import json
import warnings
import zipfile
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets.cells import as_days
from bayescaling.datasets.formats import open_table
from bayescaling.errors import TableNote

STRANGERS = Path(__file__).with_name("strangers")
LONGEST = 600
RUN, LATER = {"N": 1e6, "D": 2e7, "loss": 4.5}, {"N": 2e6, "D": 4e7, "loss": 4.1}


def read(source, kind="runs", **options):
    """Read a table and return it with the texts of its notes."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        table = bs.read(source, kind, **options)
    assert all(issubclass(note.category, TableNote) for note in notes)
    return table, [str(note.message) for note in notes]


def refused(source, kind="runs", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableNote)
        with pytest.raises(bs.InputError) as error:
            bs.read(source, kind, **options)
    message = str(error.value)
    assert message.isprintable() and len(message) <= LONGEST
    return message


@pytest.fixture
def written(tmp_path):
    def write(content, name="runs.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


# Files of strangers ---------------------------------------------------------------------------------------------------


def test_an_array_of_objects_is_a_table():
    table, notes = read(STRANGERS / "runs_array.json", columns={"parameters": "size"})
    assert len(table) == 24 and all("derived tokens" in note for note in notes)
    assert table.iloc[0].to_dict() == {"parameters": 2e7, "tokens": 1e9, "training_flop": 1.2e17, "loss": 3.9653}


def test_a_panel_of_a_tracker_is_read_as_its_refusal_states():
    message = refused(STRANGERS / "tracker_panel.csv")
    assert 'from_name="Group: {parameters}_{}step"' in message
    assert "--column tokens=Step" in message and 'unit={"tokens": 5e5}' in message
    options = {"from_name": "Group: {parameters}_{}step", "columns": {"tokens": "Step"}, "unit": {"tokens": 5e5}}
    table, notes = read(STRANGERS / "tracker_panel.csv", **options, last_of="run")
    assert sorted(set(table["parameters"])) == [7e7, 1.6e8, 4.1e8, 1.4e9]
    assert sorted(set(table["tokens"])) == [5e8, 1e9, 2e9, 4e9]
    assert table["run"].nunique() == len(table) == 16 and table["loss"].between(2, 4).all()
    assert "a panel of 16 runs is read as 16 readings" in notes[0] and "32 columns of minima and maxima" in notes[0]
    assert '"1-4B" is "1.4B"' in notes[1]


def test_sizes_with_suffixes_are_read_with_a_note():
    table, notes = read(STRANGERS / "suffixes.csv")
    assert sorted(set(table["parameters"])) == [1.25e7, 4.5e7, 1.24e8, 3.55e8]
    assert sorted(set(table["tokens"])) == [2.5e8, 1e9, 4e9]
    assert notes[1] == 'suffixes.csv: "tokens" is written with M and B, read as 1e6 and 1e9'


def test_evaluations_of_leaderboards_are_read_without_the_row_that_lacks_a_size():
    message = refused(STRANGERS / "years.csv", "evaluations")
    assert 'column "Number of params": found nothing' in message and "drop_missing=True" in message
    table, notes = read(STRANGERS / "years.csv", "evaluations", drop_missing=True)
    assert table["benchmark"].tolist() == ["ptb", "ptb", "wt103", "wt103", "lm1b", "ptb", "wt103"]
    assert any('are levels of their names: "lm1b" (1 row)' in note for note in notes)
    assert table["transformer"].tolist() == [0, 0, 0, 1, 1, 0, 1]
    assert table["parameters"].tolist() == [2.4e7, 2.4e7, 1.51e8, 2.57e8, 4.6e8, 2.2e7, 2.57e8]
    days = ["2016-07-02", "2017-08-16", "2018-10-16", "2019-01-09", "2019-01-09", "2018-02-15", "2020-04-16"]
    assert table["publication_date"].dt.strftime("%Y-%m-%d").tolist() == days
    assert table["publication_date_halfwidth_days"].tolist() == [183, 15.5, 15.5, 0, 0, 45, 15]
    assert any("take their middle, with an error of up to 183 days" in note for note in notes)
    assert any("with ~ in 1 cell" in note for note in notes)


def test_the_log_of_a_run_is_refused_with_what_is_wanted():
    message = refused(STRANGERS / "run_log.txt")
    assert "not a table with a header" in message and "parameters, tokens (or training_flop) and loss" in message


def test_sizes_in_names_of_files_are_read_as_the_refusal_states():
    source = STRANGERS / "curves" / "*.csv"
    assert "--from-file 'curve_N{parameters}_D{}.csv'" in refused(source)
    table, _ = read(source, from_file="curve_N{parameters}_D{}.csv", last_of="run")
    assert len(table) == 9 and sorted(set(table["parameters"])) == [1238144, 8886784, 33506304]
    sizes = [float(name.partition("_D")[2].removesuffix(".csv")) for name in table["run"]]
    assert table["tokens"].tolist() == sizes
    single, _ = read(
        source.with_name("curve_N1238144_D20000000.csv"), from_file="curve_N{parameters}_D{}", last_of="file"
    )
    assert single["parameters"].tolist() == [1238144] and single["tokens"].tolist() == [2e7]
    assert any(entry["option"] == "from_file" for entry in single.attrs["reading"])


# JSON -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        [RUN, LATER],
        {"runs": [RUN, LATER]},
        {"a": {"runs": [RUN, LATER]}},
        {name: [RUN[name], LATER[name]] for name in RUN},
        {name: {"0": RUN[name], "1": LATER[name]} for name in RUN},
        {"first": RUN, "second": LATER},
        {"columns": list(RUN), "index": [0, 1], "data": [list(RUN.values()), list(LATER.values())]},
        '{"N": 1e6, "D": 2e7, "loss": 4.5}\n{"N": 2e6, "D": 4e7, "loss": 4.1}\n',
    ],
)
def test_forms_of_json_give_one_table(document, written):
    table, _ = read(written(document))
    assert table["parameters"].tolist() == [1e6, 2e6] and table["loss"].tolist() == [4.5, 4.1]


def test_names_of_nested_objects_are_joined_and_arrays_left_out(written):
    nested = RUN | {"config": {"n_layer": 4, "betas": [0.9, 0.95]}, "eval": {"c4_en": {"bpb": 1.1}}}
    for path in (written([nested]), written(json.dumps(nested), "runs.jsonl"), written(nested)):
        table, notes = read(path)
        assert table["config.n_layer"].item() == 4 and table["eval.c4_en.bpb"].item() == 1.1
        assert notes == [f'{path.name}: arrays are left out: "config.betas"']


def test_values_outside_the_array_are_in_every_row(written):
    document = {"model": {"n_params": 1e6}, "history": [{"tokens": 1e7, "loss": 5}, {"tokens": 2e7, "loss": 4}]}
    table, notes = read(written(document), columns={"parameters": "model.n_params"})
    assert table["parameters"].tolist() == [1e6, 1e6]
    assert 'the array "history" is read as the table, with "model.n_params" in every row' in notes[0]


def test_a_pattern_of_files_with_one_object_has_a_row_a_file(written):
    written(RUN, "a1.json")
    path = written(LATER | {"note": [1]}, "a2.json")
    table, notes = read(path.with_name("a*.json"))
    assert table["file"].tolist() == ["a1.json", "a2.json"] and table["loss"].tolist() == [4.5, 4.1]
    assert notes[1] == 'a*.json: a2.json: arrays are left out: "note"'


def test_the_history_of_a_trainer_has_a_row_an_evaluation(written):
    history = [{"step": 1, "loss": 5.0, "epoch": 0.1}, {"step": 1, "eval_loss": 4.9}, {"step": 2, "loss": 4.5}]
    history += [
        {"step": 3, "loss": 4.2},
        {"step": 3, "eval_loss": 4.1},
        {"step": 3, "train_runtime": 9, "train_loss": 4.7},
    ]
    path = written({"log_history": history, "total_flos": 1e15, "global_step": 3}, "trainer_state.json")
    table, _, _ = open_table(path)
    assert table["eval_loss"].tolist() == [4.9, 4.1] and table["train_loss"].tolist() == [5.0, 4.2]
    assert "2 with an evaluation are read" in table.attrs["sentences"][0]


def test_results_of_an_evaluation_harness_are_scores(written):
    results = {"arc": {"alias": "arc", "acc,none": 0.3, "acc_stderr,none": 0.01}, "boolq": {"acc,none": 0.6}}
    config = {"model": "hf", "model_args": "pretrained=lab/model-70m,dtype=float16"}
    document = {"results": results, "config": config, "versions": {}}
    table, _ = read(written(document), "scores")
    assert table[["model", "benchmark", "score"]].to_numpy().tolist() == [
        ["lab/model-70m", "arc", 0.3],
        ["lab/model-70m", "boolq", 0.6],
    ]
    samples = {"arc": {"original": 1172, "effective": 1172}, "boolq": {"original": 3270, "effective": 100}}
    table, _ = read(written(document | {"n-samples": samples}), "scores")
    assert table["items"].tolist() == [1172, 100]


def test_results_of_an_evaluation_harness_need_no_other_key(written):
    results = {"arc": {"acc,none": 0.3, "acc_stderr,none": 0.01}, "wikitext": {"bits_per_byte,none": 0.7}}
    results["gsm8k"] = {"exact_match,strict-match": 0.6, "exact_match_stderr,strict-match": 0.02}
    samples = {"arc": {"original": 1172, "effective": 1000}, "gsm8k": 1319}
    for more, model in (({}, "results_1"), ({"model_name": "lab/a"}, "lab/a")):
        path = written({"results": results, "n-samples": samples} | more, "results_1.json")
        table, notes = read(path, "scores", drop_missing=True)
        assert table[["benchmark", "score", "items"]].to_numpy().tolist() == [["arc", 0.3, 1000], ["gsm8k", 0.6, 1319]]
        assert set(table["model"]) == {model} and ("named by the file" in notes[1]) == (not more)
    assert 'without one "exact_match,strict-match" of "gsm8k"' in " ".join(notes)
    assert read(written({"results": {"arc": results["arc"]}}), "scores")[0]["score"].tolist() == [0.3]
    # Results of runs by name are none of a harness.
    assert "are needed and none found" in refused(written({"results": {"a": RUN}}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[{"N": 1e6},\n{"N": 2e6', ["line 2, column 10", "not JSON", "Expecting"]),
        ('[{"N": 1e6, "N": 2e6}]', ['2 values of "N"']),
        ('[{"a.b": 1, "a": {"b": 2}}]', ["row 0", '2 values of "a.b"']),
        ('[{"N": "\\ud800"}]', ["half of a surrogate pair"]),
        ("[" * 100_000, ["nested too deep"]),
        ('{"a":' * 900 + "1" + "}" * 900, ["runs.json"]),
        ([RUN, 3, [1]], ["row 1 (counting from 0): found", '"3"', "row 2", "an array"]),
        ("3", ['found "3" where a table should be']),
        ({"runs": [RUN], "others": [RUN, RUN]}, ["2 arrays of objects", '"runs" (1 object)', '"others" (2 objects)']),
        ({"N": [1e6, 2e6], "D": [1e7, 2e7], "loss": [4]}, ["different lengths", '"loss" 1']),
        ({"columns": ["N", "D"], "data": [[1, 2], [3]]}, ["row 1", "1 cells where there are 2 columns"]),
        ("", ["empty"]),
        ("[]", ["no rows"]),
        ([{f"x{i}": 1} for i in range(4000)], ["4000 different names"]),
    ],
)
def test_json_that_is_no_table_is_refused(content, words, written):
    message = refused(written(content))
    assert message.startswith("runs.json") and all(word in message for word in words), message


# Exports of trackers --------------------------------------------------------------------------------------------------


def test_a_panel_keeps_every_reading_and_metric(written):
    text = "Step,a - val/loss,a - val/loss__MIN,a - val/loss__MAX,a - tokens,a - _step,b - val/loss,b - tokens\n"
    text += "1,5,5,5,1e7,1,,\n2,4.5,4.5,4.5,2e7,2,4.6,2e7\n3,,,,,3,4.4,4e7\n"
    table, notes = read(written(text, "panel.csv"), columns={"parameters": "Step"}, unit={"parameters": 1e6})
    assert table["run"].tolist() == ["a", "a", "b", "b"]
    assert table["loss"].tolist() == [5, 4.5, 4.6, 4.4] and table["tokens"].tolist() == [1e7, 2e7, 2e7, 4e7]
    assert "2 columns of minima and maxima left out" in notes[0]
    message = refused(written(text.replace("4.6", "x"), "panel.csv"), columns={"parameters": "Step"})
    assert 'line 3, run 2 ("b"), column "val/loss": found "x"' in message


def test_other_exports_of_trackers(written):
    path = written("Wall time,Step,Value\n1,10,4.5\n2,20,4.1\n", "run-N70M-tag-eval_loss.csv")
    options = {"from_name": "N{parameters}", "columns": {"tokens": "Step"}, "unit": {"tokens": 1e7}}
    table, _ = read(path, **options)
    assert table["loss"].tolist() == [4.5, 4.1] and table["parameters"].tolist() == [7e7, 7e7]
    lines = ["run_id,key,value,step", "a,val_loss,4,1", "a,tokens,1e9,1", "a,params,1e8,1", "a,val_loss,3.9,1"]
    table, notes = read(written("\n".join(lines), "metrics.csv"))
    assert table["loss"].tolist() == [3.9] and "the last value is read" in notes[0]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("{params}_{}", '{params} in "{params}_{}" is no column of runs; did you mean "parameters"?'),
        ("70M", "names no column between braces"),
        ("{parameters", "one brace alone"),
        ("{parameters}{parameters}", "{parameters} is twice"),
        ("M{parameters}_{}", 'does not fit 1 of 1 names in column "run", such as "a70M_1step"'),
        ("", "is no pattern"),
    ],
)
def test_patterns_that_fit_no_name_are_refused(pattern, words, written):
    path = written("run,D,loss\na70M_1step,1e9,4\n", "runs.csv")
    assert words in refused(path, from_name=pattern)
    assert "from_name is not an option of tables of scores" in refused(path, "scores", from_name=pattern or "x")


def test_names_are_not_proposed_where_a_column_may_hold_the_sizes(written):
    message = refused(written("run,my_param,D,loss\n70M_a,7e7,1e9,4\n", "runs.csv"))
    assert "--column parameters=my_param" in message and "from_name" not in message
    assert "from_name" not in refused(written("run,x,D,loss\nrun-1,7e7,1e9,4\n", "runs.csv"))


def test_a_column_and_a_pattern_do_not_both_hold_a_size(written):
    path = written("run,parameters,D,loss\n70M,7e7,1e9,4\n", "runs.csv")
    assert "the table has such a column" in refused(path, from_name="{parameters}")


# Numbers, flags and dates ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("70M", 7e7),
        ("12.5m", 1.25e7),
        ("1.4B", 1.4e9),
        ("1.4 billion", 1.4e9),
        ("929k", 929e3),
        ("2.5e9", 2.5e9),
        ("12,345,678", 12345678),
        ("12,345,678.5", 12345678.5),
        ("1 000 000", 1e6),
        ("1\u202f000\u202f000", 1e6),
        ("1'000'000", 1e6),
        ("1.000.000", 1e6),
        ("~257M", 2.57e8),
        ("3 x 10^9", 3e9),
        ("3×10**9", 3e9),
    ],
)
def test_numbers_as_people_write_them(text, number, written):
    table, notes = read(written(f'N,D,loss\n"{text}",2e9,4.5\n', "runs.csv"))
    assert table["parameters"].item() == number
    assert len(notes) == (text != "2.5e9")
    assert (
        read(pd.DataFrame({"N": [text, None], "D": 2e9, "loss": 4.5}), drop_missing=True)[0]["parameters"][0] == number
    )


@pytest.mark.parametrize("text", ["12,345", "12,34", "0,125", "70MM", "1e5M", "1_000_000", "<70M", "70M-1B", "٣"])
def test_numbers_that_could_be_two_or_none_are_refused(text, written):
    assert f'column "N": found "{text}"' in refused(written(f'N,D,loss\n"{text}",2e7,4.5\n', "runs.csv"))


def test_a_comma_between_thousands_is_known_by_its_neighbours(written):
    table, _ = read(written('N,D,loss\n"12,345",2e7,4.5\n"1,234,567",2e7,4\n', "runs.csv"))
    assert table["parameters"].tolist() == [12345, 1234567]
    assert '"12,345"' in refused(written('N,D,loss\n"12,345",2e7,4.5\n"12,3456",2e7,4\n', "runs.csv"))


def test_suffixes_and_a_unit_are_not_both_used(written):
    path = written("N,D,loss\n70M,2e7,4.5\n", "runs.csv")
    assert "a unit of 1e+06; leave one of them out" in refused(path, unit={"parameters": 1e6})
    assert "a unit of 1e+09" in refused(written("N (B),D,loss\n70M,2e7,4.5\n", "runs.csv"))
    assert 'found "4.5M"' in refused(written("N,D,loss\n1e6,2e7,4.5M\n", "runs.csv"))


def test_conditions_compare_numbers_that_were_written_with_suffixes(written):
    table, _ = read(written("N,D,loss,run\n70M,2B,4.5,70M\n1.4B,2B,4.5,1.4B\n", "runs.csv"), where="N > 1e9")
    assert table["parameters"].tolist() == [1.4e9] and table["run"].tolist() == ["1.4B"]


def test_years_quarters_and_months_take_their_middle():
    texts = [
        "2016",
        "2017.0",
        "2017-08",
        "Oct 2018",
        "Sept. 2018",
        "2018-Q1",
        "04/2020",
        "5 March 2021",
        "March 5, 2021",
    ]
    days, halfwidths, faults = as_days(pd.Series(texts))
    assert days.dt.strftime("%Y-%m-%d").tolist() == [
        *["2016-07-02", "2017-07-02", "2017-08-16", "2018-10-16", "2018-09-16", "2018-02-15", "2020-04-16"],
        *["2021-03-05", "2021-03-05"],
    ]
    assert halfwidths.tolist() == [183, 182.5, 15.5, 15.5, 15, 45, 15, 0, 0] and not faults
    wrong = pd.Series(["03/04/2021", "13/2020", "Mai 2020", "31 Feb 2020", "20", "0000", "201", "2024.06", "now"])
    assert len(as_days(wrong)[2]) == len(wrong)
    table, notes = read(
        pd.DataFrame({"model": ["a", "b"], "benchmark": "q", "score": 0.5, "date": [2016, None]}), "scores"
    )
    np.testing.assert_array_equal(table["date_halfwidth_days"], [183, np.nan])
    assert "1 date is a year" in notes[0]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        *[("05-Mar-2024", "2024-03-05"), ("5/March/2024", "2024-03-05"), ("Mar. 5th, 2024", "2024-03-05")],
        *[("Tue, Mar 5, 2024", "2024-03-05"), ("2024/3/5", "2024-03-05"), ("25.12.2024", "2024-12-25")],
        *[("12/25/2024", "2024-12-25"), ("Mar-2024", "2024-03-16"), ("2020 May", "2020-05-16")],
        *[("3rd of May 2020", "2020-05-03"), ("Tue 25/06/2024", "2024-06-25"), ("2024-6", "2024-06-16")],
    ],
)
def test_days_as_people_write_them(text, day):
    table, notes = read(pd.DataFrame({"when": [text], "value": 1.0}), "values", columns={"date": "when"})
    assert str(table["date"][0].date()) == day and any('"when"' in note for note in notes)


def test_the_place_of_the_day_is_that_of_other_cells():
    days, _, faults = as_days(pd.Series(["03/05/2024", "25/05/2024"]))
    assert days.dt.strftime("%Y-%m-%d").tolist() == ["2024-05-03", "2024-05-25"] and not faults
    table = pd.DataFrame({"date": ["03/05/2024", "4 May 2024"], "value": 1.0})
    message = refused(table, "values")
    assert "write it as 2024-05-03 if the day is first, or 2024-03-05" in message and "row 1" not in message
    assert "no date" in refused(table.assign(date=["13/13/2024", "2024"]), "values")
    assert len(as_days(pd.Series(["Tue 03/05/2024", "03/05/2024 10:30", "3 5 2024", "3-5-2024"]))[2]) == 4


@pytest.mark.parametrize(
    ("header", "cells"), [("score", ["45.2%", "0.5"]), ("Accuracy (%)", ["45.2%", "50"]), ("score", ["45,2 %", "50 %"])]
)
def test_scores_in_percent_by_their_cells(header, cells):
    table, notes = read(pd.DataFrame({"model": ["a", "b"], "benchmark": "q", header: cells}), "scores")
    assert table["score"].tolist() == [0.452, 0.5] and "in percent" in notes[0]


def test_losses_and_shares_in_percent_by_their_cells():
    runs = pd.DataFrame({"N": [1e6, 1e7], "D": [2e7, 2e8], "an acc": ["45%", "60%"], "error rate": ["55%", "40%"]})
    for columns in ({"loss": "1-`an acc`"}, {"loss": "error rate"}):
        table, _ = read(runs, columns=columns, unit={"loss": "nats"})
        np.testing.assert_allclose(table["loss"], [0.55, 0.4])
    assert 'found "45%"' in refused(runs.assign(N="45%"), columns={"loss": "error rate"}, unit={"loss": "nats"})
    counts = pd.DataFrame({"run": "a", "train_digits": 5, "length": [3, 4], "accuracy": ["45%", "80.5%"]})
    assert read(counts, "counts", trials=200)[0]["correct"].tolist() == [90, 161]


# Text -----------------------------------------------------------------------------------------------------------------


def test_comments_and_a_closing_line_are_left_out(written):
    text = "# made by x, at y\n\n# z\nN,D,loss\n1e6,2e7,4.5\n# gap, here, too\n2e6,4e7,4.1\n#3e6,4e7,4.1\n"
    text += "Mean,3e7,4.3\nTotal,,\n"
    table, notes = read(written(text, "runs.csv"))
    assert table["parameters"].tolist() == [1e6, 2e6]
    assert notes[0] == "runs.csv: 4 lines (1, 3, 6, 8) that begin with # are left out"
    assert notes[1].startswith("runs.csv: 2 lines (9, 10) at the end, which sum up the others")
    assert "runs.csv, line 7, " in refused(written(text.replace("4.1\n#", "x\n#"), "runs.csv"))


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("# N,D,loss\n1e6,2e7,4.5\n", []),
        ("#Params,D,loss\n1e6,2e7,4.5\n", []),
        ("run,N,D,loss\n#1,1e6,2e7,4.5\n", ["#1"]),
        ('run,N,D,loss\n"a\n# b",1e6,2e7,4.5\n', ["a\n# b"]),
        ("run,N,D,loss\nmean,1e6,2e7,4.5\n", ["mean"]),
    ],
)
def test_what_is_no_comment_is_read(text, runs, written):
    table, notes = read(written(text, "runs.csv"))
    assert table["parameters"].tolist() == [1e6] and not notes
    assert not runs or table["run"].tolist() == runs


README = """# Runs

All *final* losses:

| Model | Params | Tokens | `Loss` |
|:--|--:|--:|--|
| **a** | 70M | 1.4B | 3.41 |
| b \\| c | 1e9 | 2e10 | 2.72 |

They | are not a table.
"""


def test_a_table_in_markdown_is_read(written):
    table, _ = read(written(README, "README.md"))
    assert table[["parameters", "tokens", "loss"]].to_numpy().tolist() == [[7e7, 1.4e9, 3.41], [1e9, 2e10, 2.72]]
    assert table["Model"].tolist() == ["a", "b | c"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("|:--|--:|--:|--|", ""), "no table of Markdown in it"),
        (("They", "| x | y |\n|---|---|\n| 1 | 2 |\n\nThey"), "2 tables of Markdown"),
        (("3.41 |", "3.41 | 5 |"), "line 7: found 5 fields where the header has 4"),
        (("3.41", "high"), 'line 7, column "Loss": found "high"'),
    ],
)
def test_markdown_that_is_no_table_is_refused(change, words, written):
    assert words in refused(written(README.replace(*change), "README.md"))


@pytest.mark.parametrize("sign", [",", ";", "\t", "  ", " "])
def test_a_table_in_a_text_file_is_read(sign, written):
    table, _ = read(written(sign.join(["N", "D", "loss"]) + "\n" + sign.join(["1e6", "2e7", "4.5"]) + "\n", "runs.txt"))
    assert table["loss"].item() == 4.5


@pytest.mark.parametrize(
    "text", ["x\n", "N D loss\nof some 7 runs\n", "iter 0: loss 4.2, time 310ms\niter 1: loss 4.1, time 3ms\n"]
)
def test_other_text_is_refused(text, written):
    assert "not a table with a header" in refused(written(text, "runs.txt"))


LINES = ["N,D,loss", "1e6,2e7,4.5", "2e6,4e7,4.1", "4e6,8e7,3.8", "8e6,4e8,3.3", "16e6,3e8,3.2", "32e6,9e9,2.6"]
PLAIN = "\n".join(LINES)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("Results of May\n\n" + PLAIN, "1 line (1) above the header left out"),
        ("Results of May,,\n" + PLAIN, "1 line (1) above the header left out"),
        (PLAIN.replace("\n", "\n(k),-,nats\n", 1).replace("e6,", "e3,"), "units of the columns"),
        ("model,data,result\n" + PLAIN, "1 line (2) is read as the header"),
        (PLAIN.replace("\n4e6", "\nN,D,loss\n4e6"), "that repeat the header left out"),
        (PLAIN + "\n6.3e7,9.84e9,3.583333", "at the end, which sums up the others"),
        (PLAIN.replace(",", "|"), ""),
        (PLAIN.replace("\n", ",\n").replace("loss,", "loss"), ""),
        (PLAIN.replace(",", "\t").replace(".", ","), "read as decimal commas"),
        (
            PLAIN.replace(",4.1", ',"**4.1** ± 0.02"').replace("1e6", '"1M params"', 1),
            "with errors and marks of footnotes or bold, which are left out",
        ),
        (PLAIN.replace("2e7", "2×10⁷"), "with powers of ten"),
    ],
)
def test_forms_of_a_table_in_text(text, note, written):
    table, notes = read(written(text, "runs.csv"))
    assert table["parameters"].tolist() == [1e6, 2e6, 4e6, 8e6, 1.6e7, 3.2e7]
    assert table["tokens"].tolist() == [2e7, 4e7, 8e7, 4e8, 3e8, 9e9] and table["loss"].iloc[1] == 4.1
    assert any(note in text for text in notes) or (not note and not notes), notes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PLAIN.partition("\n")[2], "found numbers alone"),
        ("N,1e6,2e6,4e6\nD,2e7,4e7,8e7\nloss,4.5,4.1,3.8\n", "transpose it"),
        (PLAIN.replace("1e6", "1,000,000"), "put quotes around"),
        (PLAIN + "\n1e9,2e9,3,4,5", "line 8: found 5 fields where the header has 3"),
        (
            PLAIN.replace("4.1", "4.1,1,2") + "\n1e9,2e9",
            "line 3: found 5 fields where the header has 3, line 8: found 2",
        ),
        ("\n".join(["N,D,loss", *["1,000,000,2e7,4.5"] * 40]), "lines cannot be used"),
    ],
)
def test_text_that_is_no_table_is_refused_with_the_remedy(text, words, written):
    assert words in refused(written(text, "runs.csv"))


def test_decimal_commas_of_a_column_of_losses(written):
    lines = ['"' + line.rpartition(",")[2].replace(".", ",") + '00"' for line in LINES[1:]]
    rows = [f"{line.rpartition(',')[0]},{loss}" for line, loss in zip(LINES[1:], lines, strict=True)]
    table, notes = read(written("\n".join([LINES[0], *rows]), "runs.csv"))
    assert table["loss"].tolist() == [4.5, 4.1, 3.8, 3.3, 3.2, 2.6] and "decimal commas" in notes[0]


@pytest.mark.parametrize(("name", "pack"), [("a.csv.bz2", bz2.compress), ("a.csv", gzip.compress), ("a", bytes)])
def test_packed_files_are_known_by_their_content(name, pack, tmp_path):
    path = tmp_path / name
    path.write_bytes(pack(PLAIN.encode()))
    assert len(read(path)[0]) == 6
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        archive.writestr("runs.csv", PLAIN)
    assert len(read(tmp_path / "runs.zip")[0]) == 6


@pytest.mark.parametrize("form", ["lists", "table"])
def test_more_forms_of_json(form, written):
    frame = pd.DataFrame([RUN, LATER])
    text = json.dumps([list(frame), *frame.to_numpy().tolist()]) if form == "lists" else frame.to_json(orient="table")
    assert read(written(text))[0]["parameters"].tolist() == [1e6, 2e6]


def test_columns_named_by_sizes_are_melted(written):
    table, notes = read(written("tokens,70M,160M,loss_1.4B\n1e9,4,3.7,3.3\n4e9,3.6,3.3,\n", "wide.csv"))
    assert sorted(set(table["parameters"])) == [7e7, 1.6e8, 1.4e9] and len(table) == 5
    assert "3 columns named by sizes" in notes[0]


def test_sizes_steps_and_losses_of_files_are_proposed_at_once(tmp_path):
    for size in (70, 160):
        frame = pd.DataFrame({"step": [0, 1000, 2000, 3000], "train/lm_loss": [10.9, 5.0, 4.0, 3.9 - size / 1e3]})
        frame.to_csv(tmp_path / f"{size}m-1.csv", index=False)
    message = refused(tmp_path / "*.csv")
    assert "--column tokens=step --column loss=train/lm_loss --unit tokens=5e5" in message
    assert "--from-file '{parameters}m-{}.csv'" in message or "--from-file '{parameters}-{}.csv'" in message
    options = {"columns": {"tokens": "step", "loss": "train/lm_loss"}, "unit": {"tokens": 2e6}, "drop_missing": True}
    table, _ = read(tmp_path / "*.csv", **options, from_file="{parameters}-{}.csv", last_of="run")
    assert table["parameters"].tolist() == [1.6e8, 7e7] and table["tokens"].tolist() == [6e9, 6e9]


def test_sheets_with_lines_between_are_read_without_them():
    rows = [{"Params": "70M", "N": 7e7}, {"N": 7e7, "goal": "1B"}]
    rows += [{"N": 7e7, "D": d, "C4 Eval Loss": loss} for d, loss in ((1e9, 4.0), (2e9, 3.8))]
    message = refused(pd.DataFrame(rows))
    assert "--column parameters=N --column 'loss=C4 Eval Loss' --drop-missing" in message
    options = {"columns": {"parameters": "N", "loss": "C4 Eval Loss"}, "drop_missing": True}
    assert read(pd.DataFrame(rows), **options)[0]["tokens"].tolist() == [1e9, 2e9]


# Laws of one variable -------------------------------------------------------------------------------------------------

SMALL = "params,loss\n1e6,4.61\n5e6,3.92\n2e7,3.48\n1e8,3.07\n"


def test_five_sizes_are_read_for_a_law_of_parameters():
    table, notes = read(STRANGERS / "five_sizes.csv", needed="parameters")
    assert len(table) == 5 and not notes and table["loss"].iloc[-1] == 1.3138


def test_a_size_that_the_law_does_not_need_may_hold_anything(written):
    text = "params,loss,tokens\n1e6,4.61,?\n5e6,3.92,1e9\n2e7,3.48,\n1e8,3.07,2e9\n"
    table, notes = read(written(text, "small.csv"), needed="parameters")
    assert list(table.columns) == ["parameters", "loss"]
    assert notes == ['small.csv: column "tokens" is left out: tokens are not needed']
    # Where they are whole, the compute follows.
    whole = "params,tokens,loss\n1e6,2e7,4.6\n5e6,1e8,3.9\n2e7,4e8,3.5\n1e8,2e9,3.1\n"
    table, _ = read(written(whole, "whole.csv"), needed=("parameters", "loss"))
    assert table["training_flop"].iloc[0] == 6 * 1e6 * 2e7


def test_a_table_without_the_variable_is_refused_with_the_law_of_the_one_that_is_there(written):
    path = written(SMALL, "small.csv")
    for needed, lacking in (("training_flop", "no column for training_flop"), ((), 'and "parameters" found')):
        message = refused(path, needed=needed)
        assert lacking in message and message.endswith("; fit 'loss ~ E + A * params**-alpha'")
    assert len(bs.fit("loss ~ E + A * params**-alpha", path, draws=300, tune=300, seed=1).rows) == 4
    sizes = written(SMALL.replace("e6", "").replace("e7", "").replace("e8", ""), "small.csv")
    assert 'if it is in units of 1e9, give unit={"parameters": 1e9}' in refused(sizes, needed="parameters")


def test_benchmarks_are_levels_of_their_first_spelling():
    rows = {"date": "2019-01-09", "params": 1e8, "data size": 1e9, "transformer": 1, "test ppl": 20.0}
    names = ["Penn Treebank", "My Corpus", "my-corpus", "One Billion Word", "1B Words", 8]
    table, notes = read(pd.DataFrame([rows | {"benchmark": name} for name in names]), "evaluations")
    assert table["benchmark"].tolist() == ["ptb", "My Corpus", "My Corpus", "lm1b", "lm1b", "8"]
    assert '"My Corpus" (2 rows), "lm1b" (2 rows), "8" (1 row)' in notes[-1]
    assert "found nothing (a blank)" in refused(pd.DataFrame([rows | {"benchmark": None}]), "evaluations")


# Experts --------------------------------------------------------------------------------------------------------------


def test_experts_are_pooled_by_their_number_as_the_warning_states():
    message = refused(STRANGERS / "moe.csv")
    assert message.endswith("(--column 'training_flop=step*flops_per_step')")
    columns = {"training_flop": "step*flops_per_step"}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        table = bs.read(STRANGERS / "moe.csv", columns=columns)
    texts = [str(warning.message) for warning in warned if warning.category is bs.errors.TableWarning]
    assert any("times the active parameters" in text and "--group num_experts" in text for text in texts)
    assert table["parameters"].tolist() == pd.read_csv(STRANGERS / "moe.csv")["active_parameter_count"].tolist()
    assert "total_parameter_count" in table
    law = bs.laws.Grouped(bs.laws.Chinchilla(), "num_experts")
    assert len(law.rows(table)) == len(table)
    # Of one ratio there is nothing to pool.
    one, notes = read(STRANGERS / "moe.csv", columns=columns, where="num_experts == 8")
    assert len(one) > 1 and not any("active parameters" in note for note in notes)


# Tables of public projects --------------------------------------------------------------------------------------------


def test_steps_of_a_batch_in_tokens_are_multiplied():
    rows = [(n, s, 2**21, 3.5 - s / 1e6 - n / 1e9) for n in (7e7, 4.1e8) for s in (1000, 16000, 143000)]
    table = pd.DataFrame(rows, columns=["total_params", "step", "batch_tokens", "val_loss"])
    assert "--column 'tokens=step*batch_tokens'" in refused(table)
    columns = {"tokens": "step*batch_tokens"}
    assert read(table, columns=columns)[0]["tokens"].max() == 143000 * 2**21


def test_totals_under_a_heading_of_throughput_are_proposed():
    names = ["model.num_params", "throughput/total_tokens", "throughput/tokens_per_second", "eval/c4/CrossEntropyLoss"]
    table = pd.DataFrame([[1.9e8, 3.8e9, 1e5, 3.1], [3.7e8, 7.4e9, 9e4, 2.9]], columns=names)
    message = refused(table)
    proposed = {"parameters": names[0], "tokens": names[1], "loss": names[3]}
    assert all(f"--column {canonical}={name}" in message for canonical, name in proposed.items())
    assert len(read(table, columns=proposed)[0]) == 2


def test_a_loss_per_token_is_a_loss():
    table = pd.DataFrame(
        {"params": [4e6, 2e7], "tokens": [4e8, 2e9], "acc_per_char": [0.3, 0.4], "loss_per_token": [4.0, 3.5]}
    )
    assert "--column loss=loss_per_token" in refused(table)


@pytest.mark.parametrize(
    ("header", "factor"), [("Compute (PF-days)", 8.64e19), ("compute_pfdays", 8.64e19), ("Compute (EFLOPs)", 1e18)]
)
def test_compute_in_days_of_a_petaflop_per_second_is_read(header, factor):
    table, notes = read(pd.DataFrame({header: [0.01, 0.1, 1.0], "Test Loss": [3.5, 3.0, 2.6]}), needed="training_flop")
    np.testing.assert_allclose(table["training_flop"], factor * np.array([0.01, 0.1, 1.0]))
    assert "in units of" in notes[0]


def test_a_letter_before_a_size_is_its_unit():
    table = pd.DataFrame({"mparams": [40.2, 120, 900], "btokens": [1, 4, 20], "val_loss": [3.5, 3.1, 2.7]})
    table, notes = read(table)
    assert table["parameters"].tolist() == [40.2e6, 120e6, 900e6] and table["tokens"].tolist() == [1e9, 4e9, 20e9]
    assert any('"mparams" is read as parameters in units of 1e+06' in note for note in notes)


@pytest.mark.parametrize("header", ["t_tokens", "tokens", "g_tokens"])
def test_a_letter_with_a_line_may_be_a_word_and_is_no_unit(header):
    table = pd.DataFrame({"params": [7e9, 1.3e10], header: [1e11, 2e11], "val_loss": [2.1, 2.0]})
    assert read(table, columns={"tokens": header})[0]["tokens"].tolist() == [1e11, 2e11]


def test_sizes_of_a_few_hundred_are_proposed_as_millions():
    table = pd.DataFrame({"size": [40.2, 120, 900], "seen": [1, 4, 20], "val_loss": [3.5, 3.1, 2.7]})
    message = refused(table, columns={"parameters": "size", "tokens": "seen"})
    assert "--unit parameters=1e6 --unit tokens=1e9" in message


def test_settings_of_the_training_are_proposed_as_no_loss():
    """A ledger whose losses are arrays, and whose compute is called train."""
    runs = [
        {
            "train": 3e10 * k,
            "train.lr": 0.01,
            "train.steps": 100 * k,
            "eval_every": 50,
            "eval_tokens": 4096,
            "n": 40 * k,
        }
        for k in range(1, 6)
    ]
    message = refused(pd.DataFrame(runs))
    assert "no column for loss; the columns are" in message and "for tokens there are" not in message


def test_years_with_parts_of_them_are_days_and_months_after_a_point_are_asked_about():
    days, halfwidths, faults = as_days(pd.Series(["2015.0", "2015.5", "2016.25"]))
    assert days.dt.strftime("%Y-%m-%d").tolist() == ["2015-01-01", "2015-07-02", "2016-04-01"]
    assert not faults and not halfwidths.any()
    assert len(as_days(pd.Series(["2015.06", "2016.12"]))[2]) == 2
    assert len(as_days(pd.Series([2015.06, 2015.10, 2015.11]))[2]) == 3  # the zero of October is lost
    assert as_days(pd.Series([2015.0, 2016.0]))[1].tolist() == [182.5, 183.0]  # whole years


def test_a_column_of_years_is_one_of_dates():
    table = pd.DataFrame({"year": [2020.25, 2021.5, 2022.75], "price": [9.0, 5.0, 2.0]})
    with pytest.warns(bs.errors.TableNote, match=r'"year" is written as 2020\.25, read as 2020-04-01'):
        read = bs.read(table, "values")
    assert read["year"].tolist() == pytest.approx(table["year"].tolist(), abs=1 / 365)


# Tables that blanks part, pivots and ladders -------------------------------------------------------------------------

GRID = pd.DataFrame({"N": np.repeat([7e7, 1.6e8, 4.1e8], 3), "D": np.tile([1e9, 4e9, 1.6e10], 3)})
GRID["loss"] = 1.7 + 406 / GRID["N"] ** 0.34 + 411 / GRID["D"] ** 0.28
WRITTEN = {7e7: "70M", 1.6e8: "160M", 4.1e8: "410M", 1e9: "1B", 4e9: "4B", 1.6e10: "16B"}
PIVOT = GRID.assign(N=GRID["N"].map(WRITTEN), D=GRID["D"].map(WRITTEN)).pivot(index="N", columns="D", values="loss")


def agree(table):
    table = table.sort_values(["parameters", "tokens"])
    np.testing.assert_allclose(table[["parameters", "tokens"]], GRID[["N", "D"]])
    np.testing.assert_allclose(table["loss"], GRID["loss"], atol=1e-5)


@pytest.mark.parametrize(
    "text",
    [GRID.to_string(), GRID.to_string(index=False), f"A sweep of ours\n\n{GRID.to_string()}", GRID.to_csv(sep=" "),
     GRID.rename(columns={"N": "model size", "D": "train tokens"}).to_string(),
     "# " + GRID.to_csv(sep=" ", index=False)],
)  # fmt: skip
def test_columns_parted_by_blanks_are_read(text, written):
    agree(read(written(text.lstrip("\n"), "runs.txt"))[0])


def test_a_pivot_of_sizes_by_tokens_is_read_either_way_round(written):
    agree(read(PIVOT.rename_axis("params\\tokens").reset_index())[0])
    agree(read(PIVOT.rename_axis("N").reset_index())[0])
    agree(read(PIVOT.T.rename_axis("tokens").reset_index())[0])
    for cells in (PIVOT.to_dict(), PIVOT.T.to_dict()):  # objects of objects
        agree(read(written(cells))[0])


def test_multiples_of_chinchilla_and_shapes_are_read_at_the_second_try():
    names = [f"{size}-{k}xC" for size in ("190M", "370M", "1.3B") for k in (1, 2, 10)]
    table = pd.DataFrame({"run": names, "loss": np.linspace(3.3, 2.5, 9)})
    assert "--column 'tokens=parameters*chinchilla_multiple*20'" in refused(table)
    runs, _ = read(table, columns={"tokens": "parameters*chinchilla_multiple*20"})
    assert runs["tokens"].iloc[1] == 2 * 20 * 190e6 and runs["parameters"].iloc[-1] == 1.3e9
    shapes = pd.DataFrame({"n_layer": [6, 12], "n_embd": [384, 768], "tokens": [1e9, 4e9], "loss": [3.5, 3.0]})
    assert "--column 'parameters=12*n_layer*n_embd*n_embd'" in refused(shapes)


@pytest.mark.parametrize("name", ["ce", "nll", "val_xent", "dev_loss", "best_val_loss", "test_ce"])
def test_names_of_a_cross_entropy_are_losses_in_nats(name):
    agree(read(GRID.rename(columns={"loss": name}))[0])


def test_no_column_of_words_is_proposed_for_numbers():
    table = pd.DataFrame({"model_size": ["tiny", "small"], "num_params": [8e5, 4e6], "tokens": 1e9, "loss": [3.5, 3.0]})
    assert read(table)[0]["parameters"].tolist() == [8e5, 4e6]
    evals = pd.DataFrame({"model": "a", "task": ["x", "y"], "score_name": "match", "score_value": [0.2, 0.3]})
    assert "--column score=score_value" in refused(evals, "scores")

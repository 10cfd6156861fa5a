import warnings
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets import KINDS
from bayescaling.errors import TableNote

SMALL = pd.DataFrame(
    {"run": ["a"] * 3 + ["b"] * 3, "embedding": ["abacus"] * 3 + ["nope"] * 3, "train_digits": 5,
     "length_a": [3, 5, 9] * 2, "length_b": [3, 5, 9] * 2, "correct": [9, 8, 1, 9, 5, 0], "total": 10}
)  # fmt: skip


def with_value(column, value, row=1):
    table = SMALL.astype({column: object})
    table.loc[row, column] = value
    return table


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (with_value("correct", 11), "11 of 10 problems"),
        (with_value("correct", -1), "found -1, which is not a finite number of at least 0"),
        (with_value("correct", 2.5), "found 2.5, which is no whole number"),
        (with_value("correct", None), "found nothing"),
        (with_value("total", 0), "found 0, which is not a positive finite number"),
        (with_value("length_a", 0), "found 0, which is not a positive finite number"),
        (with_value("length_a", "3x"), "is not a number"),
        (with_value("embedding", "fire"), 'run "a" had "abacus" before'),
        (with_value("train_digits", 6), 'run "a" had 5 before'),
        (pd.concat([SMALL, SMALL.iloc[[4]]]), 'run "b" has lengths 5 and 5 before'),
        (SMALL.drop(columns="train_digits"), '"train_digits" is needed'),
        (SMALL.assign(split="inside"), "one of id, ood, ood100"),
        (with_value("run", None), "found nothing (a blank)"),
    ],
)
def test_tables_that_cannot_be_used_are_refused_in_one_line(table, message):
    with pytest.raises(bs.InputError) as refused:
        bs.read(table, "counts")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_optional_columns_are_filled_in(tmp_path):
    path = tmp_path / "counts.csv"
    SMALL.assign(run=[1, 1, 1, 2, 2, 2], length_b=[3, 5, 150] * 2).to_csv(path, index=False)
    table = bs.read(path, "counts")
    assert table["run"].tolist() == ["1"] * 3 + ["2"] * 3
    assert table["split"].tolist() == ["id", "id", "ood100"] * 2
    assert (table["architecture"] == "standard").all()
    assert (table["recurrences"] == 1).all()
    assert table.attrs["source"] == "counts.csv"


def test_a_column_of_another_name_can_be_chosen():
    table = bs.read(SMALL.rename(columns={"correct": "hits"}), "counts", columns={"correct": "hits"})
    assert table["correct"].tolist() == SMALL["correct"].tolist()


def test_a_column_that_need_not_be_there_can_be_deleted():
    with pytest.raises(bs.InputError, match=r'column "k_max": found -1, .* delete the row or the column$'):
        bs.read(SMALL.assign(k_max=-1.0), "counts")
    with pytest.raises(bs.InputError, match=r'column "length_a": .* or delete the row$'):
        bs.read(SMALL.assign(length_a=-1), "counts")


@pytest.mark.parametrize(
    ("one", "other"),
    [("18446744073709551615", "18446744073709551610"), ("007", "7"), ("1e5", "100000"), ("1.0", "1"), ("true", "True")],
)
@pytest.mark.parametrize("column", ["run", "name"])
def test_names_are_text_as_it_is_written(one, other, column, tmp_path):
    path = tmp_path / "counts.csv"
    runs = [one] * 3 + [other] * 3
    SMALL.assign(run=runs).rename(columns={"run": column}).to_csv(path, index=False)
    table = bs.read(path, "counts", columns={} if column == "run" else {"run": column})
    assert table["run"].tolist() == runs


def test_whole_names_of_a_frame_stay_apart():
    big = [2**64 - 1] * 3 + [2**64 - 6] * 3
    assert bs.read(SMALL.assign(run=pd.Series(big, dtype="uint64")), "counts")["run"].tolist() == [str(x) for x in big]
    assert bs.read(SMALL.assign(run=[1.0] * 3 + [2.5] * 3), "counts")["run"].tolist() == ["1"] * 3 + ["2.5"] * 3


def test_bytes_are_no_name(tmp_path):
    path = tmp_path / "counts.parquet"
    SMALL.assign(run=[b"a"] * 3 + [b"b"] * 3).to_parquet(path)
    with pytest.raises(
        bs.InputError, match=r'counts.parquet: 6 cells.* row 0 .*, column "run": found .*bytes where a name'
    ):
        bs.read(path, "counts")


@pytest.mark.parametrize("seed", [[[1]], {"a": 1}, np.ones(2)])
def test_what_is_one_for_a_run_is_compared_whatever_it_is(seed):
    seeds = pd.Series([seed] * 6, dtype=object)
    assert len(bs.read(SMALL.assign(seed=seeds), "counts")) == 6
    seeds[2] = None
    with pytest.raises(bs.InputError, match=r'row 2 .*, column "seed": found nothing where run "a" had'):
        bs.read(SMALL.assign(seed=seeds), "counts")


STRANGERS = Path(__file__).with_name("strangers")


def test_shares_in_percent_and_one_length_are_read_at_the_second_try():
    source = STRANGERS / "accuracy_by_length.csv"
    with pytest.raises(bs.InputError, match=r"--trials 500"), warnings.catch_warnings(action="ignore"):
        bs.read(source, "counts")
    with pytest.warns(TableNote, match="one condition|both operands|percent of 500"):
        table = bs.read(source, "counts", trials=500)
    first = table.iloc[0]
    assert (first["length_a"], first["length_b"], first["correct"], first["total"]) == (10, 10, 500, 500)
    assert table["run"].nunique() == 4 and len(table) == 24
    with warnings.catch_warnings(action="ignore"):
        short = bs.read(source, "counts", trials=500, where="n_digits < 30 and accuracy > 50")
    assert len(short) == 8 - int((table["accuracy"].where(table["n_digits"] < 30) <= 50).sum())
    stored = KINDS["counts"].from_dataset(KINDS["counts"].to_dataset(table))
    assert stored.equals(table)
    assert set(table["embedding"]) == {"all"} and set(table["train_digits"]) == {20}


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"acc": 101.0}, {"trials": 10}, "no share from 0 to 100"),
        ({"acc": -0.5}, {"trials": 10}, "no share from 0 to 1"),
        ({}, {"trials": 0}, "trials is 0"),
        ({}, {"trials": 2.5}, "trials is 2.5"),
        ({"accuracy": 0.5}, {"trials": 10}, "could each be accuracy"),
    ],
)
def test_shares_that_cannot_be_are_refused(change, options, message):
    table = SMALL.drop(columns=["correct", "total"]).assign(**{"acc": 0.5, **change})
    with pytest.raises(bs.InputError, match=message), warnings.catch_warnings(action="ignore"):
        bs.read(table, "counts", **options)


def test_trials_are_for_shares():
    with pytest.raises(bs.InputError, match="column of accuracies"):
        bs.read(SMALL, "counts", trials=10)

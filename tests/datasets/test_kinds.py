import datetime

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.datasets import KINDS, load, read, sha256
from bayescaling.datasets.catalogue import TABLES
from bayescaling.errors import InputError

BUILT_IN = [(table.kind, table.name) for table in TABLES.values() if table.kind in KINDS]
ROWS = 6
NASTY = {
    "eval/loss": np.linspace(1, 2, ROWS),
    "eval%2Floss": np.arange(ROWS),
    "run": ["a", "b", "a", "c", "b", "a"],
    "run_": [1.0, np.nan, np.inf, -np.inf, -0.0, 5e-324],
    "run_number": np.arange(ROWS, dtype="uint8"),
    "cell": np.arange(ROWS, dtype="float32"),
    "evaluation": [2**63 - 1, -(2**63), 0, 1, 2, 3],
    "_step": [True, False] * 3,
    "": pd.Series(["", None, "None", "missing:None", "nan", "_missing:"], dtype=object),
    "nothing at all": pd.Series([None] * ROWS, dtype=object),
    "text of its own type": pd.Series(["a", None, "b", "", " ", "\n"]),
    "α β": ["é", "🙂", "a\tb", "line\nbreak", '"', "\\"],
    ".": pd.Series(["zero\0byte", "\ud800", "x", "y", "z", ""], dtype=object),
    "a\0b": np.zeros(ROWS),
    0: np.arange(ROWS) / 3,
    True: np.arange(ROWS),
    "mixed": pd.Series([1, 2.5, "3", True, None, [1, "a", None]], dtype=object),
    "great": pd.Series([10**30, 1, 2, 3, 4, 5], dtype=object),
    "whole or missing": pd.Series([1, None, 2**62 + 1, 3, 4, 5], dtype="Int64"),
    "flag or missing": pd.Series([True, None, False] * 2, dtype="boolean"),
    "string": pd.Series(["a", None, "b", "", " ", "\n"], dtype="string"),
    "category": pd.Categorical(["b", "a", None] * 2, categories=["c", "b", "a"], ordered=True),
    "when": np.array(["2019-02-14", "NaT", "1677-09-22", "2020-02-29T12:34:56.123456789", "", ""], "datetime64[ns]"),
    "day": np.array(["2019-02-14", "NaT", "0001-01-01", "9999-12-31", "2020-02-29", "1970-01-01"], "datetime64[s]"),
    "where": pd.to_datetime(["2019-02-14 10:00", None, "2020-10-25 02:30"] * 2, utc=True).tz_convert("Asia/Tokyo"),
    "how long": pd.to_timedelta([1, 2, None, 3, 4, -5]),
    "fraction": np.arange(ROWS, dtype="float16"),
}


def nasty(**also):
    return pd.DataFrame(NASTY | also)


def through_a_file(dataset, folder):
    dataset.to_netcdf(folder / "table.nc", engine="h5netcdf")
    return xr.load_dataset(folder / "table.nc", engine="h5netcdf")


def same(one, other):
    pd.testing.assert_frame_equal(one, other, check_exact=True, check_column_type=True)
    assert sha256(one) == sha256(other)
    for column in one:
        for a, b in zip(one[column].astype(object), other[column].astype(object), strict=True):
            assert type(a) is type(b)


@pytest.mark.parametrize(("kind", "name"), BUILT_IN)
def test_a_built_in_table_comes_back_from_a_file(kind, name, tmp_path):
    table = load(name)
    stored = KINDS[kind].to_dataset(table)
    same(KINDS[kind].from_dataset(stored), table)
    opened = through_a_file(stored, tmp_path)
    xr.testing.assert_identical(opened, stored)
    same(KINDS[kind].from_dataset(opened), table)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_nasty_table_comes_back_from_a_file(kind, tmp_path):
    stored = kind.to_dataset(nasty())
    same(kind.from_dataset(stored), nasty())
    same(kind.from_dataset(through_a_file(stored, tmp_path)), nasty())


@pytest.mark.parametrize("column", NASTY, ids=repr)
def test_a_nasty_column_is_not_saved_by_its_neighbours(column, tmp_path):
    table = pd.DataFrame({column: NASTY[column]})
    kind = KINDS["runs"]
    same(kind.from_dataset(through_a_file(kind.to_dataset(table), tmp_path)), table)


def test_a_kind_loads_its_built_in_table():
    for name, kind in KINDS.items():
        assert kind.name == name
        if not kind.built_in:
            continue
        assert kind.load().equals(load(kind.built_in))
        assert TABLES[kind.built_in].kind == name


def test_each_reader_reads_the_table_of_its_kind(tmp_path):
    for kind in (kind for kind in KINDS.values() if kind.built_in):
        kind.load().to_csv(tmp_path / "mine.csv", index=False)
        assert len(read(tmp_path / "mine.csv", kind.name)) == len(kind.load())


def test_all_sorts_of_missing_cells_come_back_as_none():
    table = pd.DataFrame({"note": pd.Series([None, np.nan, "x", pd.NA, pd.NaT, "None"], dtype=object)})
    stored = KINDS["runs"].from_dataset(KINDS["runs"].to_dataset(table))
    assert stored["note"].tolist() == [None, None, "x", None, None, "None"]
    assert sha256(stored) == sha256(table)


@pytest.mark.parametrize("cell", [{1, 2}, (1, 2), b"x", 1j, datetime.date(2020, 1, 1), {1: 2}])
def test_a_cell_that_no_file_holds_is_named(cell):
    table = pd.DataFrame({"loss": [1.0, 2.0, 3.0], "odd": pd.Series([None, "x", cell], dtype=object)})
    with pytest.raises(InputError, match=r'column "odd", row 2 .*leave it out') as refused:
        KINDS["runs"].to_dataset(table)
    assert "\n" not in str(refused.value)


def test_a_name_that_no_file_holds_is_told():
    with pytest.raises(InputError, match=r"the name of a column: .*tuple"):
        KINDS["runs"].to_dataset(pd.DataFrame({"loss": [1.0]}).rename(columns={"loss": ("a", 1)}))


def test_a_data_set_without_a_table_is_refused():
    with pytest.raises(InputError, match="holds no table"):
        KINDS["runs"].from_dataset(xr.Dataset({"x": ("run", [1.0])}))

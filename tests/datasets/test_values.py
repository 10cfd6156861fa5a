"""Tables of dated values: forms that are read, and refusals."""

from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.errors import TableNote

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")

RATINGS = """Model,Arena Score,95% CI,Release date
a,1103,±3,2023-03-01
b,1098,+5/-4,2023-04
c,1250,±6,2023-10-23
"""


def read(tmp_path, text, **options):
    path = tmp_path / "values.csv"
    path.write_text(text, encoding="utf-8")
    return bs.read(path, "values", **options)


def test_ratings_are_read_with_their_limits(tmp_path):
    table = read(tmp_path, RATINGS)
    assert table["value"].tolist() == [1103, 1098, 1250]
    assert table["halfwidth"].tolist() == [3, 4.5, 6]
    assert table["year"].iloc[0] == pytest.approx(2023 + 59 / 365)


def test_a_comma_in_a_date_without_quotes_is_part_of_it(tmp_path):
    text = "model,day,price\na,Mar 05, 2023,32.9\nb,14th November, 2024,7.5\n"
    table = read(tmp_path, text)
    assert table["date"].dt.strftime("%Y-%m-%d").tolist() == ["2023-03-05", "2024-11-14"]
    with pytest.raises(bs.InputError, match="line 3: found 4 fields where the header has 3"):
        read(tmp_path, text.replace("14th November", "late"))


@pytest.mark.parametrize(
    ("prices", "values", "note"),
    [
        (["$12.30", "$1,234.50"], [12.3, 1234.5], "in \\$"),
        (["$1,200", "3"], [1200, 3], "with commas between thousands, in \\$"),
        (["12,30 €"], [12.3], "with decimal commas, in €"),
        (["€1.234,50", "€12.345"], [1234.5, 12345], "with decimal commas, in €"),
        (["USD 12", "0.5 USD"], [12, 0.5], "in USD"),
        (["1 234,50"], [1234.5], "with decimal commas"),
    ],
)
def test_amounts_of_money_are_read_with_a_note(prices, values, note):
    table = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=len(prices)), "price": prices})
    with pytest.warns(TableNote, match=f'"price" is written .*{note}'):
        assert bs.read(table, "values")["value"].tolist() == values


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        (["$5", "€4"], "amounts in several currencies, such as \\$5 and €4; convert them into one"),
        (["€1,234"], 'found "€1,234", which is not a number'),
        (["$5 €"], "not a number"),
        (["free"], "not a number"),
        (["12,30"], "with a decimal point as 12.30"),
    ],
)
def test_amounts_that_could_be_two_are_refused(prices, message):
    table = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=len(prices)), "price": prices})
    with pytest.raises(bs.InputError, match=message):
        bs.read(table, "values")


def test_columns_that_resemble_those_that_are_needed_are_proposed(tmp_path):
    text = "model,release,price_per_1M\na,2024-03-05,$3\n"
    with pytest.raises(bs.InputError, match="--column date=release --column value=price_per_1M"):
        read(tmp_path, text)
    assert read(tmp_path, text, columns={"date": "release", "value": "price_per_1M"})["value"].tolist() == [3]


def test_ratings_of_an_arena_are_fitted_at_the_second_try():
    table = bs.read(Path(__file__).parent / "strangers" / "rating_by_date.csv", "values")
    assert table["value"].iloc[-1] == 1450 and table["halfwidth"].iloc[-1] == 4
    with pytest.raises(bs.InputError, match="value_unit=100 for a linear one"):
        bs.laws.Trend().rows(table)
    rows = bs.laws.Trend(value_unit=100).rows(table)
    sd = np.sqrt(bs.laws.Trend(value_unit=100).error_variance(rows))
    np.testing.assert_allclose(100 * sd * 1.96, table["halfwidth"], rtol=1e-4)


def test_columns_of_limits_are_chosen(tmp_path):
    text = "model,release_date,is_sota,p50,p50_low,p50_high\na,2024-01-01,True,4,2,9\nb,2025-01-01,False,9,5,\n"
    columns = {"value": "p50", "low": "p50_low", "high": "p50_high"}
    table = read(tmp_path, text, columns=columns)
    assert table["low"].tolist() == [2, 5] and table["high"].isna().tolist() == [False, True]
    assert len(read(tmp_path, text, columns=columns, where="is_sota")) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("±3", "±x"), "not a number"),
        (("1103", ""), "Arena Score.*blank"),
        (("1103", "high"), 'column "Arena Score": found "high", which is not a number'),
        (("2023-03-01", "soon"), "no date"),
        (("b,1098,+5/-4,2023-04", "a,1098,±5,2023-03-01"), "has a value at 2023-03-01 before"),
        (("Arena Score", "points"), "needed and not there"),
    ],
)
def test_a_cell_that_is_wrong_is_named(tmp_path, change, message):
    with pytest.raises(bs.InputError, match=message):
        read(tmp_path, RATINGS.replace(*change))


def test_limits_hold_the_value():
    table = pd.DataFrame({"date": ["2024-01-01"] * 2, "value": [1.0, 2.0], "low": [0.5, 2.5]})
    with pytest.raises(bs.InputError, match=r"low.*found 2.5, which the value 2 lies outside"):
        bs.read(table, "values")


def test_the_built_in_table_counts_larger_models_before():
    table = bs.load("training_compute")
    row = table.iloc[300]
    before = table[(table["date"] <= row["date"]) & (table["value"] > row["value"])]
    assert row["larger_before"] == len(before)


DAYS = pd.date_range("2022-01-10 09:30", periods=24, freq="40D")


@pytest.mark.parametrize(
    "form",
    ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S+00:00", "%Y-%m-%dT%H:%M:%S-08:00", "%m/%d/%y", "%d.%m.%y", "%d/%m/%Y",
     "%d-%b-%y", "%d %B %y", "%a, %d %b %Y %H:%M:%S GMT", 1, 1000],
)  # fmt: skip
def test_dates_as_people_and_programs_write_them_are_the_same_days(form):
    since = DAYS.as_unit("s").astype("int64")
    written = DAYS.strftime(form) if isinstance(form, str) else since * form
    table = bs.read(pd.DataFrame({"date": written, "value": 1.0}), "values")
    assert table["date"].dt.strftime("%Y-%m-%d").tolist() == DAYS.strftime("%Y-%m-%d").tolist()


@pytest.mark.parametrize("form", ["%b-%y", "%b '%y", "%B/%y", "%b %Y"])
def test_months_take_their_middle(form):
    table = bs.read(pd.DataFrame({"date": DAYS.strftime(form), "value": 1.0}), "values")
    assert (table["date"].dt.to_period("M") == DAYS.to_period("M")).all() and table["date"].dt.day.between(14, 17).all()
    assert table["date_halfwidth_days"].between(14, 15.5).all()


@pytest.mark.parametrize(
    ("dates", "words"),
    [
        (["1/10/22", "2/11/22"], "day may be first or second; write it as 2022-10-01 if .* or 2022-01-10"),
        (["22-01-13", "22-02-14"], "the day or the year may be first"),
        (["Jan 22", "Feb 22"], "is no date"),
        ([44571, 44611], "is no date"),
    ],
)
def test_a_date_of_several_meanings_is_refused(dates, words):
    with pytest.raises(bs.InputError, match=words):
        bs.read(pd.DataFrame({"date": dates, "value": 1.0}), "values")


def test_prices_of_one_thing_are_read_and_of_several_refused():
    table = pd.DataFrame({"date": ["2023-01-01", "2024-01-01"], "price": ["$2.10/hr", "$1,900.50 per hr"]})
    with pytest.warns(TableNote, match="in \\$/hr"):
        assert bs.read(table, "values")["value"].tolist() == [2.1, 1900.5]
    for other in ("$3/day", "$3", "3 €/hr"):
        with pytest.raises(bs.InputError, match="convert them into one"):
            bs.read(table.assign(price=["$2.10/hr", other]), "values")

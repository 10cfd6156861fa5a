import numpy as np
import pandas as pd
import pytest
from bayescaling import InputError, load, read
from bayescaling.errors import TableNote


@pytest.fixture(scope="module")
def table():
    return load("lm_progress").drop(columns=["year", "evidence"])


def test_a_file_gives_back_the_built_in_table(table, tmp_path):
    table.to_csv(tmp_path / "mine.csv", index=False)
    result = read(tmp_path / "mine.csv", "evaluations")
    assert len(result) == 231
    built_in = load("lm_progress")
    np.testing.assert_allclose(result["year"], built_in["year"], rtol=0, atol=1e-9)
    for column in ("parameters", "dataset_tokens", "perplexity", "epochs", "vocabulary", "transformer"):
        np.testing.assert_array_equal(result[column].astype(float), built_in[column].astype(float))
    assert result.attrs["source"] == "mine.csv"


def test_rows_without_papers_are_papers_of_their_own(table):
    assert read(table.drop(columns="paper_id"), "evaluations")["paper_id"].nunique() == 231


def test_a_column_of_another_name_is_taken_when_it_is_named(table):
    renamed = table.rename(columns={"perplexity": "my_ppl"})
    assert read(renamed, "evaluations", columns={"perplexity": "my_ppl"})["perplexity"].equals(table["perplexity"])


def test_a_column_whose_name_another_takes_is_left_out(table):
    both = table.assign(my_ppl=table["perplexity"] + 1)
    result = read(both, "evaluations", columns={"perplexity": "my_ppl"})
    assert result["perplexity"].equals(both["my_ppl"].rename("perplexity"))
    assert "my_ppl" not in result


@pytest.mark.parametrize("kind", ["evaluations", "counts"])
def test_two_columns_can_change_places(kind, table):
    counts = load("arithmetic_runs").drop(columns="split")
    mine, one, other = {
        "evaluations": (table, "parameters", "dataset_tokens"),
        "counts": (counts, "length_a", "length_b"),
    }[kind]
    changed = read(mine.rename(columns={one: other, other: one}), kind, columns={one: other, other: one})
    unchanged = read(mine, kind)
    pd.testing.assert_frame_equal(changed[unchanged.columns], unchanged, check_exact=True)


def test_a_column_cannot_be_chosen_twice(table):
    with pytest.raises(InputError, match=r'"perplexity" is chosen for "parameters", "dataset_tokens"'):
        read(table, "evaluations", columns={"parameters": "perplexity", "dataset_tokens": "perplexity"})


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("publication_date", "soon"),
        ("publication_date", "0001-01-01"),
        ("publication_date", "1500-06-01"),
        ("publication_date", "٢٠١٩-٠٢-١٤"),
        ("perplexity", 0.9),
        ("perplexity", ""),
        ("perplexity", "12a"),
        ("parameters", -1),
        ("dataset_tokens", 0),
        ("transformer", 3),
        ("transformer", 0.5),
        ("parameters", "٣"),
    ],
)
def test_a_cell_that_cannot_be_used_is_named_in_one_line(table, tmp_path, column, value):
    spoiled = table.astype(object)
    spoiled.loc[3, column] = value
    spoiled.to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(InputError) as refused:
        read(tmp_path / "mine.csv", "evaluations")
    message = str(refused.value)
    assert "\n" not in message
    assert all(word in message for word in ("mine.csv", "line 5", f'"{column}"', str(value)))


@pytest.mark.parametrize("column", ["benchmark", "publication_date", "parameters", "dataset_tokens", "perplexity"])
def test_a_missing_column_is_named_with_the_mend(table, column):
    with pytest.raises(InputError, match=rf'"{column}".*--column') as refused:
        read(table.drop(columns=column), "evaluations")
    assert "\n" not in str(refused.value)


def test_a_column_that_is_not_there_cannot_be_chosen(table):
    with pytest.raises(InputError, match="my_ppl"):
        read(table, "evaluations", columns={"perplexity": "my_ppl"})
    with pytest.raises(InputError, match="loss"):
        read(pd.DataFrame(table), "evaluations", columns={"loss": "perplexity"})


def test_a_date_with_a_time_zone_is_the_day_that_is_written(table, tmp_path):
    zoned = table.assign(publication_date=table["publication_date"].dt.tz_localize("US/Pacific"))
    zoned.to_parquet(tmp_path / "mine.parquet")
    read_again = read(tmp_path / "mine.parquet", "evaluations")["publication_date"]
    pd.testing.assert_series_equal(read_again, table["publication_date"])


def test_columns_of_other_names_are_recognised():
    ours = pd.DataFrame(
        {
            "publication_date": ["2019-02-14", "2020-05-28"],
            "benchmark": "wt103",
            "parameters": [1.5e9, 1.75e11],
            "dataset_tokens": [3e9, 3e11],
            "transformer": 1,
            "perplexity": [17.5, 12.0],
        }
    )
    names = {"publication_date": "Date", "parameters": "Model Params", "dataset_tokens": "Training Tokens"}
    names |= {"transformer": "is_transformer", "perplexity": "Test PPL"}
    pd.testing.assert_frame_equal(read(ours.rename(columns=names), "evaluations"), read(ours, "evaluations"))


def test_units_in_headers_are_read_with_a_note(table):
    ours = table.assign(
        **{"Parameters (B)": table["parameters"] / 1e9, "Training tokens (T)": table["dataset_tokens"] / 1e12}
    )
    with pytest.warns(TableNote, match="in units of 1e"):
        result = read(ours.drop(columns=["parameters", "dataset_tokens"]), "evaluations")
    np.testing.assert_allclose(result[["parameters", "dataset_tokens"]], table[["parameters", "dataset_tokens"]])

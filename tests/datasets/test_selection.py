import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest

RUNS = pd.DataFrame(
    {
        "run": ["a", "a", "b", "b", "c"],
        "experiment": ["x", "x", "x", "y", "y"],
        "N": [1e6, 1e6, 2e6, 1e6, 1e6],
        "D": [1e7, 4e7, 4e7, 1e7, 4e7],
        "loss": [4.0, 3.5, 3.4, 4.01, 3.51],
        "learning rate": [1e-4, 1e-4, 1e-3, 1e-3, np.nan],
    }
)


def selected(**options):
    """Return the selected rows by their losses, the notes on them, and the record of reading."""
    with pytest.warns(bs.errors.TableNote) as notes:
        table = bs.read(RUNS, **options)
    return table["loss"].tolist(), [str(note.message) for note in notes], table.attrs["reading"]


def refused(table=RUNS, **options):
    with pytest.raises(bs.InputError) as error, warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.errors.TableNote)
        bs.read(table, **options)
    assert str(error.value).isprintable()
    return str(error.value)


@pytest.mark.parametrize(
    ("expression", "losses"),
    [
        ("experiment == 'x'", [4.0, 3.5, 3.4]),
        ('experiment == "x" and N > 1.5e6', [3.4]),
        ("(experiment == 'y') | (D < 2e7)", [4.0, 4.01, 3.51]),
        ("not experiment in ['x', 'z']", [4.01, 3.51]),
        ("run not in ['a', 'b']", [3.51]),
        ("`learning rate` >= 1e-3", [3.4, 4.01]),
        ("parameters * 2 == 4e6", [3.4]),
        ("training_flop / tokens > 6e6", [3.4]),
        ("3.4 < loss <= 3.51", [3.5, 3.51]),
        ("~(run == 'a')", [3.4, 4.01, 3.51]),
    ],
)
def test_where_keeps_the_rows_for_which_it_holds(expression, losses):
    selection, notes, record = selected(where=expression)
    assert selection == losses
    assert notes == [f"the table: where {expression}: {5 - len(losses)} of 5 rows left out"]
    assert record == [{"option": "where", "value": expression, "rows_before": 5, "rows_left_out": 5 - len(losses)}]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("run.str > 0", "attribute access (.str)"),
        ("abs(loss) > 1", "a call"),
        ("@loss > 1", "cannot be read"),
        ("loss > __import__('os').getpid()", "a call is not allowed"),
        ("loss = 3", 'compare with "=="'),
        ("loss", "neither true nor false"),
        ("1 == 1", "neither true nor false"),
        ("lr > 1", 'no column "lr"'),
        ("los > 1", 'did you mean "loss"?'),
        ("`learning` > 1", 'no column "learning"'),
        ("run > 1", "cannot be worked out"),
        ("run == 'a' * 1000000000", "arithmetic of text"),
        ("loss ** 2 > 1", "Pow"),
        ("[x for x in loss]", "ListComp"),
        ("(lambda: loss)", "Lambda"),
        ("loss[0] > 1", "Subscript"),
        ("run == f'{loss}'", "JoinedStr"),
        ("index == 0", 'no column "index"'),
        ("", "write a condition"),
        ("loss > 9", "holds for none of the 5 rows"),
        ("(" * 500 + "loss > 1" + ")" * 500, "cannot be read"),
    ],
)
def test_where_refuses_anything_but_comparisons(expression, expected):
    message = refused(where=expression)
    assert expected in message
    assert "where" in message
    assert "holds for none" in message or '"learning rate"' in message


def test_a_name_between_backticks_in_text_is_text():
    table = RUNS.assign(run=["`x`", "b", "b", "b", "b"])
    with pytest.warns(bs.errors.TableNote):
        assert len(bs.read(table, where="run == '`x`'")) == 1


def test_rows_left_out_are_not_looked_at():
    table = RUNS.astype(object)
    table.loc[4, ["N", "loss"]] = ["7 b.", 0]
    assert '"7 b."' in refused(table)
    with pytest.warns(bs.errors.TableNote):
        assert len(bs.read(table, where="run != 'c'")) == 4


def test_rows_are_chosen_before_their_cells_are_checked():
    curve = pd.DataFrame({"run": list("aaabbb"), "N": [1e6] * 3 + [2e6] * 3, "D": [1e7, 2e7, 4e7] * 2})
    curve["loss"] = pd.Series([31.0, "nan?", 3.9, -1.0, None, 3.5], dtype=object)
    with pytest.warns(bs.errors.TableNote, match="last_of run: 4 of 6 rows left out"):
        assert bs.read(curve, last_of="run")["loss"].tolist() == [3.9, 3.5]
    # Rows of which it is unknown whether they are the last, the best or the highest are not left out.
    unknown = curve.assign(D=[1e7, "?", 4e7, 1e7, 2e7, 4e7])
    assert 'row 1 (counting from 0), column "D": found "?"' in refused(unknown, last_of="run")
    assert 'row 1 (counting from 0), column "loss": found "nan?"' in refused(curve, best_of="run")
    assert 'row 1 (counting from 0), column "loss": found "nan?"' in refused(curve, drop_highest=4)
    high = RUNS.assign(loss=[4.0, 9999.0, 3.4, np.inf, 3.51])
    with pytest.warns(bs.errors.TableNote):
        assert bs.read(high, drop_highest=2)["loss"].tolist() == [4.0, 3.4, 3.51]
        assert bs.read(high, best_of="N,D")["loss"].tolist() == [4.0, 3.4, 3.51]


EQUAL = RUNS.assign(run="a", D=1e7, N=[1e6, 2e6, 3e6, 4e6, 5e6])
NO_TOKENS = RUNS.drop(columns="D").assign(loss=[4.0, 3.5, 3.4, 3.52, 3.51])


@pytest.mark.parametrize(
    ("table", "options", "losses", "note"),
    [
        (RUNS, {"best_of": "parameters,tokens"}, [4.0, 3.5, 3.4], "best_of parameters, tokens: 2 of 5"),
        (RUNS, {"best_of": "N,D"}, [4.0, 3.5, 3.4], "best_of N, D: 2 of 5"),
        (RUNS, {"where": "loss > 3.45", "best_of": "N"}, [3.5], "where loss > 3.45: 1 of 5"),
        (RUNS, {"last_of": "run"}, [3.5, 3.4, 3.51], "last_of run: 2 of 5"),
        (RUNS, {"last_of": "N"}, [3.4, 3.51], "last_of N: 3 of 5"),
        (RUNS, {"last_of": "parameters"}, [3.4, 3.51], "last_of parameters: 3 of 5"),
        (EQUAL, {"last_of": "run"}, [3.51], "last_of run: 4 of 5"),  # of equal tokens the last row
        # Of a table without tokens the last in the table.
        (NO_TOKENS, {"needed": "parameters", "last_of": "run"}, [3.5, 3.52, 3.51], "last_of run: 2 of 5"),
        (RUNS, {"drop_highest": 2}, [3.5, 3.4, 3.51], "drop_highest 2: 2 of 5"),
    ],
)
def test_rows_are_chosen_by_names_of_the_file_or_of_the_result(table, options, losses, note):
    with pytest.warns(bs.errors.TableNote) as notes:
        read = bs.read(table, **options)
    assert read["loss"].tolist() == losses
    assert str(notes[0].message) == f"the table: {note} rows left out"
    assert [entry["option"] for entry in read.attrs["reading"]] == [x for x in options if x != "needed"]


def test_rows_of_highest_loss_are_left_out():
    assert "leaves none" in refused(drop_highest=5)
    assert "drop_highest" in refused(drop_highest=-1)


def test_rows_that_lack_a_needed_value_are_left_out():
    table = RUNS.assign(loss=[4.0, None, 3.4, 4.01, 3.51], unique_tokens=[1e7, 1e7, None, 1e7, 1e7])
    with pytest.warns(bs.errors.TableNote, match=r"drop_missing \(1 lack loss\): 1 of 5"):
        assert len(bs.read(table, drop_missing=True)) == 4
    with pytest.warns(bs.errors.TableNote, match=r"\(1 lack loss, 1 lack unique_tokens\): 2 of 5"):
        assert len(bs.read(table, drop_missing=True, needed="unique_tokens")) == 3
    assert "drop_missing=True (--drop-missing)" in refused(table)
    spoiled = table.astype({"loss": object})
    spoiled.loc[0, "loss"] = "diverged"
    with pytest.warns(bs.errors.TableNote, match=r'\(1 lack loss, 1 with loss "diverged"\): 2 of 5'):
        assert len(bs.read(spoiled, drop_missing=True)) == 3
    spoiled.loc[0, "loss"], spoiled.loc[2, "loss"], spoiled.loc[3, "loss"] = np.inf, -1, "3.9k"
    assert '"3.9k"' in refused(spoiled, drop_missing=True)
    spoiled.loc[3, "loss"] = 3.9
    with pytest.warns(bs.errors.TableNote, match=r"1 with infinite loss, 1 with negative or zero loss\): 3 of 5"):
        assert len(bs.read(spoiled, drop_missing=True)) == 2
    assert "leaves none" in refused(table.assign(loss=None), drop_missing=True)


def test_options_work_together_in_one_order():
    selection, notes, record = selected(where="experiment == 'x'", last_of="run", drop_highest=1)
    assert selection == [3.4]
    assert [entry["option"] for entry in record] == ["where", "last_of", "drop_highest"]
    assert len(notes) == 3


def test_a_column_to_choose_by_that_is_not_there():
    message = refused(best_of="experimen")
    assert 'did you mean "experiment"' in message and "best_of" in message
    assert "name one or more" in refused(best_of=[])
    assert "there is no column" in refused(last_of="n_params")


@pytest.mark.parametrize("option", ["best_of", "last_of"])
def test_rows_are_chosen_by_cells_that_are_dictionaries(option):
    configs = [{"lr": 1}, {"lr": 2}, {"lr": 1}, {"lr": 2}, {"lr": 3}]
    with pytest.warns(bs.errors.TableNote, match="2 of 5 rows left out"):
        table = bs.read(RUNS.assign(config=configs), **{option: "config"})
    assert sorted(config["lr"] for config in table["config"]) == [1, 2, 3]


@pytest.mark.parametrize("option", ["best_of", "drop_highest", "perplexity", "needed"])
def test_an_option_of_another_kind_is_refused(option):
    value = {"drop_highest": 1, "perplexity": True}.get(option, "benchmark")
    with pytest.raises(bs.InputError, match=f"{option} is not an option of tables of evaluations"):
        bs.read(bs.load("lm_progress"), "evaluations", **{option: value})


def test_an_unknown_kind_names_the_kinds():
    with pytest.raises(bs.InputError, match='did you mean "counts"'):
        bs.read(bs.load("arithmetic_runs"), "count")


@pytest.mark.parametrize("kind", ["evaluations", "counts"])
def test_rows_of_other_tables_are_chosen_too(kind):
    table, where = {
        "evaluations": (bs.load("lm_progress"), "benchmark == 'ptb'"),
        "counts": (bs.load("arithmetic_runs"), "split == 'id'"),
    }[kind]
    with pytest.warns(bs.errors.TableNote, match="rows left out"):
        assert len(bs.read(table, kind, where=where)) == len(table.query(where))
    table.loc[3, {"evaluations": "perplexity", "counts": "total"}[kind]] = None
    with pytest.warns(bs.errors.TableNote, match="1 of"):
        assert len(bs.read(table, kind, drop_missing=True)) == len(table) - 1


def test_losses_of_one_size_far_apart_are_told_with_what_varies():
    table = RUNS.assign(loss=[4.0, 3.5, 3.4, 4.4, 3.51])
    with pytest.warns(
        bs.errors.TableWarning, match=r"1 size comes .* 10% .*parameters 1e\+06, tokens 1e\+07.*experiment"
    ) as notes:
        bs.read(table)
    assert '"run"' in str(notes[0].message) and "--best-of parameters,tokens" in str(notes[0].message)
    table_with_unique = table.assign(unique_tokens=[1e7, 1e7, 1e7, 5e6, 1e7])
    assert len(bs.read(table_with_unique, needed="unique_tokens")) == 5


def test_the_record_of_a_table_outlives_a_second_reading():
    with pytest.warns(bs.errors.TableNote):
        once = bs.read(RUNS, where="experiment == 'x'")
        again = bs.read(once, drop_highest=1)
    assert [entry["option"] for entry in again.attrs["reading"]] == ["where", "drop_highest"]


def test_a_column_of_runs_can_be_named():
    table = RUNS.rename(columns={"run": "model"})
    runs = bs.read(table, columns={"run": "model"})
    assert runs["run"].tolist() == RUNS["run"].tolist() and "model" not in runs
    with pytest.warns(bs.errors.TableNote, match="last_of model: 2 of 5"):
        assert bs.read(table, columns={"run": "model"}, last_of="model")["loss"].tolist() == [3.5, 3.4, 3.51]
    both = bs.read(table.assign(run="one"), columns={"run": "model"})
    assert both["run"].tolist() == RUNS["run"].tolist()
    assert 'column "modell", chosen for run, is not there' in refused(table, columns={"run": "modell"})

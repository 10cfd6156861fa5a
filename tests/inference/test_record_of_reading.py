import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets import KINDS
from bayescaling.inference.fitted import new_fit
from bayescaling.inference.record import table_entry

SIZES = np.geomspace(1e7, 1e10, 20)
RUNS = pd.DataFrame(
    {"N": SIZES, "D": 20 * SIZES[::-1], "loss": np.linspace(4, 2, 20), "eval/acc": 0.5, "kind": ["a", "b"] * 10}
)


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_what_reading_changed_stands_in_the_record_and_comes_back_with_the_table():
    table = bs.read(RUNS, where="kind == 'a'", drop_highest=1)
    entry = table_entry(table)
    assert entry["rows"] == 9
    assert [(e["option"], e.get("rows_left_out")) for e in entry["reading"]] == [
        ("where", 10),
        ("drop_highest", 1),
    ]
    law = bs.laws.Chinchilla()
    groups = {"constant_data": KINDS["runs"].to_dataset(table)}
    fit = new_fit(groups, {"law": {"name": law.name, "options": law.options}, "data": entry})
    rows = fit.rows
    pd.testing.assert_frame_equal(rows, table)
    assert rows.attrs == table.attrs


def test_a_table_as_it_was_has_no_entry_of_reading():
    assert set(table_entry(bs.read(RUNS.drop(columns="eval/acc")))) == {"sha256", "rows", "source"}


def test_a_table_that_no_file_holds_is_refused_before_anything_is_compiled():
    table = bs.read(RUNS.drop(columns="eval/acc").assign(odd=[{1, 2}] * 20))
    fitter = bs.Fitter(bs.laws.Chinchilla(), table)
    with pytest.raises(bs.InputError, match=r'column "odd", row 0 .*leave it out'):
        fitter.fit(seed=1)
    assert not fitter._compiled

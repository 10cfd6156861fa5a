"""Folders of runs with a file a metric: read as one table by one pattern."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets.formats import open_table

SIZES = {"a": 2e7, "b": 1e8, "c": 3e8}
STEPS = np.arange(0, 600, 100)
pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")


def write(folder, names, *, columns=("step", "value"), inner=""):
    """Write a file of each metric in a folder of each run, with a first reading before training."""
    for run, size in SIZES.items():
        tokens = STEPS * 1e7
        loss = 1.8 + 450 / size**0.35 + 2000 / np.maximum(tokens, 1e8) ** 0.37
        place = folder / "runs" / run / inner
        place.mkdir(parents=True)
        for values, (name, offset) in zip((loss, tokens, 6 * size * tokens), names.items(), strict=True):
            steps = STEPS[:-1] if "loss" in name else STEPS
            frame = pd.DataFrame({columns[0]: steps + offset, columns[1]: values[: len(steps)]})
            frame.to_csv(place / name, index=False)
    return folder / "runs"


PLAIN = {"loss.csv": 0, "tokens.csv": 0, "flop.csv": 0}


@pytest.mark.parametrize(
    ("names", "more"),
    [
        (PLAIN, {}),
        (PLAIN, {"columns": ("iteration", "Value")}),
        ({"loss_val.csv": 0, "tokens_seen.csv": 0, "total_flops.csv": 0}, {}),
        ({"run-x-tag-loss.csv": 0, "run-x-tag-tokens.csv": 0, "run-x-tag-flop.csv": 0}, {"columns": ("Step", "Value")}),
        (PLAIN, {"inner": "metrics"}),
    ],
)
def test_metrics_of_a_run_are_joined_by_step(names, more, tmp_path):
    folder = write(tmp_path, names, **more)
    pattern = folder / ("*/*/*.csv" if "inner" in more else "*/*.csv")
    columns = {"columns": {"loss": "loss_val"}} if "loss_val.csv" in names else {}
    with pytest.raises(bs.InputError, match=r'"run" names 3 runs with 4 rows each .*--last-of run'):
        bs.read(pattern, **columns)
    with pytest.warns(bs.errors.TableNote, match="9 files of 3 metrics .* are joined by step: 15 readings of 3 runs"):
        runs = bs.read(pattern, **columns, last_of="run")
    np.testing.assert_allclose(runs["parameters"], list(SIZES.values()))
    assert runs["tokens"].tolist() == [4e9] * 3 and runs["run"].str.contains("[abc]").all()


def test_metrics_without_a_common_step_are_refused(tmp_path):
    folder = write(tmp_path, PLAIN | {"loss.csv": 1})
    with pytest.raises(bs.InputError, match='"flop", "loss", "tokens" have no step of a run in common'):
        bs.read(folder / "*" / "*.csv")


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_a_folder_is_read_by_its_pattern_and_one_without_a_table_is_refused(tmp_path):
    folder = write(tmp_path, PLAIN)
    pd.testing.assert_frame_equal(bs.read(folder, last_of="run"), bs.read(folder / "*/*.csv", last_of="run"))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(bs.InputError, match=r"folder without a table; give the path of a file$"):
        bs.read(empty)


def test_curves_of_several_runs_are_rows_of_their_files(tmp_path):
    for name in SIZES:
        pd.DataFrame({"step": STEPS, "loss": 4.0, "N": SIZES[name]}).to_csv(tmp_path / f"{name}.csv", index=False)
    table, _, _ = open_table(tmp_path / "*.csv")
    assert table["file"].nunique() == 3 and len(table) == 18
    for name in SIZES:
        pd.DataFrame({"step": STEPS, "loss": 4.0}).to_csv(tmp_path / f"{name}.csv", index=False)
    assert "file" in open_table(tmp_path / "*.csv")[0]

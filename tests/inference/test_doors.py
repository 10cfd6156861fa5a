"""A table that did not come through the reader goes through it, whatever it is given as."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
SHORT = {"seed": 1, "draws": 250, "tune": 300, "chains": 2}
N, D = (x.ravel() for x in np.meshgrid(np.geomspace(1e7, 1e9, 5), np.geomspace(1e9, 3e10, 5)))
LOSS = (1.7 + 406 / N**0.34 + 411 / D**0.28) * np.exp(0.004 * np.random.default_rng(1).standard_normal(25))
RUNS = pd.DataFrame({"params": N, "train tokens": D, "val_loss": LOSS})


@pytest.fixture(scope="module")
def posterior():
    """Return draws of alpha of the table that was read."""
    return bs.fit("chinchilla", bs.read(RUNS, columns={"tokens": "train tokens"}), **SHORT)["posterior"]["alpha"].values


@pytest.mark.parametrize("door", ["frame", "file", "dict", "read"])
def test_every_door_gives_the_same_posterior(door, posterior, tmp_path):
    table = RUNS.rename(columns={"train tokens": "tokens"})
    table.to_csv(tmp_path / "runs.csv", index=False)
    given = {"frame": table, "file": tmp_path / "runs.csv", "dict": table.to_dict("list"), "read": bs.read(table)}
    np.testing.assert_array_equal(bs.fit("chinchilla", given[door], **SHORT)["posterior"]["alpha"].values, posterior)


def test_a_built_in_table_is_named():
    assert bs.fit("trend", "training_compute", check=False, **SHORT).rows.attrs["source"] == "training_compute"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"params": N / 1e9}, 'unit={"parameters": 1e9}'),
        ({"train tokens": D / 1e6}, 'unit={"tokens": 1e6}'),
        ({"val_loss": np.exp(LOSS)}, "if it is a perplexity, say so"),
        ({"val_loss": np.where(np.arange(25) == 3, np.nan, LOSS)}, r'(row 3 |line 5, ).*column "val_loss": found'),
    ],
    ids=["billions", "millions", "perplexity", "blank"],
)
def test_a_frame_that_is_read_wrong_is_refused_as_its_file_is(changed, says, tmp_path):
    table = RUNS.assign(**changed).rename(columns={"train tokens": "tokens"})
    table.to_csv(tmp_path / "runs.csv", index=False)
    for given in (table, tmp_path / "runs.csv"):
        with pytest.raises(bs.InputError, match=says) as refusal:
            bs.fit("coupled", given, **SHORT)
        assert "\n" not in str(refusal.value)


def test_rows_that_are_copies_are_left_out():
    table = pd.concat([RUNS.rename(columns={"train tokens": "tokens"})] * 3)
    with pytest.warns(bs.errors.TableNote, match="50 of 75 rows are exact copies"):
        assert len(bs.fit("chinchilla", table, check=False, **SHORT).rows) == 25

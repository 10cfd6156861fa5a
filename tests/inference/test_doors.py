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


DOORS = {
    "points": bs.points.fit_huber,
    "fitter": lambda table: bs.Fitter("chinchilla", table),
    "calibrate": lambda table: bs.calibrate("chinchilla", table, simulations=2, **SHORT),
    "rollout": lambda table: bs.rollout("chinchilla", table, by="training_flop", cutoffs=[1e19], **SHORT),
    "report": lambda table: bs.report("nowhere", laws=["chinchilla"], table=table),
}


@pytest.mark.parametrize("door", DOORS)
def test_other_doors_refuse_what_the_reader_refuses(door, tmp_path):
    billions = RUNS.rename(columns={"train tokens": "tokens"}).assign(params=N / 1e9)
    billions.to_csv(tmp_path / "runs.csv", index=False)
    for given in (billions, billions.to_dict("list"), tmp_path / "runs.csv"):
        with pytest.raises(bs.InputError, match=r'unit={"parameters": 1e9}'):
            DOORS[door](given)
    with pytest.raises(bs.InputError, match="a table is a DataFrame or the path of a file, not int"):
        DOORS[door](3)


def test_fits_in_a_list_and_sizes_by_name_are_taken():
    table = bs.read(RUNS, columns={"tokens": "train tokens"})
    laws = [bs.laws.Chinchilla(noise=noise, size_effects=False) for noise in ("student_t", "normal")]
    fits = [bs.fit(law, table, check=False, **SHORT) for law in laws]
    assert set(bs.compare(fits).index) == {law.label for law in laws}
    by_name = fits[0].predict(parameters=7e8, tokens=[1e10, 2e10])
    by_frame = fits[0].predict(pd.DataFrame({"parameters": 7e8, "tokens": [1e10, 2e10]}))
    np.testing.assert_array_equal(by_name["loss"], by_frame["loss"])
    for sizes, says in (
        ({"parameters": 7, "tokens": 140}, "such as 7e9 for 7B"),
        ({"parameters": 7e9, "tokns": 1e9}, 'did you mean "tokens"'),
        ({}, "columns by name, such as parameters=7e9"),
    ):
        with pytest.raises(bs.InputError, match=says):
            fits[0].predict(**sizes)
    with pytest.raises(bs.InputError, match='two fits are called "chinchilla, size_effects=False"'):
        bs.compare([fits[0], fits[0]])


def test_the_distance_of_a_group_without_rows_is_unknown():
    both = bs.read(pd.concat([RUNS.assign(corpus="a"), RUNS.assign(corpus="b")]), columns={"tokens": "train tokens"})
    law = bs.laws.Grouped(bs.laws.Chinchilla(noise="normal", scatter="one"), "corpus")
    fit = bs.fit(law, both, check=False, **SHORT).predict_group(typical=True)
    runs = {"parameters": 1e8, "tokens": 1e10}
    new, seen = (fit.predict(runs | {"corpus": name}).entries()[0] for name in ("new", "a"))
    assert np.isnan(new["beyond"]) and new["strength"] == "weak" and seen["beyond"] == seen["below"] == 0
    assert "unknown" in str(fit.allocate(1e20, group="new")) and "within the runs" in str(fit.allocate(1e19, group="a"))

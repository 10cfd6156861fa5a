import copy
import json
import pickle
import warnings

import arviz_stats as azs
import bayescaling as bs
import h5py
import numpy as np
import pytest
import xarray as xr
from bayescaling.datasets import netcdf, sha256
from bayescaling.inference.fitted import changed_fit
from bayescaling.models.backend import pymc


@pytest.fixture
def stored(fit_default, tmp_path):
    path = tmp_path / "fit.nc"
    fit_default.save(path)
    return path


def refusal(action, *args):
    with pytest.raises(bs.InputError) as error:
        action(*args)
    message = str(error.value)
    assert message.isprintable()
    return message


def test_a_fit_comes_back_identical(fitter, tmp_path, quiet):
    # A fit of this test alone, since results of other tests may be saved with a shared one.
    groups = {"prior_predictive": True, "posterior_predictive": True}
    fit = fitter.fit(seed=1, draws=100, tune=200, chains=2, least_ess=0, **groups)
    fit.save(tmp_path / "fit.nc")
    opened = bs.open(tmp_path / "fit.nc")
    assert opened.tree.identical(fit.tree)
    assert opened.record == fit.record
    for group in fit.tree.children:
        for name, variable in fit[group].data_vars.items():
            assert opened[group][name].dtype == variable.dtype


def test_arviz_takes_a_fit_as_inferencedata(fit_default):
    pymc()  # imports ArviZ without its announcement
    az = pytest.importorskip("arviz")
    data = fit_default.to_inferencedata()
    summary = az.summary(data, var_names=["alpha", "E"], round_to="none")
    expected = fit_default["posterior"].to_dataset()[["alpha", "E"]].mean().to_array().values
    np.testing.assert_allclose(summary["mean"].astype(float), expected, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # high Pareto k
        result = az.loo(data)
        elpd = result["elpd_loo"] if "elpd_loo" in dir(result) else result.elpd
        assert elpd == pytest.approx(azs.loo(fit_default.tree).elpd, abs=0.5)


def test_the_table_comes_back_whole(fitter, runs, tmp_path, quiet):
    mine = runs.assign(family=np.where(runs.index < 9, "earlier", "later"), kept=runs.index % 2 == 0)
    mine.loc[3, "family"] = None
    fit = fitter.fit(mine, seed=1, draws=50, tune=100, chains=2)
    fit.save(tmp_path / "fit.nc")
    rows = bs.open(tmp_path / "fit.nc").rows
    assert set(rows) == set(mine)
    assert sha256(rows) == sha256(mine) == fit.record["data"]["sha256"]
    assert rows.attrs["source"] == "chinchilla_runs"


def test_an_opened_fit_answers_as_the_fit_did(fit_default, fit_reading_error, stored, runs):
    opened = bs.open(stored)
    xr.testing.assert_identical(opened.predict(runs), fit_default.predict(runs))
    xr.testing.assert_identical(opened.allocate([1e20, 1e24]), fit_default.allocate([1e20, 1e24]))
    assert opened.loo().elpd == fit_default.loo().elpd
    table = bs.compare({"opened": opened, "made": fit_default})
    assert table["elpd_diff"].abs().max() == 0
    path = stored.with_name("reading.nc")
    fit_reading_error.save(path)
    xr.testing.assert_identical(bs.open(path).predict(runs), fit_reading_error.predict(runs))


def test_the_file_is_plain_netcdf_that_arviz_understands(fit_default, stored):
    with xr.open_datatree(stored, engine="h5netcdf") as tree:
        summary, expected = azs.summary(tree.load(), round_to="none"), azs.summary(fit_default.tree, round_to="none")
    counts = [name for name in summary if name.startswith("ess")]  # of ranks, which a last digit may exchange
    np.testing.assert_allclose(summary[counts].astype(float), expected[counts].astype(float), rtol=0.02)
    summary, expected = (table.drop(columns=counts).to_numpy(float) for table in (summary, expected))
    np.testing.assert_allclose(summary, expected, rtol=1e-4, atol=1e-6)


def test_densities_are_evaluated_again_unless_the_file_is_to_have_them(fit_default, stored, runs):
    assert not {"log_likelihood", "log_prior"} & set(xr.open_datatree(stored, engine="h5netcdf").children)
    opened, again = bs.open(stored), pickle.loads(pickle.dumps(fit_default))
    for fit in (opened, again):
        assert "log_likelihood" in fit
        for group in ("log_likelihood", "log_prior", "posterior", "sample_stats"):
            xr.testing.assert_identical(fit[group].to_dataset(), fit_default[group].to_dataset())
        assert azs.loo(fit.tree, var_name="log_loss").elpd == azs.loo(fit_default.tree, var_name="log_loss").elpd
    asked = bs.fit("chinchilla", runs, seed=1, draws=300, tune=500, log_likelihood=True)
    asked.save(stored)
    with xr.open_datatree(stored, engine="h5netcdf") as tree:
        assert azs.loo(tree.load(), var_name="log_loss").elpd == azs.loo(asked.tree, var_name="log_loss").elpd


def test_saving_replaces_a_fit_and_leaves_nothing_else(fit_default, fit_normal, stored):
    unchecked = changed_fit(fit_normal, {}, fit_normal.record)
    unchecked.save(stored)
    assert bs.open(stored).tree.identical(unchecked.tree)
    assert [p.name for p in stored.parent.iterdir()] == ["fit.nc"]


def test_a_failure_while_writing_leaves_the_old_file(fit_default, stored):
    before = stored.read_bytes()
    unwritable = xr.Dataset({"x": ("i", np.array([object(), object()]))})
    spoilt = changed_fit(fit_default, {"spoilt": unwritable}, fit_default.record)
    with pytest.raises((TypeError, ValueError)):
        spoilt.save(stored)
    assert stored.read_bytes() == before
    assert [p.name for p in stored.parent.iterdir()] == ["fit.nc"]


def test_places_that_cannot_be_written_are_refused(fit_default, tmp_path):
    missing = tmp_path / "none" / "fit.nc"
    assert f"{missing}: cannot be written" in refusal(fit_default.save, missing)
    assert f"{tmp_path}: is a folder" in refusal(fit_default.save, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_fit_is_refused_by_functions_of_fits():
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset({"x": 1.0})})
    assert "a DataTree is no fit of bayescaling" in refusal(bs.progress.growth_rates, tree)
    assert "a dict is no fit" in refusal(bs.progress.growth_rates, {})


def test_what_is_no_fit_is_not_opened(stored, tmp_path):
    other = tmp_path / "other.nc"
    assert refusal(bs.open, other) == f"{other}: there is no such file"
    assert str(tmp_path) in refusal(bs.open, tmp_path)
    other.write_text("parameters,tokens,loss\n1e6,2e7,4.5\n")
    assert refusal(bs.open, other).startswith(f"{other}: not a netCDF file that can be read")
    other.write_bytes(b"")
    assert refusal(bs.open, other).startswith(f"{other}: not a netCDF file that can be read")
    other.write_bytes(stored.read_bytes()[:10_000])
    assert refusal(bs.open, other).startswith(f"{other}: not a netCDF file that can be read (")
    xr.Dataset({"x": ("i", [1.0, 2.0])}).to_netcdf(other, engine="h5netcdf")
    assert refusal(bs.open, other).startswith(f"{other}: a netCDF file, but no fit of bayescaling")


def test_a_damaged_fit_is_refused_in_a_line(stored):
    content = stored.read_bytes()
    with h5py.File(stored) as file:
        place = file["posterior/alpha"].id.get_chunk_info(0).byte_offset + 100
    flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    for damaged in (flipped, *(content[: int(share * len(content))] for share in (0.01, 0.3, 0.6, 0.9, 0.999))):
        stored.write_bytes(damaged)
        assert refusal(bs.open, stored).startswith(f"{stored}: not a netCDF file that can be read (")


def test_a_fit_stored_by_an_older_version_is_refused_in_a_line(fit_default, stored):
    record = fit_default.record
    changed_fit(fit_default, {}, record | {"schema": record["schema"] - 1}).save(stored)
    message = refusal(bs.open, stored)
    assert message.startswith(f"{stored}: a fit stored in form {record['schema'] - 1}, by version {bs.__version__}")
    assert message.endswith("fit the table again") and "\n" not in message


def changed(fit, path, change):
    """Write the file of a fit again with a record that was changed."""
    record = copy.deepcopy(fit.record)
    change(record["law"])
    fit.save(path)
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        tree = opened.load()
    tree.attrs["bayescaling"] = json.dumps(record)
    netcdf.write(tree, path)


def test_a_fit_whose_record_was_changed_is_not_taken_for_what_was_fitted(fit_default, stored):
    def of_larger_runs(law):
        law["reference"]["log_parameters_largest"] += 1.0

    changed(fit_default, stored, of_larger_runs)
    message = refusal(bs.open, stored)
    assert "is not what its law makes of its draws; fit the table again" in message


def test_a_long_value_of_an_option_is_cut_in_the_message(fit_default, stored):
    changed(fit_default, stored, lambda law: law["options"].update(run_effects="[" * 5000))
    message = refusal(bs.open, stored)
    assert "run_effects must be true or false, not '[[[" in message and len(message) < 300

import json

import arviz_stats as azs
import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.inference.checks.sensitivity import power_scaling, power_scalings, prior_sensitive
from bayescaling.inference.densities import total
from bayescaling.reports.results import fit_entry, to_json


def normal_model(rows, prior_sd, seed=1):
    """A mean known from rows of sd 1 about 2, with a prior about 0, as the groups that sensitivity needs."""
    rng = np.random.default_rng(seed)
    observed = 2 + rng.standard_normal(rows)
    precision = rows + prior_sd**-2
    mean = observed.sum() / precision + precision**-0.5 * rng.standard_normal((4, 1000))
    return mean, observed


def tree(rows, prior_sd):
    mean, observed = normal_model(rows, prior_sd)
    dims, coords = ("chain", "draw"), {"chain": np.arange(4), "draw": np.arange(1000)}
    density = -0.5 * (observed - mean[..., None]) ** 2
    groups = {
        "posterior": xr.Dataset({"mean": (dims, mean)}, coords),
        "log_likelihood": xr.Dataset({"y": ((*dims, "run"), density)}, coords),
        "log_prior": xr.Dataset({"mean": (dims, -0.5 * (mean / prior_sd) ** 2)}, coords),
    }
    return xr.DataTree.from_dict(groups)


@pytest.fixture
def of_trees(monkeypatch):
    module = "bayescaling.inference.checks.sensitivity"
    monkeypatch.setattr(f"{module}.total", lambda fit: fit["log_likelihood"]["y"].sum("run"))
    monkeypatch.setattr(f"{module}.selection", lambda fit: slice(None))


def test_a_prior_that_decides_is_told_from_one_that_does_not(of_trees, capfd):
    assert prior_sensitive(tree(200, 10.0), ("mean", "absent")) == {}
    sensitive = prior_sensitive(tree(4, 0.3), ("mean", "absent"))
    assert list(sensitive) == ["mean"] and sensitive["mean"] > 0.1
    few, many = (power_scalings(t)["mean"] for t in (tree(4, 0.3), tree(200, 10.0)))
    assert few["likelihood"] > 0.05 and many["likelihood"] > 0.05
    assert capfd.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_the_entry_of_a_fit_names_what_the_prior_decides(runs):
    narrow = bs.fit(bs.laws.Chinchilla(priors={"alpha": "LogNormal(-0.2, 0.05)"}), runs, seed=1, draws=300, tune=400)
    entry = json.loads(to_json(fit_entry(narrow)))
    assert "alpha" in entry["prior_sensitive"]


def test_the_built_in_runs_decide_the_constants(fit_default):
    assert fit_entry(fit_default)["prior_sensitive"] == {}


def test_chains_that_stay_where_they_are_tell_nothing_of_the_prior(of_trees):
    stuck = tree(20, 1.0)
    for name in stuck.children:
        group = stuck[name].to_dataset()
        stuck[name] = xr.DataTree(xr.zeros_like(group) + group.isel(chain=0, draw=0, drop=True))
    sensitivity = power_scaling(stuck, {"mean": stuck["posterior"]["mean"]})["mean"]
    assert np.isnan(sensitivity["prior"]) and "unknown" in sensitivity["diagnosis"]


def test_sensitivities_are_those_of_arviz(fit_default):
    posterior = fit_default["posterior"].to_dataset()[["alpha", "E", "nu"]]
    density = total(fit_default).expand_dims("all", -1).to_dataset(name="density")
    groups = {"posterior": posterior, "log_likelihood": density, "log_prior": fit_default["log_prior"].to_dataset()}
    table = azs.psense_summary(xr.DataTree.from_dict(groups), round_to=6)
    for name, of in power_scalings(fit_default, list(posterior)).items():
        assert of["prior"] == pytest.approx(table.loc[name, "prior"], rel=1e-3, abs=2e-6)
        assert of["likelihood"] == pytest.approx(table.loc[name, "likelihood"], rel=1e-3, abs=2e-6)
        assert of["diagnosis"] == table.loc[name, "diagnosis"]

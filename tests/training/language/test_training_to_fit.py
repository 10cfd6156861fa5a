import json
import os
import subprocess
import sys
from pathlib import Path

import bayescaling as bs
import pytest
from bayescaling.inference.points.curves import curve_frontier

COMMAND = Path(sys.executable).with_name("bayescaling")
SWEEP = """
[corpus]
kind = "synthetic"
vocabulary = 64

[model]
sizes = [[4, 2], [8, 1], [8, 2]]
heads = 2
context = 8

[training]
updates = 240
batch_tokens = 1024
evaluations = 8
evaluation_tokens = 8192

[[stages]]
name = "constant"
learning_rates = [0.01]
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Folder in which a sweep was trained by one command and the law fitted to its table by another."""
    folder = tmp_path_factory.mktemp("loop")
    (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    fitted = ["fit", "embedding-weighted", "--data", "out/runs.csv", "--out", "fit.nc", "--seed", "1", "--json"]
    # Models this small are taken for sizes in another unit unless the unit is stated.
    fitted += ["--unit", "parameters=1"]
    for arguments in (["train", "sweep.toml", "--out", "out"], fitted):
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [COMMAND, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_what_is_trained_is_fitted(trained):
    folder, document = trained
    runs = bs.read(folder / "out" / "runs.csv", unit={"parameters": 1}, needed="run")
    fit = bs.open(folder / "fit.nc")
    assert len(runs) == 3 * 8 and fit["observed_data"].sizes["run"] == len(runs)
    assert document["law"] == "embedding-weighted"
    predicted = fit.predict(runs, noise=False)["loss"].median(("chain", "draw")).values
    # The law is meant for the end of training; what is tested is that it was fitted to these runs and no others.
    assert abs(predicted / runs["loss"] - 1).median() < 0.02
    floor = runs["irreducible_loss"].iloc[0]
    assert (runs["irreducible_loss"] == floor).all() and (runs["loss"] > floor - 5 * runs["loss_se"]).all()


def test_what_is_trained_has_a_frontier_in_both_bases(trained):
    runs = bs.read(trained[0] / "out" / "runs.csv", unit={"parameters": 1}, needed="run")
    total, without = (curve_frontier(runs, basis=basis)["exponent"] for basis in ("total", "nonembedding"))
    assert 0 < total < 2 and 0 < without < 2

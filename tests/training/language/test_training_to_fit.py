import json
import re

import bayescaling as bs
import pytest
from bayescaling.inference.points.curves import curve_frontier

pytestmark = pytest.mark.filterwarnings(
    "always::bayescaling.DiagnosticWarning", "always::bayescaling.errors.TableWarning"
)
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

[fit]
table = "constant"
law = "embedding-weighted"
seed = 1
# Models this small are taken for sizes in another unit unless the unit is stated.
unit = ["parameters=1"]
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory, command_line_here):
    """Folder in which one command trained a sweep and fitted the law to its table."""
    folder = tmp_path_factory.mktemp("loop")
    (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    done = command_line_here("train", folder / "sweep.toml", "--out", folder / "out", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["status"] == "finished"
    return folder, document["fit"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 1", "sede = 1", r"error: \[fit\]: No such option: --sede"),
        ("[fit]", "[report]\npages = 3\n[fit]", r"error: \[report\]: No such option: --pages"),
        ("[fit]", "[fits]", 'key "fits" is unknown'),
    ],
)
def test_what_a_fit_does_not_take_is_refused_before_training(old, new, message, tmp_path, command_line_here):
    (tmp_path / "sweep.toml").write_text(SWEEP.replace(old, new), encoding="utf-8")
    done = command_line_here("train", tmp_path / "sweep.toml", "--out", tmp_path / "out", "--json")
    assert done.returncode == 2 and re.search(message, done.stderr) and done.stderr.count("\n") == 1
    assert not list(tmp_path.glob("out/runs/*"))


def test_what_is_trained_is_fitted(trained):
    folder, document = trained
    runs = bs.read(folder / "out" / "runs.csv", unit={"parameters": 1}, needed="run")
    fit = bs.open(folder / "out" / "fit.nc")
    assert len(runs) == 3 * 8 and fit["observed_data"].sizes["run"] == len(runs)
    assert document["law"] == "embedding-weighted"
    predicted = fit.predict(runs, noise=False)["loss"].median(("chain", "draw")).values
    # The law is meant for the end of training; what is tested is that it was fitted to these runs and no others.
    assert abs(predicted / runs["loss"] - 1).median() < 0.02
    floor = runs["irreducible_loss"].iloc[0]
    assert document["known_floor"]["known"] == pytest.approx(floor)
    ends = document["parameters"]["E"]
    assert document["known_floor"]["holds"] == (ends["q2.5"] <= floor <= ends["q97.5"])
    assert document["known_floor"]["sentence"][1:] in " ".join(str(fit).split())
    assert (runs["irreducible_loss"] == floor).all() and (runs["loss"] > floor - 5 * runs["loss_se"]).all()


def test_what_is_trained_has_a_frontier_in_both_bases(trained):
    runs = bs.read(trained[0] / "out" / "runs.csv", unit={"parameters": 1}, needed="run")
    total, without = (curve_frontier(runs, basis=basis)["exponent"] for basis in ("total", "nonembedding"))
    assert 0 < total < 2 and 0 < without < 2


def test_the_exponents_of_a_sweep_are_printed_next_to_the_published_ones(trained, tmp_path, command_line_here):
    """The command reads the tables that a sweep wrote; those of the papers' names have published exponents."""
    out = trained[0] / "out"
    (tmp_path / "scheme-2.csv").write_bytes((out / "constant.csv").read_bytes())
    done = command_line_here("reconcile", tmp_path, "--json")
    entry = json.loads(done.stdout)["exponents"]["scheme-2"]
    runs = bs.read(out / "constant.csv", unit={"parameters": 1}, needed="run")
    for basis, published in (("total", 0.49), ("nonembedding", 0.74)):
        assert entry[basis]["exponent"] == pytest.approx(curve_frontier(runs, basis=basis)["exponent"])
        assert entry[basis]["published"] == published
    assert not done.stderr
    printed = command_line_here("reconcile", out).stdout
    assert "constant" in printed and "published" in printed
    empty = command_line_here("reconcile", out / "runs")
    assert empty.returncode == 2 and "there is no table of a scheme" in empty.stderr


def test_the_losses_of_a_sweep_are_drawn_from_its_log(trained):
    axes = bs.plot_learning(trained[0] / "out")
    ends = axes.table.groupby("series")["x"].max()
    assert ends.pop("entropy of the corpus") == 240 * 1024
    assert len(ends) == 3 and (ends == 240 * 1024).all() and axes.finding.endswith("3 are finished")

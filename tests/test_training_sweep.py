import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr
from bayescaling.errors import DiagnosticWarning, InputError
from bayescaling.training import Configuration, Synthetic, read_sweep, table, train

torch.set_num_threads(1)
TINY = """
[corpus]
kind = "synthetic"
vocabulary = 32

[model]
sizes = [[4, 1], [8, 1]]
heads = 2
context = 8

[training]
updates = [40, 60]
batch_tokens = 256
evaluations = 4
evaluation_tokens = 2048

[[stages]]
name = "rates"
schedule = "constant"
learning_rates = [0.003, 0.03]
keep = "best"

[[stages]]
name = "cosine"
schedule = "cosine"
learning_rates = "best"
budgets = [0.5, 1.0]
"""
RUNS = 8


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unbroken")
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    result = train(folder / "tiny.toml", folder / "out", device="cpu", progress=False)
    assert result.attrs["status"] == "finished"
    return result, folder / "out"


def same(result, expected):
    """Whether two sweeps gave the same, bit for bit, whatever the time they took."""
    return result.drop_vars("wall_seconds").equals(expected.drop_vars("wall_seconds"))


def test_what_a_sweep_records(unbroken):
    result, out = unbroken
    assert result.sizes["run"] == RUNS
    assert set(result.data_vars) == {
        *("loss_train", "loss_eval", "loss_eval_se", "loss_oracle", "excess", "excess_se"),
        *("learning_rate", "tokens", "flop", "wall_seconds"),
    }
    for name in (
        "parameters",
        "parameters_nonembedding",
        "d_model",
        "layers",
        "vocabulary",
        "context",
        "scheme",
        "seed",
    ):
        assert result[name].dims == ("run",)
    constant = result.isel(run=0).dropna("step", subset=["loss_eval"])
    assert constant["step"].values.tolist() == [10, 20, 30, 40]
    assert constant["tokens"].values.tolist() == [2560, 5120, 7680, 10240]
    model = Configuration(4, 1, vocabulary=32, context=8, heads=2)
    assert constant["parameters"] == model.parameters == 32 * 4 + 8 * 4 + 12 * 16
    assert np.allclose(constant["flop"], 6 * model.parameters * constant["tokens"])
    assert np.allclose(constant["loss_eval"] - constant["loss_oracle"], constant["excess"])
    assert (constant["loss_eval"].diff("step") < 0).all()
    entropy, error = Synthetic(vocabulary=32).irreducible_loss(8)
    assert result.attrs["entropy"] == entropy and result.attrs["entropy_se"] == error
    assert abs(constant["loss_oracle"][0] - entropy) < 0.2
    assert "torch" in json.loads(result.attrs["versions"])
    assert same(xr.open_dataset(out / "runs.nc", engine="h5netcdf").load(), result)


def test_the_best_rate_is_taken(unbroken):
    result, _ = unbroken
    for d_model in (4, 8):
        of_size = result.where(result["d_model"] == d_model, drop=True)
        ends = {}
        for run in of_size["run"].values:
            one = of_size.sel(run=run)
            if one["schedule"] == "constant":
                ends[float(one["learning_rate_peak"])] = (
                    one["loss_eval"].dropna("step").values[-1],
                    str(one["scheme"].values),
                )
        best = min(ends, key=ends.get)
        assert {rate: scheme for rate, (_, scheme) in ends.items()} == {r: "rates" if r == best else "" for r in ends}
        assert set(of_size["learning_rate_peak"].values[of_size["schedule"].values == "cosine"]) == {best}


def test_tables_are_read_as_they_are(unbroken):
    result, out = unbroken
    assert sorted(path.name for path in out.glob("*.csv")) == ["cosine.csv", "rates.csv", "runs.csv"]
    runs = bs.read(out / "runs.csv")
    assert len(runs) == 2 * 4 + 2 * 2
    recognised = ["parameters", "tokens", "training_flop", "loss", "d_model", "vocabulary", "parameters_nonembedding"]
    assert list(runs.columns[:7]) == recognised
    assert np.allclose(runs["training_flop"], 6 * runs["parameters"] * runs["tokens"])
    pd.testing.assert_frame_equal(
        runs, bs.read(table(result)), check_dtype=False, check_exact=True, check_column_type=False
    )
    assert len(bs.read(out / "cosine.csv")) == 4 and len(bs.read(out / "rates.csv")) == 8
    assert len(table(result, "cosine", curves=True)) == 16
    bs.Chinchilla().reference(runs)


def test_a_finished_sweep_is_not_trained_again(unbroken):
    expected, out = unbroken
    start = time.perf_counter()
    assert train(out.parent / "tiny.toml", out, device="cpu", progress=False).equals(expected)
    assert time.perf_counter() - start < 5
    assert not list((out / "checkpoints").glob("*"))


def test_a_sweep_in_slices_is_the_unbroken_one(tiny, unbroken, tmp_path):
    status, slices = "paused", 0
    while status == "paused":
        slices += 1
        result = train(tiny, tmp_path / "out", device="cpu", time_limit=0.6, progress=False)
        status = "paused" if result is None else result.attrs["status"]
    assert slices > 2
    assert same(result, unbroken[0])


def test_killed_at_any_moment_a_sweep_goes_on(tiny, unbroken, tmp_path):
    tiny.write_text(TINY.replace("updates =", "save_seconds = 0\nupdates ="), encoding="utf-8")
    code = f"""
        import torch
        torch.set_num_threads(1)
        from bayescaling.training import train
        train({str(tiny)!r}, {str(tmp_path / "out")!r}, device="cpu", progress=False)
    """
    command, kills = [sys.executable, "-c", textwrap.dedent(code)], 0
    for wait in (0.1, 0.6):
        child = subprocess.Popen(command)
        before = time.time() + 60
        while time.time() < before and not list((tmp_path / "out").glob("checkpoints/*/*")):
            time.sleep(0.001)
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        kills += child.wait() == -signal.SIGKILL
    assert kills
    assert same(train(tiny, tmp_path / "out", device="cpu", progress=False), unbroken[0])


def test_an_interrupt_saves_and_is_passed_on(tiny, unbroken, tmp_path):
    code = f"""
        import torch
        torch.set_num_threads(1)
        from bayescaling.training import train
        try:
            train({str(tiny)!r}, {str(tmp_path / "out")!r}, device="cpu", progress=False)
        except KeyboardInterrupt:
            print("interrupted")
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    before = time.time() + 60
    while time.time() < before and not list((tmp_path / "out").glob("runs/*.nc")):
        time.sleep(0.001)
    os.kill(child.pid, signal.SIGINT)
    assert child.communicate()[0] == "interrupted\n" and child.returncode == 0
    assert list((tmp_path / "out").glob("runs.nc"))
    assert same(train(tiny, tmp_path / "out", device="cpu", progress=False), unbroken[0])


def test_an_executor_of_threads(tiny, unbroken, tmp_path):
    with ThreadPoolExecutor(2) as executor:
        result = train(tiny, tmp_path / "out", executor=executor, device="cpu", progress=False)
    assert result.attrs["status"] == "finished"
    assert same(result, unbroken[0])


@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_of_two_processes(tiny, unbroken, tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        with distributed.Client(cluster) as client:
            client.run(torch.set_num_threads, 1)
            assert len(set(client.run(os.getpid).values()) - {os.getpid()}) == 2
        result = train(tiny, tmp_path / "out", scheduler=cluster.scheduler_address, device="cpu", progress=False)
    assert result.attrs["status"] == "finished"
    assert same(result, unbroken[0])


@pytest.mark.filterwarnings("default")
def test_a_scheduler_that_does_not_answer(tiny, tmp_path):
    dask = pytest.importorskip("dask")
    with dask.config.set({"distributed.comm.timeouts.connect": "0.5s"}), pytest.raises(InputError, match="not answer"):
        train(tiny, tmp_path / "out", scheduler="tcp://127.0.0.1:9", progress=False)


def test_diverged_runs_are_recorded_and_left_out(tiny, tmp_path):
    text = TINY.replace("[0.003, 0.03]", "[0.003, 1e30]").replace("sizes = [[4, 1], [8, 1]]", "sizes = [[4, 1]]")
    tiny.write_text(text.replace("[40, 60]", "40"), encoding="utf-8")
    result = train(tiny, tmp_path / "out", device="cpu", progress=False)
    assert result["status"].values.tolist() == ["finished", "diverged", "finished", "finished"]
    assert np.isnan(result["loss_eval"].values[1]).all() and math.isnan(result["excess"].values[1, -1])
    assert set(bs.read(tmp_path / "out" / "runs.csv")["learning_rate_peak"]) == {0.003}
    tiny.write_text(tiny.read_text().replace("[0.003, 1e30]", "[1e30]"), encoding="utf-8")
    with pytest.warns(DiagnosticWarning, match="every learning rate diverged"):
        result = train(tiny, tmp_path / "other", device="cpu", progress=False)
    assert result["status"].values.tolist() == ["diverged"]


def test_a_full_disk_stops_a_sweep_that_then_goes_on(tiny, unbroken, tmp_path):
    code = f"""
        import resource, torch
        torch.set_num_threads(1)
        from bayescaling.training import train
        from bayescaling.errors import InputError
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(__import__("sys").argv[1]),) * 2)
        try:
            train({str(tiny)!r}, {str(tmp_path / "out")!r}, device="cpu", progress=False)
        except InputError as error:
            print(error)
    """
    for limit in ("3000", "12000"):
        told = subprocess.run([sys.executable, "-c", textwrap.dedent(code), limit], capture_output=True, text=True)
        assert "cannot be written" in told.stdout and told.stdout.count("\n") == 1 and not told.stderr
        assert not list((tmp_path / "out").rglob(".*.partial"))
    assert same(train(tiny, tmp_path / "out", device="cpu", progress=False), unbroken[0])


def test_damaged_files_are_named(tiny, unbroken, tmp_path):
    train(tiny, tmp_path / "out", device="cpu", progress=False)
    record = next((tmp_path / "out" / "runs").glob("*.nc"))
    record.write_bytes(record.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"the record is damaged .* delete it to train it again"):
        train(tiny, tmp_path / "out", device="cpu", progress=False)
    record.unlink()
    assert same(train(tiny, tmp_path / "out", device="cpu", progress=False), unbroken[0])


def test_text_trains_too(tmp_path):
    generator = np.random.default_rng(0)
    words = ["law", "loss", "size", "token", "compute", "model", "data", "train"]
    (tmp_path / "book.txt").write_text(" ".join(generator.choice(words, 5000)), encoding="utf-8")
    text = TINY.replace('kind = "synthetic"\nvocabulary = 32', 'kind = "text"\nfiles = "*.txt"\nvocabulary = 300')
    (tmp_path / "text.toml").write_text(text.split("[[stages]]")[0] + "[[stages]]\nlearning_rates = [0.03]\n")
    result = train(tmp_path / "text.toml", tmp_path / "out", device="cpu", progress=False)
    assert result["loss_eval"].isel(run=1).dropna("step").values[-1] < 4
    assert "entropy" not in result.attrs and np.isnan(result["loss_oracle"]).all()
    assert len(bs.read(tmp_path / "out" / "stage-1.csv")) == 8


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[corpus]", "[corpus", "not TOML"),
        ("[corpus]", 'preset = "scheme-5"\n[corpus]', 'preset "scheme-5" is unknown; did you mean "scheme-'),
        ("[corpus]", "nonsense = 1\n[corpus]", 'key "nonsense" is unknown'),
        ("[model]", "[modle]", 'did you mean "model"'),
        ("vocabulary = 32", "vocabulary = 1", "vocabulary is 1;"),
        ("heads = 2", "heads = 3", "multiple of the heads"),
        ("heads = 2", "vocabulary = 31", "vocabulary is 31 and the corpus has tokens of 32"),
        ("[[4, 1], [8, 1]]", "[4, 8]", "pairs of d_model and layers"),
        ("[40, 60]", "[40]", "one for each of the 2 sizes"),
        ("[40, 60]", '"many"', "updates is 'many'"),
        ("batch_tokens = 256", "batch_tokens = 100", "multiple of the context"),
        ("evaluations = 4", "evaluations = 0", "evaluations is 0"),
        ("evaluations = 4", "betas = 0.9", "wrong type"),
        ("evaluations = 4", 'precision = "fp8"', 'precision "fp8" is unknown'),
        ("evaluations = 4", 'loss_route = "ligr"', 'did you mean "liger"'),
        ("evaluations = 4", 'compile = "yes"', "compile is 'yes'"),
        ("evaluations = 4", "seeds = [-1]", "seeds is"),
        ("evaluations = 4", "decay = -1", "decay is -1"),
        ('"constant"', '"constnt"', 'did you mean "constant"'),
        ("[0.003, 0.03]", "[0, 1]", "learning_rates is"),
        ("[0.003, 0.03]", '"best"', "no constant stage goes before"),
        ("[0.5, 1.0]", "[0.5, -1.0]", "budgets is"),
        ('name = "cosine"', 'name = "rates"', "the name of several"),
        ('name = "cosine"', 'name = "a/b"', "give letters"),
        ('keep = "best"', 'keep = "worst"', 'keep "worst" is unknown'),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(old, new, message, tiny, tmp_path):
    assert old in TINY
    tiny.write_text(TINY.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        train(tiny, tmp_path / "out", device="cpu", progress=False)
    assert str(caught.value).startswith("tiny.toml: ") or "liger" in message
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "out" / "runs").glob("*"))


def test_calls_that_cannot_be_are_refused(tiny, tmp_path):
    with pytest.raises(InputError, match=r"no\.toml: the file cannot be opened"):
        train(tmp_path / "no.toml", tmp_path / "out", progress=False)
    with pytest.raises(InputError, match="time limit is -1"):
        train(tiny, tmp_path / "out", time_limit=-1, progress=False)
    with pytest.raises(InputError, match="cannot be made"):
        train(tiny, tiny / "out", progress=False)
    with pytest.raises(InputError, match="device"):
        train(tiny, tmp_path / "out", device="cuda:99", progress=False)
    assert read_sweep(tiny, tmp_path).stages[1].learning_rates == "best"


def test_the_bar_tells_speed_and_share(tiny, tmp_path, capfd):
    train(tiny, tmp_path / "out", device="cpu")
    assert "cosine 4/4" in capfd.readouterr().err


def test_training_needs_neither_pymc_nor_pandera(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY, encoding="utf-8")
    code = """
        import sys
        for name in ("pymc", "pandera", "arviz_base", "arviz_stats", "nutpie", "numba", "scipy", "plotly"):
            sys.modules[name] = None
        import bayescaling.training
        assert "torch" not in sys.modules and "numpy" not in sys.modules
        from bayescaling.training import train
        print(train("tiny.toml", "out", device="cpu", progress=False).attrs["status"])
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    assert subprocess.check_output(command, cwd=tmp_path, text=True) == "finished\n"


@pytest.mark.parametrize("library", ["torch", "safetensors"])
def test_a_missing_library_is_named(library):
    code = f"import sys; sys.modules[{library!r}] = None; import bayescaling.training as t; t.train"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr.splitlines()[-1]
    assert told.endswith(f"training: {library} is not installed; pip install 'bayescaling[training]'")

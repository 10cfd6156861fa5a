"""Properties of a sweep of either kind."""

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import xarray as xr
from bayescaling.errors import InputError
from bayescaling.training.engine.checkpoints import Checkpoints
from bayescaling.training.sweeps import trainer


# More than the updates, and the parts of grids, of either tiny sweep.
def wait_for(folder, pattern):
    """Wait until a file is there, for a minute at most."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list(folder.glob(pattern)):
        time.sleep(0.005)


def test_a_finished_sweep_is_not_trained_again(kind, unbroken):
    expected, out = unbroken
    before = {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert len(before) == kind.runs
    assert kind.train(out.parent / "tiny.toml", out).equals(expected)
    assert {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before
    assert not list((out / "checkpoints").glob("*"))


def test_every_slice_makes_progress_whatever_its_limit(kind, tiny, unbroken, tmp_path):
    expected, finished = unbroken
    out, last = shutil.copytree(finished, tmp_path / "out"), str(expected["run"].values[-1])
    (out / "runs" / f"{last}.nc").unlink()
    for step in (1, 2, 3):
        assert kind.train(tiny, out, time_limit=0).attrs["status"] == "paused"
        assert Checkpoints(out / "checkpoints" / last).latest()[0] == step
    assert kind.same(kind.train(tiny, out), expected)


def test_killed_at_any_moment_a_sweep_resumes(kind, tiny, unbroken, tmp_path):
    tiny.write_text(kind.text.replace("[training]", "[training]\nsave_seconds = 0"), encoding="utf-8")
    with kind.child(tiny, tmp_path / "out") as child:
        wait_for(tmp_path, "out/checkpoints/*/step-*")
        time.sleep(0.1)
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert kind.same(kind.train(tiny, tmp_path / "out"), unbroken[0])


def test_killed_at_any_moment_table_and_log_have_every_finished_run(kind, tiny, unbroken, tmp_path):
    out, finished = tmp_path / "out", set()
    for number in range(1, min(kind.runs, 4)):
        with kind.child(tiny, out) as child:
            while len(list(out.glob("runs/*.nc"))) < number and child.poll() is None:
                time.sleep(0.005)
            child.send_signal(signal.SIGKILL)
        finished |= {path.stem for path in out.glob("runs/*.nc")}
        assert len(finished) >= number
        with xr.open_dataset(out / "runs.nc", engine="h5netcdf") as table:
            assert finished <= set(table["run"].values.tolist())
        # Runs of a stage that counts the best rates alone are rows once the stage is done.
        assert (out / "runs.csv").exists() or 'keep = "best"' in kind.text
        assert finished <= {entry["run"] for entry in logged(out) if entry.get("status") == "finished"}
    with (out / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"run": "cut')
    entries = []
    assert kind.same(kind.train(tiny, out, track=entries.append), unbroken[0])
    assert {entry["run"] for entry in logged(out) if "status" in entry} == set(unbroken[0]["run"].values.tolist())
    assert entries and logged(out)[-1] == entries[-1]
    losses = [entry["loss_train"] for entry in logged(out) if "step" in entry]
    assert len(losses) >= kind.runs and all(loss > 0 for loss in losses)


def logged(out):
    """Return the lines of a log that are whole."""
    entries = []
    for line in (out / "log.jsonl").read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ValueError):
            entries.append(json.loads(line))
    return entries


def test_an_interrupt_saves_and_is_passed_on(kind, tiny, unbroken, tmp_path, interruptible):
    with kind.child(tiny, tmp_path / "out") as child:
        wait_for(tmp_path, "out/runs/*.nc")
        os.kill(child.pid, signal.SIGINT)
        assert child.communicate()[0].split() == ["KeyboardInterrupt", str(int(signal.SIGINT))]
    assert (tmp_path / "out" / "runs.nc").exists()
    assert kind.same(kind.train(tiny, tmp_path / "out"), unbroken[0])


def test_an_executor_of_threads(kind, tiny, unbroken, tmp_path):
    with ThreadPoolExecutor(2) as executor:
        result = kind.train(tiny, tmp_path / "out", executor=executor)
    assert result.attrs["status"] == "finished"
    assert kind.same(result, unbroken[0])


def test_processes_of_this_machine_of_which_one_is_killed(kind, tiny, unbroken, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "cores", lambda: 2)

    def kill():
        wait_for(tmp_path, "out/checkpoints/*/step-*")
        multiprocessing.active_children()[0].kill()

    with ThreadPoolExecutor(1) as killer:
        killer.submit(kill)
        with pytest.raises(InputError, match="processes: one was killed"):
            kind.train(tiny, tmp_path / "out", processes=2)
    result = kind.train(tiny, tmp_path / "out", processes=2)
    assert result.attrs["status"] == "finished" and kind.same(result, unbroken[0])
    with pytest.raises(InputError, match="processes is 0"):
        kind.train(tiny, tmp_path / "out", processes=0)
    with pytest.raises(InputError, match="give one of executor, scheduler and processes"):
        kind.train(tiny, tmp_path / "out", processes=2, scheduler="tcp://127.0.0.1:9")


@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_of_two_processes(kind, tiny, unbroken, tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        with distributed.Client(cluster) as client:
            client.run(torch.set_num_threads, 1)
            assert len(set(client.run(os.getpid).values()) - {os.getpid()}) == 2
        first = kind.train(tiny, tmp_path / "out", scheduler=cluster.scheduler_address, time_limit=0)
        assert first is None and list((tmp_path / "out" / "checkpoints").glob("*/step-00000001"))
        result = kind.train(tiny, tmp_path / "out", scheduler=cluster.scheduler_address)
    assert result.attrs["status"] == "finished"
    assert kind.same(result, unbroken[0])


@pytest.mark.filterwarnings("default")
def test_a_scheduler_that_does_not_answer(kind, tiny, tmp_path):
    dask = pytest.importorskip("dask")
    with dask.config.set({"distributed.comm.timeouts.connect": "0.5s"}), pytest.raises(InputError, match="not answer"):
        kind.train(tiny, tmp_path / "out", scheduler="tcp://127.0.0.1:9")


def test_damaged_records_are_named(kind, tiny, unbroken, tmp_path):
    out = shutil.copytree(unbroken[1], tmp_path / "out")
    record = next((out / "runs").glob("*.nc"))
    record.write_bytes(record.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"the record is damaged .* delete it to train it again"):
        kind.train(tiny, out)
    record.unlink()
    assert kind.same(kind.train(tiny, out), unbroken[0])


def test_calls_that_cannot_be_are_refused(kind, tiny, tmp_path):
    with pytest.raises(InputError, match=r"no\.toml: the file cannot be opened"):
        kind.train(tmp_path / "no.toml", tmp_path / "out")
    with pytest.raises(InputError, match="zero: this is a device or a pipe"):
        kind.train("/dev/zero", tmp_path / "out")
    with pytest.raises(InputError, match="time limit is -1"):
        kind.train(tiny, tmp_path / "out", time_limit=-1)
    with pytest.raises(InputError, match="cannot be made"):
        kind.train(tiny, tiny / "out")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop: cannot be made"):
        kind.train(tiny, tmp_path / "loop")
    with pytest.raises(InputError, match="device"):
        kind.train(tiny, tmp_path / "out", device="cuda:99")


def test_training_needs_neither_pymc_nor_pandera(kind, tiny, tmp_path):
    names = ("pymc", "pandera", "arviz_base", "arviz_stats", "nutpie", "numba", "scipy", "plotly")
    with kind.child(tiny, tmp_path / "out", before=f"sys.modules.update(dict.fromkeys({names}))") as child:
        assert child.communicate()[0] == "finished\n"


def test_importing_training_loads_nothing_heavy(kind):
    code = f"import sys, {kind.package.__name__}; print([m for m in ('torch', 'numpy', 'pandas') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


@pytest.mark.parametrize("library", ["torch", "safetensors"])
def test_a_missing_library_is_named(kind, library):
    code = f"import sys; sys.modules[{library!r}] = None; import {kind.package.__name__} as t; t.train"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr.splitlines()[-1]
    assert printed.endswith(f"training: {library} is not installed; pip install 'bayescaling[training]'")


def test_every_public_name_resolves(kind):
    for name in kind.package.__all__:
        assert getattr(kind.package, name) is not None and name in dir(kind.package)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = kind.package.nonsense

import json
import signal
import subprocess
import sys
import time

import pytest
from bayescaling.datasets import progress_messages
from bayescaling.training import arithmetic, make_sweep, outline
from bayescaling.training.engine.hardware import choose_device, describe_where
from bayescaling.training.sweeps import outline as outlines
from bayescaling.training.sweeps import progress
from bayescaling.training.sweeps.base import distinct
from bayescaling.training.sweeps.outline import Times

COMMAND = {"language": "train", "arithmetic": "arithmetic"}


def name_of(kind):
    return "arithmetic" if kind.package is arithmetic else "language"


def test_an_outline_counts_what_a_sweep_then_does(kind, tiny, unbroken):
    result, _ = unbroken
    plan = kind.package.outline(tiny, device="cpu")
    assert sum(stage["runs"] for stage in plan["rounds"]) == result.sizes["run"]
    assert max(stage["parameters"][1] for stage in plan["rounds"]) == result["parameters"].max()
    if name_of(kind) == "arithmetic":
        assert sum(stage["flop"] for stage in plan["rounds"]) == pytest.approx(float(result["flop"].sum()))
    for stage in plan["rounds"]:
        assert stage["seconds"] > 0 and 0 < stage["bytes"] < plan["free"]


def test_an_outline_of_the_papers_sizes():
    plan = outline(make_sweep({"preset": "schemes"}), device="H100")
    assert plan["device"] == "H100" and plan["free"] is None
    assert [stage["runs"] for stage in plan["rounds"]] == [5, 15, 5, 25]
    assert {tuple(stage["parameters"]) for stage in plan["rounds"]} == {(807_440, 4_636_240)}
    # Six FLOP for each of N_x + V d and token, and attention: scheme 1 has 28,000 updates of 65,536 tokens.
    flop = plan["rounds"][0]["flop"]
    tokens = {(16, 1): 4000, (32, 3): 4000, (40, 4): 4000, (60, 6): 8000, (80, 8): 8000}
    expected = sum(
        65536 * updates * (6 * (12 * layers * d**2 + 50257 * d) + 12 * layers * 16 * d)
        for (d, layers), updates in tokens.items()
    )
    assert flop == pytest.approx(expected)


def test_the_time_on_a_device_that_is_not_here_is_not_estimated(kind, command_line_here):
    preset = next(iter(kind.package.PRESETS))
    plan = kind.package.outline(kind.package.make_sweep({"preset": preset}), device="B200")
    assert plan["unmeasured"] == "B200 is not here" and plan["measured"] == []
    assert all(stage["seconds"] is None and stage["bytes"] > 0 for stage in plan["rounds"])
    words = command_line_here(COMMAND[name_of(kind)], "--preset", preset, "--dry-run", "--device", "B200").stdout
    assert "B200 is not here. The same command on the machine that trains measures it." in words


def test_the_time_on_a_gpu_of_a_chip_that_was_measured_follows_from_shares_of_its_peak():
    """Ten runs at once took 256 s, with their start and their tests."""
    plan = arithmetic.outline(arithmetic.make_sweep({"preset": "gpu"}), device="H200")
    assert plan["unmeasured"].startswith("H200 is not here; at the shares of its peak") and plan["measured"] == []
    assert sum(stage["seconds"] for stage in plan["rounds"]) == pytest.approx(256, rel=0.2)


def test_times_are_interpolated_by_flop_between_the_smallest_and_the_largest_run(kind):
    sweep = kind.package.make_sweep({"preset": "demo"}).settled(describe_where("cpu"))
    measured = Times(sweep, choose_device("cpu"))
    runs = sorted(distinct(run for runs in sweep.groups().values() for run in runs), key=lambda run: run.name)
    of_update = {
        run: measured.estimate(run) * run.matmul_flop / (run.matmul_flop + run.test_flop) / run.optimisation.updates
        for run in runs
    }
    ends = sorted(entry["seconds"] for entry in measured.measured)
    assert all(ends[0] * 0.999 <= seconds <= ends[-1] * 1.001 for seconds in of_update.values())
    tested = [run.test_flop / run.matmul_flop for run in runs]
    assert min(tested) > 0 and max(tested) < 1


def test_an_update_that_takes_long_is_not_timed(kind, tiny, monkeypatch):
    monkeypatch.setattr(outlines, "AT_PEAK", 1e-12)
    plan = kind.package.outline(tiny, device="cpu")
    assert "parameters takes at least" in plan["unmeasured"] and plan["rounds"][0]["seconds"] is None


def test_the_command_line_says_what_a_preset_takes(kind, tmp_path, command_line_here):
    command = COMMAND[name_of(kind)]
    result = command_line_here(
        command, "--preset", "demo", "--dry-run", "--out", tmp_path / "out", "--device", "cpu", "--json"
    )
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert set(document) == {"device", "free", "measured", "unmeasured", "rounds"} and not (tmp_path / "out").exists()
    assert document["unmeasured"] is None and [entry["seconds"] > 0 for entry in document["measured"]] == [True, True]
    words = command_line_here(command, "--preset", "demo", "--dry-run", "--out", tmp_path / "out", "--device", "cpu")
    assert "if all of this CPU is free: an update, timed now, takes" in words.stdout and "together" in words.stdout
    for arguments, source in (
        (("--out", tmp_path), "neither"),
        (("a.toml", "--preset", "demo", "--out", tmp_path), "both"),
    ):
        refused = command_line_here(command, *arguments)
        assert refused.returncode == 2 and f"give a sweep's FILE.toml or --preset, not {source}" in refused.stderr
    unknown = command_line_here(command, "--preset", "dmeo", "--out", tmp_path)
    assert unknown.returncode == 2 and 'did you mean "demo"' in unknown.stderr
    assert "demo" in command_line_here(command, "--help").stdout


def test_lines_are_written_where_there_is_no_terminal(kind, tiny, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(progress_messages, "EVERY", 0.0)
    kind.train(tiny, tmp_path / "out", progress=True)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) > kind.runs and lines[-1] == f"{kind.shown}, 100% done"
    assert any("loss" in line and line.endswith("left") for line in lines)
    monkeypatch.setattr(progress_messages, "EVERY", 60.0)
    kind.train(tiny, tmp_path / "quiet", progress=True)
    rounds = [line for line in capfd.readouterr().err.splitlines() if "100%" in line]
    assert rounds and not [line for line in rounds if "left" in line]


def test_the_time_left_counts_from_the_first_report(monkeypatch, capfd):
    """A run that resumes at half of its work and does a tenth in a minute needs four for the rest."""
    monkeypatch.setattr(progress_messages, "EVERY", 0.0)
    clock = iter([100.0, 160.0])
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    follower = progress.Follower(True)
    monkeypatch.setattr(follower, "_work", {"begun": 50.0, "other": 50.0}.get)
    follower.stage("one", ["begun", "other"], [])
    follower.show("resumed", 50.0)
    follower.show("going", 60.0)
    assert capfd.readouterr().err.splitlines() == ["resumed, 50% done", "going, 60% done, 4 min left"]


@pytest.mark.parametrize(
    ("name", "status"), [("SIGINT", 130), pytest.param("SIGTERM", 143, marks=pytest.mark.thorough)]
)
def test_an_interrupt_says_what_is_kept(name, status, kind, tiny, tmp_path, interruptible):
    command = [
        sys.executable,
        "-m",
        "bayescaling.commands.cli",
        COMMAND[name_of(kind)],
        str(tiny),
        "--out",
        str(tmp_path / "out"),
    ]
    with subprocess.Popen(
        [*command, "--device", "cpu"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        while child.poll() is None and not list(tmp_path.glob("out/checkpoints/*/*")):
            time.sleep(0.01)
        child.send_signal(getattr(signal, name))
        out, printed = child.communicate()
    if child.returncode == status:
        assert f"are saved in {tmp_path / 'out'}; the same command resumes" in printed and "Traceback" not in printed
    else:
        assert child.returncode == 0 and "finished" in out

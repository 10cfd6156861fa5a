"""The command ``curve``, which forecasts the end of a run from its log, once or while the log grows."""

import contextlib
import io
import json
import signal
import subprocess
import sys
import threading
import time

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.commands import curve
from bayescaling.commands.cli import main
from bayescaling.inference.words import plain

pytestmark = pytest.mark.filterwarnings("always::bayescaling.errors.TableNote", "ignore::bayescaling.DiagnosticWarning")
COMMAND = [sys.executable, "-c", "from bayescaling.commands.cli import main; main()", "curve"]


def lines(first, last):
    """Lines of a log with noise, every ten steps."""
    rng = np.random.default_rng(3)
    losses = 3 + 8 * (np.arange(0, 3000, 10) + 100) ** -0.4 + 0.01 * rng.standard_normal(300)
    return "".join(f"iter {step}: loss {losses[step // 10]:.4f}, lr 3.0e-04\n" for step in range(first, last, 10))


def call(*arguments, monkeypatch, out=None):
    """The exit status of the command in this process, and what it printed."""
    out, err = out or io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "argv", ["bayescaling", "curve", *map(str, arguments)])
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as left:
        main()
    return left.value.code, out.getvalue(), err.getvalue()


def test_the_end_of_a_run_is_printed_and_its_probability_below_a_loss(tmp_path, monkeypatch):
    log = tmp_path / "a.log"
    log.write_text(lines(0, 1500))
    status, out, err = call(log, "--until", "3k", "--below", "3.32", "--json", monkeypatch=monkeypatch)
    assert status == 0, err
    row = json.loads(out)["loss"]["at the end, rate held"]
    assert row["q2.5"] < 3 + 8 * 3100**-0.4 < row["q97.5"] and 0 < row["p_below"] < 1


def test_each_log_of_a_folder_is_a_run_and_epochs_are_places(tmp_path, monkeypatch):
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(lines(0, 1500).replace("iter ", "epoch "))
    status, out, err = call(tmp_path, "--until", "3000", monkeypatch=monkeypatch)
    assert status == 0 and "At 3000 epochs:" in out and "places of runs are epochs" in err
    assert "a.log" in out and "b.log" in out
    assert "b.log" not in call(tmp_path, "--until", "3000", "--run", "a.log", monkeypatch=monkeypatch)[1]
    status, _, err = call(tmp_path, "--until", "3000", "--out", tmp_path / "a.svg", monkeypatch=monkeypatch)
    assert status == 2 and 'draws one run; name it with --run: "a.log", "b.log"' in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--until", "nope"), "--until 'nope': write a number"),
        (("--until", "-1"), "--until -1: give steps or tokens"),
        (("--until", "100"), "has readings beyond 100, near"),
        (("--until", "3000", "--run", "b"), 'run "b" is unknown'),
        (("--until", "3000", "--schedule", "bogus", "--watch"), 'schedule "bogus" is unknown'),
        (("--until", "3000", "--watch", "--json"), "--watch prints lines alone"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, message, tmp_path, monkeypatch):
    log = tmp_path / "a.log"
    log.write_text(lines(0, 1500))
    status, out, err = call(log, *options, monkeypatch=monkeypatch)
    assert (status, out) == (2, "") and message in err and "Traceback" not in err


def test_a_growing_log_is_watched_until_its_run_has_ended(tmp_path, monkeypatch):
    log, out = tmp_path / "a.log", io.StringIO()
    monkeypatch.setattr(curve, "WAIT", 0.01)
    stages = [lines(0, 1000) + "iter 1000: lo", lines(1000, 2000)[len("iter 1000: lo") :], lines(2000, 3000)]

    def train():
        for number, stage in enumerate(stages):
            while out.getvalue().count("\n") < number:
                time.sleep(0.01)
            with log.open("a") as file:
                file.write(stage)

    trainer = threading.Thread(target=train, daemon=True)
    trainer.start()
    status, text, err = call(log, "--until", "3000", "--watch", monkeypatch=monkeypatch, out=out)
    first, second, last = text.splitlines()
    assert status == 0, err
    assert first.startswith("a.log, at 990: ") and second.startswith("a.log, at 1,990: ")
    assert last == "a.log, at 2,990: the run has ended"
    # A line depends on the log alone, so that a watch that is started again continues with the same lines.
    log.write_text(lines(0, 2000))
    table = bs.curves.forecast(bs.fit("curve", bs.read(log, "curves"), seed=1), 3000)
    ends = (f"{plain(table.loc[name], '{:.3f}')} {name}" for name in table.index[:2])
    assert second == f"a.log, at 1,990: {'; '.join(ends)}"
    log.write_text(lines(0, 3000))
    assert call(log, "--until", "3000", "--watch", monkeypatch=monkeypatch)[1] == f"{last}\n"


def test_a_watch_that_was_killed_prints_the_same_line_again_and_is_interrupted_without_a_traceback(
    tmp_path, interruptible
):
    log, first = tmp_path / "a.log", []
    for number in (signal.SIGKILL, signal.SIGINT):
        watch = subprocess.Popen(
            [*COMMAND, str(log), "--until", "3000", "--watch"],
            **dict.fromkeys(("stdout", "stderr"), subprocess.PIPE),
            text=True,
        )
        if not log.exists():
            assert watch.stderr.readline().startswith("waiting: a.log: there is no such file")
            log.write_text(lines(0, 1000))
            watch.kill()
            watch.communicate()
            continue
        first.append(watch.stdout.readline())
        watch.send_signal(number)
        _, err = watch.communicate()
        assert "Traceback" not in err
    assert first[0].startswith("a.log, at 990: ") and len(set(first)) == 1
    assert watch.returncode == 130 and err.splitlines()[-1].startswith("interrupted")

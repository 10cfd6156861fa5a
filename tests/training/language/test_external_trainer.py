import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bayescaling.errors import InputError
from bayescaling.training import make_sweep, train
from bayescaling.training.language.external_trainer import ExternalTrainer

NANOGPT = """\
number of parameters: 0.80M
step 0: train loss 4.2874, val loss 4.2823
iter 0: loss 4.2684, time 29ms, mfu -100.00%
step 100: train loss 2.4612, val loss 2.4801
saving checkpoint to out
iter 100: loss 2.4511, time 20ms, mfu 1.20%
step 200: train loss 2.2101, val loss 2.2313
"""
LITGPT = """\
Epoch 1 | iter 4 step 1 | loss train: 10.523, val: n/a | iter time: 412.10 ms (step) remaining time: 0:01:00
Epoch 1 | iter 400 step 100 | loss train: 2.461, val: n/a | iter time: 410.03 ms (step) remaining time: 0:00:30
iter 400: val loss 2.4801, val time: 301.20 ms
Epoch 1 | iter 800 step 200 | loss train: 2.210, val: 2.480 | iter time: 410.03 ms (step) remaining time: 0:00:00
Final evaluation | val loss: 2.2313 | val ppl: 9.312
"""
TORCHTITAN = """\
[rank0]:[titan] 2025-09-01 10:00:00 - INFO - \x1b[31mstep: 100  \x1b[32mloss:  2.4612  \x1b[38mgrad_norm:  1.1
[rank0]:[titan] 2025-09-01 10:00:02 - INFO - \x1b[33mvalidate step: 100  \x1b[32mloss:  2.4801  \x1b[36mmemory: 9GiB
[rank0]:[titan] 2025-09-01 10:01:00 - INFO - \x1b[31mstep: 200  \x1b[32mloss:  2.2101  \x1b[38mgrad_norm:  0.9
[rank0]:[titan] 2025-09-01 10:01:02 - INFO - \x1b[33mvalidate step: 200  \x1b[32mloss:  2.2313  \x1b[36mmemory: 9GiB
"""
PROGRAM = """
import sys
layers, width, updates, every, folder = sys.argv[1:]
size = 12 * int(layers) * int(width) ** 2
for step in range(0, int(updates) + 1, int(every)):
    loss = 1.7 + 400 / size**0.34 + 400 / (1 + 512 * step) ** 0.28
    end = "\\n" * (step < int(updates))
    print(f"step {step}: train loss {loss:.4f}, val loss {loss + 0.01:.4f}", flush=True, end=end)
"""


def sweep(tmp_path, program=PROGRAM, **corpus):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    command = f"{sys.executable} {path} {{layers}} {{d_model}} {{updates}} {{evaluate_every}} {{folder}}"
    tables = {
        "corpus": {"kind": "trainer", "vocabulary": 1000, "command": command} | corpus,
        "model": {"sizes": [[32, 1], [64, 2]]},
        "training": {"updates": 40, "batch_tokens": 512, "evaluations": 4},
        "stages": [{"name": "only", "schedule": "cosine", "learning_rates": [0.01], "budgets": [0.5, 1.0]}],
    }
    return make_sweep(tables)


def begin(tmp_path):
    program = (tmp_path / "program.py").read_text(encoding="utf-8")
    return train(sweep(tmp_path, program), tmp_path / "out", device="cpu", progress=False)


@pytest.mark.parametrize(
    ("log", "trained"), [(NANOGPT, (2.4612, 2.2101)), (LITGPT, (2.461, 2.21)), (TORCHTITAN, (2.4612, 2.2101))]
)
def test_logs_of_public_trainers_are_read(log, trained):
    evaluations = ExternalTrainer(64, "train").evaluations(log.splitlines())
    assert [one["step"] for one in evaluations] == [100, 200]
    assert [one["loss_eval"] for one in evaluations] == [2.4801, 2.2313]
    assert tuple(one["loss_train"] for one in evaluations) == trained


def test_a_pattern_reads_other_logs():
    pattern = r"update=(?P<step>\d+) held_out=(?P<loss_eval>\S+)"
    trainer = ExternalTrainer(64, "train", pattern)
    lines = ["update=10 held_out=3.5", "step 20: train loss 1.0, val loss 1.0"]
    (only,) = trainer.evaluations(lines)
    assert (only["step"], only["loss_eval"]) == (10, 3.5) and np.isnan(only["loss_train"])
    with pytest.raises(InputError, match='pattern reads "update=10 held_out=many", which has no number'):
        trainer.evaluations(["update=10 held_out=many"])


def test_another_program_trains_a_sweep(tmp_path):
    out = tmp_path / "out"
    result = train(sweep(tmp_path), out, device="cpu", progress=False)
    assert result.attrs["status"] == "finished" and result.sizes["run"] == 4 and "entropy" not in result.attrs
    table = pd.read_csv(out / "runs.csv")
    size = 12 * table["layers"] * table["d_model"] ** 2
    assert np.allclose(table["loss"], 1.71 + 400 / size**0.34 + 400 / (1 + table["tokens"]) ** 0.28, atol=1e-4)
    assert (table["training_flop"] == 6 * table["parameters"] * table["tokens"]).all()
    assert train(sweep(tmp_path), out, device="cpu", progress=False).attrs["status"] == "finished"


def test_a_program_that_is_stopped_runs_again(tmp_path):
    slow = PROGRAM.replace("for step", "import time\nfor step").replace("end=end)", "end=end); time.sleep(0.3)")
    out = tmp_path / "out"
    assert train(sweep(tmp_path, slow), out, device="cpu", progress=False, time_limit=0) is None
    assert [path.name for path in out.glob("checkpoints/*/trainer.log")] == ["trainer.log"]
    assert train(sweep(tmp_path), out, device="cpu", progress=False).attrs["status"] == "finished"


def test_the_program_of_a_killed_sweep_is_not_joined_by_another(tmp_path):
    slow = f"import os, time; print('program', os.getpid(), flush=True); time.sleep(60)\n{PROGRAM}"
    sweep(tmp_path, slow)
    script = "import sys; from test_external_trainer import *; begin(Path(sys.argv[1]))"
    here = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    begun = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], env=here)
    while not (logs := [*tmp_path.glob("out/checkpoints/*/trainer.log")]) or "program" not in logs[0].read_text():
        assert begun.poll() is None
        time.sleep(0.1)
    begun.kill()
    begun.wait()
    with pytest.raises(InputError, match="the program that a sweep started here still runs"):
        begin(tmp_path)
    os.kill(int(logs[0].read_text().split("program")[1].split()[0]), signal.SIGKILL)
    with (logs[0].parent / "lock").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # waits until the program has ended
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    assert begin(tmp_path).attrs["status"] == "finished"


def test_a_program_whose_log_cannot_be_read_is_ended(tmp_path):
    program = "import os, time; print(f'step=1 loss={os.getpid()}x', flush=True); time.sleep(60)"
    one = sweep(tmp_path, program, pattern=r"step=(?P<step>\d+) loss=(?P<loss_eval>\S+)")
    with pytest.raises(InputError, match="has no number") as caught:
        train(one, tmp_path / "out", device="cpu", progress=False)
    number = int(str(caught.value).partition("loss=")[2].partition("x")[0])
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; print('no space left'); sys.exit(3)", r"trainer.log: .*status 3 \(no space left\)"),
        ("print('step 10: train loss 2.0, val loss 2.0')", "last held-out loss is after 10 updates, the run has 20"),
        ("print('done')", "last held-out loss is after no updates"),
    ],
)
def test_a_program_that_fails_is_named(program, message, tmp_path):
    with pytest.raises(InputError, match=message):
        train(sweep(tmp_path, program), tmp_path / "out", device="cpu", progress=False)


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"command": "train --depth {depth}"}, r"command has \{depth\}; give one of name, folder"),
        ({"command": " "}, "command is empty"),
        ({"command": "train 'x"}, "command cannot be read"),
        ({"pattern": "("}, "pattern cannot be read"),
        ({"pattern": "loss (.*)"}, "no groups step and loss_eval"),
    ],
)
def test_what_cannot_be_a_command_is_refused(corpus, message, tmp_path):
    with pytest.raises(InputError, match=message):
        sweep(tmp_path, **corpus)


def test_a_missing_program_is_named(tmp_path):
    with pytest.raises(InputError, match='"no-such-trainer" cannot be started'):
        train(sweep(tmp_path, command="no-such-trainer"), tmp_path / "out", device="cpu", progress=False)

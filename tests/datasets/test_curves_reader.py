"""Loss curves are read from the logs that trainers write, without an option, and their faults are stated."""

import gzip
import json
import re
import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets.schedules import RateSchedule, followed

# Lines as trainers print them; of each the first reading with its step, rate and loss.
LOGS = {
    "nanoGPT": (
        "number of parameters: 123.59M\ntokens per iteration will be: 491,520\n"
        "step 0: train loss 10.9891, val loss 10.9898\niter 0: loss 10.9881, time 31011.20ms, mfu -100.00%\n"
        "iter 10: loss 9.4123, time 310.12ms, mfu 35.10%\nsaving checkpoint to out\n"
        "step 20: train loss 8.1, val loss 8.2\niter 20: loss 8.2011, time 310.12ms, mfu 35.10%\n",
        [0, 10, 20], None, [10.9881, 9.4123, 8.2011],
    ),
    "litgpt": (
        "Epoch 1 | iter 1 step 0 | loss train: 10.982, val: n/a | iter time: 310.11 ms remaining time: 0:12:10\n"
        "Epoch 1 | iter 2 step 1 | loss train: 9.871, val: n/a | iter time: 310.11 ms (step) remaining time: 0:12:00\n"
        "iter 2: val loss 9.9012, val time: 1200.10 ms\n"
        "Epoch 1 | iter 4 step 2 | loss train: 8.760, val: 9.901 | iter time: 310.11 ms remaining time: 0:11:50\n",
        [0, 1, 2], None, [10.982, 9.871, 8.760],
    ),
    "torchtitan": (
        "".join(
            f"[rank{rank}]:[titan] 2026-05-18 16:04:46,338 - root - INFO - \x1b[31mstep: {step:2}  "
            f"\x1b[32mloss: {loss:7.4f}  "
            "\x1b[33mgrad_norm:  0.8319  \x1b[36mmemory:  9.46GiB(64.99%)  \x1b[34mtps: 7,282  mfu: 0.17%\x1b[39m\n"
            for step, loss in ((1, 8.2), (10, 7.4), (20, 6.9))
            for rank in range(2)
        )
        + "[rank0]:[titan] 2026-05-18 16:04:47,338 - root - INFO - validate step: 20  loss:  7.1000  tps: 7,282\n",
        [1, 10, 20], None, [8.2, 7.4, 6.9],
    ),
    "Megatron-LM": (
        "".join(
            f" [2025-08-01 07:19:37] iteration {step:8d}/    5000 | consumed samples: {128 * step:12d} | elapsed time "
            f"per iteration (ms): 19138.8 | learning rate: {rate:.6E} | global batch size:   128 | "
            f"lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 26.203 | number of nan iterations:   0 |\n"
            for step, rate, loss in ((1, 1.5e-5, 10.4), (2, 3e-5, 9.2), (3, 3e-5, 8.8))
        )
        + " validation loss at iteration 3 | lm loss value: 9.0E+00 | lm loss PPL: 8.1E+03 | \n",
        [1, 2, 3], [1.5e-5, 3e-5, 3e-5], [10.4, 9.2, 8.8],
    ),
    "OLMo": (
        "".join(
            f"[2024-04-17 09:42:26] INFO     [olmo.train:816, rank=0] [step={step}/739328]\n"
            f"    train/CrossEntropyLoss={loss}\n    train/Perplexity=76,631\n"
            f"    throughput/total_tokens={4194304 * step:,}\n"
            "    throughput/device/tokens_per_second=45,538\n    optim/learning_rate_group0=0.0003\n"
            for step, loss in ((1, 11.25), (2, 10.73), (3, 10.01))
        ),
        [1, 2, 3], [3e-4] * 3, [11.25, 10.73, 10.01],
    ),
    "Trainer": (
        "{'loss': 2.31, 'grad_norm': 1.02, 'learning_rate': 5e-05, 'epoch': 0.1}\n"
        "{'loss': '2.11', 'grad_norm': '1.2', 'learning_rate': '4e-05', 'epoch': '0.2'}\n"
        "{'eval_loss': '2.2', 'eval_runtime': '12.3', 'epoch': '0.2'}\n"
        "{'loss': 2.01, 'grad_norm': 1.02, 'learning_rate': 3e-05, 'epoch': 0.3}\n"
        "{'train_runtime': '98.95', 'train_loss': '4.806', 'epoch': '0.3'}\n",
        [0.1, 0.2, 0.3], [5e-5, 4e-5, 3e-5], [2.31, 2.11, 2.01],
    ),
    "modded nanoGPT": (
        "step:1/5100 train_loss:10.8258 train_time:159ms step_avg:159ms\nstep:2/5100 train_loss:9.1 train_time:318ms\n"
        "step:3/5100 train_loss:8.5 train_time:477ms\nstep:3/5100 val_loss:8.6 train_time:812253ms step_avg:159.58ms\n",
        [1, 2, 3], None, [10.8258, 9.1, 8.5],
    ),
}  # fmt: skip


def read(source, **options):
    """The readings of a source and the notes on it."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        table = bs.read(source, "curves", **options)
    return table, [str(note.message) for note in notes]


def curve(steps=range(0, 200, 10), loss=lambda step: 3 + 40 / (step + 20)):
    """Lines of a log."""
    return "".join(f"iter {step}: loss {loss(step):.4f}, lr 3e-4\n" for step in steps)


@pytest.mark.parametrize("suffix", [".log", ".txt", ".out.gz"])
@pytest.mark.parametrize("trainer", LOGS)
def test_the_log_of_a_trainer_is_read_without_an_option(trainer, suffix, tmp_path):
    text, places, rates, losses = LOGS[trainer]
    path = tmp_path / f"train{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
    table, notes = read(path)
    assert table["clock"].tolist() == places and table["loss"].tolist() == losses
    assert table["rate"].tolist() == (rates or [1.0] * len(places))
    assert set(table["run"]) == {path.name}
    assert (rates is None) == any("taken as constant" in note for note in notes)
    assert any("is read as loss, not" in note for note in notes) == ("val" in text or "eval" in text)


@pytest.mark.parametrize("trainer", ["nanoGPT", "torchtitan", "modded nanoGPT"])
def test_the_note_names_the_option_that_takes_the_loss_of_evaluations(trainer, tmp_path):
    path = tmp_path / "train.log"
    path.write_text(LOGS[trainer][0])
    assert any("(--column loss=val_loss)" in note for note in read(path)[1])
    table, _ = read(path, columns={"loss": "val_loss"})
    assert table["loss"].iloc[-1] == {"nanoGPT": 8.2, "torchtitan": 7.1, "modded nanoGPT": 8.6}[trainer]


def test_a_history_of_the_trainer_has_every_step(tmp_path):
    path = tmp_path / "trainer_state.json"
    history = [
        {"step": step, "epoch": step / 100, "loss": 9 - step / 10, "learning_rate": 1e-4} for step in (10, 20, 30)
    ]
    path.write_text(json.dumps({"log_history": [*history, {"step": 20, "epoch": 0.2, "eval_loss": 7.2}]}))
    table, _ = read(path)
    assert table["step"].tolist() == [10, 20, 30] and table["loss"].tolist() == [8, 7, 6]
    assert read(path, columns={"loss": "eval_loss"})[0]["loss"].tolist() == [7.2]


def test_lines_of_a_sweep_have_a_run_each(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [
        {"time": 1.0, "run": run, "step": step, "loss_train": 9 - step, "learning_rate": 1e-3, "tokens": 64 * step}
        for step in (1, 2, 3)
        for run in ("a", "b")
    ]
    path.write_text("\n".join(map(json.dumps, [*lines, {"time": 2.0, "run": "a", "status": "finished"}])))
    table, _ = read(path)
    assert table.groupby("run")["loss"].apply(list).to_dict() == {"a": [8, 7, 6], "b": [8, 7, 6]}
    assert list(table) == ["run", "step", "tokens", "clock", "rate", "loss"]


def test_tables_and_exports_of_trackers_are_read(tmp_path):
    steps = range(0, 60, 10)
    rows = {"Step": steps, "a - train/loss": [9.0 - x / 10 for x in steps], "a - train/loss__MIN": 1.0}
    table, _ = read(pd.DataFrame(rows))
    assert table["run"].tolist() == ["a"] * 6 and table["loss"].iloc[0] == 9
    path = tmp_path / "run-b-tag-train_loss.csv"
    pd.DataFrame({"Wall time": 1.0, "Step": steps, "Value": 3.0}).to_csv(path, index=False)
    assert read(path)[0]["run"].tolist() == ["b"] * 6
    keys = [{"run_id": "c", "key": key, "value": 2.5, "step": step} for step in steps for key in ("loss", "lr")]
    assert read(pd.DataFrame(keys))[0]["rate"].tolist() == [2.5] * 6
    # Lightning logs the rate in separate lines, and a tracker counts calls next to steps.
    lines = [{"step": step, "lr-AdamW": 1 - step / 100} for step in steps]
    lines += [{"step": step, "train_loss": 3.0, "_step": 2 * step} for step in steps]
    table, notes = read(pd.DataFrame(lines))
    assert table["rate"].tolist() == [1 - step / 100 for step in steps] and any('"lr-AdamW"' in note for note in notes)


def test_steps_are_read_as_they_are_written_and_tokens_stand_for_them():
    table, _ = read(pd.DataFrame({"step": ["1k", "2k", "10k"], "loss": [4.0, 3.5, 3.0]}))
    assert table["step"].tolist() == [1e3, 2e3, 1e4]
    table, _ = read(pd.DataFrame({"tokens_seen": ["1,000,000", "2,000,000"], "loss": [4.0, 3.5]}))
    assert table["clock"].tolist() == [1e6, 2e6] and "step" not in table


@pytest.mark.parametrize("whole", [False, True])
def test_files_are_runs_of_a_pattern_or_of_a_folder(whole, tmp_path):
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(curve())
    (tmp_path / "notes.bin").write_bytes(b"\0")
    table, _ = read(tmp_path if whole else tmp_path / "*.log")
    assert table["run"].value_counts().to_dict() == {"a.log": 20, "b.log": 20}


@pytest.mark.parametrize(
    ("name", "whole", "half"),
    [
        ("a.log", curve(), "iter 200: loss 3."),
        ("a.csv", "step,loss\n0,9.0\n10,8.5\n", "20,8."),
        ("a.jsonl", '{"step": 0, "loss": 9.0}\n{"step": 10, "loss": 8.5}\n', '{"step": 20, "lo'),
        ("b.log", curve(), "iter 200: lr 3e-4, loss \xe9"),
    ],
)
def test_a_half_written_line_changes_no_reading(name, whole, half, tmp_path):
    path = tmp_path / name
    path.write_text(whole)
    expected, _ = read(path)
    path.write_bytes(whole.encode() + half.encode()[: len(half)])
    table, notes = read(path)
    pd.testing.assert_frame_equal(pd.DataFrame(table), pd.DataFrame(expected))
    assert any("the last line has no end" in note for note in notes)


def test_readings_that_a_restart_made_again_count_once(tmp_path):
    path = tmp_path / "a.log"
    path.write_text(curve(range(0, 150, 10)) + curve(range(100, 200, 10), lambda _: 2.0))
    table, notes = read(path)
    assert table["step"].tolist() == list(range(0, 200, 10))
    assert (table["loss"][table["step"] >= 100] == 2.0).all() and (table["loss"][table["step"] < 100] > 2.0).all()
    assert any("goes back 1 time, as after a restart: 5 readings made again left out" in note for note in notes)


def test_readings_in_no_order_are_sorted():
    steps = np.random.default_rng(1).permutation(100)
    table, notes = read(pd.DataFrame({"step": steps, "loss": 3 + 1 / (1 + steps)}))
    assert table["step"].tolist() == list(range(100)) and table["loss"].is_monotonic_decreasing
    assert any("in no order" in note for note in notes)


@pytest.mark.parametrize("cell", ["nan", "inf", "NaN"])
def test_losses_after_a_divergence_are_refused_or_left_out(cell, tmp_path):
    path = tmp_path / "a.log"
    path.write_text(curve() + "".join(f"iter {step}: loss {cell}, lr 3e-4\n" for step in (200, 210, 220)))
    with pytest.raises(
        bs.InputError, match=rf'a.log, line 21, column "loss": found {cell.lower()}.* in 2 later .*--drop-m'
    ):
        bs.read(path, "curves")
    table, notes = read(path, drop_missing=True)
    assert len(table) == 20 and any("3 readings without a positive finite loss" in note for note in notes)


def test_a_step_that_a_trainer_skipped_is_left_out(tmp_path):
    path = tmp_path / "a.log"
    path.write_text(re.sub("(?<=iter 100: loss )[0-9.]+", "nan", curve()))
    table, notes = read(path)
    assert len(table) == 19 and 100 not in table["step"].tolist()
    assert any("1 reading without a loss left out" in note for note in notes)


def test_blank_losses_are_left_out_between_evaluations_and_refused_where_a_run_ends_with_them():
    steps, losses = np.arange(60), np.where(np.arange(60) % 5, np.nan, 3.0)
    table, notes = read(pd.DataFrame({"step": steps, "loss": losses}))
    assert len(table) == 12 and any("48 readings without a loss left out" in note for note in notes)
    assert len(read(pd.DataFrame({"step": ["x", 1, 2], "loss": [None, 3.0, 2.0]}))[0]) == 2
    with pytest.raises(
        bs.InputError, match=r'row 56 .*column "loss": found nothing .* in 13 later readings.*--drop-missing'
    ):
        bs.read(pd.DataFrame({"step": np.arange(70), "loss": np.append(losses, [np.nan] * 10)}), "curves")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"loss": [3.0, 2.0], "kimg": [1, 2]}, "no column of steps, tokens or epochs .*--column step=kimg"),
        ({"step": [1, 2], "accuracy": [0.1, 0.2]}, '"loss" is needed and not there'),
        ({"step": [1, 2], "loss": [3.0, -1.0]}, "row 1 .*found -1, which is not a positive finite number"),
        ({"step": [1, 2], "loss": ["3.0", "diverged"]}, 'row 1 .*found "diverged", which is not a number'),
        ({"step": [1, None, 3], "loss": [3.0, 2.0, 1.0]}, r"row 1 .*column \"step\": found nothing"),
        ({"step": [1, 2], "loss": [None, None], "x": 1}, 'no reading has a loss in column "loss"'),
        ({"step": [1, 2, 3] * 2, "loss": 3.0, "size": list("aaabbb")}, "column \"size\" may name .*--column run=size"),
    ],
)  # fmt: skip
def test_faults_are_stated_in_one_line_with_the_fix(columns, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(bs.InputError, match=message) as error:
            bs.read(pd.DataFrame(columns), "curves")
    assert "\n" not in str(error.value)


def test_a_schedule_stands_for_rates_that_are_not_logged():
    frame = pd.DataFrame({"step": [0, 50, 100], "loss": [9.0, 4.0, 3.5]})
    assert read(frame, schedule="linear:peak=2,final=0", until=200)[0]["rate"].tolist() == [2.0, 1.5, 1.0]
    table, notes = read(frame, schedule="linear:peak=2,warmup=50,final=0")
    assert table["rate"].tolist() == [0.0, 2.0, 0.0] and any("--until" in note for note in notes)
    table, notes = read(frame.assign(lr=[1.0, 1.0, 0.5]), schedule="linear:peak=2,final=0", until=200)
    assert table["rate"].tolist() == [1.0, 1.0, 0.5] and any("rates were logged" in note for note in notes)
    two = pd.concat([frame.assign(run="a", lr=[1.0, 1.0, 0.5]), frame.assign(run="b")])
    table, notes = read(two)
    assert table["rate"].tolist() == [1.0, 1.0, 0.5, 1.0, 1.0, 1.0]
    assert any('run "b" has no rates above 0, taken as constant' in note for note in notes)


def test_units_of_headers_and_the_name_of_an_export_are_read():
    frame = pd.DataFrame({"tokens (M)": [0.5, 1.0, 2.0], "loss (bits)": [9.0, 4.0, 3.5]})
    table, notes = read(frame)
    assert table["clock"].tolist() == [5e5, 1e6, 2e6] and any('"tokens (M)"' in note for note in notes)
    np.testing.assert_allclose(table["loss"], np.log(2) * frame["loss (bits)"])
    table, notes = read(pd.DataFrame({"Wall time": [1e9, 1e9, 1e9], "Step": [1, 2, 3], "Value": [9.0, 4.0, 3.5]}))
    assert table["loss"].tolist() == [9.0, 4.0, 3.5] and any('"Value" is read as loss' in note for note in notes)


@pytest.mark.parametrize("shape", ["cosine", "linear", "exponential"])
def test_the_shape_of_a_fall_is_recognised_from_rates(shape):
    planned = RateSchedule(f"{shape}:from=300,final=0.05")
    clock = np.arange(100.0, 700.0, 7.0)
    recognised = followed(clock, planned.rates(clock, 1000), 1000)
    assert recognised.shape == shape and recognised.options["final"] == pytest.approx(0.05, abs=0.01)
    assert recognised.options["from"] == pytest.approx(300, abs=10)
    late = clock[clock > 450]
    recognised = followed(late, planned.rates(late, 1000) / planned.rates(late[0], 1000), 1000)
    rate = planned.rates(900, 1000) / planned.rates(late[0], 1000)
    assert recognised.rates(900, 1000) == pytest.approx(rate, abs=0.02)
    later = followed(clock, planned.rates(clock, 1000), 3000)  # an exponential fall has no last rate
    assert later.shape == "exponential" if shape == "exponential" else later is None
    assert followed(clock, np.ones(len(clock)), 1000) is None
    assert followed(clock, (100 / clock) ** 0.5, 1000) is None


def test_two_readings_of_a_fall_tell_no_shape_and_three_do():
    rates = np.array([*np.ones(40), 0.8, 0.6, 0.4])
    assert followed(np.arange(42.0), rates[:42], 44) is None
    recognised = followed(np.arange(43.0), rates, 44)
    assert recognised.shape == "linear" and recognised.rates(43, 44) == pytest.approx(0.2, abs=0.02)


def test_a_text_that_is_no_log_is_refused_and_a_table_is_read(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("using device: cuda\nstarting\n")
    with pytest.raises(bs.InputError, match="no line of it has a step and a loss, such as 'iter 100"):
        bs.read(path, "curves")
    path.write_text("step,loss\n0,9.5\n10,8.5\n20,8.0\n")
    assert read(path)[0]["loss"].tolist() == [9.5, 8.5, 8.0]


def test_readings_and_logs_in_the_place_of_runs_are_refused_with_the_command(tmp_path):
    for name in ("a.log", "a.txt"):
        (tmp_path / name).write_text(curve())
        with pytest.raises(bs.InputError, match="bayescaling curve FILE --until PLACE"):
            bs.read(tmp_path / name)
    frame = {"name": np.repeat(["a", "b"], 20), "parameters": np.repeat([1e6, 2e6], 20)}
    frame |= {"tokens": np.tile(np.arange(1, 21) * 1e6, 2), "loss": 3.0}
    with pytest.raises(bs.InputError, match="or forecast the end of a run with bayescaling curve FILE --until PLACE"):
        bs.read(pd.DataFrame(frame))


def test_llm_c_and_lists_by_epoch_are_read(tmp_path):
    lines = [f"s:{step} trl:{5 - step / 100} lr:0.000300 norm:0.31" for step in range(10, 70, 10)]
    (tmp_path / "main.log").write_text("\n".join([*lines, "s:60 tel:4.5\n"]))
    table, _ = read(tmp_path / "main.log")
    assert table["step"].tolist() == [10, 20, 30, 40, 50, 60] and table["loss"].iloc[0] == 4.9
    history = {"loss": [3.5, 3.0, 2.8], "val_loss": [3.6, 3.1, 2.9], "learning_rate": [3e-4] * 3}
    history["accuracy"] = [0.1, 0.2, 0.3]  # rises, and counts nothing
    (tmp_path / "history.json").write_text(json.dumps({"history": history}))
    for given in (tmp_path / "history.json", pd.DataFrame(history)):
        table, notes = read(given, columns={"loss": "val_loss"})
        assert table["clock"].tolist() == [1, 2, 3] and table["loss"].tolist() == history["val_loss"]
        assert any("numbered from 1 as epochs" in note for note in notes)

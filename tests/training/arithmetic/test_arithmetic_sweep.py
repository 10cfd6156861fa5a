import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr
from bayescaling.datasets import load, read
from bayescaling.errors import InputError
from bayescaling.training import train_run
from bayescaling.training.arithmetic import (
    PRESETS,
    Configuration,
    Sorting,
    Transformer,
    arithmetic_run,
    check_saved,
    evaluate,
    learning,
    make_sweep,
    read_sweep,
    train,
)
from bayescaling.training.arithmetic.arithmetic_run import training_bytes
from bayescaling.training.arithmetic.cells import accuracies, together
from bayescaling.training.arithmetic.evaluation import evaluation_tokens
from bayescaling.training.arithmetic.learning import task
from bayescaling.training.engine.checkpoints import Checkpoints
from bayescaling.training.engine.guard import Guard
from bayescaling.training.engine.hardware import Where, describe_where
from bayescaling.training.engine.loop import run as loop
from bayescaling.training.engine.updates import rounded
from bayescaling.training.sweeps.base import Execution
from safetensors.torch import load_file

CPU = torch.device("cpu")
HERE = describe_where("cpu")


def test_what_a_sweep_records(kind, unbroken):
    result, out = unbroken
    assert result.sizes["run"] == kind.runs
    assert result["length_a"].values.tolist() == result["length_b"].values.tolist() == [1, 2, 3, 4]
    cells = ("run", "offset", "length_a", "length_b")
    assert result["correct"].dims == result["total"].dims == result["split"].dims == cells
    assert result["offset"].values.tolist() == [0] and result["compiled"].values.tolist() == [False] * 3
    described = {
        "task": ["addition"] * 3,
        "embedding": ["abacus", "nope", "abacus"],
        "architecture": ["standard", "standard", "looped"],
        "layers": [1, 1, 1],
        "recurrences": [1, 1, 2],
        "train_digits": [2, 2, 2],
        "seed": [0, 0, 0],
        "samples": [960] * 3,
        "arm": ["embeddings looped", "embeddings", "looped"],
        "status": ["finished"] * 3,
    }
    for name, expected in described.items():
        assert result[name].values.tolist() == expected
    asked = result["total"].isel(offset=0).values
    assert (asked[:, :3, :3] == 20).all() and (asked[:, 3, 3] == 20).all() and asked.sum() == 3 * 10 * 20
    assert ((result["correct"] >= 0) & (result["correct"] <= result["total"])).all()
    split = result["split"].values[0, 0]
    assert split[:2, :2].tolist() == [["id"] * 2] * 2 and split[2, 2] == split[0, 2] == "ood" and split[3, 0] == ""
    steps = result["step"].values
    assert len(steps) == 4 and result["samples_done"].values[:, -1].tolist() == [960.0] * 3
    assert (result["loss_eval"].values[:, -1] < result["loss_eval"].values[:, 0]).all()
    assert (result["accuracy"] >= 0).all() and (result["learning_rate"] > 0).all()
    assert result["flop_done"].values[:, -1].tolist() == result["flop"].values.tolist()
    assert xr.open_dataset(out / "runs.nc", engine="h5netcdf").load().equals(result)


def test_the_table_is_long_by_cell(unbroken):
    result, out = unbroken
    rows = pd.read_csv(out / "runs.csv")
    assert list(rows.columns) == [
        *("run", "arm", "task", "embedding", "architecture", "layers", "recurrences", "d_model", "k_max"),
        *("train_digits", "seed", "parameters", "samples", "flop", "offset", "length_a", "length_b", "correct"),
        *("total", "split"),
    ]
    assert len(rows) == 3 * 10 and set(rows["split"]) == {"id", "ood"}
    for _, row in rows.sample(10, random_state=0).iterrows():
        cell = result.sel(run=row["run"], offset=0, length_a=row["length_a"], length_b=row["length_b"])
        assert (cell["correct"], cell["total"], cell["split"]) == (row["correct"], row["total"], row["split"])
        assert row["parameters"] == cell["parameters"]


def test_sweeps_of_several_tasks_are_merged(tmp_path):
    tables = {
        "model": {"d_model": 16, "heads": 2},
        "training": {"samples": 32, "batch": 16},
        "evaluation": {"longest": 3, "diagonal_to": 0, "count": 5},
        "arms": [
            {"name": name, "task": name, "lengths": 2, "embeddings": ["nope"], "architectures": ["1x1"]}
            for name in ("addition", "sorting")
        ],
    }
    result = train(make_sweep(tables), tmp_path, device="cpu", progress=False)
    assert result["task"].values.tolist() == ["addition", "sorting"]
    assert "correct_minimum" in result and (result["total"] == 5).all()
    assert xr.open_dataset(tmp_path / "runs.nc", engine="h5netcdf").load().equals(result)
    rows = pd.read_csv(tmp_path / "runs.csv")
    assert rows.groupby("task")["total"].sum().tolist() == [45, 45]
    assert rows.groupby("task")["correct_minimum"].count().tolist() == [0, 9]
    assert set(rows["axis"].dropna()) <= {"numbers", "digits", "both"}
    sorted_rows = rows[rows["task"] == "sorting"]
    assert (sorted_rows["correct_minimum"] >= sorted_rows["correct"]).all()
    counted = read(sorted_rows, "counts", columns={"correct": "correct_minimum"})
    assert counted["correct"].tolist() == sorted_rows["correct_minimum"].tolist()
    added, by_hand = accuracies(result.assign(correct=result["length_a"] + 0 * result["total"]))
    assert "number_length" not in added
    # Counts that are the numbers to sort: three of more digits than trained on, two of more numbers, five of either.
    assert (by_hand["number_length"], by_hand["array_length"]) == (1.5 / 5, 3 / 5)
    assert by_hand["all_30x30"] == by_hand["all_20x20"] == by_hand["ood"] == (1 + 2 + 3 * 3) / 25


def test_a_model_is_judged_at_several_offsets(kind, tiny, tmp_path, stop_after):
    text = kind.text.replace("count = 20", "count = 20\noffset = [0, 2]").split('[[arms]]\nname = "looped"')[0]
    tiny.write_text(text, encoding="utf-8")
    result = train(tiny, tmp_path / "out", device="cpu", progress=False)
    assert result["offset"].values.tolist() == [0, 2]
    totals = result["total"].sum(["length_a", "length_b"]).values.tolist()
    assert dict(zip(result["embedding"].values, totals, strict=True)) == {"abacus": [200, 200], "nope": [200, 0]}
    assert "tested at other offsets" in result["deviations"].values[0]
    rows = pd.read_csv(tmp_path / "out" / "runs.csv")
    assert rows.groupby(["embedding", "offset"]).size().to_dict() == {
        ("abacus", 0): 10,
        ("abacus", 2): 10,
        ("nope", 0): 10,
    }
    assert [(entry["embedding"], entry["offset"]) for entry in accuracies(result)] == [
        ("abacus", 0),
        ("abacus", 2),
        ("nope", 0),
    ]
    run = read_sweep(tiny).settled(HERE).arms["embeddings"][0]
    assert train_run(run, tmp_path / "run", device="cpu", guard=stop_after(run.plan.updates)) is None
    model = Transformer(run.model)
    model.load_state_dict(Checkpoints(tmp_path / "run").latest()[1])
    with torch.no_grad():
        model.abacus.table.weight[1:10] = model.abacus.table.weight[3:12].clone()
    shifted = evaluate(model.eval(), run.task, run.grid.cells, count=20)
    of_sweep = result.sel(run=run.name, offset=2)
    for a, b in run.grid.cells:
        cell = {"length_a": a, "length_b": b}
        assert shifted["correct"].sel(cell) == of_sweep["correct"].sel(cell)


def test_flop_count_the_recurrences_that_were_drawn(tiny):
    run = read_sweep(tiny).settled(HERE).arms["looped"][1]
    total = 0
    for microbatch in range(run.plan.starts[-1]):
        draws = run.draws(microbatch)
        for n, length in run.shapes:
            blocks = run.model.block_flop(length) * (draws.free + 3 * draws.held)
            total += n * length * (blocks + 3 * run.model.head_flop)
    assert run.matmul_flop == pytest.approx(total)
    assert len({run.draws(m)[:3] for m in range(40)}) > 3


@pytest.mark.parametrize("every", [1, 7])
def test_a_resumed_run_is_the_unbroken_one(every, unbroken, tiny, tmp_path, stop_after):
    run = read_sweep(tiny).settled(HERE).arms["looped"][1]
    outcomes = []
    while not outcomes or (outcomes[-1] is None and len(outcomes) <= run.plan.updates):
        outcomes.append(train_run(run, tmp_path / "run", device="cpu", guard=stop_after(every)))
    assert len(outcomes) > 3
    expected = unbroken[0].sel(run=[run.name])
    for name in ("correct", "total", "loss_train", "loss_eval", "accuracy", "learning_rate"):
        assert np.array_equal(outcomes[-1][name].values, expected[name].values)


def test_a_grid_resumes_and_every_slice_judges_a_part(tiny, unbroken, tmp_path, monkeypatch, stop_after):
    asked = []

    def noted(model, problems, cells, **options):
        asked.append(len(cells))
        return evaluate(model, problems, cells, **options)

    monkeypatch.setattr(learning, "CELLS", {False: 3})
    monkeypatch.setattr(learning, "evaluate", noted)
    run = read_sweep(tiny).settled(HERE).arms["embeddings"][0]
    assert train_run(run, tmp_path / "run", device="cpu", guard=stop_after(run.plan.updates)) is None
    assert not asked
    for parts in ([3], [3, 3], [3, 3, 3], [3, 3, 3, 1]):
        counts = train_run(run, tmp_path / "run", device="cpu", guard=Guard(time_limit=0))
        assert asked == parts
    assert np.array_equal(counts["correct"].values, unbroken[0]["correct"].sel(run=[run.name]).values)


def test_a_run_that_diverges_is_recorded(kind, tiny, tmp_path):
    text = kind.text.replace("learning_rate = 0.003", "learning_rate = 1e30").split('[[arms]]\nname = "looped"')[0]
    tiny.write_text(text, encoding="utf-8")
    result = train(tiny, tmp_path / "out", device="cpu", progress=False)
    assert result["status"].values.tolist() == ["diverged"] * 2
    assert np.isnan(result["loss_eval"].values[:, -1]).all()
    assert (result["correct"] == 0).all() and (result["total"].sum(["length_a", "length_b"]) == 200).all()


def test_a_model_learns_to_add_single_digits():
    tables = {
        "model": {"d_model": 32, "heads": 2, "k_max": 1, "table_rows": 12},
        "training": {"samples": 40_000, "batch": 64, "learning_rate": 0.005, "evaluation_problems": 200},
        "evaluation": {"longest": 2, "diagonal_to": 0},
        "arms": [
            {"task": "addition", "lengths": 1, "embeddings": ["abacus"], "architectures": ["1x1"], "name": "digits"},
        ],
    }
    (run,) = make_sweep(tables).arms["digits"]
    outcome = loop(Transformer(run.model, 0), task(run, CPU), run.optimisation, evaluate_at=(30, run.plan.updates))
    first, last = (row["accuracy"] for row in outcome.evaluations)
    assert first < 0.5 and last == 1


def test_saved_weights_are_tested_again(tmp_path):
    tables = {
        "model": {"d_model": 32, "heads": 2, "k_max": 2, "table_rows": 12},
        "training": {"samples": 30_000, "batch": 64, "learning_rate": 0.005, "keep": "weights", "evaluations": 1},
        "evaluation": {"longest": 2, "diagonal_to": 0, "count": 50, "offset": [0, 1]},
        "arms": [{"task": "addition", "lengths": 1, "embeddings": ["abacus+equals"], "architectures": ["1x2"]}],
    }
    result = train(make_sweep(tables), tmp_path, device="cpu", progress=False)
    table = check_saved(tmp_path, offsets=[1, 0], recurrences=[1, 2], longest=2, diagonal_to=0, count=50, device="cpu")
    rows = pd.read_csv(tmp_path / "runs.csv")
    assert rows["correct"].sum() > 50
    again = table[table["tested_recurrences"] == 2]
    on = ["run", "embedding", "architecture", "recurrences", "seed", "offset", "length_a", "length_b"]
    both = rows.merge(again, on=on, suffixes=("", "_again"))
    assert len(both) == len(rows) == len(again) == 8
    assert (both["correct"] == both["correct_again"]).all() and (both["split"] == both["split_again"]).all()
    (run,) = make_sweep(tables).arms["arm-1"]
    model = Transformer(run.model)
    model.load_state_dict(load_file(tmp_path / "weights" / f"{result['run'].values[0]}.safetensors"))
    once = evaluate(model.eval(), run.task, [(1, 1), (2, 2)], count=50, recurrences=[1], offsets=[1])
    for length in (1, 2):
        cell = {"offset": 1, "tested_recurrences": 1, "length_a": length, "length_b": length}
        chosen = table.loc[(table[list(cell)] == pd.Series(cell)).all(axis=1), "correct"]
        assert chosen.tolist() == once["correct"].sel(length_a=length, length_b=length).values.ravel().tolist()
    with pytest.raises(InputError, match=r"numbers of 31 digits need 33 rows"):
        check_saved(tmp_path, longest=30, diagonal_to=0)
    path = next((tmp_path / "weights").glob("*"))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=r"these weights cannot be read .*; train the run again"):
        check_saved(tmp_path, longest=2)
    with pytest.raises(InputError, match=r'train with `keep = "weights"`'):
        check_saved(tmp_path / "runs")


def test_a_microbatch_has_its_own_draws_and_bucketing_changes_shapes_alone(kind, tiny):
    run = read_sweep(tiny).settled(HERE).arms["embeddings"][0]
    batch = task(run, CPU).batch
    parts = batch(run.plan.updates - 1)
    assert len({draws.noise for _, draws in parts}) == len(parts)
    assert len({draws.offset for m in range(60) for draws in [run.draws(m)]}) == 3
    again = batch(run.plan.updates - 1)
    for (first, _), (second, _) in zip(parts, again, strict=True):
        assert torch.equal(first.tokens, second.tokens)
    tiny.write_text(kind.text.replace("evaluations = 4", "evaluations = 4\nbuckets = false"), encoding="utf-8")
    whole = read_sweep(tiny).arms["embeddings"][0]
    assert len(whole.shapes) == 1 and sum(n for n, _ in run.shapes) == 16 == whole.shapes[0][0]


def test_memory_is_estimated_from_above(monkeypatch):
    paper = make_sweep({"preset": "addition"}).arms["headline"][0]
    tokens, length = (max(sizes) for sizes in zip(*((n * length, length) for n, length in paper.shapes), strict=True))
    estimate = training_bytes(paper.model, tokens, length, "bfloat16", 1, on_cpu=False)
    assert estimate > 16 * paper.model.parameters and 2e9 < estimate < 40e9
    assert training_bytes(paper.model, 2 * tokens, length, "bfloat16", 1) > 1.3 * estimate
    assert evaluation_tokens(paper.model, CPU) == 2**14
    for module in ("arithmetic.evaluation", "sweeps.base"):
        monkeypatch.setattr(f"bayescaling.training.{module}.measure_free_memory", lambda device: 1e9)
    assert 1000 < evaluation_tokens(paper.model, CPU) < 2**14
    with pytest.raises(InputError, match=r"microbatches of 512 problems needs about .* GiB and CPU has 0.931 GiB free"):
        paper.check_fits(Execution(), CPU, "float32")


@pytest.mark.parametrize(
    ("scheme", "recurrences", "block"),
    [
        ("nope", 1, "post-norm"),
        ("fire", 1, "post-norm"),
        ("rope", 1, "post-norm"),
        ("abacus", 3, "post-norm"),
        ("nope", 1, "pre-norm"),
    ],
)
def test_the_estimate_covers_what_backpropagation_keeps(scheme, recurrences, block):
    shape = Configuration(24, d_model=64, heads=2, layers=2, recurrences=recurrences, embedding=scheme, block=block)
    model, tokens, saved = Transformer(shape, 0), torch.randint(4, 17, (64, 20)), {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = tensor, storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    activations = sum(size for pointer, (_, size) in saved.items() if pointer not in weights)
    estimate = training_bytes(shape, tokens.numel(), 20, "float32", recurrences)
    estimate -= training_bytes(shape, 0, 20, "float32", recurrences)
    assert 0.6 * estimate < activations < estimate


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_can_be_made(name):
    sweep = make_sweep({"preset": name, "evaluation": {"longest": 2, "every": 1, "diagonal_to": 0}})
    runs = {run.name: run for runs in sweep.arms.values() for run in runs}
    assert len(runs) == sum(len({run.name for run in arm}) for arm in sweep.arms.values())
    for run in runs.values():
        assert run.optimisation.schedule == "trapezoid"


def architectures(preset, arm):
    return {f"{run.model.layers}x{run.model.recurrences}" for run in make_sweep({"preset": preset}).arms[arm]}


def test_the_ablations_vary_what_they_compare():
    """Depth is layers times recurrences, of which the study has up to 8."""
    for depth in (8, 16, 32, 64):
        assert architectures("addition-depths", f"depth-{depth}") == {f"{depth // n}x{n}" for n in (1, 2, 4, 8)}
    assert architectures("addition-blocks", "blocks") == {"16x1", "8x2", "4x4", "2x8", "1x16"}
    first = make_sweep({"preset": "addition-first-layer"}).arms["first-layer"]
    assert {run.model.architecture for run in first} == {"looped+first"}
    assert {run.task.largest for run in make_sweep({"preset": "addition-sizes"}).arms["sizes"]} == {10, 20, 30, 40}
    for preset in ("addition-unmasked", "addition-padding", "addition-hints", "addition-random-fire"):
        arms = make_sweep({"preset": preset}).arms
        for name in [name for name in arms if f"{name}-standard" in arms]:
            assert architectures(preset, name) == {"16x1", "8x2", "1x16"}
            assert {run.plan.microbatch for run in arms[f"{name}-standard"]} == {256}
        assert len(arms) == 2 * len([name for name in arms if name.endswith("-standard")])
    either = make_sweep({"preset": "or"}).arms["or"][0]
    assert either.task.pairs == "weighted" and max(either.grid.cells) == (40, 40)


def test_the_papers_runs():
    arms = make_sweep({"preset": "addition"}).arms
    headline = arms["headline-standard"] + arms["headline"]
    assert {run.seed for run in headline} == {0, 1, 2} and len(headline) == 3 * 4 * 3
    assert [{run.plan.microbatch for run in arms[arm]} for arm in ("headline-standard", "headline")] == [{256}, {512}]
    assert {run.model.injection for run in headline if run.model.recurrences > 1} == {"every-layer"}
    assert {run.plan.updates for run in arms["headline"]} == {5930}
    shapes = {(run.model.architecture, run.model.layers, run.model.recurrences) for run in headline}
    assert shapes == {("standard", 16, 1), ("standard+injection", 16, 1), ("looped", 8, 2), ("looped", 1, 16)}
    one = headline[0]
    assert one.plan.batch == 8192 and one.plan.ramp == 0.6 and one.model.d_model == 1024 and one.model.k_max == 100
    assert (one.optimisation.betas, one.optimisation.epsilon) == ((0.9, 0.98), 1e-12)
    assert (one.optimisation.decay, one.optimisation.clip, one.optimisation.learning_rate) == (0.01, 0.5, 1e-4)
    assert len(one.grid.cells) == 100 * 100 + 60 and (160, 160) in one.grid.cells
    multiplication = make_sweep({"preset": "multiplication"}).arms
    assert {run.optimisation.learning_rate for run in multiplication["multiplication-fire"]} == {6e-5}
    assert {run.optimisation.learning_rate for run in multiplication["multiplication-abacus"]} == {1e-4}
    assert multiplication["multiplication-abacus"][0].model.injection == "first-layer"
    assert multiplication["multiplication-abacus"][0].objective.average == "positions"
    plan = multiplication["multiplication-abacus"][0].plan
    assert plan.updates == 25_391 and {b - a for a, b in itertools.pairwise(plan.starts[:-1])} == {1, 2}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[model]", "[model", "not TOML"),
        ("[model]", 'preset = "addtion"\n[model]', 'did you mean "addition"'),
        ("[model]", "nonsense = 1\n[model]", 'key "nonsense" is unknown'),
        ("heads = 2", "heads = 3", "multiple of the heads"),
        ("k_max = 3", "k_max = 30", "need 33 rows"),
        ("longest = 3", "longest = 12", "numbers of 13 digits need 14 rows"),
        ("longest = 3", "longest = 0", "longest is 0"),
        ("longest = 3", "every = 0", "every is 0"),
        ("count = 20", "count = 0", "count is 0"),
        ("count = 20", "count = 20\noffset = -1", "offset is -1; input should be greater than or equal to 0"),
        ("count = 20", "count = 20\noffset = []", r"offset is \[\]"),
        ("count = 20", "count = 20\noffset = [0, 0]", "give each once"),
        ("count = 20", "count = 20\noffset = 8", "shifted by up to 8 need 14 rows"),
        ("seeds = [0]", "rise = 2", "rise is 2; input should be less than or equal to 1"),
        ("lengths = 2", "lengths = 0", "0"),
        ("lengths = 2", "lengths = []", "lengths"),
        ("lengths = 2\n", "", "lengths is missing"),
        ('task = "addition"', 'task = "adition"', "task is 'adition'; input should be 'addition'"),
        ('task = "addition"', 'task = "addition"\noptions = {nonsense = 1}', "nonsense"),
        ('["abacus", "nope"]', '["abacos"]', "item 1: input should be 'nope', 'abacus'"),
        ('["abacus", "nope"]', "[]", "list should have at least 1 item"),
        ('["1x1"]', '["16"]', "layers x recurrences"),
        ('["1x1"]', '["0x1"]', "layers x recurrences"),
        ("samples = 960", "samples = 0", "samples is 0"),
        ("samples = 960\n", "", "samples is missing"),
        ("batch = 32", "batch = 33", "give a multiple"),
        ("seeds = [0]", "seeds = [-1]", "seeds is"),
        ("seeds = [0]", "alpha = 7", "alpha is 7"),
        ("learning_rate = 0.003", "learning_rate = -1", "learning_rate is -1"),
        ("learning_rate = 0.003", 'schedule = "trapezium"', "schedule"),
        ("evaluations = 4", "evaluations = 0", "evaluations is 0"),
        ('name = "looped"', 'name = "embeddings"', "the name of several"),
        ('name = "looped"', 'name = "a/b"', "give letters"),
        ('name = "looped"', f'name = "{"n" * 101}"', "give at most 100 letters"),
        ('name = "looped"', "model = {heads = 2, depth = 1}", 'key "depth" is unknown'),
        ('name = "looped"', "training = {save_seconds = 1}", "holds for the whole sweep"),
        ("longest = 3", "longest = 2147483648", "cells; give smaller lengths"),
        ("samples = 960", "samples = 2147483648", "more than 1,000,000 updates; give fewer samples"),
        ("microbatch = 16", "microbatch = 2147483648", "microbatch is 2147483648; input should be less"),
        ("evaluations = 4", "evaluations = 2147483648", "evaluations is 2147483648"),
        ("learning_rate = 0.003", "learning_rate = inf", "training: learning_rate is inf; give a finite number"),
        ("seeds = [0]", "seeds = [1" + "0" * 400 + "]", "give a finite number below 2\\^63"),
        ("seeds = [0]", "seeds = [" + "[" * 5000, "within each other without end"),
        ('name = "looped"', f'name = "{"[" * 5000}"', r"name is '\[{200,400} \.\.\. \[+'; give letters"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(old, new, message, refused):
    assert refused(old, new, message).startswith("tiny.toml: ")


def test_the_command_line(kind, tiny, unbroken, tmp_path, command_line_here):
    done = command_line_here("arithmetic", tiny, "--out", tmp_path / "out", "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["status"], document["runs"]) == ("finished", kind.runs)
    entry = document["accuracies"][0]
    assert entry["embedding"] == "abacus" and 0 <= entry["id"] <= 1 and entry["ood100"] is None
    rows = pd.read_csv(document["table"])
    inside = rows[(rows["run"] == entry["run"]) & (rows["split"] == "id")]
    assert entry["id"] == pytest.approx(inside["correct"].sum() / inside["total"].sum())
    pd.testing.assert_frame_equal(rows, pd.read_csv(unbroken[1] / "runs.csv"))
    again = command_line_here("arithmetic", tiny, "--out", tmp_path / "out", "--device", "cpu")
    assert again.returncode == 0 and "3 runs, finished" in again.stdout and "nope" in again.stdout


def test_the_command_line_refuses_in_one_line(kind, tiny, tmp_path, command_line_here):
    tiny.write_text(kind.text.replace("lengths = 2", "lengths = 0"), encoding="utf-8")
    for arguments in ((tiny,), (tmp_path / "no.toml",)):
        done = command_line_here("arithmetic", *arguments, "--out", tmp_path / "out", "--device", "cpu", "--json")
        assert done.returncode == 2 and not done.stdout
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


def test_a_large_grid_fits_into_a_record(tmp_path):
    """Attributes of a netCDF file hold 64 KiB; a grid of the paper has 10,060 cells."""
    paper = make_sweep({"preset": "addition"}).arms["headline"][0]
    assert len(json.dumps(paper.configuration)) < 10_000
    fewer = make_sweep({"preset": "addition", "evaluation": {"longest": 99}}).arms["headline"][0]
    assert paper.name != fewer.name


def test_parts_of_a_grid_come_together():
    task_of, model = Sorting(2), learning.silent
    cells = [(1, 1), (1, 2), (3, 1), (2, 2), (3, 3)]
    whole = evaluate(model, task_of, cells, count=7)
    parts = [evaluate(model, task_of, part, count=7, offsets=(0, 3)) for part in (cells[:2], cells[2:4], cells[4:])]
    merged = together(parts)
    assert set(merged.data_vars) == set(whole.data_vars) and merged["offset"].values.tolist() == [0, 3]
    for name in whole.data_vars:
        for offset in (0, 3):
            assert merged[name].sel(offset=offset).values.tolist() == whole[name].values.tolist()


@pytest.mark.parametrize("embedding", ["abacus+fire", "abacus+rope"])
def test_bfloat16_trains_as_float32_does(embedding):
    losses = []
    for precision in ("float32", "bfloat16"):
        tables = {
            "model": {"d_model": 16, "heads": 2, "k_max": 3},
            "training": {"samples": 320, "batch": 32, "learning_rate": 0.003, "precision": precision, "evaluations": 2},
            "evaluation": {"longest": 2, "diagonal_to": 0},
            "arms": [{"task": "addition", "lengths": 2, "embeddings": [embedding], "architectures": ["1x2"]}],
        }
        (run,) = make_sweep(tables).arms["arm-1"]
        model = Transformer(run.model, 0)
        outcome = loop(model, task(run, CPU), run.optimisation, evaluate_at=run.evaluate_at, precision=precision)
        losses.append([row["loss_eval"] for row in outcome.evaluations])
        assert {weight.dtype for weight in model.parameters()} == {torch.float32}
        model = rounded(model, precision)
        assert model.layers[0].attended.weight.dtype == getattr(torch, precision)
        assert model(torch.randint(4, 14, (2, 5))).dtype == torch.float32
    assert losses[1] == pytest.approx(losses[0], abs=0.05) and losses[0][1] < losses[0][0]


@pytest.mark.parametrize("embedding", ["abacus+fire", "abacus+rope"])
def test_microbatches_that_go_through_the_model_together_give_the_same_updates(embedding, monkeypatch):
    """As they do on a GPU: the same losses and gradients up to rounding, whatever the offsets and the noise of each."""
    tables = {
        "model": {"d_model": 16, "heads": 2, "k_max": 9, "noise": 0.5},
        "training": {"samples": 64, "batch": 64, "microbatch": 8, "precision": "float32"},
        "evaluation": {"longest": 2, "diagonal_to": 0},
        "arms": [{"task": "addition", "lengths": 4, "embeddings": [embedding], "architectures": ["2x1+injection"]}],
    }
    (run,) = make_sweep(tables).arms["arm-1"]
    looped = make_sweep(tables | {"arms": [tables["arms"][0] | {"architectures": ["1x2"]}]}).arms["arm-1"][0]
    cuda = torch.device("cuda")
    assert [one.joined(cuda, "bfloat16") for one in (run, looped)] == [8, 1] and run.joined(CPU, "float32") == 8
    with monkeypatch.context() as patched:
        free = 2 * run.bytes_needed(None, cuda, "float32")
        patched.setattr(arithmetic_run, "measure_free_memory", lambda device: free)
        assert run.joined(cuda, "float32") == 1
    results = []
    for joined in (1, 4):
        monkeypatch.setattr(type(run), "joined", lambda self, *where, joined=joined: joined)
        work, model = task(run, CPU), Transformer(run.model, 0)
        parts = work.batch(0)
        loss = sum(work.loss(model, *parts))
        loss.backward()
        results.append((loss.item(), torch.cat([weight.grad.flatten() for weight in model.parameters()]), len(parts)))
    (loss, gradient, parts), (other_loss, other_gradient, fewer) = results
    assert other_loss == pytest.approx(loss, rel=1e-6) and torch.allclose(gradient, other_gradient, atol=1e-6)
    assert parts == 8 * len(run.shapes) and fewer == 2 * len(run.shapes)
    assert [len(group) for group in replace(run.plan, samples=8 * 7).groups(0, 4)] == [4, 2, 1]


@pytest.mark.parametrize(("name", "kind", "precision"), [("gpu", "cuda", "bfloat16"), ("small", "cpu", "float32")])
def test_a_preset_has_the_runs_of_its_built_in_table(name, kind, precision):
    """Runs are named after all that their results depend on."""
    runs = [run for arm in make_sweep({"preset": name}).settled(Where(kind, precision)).arms.values() for run in arm]
    table = load(f"arithmetic_{name}").drop_duplicates("run").set_index("run")
    assert {run.name: run.seed for run in runs} == table["seed"].to_dict()
    assert {run.name: run.model.embedding for run in runs} == table["embedding"].to_dict()

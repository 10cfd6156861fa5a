import json
import math

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr
from bayescaling.errors import DiagnosticWarning, InputError, TableWarning
from bayescaling.training import Configuration, Decoder, Synthetic, make_sweep, table
from bayescaling.training.language.language_run import training_bytes
from bayescaling.training.language.loss import next_token_loss
from bayescaling.training.sweeps.base import Execution

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.errors.TableWarning")


def read(source):
    """Read runs smaller than any that are meant for a fit."""
    return bs.read(source, unit={"parameters": 1, "tokens": 1})


def test_what_a_sweep_records(kind, unbroken):
    result, out = unbroken
    assert result.sizes["run"] == kind.runs
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
    assert kind.same(xr.open_dataset(out / "runs.nc", engine="h5netcdf").load(), result)


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


def test_batches_of_a_stage_see_the_same_tokens_and_do_not_choose_the_best_rate(tmp_path):
    tables = {
        "corpus": {"kind": "synthetic", "vocabulary": 32},
        "model": {"sizes": [[4, 1]], "heads": 2, "context": 8},
        "training": {"updates": 8, "batch_tokens": 64, "evaluations": 1, "evaluation_tokens": 64},
        "stages": [
            {"name": "batches", "learning_rates": [0.001, 0.1], "batch_tokens": [32, 128]},
            {"name": "own", "learning_rates": [0.01]},
            {"name": "best", "schedule": "cosine", "learning_rates": "best"},
        ],
    }
    result = bs.train(make_sweep(tables), tmp_path / "out")
    of = result.to_dataframe().reset_index().dropna(subset="loss_eval").set_index("run")
    assert (of["tokens"] == 512).all()
    batches = of[of["scheme"].str.contains("batches")]
    assert sorted(zip(batches["batch_tokens"], batches["step"], strict=True)) == [(32, 16)] * 2 + [(128, 4)] * 2
    assert of.loc[of["scheme"] == "best", "learning_rate_peak"].tolist() == [0.01]
    assert pd.read_csv(tmp_path / "out" / "batches.csv")["batch_tokens"].tolist() == [32, 128, 32, 128]


def test_tables_are_read_as_they_are(unbroken):
    result, out = unbroken
    assert sorted(path.name for path in out.glob("*.csv")) == ["cosine.csv", "rates.csv", "runs.csv"]
    runs = read(out / "runs.csv")
    assert len(runs) == 2 * 4 + 2 * 2
    recognised = ["parameters", "tokens", "training_flop", "loss", "d_model", "vocabulary", "parameters_nonembedding"]
    assert list(runs.columns[:7]) == recognised
    assert np.allclose(runs["training_flop"], 6 * runs["parameters"] * runs["tokens"])
    pd.testing.assert_frame_equal(
        runs, read(table(result)), check_dtype=False, check_exact=True, check_column_type=False
    )
    assert len(read(out / "cosine.csv")) == 4 and len(read(out / "rates.csv")) == 8
    assert len(table(result, "cosine", curves=True)) == 16
    bs.laws.Chinchilla().reference(runs)


def test_a_sweep_with_experts_and_its_table(kind, tmp_path):
    """Both counts are columns, as in routed_lms; a sweep that is stopped after every update is the unbroken one."""
    text = kind.text.replace("heads = 2", "heads = 2\nexperts = [1, 3]\nactive = 2").replace("[40, 60]", "[3, 4]")
    text = text.split("[[stages]]")[0] + "[[stages]]\nlearning_rates = [0.01]\n"
    text += '[[stages]]\nlearning_rates = [0.01]\noptimiser = "muon"\n'
    (tmp_path / "experts.toml").write_text(text, encoding="utf-8")
    result = kind.train(tmp_path / "experts.toml", tmp_path / "out")
    runs = table(result).groupby("run").last()
    assert set(zip(runs["d_model"], runs["experts"], runs["active_experts"], strict=True)) == {
        *((4, 1, 1), (4, 3, 2), (8, 1, 1), (8, 3, 2)),
    }
    for run in runs.itertuples():
        model = Configuration(run.d_model, 1, 32, 8, 2, experts=run.experts, active=run.active_experts)
        assert run.parameters == Configuration(run.d_model, 1, 32, 8, 2).parameters
        assert (run.total_parameters, run.active_parameters) == (model.total_parameters, model.active_parameters)
        assert run.training_flop == 6 * model.active_parameters * run.tokens
    with pytest.warns(TableWarning, match="experts lower the loss at equal N"):
        active = read(tmp_path / "out" / "runs.csv")
    assert set(active["parameters"]) == set(runs["active_parameters"])
    broken = None
    while broken is None or broken.attrs["status"] == "paused":
        broken = kind.train(tmp_path / "experts.toml", tmp_path / "broken", time_limit=0)
    assert kind.same(broken, result)


def test_diverged_runs_are_recorded_and_left_out(kind, tiny, tmp_path):
    text = kind.text.replace("[0.003, 0.03]", "[0.003, 1e30]").replace("sizes = [[4, 1], [8, 1]]", "sizes = [[4, 1]]")
    tiny.write_text(text.replace("[40, 60]", "40"), encoding="utf-8")
    lines = []
    result = kind.train(tiny, tmp_path / "out", track=lines.append)
    assert any(math.isnan(line.get("loss_train", 0.0)) for line in lines)
    log = (tmp_path / "out" / "log.jsonl").read_text(encoding="utf-8")
    assert '"loss_train": null' in log and "NaN" not in log
    assert result["status"].values.tolist() == ["finished", "diverged", "finished", "finished"]
    assert np.isnan(result["loss_eval"].values[1]).all() and math.isnan(result["excess"].values[1, -1])
    assert set(read(tmp_path / "out" / "runs.csv")["learning_rate_peak"]) == {0.003}
    tiny.write_text(tiny.read_text().replace("[0.003, 1e30]", "[1e30]"), encoding="utf-8")
    with pytest.warns(DiagnosticWarning, match="every learning rate diverged"):
        result = kind.train(tiny, tmp_path / "other")
    assert result["status"].values.tolist() == ["diverged"]


def test_a_full_disk_stops_a_sweep_that_then_resumes(kind, tiny, unbroken, tmp_path):
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)"
    for limit in ("3000", "12000"):
        with kind.child(tiny, tmp_path / "out", limit, before=limited) as child:
            printed, errors = child.communicate()
        assert "cannot be written" in printed and "make room" in printed and printed.count("\n") == 1 and not errors
        assert not list((tmp_path / "out").rglob(".*.partial"))
    assert kind.same(kind.train(tiny, tmp_path / "out"), unbroken[0])


def test_text_trains_too(kind, tmp_path):
    generator = np.random.default_rng(0)
    words = ["law", "loss", "size", "token", "compute", "model", "data", "train"]
    (tmp_path / "book.txt").write_text(" ".join(generator.choice(words, 5000)), encoding="utf-8")
    text = kind.text.replace('kind = "synthetic"\nvocabulary = 32', 'kind = "text"\nfiles = "*.txt"\nvocabulary = 300')
    (tmp_path / "text.toml").write_text(text.split("[[stages]]")[0] + "[[stages]]\nlearning_rates = [0.03]\n")
    result = kind.train(tmp_path / "text.toml", tmp_path / "out")
    assert result["loss_eval"].isel(run=1).dropna("step").values[-1] < 4
    assert "entropy" not in result.attrs and np.isnan(result["loss_oracle"]).all()
    assert len(read(tmp_path / "out" / "stage-1.csv")) == 8


def test_the_four_schemes_train_on_the_text_of_a_package(kind, tmp_path):
    tables = {
        "preset": "demo",
        "corpus": {"kind": "package", "package": "safetensors", "vocabulary": 300},
        "model": {"sizes": [[4, 1], [8, 1]]},
        "training": {"updates": 4, "batch_tokens": 256, "evaluation_tokens": 1024},
    }
    result = kind.train(make_sweep(tables, folder=tmp_path / "corpus"), tmp_path / "out")
    assert (result["status"] == "finished").all() and np.isfinite(result["loss_eval"].isel(step=-1)).any()
    assert {path.stem for path in (tmp_path / "out").glob("*.csv")} == {"runs", *(f"scheme-{i}" for i in range(1, 5))}
    record = xr.load_dataset(next((tmp_path / "out" / "runs").glob("*.nc")))
    assert json.loads(record.attrs["configuration"])["corpus"].startswith("safetensors ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[corpus]", "[corpus", "not TOML"),
        ("[corpus]", 'preset = "scheme-5"\n[corpus]', 'preset "scheme-5" is unknown; did you mean "scheme-'),
        ("[corpus]", "nonsense = 1\n[corpus]", 'key "nonsense" is unknown'),
        ("[model]", "[modle]", 'did you mean "model"'),
        ("vocabulary = 32", "vocabulary = 1", "vocabulary is 1;"),
        ("heads = 2", "heads = 3", "multiple of the heads"),
        ("heads = 2", "heads = 2\nexperts = 0", "experts is 0"),
        ("heads = 2", "heads = 2\nexperts = [2, 0]", "experts"),
        ("heads = 2", "heads = 2\nactive = 2", "active is 2 with 1 experts"),
        ("heads = 2", "heads = 2\nexperts = [1, 4]\nactive = 5", "active is 5 with 4 experts"),
        ("heads = 2", "vocabulary = 31", "vocabulary is 31 and the corpus has tokens of 32"),
        ("[[4, 1], [8, 1]]", "[4, 8]", "item 1: input should be a valid list"),
        ("[40, 60]", "[40]", "one for each of the 2 sizes"),
        ("batch_tokens = 256", "batch_tokens = 100", "multiple of the context"),
        ("evaluations = 4", "evaluations = 0", "evaluations is 0"),
        ("evaluations = 4", "evaluations = 2147483648", "evaluations is 2147483648"),
        ("[0.5, 1.0]", "[0.5, 1e12]", "updates; give fewer"),
        ("evaluations = 4", 'loss_route = "ligr"', "loss_route is 'ligr'; input should be"),
        ("evaluations = 4", "seeds = [-1]", "seeds is"),
        ("evaluations = 4", "decay = -1", "decay is -1"),
        ('"constant"', '"constnt"', "is 'constnt'; input should be 'constant'"),
        ("[0.003, 0.03]", "[0, 1]", "learning_rates is"),
        ("[0.003, 0.03]", '"best"', "no constant stage goes before"),
        ("[0.5, 1.0]", "[0.5, -1.0]", "budgets is"),
        ('name = "cosine"', 'name = "rates"', "the name of several"),
        ('name = "cosine"', 'name = "a/b"', "give letters"),
        ('keep = "best"', 'keep = "worst"', "keep is 'worst'; input should be"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(old, new, message, refused):
    assert refused(old, new, message).startswith("tiny.toml: ") or "liger" in message


def test_a_route_that_fits_is_taken(monkeypatch):
    """The paper's largest model on 24 GB: all logits at once do not fit, those of one chunk do."""
    sweep, cuda = make_sweep({"preset": "schemes"}), torch.device("cuda")
    largest = sweep.runs(sweep.stages[0], {})[-1]
    for gigabytes, route, needed in ((24, "chunked", 6), (80, "plain", 80)):
        monkeypatch.setattr(
            "bayescaling.training.language.language_run.measure_free_memory", lambda _, g=gigabytes: g * 1e9
        )
        assert largest.route(sweep.execution, cuda, "bfloat16") == route
        assert largest.bytes_needed(sweep.execution, cuda, "bfloat16") < needed * 1e9
        assert largest.route(Execution(loss_route="plain"), cuda, "bfloat16") == "plain"


def test_parts_of_an_update_do_not_balance_experts():
    with pytest.raises(InputError, match="parts is 2 and model: experts is 4; give parts = 1"):
        make_sweep({"preset": "demo", "model": {"experts": [1, 4]}, "training": {"parts": 2}})


def test_what_would_fail_on_the_device_is_refused_before_training(kind, tiny, tmp_path, monkeypatch):
    memory = "bayescaling.training.sweeps.base.measure_free_memory"
    with monkeypatch.context() as patched:
        patched.setattr(memory, lambda device: 1e5)
        with pytest.raises(InputError, match=r"needs about .* GiB free; give more `parts`"):
            kind.train(tiny, tmp_path / "out")
    assert not list((tmp_path / "out" / "runs").glob("*"))


@pytest.mark.parametrize(("experts", "active"), [(1, 1), (6, 1), (6, 3)])
def test_memory_is_estimated_from_above_what_backpropagation_keeps(experts, active):
    model, tokens = Configuration(16, 2, vocabulary=500, heads=2, experts=experts, active=active), 1024
    decoder, saved = Decoder(model, 0), {}

    def keep(tensor):
        saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    batch = torch.randint(500, (tokens // 16, 17))
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        next_token_loss(decoder, batch, "plain")
    weights = {weight.untyped_storage().data_ptr() for weight in decoder.parameters()}
    activations = sum(size for pointer, size in saved.items() if pointer not in weights)
    estimate = training_bytes(model, tokens, "plain", "float32") - training_bytes(model, 0, "plain", "float32")
    assert 0.4 * estimate < activations < estimate

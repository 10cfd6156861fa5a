import bayescaling as bs
import numpy as np
import pytest
import torch
from bayescaling.training import PRESETS, Decoder, Synthetic, make_sweep
from bayescaling.training.language.loss import task


def test_the_presets(tmp_path):
    schemes = {"scheme-1", "scheme-2", "scheme-3", "scheme-4", "schemes", "schemes-small"}
    assert set(PRESETS) == {*schemes, "demo", "small", "rates", "experts", "experts-gpu"}
    updates = {}
    for name in PRESETS:
        sweep = make_sweep({"preset": name})
        best = dict.fromkeys(sweep.sizes, sweep.stages[0].learning_rates[0])
        runs = {run.name: run for stage in sweep.stages for run in sweep.runs(stage, best)}
        updates[name] = sum(run.optimisation.updates for run in runs.values())
    assert updates["scheme-1"] == 28_000 and updates["scheme-2"] == 4 * 28_000 and updates["schemes"] == 280_000
    (tmp_path / "train.bin").write_bytes(np.arange(5000, dtype="<u2").tobytes())
    corpus = {"kind": "tokens", "training": "train.bin"}
    sweep = make_sweep({"preset": "scheme-4", "corpus": corpus}, base=tmp_path, folder=tmp_path)
    sizes = [807_440, 1_645_600, 2_087_720, 3_275_580, 4_636_240]
    assert [model.parameters for model in sweep.sizes] == sizes
    paper = make_sweep({"preset": "schemes"}).sizes
    assert [model.parameters for model in paper] == sizes
    assert [model.parameters_nonembedding for model in paper] == [3_072, 36_864, 76_800, 259_200, 614_400]
    narrow = make_sweep({"preset": "schemes-small"}).sizes
    assert (narrow[0].parameters, narrow[-1].parameters) == (68_864, 943_360)


def test_the_table_of_experts_has_the_models_of_its_sweep():
    runs, sweep = bs.load("small_routed_lms"), make_sweep({"preset": "experts"})
    counts = ["d_model", "layers", "experts", "parameters", "total_parameters", "active_parameters"]
    assert set(runs[counts].itertuples(index=False, name=None)) == {
        tuple(getattr(model, name) for name in counts) for model in sweep.sizes
    }
    np.testing.assert_array_equal(runs["training_flop"], 6 * runs["active_parameters"] * runs["tokens"])
    settings = ["experts", "parameters", "learning_rate_peak", "seed"]
    assert len(runs) == len(runs[settings].drop_duplicates()) == len(sweep.runs(sweep.stages[0], {}))
    assert (runs["loss"] > runs["irreducible_loss"]).all() and set(runs["active_experts"]) == {1}


def test_evaluation_by_hand():
    sweep = make_sweep({"preset": "demo"})
    run = sweep.runs(sweep.stages[0], {})[0]
    model, language = Decoder(run.model, 3), Synthetic(vocabulary=256)
    tokens = language.held_out(2**16 // 16, 16, torch.device("cpu"))
    columns = task(run, sweep.execution, torch.device("cpu")).evaluate(model)
    with torch.no_grad():
        logits = torch.nn.functional.linear(model(tokens[:, :-1]), model.unembedding).double()
    losses = (-logits.log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0]).mean(1).numpy()
    truth = -language.log_probability(tokens).mean(1).numpy()
    for name, values in {"loss_eval": losses, "loss_oracle": truth, "excess": losses - truth}.items():
        assert columns[name] == pytest.approx(values.mean(), rel=1e-5)
    assert columns["loss_eval_se"] == pytest.approx(losses.std(ddof=1) / 64, rel=1e-3)
    assert columns["excess_se"] == pytest.approx((losses - truth).std(ddof=1) / 64, rel=1e-3)


def test_a_runs_name_is_its_configuration():
    one, same_one, other = (
        make_sweep(
            {"preset": "demo", "training": {"seeds": [seed], "save_seconds": save}, "corpus": {"vocabulary": 64}}
        )
        for seed, save in ((0, 1.0), (0, 2.0), (1, 1.0))
    )
    names = [sweep.runs(sweep.stages[0], {})[0].name for sweep in (one, same_one, other)]
    assert names[0] == names[1] != names[2]

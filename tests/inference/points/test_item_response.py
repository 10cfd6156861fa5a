import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.points.item_response import _Places
from scipy.optimize import check_grad
from scipy.special import expit


@pytest.fixture(scope="module")
def rosetta():
    return bs.points.fit_item_response(bs.load("rosetta_scores"), benchmark="Winogrande")


@pytest.fixture(scope="module")
def index():
    return bs.points.fit_item_response(bs.load("eci_scores"), benchmark="Winogrande", clip=0.001)


def test_the_paper_is_reproduced_to_its_digits(rosetta):
    assert rosetta.converged
    assert round(rosetta.search["cost"], 4) == 3.4474
    capabilities = rosetta["capability"][["LLaMA-65B", "LLaMA-7B", "Llama-3.1-405B"]]
    assert capabilities.round(3).tolist() == [1.076, 0.621, 1.806]
    assert rosetta["slope"]["Winogrande"] == 1 and rosetta["difficulty"]["Winogrande"] == 0


def test_the_published_index_is_reproduced_within_a_fifth_of_a_point(index):
    published = bs.load("eci_models").set_index("model")["eci"]
    anchored = bs.points.anchored(index["capability"], {"Claude 3.5 Sonnet": 130, "GPT-5": 150})
    assert (anchored - published[anchored.index]).abs().max() < 0.2
    assert np.corrcoef(anchored, published[anchored.index])[0, 1] > 0.999999


def test_progress_in_two_stages_is_that_of_the_paper_within_the_limits_of_the_table(rosetta):
    models = bs.load("rosetta_models").query("distilled == 0")
    families = {
        "LLaMA": ["LLaMA-7B", "LLaMA-13B", "LLaMA-33B", "LLaMA-65B"],
        "Llama 2": ["Llama-2-7b", "Llama-2-13b", "Llama-2-34b", "Llama-2-70b-hf"],
        "Llama 3.1": [f"Llama-3.1-{size}" for size in ("8B-Instruct", "70B-Instruct", "405B", "405B-Instruct")],
    }
    progress = bs.points.fit_two_stages(rosetta["capability"], models, families)
    assert progress["slopes"].round(4).tolist() == [0.1760, 0.2049, 0.1240]
    assert progress["slope"] == pytest.approx(0.1683, abs=5e-5)
    assert progress.rows == 66  # the paper has 68, its table of computes cannot be had
    assert progress["yearly_gain"] == pytest.approx(0.2971, abs=0.004)
    assert progress.errors["yearly_gain"] == pytest.approx(0.0330, abs=0.002)
    assert progress["factor"] == pytest.approx(5.95, abs=0.01)


def test_scores_without_noise_give_their_capabilities_up_to_the_penalty():
    rng = np.random.default_rng(1)
    capability, difficulty, slope = rng.normal(0, 1, 30), rng.normal(0, 1, 8), np.exp(rng.normal(0, 0.3, 8))
    slope[0] = 1.0
    model, item = (x.ravel() for x in np.meshgrid(np.arange(30), np.arange(8), indexing="ij"))
    score = expit(slope[item] * (capability[model] - difficulty[item]))
    table = pd.DataFrame({"model": model.astype(str), "benchmark": item.astype(str), "score": score})
    estimate = bs.points.fit_item_response(table, benchmark="0")
    order = np.arange(30).astype(str)
    assert np.corrcoef(estimate["capability"][order], capability)[0, 1] > 0.995


def test_the_derivatives_are_right():
    rng = np.random.default_rng(2)
    places = _Places(np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4), 1, rng.random(12))
    theta = rng.normal(1, 0.3, places.count)
    for row in range(13):
        error = check_grad(
            lambda at, row=row: places.residuals(at)[row], lambda at, row=row: places.jacobian(at)[row], theta
        )
        assert error < 1e-6


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        ({"GPT-5": 150}, "two models with two values"),
        ({"GPT-5": 150, "Claude 3.5 Sonnet": 150}, "two models with two values"),
        ({"GPT-5": 150, "Claude 3.5 Sonett": 130}, 'did you mean "Claude 3.5 Sonnet"'),
    ],
)
def test_anchors_that_fix_no_scale_are_refused(index, anchors, message):
    with pytest.raises(bs.InputError, match=message):
        bs.points.anchored(index["capability"], anchors)


def test_a_benchmark_that_is_not_there_is_refused():
    with pytest.raises(bs.InputError, match='did you mean "Winogrande"'):
        bs.points.fit_item_response(bs.load("rosetta_scores"), benchmark="WinoGrand")


@pytest.mark.parametrize(
    ("families", "message"),
    [
        ({"x": ["a"]}, "a slope needs two models"),
        ({"x": ["a", "z"]}, '"z" of x has no capability and compute here; leave it out'),
        ({}, "0 families"),
    ],
)
def test_families_that_give_no_slope_are_refused(families, message):
    models = pd.DataFrame({"model": list("abcd"), "year": [2023, 2024, 2024, 2025]})
    models["training_compute_flop"] = [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(bs.InputError, match=message):
        bs.points.fit_two_stages(pd.Series(1.0, list("abcd")), models, families)

from dataclasses import replace

import pytest
import torch
from bayescaling.training import Configuration, Decoder, Optimisation, Synthetic, Task, run
from bayescaling.training.engine.checkpoints import Checkpoints
from bayescaling.training.engine.updates import Stepper, make_optimiser
from bayescaling.training.language.loss import next_token_loss

LANGUAGE = Synthetic(vocabulary=24, successors=2)
ONE = Optimisation(0.01, updates=1, decay=0.0, clip=None)


def loss(model, tokens):
    return next_token_loss(model, tokens, "plain")


def batch(step):
    return (LANGUAGE.batch(0, step, 16, 8, torch.device("cpu")),)


def updated(optimisation, width=8):
    """Return the weights of a decoder before and after one update, and its gradients."""
    model = Decoder(Configuration(width, 1, vocabulary=24, context=8, heads=2), 0)
    before = {name: w.detach().clone() for name, w in model.named_parameters()}
    Stepper(model, loss, make_optimiser(optimisation, model), None, "float32")(optimisation.rate(0), *batch(0))
    weights = dict(model.named_parameters())
    return before, weights, {name: w.grad for name, w in weights.items()}


def change(optimisation, name, width):
    before, weights, _ = updated(optimisation, width)
    return (weights[name] - before[name]).detach()


def test_muon_turns_the_matrices_of_blocks_alone():
    before, muon, gradients = updated(replace(ONE, optimiser="muon"))
    _, adamw, _ = updated(ONE)
    for name, weight in muon.items():
        inside = name.startswith("blocks.") and weight.ndim == 2
        assert torch.equal(weight, adamw[name]) != inside, name
        if inside:
            # The first update is nearly the orthogonal factor of the gradient, with singular values of one size.
            step = (before[name] - weight).detach() / (0.01 * 0.2 * max(weight.shape) ** 0.5)
            left, size, right = torch.linalg.svd(gradients[name].double(), full_matrices=False)
            overlap = (left.T @ step.double() @ right.T).diagonal()[size > 0.05 * size.max()]
            assert overlap.min() > 0.6 and overlap.max() < 1.3, name


@pytest.mark.parametrize(("optimiser", "power"), [("adamw", 1.0), ("muon", 0.5)])
def test_rates_of_blocks_fall_with_the_width(optimiser, power):
    scaled = replace(ONE, optimiser=optimiser, rate_width=8)
    plain = replace(scaled, rate_width=0)
    for name, inside in (("blocks.0.wide.weight", True), ("tokens.weight", False), ("norm.weight", False)):
        of_width = change(scaled, name, 32), change(plain, name, 32)
        expected = of_width[1] * (8 / 32) ** power if inside else of_width[1]
        assert torch.allclose(of_width[0], expected, atol=1e-7)
        assert torch.equal(change(scaled, name, 8), change(plain, name, 8))


def test_muon_resumes_as_if_unbroken(tmp_path, stop_after):
    optimisation = Optimisation(0.01, schedule="cosine", updates=12, optimiser="muon", rate_width=16)
    task = Task(batch, loss, lambda model: {"loss_eval": loss(model, *batch(99)).item()})

    def trained(**options):
        model = Decoder(Configuration(8, 1, vocabulary=24, context=8, heads=2), 0)
        return run(model, task, optimisation, evaluate_at=[12], **options)

    saved = {"checkpoints": Checkpoints(tmp_path)}
    assert trained(guard=stop_after(6), **saved).status == "paused"
    resumed, unbroken = trained(**saved), trained()
    assert resumed.evaluations[0]["loss_eval"] == unbroken.evaluations[0]["loss_eval"]
    assert resumed.evaluations[0]["loss_train"] == unbroken.evaluations[0]["loss_train"]


def test_later_settings_keep_the_names_of_runs():
    assert not {"optimiser", "rate_width"} & set(ONE.plain)
    assert Optimisation(0.01, optimiser="muon", rate_width=64).plain["rate_width"] == 64

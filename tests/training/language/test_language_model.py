import math
import shutil
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from bayescaling.errors import InputError
from bayescaling.training import (
    Configuration,
    Decoder,
    Execution,
    Optimisation,
    Run,
    Synthetic,
    cross_entropy,
    token_losses,
)
from bayescaling.training.engine.updates import Stepper, make_optimiser
from bayescaling.training.language import loss as loss_module
from bayescaling.training.language.loss import choose_route, compiled_loss, next_token_loss, task
from bayescaling.training.language.transformer import BALANCE, Experts
from torch.utils.flop_counter import FlopCounterMode

CPU = torch.device("cpu")
ON_CPU = ["plain", "chunked", *["torch"] * hasattr(torch.nn, "LinearCrossEntropyOptions")]


@pytest.mark.parametrize(
    ("d_model", "layers", "parameters"),
    [(16, 1, 807_440), (32, 3, 1_645_600), (40, 4, 2_087_720), (60, 6, 3_275_580), (80, 8, 4_636_240)],
)
def test_the_papers_sizes(d_model, layers, parameters):
    configuration = Configuration(d_model, layers)
    model = Decoder(configuration, seed=0)
    assert configuration.parameters == parameters
    assert configuration.parameters_nonembedding == 12 * layers * d_model**2
    assert sum(weight.numel() for weight in model.parameters()) == parameters + configuration.gains


def test_untied_models_have_a_matrix_more():
    tied, untied = (Configuration(8, 2, vocabulary=100, heads=2, tied=tied) for tied in (True, False))
    assert untied.parameters - tied.parameters == 800
    model = Decoder(untied, seed=0)
    assert sum(weight.numel() for weight in model.parameters()) == untied.parameters + untied.gains
    assert model.unembedding is not model.tokens.weight


def test_flop_of_matrix_products():
    configuration = Configuration(16, 2, vocabulary=64, context=8)
    model, tokens = Decoder(configuration, seed=0), torch.randint(64, (4, 9))
    with FlopCounterMode(display=False) as counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        next_token_loss(model, tokens, "plain").backward()
    assert counter.get_total_flops() == configuration.matmul_flop_per_token * 32


@pytest.mark.parametrize("active", [1, 3])
def test_counts_and_flop_with_experts(active):
    configuration = Configuration(16, 2, vocabulary=64, context=8, experts=5, active=active)
    dense, model = Configuration(16, 2, vocabulary=64, context=8), Decoder(configuration, seed=0)
    assert (configuration.parameters, configuration.parameters_nonembedding) == (dense.parameters, 12 * 2 * 16**2)
    assert configuration.total_parameters == dense.parameters + 2 * (4 * 8 * 16**2 + 5 * 16)
    assert configuration.active_parameters == dense.parameters + 2 * ((active - 1) * 8 * 16**2 + 5 * 16)
    assert dense.total_parameters == dense.active_parameters == dense.parameters
    assert sum(weight.numel() for weight in model.parameters()) == configuration.total_parameters + configuration.gains
    acting = configuration.active_parameters - dense.parameters
    assert configuration.matmul_flop_per_token == dense.matmul_flop_per_token + 6 * acting
    with FlopCounterMode(display=False) as counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        next_token_loss(model, torch.randint(64, (4, 9)), "plain").backward()
    assert counter.get_total_flops() == configuration.matmul_flop_per_token * 32


def test_one_expert_is_the_dense_model_to_the_bit():
    shape = {"d_model": 16, "layers": 2, "vocabulary": 50, "context": 16}
    assert Configuration(**shape, experts=1, active=1) == Configuration(**shape)
    dense, routed = (Decoder(Configuration(**shape), 3) for _ in range(2))
    tokens = torch.randint(50, (8, 17))
    for block in routed.blocks:
        experts = Experts(16, 1, 1)
        experts.wide[0], experts.narrow[0] = block.wide, block.narrow
        block.experts = experts
    losses = {}
    for model in (dense, routed):
        losses[model] = cross_entropy(model(tokens[:, :-1]), model.unembedding, tokens[:, 1:], "plain")
        losses[model].backward()
    assert torch.equal(losses[dense], losses[routed])
    matrices = [(block.wide, block.narrow, block.queries_keys_values) for block in (*dense.blocks, *routed.blocks)]
    for ours, theirs in zip(matrices[:2], matrices[2:], strict=True):
        assert all(torch.equal(x.weight.grad, y.weight.grad) for x, y in zip(ours, theirs, strict=True))
    assert dense.balanced(tokens[:, :-1])[1] == 0
    assert next_token_loss(dense, tokens, "plain") == losses[dense]
    assert routed.balanced(tokens[:, :-1])[1].item() == pytest.approx(2 * BALANCE)


def test_dense_models_keep_the_names_of_their_runs():
    run = Run(Configuration(8, 1, vocabulary=32, heads=2), Synthetic(vocabulary=32), Optimisation(0.01), (1,))
    shape = {"d_model": 8, "layers": 1, "vocabulary": 32, "context": 16, "heads": 2, "tied": True}
    assert run.configuration["model"] == shape
    routed = replace(run, model=replace(run.model, experts=4, active=2))
    assert routed.configuration["model"] == shape | {"experts": 4, "active": 2}


@pytest.mark.parametrize("active", [1, 2])
def test_every_token_passes_its_experts(active):
    torch.manual_seed(0)
    experts, states = Experts(8, 5, active), torch.randn(4, 25, 8, requires_grad=True)
    added, unevenness = experts(states)
    rows, shares = [], torch.zeros(5)
    for state in states.flatten(0, 1):
        probabilities = experts.router(state).softmax(-1)
        best = probabilities.argsort(descending=True)[:active].tolist()
        networks = [experts.narrow[k](F.gelu(experts.wide[k](state))) for k in best]
        rows.append(sum(probabilities[k] * network for k, network in zip(best, networks, strict=True)))
        for k in best:
            shares[k] += 1 / (100 * active)
    looped = torch.stack(rows).view_as(added)
    assert torch.allclose(added, looped, atol=1e-6)
    mean = experts.router(states).softmax(-1).mean((0, 1))
    assert unevenness.item() == pytest.approx(5 * (shares * mean).sum().item(), rel=1e-5)
    weights = [states, *experts.parameters()]
    gradients = (torch.autograd.grad(x.square().sum(), weights, retain_graph=True) for x in (added, looped))
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize("active", [1, 2])
def test_what_balances_experts_in_closed_form(active):
    model = Decoder(Configuration(8, 3, vocabulary=32, heads=2, experts=4, active=active), 0)
    tokens = torch.randint(32, (9, 17))
    experts, states = Experts(8, 4, active), torch.randn(50, 8)
    with torch.no_grad():
        for block in model.blocks:
            block.experts.router.weight.zero_()
    # A router that knows nothing: each of three blocks adds the weight, in training alone.
    assert model.balanced(tokens[:, :-1])[1].item() == pytest.approx(3 * BALANCE)
    plain = cross_entropy(model(tokens[:, :-1]), model.unembedding, tokens[:, 1:], "plain").item()
    assert next_token_loss(model, tokens, "plain").item() == pytest.approx(plain + 3 * BALANCE)
    assert token_losses(model(tokens[:, :-1]), model.unembedding, tokens[:, 1:]).mean().item() == pytest.approx(plain)
    # One that sends every token to one expert: as uneven as there are experts, of which so many are active.
    with torch.no_grad():
        experts.router.weight.copy_(torch.zeros(4, 8).index_fill(0, torch.tensor([2]), 50.0))
        assert experts(states.abs())[1].item() == pytest.approx(4 / active)


def test_nothing_is_read_from_the_future():
    model = Decoder(Configuration(16, 2, vocabulary=50, heads=2), seed=1)
    tokens = torch.randint(50, (3, 16))
    changed = tokens.clone()
    changed[:, 9:] = (changed[:, 9:] + 1) % 50
    before, after = model(tokens), model(changed)
    assert torch.allclose(before[:, :9], after[:, :9], atol=1e-6)
    assert not torch.allclose(before[:, 9:], after[:, 9:], atol=1e-3)


def test_initial_weights_come_from_the_seed():
    configuration = Configuration(16, 2, vocabulary=50)
    first, again, other = (Decoder(configuration, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["tokens.weight"], other["tokens.weight"])
    assert first["tokens.weight"].std() == pytest.approx(0.02, rel=0.1)
    assert first["blocks.0.narrow.weight"].std() == pytest.approx(0.01, rel=0.1)
    loss = next_token_loss(Decoder(configuration, 1), torch.randint(50, (64, 17)), "plain")
    assert loss.item() == pytest.approx(math.log(50), abs=0.05)


@pytest.mark.parametrize("route", ON_CPU)
@pytest.mark.parametrize(("rows", "vocabulary"), [(100, 37), (700, 5000)])
def test_every_route_gives_the_loss_and_its_gradients(route, rows, vocabulary):
    generator = torch.Generator().manual_seed(0)
    states, weight = (torch.randn(n, 8, generator=generator, dtype=torch.float64) for n in (rows, vocabulary))
    targets = torch.randint(vocabulary, (rows,), generator=generator)
    exact = [states.clone().requires_grad_(), weight.clone().requires_grad_()]
    loss = F.cross_entropy(F.linear(*exact), targets)
    (3 * loss).backward()
    inputs = [states.float().requires_grad_(), weight.float().requires_grad_()]
    route_loss = cross_entropy(inputs[0].view(2, -1, 8), inputs[1], targets.view(2, -1), route)
    (3 * route_loss).backward()
    assert route_loss.item() == pytest.approx(loss.item(), rel=1e-5)
    for ours, reference in zip(inputs, exact, strict=True):
        assert (ours.grad - reference.grad).norm() < 1e-5 * reference.grad.norm()
    losses = token_losses(inputs[0].detach().view(2, -1, 8), inputs[1].detach(), targets.view(2, -1))
    assert losses.shape == (2, rows // 2) and losses.mean().item() == pytest.approx(loss.item(), rel=1e-5)


def test_words_that_only_fill_a_product_up_change_nothing(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    states, weight = (torch.randn(n, 8, generator=generator, requires_grad=True) for n in (50, 37))
    targets, results = torch.randint(37, (50,), generator=generator), []
    for multiple in (1, 64):
        monkeypatch.setattr(loss_module, "MULTIPLE", {False: multiple})
        loss = cross_entropy(states, weight, targets, "plain")
        results.append([loss, *torch.autograd.grad(loss, (states, weight))])
    assert all(torch.allclose(a, b, atol=1e-7) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("route", ON_CPU)
def test_routes_in_bfloat16(route):
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(300, 16, generator=generator, requires_grad=True)
    weight = (0.3 * torch.randn(90, 16, generator=generator)).requires_grad_()
    targets = torch.randint(90, (300,), generator=generator)
    exact = torch.autograd.grad(F.cross_entropy(F.linear(states, weight), targets), (states, weight))
    loss = cross_entropy(states.bfloat16(), weight, targets, route)
    gradients = torch.autograd.grad(loss, (states, weight))
    for ours, reference in zip(gradients, exact, strict=True):
        assert ours.dtype == torch.float32
        assert (ours - reference).norm() < 0.02 * reference.norm()


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("g++"), reason="no compiler here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_compiled_loss_is_the_loss():
    tokens = torch.randint(64, (8, 17))
    for seed in (0, 1):
        model = Decoder(Configuration(8, 1, vocabulary=64, heads=2), seed)
        loss, compiled = next_token_loss(model, tokens, "plain"), compiled_loss()(model, tokens, "plain")
        gradients = [torch.autograd.grad(value, list(model.parameters())) for value in (loss, compiled)]
        assert compiled.item() == pytest.approx(loss.item(), rel=1e-6)
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Configuration(0, 1), "d_model is 0"),
        (lambda: Configuration(16, 1.5), "layers is 1.5"),
        (lambda: Configuration(18, 1), "multiple of the heads"),
        (lambda: Configuration(16, 1, experts=0), "experts is 0"),
        (lambda: Configuration(16, 1, experts=2, active=3), "active is 3 with 2 experts"),
        (lambda: choose_route("ligr", CPU), 'did you mean "liger"'),
        (lambda: choose_route("liger", CPU), "needs CUDA"),
        (lambda: cross_entropy(torch.ones(2, 3), torch.ones(4, 3), torch.zeros(2).long(), "cut"), "needs CUDA"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_parts_of_an_update_add_up_to_it():
    model, tables = Decoder(Configuration(8, 1, vocabulary=32, context=8, heads=2), 0), {}
    run = Run(model.configuration, Synthetic(vocabulary=32), Optimisation(0.01, updates=1), (1,), 80, 80)
    for parts in (1, 3):
        work = task(run, Execution(parts=parts), torch.device("cpu"))
        optimiser = make_optimiser(run.optimisation, model)
        loss = Stepper(model, work.loss, optimiser, None, "float32")(0.0, *work.batch(0))
        tables[parts] = [loss, *(w.grad.clone() for w in model.parameters())]
    for whole, in_parts in zip(tables[1], tables[3], strict=True):
        assert torch.allclose(whole, in_parts, rtol=1e-4, atol=1e-6)

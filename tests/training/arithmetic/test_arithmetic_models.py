import math
import shutil
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from bayescaling.errors import InputError
from bayescaling.training.arithmetic.learning import Objective, divide_gradients, judged
from bayescaling.training.arithmetic.models.positions import (
    SCHEMES,
    Abacus,
    Fire,
    check_digits,
    digit_places,
    ordered_positions,
    rotated,
    rotation,
)
from bayescaling.training.arithmetic.models.transformer import Configuration, Transformer
from bayescaling.training.arithmetic.plan import BatchPlan, PlannedOptimisation, drawn, recurrences_drawn
from bayescaling.training.arithmetic.problems.layout import DIGIT0, EOS, EQUALS, PAD, Batch
from torch.utils.flop_counter import FlopCounterMode

CPU = torch.device("cpu")
SHAPES = [(2, 1, "none"), (2, 1, "every-layer"), (1, 3, "every-layer"), (2, 2, "first-layer"), (2, 2, "none")]


def configuration(**changed):
    settings = {"d_model": 16, "heads": 2, "layers": 2, "k_max": 5, "table_rows": 40} | changed
    return Configuration(24, **settings)


def tokens(rows=4, length=18, seed=0):
    return torch.randint(DIGIT0, EQUALS + 1, (rows, length), generator=torch.Generator().manual_seed(seed))


def encoded(text):
    symbols = {"+": 14, "=": EQUALS, "$": EOS, ".": PAD}
    return torch.tensor([[symbols[c] if c in symbols else DIGIT0 + int(c) for c in text]])


@pytest.mark.parametrize(
    ("layers", "recurrences", "millions"), [(16, 1, 122), (8, 2, 64), (4, 4, 34), (2, 8, 19), (1, 16, 12)]
)
def test_the_papers_sizes(layers, recurrences, millions):
    paper = Configuration(24, layers=layers, recurrences=recurrences)
    with torch.device("meta"):
        model = Transformer(paper)
    counted = sum(weight.numel() for weight in model.parameters())
    assert counted == paper.parameters
    assert round(counted / 1e6) == millions


@pytest.mark.parametrize("block", ["post-norm", "pre-norm"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_parameters_are_counted(scheme, block):
    shape = configuration(embedding=scheme, block=block)
    assert sum(weight.numel() for weight in Transformer(shape).parameters()) == shape.parameters


@pytest.mark.parametrize(("layers", "recurrences", "injection"), SHAPES)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("block", ["post-norm", "pre-norm"])
def test_nothing_is_read_from_the_future(scheme, layers, recurrences, injection, block):
    shape = configuration(
        embedding=scheme,
        layers=layers,
        recurrences=recurrences,
        injection=injection,
        block=block,
        random_positions=64 if "fire" in scheme else 0,
    )
    model, seen = Transformer(shape, seed=1), tokens()
    for draws in (None, drawn(3, 4, k_max=5, recurrences=recurrences)):
        with torch.no_grad():
            before = model(seen, draws=draws)
            for place in (1, 9, 17):
                changed = seen.clone()
                changed[:, place:] = DIGIT0 + EQUALS - changed[:, place:]
                after = model(changed, draws=draws)
                assert torch.allclose(before[:, :place], after[:, :place], atol=1e-5)
                assert not torch.allclose(before[:, place:], after[:, place:], atol=1e-3)


def test_places_of_digits():
    assert digit_places(encoded("12+345=753$..")).tolist() == [[1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0]]
    assert digit_places(encoded("=+7")).tolist() == [[0, 0, 1]]


def test_the_equals_sign_has_the_row_before_the_first_digit():
    abacus, text = Abacus(14, 3, equals=True), encoded("12+3=51$")
    rows = abacus.table.weight
    assert torch.equal(abacus(text)[0], rows[[2, 3, 0, 2, 1, 2, 3, 0]])
    assert torch.equal(abacus(text, offset=7)[0], rows[[9, 10, 0, 9, 8, 9, 10, 0]])
    assert torch.equal(abacus(encoded("=5"), offset=3)[0].diff(dim=0)[0], rows[5] - rows[4])


def test_abacus_is_added_to_the_tokens_and_shifted_in_training():
    model, text = Transformer(configuration(), seed=0), encoded("12+3=51$")
    embedded = model.tokens(text) + model.abacus.table.weight[[1, 2, 0, 1, 0, 1, 2, 0]]
    assert torch.equal(model._embedded(text, 0), model.embedding_norm(embedded))
    shifted = model.tokens(text) + model.abacus.table.weight[[5, 6, 0, 5, 0, 5, 6, 0]]
    assert torch.equal(model._embedded(text, 4), model.embedding_norm(shifted))
    draws = drawn(0, 0, k_max=5, recurrences=1)._replace(offset=4, noise=(7,))
    silent = Transformer(replace(model.configuration, noise=0.0), seed=0)
    assert torch.equal(silent(text, draws=draws), model(text, offset=4))
    assert not torch.equal(model(text, offset=4), model(text))


def test_fire_by_hand():
    fire = Fire(heads=2)
    with torch.no_grad():
        fire.c.fill_(0.5)
        fire.multiplier.fill_(4 / 512)
    positions = torch.arange(7.0)
    bias = fire(positions)
    assert bias.shape == (1, 2, 7, 7)
    for i in range(7):
        for j in range(7):
            if j > i:
                assert (bias[0, :, i, j] == -math.inf).all()
                continue
            x = math.log(0.5 * (i - j) + 1) / (math.log(0.5 * max(i, 4) + 1) + 1e-6)
            hidden = [max(0.0, w * x + b) for w, b in zip(fire.hidden.weight[:, 0], fire.hidden.bias, strict=True)]
            for head in range(2):
                weights = fire.out.weight[head].tolist()
                expected = sum(w * h for w, h in zip(weights, hidden, strict=True)) + fire.out.bias[head]
                assert bias[0, head, i, j].item() == pytest.approx(expected.item(), abs=1e-6)
    assert Fire(1).c.item() == pytest.approx(0.1) and Fire(1).multiplier.item() == 1 and Fire.LENGTH == 512


def test_random_positions():
    assert ordered_positions(5, 100, None, CPU).tolist() == [0, 1, 2, 3, 4]
    assert ordered_positions(5, 5, 1, CPU).tolist() == [0, 1, 2, 3, 4]
    drawn_positions = torch.stack([ordered_positions(5, 20, seed, CPU) for seed in range(200)])
    assert (drawn_positions.diff(dim=1) >= 1).all()
    assert drawn_positions.min() == 0 and drawn_positions.max() == 19
    assert torch.equal(ordered_positions(5, 20, 7, CPU), ordered_positions(5, 20, 7, CPU))
    shape = configuration(embedding="fire", random_positions=60)
    model, plain = Transformer(shape, seed=0), Transformer(configuration(embedding="fire"), seed=0)
    assert torch.equal(model(tokens()), plain(tokens()))
    draws = drawn(0, 0, k_max=1, recurrences=1)
    assert not torch.allclose(model(tokens(), draws=draws), plain(tokens(), draws=draws), atol=1e-4)


def test_rotary_positions_by_hand():
    cosines, sines = rotation(9, 4, CPU)
    vectors = torch.randn(1, 1, 9, 4, generator=torch.Generator().manual_seed(0))
    result = rotated(vectors, cosines, sines)
    for t in range(9):
        for m in range(2):
            angle = t * 10000 ** (-2 * m / 4)
            x, y = vectors[0, 0, t, m].item(), vectors[0, 0, t, m + 2].item()
            assert result[0, 0, t, m].item() == pytest.approx(x * math.cos(angle) - y * math.sin(angle), abs=1e-5)
            assert result[0, 0, t, m + 2].item() == pytest.approx(y * math.cos(angle) + x * math.sin(angle), abs=1e-5)
    same = rotated(torch.ones(1, 1, 9, 4), cosines, sines)[0, 0]
    products = same @ same.T
    for distance in range(9):
        assert torch.allclose(products.diagonal(distance), products[0, distance], atol=1e-4)


@pytest.mark.parametrize("scheme", ["nope", "fire", "rope"])
def test_attention_by_hand(scheme):
    model = Transformer(configuration(embedding=scheme), seed=0)
    layer, state = model.layers[0], torch.randn(2, 6, 16, generator=torch.Generator().manual_seed(1))
    positions, turn = model._context(6, CPU, None)
    bias = layer.fire(positions) if scheme == "fire" else None
    queries, keys, values = (
        part.view(2, 6, 2, 8).transpose(1, 2) for part in layer.queries_keys_values(state).chunk(3, -1)
    )
    if scheme == "rope":
        queries, keys = rotated(queries, *turn), rotated(keys, *turn)
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(8)
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)
    scores = scores + bias if scheme == "fire" else scores.masked_fill(later, -math.inf)
    expected = layer.attended((scores.softmax(-1) @ values).transpose(1, 2).reshape(2, 6, 16))
    assert torch.allclose(layer._attention(state, bias, turn), expected, atol=1e-5)


def test_a_looped_block_adds_the_problem_once_in_each_recurrence():
    """As it was run: `TransformerBlock.forward` adds the injected state before the first of its layers."""
    model = Transformer(configuration(layers=2, recurrences=2, injection="first-layer", embedding="nope"), seed=0)
    embedded, state = model._embedded(tokens(), 0), 0.0
    for _ in range(2):
        state = model.layers[1](model.layers[0](state + embedded))
    state = model.head_square(model.head_norm(model.head_network(state)))
    assert torch.allclose(model(tokens()), model.unembedding(state), atol=1e-5)


def test_the_block_is_the_papers():
    layer = Transformer(configuration(embedding="nope"), seed=0).layers[0]
    state = torch.randn(2, 6, 16, generator=torch.Generator().manual_seed(1))
    attended = F.layer_norm(state + layer._attention(state, None, None), (16,), eps=1e-12)
    value, gate = (attended @ layer.network.wide.weight.T).chunk(2, -1)
    network = (value * F.gelu(gate)) @ layer.network.narrow.weight.T
    assert torch.allclose(layer(state), F.layer_norm(attended + network, (16,), eps=1e-12), atol=1e-5)
    assert layer.network.wide.weight.shape == (32, 16) and layer.network.narrow.weight.shape == (16, 16)


def test_initial_weights_come_from_the_seed_and_follow_the_paper():
    shape = Configuration(24, d_model=256, heads=4, layers=2, recurrences=3, embedding="abacus+fire")
    first, again, other = (Transformer(shape, seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["tokens.weight"], other["tokens.weight"])
    gain = (8 * 2 * 3) ** -0.25
    queries, keys, values = first["layers.0.queries_keys_values.weight"].chunk(3)
    for weight, expected in (
        (queries, 256**-0.5),
        (keys, 256**-0.5),
        (values, gain * 256**-0.5),
        (first["layers.1.attended.weight"], gain * 256**-0.5),
        (first["layers.1.network.wide.weight"], gain * math.sqrt(2 / (256 + 512))),
        (first["unembedding.weight"], gain * math.sqrt(2 / (256 + 24))),
        (first["tokens.weight"], 256**-0.5),
        (first["abacus.table.weight"], 256**-0.5),
    ):
        assert weight.std().item() == pytest.approx(expected, rel=0.03)
    assert (first["layers.0.fire.hidden.bias"] == 0).all()
    plain = Transformer(Configuration(24, d_model=256, heads=4, layers=1, initial="normal"), 0).state_dict()
    assert plain["layers.0.network.wide.weight"].std().item() == pytest.approx(0.02, rel=0.03)


def test_looped_models_share_their_block():
    looped = Transformer(configuration(layers=1, recurrences=3, injection="every-layer"), seed=0)
    unrolled = Transformer(configuration(layers=3, injection="every-layer"))
    weights = looped.state_dict()
    copied = {
        name: weights[f"layers.0.{name.split('.', 2)[2]}" if name.startswith("layers.") else name]
        for name in unrolled.state_dict()
    }
    unrolled.load_state_dict(copied)
    assert torch.allclose(looped(tokens()), unrolled(tokens()), atol=1e-6)
    outputs = [looped(tokens(), recurrences=r) for r in (1, 2, 3)]
    assert torch.equal(outputs[2], looped(tokens())) and not torch.allclose(outputs[0], outputs[1])


def test_evaluation_has_no_chance_in_it_and_training_has():
    model = Transformer(configuration(recurrences=2, injection="every-layer", embedding="nope"), seed=0)
    assert torch.equal(model(tokens()), model(tokens())) and torch.equal(
        model.eval()(tokens()), model.train()(tokens())
    )
    draws = [drawn(0, count, k_max=5, recurrences=2) for count in (0, 0, 1)]
    outputs = [model(tokens(), draws=draw, recurrences=2) for draw in draws]
    assert torch.equal(outputs[0], outputs[1]) and not torch.equal(outputs[0], outputs[2])
    assert not torch.equal(outputs[0], model(tokens()))
    state = model._initial(torch.zeros(200, 20, 16), draws[0])
    assert state.std().item() == pytest.approx(0.02, rel=0.02) and abs(state.mean().item()) < 1e-3
    assert (model._initial(torch.zeros(2, 3, 16), None) == 0).all()


@pytest.mark.parametrize("recurrences", [1, 2, 5, 16])
def test_draws_of_the_progressive_loss(recurrences):
    free, held = recurrences_drawn(7, torch.arange(40_000), recurrences)
    for n in range(recurrences):
        of_n = held[free == n]
        most = min(recurrences - n, max(recurrences // 2, 1))
        assert len(of_n) / 40_000 == pytest.approx(1 / recurrences, rel=0.15)
        shares = of_n.bincount(minlength=most + 1) / len(of_n)
        assert shares[0] == 0 and len(shares) == most + 1
        assert torch.allclose(shares[1:], torch.full((most,), 1 / most), atol=0.05)
    assert free.max() < recurrences
    draws = [drawn(7, count, k_max=9, recurrences=recurrences) for count in range(3000)]
    assert [(d.free, d.held) for d in draws] == list(zip(free[:3000].tolist(), held[:3000].tolist(), strict=True))
    offsets = torch.tensor([d.offset for d in draws]).bincount() / 3000
    assert len(offsets) == 9 and torch.allclose(offsets, torch.full((9,), 1 / 9), atol=0.03)
    assert draws[5] == drawn(7, 5, k_max=9, recurrences=recurrences) != drawn(8, 5, k_max=9, recurrences=recurrences)


def test_no_gradient_reaches_the_free_recurrences():
    """Through the held ones alone: the gradient is that of going on from where the free ones ended."""
    model = Transformer(configuration(recurrences=5, injection="every-layer", embedding="nope"), seed=0)
    draws = drawn(0, 0, k_max=1, recurrences=5)._replace(free=3, held=2)
    model(tokens(), draws=draws).square().sum().backward()
    gradients = [weight.grad.clone() for weight in model.parameters()]
    model.zero_grad()
    embedded, context = model._embedded(tokens(), draws.offset), model._context(18, CPU, draws)
    with torch.no_grad():
        state = model._initial(embedded, draws)
        for _ in range(3):
            state = model.block(state, embedded, *context)
    assert not state.requires_grad
    for _ in range(2):
        state = model.block(state, embedded, *context)
    state = model.head_square(model.head_norm(model.head_network(state)))
    model.unembedding(state).square().sum().backward()
    assert all(
        torch.allclose(a, w.grad, rtol=1e-4, atol=1e-5) for a, w in zip(gradients, model.parameters(), strict=True)
    )
    model.zero_grad()
    model(tokens(), draws=draws, recurrences=5).square().sum().backward()
    whole = [weight.grad for weight in model.layers.parameters()]
    assert not all(torch.allclose(a, b, rtol=1e-2) for a, b in zip(gradients[2:], whole, strict=False))


def batch(texts=("12+3=51$...", "1+123=421$.")):
    seen = torch.cat([encoded(text) for text in texts])
    after = (seen == EQUALS).cumsum(1) - (seen == EQUALS).long() > 0
    return Batch(seen, after & (seen != PAD))


def test_the_loss_by_hand():
    model, draws = (
        Transformer(configuration(recurrences=4, injection="every-layer"), seed=0),
        drawn(0, 1, k_max=5, recurrences=4),
    )
    one = batch()
    logits = [
        model(one.tokens[:, :-1], draws=draws).log_softmax(-1),
        model(one.tokens[:, :-1], draws=draws, recurrences=4).log_softmax(-1),
    ]
    for objective in (Objective(alpha=0), Objective(alpha=0, all_gradients=True)):
        (loss,) = objective.losses(model, [(one, draws)])
        held = draws._replace(free=0, held=4) if objective.all_gradients else draws._replace(free=2, held=2)
        expected = -(model(one.tokens[:, :-1], draws=held).log_softmax(-1))
        expected = expected.gather(2, one.tokens[:, 1:, None])[..., 0][one.scored[:, 1:]].mean()
        gradients = [torch.autograd.grad(part, model.layers.parameters()) for part in (loss, expected)]
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(*gradients, strict=True))
    losses = [[-p[r, t, one.tokens[r, t + 1]].item() for r in (0, 1) for t in range(10)] for p in logits]
    # Places of the answers of both problems, counted from 0.
    answers = [t - 1 for t in (5, 6, 7)], [9 + t for t in (6, 7, 8, 9)]
    mean = [sum(e[t] for part in answers for t in part) / 7 for e in losses]
    by_problem = sum(sum(losses[0][t] for t in part) / len(part) for part in answers) / 2
    written = [t for t in range(20) if t not in (7, 8, 9, 19)]
    for objective, expected in (
        (Objective(), mean[0]),
        (Objective(average="problems"), by_problem),
        (Objective(alpha=0.25), 0.25 * mean[0] + 0.75 * mean[1]),
        (Objective(alpha=0), mean[1]),
        (Objective(masked=False), sum(losses[0][t] for t in written) / len(written)),
    ):
        (loss,) = objective.losses(model, [(one, draws)])
        assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_gradients_of_the_block_are_divided():
    models = [Transformer(configuration(recurrences=4, injection="every-layer"), seed=0) for _ in range(2)]
    divide_gradients(models[1])
    for model in models:
        model(tokens()).square().mean().backward()
    for (name, plain), divided in zip(models[0].named_parameters(), models[1].parameters(), strict=True):
        share = 4 if name.startswith("layers.") else 1
        assert torch.allclose(plain.grad, share * divided.grad, rtol=1e-5, atol=1e-8)


def test_answers_are_judged_in_every_token():
    one = batch()

    class Oracle(torch.nn.Module):
        wrong = ()

        def forward(self, seen):
            following = one.tokens[:, 1:].clone()
            for row, place in self.wrong:
                following[row, place] += 1
            return 20.0 * F.one_hot(following, 24).float()

    oracle = Oracle()
    loss, counted, right = judged(oracle, one)
    assert (counted, right) == (7, 2) and loss < 1e-3
    # A wrong EOS counts, a wrong token before the equals sign or after EOS does not.
    for wrong, expected in (([(0, 6)], 1), ([(0, 6), (1, 5)], 0), ([(0, 1), (0, 8)], 2)):
        oracle.wrong = wrong
        assert judged(oracle, one)[2] == expected


def test_flop_of_matrix_products():
    shape = configuration(recurrences=2, injection="every-layer", embedding="nope")
    model, seen = Transformer(shape, seed=0), tokens(4, 12)
    with FlopCounterMode(display=False) as counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        model(seen).square().sum().backward()
    # The injected embeddings are the only input without a matrix to pass gradients through.
    assert counter.get_total_flops() == 48 * (shape.block_flop(12) * 3 * 2 + 3 * shape.head_flop)
    with FlopCounterMode(display=False) as counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        draws = drawn(0, 0, k_max=1, recurrences=2)._replace(free=1, held=1)
        model(seen, draws=draws).square().sum().backward()
    assert counter.get_total_flops() == 48 * (shape.block_flop(12) * (1 + 3) + 3 * shape.head_flop)


@pytest.mark.parametrize("average", ["tokens", "positions", "problems"])
def test_averages_by_hand(average):
    """Of answers of three and four tokens in problems of ten places, the end included."""
    model, draws = Transformer(configuration(noise=0.0), seed=0), drawn(0, 0, k_max=1, recurrences=1)
    whole = batch()
    losses = F.cross_entropy(model(whole.tokens[:, :-1]).mT, whole.tokens[:, 1:], reduction="none")
    sums = [losses[place][whole.scored[place, 1:]].sum() for place in (0, 1)]
    expected = {
        "tokens": (sums[0] + sums[1]) / 7,
        "positions": (sums[0] + sums[1]) / (2 * 10),
        "problems": (sums[0] / 3 + sums[1] / 4) / 2,
    }[average]
    halves = [Batch(whole.tokens[place : place + 1], whole.scored[place : place + 1]) for place in (0, 1)]
    for parts in ([whole], halves):
        total = sum(Objective(average=average).losses(model, [(part, draws) for part in parts]))
        assert total.item() == pytest.approx(expected.item(), rel=1e-4)


def test_batches_ramp_up_and_the_rate_is_a_trapezoid_in_problems():
    plan = BatchPlan(samples=100_000, batch=1000, microbatch=10, ramp=0.6)
    sizes = [10 * len(plan.microbatches(step)) for step in range(plan.updates)]
    assert plan.seen(plan.updates) == sum(sizes) == 100_000
    for step, size in enumerate(sizes[:-1]):
        grown = 1000 * plan.seen(step) / 60_000
        assert size == min(1000, int(grown // 10 + 1) * 10)
    assert sizes[0] == 10 and 1000 in sizes
    assert BatchPlan(samples=95, batch=20, microbatch=10).starts == (0, 2, 4, 6, 8, 10)
    optimisation = PlannedOptimisation(0.5, schedule="trapezoid", updates=plan.updates, plan=plan)
    for step in range(plan.updates):
        done = (plan.seen(step) + plan.seen(step + 1)) / 2 / 100_000
        assert optimisation.rate(step) == pytest.approx(0.5 * min(1, done / 0.1, (1 - done) / 0.1))
        assert optimisation.rate(step) > 0


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("g++"), reason="no compiler here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The .grad attribute:UserWarning")
def test_a_compiled_block_is_the_block():
    model = Transformer(configuration(embedding="fire", recurrences=2, injection="every-layer"), seed=0)
    expected = model(tokens())
    gradients = torch.autograd.grad(expected.square().sum(), list(model.parameters()))
    model.compile_block()
    output = model(tokens())
    assert torch.allclose(output, expected, atol=1e-5)
    again = torch.autograd.grad(output.square().sum(), list(model.parameters()))
    assert all(torch.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in zip(gradients, again, strict=True))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: configuration(embedding="abacos"), "embedding is 'abacos'; input should be 'nope', 'abacus'"),
        (lambda: configuration(injection="all"), "injection is 'all'; input should be"),
        (lambda: configuration(heads=3), "multiple of the heads"),
        (lambda: configuration(feed_forward=33), "even number"),
        (lambda: configuration(random_positions=64), "it is for FIRE"),
        (lambda: configuration(d_model=10, heads=2, embedding="rope"), "even width"),
        (lambda: check_digits(40, 40), "need 41 rows .* has 40"),
        (lambda: check_digits(21, 40, k_max=25), "shifted by up to 24 need 46 rows"),
        (lambda: check_digits(39, 40, equals=True), "need 41 rows .* has 40"),
        (lambda: Objective(alpha=2), "alpha is 2"),
        (lambda: Objective(average="words"), "average"),
        (lambda: BatchPlan(100, 10, 3), "give a multiple"),
        (lambda: BatchPlan(100, 10, 10, ramp=2), "ramp is 2"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()

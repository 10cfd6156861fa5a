import itertools
import math
import os
import pickle
import signal
import struct
import time

import pytest
import torch
from bayescaling.errors import InputError
from bayescaling.training import Configuration, Decoder, Optimisation, Synthetic, Task, run, token_losses
from bayescaling.training.engine.checkpoints import Checkpoints
from bayescaling.training.engine.guard import Guard
from bayescaling.training.engine.loop import SAVING as TIMES
from bayescaling.training.language.loss import next_token_loss

CPU = torch.device("cpu")
LANGUAGE = Synthetic(vocabulary=24, successors=2)
OPTIMISATION = Optimisation(0.01, schedule="cosine", updates=30, warmup=3)
MARKS = (7, 15, 30)


def new_model(seed=0, layers=1):
    return Decoder(Configuration(8, layers, vocabulary=24, context=8, heads=2), seed)


def task(batches=None, device=CPU):
    held_out = LANGUAGE.held_out(64, 8, device)

    def batch(step):
        if batches is not None:
            batches.append(step)
        return (LANGUAGE.batch(0, step, 16, 8, device),)

    def evaluate(model):
        losses = token_losses(model(held_out[:, :-1]), model.unembedding, held_out[:, 1:])
        return {"loss_eval": losses.mean().item()}

    return Task(batch, lambda model, tokens: next_token_loss(model, tokens, "plain"), evaluate)


def values(outcome):
    return [{name: x for name, x in row.items() if name != "wall_seconds"} for row in outcome.evaluations]


@pytest.fixture(scope="module")
def unbroken():
    model = new_model()
    outcome = run(model, task(), OPTIMISATION, evaluate_at=MARKS)
    assert outcome.status == "finished"
    assert [row["step"] for row in outcome.evaluations] == list(MARKS)
    return model.state_dict(), values(outcome)


@pytest.mark.parametrize("every", [1, 7, 13])
def test_a_resumed_run_is_the_unbroken_one(every, unbroken, tmp_path, stop_after):
    batches = []
    for _ in range(OPTIMISATION.updates + 1):
        model = new_model()
        outcome = run(
            model,
            task(batches),
            OPTIMISATION,
            evaluate_at=MARKS,
            checkpoints=Checkpoints(tmp_path),
            guard=stop_after(every),
        )
        if outcome.status == "finished":
            break
    assert batches == list(range(30))
    assert values(outcome) == unbroken[1]
    assert all(torch.equal(weight, unbroken[0][name]) for name, weight in model.state_dict().items())
    again = run(new_model(), task(batches), OPTIMISATION, evaluate_at=MARKS, checkpoints=Checkpoints(tmp_path))
    assert values(again) == unbroken[1] and len(batches) == 30


def test_the_loop_makes_adamws_updates(unbroken):
    """The same by hand: AdamW as its paper writes it, on the same batches."""
    model, work = new_model().double(), task()
    weights = list(model.parameters())
    first, second = ([torch.zeros_like(weight) for weight in weights] for _ in range(2))
    for step in range(OPTIMISATION.updates):
        loss = next_token_loss(model, *work.batch(step), "plain")
        gradients = torch.autograd.grad(loss, weights)
        norm = torch.sqrt(sum((g**2).sum() for g in gradients))
        with torch.no_grad():
            for weight, g, m, v in zip(weights, gradients, first, second, strict=True):
                g = g * min(1.0, 1.0 / (norm.item() + 1e-6))
                m.mul_(0.9).add_(0.1 * g)
                v.mul_(0.95).add_(0.05 * g**2)
                rate = OPTIMISATION.rate(step)
                weight.mul_(1 - rate * (0.01 if weight.ndim == 2 else 0))
                weight.sub_(rate * (m / (1 - 0.9 ** (step + 1))) / ((v / (1 - 0.95 ** (step + 1))).sqrt() + 1e-8))
    for name, weight in model.state_dict().items():
        assert torch.allclose(weight.float(), unbroken[0][name], atol=2e-5)


def test_a_tiny_model_comes_near_the_entropy():
    language = Synthetic(vocabulary=8, successors=1, backoff=(0.1, 0.8, 0.1))
    held_out = language.held_out(1000, 8, CPU)

    def evaluate(model):
        losses = token_losses(model(held_out[:, :-1]), model.unembedding, held_out[:, 1:])
        return {"excess": (losses.double() + language.log_probability(held_out)).mean().item()}

    work = Task(lambda step: (language.batch(0, step, 128, 8, CPU),), task().loss, evaluate)
    model = Decoder(Configuration(16, 2, vocabulary=8, context=8, heads=2), 0)
    outcome = run(model, work, Optimisation(0.01, schedule="cosine", updates=400), evaluate_at=(1, 400))
    first, last = (row["excess"] for row in outcome.evaluations)
    assert first > 0.5
    assert 0 < last < 0.1


def test_a_run_that_diverges_is_recorded(tmp_path):
    def loss(model, tokens):
        value = next_token_loss(model, tokens, "plain")
        return value * math.inf if tokens.sum() == poisoned else value

    poisoned = task().batch(10)[0].sum()
    broken = Task(task().batch, loss, task().evaluate)
    for _ in range(2):
        outcome = run(new_model(), broken, OPTIMISATION, evaluate_at=MARKS, checkpoints=Checkpoints(tmp_path))
        assert outcome.status == "diverged"
        assert [row["step"] for row in outcome.evaluations] == list(MARKS)
        assert [math.isfinite(row["loss_eval"]) for row in outcome.evaluations] == [True, False, False]


def test_a_slice_of_no_time_makes_an_update_and_saves_it(tmp_path):
    for step in (1, 2, 3):
        options = {"evaluate_at": MARKS, "checkpoints": Checkpoints(tmp_path), "guard": Guard(time_limit=0)}
        assert run(new_model(), task(), OPTIMISATION, **options).status == "paused"
        assert Checkpoints(tmp_path).latest()[0] == step


def test_a_time_limit_counts_from_the_first_progress():
    guard = Guard(time_limit=0)
    assert not guard.expired
    guard.progressed()
    assert guard.expired
    patient = Guard(time_limit=3600)
    patient.progressed()
    assert not patient.expired and not Guard().expired


def test_runs_of_a_slice_share_a_guard_in_another_process():
    guard = Guard(time_limit=0)
    first, second, other = (pickle.loads(pickle.dumps(sent)) for sent in (guard, guard, Guard(time_limit=0)))
    first.progressed()
    assert second.expired and not other.expired


def test_checkpoints_that_take_long_are_rare(tmp_path):
    class Slow(Checkpoints):
        saves = ()

        def save(self, *arguments):
            start = time.perf_counter()
            super().save(*arguments)
            self.saves += ((start, time.perf_counter()),)

    checkpoints = Slow(tmp_path)
    run(new_model(), task(), OPTIMISATION, evaluate_at=MARKS, checkpoints=checkpoints, save_seconds=0)
    *regular, _ = checkpoints.saves
    assert regular
    for (start, end), (following, _) in itertools.pairwise(regular):
        assert following - end >= 0.99 * TIMES * (end - start)


def test_only_two_checkpoints_are_kept(tmp_path):
    store = Checkpoints(tmp_path / "kept")
    assert store.latest() is None
    for step in (1, 2, 3):
        store.save(step, {"w": torch.full((3,), float(step))}, {"note": [step, 0.5, "text"]})
    assert sorted(os.listdir(tmp_path / "kept")) == ["step-00000002", "step-00000003"]
    step, weights, state = store.latest()
    assert (step, weights["w"].tolist(), state) == (3, [3, 3, 3], {"note": [3, 0.5, "text"]})


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_a_damaged_checkpoint_is_refused_and_the_one_before_it_serves(damage, tmp_path):
    store = Checkpoints(tmp_path)
    for step in (1, 2):
        store.save(step, {"w": torch.full((100,), 1.25)}, {"step": step})
    path = tmp_path / "step-00000002"
    data, weight = path.read_bytes(), struct.pack("<f", 1.25)
    assert weight * 100 in data
    path.write_bytes({"cut": data[:-50], "changed": data.replace(weight, weight[::-1], 1), "empty": b""}[damage])
    with pytest.raises(InputError, match=r"step-00000002: the checkpoint is damaged .* resume from the one before"):
        store.latest()
    path.unlink()
    assert store.latest()[0] == 1


def test_a_signal_is_noted_and_the_second_has_its_effect(interruptible):
    guard = Guard()
    with pytest.raises(KeyboardInterrupt), guard.listening(), guard.listening():
        os.kill(os.getpid(), signal.SIGINT)
        assert guard.expired and guard.signalled == signal.SIGINT
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"schedule": "cosin"}, "schedule is 'cosin'; input should be 'constant', 'cosine'"),
        ({"warmup": 5000}, "warmup is 5000"),
        ({"betas": (0.9, 1)}, "betas is"),
        ({"clip": -1}, "clip is -1"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Optimisation(**{"learning_rate": 0.01} | options)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
def test_cuda_trains_as_the_cpu_does(unbroken, tmp_path, stop_after):
    device = torch.device("cuda")
    for _ in range(OPTIMISATION.updates):
        model = new_model().to(device)
        outcome = run(
            model,
            task(device=device),
            OPTIMISATION,
            evaluate_at=MARKS,
            checkpoints=Checkpoints(tmp_path),
            guard=stop_after(13),
        )
        if outcome.status == "finished":
            break
    for row, expected in zip(values(outcome), unbroken[1], strict=True):
        assert row["loss_train"] == pytest.approx(expected["loss_train"], abs=1e-3)
        assert row["loss_eval"] == pytest.approx(expected["loss_eval"], abs=1e-3)

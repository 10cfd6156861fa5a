import pytest
import torch
from bayescaling.datasets.wording import check_choice
from bayescaling.errors import InputError
from bayescaling.training import Optimisation
from bayescaling.training.engine.fields import Count, Whole, check_value
from bayescaling.training.engine.hardware import ceiling, choose_device, choose_precision

CPU = torch.device("cpu")


def test_schedules():
    constant, cosine = (Optimisation(1.0, schedule, updates=10, warmup=4) for schedule in ("constant", "cosine"))
    assert [constant.share(progress) for progress in (0, 0.5, 0.9)] == [1, 1, 1]
    assert [cosine.share(progress) for progress in (0, 0.5, 1)] == pytest.approx([1, 0.5, 0])
    assert [constant.rate(step) for step in range(5)] == [0.25, 0.5, 0.75, 1, 1]
    assert cosine.rate(7) == pytest.approx(0.5)


def test_what_this_machine_can_do():
    assert choose_precision("auto", CPU) == "float32"
    assert ceiling(CPU, "float32").flop_per_second > 1e9
    assert ceiling(CPU, "float32").bytes_per_second > 1e8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: choose_device("tpu"), "tpu"),
        (lambda: choose_device("mps"), "cannot be trained on"),
        (lambda: choose_device("cuda:99"), "is not here"),
        (lambda: choose_precision("fp8", CPU), "choose one of auto, float32, bfloat16"),
        (lambda: check_value("model: heads", True, Count), "model: heads is True; input should be a valid integer"),
        (lambda: check_value("task: count", -1, Whole), "task: count is -1; input should be greater"),
        (lambda: check_choice("corpus: kind", "txt", ("text",)), 'corpus: kind "txt" is unknown; did you mean "text"'),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()

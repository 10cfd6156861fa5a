import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
import torch
from bayescaling.errors import InputError
from bayescaling.training.arithmetic import Transformer, make_sweep
from bayescaling.training.engine.compilation import compiled
from bayescaling.training.engine.hardware import deterministic

torch.set_num_threads(1)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The .grad attribute:UserWarning")
NARROW = {"d_model": 8, "heads": 2}


def test_more_shapes_than_can_be_compiled_are_an_error():
    import torch._dynamo

    torch._dynamo.reset()
    doubled = compiled(lambda numbers: 2 * numbers, backend="eager")
    for length in range(2, 14):  # torch stops after eight by default
        assert doubled(torch.ones(length)).tolist() == [2.0] * length
    with torch._dynamo.config.patch(recompile_limit=3), pytest.raises(torch._dynamo.exc.FailOnRecompileLimitHit):
        doubled(torch.ones(14))


@pytest.mark.parametrize(
    "name", ["multiplication", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("addition", "sorting"))]
)
def test_no_block_of_a_preset_trains_uncompiled(name):
    """All shapes of training, for every embedding; all layers of a model are alike."""
    import torch._dynamo

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    sweep = make_sweep({"preset": name, "model": NARROW, "training": {"seeds": [0]}})
    runs = {run.model.embedding: run for arm in sweep.arms.values() for run in arm}
    assert len(runs) == {"addition": 6, "multiplication": 3, "sorting": 3}[name]
    for run in runs.values():
        model = Transformer(replace(run.model, layers=1), 0)
        model.compile_block(backend="eager")
        draws = run.draws(0)._replace(free=1 if run.model.recurrences > 1 else 0, held=1)
        (batches,) = run.batches(0, range(1), run.plan.microbatch, "cpu")
        sum(run.objective.losses(model, [(batch, draws) for batch in batches])).backward()
    frames = Counter(torch._dynamo.utils.counters["frames"])
    assert frames["total"] == frames["ok"]
    assert not torch._dynamo.utils.counters["graph_break"]


@pytest.mark.skipif(not shutil.which("g++"), reason="no compiler here to be without")
def test_without_a_compiler_models_train_uncompiled_with_a_warning(tmp_path):
    code = (
        "import warnings; warnings.simplefilter('error', UserWarning); from bayescaling.training import Execution; "
        "import torch; import sys; warnings.showwarning = lambda message, *rest: print(message); "
        "warnings.simplefilter('always'); print(Execution(compile=True).compiles(torch.device('cpu')))"
    )
    environment = os.environ | {"CXX": str(tmp_path / "none"), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    printed = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert printed[-1] == "False"
    assert any("models cannot be compiled here" in line and "Install a C compiler" in line for line in printed)


def test_deterministic_kernels_are_taken_within_the_block_alone():
    with deterministic(True):
        assert torch.are_deterministic_algorithms_enabled()
    assert not torch.are_deterministic_algorithms_enabled()
    with deterministic(False):
        assert not torch.are_deterministic_algorithms_enabled()
    with pytest.raises(InputError, match=r"deterministic is true, and .* leave it out"), deterministic(True):
        raise RuntimeError("put_ does not have a deterministic implementation")
    with pytest.raises(RuntimeError, match="other"), deterministic(True):
        raise RuntimeError("other")

"""Both kinds of sweep, each with a tiny one that a CPU trains in seconds, for tests of both."""

import functools
import subprocess
import sys
import textwrap

import pytest
import torch
from bayescaling import training
from bayescaling.training import arithmetic
from bayescaling.training.engine.guard import Guard
from torch.utils._python_dispatch import TorchDispatchMode

torch.set_num_threads(1)

LANGUAGE = """
[corpus]
kind = "synthetic"
vocabulary = 32

[model]
sizes = [[4, 1], [8, 1]]
heads = 2
context = 8

[training]
updates = [40, 60]
batch_tokens = 256
evaluations = 4
evaluation_tokens = 2048

[[stages]]
name = "rates"
schedule = "constant"
learning_rates = [0.003, 0.03]
keep = "best"

[[stages]]
name = "cosine"
schedule = "cosine"
learning_rates = "best"
budgets = [0.5, 1.0]
"""
ARITHMETIC = """
[model]
d_model = 16
heads = 2
k_max = 3
table_rows = 12

[training]
samples = 960
batch = 32
microbatch = 16
ramp = 0.5
learning_rate = 0.003
seeds = [0]
evaluations = 4
evaluation_problems = 50

[evaluation]
longest = 3
diagonal_to = 4
count = 20

[[arms]]
name = "embeddings"
task = "addition"
lengths = 2
embeddings = ["abacus", "nope"]
architectures = ["1x1"]

[[arms]]
name = "looped"
task = "addition"
lengths = 2
embeddings = ["abacus"]
architectures = ["1x1", "1x2"]
"""
CHILD = """
    import sys, torch
    torch.set_num_threads(1)
    from {module} import train
    {before}
    try:
        print(train({path!r}, {out!r}, device="cpu", progress=False).attrs["status"])
    except (KeyboardInterrupt, ValueError) as error:
        print(type(error).__name__, error)
"""


class Kind:
    """A kind of sweep: its package, a tiny sweep's text, how many runs it has, and the text of its bar at the end."""

    def __init__(self, package, text, runs, shown):
        self.package, self.text, self.runs, self.shown = package, text, runs, shown

    def train(self, sweep, out, **options):
        return self.package.train(sweep, out, **{"device": "cpu", "progress": False} | options)

    def child(self, sweep, out, *arguments, before=""):
        """Start a process that trains the sweep and prints its status, or the error that ended it."""
        code = CHILD.format(module=self.package.__name__, path=str(sweep), out=str(out), before=before)
        command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @staticmethod
    def same(result, expected):
        """Whether two sweeps gave the same, bit for bit, whatever the time they took."""
        return result.drop_vars("wall_seconds").equals(expected.drop_vars("wall_seconds"))


@pytest.fixture(scope="session")
def kinds():
    return {
        "language": Kind(training, LANGUAGE, 8, "cosine 4/4"),
        "arithmetic": Kind(arithmetic, ARITHMETIC, 3, "arithmetic 3/3"),
    }


@pytest.fixture(params=[pytest.param("language", marks=pytest.mark.thorough), "arithmetic"])
def kind(request, kinds):
    """One of the kinds of sweep, which share what trains and resumes them: the smaller one, or both."""
    return kinds[request.param]


@pytest.fixture
def tiny(kind, tmp_path):
    """File of the tiny sweep."""
    path = tmp_path / "tiny.toml"
    path.write_text(kind.text, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def _unbroken(tmp_path_factory):
    @functools.cache
    def trained(kind):
        folder = tmp_path_factory.mktemp("unbroken")
        (folder / "tiny.toml").write_text(kind.text, encoding="utf-8")
        result = kind.train(folder / "tiny.toml", folder / "out")
        assert result.attrs["status"] == "finished"
        return result, folder / "out"

    return trained


@pytest.fixture
def unbroken(kind, _unbroken):
    """Result and folder of the tiny sweep, trained once without a break."""
    return _unbroken(kind)


@pytest.fixture
def refused(kind, tmp_path):
    """Check that the tiny sweep is refused, before anything is trained, once a part of its text is replaced."""

    def check(old, new, message):
        assert old in kind.text
        path, out = tmp_path / "tiny.toml", tmp_path / "out"
        path.write_text(kind.text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(ValueError, match=message) as caught:
            kind.train(path, out)
        assert type(caught.value).__name__ == "InputError" and "\n" not in str(caught.value)
        assert not list((out / "runs").glob("*"))
        return str(caught.value)

    return check


class FloatsSeen(TorchDispatchMode):
    """Count operations of torch, and note those that take or give floats."""

    def __init__(self):
        super().__init__()
        self.operations, self.floats = 0, set()

    def __torch_dispatch__(self, operation, types, arguments=(), keywords=None):
        result = operation(*arguments, **(keywords or {}))
        self.operations += 1
        for part in [*arguments, result]:
            if isinstance(part, torch.Tensor) and part.dtype.is_floating_point:
                self.floats.add(str(operation))
        return result


@pytest.fixture
def floats_seen():
    return FloatsSeen


class StopAfter(Guard):
    """A guard that expires after some looks at it, of which each update is one."""

    def __init__(self, looks):
        super().__init__()
        self.left = looks

    @property
    def expired(self):
        self.left -= 1
        return self.left < 0


@pytest.fixture
def stop_after():
    return StopAfter

"""The device to train on, what it can do at most, and the precision that suits it."""

import contextlib
import functools
import math
import os
import time
from pathlib import Path
from typing import NamedTuple

import torch

from ...datasets.wording import check_choice, quoted, reason
from ...errors import InputError

PRECISIONS = ("auto", "float32", "bfloat16")
# Side of the matrices multiplied to measure a CPU; eight times it on a GPU.
PROBE = 1024
# Allocators, kernels and evaluation need more memory than an estimate; this factor for them is assumed, not measured.
MARGIN = 1.2
CGROUP = Path("/sys/fs/cgroup")


class Ceiling(NamedTuple):
    """Peak of a device: dense arithmetic in the precision of training (FLOP/s) and memory traffic (byte/s)."""

    flop_per_second: float
    bytes_per_second: float


# GPUs for which a sweep can be outlined on a machine without them: they train in bfloat16.
GPUS = ("B200", "H200", "H100", "A100", "L40S", "RTX 4090")


def choose_device(name=None):
    """Choose the device to train on, by default CUDA where there is a GPU; raise `InputError` if it is not here."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f'device {quoted(name)} is unknown; give "cpu", "cuda" or "cuda:1"') from error
    if device.type not in ("cpu", "cuda"):
        raise InputError(f'device {quoted(name)} cannot be trained on; give "cpu" or "cuda"')
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InputError(f'device {quoted(name)} is not here: CUDA sees {torch.cuda.device_count()} GPUs; give "cpu"')
    return device


def choose_precision(name, device):
    """Choose the precision of training: bfloat16 on a GPU that has it and float32 elsewhere, unless it is named."""
    check_choice("training: precision", name, PRECISIONS)
    if name == "auto":
        native = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        return "bfloat16" if native else "float32"
    return name


class Where(NamedTuple):
    """Where a run is trained: the kind of device, and the precision that ``"auto"`` stands for there."""

    kind: str
    precision: str


def describe_where(name=None):
    """Return the `Where` of a device here, named as for `choose_device`."""
    device = choose_device(name)
    return Where(device.type, choose_precision("auto", device))


@contextlib.contextmanager
def deterministic(wanted):
    """Take only kernels that add in a fixed order within a block, if that is wanted."""
    if not wanted:
        yield
        return
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    # Read when cuBLAS is first used.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    try:
        yield
    except RuntimeError as error:
        if "deterministic" not in str(error):
            raise
        raise InputError(f"training: deterministic is true, and {reason(error)}; leave it out") from error
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def synchronise(device):
    """Wait until the device has finished its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def name_device(device):
    """Return the name of the device in words."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


def measure_free_memory(device):
    """Return how many bytes are free on a device, or in a process's share of it; infinite where that is unknown."""
    if device.type == "cuda" and not torch.cuda.is_available():
        return math.inf
    if device.type == "cuda":
        held, (free, whole) = torch.cuda.memory_reserved(device), torch.cuda.mem_get_info(device)
        share = torch.cuda.get_per_process_memory_fraction(device) * whole - held
        return float(min(free, share) + held - torch.cuda.memory_allocated(device))
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return math.inf
    with contextlib.suppress(OSError, ValueError):
        # A container may have less than the machine; a limit of "max" is not a number and is skipped.
        limit, used = (int((CGROUP / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        free = min(free, limit - used)
    return free


@functools.cache
def ceiling(device, precision):
    """Measure the peak of a device by a product of square matrices and a copy, the best of five each."""
    size = PROBE * (8 if device.type == "cuda" else 1)
    matrix = torch.randn(size, size, device=device, dtype=getattr(torch, precision))
    source = torch.randn(64 * PROBE * (PROBE if device.type == "cuda" else 256), device=device)
    target = torch.empty_like(source)
    product = min(timed(lambda _: matrix @ matrix, device))
    copy = min(timed(lambda _: target.copy_(source), device))
    return Ceiling(2 * size**3 / product, 2 * source.nbytes / copy)


def timed(work, device, repeats=5):
    """Return the seconds that each of several calls of a function takes on a device; it takes the call's number."""
    seconds = []
    for number in range(repeats):
        synchronise(device)
        start = time.perf_counter()
        work(number)
        synchronise(device)
        seconds.append(time.perf_counter() - start)
    return seconds

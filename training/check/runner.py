"""The check of a device as one command that resumes: every step within its share of the time, results as they come."""

import json
import math
import os
import time
from pathlib import Path

import torch

from ...datasets.files import written_whole
from ...datasets.wording import printable
from ...errors import InputError
from ..arithmetic.cell_counts import accuracies
from ..arithmetic.presets import preset as arithmetic_preset
from ..arithmetic.sweep_file import make_sweep as arithmetic_sweep
from ..engine.hardware import chosen_device, device_name
from ..language.presets import preset as language_preset
from ..language.sweep_file import make_sweep as language_sweep
from ..sweeps.records import versions
from ..sweeps.trainer import make_folder, train
from .agreement import CHECKS
from .speed import SPEEDS

# Shares of a call's time after which no further step begins.
BEGUN_BY = {"agreement": 0.15, "speed": 0.35, "sweeps": 1.0}
# Shares that sweeps take of the time that is then left: the first leave time for the later ones.
SHARES = {"schemes": 0.3, "reduced": 0.6, "sorting": 0.5, "or": 1.0}


def _of_task(name, task, lengths, longest, **training):
    tables = arithmetic_preset("reduced")
    tables["training"] |= {"samples": 8_000_000, "seeds": [0, 1, 2]} | training
    tables["evaluation"] = {"longest": longest, "every": 2, "diagonal_to": 0, "count": 100}
    arm = {"name": name, "task": task, "lengths": lengths, "embeddings": ["abacus", "fire", "nope"]}
    return tables | {"arms": [arm | {"architectures": ["6x1+injection"]}]}


def full():
    """Return the sweeps and sizes of a check of a GPU."""
    reduced = arithmetic_preset("reduced")
    reduced["training"]["seeds"] = [0, 1, 2]
    addition = arithmetic_preset("addition")
    addition["arms"] = [addition["arms"][1] | {"embeddings": ["abacus"], "architectures": ["16x1+injection"]}]
    return {
        "schemes": language_preset("schemes"),
        "reduced": reduced,
        "addition": addition,
        "sorting": _of_task("sorting", "sorting", 10, 30),
        "or": _of_task("or", "or", 20, 60, samples=2_000_000),
        "digits": 20,
        "problems": 65536,
        "judged": 1024,
        "ways": ["plain", "compiled", "graphs"],
    }


def tiny():
    """Return sweeps and sizes of the same kinds that a CPU does in a minute, to rehearse the check."""
    tables = full()
    # To compile takes longer than all else here.
    tables |= {"digits": 5, "problems": 256, "judged": 16, "ways": ["plain"]}
    schemes = tables["schemes"]
    schemes["corpus"]["vocabulary"] = 32
    schemes["model"] |= {"sizes": [[4, 1], [8, 1]], "heads": 2, "context": 8}
    schemes["training"] |= {"batch_tokens": 128, "updates": [4, 6], "evaluations": 2, "evaluation_tokens": 128}
    for name in ("reduced", "addition", "sorting", "or"):
        sweep = tables[name]
        sweep["model"] = {"d_model": 16, "heads": 2, "k_max": 2, "table_rows": 16}
        sweep["training"] |= {"samples": 128, "batch": 32, "microbatch": 32, "evaluations": 1, "seeds": [0]}
        sweep["training"]["evaluation_problems"] = 16
        sweep["evaluation"] = {"longest": 3, "diagonal_to": 0, "count": 4}
        sweep["arms"][0] |= {"lengths": 2, "architectures": ["1x1+injection"]}
    return tables


def check(out, *, minutes=9.0, device=None, tables=None, announce=print):
    """Check a device, or resume the check: agreement, speeds, and then the runs that want a GPU.

    Every finished step is written to ``OUT/check.json`` and is not repeated. A sweep that needs more time is saved, and
    the next call resumes it. ``OUT/summary.md`` has the results for people, and ``OUT/SWEEP/runs.csv`` are the tables.

    The call saves and stops after some `minutes`; it does not interrupt agreement and speeds. `tables` has sweeps and
    sizes, by default those of `full` and on a CPU those of `tiny`. `announce` takes each line about what was done. The
    result is what ``OUT/check.json`` holds, with ``status``: ``"finished"`` or ``"paused"``.

    `InputError` is raised if the device, the time or the folder cannot be used, or if no device is named and there is
    no GPU. KeyboardInterrupt is raised, after everything was saved, if a signal stopped it.
    """
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes < math.inf:
        raise InputError(f"minutes is {minutes!r}; give a number above 0")
    out, where = Path(os.path.realpath(os.path.expanduser(out))), chosen_device(device)
    if device is None and where.type != "cuda":
        raise InputError(
            f"device: torch {torch.__version__} sees no GPU here; run this on a machine with one, with a torch for "
            'CUDA, or rehearse it with device "cpu"'
        )
    tables = tables or (full() if where.type == "cuda" else tiny())
    start, limit = time.monotonic(), 60 * minutes
    results = _Results(out, where)
    for group, steps in {"agreement": CHECKS, "speed": SPEEDS, "sweeps": SHARES}.items():
        for name, step in steps.items():
            taken = time.monotonic() - start
            if results.done(group, name):
                continue
            if taken > BEGUN_BY[group] * limit and results.grown:
                return results.ended("paused", announce)
            if group == "sweeps":
                result = _swept(name, tables[name], out / name, str(where), max(1.0, step * (limit - taken)))
            else:
                result = _tried(step, where, *([tables] if group == "speed" else []))
            results.write(group, name, result, announce)
    unfinished = [name for name, result in results.entries["sweeps"].items() if result["status"] == "paused"]
    return results.ended("paused" if unfinished else "finished", announce)


class _Results:
    """The results of the steps, on disk after every step."""

    def __init__(self, out, device):
        # Every call does one step at least.
        self.path, self.summary, self.grown = out / "check.json", out / "summary.md", False
        make_folder(out)
        self.entries = {"device": device_name(device), "versions": json.loads(versions())}
        self.entries |= {"agreement": {}, "speed": {}, "sweeps": {}}
        if self.path.exists():
            self.entries = self._read(device)

    def done(self, group, name):
        """Return whether a step is finished."""
        result = self.entries[group].get(name)
        return result is not None and result.get("status", "finished") == "finished"

    def write(self, group, name, result, announce):
        """Write the result of a step."""
        self.grown = True
        self.entries[group][name] = result
        with written_whole(self.path) as partial:
            partial.write_text(json.dumps(self.entries, indent=1), encoding="utf-8")
        with written_whole(self.summary) as partial:
            partial.write_text(summary(self.entries), encoding="utf-8")
        announce(f"{group}, {name}: {_text(result)}")

    def ended(self, status, announce):
        """Print how the check ended and return its result."""
        announce(
            f"{status}; {printable(self.summary)}" + ("; to resume, run the same command" if status == "paused" else "")
        )
        return self.entries | {"status": status}

    def _read(self, device):
        try:
            results = json.loads(self.path.read_text(encoding="utf-8"))
            valid = {"agreement", "speed", "sweeps", "device"} <= set(results)
        except (OSError, ValueError, TypeError):
            valid = False
        if not valid:
            raise InputError(f"{printable(self.path)}: is no check of a device; delete it, or give another folder")
        if results["device"] != device_name(device):
            raise InputError(
                f"{printable(self.path)}: checks {results['device']} and this is {device_name(device)}; give another "
                "folder"
            )
        return results


def summary(results):
    """Write the results of a check as Markdown."""
    lines = [f"# Check of {results['device']}", ""]
    lines += [", ".join(f"{name} {number}" for name, number in results["versions"].items()), ""]
    for group in ("agreement", "speed", "sweeps"):
        lines += [f"## {group.capitalize()}", ""]
        lines += [f"- **{name}**: {_text(result)}" for name, result in results[group].items()] or ["- nothing yet"]
        lines.append("")
    return "\n".join(lines)


def _tried(step, *options):
    """Run a step and return its result; a failure is a result too, so that the other steps run."""
    start = time.perf_counter()
    try:
        result = step(*options)
    except InputError as error:
        result = {"ok": False, "error": str(error)}
    # The check is there to report what fails on a new device.
    except Exception as error:
        result = {"ok": False, "error": f"{type(error).__name__}: {error}".splitlines()[0]}
    return result | {"took": time.perf_counter() - start}


def _swept(name, tables, folder, device, limit):
    start = time.perf_counter()
    make = language_sweep if name == "schemes" else arithmetic_sweep
    try:
        result = train(None, make(tables), folder, device=device, time_limit=limit)
    except InputError as error:  # such as a small memory
        return {"status": "refused", "error": str(error)}
    outcome = {"status": "paused", "runs": 0} if result is None else {"status": result.attrs["status"]}
    if result is not None:
        outcome |= {"runs": result.sizes["run"], "seconds": float(result["wall_seconds"].max("step").sum())}
        if make is arithmetic_sweep:
            names = ("embedding", "seed", "offset", "id", "ood")
            outcome["right"] = [{name: entry[name] for name in names} for entry in accuracies(result)]
        else:
            outcome["entropy"] = result.attrs.get("entropy")
            outcome["least_loss"] = float(result["loss_eval"].min())
    return outcome | {"took": time.perf_counter() - start}


def _text(content, depth=0):
    if isinstance(content, dict):
        text = ", ".join(f"{name} {_text(value, depth + 1)}" for name, value in content.items())
        return f"({text})" if depth else text
    if isinstance(content, list):
        return "[" + "; ".join(_text(value, depth + 1) for value in content) + "]"
    if isinstance(content, bool):
        return "yes" if content else "NO"
    return f"{content:.4g}" if isinstance(content, float) else str(content)

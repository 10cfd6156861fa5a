"""The check of a device as one command: what must agree, and how fast it is, with results on disk after every step."""

import json
import math
import os
import time
from pathlib import Path

import torch

from ...datasets.files import written_whole
from ...datasets.wording import printable
from ...errors import InputError
from ..arithmetic.presets import preset as arithmetic_preset
from ..engine.hardware import choose_device, name_device
from ..language.presets import preset as language_preset
from ..sweeps.records import versions
from ..sweeps.trainer import make_folder
from .agreement import CHECKS
from .speed import SPEEDS


def full():
    """Return the sweeps whose updates are timed on a GPU, and the sizes of the other steps."""
    addition = arithmetic_preset("addition")
    addition["arms"] = [addition["arms"][1] | {"embeddings": ["abacus"], "architectures": ["16x1+injection"]}]
    return {
        "schemes": language_preset("schemes"),
        "reduced": arithmetic_preset("reduced"),
        "addition": addition,
        "digits": 20,
        "problems": 65536,
        "judged": 1024,
        "ways": ["plain", "compiled", "graphs"],
    }


def tiny():
    """Return sweeps and sizes of the same kinds that a CPU does in half a minute, to rehearse the check."""
    tables = full()
    # To compile takes longer than all else here.
    tables |= {"digits": 5, "problems": 256, "judged": 16, "ways": ["plain"]}
    schemes = tables["schemes"]
    schemes["corpus"]["vocabulary"] = 32
    schemes["model"] |= {"sizes": [[4, 1], [8, 1]], "heads": 2, "context": 8}
    schemes["training"] |= {"batch_tokens": 128, "updates": [4, 6], "evaluations": 2, "evaluation_tokens": 128}
    for name in ("reduced", "addition"):
        sweep = tables[name]
        sweep["model"] = {"d_model": 16, "heads": 2, "k_max": 2, "table_rows": 16}
        sweep["training"] |= {"samples": 128, "batch": 32, "microbatch": 32, "evaluations": 1, "seeds": [0]}
        sweep["training"]["evaluation_problems"] = 16
        sweep["evaluation"] = {"longest": 3, "diagonal_to": 0, "count": 4}
        sweep["arms"][0] |= {"lengths": 2, "architectures": ["1x1+injection"]}
    return tables


def check(out, *, minutes=9.0, device=None, tables=None, announce=print):
    """Check a device: what must agree, then how fast it is.

    After every step, results are in ``OUT/check.json``, and in ``OUT/summary.md`` for people. No step begins after some
    `minutes`. `tables` has sweeps and sizes, by default those of `full` and on a CPU those of `tiny`. `announce` takes
    each line about what was done. The result is what ``OUT/check.json`` holds.

    `InputError` is raised if the device, the time or the folder cannot be used, or if no device is named and there is
    no GPU.
    """
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes < math.inf:
        raise InputError(f"minutes is {minutes!r}; give a number above 0")
    out, where = Path(os.path.realpath(os.path.expanduser(out))), choose_device(device)
    if device is None and where.type != "cuda":
        raise InputError(
            f"device: torch {torch.__version__} sees no GPU here; run this on a machine with one, with a torch for "
            'CUDA, or rehearse it with device "cpu"'
        )
    make_folder(out)
    tables = tables or (full() if where.type == "cuda" else tiny())
    results = {"device": name_device(where), "versions": json.loads(versions()), "agreement": {}, "speed": {}}
    start = time.monotonic()
    for group, steps in {"agreement": CHECKS, "speed": SPEEDS}.items():
        for name, step in steps.items():
            if time.monotonic() - start > 60 * minutes:
                announce(f"{group}, {name}: left out after {minutes:g} minutes; give more --minutes")
                continue
            results[group][name] = _tried(step, where, *([tables] if group == "speed" else []))
            for path, text in {"check.json": json.dumps(results, indent=1), "summary.md": summary(results)}.items():
                with written_whole(out / path) as partial:
                    partial.write_text(text, encoding="utf-8")
            announce(f"{group}, {name}: {_text(results[group][name])}")
    announce(printable(out / "summary.md"))
    return results


def summary(results):
    """Write the results of a check as Markdown."""
    lines = [f"# Check of {results['device']}", ""]
    lines += [", ".join(f"{name} {number}" for name, number in results["versions"].items()), ""]
    for group in ("agreement", "speed"):
        lines += [f"## {group.capitalize()}", ""]
        lines += [f"- **{name}**: {_text(result)}" for name, result in results[group].items()] or ["- nothing yet"]
        lines.append("")
    return "\n".join(lines)


def _tried(step, *options):
    """Run a step and return its result; a failure is a result too, so that the other steps run."""
    start = time.perf_counter()
    try:
        result = step(*options)
    # The check is there to report what fails on a new device.
    except Exception as error:
        result = {"ok": False, "error": f"{type(error).__name__}: {error}".splitlines()[0]}
    return result | {"took": time.perf_counter() - start}


def _text(content, depth=0):
    if isinstance(content, dict):
        text = ", ".join(f"{name} {_text(value, depth + 1)}" for name, value in content.items())
        return f"({text})" if depth else text
    if isinstance(content, bool):
        return "yes" if content else "NO"
    return f"{content:.4g}" if isinstance(content, float) else str(content)

"""The check of a device as one command that resumes: every step within its share of the time, results as they come."""

import json
import math
import os
import time
from pathlib import Path

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
from ..sweeps.trainer import train
from .agreement import CHECKS
from .speed import SPEEDS

# Shares of a call's time after which no further step of agreement and of speed begins; and shares of what is then left
# that sweeps take, the first of which leave time for those after them.
BEGUN_BY = {"agreement": 0.15, "speed": 0.35}
SHARES = {"schemes": 0.3, "reduced": 0.6, "sorting": 0.5, "or": 1.0}


def _of_task(name, task, lengths, longest, **training):
    tables = arithmetic_preset("reduced")
    tables["training"] |= {"samples": 8_000_000, "seeds": [0, 1, 2]} | training
    tables["evaluation"] = {"longest": longest, "every": 2, "diagonal_to": 0, "count": 100}
    arm = {"name": name, "task": task, "lengths": lengths, "embeddings": ["abacus", "fire", "nope"]}
    return tables | {"arms": [arm | {"architectures": ["6x1+injection"]}]}


def full():
    """Give the sweeps and sizes of a check of a GPU."""
    reduced = arithmetic_preset("reduced")
    reduced["training"]["seeds"] = [0, 1, 2]
    return {
        "schemes": language_preset("schemes"),
        "reduced": reduced,
        "sorting": _of_task("sorting", "sorting", 10, 30),
        "or": _of_task("or", "or", 20, 60, samples=2_000_000),
        "digits": 20,
        "problems": 65536,
        "judged": 1024,
        "ways": ["eager", "compiled"],
    }


def tiny():
    """Give sweeps and sizes of the same kinds that a CPU does in a minute, to rehearse the check."""
    made = full()
    # To compile takes longer than all else here.
    made |= {"digits": 5, "problems": 256, "judged": 16, "ways": ["eager"]}
    schemes = made["schemes"]
    schemes["corpus"]["vocabulary"] = 32
    schemes["model"] |= {"sizes": [[4, 1], [8, 1]], "heads": 2, "context": 8}
    schemes["training"] |= {"batch_tokens": 128, "updates": [4, 6], "evaluations": 2, "evaluation_tokens": 128}
    for name in ("reduced", "sorting", "or"):
        sweep = made[name]
        sweep["model"] = {"d_model": 16, "heads": 2, "k_max": 2, "table_rows": 16}
        sweep["training"] |= {"samples": 128, "batch": 32, "microbatch": 32, "evaluations": 1, "seeds": [0]}
        sweep["training"]["evaluation_problems"] = 16
        sweep["evaluation"] = {"longest": 3, "diagonal_to": 0, "count": 4}
        sweep["arms"][0] |= {"lengths": 2, "architectures": ["1x1+injection"]}
    return made


def check(out, *, minutes=9.0, device=None, tables=None, told=print):
    """Check a device, or resume the check: agreement, speeds, and then the runs that want a GPU.

    Every step that is finished is written to ``OUT/check.json`` and not done again. A sweep that the time does not
    suffice for is saved, and resumed by the next call. ``OUT/summary.md`` has the results for people, and
    ``OUT/SWEEP/runs.csv`` are the tables.

    The call saves and stops after some `minutes`; agreement and speeds are not broken off. `tables` has sweeps and
    sizes, by default those of `full`, and `told` takes each line about what was done. The result is what
    ``OUT/check.json`` holds, with ``status``: ``"finished"`` or ``"paused"``. `InputError` is raised if the device, the
    time or the folder cannot be used, and KeyboardInterrupt, after everything was saved, if a signal stopped it.
    """
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes < math.inf:
        raise InputError(f"minutes is {minutes!r}; give a number above 0")
    out, where, tables = Path(os.path.realpath(os.path.expanduser(out))), chosen_device(device), tables or full()
    start, limit = time.monotonic(), 60 * minutes
    kept = _Kept(out, where)
    for group, steps in (("agreement", CHECKS), ("speed", SPEEDS)):
        for name, step in steps.items():
            if kept.done(group, name):
                continue
            if time.monotonic() - start > BEGUN_BY[group] * limit and kept.grown:
                return kept.ended("paused", told)
            options = () if group == "agreement" else (tables,)
            kept.keep(group, name, _tried(step, where, *options), told)
    for name, share in SHARES.items():
        if kept.done("sweeps", name):
            continue
        left = limit - (time.monotonic() - start)
        if left <= 0 and kept.grown:
            return kept.ended("paused", told)
        found = _swept(name, tables[name], out / name, str(where), max(1.0, share * left))
        kept.keep("sweeps", name, found, told)
    unfinished = [name for name, found in kept.found["sweeps"].items() if found["status"] != "finished"]
    return kept.ended("paused" if unfinished else "finished", told)


class _Kept:
    """What was found, on disk after every step."""

    def __init__(self, out, device):
        # Every call does one step at least.
        self.path, self.summary, self.grown = out / "check.json", out / "summary.md", False
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{printable(out)}: cannot be made ({error.strerror}); choose another folder") from error
        self.found = {"device": device_name(device), "versions": json.loads(versions())}
        self.found |= {"agreement": {}, "speed": {}, "sweeps": {}}
        if self.path.exists():
            self.found = self._read(device)

    def done(self, group, name):
        """Whether a step is finished."""
        found = self.found[group].get(name)
        return found is not None and found.get("status", "finished") == "finished"

    def keep(self, group, name, found, told):
        """Write what a step found."""
        self.grown = True
        self.found[group][name] = found
        with written_whole(self.path) as partial:
            partial.write_text(json.dumps(self.found, indent=1), encoding="utf-8")
        with written_whole(self.summary) as partial:
            partial.write_text(summary(self.found), encoding="utf-8")
        told(f"{group}, {name}: {_said(found)}")

    def ended(self, status, told):
        """Say how the check ended."""
        told(f"{status}; {printable(self.summary)}" + ("; run the same command to go on" if status == "paused" else ""))
        return self.found | {"status": status}

    def _read(self, device):
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            known = {"agreement", "speed", "sweeps", "device"} <= set(found)
        except (OSError, ValueError, TypeError):
            known = False
        if not known:
            raise InputError(f"{printable(self.path)}: is no check of a device; delete it, or give another folder")
        if found["device"] != device_name(device):
            raise InputError(
                f"{printable(self.path)}: checks {found['device']} and this is {device_name(device)}; give another "
                "folder"
            )
        return found


def summary(found):
    """Write what a check found as Markdown."""
    lines = [f"# Check of {found['device']}", ""]
    lines += [", ".join(f"{name} {number}" for name, number in found["versions"].items()), ""]
    for group in ("agreement", "speed", "sweeps"):
        lines += [f"## {group.capitalize()}", ""]
        lines += [f"- **{name}**: {_said(each)}" for name, each in found[group].items()] or ["- nothing yet"]
        lines.append("")
    return "\n".join(lines)


def _tried(step, *options):
    """Do a step; that one fails must not keep the others from being tried."""
    start = time.perf_counter()
    try:
        found = step(*options)
    except InputError as error:
        found = {"ok": False, "error": str(error)}
    # What fails on an untried device is what the check is to find.
    except Exception as error:
        found = {"ok": False, "error": f"{type(error).__name__}: {error}".splitlines()[0]}
    return found | {"took": time.perf_counter() - start}


def _swept(name, tables, folder, device, limit):
    start = time.perf_counter()
    make = language_sweep if name == "schemes" else arithmetic_sweep
    result = train(None, make(tables), folder, device=device, time_limit=limit)
    found = {"status": "paused", "runs": 0} if result is None else {"status": result.attrs["status"]}
    if result is not None:
        found |= {"runs": result.sizes["run"], "seconds": float(result["wall_seconds"].max("step").sum())}
        if make is arithmetic_sweep:
            names = ("embedding", "seed", "offset", "id", "ood")
            found["right"] = [{name: entry[name] for name in names} for entry in accuracies(result)]
        else:
            found["entropy"] = result.attrs.get("entropy")
            found["least_loss"] = float(result["loss_eval"].min())
    return found | {"took": time.perf_counter() - start}


def _said(found, depth=0):
    if isinstance(found, dict):
        text = ", ".join(f"{name} {_said(value, depth + 1)}" for name, value in found.items())
        return f"({text})" if depth else text
    if isinstance(found, list):
        return "[" + "; ".join(_said(value, depth + 1) for value in found) + "]"
    if isinstance(found, bool):
        return "yes" if found else "NO"
    return f"{found:.4g}" if isinstance(found, float) else str(found)

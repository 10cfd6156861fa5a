"""Commands that are killed or interrupted at any moment: started again, they end with the result of one that was not.

python tests/test_endings.py --seed 2 --kills 5         # by each signal; the tests do one
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bayescaling as bs
import pytest
import xarray as xr

LANGUAGE = """
[corpus]
vocabulary = 32
[model]
sizes = [[4, 1], [8, 1]]
heads = 2
context = 8
[training]
updates = 40
batch_tokens = 256
evaluations = 4
evaluation_tokens = 2048
save_seconds = 0
[[stages]]
name = "rates"
learning_rates = [0.003, 0.03]
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
evaluations = 4
evaluation_problems = 50
save_seconds = 0
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
"""
LAW = ["--data", "runs.csv", "--noise", "normal", "--option", "scatter=one"]
SHORT = ["--draws", "60", "--tune", "60", "--chains", "2"]
# Arguments of each but for its place; the path that it writes; whether the message of an interrupt names what is saved.
COMMANDS = {
    "fit": (["fit", "chinchilla", *LAW, *SHORT], "fit.nc", False),
    "calibrate": (["calibrate", "chinchilla", *LAW, *SHORT, "--simulations", "4"], "ranks.nc", True),
    "report": (["report", "--data", "runs.csv", "--law", "chinchilla", *SHORT, "--processes", "2"], "report", True),
    "train": (["train", "language.toml", "--device", "cpu"], "trained", True),
    "arithmetic": (["arithmetic", "arithmetic.toml", "--device", "cpu"], "arithmetic", True),
}
# Exit status after each signal. Python itself ends by SIGINT while it starts, which a shell shows as 130 too.
STATUSES = {"SIGKILL": (-9,), "SIGINT": (130, -2), "SIGTERM": (143, -15), "SIGHUP": (129, -1)}
PATIENCE = 900  # seconds that a small job may take on a busy machine
# Keys of how long something took, and when and where it was made.
TIMES = ("seconds", "wall_seconds", "created", "provenance", "timings", "execution")


class Place:
    """A folder with the files that the commands read, and a separate cache."""

    def __init__(self, folder):
        self.folder = Path(folder)
        bs.load("chinchilla_runs").iloc[::4][["parameters", "tokens", "loss"]].to_csv(
            self.folder / "runs.csv", index=False
        )
        (self.folder / "language.toml").write_text(LANGUAGE, encoding="utf-8")
        (self.folder / "arithmetic.toml").write_text(ARITHMETIC, encoding="utf-8")

    def start(self, name):
        """Start a command that signals end as in a terminal, in a new process group."""
        words, out, _ = COMMANDS[name]
        return subprocess.Popen(
            [sys.executable, "-m", "bayescaling.commands.cli", *words, "--out", out],
            cwd=self.folder,
            env=os.environ | {"XDG_CACHE_HOME": str(self.folder / "cache"), "NUMBA_OPT": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=heed,
        )

    def result(self, name):
        """Run a command to its end and return what it wrote, but for times."""
        process = self.start(name)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        out = self.folder / COMMANDS[name][1]
        contents = {}
        for path in sorted([out] if out.is_file() else out.rglob("*")):
            if path.suffix == ".nc":
                contents[str(path.relative_to(self.folder))] = plain(path)
            elif path.name == "results.json":
                contents[path.name] = timeless(json.loads(path.read_text(encoding="utf-8")))
            elif path.suffix == ".csv":
                contents[path.name] = path.read_text(encoding="utf-8")
        return contents

    def remove(self, name):
        """Remove what a command wrote and cached."""
        for path in (self.folder / COMMANDS[name][1], self.folder / "cache"):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def heed():
    """Let a child be interrupted even where SIGINT is ignored, as a shell does for its background jobs."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def plain(path):
    """Return the numbers of a netCDF file."""
    with xr.open_datatree(path, engine="h5netcdf", decode_timedelta=False) as tree:
        groups = {}
        for node in tree.subtree:
            dataset = node.to_dataset().drop_vars(TIMES, errors="ignore")
            groups[node.path] = {name: repr(x.values.tolist()) for name, x in dataset.variables.items()}
    return groups


def timeless(document):
    """Return a document without its times."""
    if isinstance(document, dict):
        return {key: timeless(value) for key, value in document.items() if key not in TIMES}
    return [timeless(item) for item in document] if isinstance(document, list) else document


def faults_of(name, place, rng, count):
    """Stop a command by each signal at random moments, run it to its end, and yield the faults."""
    begun = time.monotonic()
    expected = place.result(name)
    seconds = time.monotonic() - begun
    place.remove(name)
    for signal_name in [name for name in STATUSES for _ in range(count)]:
        process = place.start(name)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=rng.uniform(0.2, 1) * seconds)
        process.send_signal(getattr(signal, signal_name))
        _, errors = process.communicate(timeout=PATIENCE) if process.returncode is None else ("", "")
        if process.returncode not in (0, *STATUSES[signal_name]):
            yield f"{signal_name}: ended with {process.returncode}: {errors[-300:]}"
        elif process.returncode > 0 and ("Traceback" in errors or "interrupted" not in errors):
            yield f"{signal_name}: said {errors[-500:]}"
        elif process.returncode > 0 and COMMANDS[name][2] and "resumes" not in errors:
            yield f"{signal_name}: does not say what is kept: {errors[-300:]}"
        if process.returncode == 0:  # it was done; else the next goes on from what is there
            place.remove(name)
    if place.result(name) != expected:
        yield "another result than without an end in between"


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
@pytest.mark.thorough
@pytest.mark.parametrize("name", COMMANDS)
def test_however_a_command_ends_nothing_is_lost(name, tmp_path):
    assert list(faults_of(name, Place(tmp_path), random.Random(1), 1)) == []


def main():
    """Try every command as often as requested and print its faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=5, help="of each command, by each signal")
    parser.add_argument("--only", choices=COMMANDS, help="a command")
    asked = parser.parse_args()
    failed = False
    for name in [asked.only] if asked.only else COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            faults = list(faults_of(name, Place(folder), random.Random(f"{asked.seed} {name}"), asked.kills))
        failed = failed or bool(faults)
        print("\n  ".join([f"{name}: {len(faults)} faults", *faults]), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()

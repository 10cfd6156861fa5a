"""Commands that are killed, interrupted or cannot write: no result is lost, and a message states what happened.

python tests/test_endings.py --seed 2 --kills 20        # of each command; the tests do a few of the quickest
"""

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bayescaling as bs
import pytest
import xarray as xr

posix = pytest.mark.skipif(os.name == "nt", reason="signals, pipes and limits are POSIX's")

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
    "report": (["report", "--data", "runs.csv", "--law", "power-compute", *SHORT, "--processes", "2"], "report", True),
    "train": (["train", "language.toml", "--device", "cpu"], "trained", True),
    "arithmetic": (["arithmetic", "arithmetic.toml", "--device", "cpu"], "arithmetic", True),
    "progress-since": (["progress-since", "--years", "2023:2025", *SHORT], "since", False),
    "compare progress": (["compare", "progress", "--json"], None, True),
}
# The command has no settings of its sampler; with the default ones and all specifications it takes minutes.
SHORT_PROGRESS = """
import functools
import bayescaling.inference.progress.fitting as fitting
from bayescaling.models.progress.specifications import SPECIFICATIONS
for number in {*SPECIFICATIONS} - {1, 2, 7, 8, 12, 16}:
    del SPECIFICATIONS[number]
fitting.fit_all = functools.partial(fitting.fit_all, draws=60, tune=60, chains=2)
from bayescaling.commands.cli import main
main()
"""
HERE = Path(__file__).parent
OF_OTHERS = {"numba", "matplotlib", "log.jsonl"}  # what other packages write to the cache, and a log, which grows
LAWS_FOLLOW = ("fit", "calibrate", "--law")
FOLDERS = ("report", "trained", "arithmetic", "since")
SIGNALS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
PATIENCE = 900  # seconds that a small job may take on a busy machine
HANG = 10  # seconds in which an interrupted command ends, in addition to its work
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

    def start(self, name, out=None, **options):
        """Start a command, in a new process group."""
        words, usual, _ = COMMANDS[name]
        place = [] if usual is None else ["--out", str(usual if out is None else out)]
        more = options.pop("environment", {})
        environment = os.environ | {"XDG_CACHE_HOME": str(self.folder / "cache"), "NUMBA_OPT": "1"} | more
        program = ["-c", SHORT_PROGRESS] if name == "compare progress" else ["-m", "bayescaling.commands.cli"]
        command = [sys.executable, *program, *words, *place]
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.Popen(command, cwd=self.folder, env=environment, text=True, start_new_session=True, **options)

    def done(self, name, out=None, **options):
        """Run a command; return its exit status, output and errors."""
        process = self.start(name, out, **options)
        try:
            streams = process.communicate(timeout=PATIENCE)
        finally:
            end(process)
        return process.returncode, *streams

    def result(self, name):
        """What a command wrote, but for times: what two runs of it must have in common."""
        contents = {}
        usual = self.folder / (COMMANDS[name][1] or "none")
        for path in sorted([usual] if usual.is_file() else usual.rglob("*")):
            if path.suffix == ".nc":
                contents[str(path.relative_to(self.folder))] = plain(path)
            elif path.name == "results.json":
                contents[path.name] = timeless(json.loads(path.read_text(encoding="utf-8")))
            elif path.suffix == ".csv":
                contents[path.name] = path.read_text(encoding="utf-8")
        return contents

    def remove(self, name):
        """Remove what a command wrote and cached."""
        for path in (self.folder / (COMMANDS[name][1] or "none"), self.folder / "cache"):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def leftovers(self):
        """Return the partial files of killed commands, next to their results and in the cache."""
        return [path for path in self.folder.rglob(".*.partial") if "checkpoints" not in path.parts]


def end(process):
    """End a process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def orphans(process):
    """Processes that a command started and that outlive it by `HANG` seconds."""
    for _ in range(10 * HANG):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return False
        if not alive(process.pid):
            return False
        time.sleep(0.1)
    return True


def alive(group):
    """Return whether a process of a group runs, other than a zombie."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(words[2]) == group and words[0] != "Z":
                return True
    return False


def plain(path):
    """Return the numbers of a netCDF file and its attributes."""
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


# Kills ----------------------------------------------------------------------------------------------------------------


def kills(name, place, rng, count):
    """Kill a command at random moments, run it to its end, and yield the faults."""
    began = time.monotonic()
    status, printed, errors = place.done(name)
    seconds = time.monotonic() - began
    if status:
        yield f"ended with {status}: {errors[-500:]}"
        return
    expected = place.result(name), timeless(json.loads(printed)) if "--json" in COMMANDS[name][0] else None
    place.remove(name)
    for _ in range(count):
        process = place.start(name)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=rng.uniform(0.1, 1) * seconds)
        process.kill()
        left, errors = orphans(process), process.stderr.read() if not process.stderr.closed else ""
        end(process)
        if left:
            yield "a process was left"
        if "Traceback" in errors:
            yield errors
        # A command that ended is started again; else its finished parts are retained.
        if process.returncode == 0:
            place.remove(name)
    status, printed, errors = place.done(name)
    if status:
        yield f"ended with {status} after kills: {errors[-500:]}"
    elif (place.result(name), timeless(json.loads(printed)) if expected[1] else None) != expected:
        yield "another result than without kills"
    if place.leftovers():
        yield f"left {place.leftovers()}"
    place.remove(name)


# Signals, pipes -------------------------------------------------------------------------------------------------------


def listening(process):
    """Wait until a command is more than Python that starts, as the system tells by the signals that it takes."""
    status, end = Path(f"/proc/{process.pid}/status"), time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            taken = dict(line.split(":\t", 1) for line in status.read_text(encoding="utf-8").splitlines())["SigCgt"]
            if int(taken, 16) & (1 << (signal.SIGTERM - 1)):
                return
        time.sleep(0.05)


def reset():
    """Let a child be interrupted even where SIGINT is ignored, as a shell does for its background jobs."""
    for signal_name in SIGNALS:
        signal.signal(getattr(signal, signal_name), signal.SIG_DFL)


def signals(name, place, rng, count):
    """Send each signal at random moments."""
    began = time.monotonic()
    place.done(name)
    seconds = time.monotonic() - began
    for signal_name, status in SIGNALS.items():
        for _ in range(count):
            place.remove(name)
            process = place.start(name, preexec_fn=reset)
            listening(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=rng.random() * seconds)
            sent = time.monotonic()
            process.send_signal(getattr(signal, signal_name))
            try:
                printed, errors = process.communicate(timeout=6 * HANG)
            except subprocess.TimeoutExpired:
                yield f"{signal_name}: went on"
                end(process)
                continue
            except ValueError:  # it had ended
                end(process)
                continue
            if time.monotonic() - sent > HANG:
                yield f"{signal_name}: ended {time.monotonic() - sent:.0f} s later"
            left = orphans(process)
            end(process)
            if printed and process.returncode == -getattr(signal, signal_name):
                continue  # it was done, and Python itself was ending
            if process.returncode not in (0, status):
                yield f"{signal_name}: ended with {process.returncode}: {errors[-300:]}"
            elif process.returncode and ("Traceback" in errors or "interrupted" not in errors):
                yield f"{signal_name}: said {errors[-500:]}"
            elif process.returncode and COMMANDS[name][2] and "resumes" not in errors:
                yield f"{signal_name}: does not say what is kept: {errors[-300:]}"
            if left:
                yield f"{signal_name}: a process was left"
    place.remove(name)


def pipes(name, place, rng, count):
    """Close what a command reads from and writes to."""
    reader, writer = os.pipe()
    os.close(reader)
    process = place.start(name, stdout=writer)
    os.close(writer)
    _, errors = process.communicate(timeout=PATIENCE)
    if process.returncode != 141 or "Traceback" in errors or "Exception" in errors:
        yield f"closed output: ended with {process.returncode}: {errors[-500:]}"
    place.remove(name)
    status, _, errors = place.done(name, preexec_fn=lambda: os.close(0), stdin=None)
    if status or "Traceback" in errors:
        yield f"closed input: ended with {status}: {errors[-500:]}"
    place.remove(name)


# Places ---------------------------------------------------------------------------------------------------------------


def bad_places(name, place):
    """Make bad outputs, one after the other: what each is, its path, how it is limited and what it may end with."""
    folder, is_folder = place.folder / "bad", COMMANDS[name][1] in FOLDERS
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for kind, path in (("file", "plain"), ("link to it", "link")):
        (folder / "plain").write_text("earlier", encoding="utf-8")
        if path == "link":
            (folder / path).symlink_to("plain")
        yield kind, folder / path, {}, (2,) if is_folder else (0, 2)
    (folder / "full").mkdir()
    (folder / "full" / "x").write_text("earlier", encoding="utf-8")
    yield "folder", folder / "full", {}, (0,) if is_folder else (2,)
    os.mkfifo(folder / "pipe")
    yield "pipe", folder / "pipe", {}, (2,)
    if os.geteuid() == 0:
        with contextlib.suppress(PermissionError):
            os.mknod(folder / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
            yield "device", folder / "device", {}, (2,)
    (folder / "loop").symlink_to("loop")
    yield "link to itself", folder / "loop", {}, (2,)
    yield "no folder to stand in", folder / "plain" / "out", {}, (2,)
    yield "read-only place", Path("/proc/out"), {}, (2,)
    yield "too long a name", folder / ("n" * 300), {}, (2,)
    yield "full disk", folder / "new", {"preexec_fn": limited}, (2,)


def limited():
    """Let no file be larger than a fraction of what is written, as on a full disk."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


def outputs(name, place, rng, count):
    """Write to what cannot be written to, and twice at once to what can."""
    if COMMANDS[name][1] is None:
        return
    for kind, path, options, statuses in bad_places(name, place):
        before = path.lstat() if os.path.lexists(path) else None
        status, printed, errors = place.done(name, path, **options)
        if status not in statuses or "Traceback" in errors or "Exception" in errors:
            yield f"{kind}: ended with {status}: {errors[-500:]}"
        elif status and (printed or len(errors.strip().splitlines()[-1]) > 600 or "error: " not in errors):
            yield f"{kind}: said {errors[-500:]}"
        after = path.lstat() if os.path.lexists(path) else None
        if status and before and (after is None or (before.st_mode, before.st_ino) != (after.st_mode, after.st_ino)):
            yield f"{kind}: it is another one now"
        if status and kind == "file" and path.read_text(encoding="utf-8") != "earlier":
            yield f"{kind}: the earlier file is lost"
        if list((place.folder / "bad").rglob(".*.partial")):
            yield f"{kind}: left {list((place.folder / 'bad').rglob('.*.partial'))}"
    place.done(name)
    expected = place.result(name)
    place.remove(name)
    both = [place.start(name) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=PATIENCE)
        if process.returncode not in (0, 2) or "Traceback" in errors:
            yield f"two at once: ended with {process.returncode}: {errors[-500:]}"
    if place.done(name)[0] or place.result(name) != expected:
        yield "two at once: another result"
    place.remove(name)


# What is on disk ------------------------------------------------------------------------------------------------------


def flushes(name, place, rng, count):
    """Yield the files that were not flushed to disk before they were renamed, or whose folder was not flushed later."""
    log = place.folder / "flushed.jsonl"
    path = os.pathsep.join(filter(None, [str(HERE / "flushed"), os.environ.get("PYTHONPATH")]))
    earlier = {*place.folder.iterdir(), log}
    status, _, errors = place.done(name, environment={"FLUSHED": str(log), "PYTHONPATH": path})
    if status:
        yield f"ended with {status}: {errors[-500:]}"
        return
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    renamed = [(position, line) for position, line in enumerate(lines) if "renamed" in line]
    for position, line in renamed:
        if line["unflushed"]:
            yield f"{line['renamed']}: renamed before {line['unflushed']} was flushed"
        if not any(
            (after.get("flushed"), after["process"]) == (line["folder"], line["process"]) for after in lines[position:]
        ):
            yield f"{line['renamed']}: its folder was not flushed"
    flushed = {number for _, line in renamed for number in line["files"]}
    written = [path for path in place.folder.rglob("*") if path.is_file() and not earlier & {path, *path.parents}]
    for path in written:
        if path.stat().st_ino not in flushed and not OF_OTHERS & {*path.parts}:
            yield f"{path}: written where it is"
    if not renamed or not written:
        yield "wrote nothing"
    place.remove(name)


SORTS = {"kills": kills, "signals": signals, "pipes": pipes, "outputs": outputs, "flushes": flushes}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_commands_ask_for_laws_that_there_are():
    asked = [
        words[words.index(option) + 1] for words, _, _ in COMMANDS.values() for option in LAWS_FOLLOW if option in words
    ]
    assert len(asked) == 3 and set(asked) <= set(bs.laws.names())


@posix
@pytest.mark.thorough
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("name", ["fit", "calibrate", "report", "train", "arithmetic", "progress-since"])
def test_however_a_command_ends_nothing_is_lost(sort, name, place):
    assert list(SORTS[sort](name, place, random.Random(1), 1)) == []


def main():
    """Try every command as often as requested and print a table of counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=20, help="of each command")
    parser.add_argument("--signals", type=int, default=3, help="of each signal to each command")
    parser.add_argument("--only", action="append", help="a sort, or a command")
    asked = parser.parse_args()
    only = set(asked.only or ())
    counts = {"kills": asked.kills, "signals": asked.signals, "pipes": 1, "outputs": 1, "flushes": 1}
    faults = collections.Counter()
    print(f"{'command':<20}{'sort':<10}{'times':>7}{'faults':>8}{'seconds':>9}", flush=True)
    for name in COMMANDS:
        for sort, attempt in SORTS.items():
            if only and not (only <= {name, sort}):
                continue
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                place = Place(folder)
                messages = list(attempt(name, place, random.Random(f"{asked.seed} {name} {sort}"), counts[sort]))
            times = counts | {"signals": len(SIGNALS) * asked.signals, "pipes": 2, "outputs": 11}
            faults[sort] += len(messages)
            print(f"{name:<20}{sort:<10}{times[sort]:>7}{len(messages):>8}{time.monotonic() - began:>9.0f}", flush=True)
            for message in messages:
                print(f"  {message}", flush=True)
    sys.exit(bool(sum(faults.values())))


if __name__ == "__main__":
    main()

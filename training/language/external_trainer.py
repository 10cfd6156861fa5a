"""Runs that another program trains: its command, and the losses that it logs."""

import contextlib
import json
import math
import os
import re
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ...datasets.logs import COLOURS, read_line
from ...datasets.wording import printable, quoted, shortened
from ...errors import InputError
from ..engine.loop import DIVERGED, FINISHED, PAUSED, Outcome

NAME = re.compile(r"\{(\w*)\}")
# Seconds between looks at the log, at least, and times as long as the last one took; seconds to end after a signal.
LOOK, TIMES, ENDING = 0.2, 50, 30.0
NAMES = (
    *("name", "folder", "d_model", "layers", "heads", "context", "vocabulary", "updates", "warmup", "learning_rate"),
    *("schedule", "optimiser", "decay", "batch_tokens", "sequences", "evaluate_every", "evaluation_tokens", "seed"),
    *("experts", "active"),
)


@dataclass(frozen=True)
class ExternalTrainer:
    """Another program that trains the models of a sweep, on text that it has.

    Parameters
    ----------
    vocabulary : int
        Number of tokens of its text.
    command : str
        What starts a run, from the folder in which the sweep is started, such as ``"torchrun train.py
        --n_layer={layers} --max_iters={updates} --out_dir={folder}"``. Names in braces stand for settings of the run.
    pattern : str
        Regular expression for a line of its log, with groups step and loss_eval, and loss_train where it is logged. By
        default the lines of nanoGPT, litgpt and torchtitan are read.

    Examples
    --------
    >>> from bayescaling.training.language.external_trainer import ExternalTrainer
    >>> log = ["step 0: train loss 3.9, val loss 3.9", "step 50: train loss 2.25, val loss 2.5"]
    >>> ExternalTrainer(64, "train").evaluations(log)
    [{'step': 50, 'loss_eval': 2.5, 'loss_train': 2.25}]
    """

    vocabulary: Annotated[int, Field(ge=2)]
    command: str
    pattern: str = ""

    def __post_init__(self):
        try:
            words, groups = shlex.split(self.command), set(re.compile(self.pattern).groupindex)
            used = {name for word in words for name in NAME.findall(word)}
        except (ValueError, re.error) as error:
            key = "pattern" if isinstance(error, re.error) else "command"
            raise InputError(f"corpus: {key} cannot be read ({error}); correct it") from error
        if not words:
            raise InputError("corpus: command is empty; give the program that trains a run")
        if unknown := used - set(NAMES):
            raise InputError(f"corpus: command has {{{min(unknown)}}}; give one of {', '.join(NAMES)}")
        if self.pattern and not {"step", "loss_eval"} <= groups:
            raise InputError("corpus: pattern has no groups step and loss_eval; name them (?P<step>...)")

    @property
    def fingerprint(self):
        """What the runs depend on."""
        return json.dumps(["trainer", self.vocabulary, self.command, self.pattern])

    def check(self, context):
        """Accept every context."""

    def evaluations(self, lines):
        """Read the evaluations in a log, as `engine.loop.Outcome` has them, the last one of each step."""
        evaluations, values = {}, {}
        for line in lines:
            values = values | self._values(line)
            loss = values.pop("loss_eval", None)
            if loss is not None and values.get("step", 0) > 0:
                one = {"step": int(values["step"]), "loss_eval": loss, "loss_train": values.get("loss_train", math.nan)}
                evaluations[one["step"]] = one
        return [evaluations[step] for step in sorted(evaluations)]

    def _values(self, line):
        """Return the numbers of a line by name: step, loss_eval, loss_train."""
        if self.pattern:
            match = re.search(self.pattern, COLOURS.sub("", line))
            cells = {} if match is None else match.groupdict()
        else:
            cells = {"loss_eval" if x.startswith("val") else x: cell for x, cell in read_line(line).items()}
            cells["loss_train"] = cells.get("train_loss", cells.get("loss"))
        try:
            return {x: float(cells[x]) for x in ("step", "loss_eval", "loss_train") if cells.get(x) not in (None, "")}
        except ValueError as error:
            raise InputError(
                f"corpus: pattern reads {quoted(line.strip())}, which has no number; correct it"
            ) from error

    def train(self, run, folder, guard, report):
        """Start the program for a run, with its log in a folder, and wait for it; return an `engine.loop.Outcome`."""
        folder.mkdir(parents=True, exist_ok=True)
        path, parts = folder / "trainer.log", (run, run.model, run.optimisation)
        settings = {name: getattr(part, name) for part in parts for name in NAMES if hasattr(part, name)}
        settings |= {"folder": folder / "output", "evaluate_every": run.evaluate_at[0]}
        words = [NAME.sub(lambda match: str(settings[match[1]]), word) for word in shlex.split(self.command)]
        begun, shown, took = time.monotonic(), 0, 0.0
        with path.open("ab", buffering=0) as log, _held(folder) as held:
            log.write(b"\n")  # a program that was stopped may have left a part of a line
            try:
                program = subprocess.Popen(
                    words, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, pass_fds=held
                )
            except OSError as error:
                raise InputError(f"corpus: command {quoted(words[0])} cannot be started ({error.strerror})") from error
            try:
                while not _ended(program, max(LOOK, TIMES * took)):
                    looked = time.monotonic()
                    evaluations = self.evaluations(_lines(path)[:-1])
                    took = time.monotonic() - looked
                    if len(evaluations) > shown:
                        guard.progressed()
                        shown = len(evaluations)
                        if report:
                            report(evaluations[-1]["step"], evaluations[-1]["loss_train"])
                    if guard.expired:
                        return Outcome(PAUSED, evaluations)
            finally:
                _end(program)
        evaluations = self.evaluations(_lines(path))
        self._check(program.returncode, path, evaluations, run.optimisation.updates)
        for one in evaluations:
            one["wall_seconds"] = time.monotonic() - begun if one is evaluations[-1] else math.nan
        return Outcome(FINISHED if math.isfinite(evaluations[-1]["loss_eval"]) else DIVERGED, evaluations)

    def _check(self, status, path, evaluations, updates):
        if status:
            last = next((line.strip() for line in reversed(_lines(path)) if line.strip()), "no output")
            what = f"the command ended with status {status} ({shortened(last)})"
            raise InputError(f"{printable(path)}: {what}; correct it")
        last = evaluations[-1]["step"] if evaluations else None
        if last != updates:
            raise InputError(
                f"{printable(path)}: the last held-out loss is after {last or 'no'} updates, the run has {updates}; "
                "validate at its end, for example every {evaluate_every} updates, or give a pattern"
            )


@contextlib.contextmanager
def _held(folder):
    """Lock a folder; yields what the program is given too, so that it holds the lock where this process is killed."""
    if os.name != "posix":
        yield ()
        return
    import fcntl

    with open(folder / "lock", "wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{printable(folder)}: the program that a sweep started here still runs; end it, then start again"
            ) from None
        yield (file.fileno(),)


def _lines(path):
    """Read the lines of a log, of which the last may be in writing; bytes that are not text are replaced."""
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def _ended(program, seconds):
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(seconds)
    return program.returncode is not None


def _end(program):
    """End a program and those that it started, after some time by force, unless it has ended."""
    for number, patience in ((signal.SIGTERM, ENDING), (signal.SIGKILL, None)):
        if program.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, number)
            _ended(program, patience)

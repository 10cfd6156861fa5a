"""The progress of a sweep: its log, and a bar in a terminal or a line a minute elsewhere, on standard error."""

import contextlib
import json
import math
import time

from ...datasets.progress_messages import Bar, lasting
from ...errors import InputError
from .outline import Times


class Log:
    """A log to which lines are appended, and which `track` takes too, as a dict. A number that is not finite is null.

    A run that resumes repeats the steps since its last checkpoint: of lines of one step the last counts.
    """

    def __init__(self, path, track=None):
        self.path, self.track = path, track
        # A killed process may have left a part of a line.
        self.start = "" if not path.exists() or path.read_bytes()[-1:] in (b"", b"\n") else "\n"

    def write(self, entry):
        """Append a line with the time, in seconds since 1970."""
        entry = {"time": time.time()} | entry
        line = {key: None if isinstance(x, float) and not math.isfinite(x) else x for key, x in entry.items()}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self.start + json.dumps(line) + "\n")
        self.start = ""
        if self.track is not None:
            self.track(entry)

    def reporter(self, run, shown):
        """Make the report that the training loop calls, which logs the loss and then shows it."""

        def report(step, loss):
            rate = run.optimisation.rate(step - 1)
            entry = {"run": run.name, "step": step, "loss_train": loss, "learning_rate": rate}
            self.write(entry | {"tokens": run.tokens_done(step)})
            shown(step, loss)

        return report


class Follower(Bar):
    """Shows how far a round is, by the time of its runs, else by FLOP, with tokens per second and time left."""

    times = None

    def __init__(self, wanted):
        super().__init__(wanted)
        self._wanted = wanted

    def measure(self, sweep, device):
        """Measure how long runs of a sweep take on a device, once."""
        if self.times is None and self._wanted:
            with contextlib.suppress(InputError):
                self.times = Times(sweep, device)

    def _work(self, run):
        return run.matmul_flop if self.times is None else self.times.estimate(run)

    def stage(self, name, runs, done):
        """Begin a round of runs, of which those in `done` are finished."""
        self.name, self.count, self.index, self.first = name, len(runs), len(done), None
        self.done, self.total = (float(sum(map(self._work, part))) for part in (done, runs))
        self.begin(self.total, self.done)

    def reporter(self, run):
        """Make a report that shows how far a run is that is trained here."""
        last, speed, work = [time.perf_counter(), None], "", self._work(run) / run.matmul_flop

        def report(step, loss):
            nonlocal speed
            now = time.perf_counter()
            if last[1] is not None and step > last[1]:
                tokens = (run.tokens_done(step) - run.tokens_done(last[1])) / (now - last[0])
                speed = f"{tokens:,.0f} tokens/s"
            last[:] = now, step
            text = f"{self.name} {min(self.index + 1, self.count)}/{self.count}, loss {loss:.3f}"
            self.show(text, self.done + work * run.flop_done(step), speed)

        return report

    def finished(self, run):
        """Count a run as done."""
        self.index += 1
        self.done += self._work(run)
        self.show(f"{self.name} {self.index}/{self.count}", self.done, last=self.index == self.count)

    def show(self, text, done, speed="", *, last=False):
        """Show what was done, and the time left at the speed since the first report."""
        now, left = time.perf_counter(), ""
        start, before = self.first = self.first or (now, done)
        if done > before and not last:
            left = f"{lasting((now - start) * (self.total - done) / (done - before))} left"
        self.move(text, done, speed, left, last=last)

"""The progress of a sweep, on standard error: a bar in a terminal, and a line a minute elsewhere."""

import contextlib
import time

from ...datasets.progress_messages import Bar, lasting
from ...errors import InputError
from .times import Times


class Follower:
    """Shows how far a round is, by the time of its runs, else by FLOP, with tokens per second and time left."""

    times = None

    def __init__(self, wanted):
        self._wanted, self._bar = wanted, Bar(wanted)

    def __enter__(self):
        self._bar.__enter__()
        return self

    def __exit__(self, *error):
        self._bar.__exit__(*error)

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
        self._bar.begin(self.total, self.done)

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
            self.move(text, self.done + work * run.flop_done(step), speed)

        return report

    def finished(self, run):
        """Count a run as done."""
        self.index += 1
        self.done += self._work(run)
        self.move(f"{self.name} {self.index}/{self.count}", self.done, last=self.index == self.count)

    def move(self, text, done, speed="", *, last=False):
        """Show what was done, and the time left at the speed since the first report."""
        now, left = time.perf_counter(), ""
        start, before = self.first = self.first or (now, done)
        if done > before and not last:
            left = f"{lasting((now - start) * (self.total - done) / (done - before))} left"
        self._bar.move(text, done, speed, left, last=last)

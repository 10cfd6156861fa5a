"""The progress of a sweep, on standard error: a bar in a terminal, and a line a minute elsewhere."""

import contextlib
import sys
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from ...errors import InputError
from .times import Times

# Seconds between two lines, and over which the speed is estimated.
EVERY, PERIOD = 60.0, 86400.0


class Bar:
    """Shows the work of a round, by the time of its runs, else by FLOP, with tokens per second and time left.

    It shows nothing unless that is wanted. The time left counts from the first report.
    """

    def __init__(self, wanted=True):
        self.wanted, self.times, terminal = wanted, None, sys.stderr.isatty()
        self.in_lines = wanted and not terminal
        columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()]
        columns += [TextColumn("{task.fields[speed]}"), TimeRemainingColumn()]
        options = {"disable": not (wanted and terminal), "speed_estimate_period": PERIOD}
        self.bar = Progress(*columns, console=Console(stderr=True), get_time=lambda: time.perf_counter(), **options)

    def __enter__(self):
        self.bar.start()
        return self

    def __exit__(self, *error):
        self.bar.stop()

    def measure(self, sweep, device):
        """Measure how long runs of a sweep take on a device, once."""
        if self.wanted and self.times is None:
            with contextlib.suppress(InputError):
                self.times = Times(sweep, device)

    def _work(self, run):
        return run.matmul_flop if self.times is None else self.times.estimate(run)

    def stage(self, name, runs, done):
        """Begin a round of runs, of which those in `done` are finished."""
        self.name, self.count, self.index = name, len(runs), len(done)
        self.done, total = (float(sum(map(self._work, part))) for part in (done, runs))
        self.shown_at = time.perf_counter()
        self.task = self.bar.add_task(name, total=total, completed=self.done, speed="")

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
        """Move the bar, or write a line, if it is time."""
        self.bar.update(self.task, completed=done, description=text, **({"speed": speed} if speed else {}))
        now, task = time.perf_counter(), self.bar.tasks[self.task]
        if self.in_lines and (last or now - self.shown_at >= EVERY):
            self.shown_at = now
            left = "" if last or task.time_remaining is None else f"{_duration(task.time_remaining)} left"
            parts = [text, speed, f"{task.percentage:.0f}% of the round's work", left]
            print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)


def _duration(seconds):
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"

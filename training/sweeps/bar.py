"""The progress of a sweep, on standard error: a bar in a terminal, and a line a minute elsewhere."""

import contextlib
import sys
import time

from ...errors import InputError
from .times import Times

# Seconds between two lines.
EVERY = 60.0


def shown(wanted):
    """Return what shows progress, if that is wanted: a `Bar` where standard error is a terminal, else `Lines`."""
    if not wanted:
        return Follower()
    return Bar() if sys.stderr.isatty() else Lines()


class Follower:
    """Follows a round by the time of its runs, else by FLOP, and shows nothing. A subclass does when it `moved`."""

    times = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def measure(self, sweep, device):
        """Measure how long runs of a sweep take on a device, once."""
        if self.times is None and type(self) is not Follower:
            with contextlib.suppress(InputError):
                self.times = Times(sweep, device)

    def begun(self):
        """Begin to show a round."""

    def moved(self, text, done, speed, *, last=False):
        """Show what was done."""

    def _work(self, run):
        return run.matmul_flop if self.times is None else self.times.of(run)

    def stage(self, name, runs, done):
        """Begin a round of runs, of which those in `done` are finished."""
        self.name, self.count, self.index = name, len(runs), len(done)
        self.done, self.total = (float(sum(map(self._work, part))) for part in (done, runs))
        self.begun()

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
            self.moved(text, self.done + work * run.flop_done(step), speed)

        return report

    def finished(self, run):
        """Count a run as done."""
        self.index += 1
        self.done += self._work(run)
        self.moved(f"{self.name} {self.index}/{self.count}", self.done, "", last=self.index == self.count)


class Bar(Follower):
    """Shows a bar over the work of a round, with tokens per second and time left."""

    def __enter__(self):
        # Loaded only when a bar is shown.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = [
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
        ]
        self.bar = Progress(*columns, console=Console(stderr=True))
        self.bar.start()
        return self

    def __exit__(self, *error):
        self.bar.stop()

    def begun(self):
        """Begin a bar."""
        self.task = self.bar.add_task(self.name, total=self.total, completed=self.done, speed="")
        self.move = self.bar.reset

    def moved(self, text, done, speed, *, last=False):
        """Move the bar; the time left counts from the first report."""
        more = {"speed": speed} if speed else {}
        move, self.move = self.move, self.bar.update
        move(self.task, completed=done, description=text, **more)


class Lines(Follower):
    """Writes a line a minute, and one when a round is done."""

    def begun(self):
        """Begin a round."""
        self.shown_at, self.start = time.perf_counter(), None

    def moved(self, text, done, speed, *, last=False):
        """Write a line, if it is time; the time left counts from the first report."""
        now = time.perf_counter()
        if self.start is None:
            self.start, self.before = now, done
        if now - self.shown_at < EVERY and not last:
            return
        self.shown_at = now
        parts = [text, speed, f"{done / self.total:.0%} of the round's work"]
        if not last and done > self.before:
            parts.append(f"{_duration((now - self.start) * (self.total - done) / (done - self.before))} left")
        print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)


def _duration(seconds):
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"

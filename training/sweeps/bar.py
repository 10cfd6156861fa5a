"""A progress bar of a sweep, on standard error."""

import time

from ..engine.hardware import ceiling, chosen_precision


class Silence:
    """Shows no progress."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def stage(self, name, runs, done):
        """Begin a round of runs, of which those in `done` are finished."""

    def reporter(self, run, device):
        """Make the report that the training loop calls, or None."""

    def finished(self, run):
        """Count a run as done."""


class Bar(Silence):
    """Shows a bar over the FLOP of a round, with tokens per second and the share of the hardware's peak."""

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

    def stage(self, name, runs, done):
        """Begin a round."""
        self.name, self.count, self.index = name, len(runs), len(done)
        self.done = float(sum(run.matmul_flop for run in done))
        self.task = self.bar.add_task(name, total=sum(run.matmul_flop for run in runs), completed=self.done, speed="")

    def reporter(self, run, device):
        """Make a report that moves the bar while a run is trained here."""
        peak = ceiling(device, chosen_precision(run.precision, device)).flop_per_second
        last, speed = [time.perf_counter(), None], ""

        def report(step, loss):
            nonlocal speed
            now = time.perf_counter()
            if last[1] is not None and step > last[1]:
                tokens = (run.tokens_done(step) - run.tokens_done(last[1])) / (now - last[0])
                flop = (run.flop_done(step) - run.flop_done(last[1])) / (now - last[0])
                speed = f"{tokens:,.0f} tokens/s, {flop / peak:.1%} of peak"
            last[:] = now, step
            text = f"{self.name} {self.index + 1}/{self.count}, loss {loss:.3f}"
            self.bar.update(self.task, completed=self.done + run.flop_done(step), description=text, speed=speed)

        return report

    def finished(self, run):
        """Count a run as done."""
        self.index += 1
        self.done += run.matmul_flop
        self.bar.update(self.task, completed=self.done, description=f"{self.name} {self.index}/{self.count}")

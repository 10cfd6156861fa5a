"""Show the progress of long work on standard error, where somebody watches."""

import sys
import time
from contextlib import contextmanager
from threading import Timer

EVERY = 60.0  # seconds between two lines of a `Bar` where there is no terminal
PATIENCE = 10.0  # seconds after which a person who waits is told for what


def say(text, wanted):
    """Print a line that names what runs next."""
    if wanted:
        print(text, file=sys.stderr, flush=True)


@contextmanager
def announced(text, wanted):
    """Print a line that names work before it, or where none is `wanted` only if it lasts and somebody waits for it."""
    say(text, wanted)
    timer = Timer(PATIENCE, say, (f"{text}; progress=True shows how far it is", True))
    timer.daemon = True
    if not wanted and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def counted(items, text, wanted, *, total=None, done=0):
    """Yield items behind a bar that shows how many are done, of a total that counts those `done` before."""
    from rich.console import Console
    from rich.progress import track

    return track(items, text, total=total, completed=done, console=Console(stderr=True), disable=not wanted)


def lasting(seconds):
    """Write a time in words: "12 s", "3 min", "2.5 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class Bar:
    """Shows how much of some work is done: a bar in a terminal, elsewhere a line a minute, nothing unless `wanted`."""

    def __init__(self, wanted):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description:<28}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
                   TextColumn("{task.fields[note]}"))  # fmt: skip
        self._bar = Progress(*columns, console=console, disable=not (wanted and console.is_terminal))
        self._lines, self._last = wanted and not console.is_terminal, time.monotonic()

    def __enter__(self):
        self._bar.start()
        return self

    def __exit__(self, *_):
        self._bar.stop()

    def begin(self, total, done=0.0):
        """Begin work of a total, of which a part was done before."""
        self._task = self._bar.add_task("", total=total, completed=done, note="")

    def move(self, text, done, *notes, last=False):
        """Show what runs and how much of the work is done; the `last` line of some work is written at any time."""
        note = ", ".join(filter(None, notes))
        self._bar.update(self._task, description=text, completed=done, note=note)
        if self._lines and (last or time.monotonic() - self._last >= EVERY):
            self._last = time.monotonic()
            say(", ".join(filter(None, (text, f"{self._bar.tasks[self._task].percentage:.0f}% done", note))), True)

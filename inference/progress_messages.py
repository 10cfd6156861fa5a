"""Write the progress of long work to standard error, where somebody watches."""

import sys


def say(text, wanted):
    """Print a line that names what runs next."""
    if wanted:
        print(text, file=sys.stderr, flush=True)


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

"""The command ``gpu-check``: this machine's training checked."""

import typer

from . import options


def gpu_check(out: options.Out, minutes: options.Minutes = 9.0, device: options.Device = None):
    """Check a GPU: that it gives the results that it should, how fast, and then the runs that want one.

    It resumes: give the same command again until it says that it is finished.
    """
    from ..training.check.runner import check

    found = check(out, minutes=minutes, device=device, told=lambda line: print(line, flush=True))
    if not all(each.get("ok", True) for group in ("agreement", "speed") for each in found[group].values()):
        raise typer.Exit(1)

"""The command ``gpu-check``: this machine's training checked."""

from typing import Annotated

from typer import Exit, Option

from . import options


def gpu_check(
    out: options.Out,
    minutes: Annotated[float, Option(help="Minutes after which no step begins.")] = 9.0,
    device: options.Device = None,
):
    """Check the results and the speed of a GPU."""
    from ..training.check.runner import check

    results = check(out, minutes=minutes, device=device, announce=lambda line: print(line, flush=True))
    if not all(entry.get("ok", True) for group in ("agreement", "speed") for entry in results[group].values()):
        raise Exit(1)

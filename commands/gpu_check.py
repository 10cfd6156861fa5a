"""The command ``gpu-check``: this machine's training checked."""

from typing import Annotated

from typer import Exit, Option

from . import options


def gpu_check(
    out: options.Out,
    minutes: Annotated[float, Option(help="Minutes after which to save and stop.")] = 9.0,
    device: options.Device = None,
):
    """Check the results and the speed of a GPU.

    It resumes: repeat the command until it reports that it is finished.
    """
    from ..training.check.runner import check

    result = check(out, minutes=minutes, device=device, announce=lambda line: print(line, flush=True))
    if not all(entry.get("ok", True) for group in ("agreement", "speed") for entry in result[group].values()):
        raise Exit(1)

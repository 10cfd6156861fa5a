"""How a command ends that a signal, a closed pipe or a full disk stopped: its exit status and one line on why."""

import os
import signal
import sys
from contextlib import suppress

CLOSED_PIPE = 141
INTERRUPTED = 130
KEPT = {
    "report": "finished stages are kept, and the same command goes on from there",
    "calibrate": "simulations in the file of --out are kept, and the same command goes on from there",
    "train": "what was trained is saved, and the same command goes on from there",
    "compare progress": "specifications that were fitted are kept, and the same command goes on from there",
    "arithmetic": "what was trained is saved, and the same command goes on from there",
}
_received = []


def open_streams():
    """Open the streams that were closed before the command began; what it opens next would else be in their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def closed_pipe():
    """Write no more to standard output, which nobody reads; returns the exit status."""
    _forget_output()
    return CLOSED_PIPE


def full_disk(error):
    """Say which file could not be read or written, standard output among them; returns the exit status."""
    _forget_output()
    name = "standard output, or a temporary file" if error.filename is None else os.fsdecode(error.filename)
    print(f"error: {name}: {error.strerror or error}; make room, and start again".replace("\n", " "), file=sys.stderr)
    return 2


def _forget_output():
    with suppress(OSError, ValueError):
        descriptor = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def listen():
    """Let a request to end the process, or the end of its terminal, interrupt a command as Ctrl-C does."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(getattr(signal, name), _interrupt)


def _interrupt(number, _):
    _received.append(number)
    raise KeyboardInterrupt


def taken(numbers):
    """Take note of signals that were received elsewhere; the exit status is that of the last."""
    _received.extend(numbers)


def interrupted():
    """Say that the command was interrupted and what it kept; returns the exit status."""
    kept = next((KEPT[name] for name in (" ".join(sys.argv[1:3]), *sys.argv[1:2]) if name in KEPT), None)
    # Python notes an interrupt within an exec of text, such as that of a dataclass, and would end by it all the same.
    exec("")
    print("interrupted" + (f"; {kept}" if kept else ""), file=sys.stderr)
    return 128 + _received[-1] if _received else INTERRUPTED

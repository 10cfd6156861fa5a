"""The exit status of a command that a signal, a closed pipe or a full disk stopped, and one line with the cause."""

import os
import signal
import sys
from contextlib import suppress

CLOSED_PIPE = 141
INTERRUPTED = 130
SAVED = {
    "report": "finished stages are cached, and the same command resumes from there",
    "calibrate": "simulations in the file of --out are saved, and the same command resumes from there",
    "train": "training so far is saved, and the same command resumes from there",
    "compare progress": "fitted specifications are cached, and the same command resumes from there",
    "arithmetic": "training so far is saved, and the same command resumes from there",
}
_received = []


def closed_pipe():
    """Discard further standard output, which nobody reads, and return the exit status."""
    _forget_output()
    return CLOSED_PIPE


def full_disk(error):
    """Print which file could not be read or written, standard output included, and return the exit status."""
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
    """Record signals that were received elsewhere; the last one determines the exit status."""
    _received.extend(numbers)


def interrupted():
    """Print that the command was interrupted and what it saved, and return the exit status."""
    saved = next((SAVED[name] for name in (" ".join(sys.argv[1:3]), *sys.argv[1:2]) if name in SAVED), None)
    print("interrupted" + (f"; {saved}" if saved else ""), file=sys.stderr)
    return 128 + _received[-1] if _received else INTERRUPTED

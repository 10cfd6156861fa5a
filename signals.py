"""How a command ends that a signal or a closed pipe stopped: its exit status and one line on what is kept."""

import signal
import sys

CLOSED_PIPE = 141
INTERRUPTED = 130
KEPT = {
    "report": "finished stages are kept, and the same command goes on from there",
    "calibrate": "simulations in the file of --out are kept, and the same command goes on from there",
    "train": "what was trained is saved, and the same command goes on from there",
    "arithmetic": "what was trained is saved, and the same command goes on from there",
}
_received = []


def listen():
    """Let a request to end the process, or the end of its terminal, interrupt a command as Ctrl-C does."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(getattr(signal, name), _interrupt)


def _interrupt(number, _):
    _received.append(number)
    raise KeyboardInterrupt


def interrupted():
    """Say that the command was interrupted and what it kept; returns the exit status."""
    kept = KEPT.get(next(iter(sys.argv[1:]), ""))
    print("interrupted" + (f"; {kept}" if kept else ""), file=sys.stderr)
    return 128 + _received[-1] if _received else INTERRUPTED

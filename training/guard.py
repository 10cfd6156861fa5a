"""When to stop: a deadline, or a signal to end."""

import contextlib
import signal
import threading
import time

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Guard:
    """Says whether a run should stop at the next update.

    Parameters
    ----------
    deadline : float, optional
        Seconds since the epoch, as `time.time` gives them, so that it holds in other processes too.
    """

    def __init__(self, deadline=None):
        self.deadline = deadline
        self.signalled = None
        self._before = None

    @property
    def expired(self):
        """Whether the deadline is past or a signal came."""
        return self.signalled is not None or (self.deadline is not None and time.time() >= self.deadline)

    @contextlib.contextmanager
    def listening(self):
        """Note SIGINT and SIGTERM instead of dying of them, in the main thread; a second one has its usual effect."""
        if self._before is not None or threading.current_thread() is not threading.main_thread():
            yield self
            return
        self._before = {number: signal.getsignal(number) or signal.SIG_DFL for number in SIGNALS}
        for number in SIGNALS:
            signal.signal(number, self._note)
        try:
            yield self
        finally:
            for number, handler in self._before.items():
                signal.signal(number, handler)
            self._before = None

    def _note(self, number, frame):
        self.signalled = number
        signal.signal(number, self._before[number])

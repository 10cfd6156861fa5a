"""When to stop: a time limit that counts from the first progress, or a signal to end."""

import contextlib
import functools
import signal
import threading
import time
import uuid

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Guard:
    """What stops a run before its next update: a time limit in seconds, or a signal.

    The time limit counts from the first progress. So every slice of a sweep makes some, even if it takes long to read
    finished runs and to build a model. A copy sent to another process is the guard of that process for the same slice,
    which `key` identifies: its runs share one clock there.
    """

    def __init__(self, time_limit=None, key=None):
        self.time_limit, self.key = time_limit, key or uuid.uuid4().hex
        self.signalled = None
        self._deadline = None
        self._before = None

    def __reduce__(self):
        return _share_guard, (self.time_limit, self.key)

    @property
    def expired(self):
        """Whether the time limit is past or a signal came."""
        return self.signalled is not None or (self._deadline is not None and time.monotonic() >= self._deadline)

    def progressed(self):
        """Record that an update was made or a part of a grid evaluated; the first one starts the clock."""
        if self._deadline is None and self.time_limit is not None:
            self._deadline = time.monotonic() + self.time_limit

    @contextlib.contextmanager
    def listening(self):
        """Record SIGINT and SIGTERM in the main thread instead of ending; a second one has its usual effect."""
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


@functools.lru_cache(maxsize=16)
def _share_guard(time_limit, key):
    return Guard(time_limit, key)

"""Where independent tasks run: here one after another, in processes of this machine, or on a Dask cluster.

The result of a task depends on its arguments alone, its seed included. So numbers do not depend on where a task ran, or
on how many others ran at the same time.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import tempfile
import threading
import uuid
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..clusters import connected
from ..errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = __name__.partition(".")[0]
MOST_DEATHS = 3  # of workers one after another, without a piece that was finished in between
THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
_CREW = ContextVar("crew", default=None)
_OWN = threading.local()
_LIMITED = ContextVar("limited", default=False)


@cache
def _libraries(scipy):
    """Find the libraries of linear algebra, with or without that of SciPy."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit libraries of linear algebra to one thread for the length of a block, or of a function that it decorates.

    The matrices of a fit have few columns: several threads take up to eight times as long.
    """
    if _LIMITED.get():
        yield
        return
    if "scipy" in sys.modules:
        import scipy.linalg  # noqa: F401, its library of algebra is loaded before the threads are limited

    token = _LIMITED.set(True)
    try:
        with _libraries("scipy" in sys.modules).limit(limits=1, user_api="blas"):
            yield
    finally:
        _LIMITED.reset(token)


@contextmanager
def parallel(processes: int | None = None, *, scheduler: str | None = None) -> Iterator[None]:
    """Run independent tasks in parallel for the length of a block.

    Refits of leave-one-out, simulated tables of a calibration, cutoffs, alternative laws, specifications of progress
    and prior grids are such tasks. Numbers are those of a run without, to the digit, on machines of one sort. A task
    whose worker is killed is done again by another.

    Parameters
    ----------
    processes : int, optional
        Processes of this machine. A script that uses them must have its work under ``if __name__ == "__main__":``, for
        each process imports it.
    scheduler : str, optional
        In their place the address of a Dask scheduler, such as ``"tcp://host:8786"``, whose workers have this package.

    Raises
    ------
    InputError
        If both or neither are given, the number is no whole number above 0, or the scheduler does not answer.

    Examples
    --------
    >>> import bayescaling as bs
    >>> with bs.parallel(1):
    ...     fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    """
    if (processes is None) == (scheduler is None):
        raise InputError("parallel: give either processes or the address of a scheduler")
    if scheduler is not None:
        with connected(scheduler) as client, _chosen(_Cluster(client)):
            yield
        return
    if not isinstance(processes, int) or isinstance(processes, bool) or processes < 1:
        raise InputError(f"processes is {processes!r}; give a whole number of at least 1")
    if processes == 1:
        yield
        return
    crew = _Processes(processes)
    try:
        with _chosen(crew):
            yield
    finally:
        crew.close()


@contextmanager
def _chosen(crew):
    before = _CREW.set(crew)
    try:
        yield
    finally:
        _CREW.reset(before)


def processes():
    """Return how many processes of this machine do tasks, set by `parallel`; 1 without it, and on a cluster."""
    crew = _CREW.get()
    return crew.count if isinstance(crew, _Processes) else 1


def mapped(function, shared, items):
    """Yield the result of a task for each item, in their order, as done in the workers of `parallel` or here.

    The function is of a module, ``function(shared, item)``; it must not depend on anything else, nor change its
    arguments. What all tasks need, `shared`, is sent to a worker once.
    """
    crew = _CREW.get()
    if crew is None or len(items) < 2:
        for item in items:
            yield function(shared, item)
        return
    for result, warned in crew.mapped(_sent((function, shared)), [_sent(item) for item in items]):
        for message, category in warned:
            warnings.warn(message, category, stacklevel=3)
        yield result


def _sent(what):
    try:
        return pickle.dumps(what)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(f"work cannot be handed to another process ({error}); do it without parallel") from error


def _work(key, content, item):
    """Do a task in a worker; returns its result and the warnings that it gave."""
    try:
        function, shared = _shared(key, content)
        item = pickle.loads(item)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"a worker lacks what the work needs ({error}); define it in a module that workers can import"
        ) from None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        result = function(shared, item)
    return result, [(str(warning.message), warning.category) for warning in caught]


def _shared(key, content):
    """Read what tasks share, once in a thread."""
    if getattr(_OWN, "key", None) != key:
        _OWN.shared = pickle.loads(content if isinstance(content, bytes) else Path(content).read_bytes())
        _OWN.key = key
    return _OWN.shared


class _Processes:
    """Processes of this machine, started when they are needed."""

    def __init__(self, count):
        self.count, self._pool = count, None
        self._context = multiprocessing.get_context("spawn")
        self._ends, self._here = self._context.Pipe(duplex=False)

    def mapped(self, shared, items):
        with tempfile.TemporaryDirectory() as folder:
            path, key = Path(folder) / "shared", uuid.uuid4().hex
            path.write_bytes(shared)
            futures = [self._submit(_work, key, path, item) for item in items]
            try:
                for i in range(len(items)):
                    yield self._result(futures, i, lambda j: self._submit(_work, key, path, items[j]))
                    futures[i] = None
            finally:
                for future in filter(None, futures):
                    future.cancel()

    def _result(self, futures, i, again):
        """Wait for a task; it and what follows are done again where a worker that had some ended."""
        for _ in range(MOST_DEATHS + 1):
            try:
                return futures[i].result()
            except BrokenProcessPool:
                self._pool = None
                futures[i:] = [future if _is_done(future) else again(j) for j, future in enumerate(futures[i:], i)]
        raise InputError(
            f"worker processes ended {MOST_DEATHS + 1} times before one finished its work; run fewer at a time, which "
            "takes less memory"
        )

    def _submit(self, *work):
        while True:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(self.count, self._context, _begin, (self._ends,))
            try:
                return self._pool.submit(*work)
            except BrokenProcessPool:  # it broke while work was handed to it
                self._pool = None

    def close(self):
        """End the processes, whatever they do."""
        self._here.close()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _is_done(future):
    return future.done() and not isinstance(future.exception(), BrokenProcessPool)


def _begin(ends):
    """Prepare a worker process: it ends where the other end of a pipe is closed, or the process that has it ends.

    Its algebra has one thread, for those of several workers would wait for each other's.
    """
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(dict.fromkeys(THREADS, "1"))  # libraries that are loaded later
    threadpool_limits(1)

    def watch():
        multiprocessing.connection.wait([ends])
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


class _Cluster:
    """Workers of a Dask scheduler."""

    def __init__(self, client):
        self._client = client
        presence = client.run(eval, f"bool(__import__('importlib.util').util.find_spec('{PACKAGE}'))")
        if lacking := [address for address, there in presence.items() if not there]:
            raise InputError(f"scheduler: the worker {lacking[0]} lacks the package {PACKAGE}; install it there")

    def mapped(self, shared, items):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="(?s).*large graph")
            # A result of the cluster itself: where the worker that holds it dies, it is made again.
            content = self._client.submit(bytes, shared, pure=False)
        key = uuid.uuid4().hex
        futures = [self._client.submit(_work, key, content, item, pure=False) for item in items]
        try:
            for future in futures:
                yield future.result()
        finally:
            self._client.cancel(futures)

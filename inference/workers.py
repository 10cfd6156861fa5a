"""Where independent tasks run: here one after another, in processes of this machine, or on a Dask cluster.

The result of a task depends on its arguments alone, its seed included. So numbers do not depend on where a task ran, or
on how many others ran at the same time.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache

from ..clusters import connected
from ..errors import InputError

_CHOSEN = ContextVar("chosen", default=None)  # options of joblib's parallel_config
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
    and prior grids are such tasks. Numbers are those of a run without, to the digit, on machines of one sort.

    Parameters
    ----------
    processes : int, optional
        Processes of this machine. Where one is killed, the call ends; what was finished and saved is kept.
    scheduler : str, optional
        In their place the address of a Dask scheduler, such as ``"tcp://host:8786"``, whose workers have this package.
        A task whose worker is killed is done again by another.

    Raises
    ------
    InputError
        If both or neither are given, the number is no whole number above 0, or the scheduler does not answer. In the
        block, if a process was killed.

    Examples
    --------
    >>> import bayescaling as bs
    >>> with bs.parallel(1):
    ...     fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    """
    if (processes is None) == (scheduler is None):
        raise InputError("parallel: give either processes or the address of a scheduler")
    if scheduler is not None:
        with connected(scheduler) as client, _chosen(backend="dask", client=client):
            yield
        return
    if not isinstance(processes, int) or isinstance(processes, bool) or processes < 1:
        raise InputError(f"processes is {processes!r}; give a whole number of at least 1")
    if processes == 1:
        yield
        return
    try:
        begin = {"initializer": _begin, "initargs": (os.getpid(),)}
        with _chosen(backend="loky", n_jobs=processes, inner_max_num_threads=1, **begin):
            yield
    finally:
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(kill_workers=True)


@contextmanager
def _chosen(**options):
    before = _CHOSEN.set(options)
    try:
        yield
    finally:
        _CHOSEN.reset(before)


def _begin(parent):
    """Prepare a worker: Ctrl-C is left to its parent, which ends its workers; if the parent is killed, so is it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def processes():
    """Return how many processes of this machine do tasks, set by `parallel`; 1 without it, and on a cluster."""
    return (_CHOSEN.get() or {}).get("n_jobs", 1)


def mapped(function, shared, items):
    """Yield the result of a task for each item, in their order, as done in the workers of `parallel` or here.

    The function is ``function(shared, item)``; it must not depend on anything else, nor change its arguments. What all
    tasks need, `shared`, is read by a worker once.
    """
    options = _CHOSEN.get()
    if options is None or len(items) < 2:
        for item in items:
            yield function(shared, item)
        return
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky import BrokenProcessPool

    content = _pickled((function, shared))
    with parallel_config(**options):
        pool = Parallel(return_as="generator", batch_size=1)
    results = pool(delayed(_work)(content, _pickled(item)) for item in items)
    try:
        for result, warned in results:
            for message, category in warned:
                warnings.warn(message, category, stacklevel=3)
            yield result
    except BrokenProcessPool:
        raise InputError(
            "a worker process was killed, perhaps for want of memory; run fewer at a time, and start again: what was "
            "saved is kept"
        ) from None
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of tasks that nobody waits for
            results.close()


def _pickled(work):
    import cloudpickle

    try:
        return cloudpickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(f"work cannot be handed to another process ({error}); do it without parallel") from error


def _work(content, item):
    """Do a task in a worker; return its result and the warnings that it gave."""
    try:
        function, shared = _unpickled(content, threading.get_ident())
        item = pickle.loads(item)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"a worker lacks what the work needs ({error}); define it in a module that workers can import"
        ) from None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        result = function(shared, item)
    return result, [(str(warning.message), warning.category) for warning in caught]


@lru_cache(maxsize=8)
def _unpickled(content, thread):
    """Read what tasks share, once in a thread, so that what one task compiles serves the next."""
    return pickle.loads(content)

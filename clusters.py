"""Where work runs: on the cores of this machine, or on clusters of other machines."""

import os
from contextlib import contextmanager

from .datasets.wording import printable
from .errors import InputError

PATIENCE = 30  # seconds until a worker must be connected


def cores():
    """Count the cores that this process may use.

    Examples
    --------
    >>> cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def connected(address):
    """Connect to a Dask scheduler, such as ``"tcp://host:8786"``, for the length of a block; yields its client.

    `InputError` is raised if Dask is not installed, no scheduler answers, or no worker is connected.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise InputError("scheduler: Dask is not installed; pip install 'bayescaling[training]'") from error
    try:
        client = Client(address, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise InputError(f"scheduler: {printable(address)} does not answer; start one with dask scheduler") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise InputError(
                f"scheduler: {printable(address)} has no worker after {PATIENCE} s; start some with dask worker"
            ) from None
        yield client

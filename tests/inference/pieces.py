"""Tasks that worker processes import by name."""

import os
import time
import warnings
from pathlib import Path

import bayescaling as bs


def named_process(shared, item):
    return shared, item, os.getpid()


def noted(folder, item):
    (Path(folder) / f"{item}").touch()
    return 10 * item


def warned(shared, item):
    warnings.warn(f"chains of {item} disagree", bs.DiagnosticWarning, stacklevel=1)
    return item


def refused(shared, item):
    raise bs.InputError(f"row {item} cannot be used")


def waiting(folder, item):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(600)


if __name__ == "__main__":
    import sys

    from bayescaling.inference.workers import mapped

    with bs.parallel(2):
        list(mapped(waiting, sys.argv[1], [1, 2]))


def threads_of_algebra(shared, item):
    import scipy.linalg  # noqa: F401, loads a further library of linear algebra
    from threadpoolctl import threadpool_info

    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

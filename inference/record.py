"""The record of what a fit was: all that is needed to do it again."""

import functools
import importlib.metadata
import platform
import time

from ..datasets import sha256
from ..datasets.wording import source_of

SCHEMA = 4  # of a fit: 1 held no draws on the real line, 2 named sizes otherwise, 3 stored tables otherwise
PACKAGES = ("pymc", "pytensor", "nutpie", "numpyro", "jax", "numpy", "xarray", "arviz-stats")


def table_entry(rows):
    """Return the fingerprint, number of rows and source of a table, and what reading changed, in plain values."""
    entry = {"sha256": sha256(rows), "rows": len(rows), "source": str(source_of(rows))}
    return entry | ({"reading": rows.attrs["reading"]} if "reading" in rows.attrs else {})


def origins(law, table):
    """Return all that a fit follows from but seed, sampler and settings, in plain values."""
    law = law.suited(table)
    return {"name": law.name, "options": law.options, "data": table_entry(law.rows(table))}


def record(*, law, reference, rows, seed, sampler, settings, seconds, diagnostics, log_likelihood):
    """Make the record of a fit, in plain values."""
    return {
        "schema": SCHEMA,
        "law": {"name": law.name, "options": law.options, "reference": reference},
        "priors": law.described_priors(),
        "data": table_entry(rows),
        "seed": seed,
        "sampler": sampler,
        "settings": settings.asked,
        "seconds": seconds,
        "versions": versions(),
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "diagnostics": diagnostics,
        "log_likelihood": log_likelihood,
    }


@functools.cache
def versions():
    """Return versions of this package, of Python and of the packages that made a number."""
    from .. import __version__

    numbers = {"bayescaling": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            numbers[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return numbers

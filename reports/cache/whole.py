"""A whole report: written again if nothing has changed. It imports nothing slow."""

import json
import warnings

from ...datasets.files import sha256_of_file, written_whole
from ...errors import DiagnosticWarning
from . import store

RESULTS, PAGE, POSTERIORS = "results.json", "index.html", "posteriors"


def restore(out, key):
    """Write the texts of a report again, and issue its warnings.

    Returns
    -------
    dict
        The content of results.json. It is None if the report was not saved under this key, or if stages that it lacked
        have been made since. It is also None if its folder is missing or holds other posteriors.
    """
    report = store.get(key)
    if (
        report is None
        or not (out / POSTERIORS).is_dir()
        or any(store.has(name) != there for name, there in report["stages"].items())
    ):
        return None
    if any(_digest(out / POSTERIORS / name) != digest for name, digest in report["posteriors"].items()):
        return None
    write_pages(out, report["document"], report["html"])
    warn_again(report["warned"])
    return json.loads(report["document"])


def save(out, key, stage):
    """Save the texts of a report made with `stage`, which of its stages were cached, and digests of its posteriors."""
    report = {"document": (out / RESULTS).read_text(encoding="utf-8"), "html": (out / PAGE).read_text(encoding="utf-8")}
    report["posteriors"] = {path.name: _digest(path) for path in (out / POSTERIORS).glob("*.nc")}
    report |= {"warned": stage.warned, "stages": {name: store.has(name) for name in stage.keys}}
    store.put(key, report)


def _digest(path):
    try:
        return sha256_of_file(path)
    except OSError:
        return None


def warn_again(messages, level=3):
    """Issue the diagnostic warnings of cached results."""
    for message in messages:
        warnings.warn(message, DiagnosticWarning, stacklevel=level)


def write_pages(out, document, html):
    """Write the texts of a report."""
    _write(document, out / RESULTS)
    write_page(out, html)


def write_page(out, html):
    """Write the page of a report."""
    _write(html, out / PAGE)


def _write(text, path):
    with written_whole(path, parents=False) as partial:
        partial.write_text(text, encoding="utf-8")

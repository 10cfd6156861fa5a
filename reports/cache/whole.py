"""A whole report: written again if nothing has changed. It imports nothing slow."""

import json
import warnings

from ...datasets.files import sha256_of_file, written_whole
from ...errors import DiagnosticWarning
from . import store

RESULTS, PAGE, POSTERIORS = "results.json", "index.html", "posteriors"
CLAIMS = {  # names of the pages of claims, by the section of the template of the answers
    "progress": "how-fast",
    "since": "since-2023",
    "sizes": "how-big",
    "time_horizons": "time-horizons",
    "embeddings": "embeddings",
    "arithmetic": "abacus",
    "small_models": "known-floor",
    "experts": "experts",
    "speedruns": "speedruns",
    "mixtures": "mixtures",
}
FILES = (PAGE, "appendix.html", *(f"{name}.html" for name in CLAIMS.values()))


def restore(out, key):
    """Write the texts of a report again, issue its warnings, and return the content of results.json.

    It is None if the report was not saved under this key, or if stages that it lacked have been made since. It is also
    None if its folder is missing or holds other posteriors.
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
    write_pages(out, report["pages"], report["document"])
    warn_again(report["warned"])
    return json.loads(report["document"])


def save(out, key, stage):
    """Save the texts of a report made with `stage`, which of its stages were cached, and digests of its posteriors."""
    report = {"document": (out / RESULTS).read_text(encoding="utf-8")}
    report["pages"] = {name: (out / name).read_text(encoding="utf-8") for name in FILES if (out / name).exists()}
    report["posteriors"] = {path.name: _digest(path) for path in (out / POSTERIORS).glob("*.nc")}
    report |= {"warned": stage.warned, "stages": {name: store.has(name) for name in stage.keys}}
    store.put(key, report)


def _digest(path):
    try:
        return sha256_of_file(path)
    except OSError:
        return None


def warn_again(messages, level=3, category=DiagnosticWarning):
    """Issue the warnings of cached results."""
    for message in messages:
        warnings.warn(message, category, stacklevel=level)


def write_pages(out, pages, document=None):
    """Write the pages of a report by the names of their files, and its numbers; remove those of an earlier report."""
    for name in FILES:
        if name not in pages:
            (out / name).unlink(missing_ok=True)
    for name, text in (pages | ({} if document is None else {RESULTS: document})).items():
        with written_whole(out / name, parents=False) as partial:
            partial.write_text(text, encoding="utf-8")

"""A whole report: written again if nothing has changed; otherwise its pages are first made in parallel."""

import json
import pickle
import tempfile
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ...datasets import load
from ...datasets.files import sha256_of_file, written_whole
from ...errors import DiagnosticWarning
from ...inference.workers import mapped, processes
from ..output import PAGE, POSTERIORS, RESULTS, write_pages, write_posteriors
from ..pages import PAGES
from ..parts import Part
from . import store
from .stages import Stages, warn_again

INTERVAL = 0.3  # seconds between looks at what the workers wrote
JOURNAL, PART = "journal", ".part"


def restore(out, key):
    """Write the texts of a report again, and issue its warnings.

    Returns
    -------
    dict
        The content of results.json. It is None if the report was not saved under this key, if stages that it lacked
        have been made since, or if its folder holds other posteriors.
    """
    report = store.get(key)
    if report is None or any(store.has(name) != there for name, there in report["stages"].items()):
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


def parts(names):
    """Divide pages into sets that do not depend on each other, from what each takes from others.

    Examples
    --------
    >>> parts(["chinchilla", "embeddings", "arithmetic"])
    [['chinchilla', 'embeddings'], ['arithmetic']]
    """
    sets = {}
    for name in names:
        sets[name] = next((sets[other] for other in PAGES[name].after if other in sets), [])
        sets[name].append(name)
    return [part for name, part in sets.items() if part[0] == name]


def make_ahead(names, out, written, preview, shown, **choice):
    """Make the stages of pages in parallel if there are processes for it, save them and write their posteriors.

    The names of the posteriors are added to `written`. The bar of `shown`, which are `Stages`, shows what runs.
    `preview` is called with the parts of the report that are ready, each time that another is.

    Returns
    -------
    set of str
        Keys of the stages that were made.
    """
    apart = parts(names)
    if processes() < 2 or len(apart) < 2:
        return set()
    with tempfile.TemporaryDirectory() as folder:
        folder, over, keys = Path(folder), threading.Event(), set()
        with ThreadPoolExecutor(1) as executor:
            watch = executor.submit(_watch, folder, shown, preview, over)
            try:
                shared = out, names, folder, {"journal": folder / JOURNAL, **choice}
                for posteriors, stage_keys in mapped(_make, shared, apart):
                    written.update(posteriors)
                    keys.update(stage_keys)
            finally:
                over.set()
        watch.result()
    return keys


def _make(shared, names):
    """Make the stages of some pages and write their posteriors; returns the names of these, and the keys of stages.

    The part of each page is written to a folder, for a preview.
    """
    out, every, folder, choice = shared
    published, posteriors = load("published"), {}
    with Stages([], False, **choice) as stage, warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)  # issued when the report is composed
        for page in (PAGES[name] for name in names):
            findings = page.analyse(stage, published, posteriors, **choice["options"])
            whole = page.taken(every) <= set(names)
            drawn = page.drawn(stage, findings, published, every) if whole else ()
            with written_whole(folder / f"{page.name}{PART}") as partial:
                partial.write_bytes(pickle.dumps(Part.of(page, findings, *drawn)))
            write_posteriors(out, findings.posteriors)
            posteriors |= findings.posteriors
    return list(posteriors), stage.keys


def _watch(folder, shown, preview, over):
    """Show which stages begin and end, and preview the parts that are ready, until the work is over."""
    seen, previewed, journal = 0, set(), folder / JOURNAL
    while not over.wait(INTERVAL):
        lines = journal.read_text(encoding="utf-8").split("\n")[:-1] if journal.exists() else []
        for line in lines[seen:]:
            (shown.show if line[0] == "+" else shown.advance)(line[1:])
        seen = len(lines)
        there = set(folder.glob(f"*{PART}"))
        if there > previewed:
            previewed = there
            preview([pickle.loads(path.read_bytes()) for path in sorted(there)])

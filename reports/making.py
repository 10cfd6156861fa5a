"""The making of a report on the built-in tables, its pages in parallel where there are processes for it."""

import json
import pickle
import tempfile
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from ..datasets import load
from ..datasets.files import written_whole
from ..errors import DiagnosticWarning, TableNote
from ..inference.fitting import check_options
from ..inference.workers import mapped, processes
from .cache.stages import Stages
from .cache.whole import save, write_pages
from .html.render import render
from .output import prepare, write, write_posteriors
from .pages import PAGES
from .pages.front.page import front
from .parts import Part, document_of, shown
from .results import to_json

TITLE = "How fast do algorithms improve, and how big should the next model be?"
INTERVAL = 0.3  # seconds between looks at what the workers wrote
JOURNAL, PART = "journal", ".part"


def made(out, pages, key, progress, **choice):
    """Compose a report from the results of its stages, computed now or read from the cache."""
    published, options, written = load("published"), choice["options"], set()
    settings = {name: x for name, x in options.items() if name not in ("seed", "sampler")}
    check_options(options["seed"], options["sampler"], settings)
    prepare(out)
    chosen = [page for name, page in PAGES.items() if name in pages]
    posteriors, parts = {}, []
    names = [name for page in chosen for name in page.stages]
    ahead = partial(make_ahead, [page.name for page in chosen], out, written, partial(_preview, out, chosen))
    with Stages(names, progress, ahead=partial(ahead, **choice), **choice) as stage:
        for page in chosen:
            findings = page.analyse(stage, published, posteriors, **options)
            posteriors |= findings.posteriors
            if not written:
                _preview(out, chosen, [*parts, Part.of(page, findings)])
            parts.append(Part.of(page, findings, *page.drawn(stage, findings, published, pages)))
        stage.show("page")
        document = document_of(parts, published, stage.seconds)
        write(out, document, posteriors, TITLE, shown(parts, document), stage.warned, front(document), written=written)
        save(out, key, stage)
    return json.loads(to_json(document))


def _preview(out, chosen, parts):
    """Write the page of the parts of a report that are ready, if others are still to come."""
    there = {part.name: part for part in parts}
    coming = [page.title for page in chosen if page.name not in there or not there[page.name].sections]
    if not coming:
        return
    parts = [there[page.name] for page in chosen if page.name in there]
    document = document_of(parts, load("published"), {})
    write_pages(out, render(TITLE, shown(parts, document), document, [], front(document), coming=coming))


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
    """Make the stages of pages in parallel if there are processes for it, and return the keys of those made, a set.

    They are saved, and their posteriors are written, whose names are added to `written`. The bar of `shown`, which are
    `Stages`, shows what runs. `preview` is called with the parts of the report that are ready, each time that another
    is.
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
        for category in (DiagnosticWarning, TableNote):  # issued when the report is composed
            warnings.simplefilter("ignore", category)
        for page in (PAGES[name] for name in names):
            findings = page.analyse(stage, published, posteriors, **choice["options"])
            _put(folder / f"{page.name}-{PART}", Part.of(page, findings))  # its answer; read before the whole part
            whole = page.taken(every) <= set(names)
            drawn = page.drawn(stage, findings, published, every) if whole else ()
            _put(folder / f"{page.name}{PART}", Part.of(page, findings, *drawn))
            write_posteriors(out, findings.posteriors)
            posteriors |= findings.posteriors
    return list(posteriors), stage.keys


def _put(path, part):
    with written_whole(path) as partial:
        partial.write_bytes(pickle.dumps(part))


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

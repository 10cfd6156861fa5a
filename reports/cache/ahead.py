"""Pages of a report made in parallel: each worker fills the cache, from which the report is then put together."""

import tempfile
import threading
import warnings
from pathlib import Path

from ...datasets import load, sha256
from ...errors import DiagnosticWarning
from ...inference.workers import mapped, processes
from ..output import write_posteriors
from ..pages import PAGES
from . import kept
from .stages import Stages

LOOKED = 0.3  # seconds between looks at what workers say


def parts(names):
    """Divide pages into sets that do not depend on each other, from what each takes from others.

    Examples
    --------
    >>> parts(["chinchilla", "embeddings", "arithmetic"])
    [['chinchilla', 'embeddings'], ['arithmetic']]
    """
    found = []
    for name in names:
        own = next((part for part in found if set(part) & set(PAGES[name].after)), None)
        if own is None:
            found.append([name])
        else:
            own.append(name)
    return found


def make_ahead(names, out, written, shown, *, full, fresh, options):
    """Make the stages of pages in parallel, where `parallel` says so, keep them and write their posteriors.

    Parameters
    ----------
    names : sequence of str
        Of pages.
    out : Path
        Folder of the report.
    written : set of str
        Gets the names of the posteriors.
    shown : Stages
        Its bar shows what runs.
    full, fresh : bool
    options : dict
        As `report` hands to its stages.

    Returns
    -------
    set of str
        Keys of the stages that were made.
    """
    apart = parts([name for name in names if not (full and PAGES[name].alone)])
    if processes() < 2 or len(apart) < 2:
        return set()
    with tempfile.TemporaryDirectory() as folder:
        journal, over, keys = Path(folder) / "journal", threading.Event(), set()
        watch = threading.Thread(target=_watch, args=(journal, shown, over))
        watch.start()
        try:
            shared = journal, out, names, full, fresh, options
            for posteriors, made in mapped(_made, shared, _longest_first(apart)):
                written.update(posteriors)
                keys.update(made)
        finally:
            over.set()
            watch.join()
    return keys


def _longest_first(apart):
    """Put those sets of pages first whose stages took longest here, or are most where that is not known."""
    times = kept.times()
    stages = [[stage for name in part for stage in PAGES[name].stages] for part in apart]
    lengths = [(sum(times.get(stage, 0.0) for stage in each), len(each)) for each in stages]
    return [part for _, part in sorted(zip(lengths, apart, strict=True), reverse=True)]


def _made(shared, names):
    """Make the stages of some pages and write their posteriors; returns the names of these, and the keys of stages.

    The rest is in the cache.
    """
    journal, out, every, full, fresh, options = shared
    published, posteriors = load("published"), {}
    with (
        Stages([], False, full=full, fresh=fresh, journal=journal, options=options) as stage,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", DiagnosticWarning)  # said when the report is put together
        for page in (PAGES[name] for name in names):
            own = stage.of(tables={name: sha256(load(name)) for name in page.tables})
            found = page.analyse(own, published, posteriors, **options)
            if page.taken(every) <= set(names):
                page.drawn(own, found, published, every)
            write_posteriors(out, found.posteriors)
            posteriors |= found.posteriors
    return list(posteriors), stage.keys


def _watch(journal, shown, over):
    seen = 0
    while not over.wait(LOOKED):
        lines = journal.read_text(encoding="utf-8").split("\n")[:-1] if journal.exists() else []
        for line in lines[seen:]:
            (shown.show if line[0] == "+" else shown.advance)(line[1:])
        seen = len(lines)

"""The report: everything on the built-in tables, as one HTML page, results.json and the posteriors."""

import copy
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

from ..datasets import load, sha256
from ..datasets.wording import unknown
from ..errors import DiagnosticWarning, InputError
from ..inference.fitting.fit import check_options
from ..inference.quantities.verdict import keep_verdict, verdict_kept
from . import kept, results
from .output import prepare, write
from .pages import PAGES


class Stages:
    """Makes the results of the stages of a long job, or takes them from the cache; a bar shows which one runs.

    Parameters
    ----------
    names : sequence of str
    progress : bool
        Show the bar, on standard error.
    fresh : bool
        Make every result, whatever is kept.
    **settings
        What all results follow from.

    Attributes
    ----------
    seconds : dict of str to float
        What making each result took, whenever that was.
    warned : list of str
        Diagnostic warnings, those of kept results too.
    """

    def __init__(self, names, progress, *, fresh=False, **settings):
        self.seconds, self.warned = {}, []
        self._names, self._progress, self._fresh, self._settings = names, progress, fresh, settings

    def __enter__(self):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), disable=not self._progress)
        self._bar.start()
        self._task = self._bar.add_task("", total=len(self._names))
        return self

    def __exit__(self, *_):
        self._bar.stop()

    def show(self, name):
        """Show which stage runs."""
        self._bar.update(self._task, description=name)

    def of(self, **more):
        """Return the stages of a part of the job, whose results follow from more than the settings."""
        part = copy.copy(self)
        part._settings = self._settings | more
        return part

    def update(self, found, name, make, **more):
        """Set the attributes of `found` that ``make(found)`` sets, or those kept; parameters as for a call."""

        def changed():
            before, own = vars(found), copy.copy(found)
            vars(own).update({attribute: _copied(value) for attribute, value in before.items()})
            make(own)
            return {name: value for name, value in vars(own).items() if not _same(value, before.get(name))}

        vars(found).update(self(name, changed, **more))

    def __call__(self, name, make, *, judged=(), **more):
        """Return the result of a stage, made now or kept.

        Parameters
        ----------
        name : str
        make : callable
            Without arguments.
        judged : sequence of DataTree
            Fits that the stage judges, so that each has its verdict in its record, however the result is had.
        **more
            What the result follows from besides the settings.
        """
        self.show(name)
        key = kept.key_of(stage=name, **self._settings, **more)
        found = None if self._fresh else kept.get(key)
        if found is None:
            start = time.perf_counter()
            with _collected() as warned:
                result = make()
            found = {"result": result, "seconds": round(time.perf_counter() - start, 3), "warned": warned}
            kept.put(key, found | {"verdicts": [verdict_kept(fit) for fit in judged]})
        else:
            for fit, verdict in zip(judged, found["verdicts"], strict=True):
                keep_verdict(fit, verdict)
        self.seconds[name] = found["seconds"]
        for message in found["warned"]:
            self.warned.append(message)
            warnings.warn(message, DiagnosticWarning, stacklevel=3)
        self._bar.advance(self._task)
        return found["result"]


def report(out="report", *, pages=None, seed=1, sampler=None, progress=False, fresh=False, **settings):
    """Fit, compare and decide on the built-in tables, and write the results.

    Parameters
    ----------
    out : path-like
        Folder for ``index.html`` (one self-contained page), ``results.json`` and ``posteriors/*.nc``; made if absent.
    pages : sequence of str, optional
        Names of pages, of ``bayescaling.reports.pages.PAGES``; all by default.
    seed : int
    sampler : {"nutpie", "numpyro", "pymc"}, optional
    progress : bool
        Show a progress bar on standard error.
    fresh : bool
        Make every result again, even where an earlier report kept it in the user's cache.
    **settings
        As for `fit`: ``draws``, ``tune``, ``chains``, ``cores``, ``target_accept``.

    Returns
    -------
    dict
        The content of ``results.json``.

    Raises
    ------
    InputError
        If the folder cannot be written or an option is unknown.
    """
    out = Path(out)
    check_options(seed, sampler, settings)
    pages = tuple(PAGES) if pages is None else pages
    for page in pages:
        if page not in PAGES:
            raise InputError(unknown("page", page, PAGES))
    prepare(out)
    published = load("published")
    options = {"seed": seed, "sampler": sampler, **settings}
    chosen = [page for name, page in PAGES.items() if name in pages]
    document, posteriors, analysed = {"schema": results.SCHEMA}, {}, []
    names = [name for page in chosen for name in page.stages]
    with Stages(names, progress, fresh=fresh, options=options) as stage:
        document["seconds"] = stage.seconds
        for page in chosen:
            own = stage.of(tables={name: sha256(load(name)) for name in page.tables})
            found = page.analyse(own, published, posteriors, **options)
            posteriors |= found.posteriors
            _merge(document, found.document)
            analysed.append((page, found))
        document["provenance"] = results.provenance(posteriors)
        stage.show("page")
        sections = [section for page, found in analysed for section in page.sections(found, published)]
        write(out, document, posteriors, sections, stage.warned)
    return document


def _merge(document, entries):
    """Add a page's entries; a key that an earlier page has too holds a dictionary, which grows."""
    for key, entry in entries.items():
        document[key] = document[key] | entry if key in document else entry


def _copied(value):
    """Copy dicts and lists, those within them too, but nothing that they hold."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _same(one, other):
    """Whether two values are the same object, or dicts and lists of the same objects."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one is other


@contextmanager
def _collected():
    """Give a list that the diagnostic warnings of the block are put into; other warnings are passed on."""
    messages = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DiagnosticWarning)
        yield messages
    for warning in caught:
        if issubclass(warning.category, DiagnosticWarning):
            messages.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

"""The report: everything on the built-in tables, as one HTML page, results.json and the posteriors."""

import time
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ..datasets import load
from ..datasets.wording import unknown
from ..errors import DiagnosticWarning, InputError
from ..files import check_writable
from ..inference import diagnose, save_fit
from ..inference.diagnostics import sentence
from ..inference.fitting.fit import check_options
from . import results
from .pages import PAGES
from .render import render


class Stages:
    """Names and times the stages of a long job; a bar on standard error shows which one runs."""

    def __init__(self, names, progress):
        self.seconds = {}
        self._names = names
        self._progress = progress

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

    @contextmanager
    def __call__(self, name):
        """Time the block as the stage called `name`."""
        self._bar.update(self._task, description=name)
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)
        self._bar.advance(self._task)


def report(out="report", *, pages=tuple(PAGES), seed=1, sampler=None, progress=False, **settings):
    """Fit, compare and decide on the built-in tables, and write the results.

    Parameters
    ----------
    out : path-like
        Folder for ``index.html`` (one self-contained page), ``results.json`` and ``posteriors/*.nc``; made if absent.
    pages : sequence of str
        Names of pages, of ``bayescaling.reports.pages.PAGES``; all by default.
    seed : int
    sampler : {"nutpie", "numpyro", "pymc"}, optional
    progress : bool
        Show a progress bar on standard error.
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
    for page in pages:
        if page not in PAGES:
            raise InputError(unknown("page", page, PAGES))
    _prepare(out)
    published = load("published")
    warned = []
    options = {"seed": seed, "sampler": sampler, **settings}
    chosen = [page for name, page in PAGES.items() if name in pages]
    document, posteriors, analysed = {"schema": results.SCHEMA}, {}, []
    with Stages([*(name for page in chosen for name in page.stages), "page"], progress) as stage:
        document["seconds"] = stage.seconds
        for page in chosen:
            found = page.analyse(stage, partial(_collected, warned), published, posteriors, **options)
            posteriors |= found.posteriors
            _merge(document, found.document)
            analysed.append((page, found))
        document["provenance"] = results.provenance(posteriors)
        with stage("page"):
            sections = [section for page, found in analysed for section in page.sections(found, published)]
            html = render(sections, document, warned, {n: sentence(diagnose(f)) for n, f in posteriors.items()})
    for name, fitted in posteriors.items():
        save_fit(fitted, out / "posteriors" / f"{name.replace(', ', '-').replace(' ', '-')}.nc")
    results.write_text(results.to_json(document), out / "results.json")
    results.write_text(html, out / "index.html")
    return document


def _merge(document, entries):
    """Add a page's entries; a key that an earlier page has too holds a dictionary, which grows."""
    for key, entry in entries.items():
        document[key] = document[key] | entry if key in document else entry


def _prepare(out):
    try:
        (out / "posteriors").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{out}: the folder cannot be made ({error.strerror}); choose another place with --out"
        ) from None
    check_writable(out / "results.json")


@contextmanager
def _collected(warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DiagnosticWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, DiagnosticWarning):
            warned.append(str(warning.message))
            warnings.warn(warning.message, stacklevel=3)

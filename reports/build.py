"""The report: everything on the built-in tables, as one HTML page, results.json and the posteriors."""

import time
import warnings
from contextlib import contextmanager
from pathlib import Path

from ..datasets import load
from ..datasets.wording import unknown
from ..errors import DiagnosticWarning, InputError
from ..inference import diagnose, save_fit
from ..inference.diagnostics import sentence
from ..inference.fitting.fit import check_options
from ..inference.storage import check_writable
from . import (
    arithmetic_analysis,
    arithmetic_page,
    chinchilla_analysis,
    embeddings_analysis,
    embeddings_page,
    progress_analysis,
    progress_page,
    results,
    small_lm_analysis,
    small_lm_page,
)
from .page import render

PAGES = ("chinchilla", "embeddings", "small-models", "arithmetic", "progress")


class Stages:
    """Names and times the stages of a long job, and says on standard error which one runs."""

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


def report(out="report", *, pages=PAGES, seed=1, sampler=None, progress=False, **settings):
    """Fit, compare and decide on the built-in tables, and write what was found.

    Parameters
    ----------
    out : path-like
        Folder for ``index.html`` (one self-contained page), ``results.json`` and ``posteriors/*.nc``; made if absent.
    pages : sequence of {"chinchilla", "embeddings", "small-models", "arithmetic", "progress"}
        What to report on.
    seed : int
    sampler : {"nutpie", "numpyro", "pymc"}, optional
    progress : bool
        Show a progress bar on standard error.
    **settings
        As for `fit`: ``draws``, ``tune``, ``chains``, ``cores``, ``target_accept``.

    Returns
    -------
    dict
        What stands in ``results.json``.

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
    stages = {
        "chinchilla": chinchilla_analysis.STAGES,
        "embeddings": embeddings_analysis.STAGES,
        "small-models": small_lm_analysis.STAGES,
        "arithmetic": arithmetic_analysis.STAGES,
        "progress": progress_analysis.STAGES,
    }
    with Stages([*(name for page in pages for name in stages[page]), "page"], progress) as stage:
        fits, document, makers = {}, {"schema": results.SCHEMA, "seconds": stage.seconds}, []

        def collected():
            return _collected(warned)

        if "chinchilla" in pages:
            found, said, sections = chinchilla_analysis.analyse(stage, collected, published, **options)
            fits |= found
            document |= said
            makers.append(sections)
        if "embeddings" in pages:
            weighed = embeddings_analysis.analyse(
                stage, collected, published, chinchilla=fits.get("chinchilla"), **options
            )
            fits |= weighed.fits | {"configurations": weighed.sizes}
            document["laws"] = document.get("laws", {}) | weighed.document["laws"]
            document["reconciliation"] = weighed.document["reconciliation"]
            makers.append(lambda: embeddings_page.sections(weighed))
        if "small-models" in pages:
            small = small_lm_analysis.analyse(stage, collected, **options)
            fits |= {f"small models, {scheme}": f for scheme, f in small.fits.items()}
            document["small_lm"] = small.document
            weighted = fits.get("embedding-weighted")
            omega = None if weighted is None else weighted["posterior"]["omega"]
            makers.append(lambda: small_lm_page.sections(small, published, omega))
        if "arithmetic" in pages:
            arithmetic = arithmetic_analysis.analyse(stage, collected, **options)
            fits["lengths"] = arithmetic.fits[arithmetic_analysis.MAIN]
            document["lengths"] = arithmetic.document
            makers.append(lambda: arithmetic_page.sections(arithmetic, published))
        if "progress" in pages:
            analysis = progress_analysis.analyse(stage, collected, chinchilla=fits.get("chinchilla"), **options)
            fits |= {f"progress-{k}": f for k, f in analysis.fits.items()}
            document |= analysis.document
            makers.append(lambda: progress_page.sections(analysis, published))
        document["provenance"] = results.provenance(fits)
        with stage("page"):
            sections = [section for make in makers for section in make()]
            html = render(sections, document, warned, {n: sentence(diagnose(f)) for n, f in fits.items()})
    for name, fitted in fits.items():
        save_fit(fitted, out / "posteriors" / f"{name.replace(', ', '-').replace(' ', '-')}.nc")
    results.write_text(results.to_json(document), out / "results.json")
    results.write_text(html, out / "index.html")
    return document


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

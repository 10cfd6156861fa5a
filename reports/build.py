"""The report: everything on the built-in tables, as one HTML page, results.json and the posteriors."""

import time
import warnings
from contextlib import contextmanager
from pathlib import Path

from ..datasets import load
from ..errors import DiagnosticWarning, InputError
from ..inference import allocate, compare, diagnose, fit, loo, save_fit
from ..inference.diagnostics import sentence
from ..inference.fit import check_options
from ..inference.storage import check_writable
from ..models import Chinchilla
from . import chinchilla_page, results
from .estimators import point_estimates
from .page import render

NOISES = {
    "chinchilla": Chinchilla(),
    "chinchilla, reading error": Chinchilla(measurement_error=True),
    "chinchilla, huber noise": Chinchilla(noise="huber"),
    "chinchilla, normal noise": Chinchilla(noise="normal"),
}
BUDGETS = (1e19, 1e20, 1e21, 1e22, 1e23, 5.76e23, 1e24, 1e25, 1e26, 1e27)


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


def report(out="report", *, seed=1, sampler=None, progress=False, **settings):
    """Fit, compare and decide on the built-in tables, and write what was found.

    Parameters
    ----------
    out : path-like
        Folder for ``index.html`` (one self-contained page), ``results.json`` and ``posteriors/*.nc``; made if absent.
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
    _prepare(out)
    runs, published = load("chinchilla_runs"), load("published")
    warned = []
    with Stages([*NOISES, "point estimates", "leave-one-out", "decisions", "page"], progress) as stage:
        fits = {}
        for name, law in NOISES.items():
            with stage(name), _collected(warned):
                fits[name] = fit(
                    law, runs, seed=seed, sampler=sampler, posterior_predictive=name == "chinchilla", **settings
                )
        with stage("point estimates"), _collected(warned):
            parametric, envelopes = point_estimates(runs)
            trimmed, _ = point_estimates(runs, drop_highest=5)
        with stage("leave-one-out"), _collected(warned):
            elpd = {name: loo(f) for name, f in fits.items()}
            comparison = compare(fits, results=elpd)
        with stage("decisions"):
            allocation = allocate(fits["chinchilla"], BUDGETS)
            beside = chinchilla_page.beside_published(fits["chinchilla"], published)
        document = {
            "schema": results.SCHEMA,
            "seconds": stage.seconds,
            "provenance": results.provenance(fits),
            "laws": {
                name: results.law_entry(f, elpd[name]) | {"rank": int(comparison.loc[name, "rank"])}
                for name, f in fits.items()
            },
            "allocation": results.allocation_entries(allocation, "chinchilla"),
            "published": beside,
        }
        document["laws"]["chinchilla"]["point_estimates"] = {
            **{name: p.constants for name, p in parametric.items()},
            **{f"{name}_without_highest_5": p.constants for name, p in trimmed.items()},
            **{name: {"exponent_parameters": e.exponent} for name, e in envelopes.items()},
        }
        with stage("page"):
            sections = chinchilla_page.sections(
                runs=runs, published=published, fits=fits, elpd=elpd, comparison=comparison, document=document,
                parametric=parametric, trimmed=trimmed, envelopes=envelopes,
            )  # fmt: skip
            page = render(sections, document, warned, {n: sentence(diagnose(f)) for n, f in fits.items()})
    for name, fitted in fits.items():
        save_fit(fitted, out / "posteriors" / f"{name.replace(', ', '-').replace(' ', '-')}.nc")
    results.write_text(results.to_json(document), out / "results.json")
    results.write_text(page, out / "index.html")
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

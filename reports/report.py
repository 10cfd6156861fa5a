"""Write a report: on the built-in tables, on fits, or on laws fitted to a custom table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..datasets.reader import TableSource
from ..datasets.wording import check_choice
from ..errors import InputError
from .cache import store, whole
from .pages import PAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from ..inference.fitted import Fit
    from ..models.law import Law


def report(
    out: str | PathLike[str] = "report",
    fits: Mapping[str, Fit] | None = None,
    *,
    laws: Sequence[Law | str] | None = None,
    table: TableSource | None = None,
    pages: Sequence[str] | None = None,
    all: bool = False,
    backdrop: bool = False,
    compute: float | None = None,
    published: bool = False,
    seed: int = 1,
    sampler: str | None = None,
    progress: bool = False,
    fresh: bool = False,
    **settings: Any,
) -> dict[str, Any]:
    """Write an HTML page, results.json and the posteriors: on the built-in tables, on fits, or on a table.

    Parameters
    ----------
    out : path-like
        Folder for ``index.html`` (one self-contained page), ``results.json`` and ``posteriors/*.nc``; made if absent.
    fits : dict of str to Fit, optional
        Report on these fits of one kind of law, by the names that the report gives them.
    laws, table : sequence of Law or str, DataFrame, path, str or mapping, optional
        Fit these laws, all of one kind, to a table and report on them.
    pages : sequence of str, optional
        Pages on the built-in tables, of ``bayescaling.reports.pages.PAGES``; all by default.
    all : bool
        Fit too what the pages on the built-in tables otherwise read from long studies: other specifications of
        progress, a constant gain since 2023, and laws of corpora. It takes minutes.
    backdrop : bool
        Show the results of the best law on the built-in table of its kind, too.
    compute : float, optional
        FLOP of the next run, of a report on runs; ten times that of the largest run by default.
    published : bool
        Draw values of other studies next to those of fits and tables of yours.
    seed : int
    sampler : {"nutpie", "numpyro", "pymc"}, optional
    progress : bool
        On standard error: a progress bar in a terminal, elsewhere a line a minute while stages begin.
    fresh : bool
        Compute every result again, even if an earlier report cached it.
    **settings
        As for `fit`: ``draws``, ``tune``, ``chains``, ``cores``, ``target_accept``.

    Returns
    -------
    dict
        The content of ``results.json``. On fits and tables it has ``answers`` and ``laws``. Of runs it also has
        ``allocation``, ``optimum``, ``rollout`` and ``point_estimates``. ``stacking`` and ``comparison`` are there if
        the fits saw the same rows. ``diagnostics``, ``provenance`` and ``seconds`` always are.

    Raises
    ------
    InputError
        If the folder cannot be written, or an option is unknown or does not apply. Also if the table cannot inform a
        law, the fits are of several kinds, or a backdrop is requested for a fit with groups.

    Examples
    --------
    >>> import tempfile
    >>> import bayescaling as bs
    >>> fit = bs.fit("chinchilla", bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     document = bs.report(folder, {"mine": fit})
    >>> {"answers", "laws", "allocation", "optimum", "rollout"} <= set(document)
    True
    """
    built_in = {"pages": pages, "all": all or None}
    sampling = {"seed": seed, "sampler": sampler, **settings}
    showing = {"progress": progress, "fresh": fresh}
    if fits is None and laws is None and table is None:
        custom = {"backdrop": backdrop or None, "compute": compute, "published": published or None}
        _refuse("a report on the built-in tables", custom)
        return _of_tables(Path(out), tuple(PAGES) if pages is None else pages, all, sampling, **showing)
    from .pages.own import build

    chosen = {"backdrop": backdrop, "compute": compute, "published": published}
    if fits is not None:
        _refuse("a report on fits", built_in | {"laws": laws, "table": table, "sampler": sampler} | settings)
        return build.report_fits(out, fits, **chosen, **showing)
    if laws is None or table is None:
        raise InputError(f"{'laws' if laws is None else 'table'} is missing; pass laws=[...] and table=... together")
    _refuse("a report on a table", built_in)
    return build.report_table(out, laws, table, **chosen, **showing, **sampling)


def _of_tables(out, pages, all, options, *, progress, fresh):
    for page in pages:
        check_choice("page", page, PAGES)
    key = store.key_of(pages=pages, all=all, options=options)
    document = None if fresh else whole.restore(out, key)
    if document is None:
        from .making import made

        document = made(out, pages, key, progress, fresh=fresh, all=all, options=options)
    return document


def _refuse(what, options):
    strange = [name for name, x in options.items() if x is not None]
    if strange:
        raise InputError(f"{strange[0]} is given, which means nothing to {what}; leave it out")

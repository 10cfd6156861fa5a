"""A report on fits that one has, or on laws fitted to a table of one's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...datasets import KINDS
from ...errors import InputError
from ...inference import compare, fit
from ...inference.fitting.fit import check_options
from ...inference.fitting.record import table_entry
from ...models.laws import as_law
from .. import results
from ..output import judge_chains, prepare, write
from ..stages import Stages
from . import counts, evaluations, runs, scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import pandas as pd

    from ...inference.fit import Fit
    from ...models.law import Law

PAGES = {"runs": runs, "evaluations": evaluations, "counts": counts, "scores": scores}


def report_table(
    out: str | PathLike[str],
    laws: Sequence[Law | str],
    table: pd.DataFrame,
    *,
    backdrop: bool = False,
    seed: int = 1,
    sampler: str | None = None,
    progress: bool = False,
    fresh: bool = False,
    **settings: Any,
) -> dict[str, Any]:
    """Fit laws to a table and report on them.

    Parameters
    ----------
    out : path-like
        Folder, as of `report`.
    laws : sequence of Law or str
        Laws or their names, all of one kind.
    table : DataFrame
    backdrop : bool
        Show what the law that predicts best says of the built-in table of its kind beside it.
    seed : int
    sampler : str, optional
    progress : bool
        Show which step runs, on standard error.
    fresh : bool
        Make every result again, even where an earlier report kept it in the user's cache.
    **settings
        As for `fit`.

    Returns
    -------
    dict
        The content of ``results.json``.

    Raises
    ------
    InputError
        If the folder cannot be written, the table cannot inform a law, or groups are to have a backdrop.

    Examples
    --------
    >>> import tempfile
    >>> import bayescaling as bs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = report_table(folder, [bs.Chinchilla()], bs.load("chinchilla_runs"), draws=300, tune=400)
    >>> found["laws"]["chinchilla"]["rows"]
    245
    """
    check_options(seed, sampler, settings)
    chosen: list[Law] = [as_law(law) for law in ([laws] if isinstance(laws, str) else laws)]
    _check_backdrop(chosen, backdrop)
    prepare(Path(out))
    follows = {law.label: _followed(law, law.rows(table)) for law in chosen}
    options = {"seed": seed, "sampler": sampler, **settings}
    with Stages([f"fit {name}" for name in follows], progress, fresh=fresh, options=options) as stage:
        fits = {
            law.label: stage(f"fit {law.label}", partial(fit, law, table, **options), law=follows[law.label])
            for law in chosen
        }
    before = {"seconds": stage.seconds, "warned": stage.warned}
    return report_fits(out, fits, backdrop=backdrop, progress=progress, fresh=fresh, **before)


def _followed(law, rows):
    """All that a fit follows from but how it is sampled."""
    return {"name": law.name, "options": law.options, "priors": law.described_priors(), "data": table_entry(rows)}


def report_fits(
    out: str | PathLike[str],
    fits: Mapping[str, Fit],
    *,
    backdrop: bool = False,
    progress: bool = False,
    fresh: bool = False,
    seconds: dict[str, float] | None = None,
    warned: Sequence[str] = (),
) -> dict[str, Any]:
    """Report on fits.

    Parameters
    ----------
    out : path-like
        Folder, as of `report`.
    fits : dict of str to Fit
        Of one kind of law, by the names that the report calls them.
    backdrop : bool
        Show what the law that predicts best says of the built-in table of its kind beside it.
    progress : bool
        Show which step runs, on standard error.
    fresh : bool
        Make every result again, even where an earlier report kept it in the user's cache.
    seconds : dict of str to float, optional
        What steps before this took.
    warned : sequence of str
        Diagnostic warnings of steps before this.

    Returns
    -------
    dict
        The content of ``results.json``: ``laws`` and, of runs, ``allocation`` and ``point_estimates``; ``stacking``
        where the fits saw the same rows, ``diagnostics``, ``provenance`` and ``seconds``.

    Raises
    ------
    InputError
        If the folder cannot be written, the fits are of several kinds, or groups are to have a backdrop.

    Examples
    --------
    >>> import tempfile
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = report_fits(folder, {"mine": fit})
    >>> sorted(found)
    ['allocation', 'diagnostics', 'laws', 'point_estimates', 'provenance', 'schema', 'seconds']
    """
    out = Path(out)
    page = _page_of(fits)
    _check_backdrop([each.law for each in fits.values()], backdrop)
    prepare(out)
    steps = ["leave-one-out", *(["backdrop"] if backdrop else []), "tests and figures"]
    records = {name: {k: x for k, x in each.record.items() if k != "verdict"} for name, each in fits.items()}
    with Stages(steps, progress, fresh=fresh, fits=records) as stage:
        elpd = stage("leave-one-out", lambda: {name: each.loo() for name, each in fits.items()}, of=fits.values())
        comparison = _compared(fits)
        main = fits[runs.main_of(fits, comparison)].law
        behind = stage("backdrop", partial(_behind, main)) if backdrop else None
        entries = stage("tests and figures", partial(page.entries, fits), of=fits.values())
        document = {"schema": results.SCHEMA} | entries
        if not isinstance(comparison, str):
            document["stacking"] = comparison["weight"].to_dict()
        document |= {"provenance": results.provenance(fits), "seconds": (seconds or {}) | stage.seconds}
        judge_chains(document, fits)
        part = {"name": "answers", "title": page.QUESTION}
        part["sections"] = page.sections(fits, document, elpd, comparison, behind)
        write(out, document, fits, "Bayesian scaling laws of one's own", [part], [*warned, *stage.warned])
    return document


def _page_of(fits):
    kinds = {name: each.law.kind for name, each in fits.items()}
    (first, kind), *others = kinds.items()
    for name, other in others:
        if other != kind:
            raise InputError(
                f"{first!r} is a fit of {kind} and {name!r} one of {other}; make a report for each kind of table"
            )
    if kind not in PAGES:
        raise InputError(f"{first!r} is a fit of {kind}, of which there is no page; reports are on {', '.join(PAGES)}")
    return PAGES[kind]


def _check_backdrop(laws, backdrop):
    for law in laws:
        if backdrop and law.grouped_by is not None:
            raise InputError(
                f"backdrop: the built-in table of {law.kind} has no column {law.grouped_by!r} to set beside its "
                "groups; leave it out"
            )


def _compared(fits):
    """Compare fits, or say why they cannot be."""
    try:
        return compare(fits)
    except InputError as error:
        return str(error)


def _behind(law):
    return f"{law.label} on {KINDS[law.kind].built_in}", fit(law, law.usual_table(), seed=1, draws=500, tune=500)

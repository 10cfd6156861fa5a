"""A report on fits of the user, or on laws fitted to a custom table."""

from functools import partial
from pathlib import Path

from ....datasets import KINDS
from ....datasets.kinds.runs import RUNS
from ....datasets.reader import as_table
from ....datasets.wording import plural, printable
from ....errors import InputError
from ....inference import compare, fit, fitting
from ....inference.estimands.allocate import one_number
from ....inference.record import origins
from ....models.laws import as_law
from ... import results
from ...cache.stages import Stages
from ...html.glossary import names_among
from ...output import judge_chains, prepare, write
from ...results import fit_entry
from ..front.page import Front, misfit_note, not_quotable, quotable
from . import runs, tables
from .custom import PLACE, Custom, best_and_rivals

PAGES = {RUNS.name: runs}  # of kinds whose pages have budgets, and more than the answers of their records


def report_table(out, laws, table, *, backdrop, compute, published, progress, fresh, seed, sampler, **settings):
    """Fit laws to a table and report on them; parameters as for `report`."""
    fitting.check_options(seed, sampler, settings)
    chosen = [as_law(law) for law in ([laws] if isinstance(laws, str) else laws)]
    _check(chosen, backdrop, compute)
    table = as_table(table, chosen[0].kind, [name for law in chosen for name in law.needed])
    follows = {law.label: origins(law, table) for law in chosen}
    prepare(Path(out))
    options = {"seed": seed, "sampler": sampler, **settings}
    choice = {"fresh": fresh, "page": "own", "options": options}
    with Stages([f"fit {name}" for name in follows], progress, **choice) as stage:
        fits = {
            law.label: stage(f"fit {law.label}", partial(fit, law, table, **options), law=follows[law.label])
            for law in chosen
        }
    shown = {"backdrop": backdrop, "compute": compute, "published": published}
    return report_fits(out, fits, **shown, progress=progress, fresh=fresh, seconds=stage.seconds, warned=stage.warned)


def report_fits(out, fits, *, backdrop, compute, published, progress, fresh, seconds=None, warned=()):
    """Report on fits; parameters as for `report`, with seconds and warnings of the steps before."""
    out = Path(out)
    page = _page_of(fits)
    _check([fitted.law for fitted in fits.values()], backdrop, compute)
    prepare(out)
    options = {} if compute is None else {"compute": one_number(compute, "compute must be positive FLOP such as 1e22")}
    steps = ["leave-one-out", *(["backdrop"] if backdrop else []), "tests and figures"]
    steps += page.STEPS
    with Stages(steps, progress, fresh=fresh, page="own") as stage:
        stage("leave-one-out", lambda: {name: fitted.loo() for name, fitted in fits.items()}, of=fits)
        try:
            comparison = compare(fits)
        except InputError as error:  # why they cannot be compared
            comparison = str(error)
        best, rivals = best_and_rivals(fits, comparison)
        behind = stage("backdrop", partial(_behind, fits[best].law), of=fits) if backdrop else None
        entries = stage("tests and figures", partial(_entries, page, fits, **options), of=fits)
        document = {"schema": results.SCHEMA} | entries
        if not isinstance(comparison, str):
            document["stacking"] = comparison["weight"].to_dict()
            document["comparison"] = results.comparison_document(comparison)
        records = {name: fitted.record for name, fitted in fits.items()}
        judge_chains(document, records)
        document |= {"answers": [], "optimum": None}
        custom = Custom(fits, document, comparison, best, rivals, behind, published)
        figures = page.first_screen(custom, stage)
        document |= {"provenance": results.provenance(records), "seconds": (seconds or {}) | stage.seconds}
        part = {"name": PLACE, "title": "All results", "sections": page.sections(custom)}
        title = f"{page.ask(fits[best].law.kind)} {_tables_of(fits)}"
        write(out, document, fits, title, [part], [*warned, *stage.warned], _front(custom, figures), claims=False)
    return document


def _entries(page, fits, **options):
    laws = {name: fit_entry(fitted) | page.make_entry(fitted) for name, fitted in fits.items()}
    return {"laws": laws} | page.decide(fits, laws, **options)


def _front(custom, figures):
    """Put the `Front` together, without figures that are None; None where nothing was answered."""
    answers = custom.document["answers"]
    if not answers:
        return None
    return Front(
        answers,
        [drawn for drawn in figures if drawn is not None],
        sized=answers[0] if custom.document["optimum"] else None,
        quotable=quotable({"answers": answers}),
        not_quotable=not_quotable({"answers": answers}),
        unexplained=names_among([*map(str, custom.fit.rows)]) if "at_medians" in custom.entry else (),
        note=misfit_note([custom.document["laws"][answers[0]["rests_on"][0]]]),
    )


def _tables_of(fits):
    named = {
        f"{printable(fitted.record['data']['source'])}, {plural(len(fitted.rows), KINDS[fitted.law.kind].dimension)}"
        for fitted in fits.values()
    }
    return "; ".join(sorted(named))


def _page_of(fits):
    kinds = {name: fitted.law.kind for name, fitted in fits.items()}
    (first, kind), *others = kinds.items()
    for name, other in others:
        if other != kind:
            raise InputError(
                f"{first!r} is a fit of {kind} and {name!r} one of {other}; make a report for each kind of table"
            )
    return PAGES.get(kind, tables)


def _check(laws, backdrop, compute):
    kinds = sorted({law.kind for law in laws})
    if compute is not None and not {*kinds} <= {*PAGES}:
        raise InputError(f"compute: a report on {' and '.join(kinds)} has no budget; leave it out (--compute)")
    grouped = [law for law in laws if law.grouped_by is not None]
    if backdrop and grouped:
        raise InputError(
            f"backdrop: the built-in table of {grouped[0].kind} has no column {grouped[0].grouped_by!r} to compare "
            "with its groups; leave it out"
        )


def _behind(law):
    return f"{law.label} on {KINDS[law.kind].built_in}", fit(
        law, law.usual_table(), seed=1, draws=500, tune=500, check=False
    )

"""The command ``report``: an HTML report on the built-in tables, or on a table or fits of the user."""

import re
import textwrap
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option

from ..errors import InputError
from ..reports.pages import PAGES
from . import options, parsing, tables

LAWS = ("coupled", "chinchilla")
FIT = re.compile(r"bayescaling fit (\S+)")  # a command that a refusal proposes
ALWAYS = {"out", "json", "fresh", "processes", "scheduler"}
COLUMNS = 80
CUSTOM = {"backdrop", "compute", "published"}
SAMPLING = {"draws", "tune", "chains", "cores", "target_accept", "sampler", "seed"}


@options.works(most=4)
@options.shares(options.Fitting)
def report(
    context: Context,
    files: Annotated[list[Path] | None, Argument(metavar="[FILE.nc]...", help="Fits of one kind of law.")] = None,
    out: Annotated[Path, Option(help="Folder to write to.", metavar="DIR")] = Path("report"),
    data: options.AnyTable = None,
    law: Annotated[
        list[str] | None,
        Option(
            help="A law or a formula; by default coupled and chinchilla, or the usual formula. Repeatable.",
            metavar="LAW",
        ),
    ] = None,
    backdrop: Annotated[bool, Option("--backdrop", help="Show results of the built-in table next to yours.")] = False,
    compute: Annotated[
        str | None,
        Option(help="FLOP of the next run; ten times that of your largest one by default.", metavar="FLOP"),
    ] = None,
    published: Annotated[bool, Option("--published", help="Draw values of other studies next to yours.")] = False,
    page: Annotated[
        list[str] | None,
        Option(help=f"{', '.join(list(PAGES)[:-1])} or {list(PAGES)[-1]}; all by default. Repeatable.", metavar="PAGE"),
    ] = None,
    all: Annotated[
        bool, Option("--all", help="Fit what pages read from long studies too: other specifications and forms.")
    ] = False,
    fresh: Annotated[bool, Option("--fresh", help="Compute every result again, also what is cached.")] = False,
    *,
    fitting,
):
    """Write an HTML report on built-in tables, a table or fits. Also results.json and the posteriors."""
    from ..reports import report as make_report

    custom = _is_custom({name for name in context.params if context.get_parameter_source(name).name == "COMMANDLINE"})
    sampling = parsing.sampler_settings(fitting)
    settings = {"progress": not fitting.json, "fresh": fresh}
    if custom:
        budget = None if compute is None else parsing.flop(compute, "--compute")
        settings |= {"backdrop": backdrop, "compute": budget, "published": published}
    with _proposed():
        if not custom:
            settings |= {"pages": page, "all": all, **sampling}
        elif files:
            fits = tables.open_fits(files, json=False).items()
            settings |= {"fits": {name.removesuffix(".nc"): fit for name, fit in fits}}
        elif law:
            laws, table = parsing.laws_and_table(law, data, fitting)
            settings |= {"laws": laws, "table": table, **sampling}
        else:
            chosen, table = parsing.table_of_no_law(data, fitting)
            if chosen is None:
                from ..inference.formulas.choose import fit_usual

                usual, _ = fit_usual(table, **sampling)
                settings |= {"fits": {usual.law.label: usual}}
            else:
                laws = [parsing.law_named(name, fitting) for name in LAWS]
                settings |= {"laws": laws, "table": table, **sampling}
        document = make_report(out, **settings)
    if fitting.json:
        tables.print_json(document)
        return
    for line in lines(document):
        print(line)
    print(f"written to {out / 'index.html'}, {out / 'results.json'} and {out / 'posteriors'}")


@contextmanager
def _proposed():
    """Turn a command that a refusal proposes into one that makes the report."""
    try:
        yield
    except InputError as error:
        if error.commands:
            raise
        raise InputError(FIT.sub(r"bayescaling report --law \1", str(error))) from None


def _is_custom(names):
    """Return whether a report on a table or fits of the user is requested, by names of parameters on the command line.

    Parameters that do not go together raise an `InputError`.
    """
    if {"files", "data"} <= names:
        raise InputError("FILE.nc and --data: a report is on one of them; make one report for each")
    if "files" in names:
        meaning, fix = ALWAYS | {"files", *CUSTOM}, "FILE.nc holds what was fitted; fit again for another"
    elif "data" in names:
        meaning, fix = names - {"page", "all"}, "only for the built-in tables; a report on a custom table is one page"
    else:
        meaning, fix = ALWAYS | SAMPLING | {"page", "all"}, "only for a custom table; name it with --data"
    if strange := sorted(names - meaning):
        raise InputError(f"{', '.join('--' + name.replace('_', '-') for name in strange)}: {fix}")
    return bool({"files", "data"} & names)


def lines(document):
    """Write the answers for a terminal, within 80 columns."""
    indented = {"width": COLUMNS, "initial_indent": "  ", "subsequent_indent": "  ", "break_on_hyphens": False}
    return [
        line
        for answer in document.get("answers", ())
        for line in (
            answer["question"],
            *textwrap.wrap(answer["answer"], **indented),
            *textwrap.wrap(f"{answer['doubt']} Strength: {answer['strength']}.", **indented),
        )
    ]

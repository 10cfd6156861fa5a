"""The command ``report``: an HTML report on the built-in tables, or on a table or fits of the user."""

import textwrap
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option

from ..errors import InputError
from ..reports.pages import PAGES
from . import options, parsing, tables

LAWS = {"data": ("chinchilla", "coupled"), "evaluations": ("progress-7", "progress-12", "progress-14", "progress-16")}
KIND_OF = {"data": "runs or counts", "evaluations": "evaluations"}
SUBJECTS = {"files": "FILE.nc", "data": "--data", "evaluations": "--evaluations"}
ALWAYS = {"out", "json", "fresh", "processes", "scheduler"}
COLUMNS = 80
SAMPLING = {"draws", "tune", "chains", "cores", "target_accept", "sampler", "seed"}


@options.works(most=4)
@options.shares(options.Fitting)
def report(
    context: Context,
    files: Annotated[list[Path] | None, Argument(metavar="[FILE.nc]...", help="Fits of one kind of law.")] = None,
    out: Annotated[Path, Option(help="Folder to write to.", metavar="DIR")] = Path("report"),
    data: Annotated[str | None, Option(help=f"Your table of runs {options.FORMATS}", metavar="TABLE")] = None,
    evaluations: Annotated[str | None, Option(help="Your table of evaluations.", metavar="TABLE")] = None,
    law: Annotated[
        list[str] | None,
        Option(help="A law; chinchilla and coupled, or progress-7, -12, -14 and -16 by default.", metavar="LAW"),
    ] = None,
    backdrop: Annotated[bool, Option("--backdrop", help="Show results of the built-in table next to yours.")] = False,
    compute: Annotated[
        str | None,
        Option(help="FLOP of the next run; ten times that of your largest one by default.", metavar="FLOP"),
    ] = None,
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
    budget = None if compute is None else parsing.flop(compute, "--compute")
    settings = {"progress": not fitting.json, "fresh": fresh}
    if not custom:
        settings |= {"pages": page, "all": all, **sampling}
    elif files:
        fits = {name.removesuffix(".nc"): fit for name, fit in tables.open_fits(files, json=False).items()}
        settings |= {"fits": fits, "backdrop": backdrop, "compute": budget}
    else:
        option = "data" if data else "evaluations"
        laws, table = _laws_and_table(option, data or evaluations, law, fitting)
        settings |= {"laws": laws, "table": table, "backdrop": backdrop, "compute": budget, **sampling}
    document = make_report(out, **settings)
    if fitting.json:
        tables.print_json(document)
        return
    for line in lines(document):
        print(line)
    print(f"written to {out / 'index.html'}, {out / 'results.json'} and {out / 'posteriors'}")


def _is_custom(names):
    """Return whether a report on a table or fits of the user is requested, by names of parameters on the command line.

    Parameters that do not go together raise an `InputError`.
    """
    subjects = [name for name in SUBJECTS if name in names]
    if len(subjects) > 1:
        options_used = " and ".join(SUBJECTS[name] for name in subjects)
        raise InputError(f"{options_used}: a report is on one of them; make one report for each")
    if subjects == ["files"]:
        meaning, fix = ALWAYS | {"files", "backdrop", "compute"}, "FILE.nc holds what was fitted; fit again for another"
    elif subjects:
        meaning, fix = names - {"page", "all"}, "only for the built-in tables; a report on a custom table is one page"
    else:
        meaning = ALWAYS | SAMPLING | {"page", "all"}
        fix = "only for a custom table; name it with --data or --evaluations"
    if strange := sorted(names - meaning):
        raise InputError(f"{', '.join('--' + name.replace('_', '-') for name in strange)}: {fix}")
    return bool(subjects)


def _laws_and_table(option, name, laws, fitting):
    """Make the laws to fit to the table called `name`, those of --data or --evaluations by default, and read it."""
    chosen = [parsing.law_named(law, fitting) for law in laws or LAWS[option]]
    kinds = {law.kind for law in chosen}
    if len(kinds) > 1 or (option == "evaluations") != (kinds == {"evaluations"}):
        raise InputError(
            f"--law {', '.join(law.name for law in chosen)}: laws of {' and '.join(sorted(kinds))}; --{option} is for "
            f"laws of {KIND_OF[option]}, of one kind"
        )
    return chosen, parsing.table_for(chosen[0], name, fitting)


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

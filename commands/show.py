"""The commands ``show`` and ``check``: what fits say, and whether their laws are right."""

from inspect import signature
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
from . import options, parsing, tables

ALL = "all"
PARAMETERS = {"share": ("shares",), "reach": ("levels",), "year": ("years", "year")}  # of tables, by option
Files = Annotated[list[Path], Argument(metavar="FILE.nc...", help="Fits that 'bayescaling fit' wrote.")]


def show(
    files: Files,
    constants: Annotated[bool, Option("--constants", help="Every constant of the law, with what to quote.")] = False,
    table: Annotated[
        list[str] | None, Option(help="A table of the answers, or all of them. Repeatable.", metavar="NAME|all")
    ] = None,
    share: Annotated[
        list[float] | None,
        options.of_tables(help="Share of successes of a horizon, or of the accuracy left. Repeatable.", metavar="P"),
    ] = None,
    tasks: Annotated[
        str | None, options.of_tables(help="typical, or random: averaged over how hard tasks of one human time are.")
    ] = None,
    reach: Annotated[
        list[str] | None,
        options.of_tables(
            help="A level of the value, or minutes of a horizon: 1e27, or 'GPT-4 price=30'. Repeatable.",
            metavar="[NAME=]VALUE",
        ),
    ] = None,
    until: Annotated[
        float | None,
        options.of_tables(help="Year of the probability that a level is not reached by then; 2035.", metavar="YEAR"),
    ] = None,
    year: Annotated[
        list[float] | None, options.of_tables(help="Date of a rate, such as 2025.5. Repeatable.", metavar="YEAR")
    ] = None,
    compute: Annotated[
        str | None,
        options.of_tables(help=f"Budget of a rate in FLOP: {options.FLOP}; 1e25 with --year.", metavar="FLOP"),
    ] = None,
    json: options.Json = False,
):
    """Print what fits say, and what to do next.

    A fit of each kind of table has its own further tables, such as ranks of models or dates at which a level is
    reached. --table all prints them; an option of them prints those that take it.
    """
    from ..inference.standing import known_check
    from ..inference.stored_answers import document

    budget = None if compute is None else parsing.flop(compute, "--compute")
    asked = {"share": share, "tasks": tasks, "reach": reach and _levels(reach), "until": until, "year": year}
    asked = {name: x for name, x in (asked | {"compute": budget}).items() if x is not None}
    fits = tables.open_fits(files, json)
    if table or asked:
        parts = {name: _tables_of(name, fit, table or [], asked) for name, fit in fits.items()}
        tables.print_parts(parts, fits, json, **({"options": asked} if asked else {}))
        return
    if json:
        documents = {name: document(fit) for name, fit in fits.items()}
        tables.print_json(documents if len(fits) > 1 else next(iter(documents.values())))
        return
    for i, (path, fit) in enumerate(zip(files, fits.values(), strict=True)):
        print("\n" * bool(i) + str(fit.summary() if constants else fit))
        if not constants:
            print_next(fit, path, rejected=(known_check(fit) or {}).get("rejected_by"))


def _levels(texts):
    """Return levels by name of texts NAME=VALUE, or VALUE, which then is the name too."""
    named = parsing.values([text if "=" in text else f"{text}={text}" for text in texts], "--reach")
    for name, level in named.items():
        if isinstance(level, bool) or not isinstance(level, int | float):
            raise InputError(f"--reach {name!r}: {level!r} is no number; write NAME=VALUE, such as 'a tenth=0.1'")
    return named


def _tables_of(name, fit, wanted, asked):
    """Return the tables of a fit that are wanted, by name, or those that take the options that are asked for."""
    from ..datasets.wording import unknown
    from ..inference.fitted import record_of

    record, refusals, parts = record_of(fit), [], {}
    if not record.tables:
        raise InputError(f"{name} is a fit of {fit.law.name}, which has no tables; leave --table and its options out")
    for table in wanted:
        if table not in (*record.tables, ALL):
            raise InputError(unknown(f"{name}: table of a fit of {fit.law.name}", table, [*record.tables, ALL]))
    takes = {table: _arguments(record.table(table), asked) for table in record.tables}
    for option in asked:
        if all(option not in of for of in takes.values()):
            raise InputError(f"--{option}: no table of {name}, a fit of {fit.law.name}, takes it; leave it out")
    for table, of in takes.items():
        if table in wanted or ALL in wanted or (of and not wanted):
            try:
                parts[table] = record.table(table)(fit, **dict(of.values()))
            except InputError as error:
                if table in wanted or of:
                    raise
                refusals.append(str(error))
    if not parts:
        raise InputError(refusals[0])
    return parts


def _arguments(make, asked):
    """Return pairs of a parameter of a function and its value, by the option that asks for it."""
    parameters = signature(make).parameters
    named = {option: next((x for x in PARAMETERS.get(option, (option,)) if x in parameters), None) for option in asked}
    values = {"year": asked["year"][0] if len(asked.get("year", ())) == 1 else asked.get("year")}
    return {option: (name, values.get(name, asked[option])) for option, name in named.items() if name}


def print_next(fit, path, *, rejected):
    """Print commands that may follow where a fit is in a file."""
    if path is None:
        return
    from ..inference.fitted import record_of

    print("Next:")
    for command in record_of(fit).next_commands(fit, path, rejected=rejected):
        print(f"    {command}")


def check(
    file: Annotated[Path, Argument(metavar="FILE.nc", help="A fit that 'bayescaling fit' wrote.")],
    wider: Annotated[bool, Option(help="Fit laws that may fit better where this one does not.")] = True,
    json: options.Json = False,
):
    """Print whether a law fits its rows. Also which law predicts better."""
    from ..inference import storage
    from ..inference.checks.wider_laws import worth_trying
    from ..inference.comparison.rollout import larger_rows
    from ..reports import results

    fit = storage.open(file)
    judged = fit.check()
    others = fit.wider_laws(progress=tables.interactive(json)) if wider and worth_trying(fit) else None
    ahead = larger_rows(fit)
    if json:
        more = {} if others is None else {"alternatives": list(others), "suggestion": others.suggestion}
        entries = {"verdict": results.verdict_entry(fit), "misfit": judged["tests"]}
        tables.print_json(entries | {"diagnostics": fit.diagnostics, "larger_rows": ahead or None} | more)
        return
    print(judged)
    tables.print_sentences([ahead] * bool(ahead))
    if others is not None:
        print(f"\n{others}")
    tables.print_diagnostics(file, fit.diagnostics)

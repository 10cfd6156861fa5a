"""The commands ``show`` and ``check``: what fits say, and whether their laws are right."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, tables

NEXT = {  # by the kind of a law, or else by what it is of
    "runs": ("allocate {file} --compute {budget}", "plot fit {file} --out fit.svg"),
    "one size": ("predict {file} --column {size}={budget}",),
    "parameters": ("plot posterior {file} --quantity delta --out delta.svg",),
    "error": ("predict RUNS.nc --parameters 7B --tokens 140B --task {file}",),
    "evaluations": ("doubling {file}", "plot doubling {file} --out doubling.svg"),
    "counts": ("plot lengths {file} --out lengths.svg",),
    "scores": ("ranks {file}", "plot capability {file} --out capability.svg"),
    "horizons": ("horizons {file} --share 0.8", "plot horizons {file} --out horizons.svg"),
    "values": ("trend {file}", "plot trend {file} --out trend.svg"),
    "curves": ("curve LOG --until 24000",),
}
OFF, CONSTANTS = ("check {file}",), "show {file} --constants"
Files = Annotated[list[Path], Argument(metavar="FILE.nc...", help="Fits that 'bayescaling fit' wrote.")]


def show(
    files: Files,
    constants: Annotated[bool, Option("--constants", help="Every constant of the law, with what to quote.")] = False,
    json: options.Json = False,
):
    """Print what fits say, and what to do next."""
    from ..inference.standing import known_check
    from ..inference.stored_answers import document

    fits = tables.open_fits(files, json)
    if json:
        documents = {name: document(fit) for name, fit in fits.items()}
        tables.print_json(documents if len(fits) > 1 else next(iter(documents.values())))
        return
    for i, (path, fit) in enumerate(zip(files, fits.values(), strict=True)):
        print("\n" * bool(i) + str(fit.summary() if constants else fit))
        if not constants:
            print_next(fit, path, rejected=(known_check(fit) or {}).get("rejected_by"))


def print_next(fit, path, *, rejected):
    """Print commands that may follow where a fit is in a file."""
    if path is None:
        return
    from ..datasets.wording import printable
    from ..models.loss.budget import training_flop

    law, words = fit.law, {"file": printable(path)}
    kind = law.observed if law.observed in NEXT else law.kind
    if kind == "runs":
        kind, (size, *others) = "runs" if len(law.columns) > 1 else "one size", law.columns
        compute = training_flop(fit.rows) if others else fit.rows[size]
        words |= {"size": size, "budget": "1e24" if compute is None else f"{10 * compute.max():.0e}".replace("e+", "e")}
    print("Next:")
    for command in (*(OFF if rejected else ()), *NEXT[kind], CONSTANTS):
        print(f"    bayescaling {command.format(**words)}")


def check(
    file: Annotated[Path, Argument(metavar="FILE.nc", help="A fit that 'bayescaling fit' wrote.")],
    wider: Annotated[bool, Option(help="Fit laws that may fit better where this one does not.")] = True,
    json: options.Json = False,
):
    """Print whether a law fits its rows. Also which law predicts better."""
    from ..inference import storage
    from ..inference.checks.wider_laws import worth_trying
    from ..reports import results

    fit = storage.open(file)
    judged = fit.check()
    others = fit.wider_laws(progress=tables.interactive(json)) if wider and worth_trying(fit) else None
    if json:
        more = {} if others is None else {"alternatives": list(others), "suggestion": others.suggestion}
        entries = {"verdict": results.verdict_entry(fit), "misfit": judged["tests"]}
        tables.print_json(entries | {"diagnostics": fit.diagnostics} | more)
        return
    print(judged)
    if others is not None:
        print(f"\n{others}")
    tables.print_diagnostics(file, fit.diagnostics)

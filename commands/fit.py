"""The command ``fit``: a law fitted to a table, checked, and saved."""

import contextlib
import functools
import shlex
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import DiagnosticWarning, InputError
from . import options, parsing, tables
from .show import print_next


@options.works
@options.shares(options.Fitting)
def fit(
    law: Annotated[
        str | None,
        Argument(
            metavar="LAW",
            help="A law such as coupled, or a formula such as 'loss ~ E + A * n**-alpha'. By default what is usual for "
            "the table: coupled for runs with sizes and losses.",
            autocompletion=options.complete_law,
        ),
    ] = None,
    file: Annotated[
        str | None, Argument(metavar="FILE", help="The table, as --data names it; it may stand without LAW.")
    ] = None,
    data: options.AnyTable = None,
    out: Annotated[Path | None, Option(help="Write the fit to this netCDF file.", metavar="FILE.nc")] = None,
    log_likelihood: Annotated[
        bool | None, Option(help="Save the log density of rows under draws; by default up to 20 million.")
    ] = None,
    wider: Annotated[
        bool, Option(help="Then fit laws that may fit better where this one does not; 'check FILE.nc' does it later.")
    ] = True,
    *,
    fitting,
):
    """Fit a law or a formula to a table. What was fitted before is in the cache."""
    law, data = _law_and_data(law, file, data)
    with _proposing(law, data, fitting, out):
        _fit(law, data, out, log_likelihood, wider, fitting)


def _fit(law, data, out, log_likelihood, wider, fitting):
    usual = None
    if law is None:
        chosen, table = parsing.table_of_no_law(data, fitting, out)
        usual = None if chosen else _usual(table, fitting)
        chosen = chosen or usual[0].law
        law = chosen.label
    else:
        chosen, table = parsing.law_and_table(law, data, fitting, out)
    # These imports take long, so they follow the checks of the table.
    from ..inference.record import origins
    from ..reports import results
    from ..reports.cache.stages import Stages

    settings = parsing.sampler_settings(fitting) | {"log_likelihood": log_likelihood}
    showing = tables.interactive(fitting.json)
    names = ["fit", "answer", "rivals", "entry" if fitting.json else "besides"]
    with Stages(names, False, law=origins(chosen, table), **settings) as stage:
        with warnings.catch_warnings():
            if not fitting.json:  # the check of the chains is printed with the result
                warnings.simplefilter("ignore", DiagnosticWarning)
            fitted = stage("fit", lambda: usual[0] if usual else _fitted(chosen, table, showing, settings))
        of = {law: fitted}
        answer = stage("answer", lambda: _answer(fitted, showing), of=of)
        if out:  # before anything is printed or interrupted
            fitted.save(out)
        if not fitting.json:
            print(answer, flush=True)
        others = stage("rivals", lambda: _rivals(fitted, fitting.seed, showing), of=of) if wider else {}
        if fitting.json:
            entry = stage("entry", lambda: results.fit_entry(fitted, seed=fitting.seed), of=of)
        else:
            tables.print_sentences(stage("besides", lambda: list(_besides(answer, fitted)), of=of, wider=wider))
    if out:
        fitted.save(out)
    if fitting.json:
        others |= {"also_fitted": usual[1]} if usual else {}
        tables.print_json({"law": law, "provenance": results.provenance({law: fitted.record}), **entry, **others})
        return
    for formula, how in usual[1].items() if usual else ():
        print(
            f"Also fitted, which {how}:\n    bayescaling fit {shlex.join([formula, *parsing.reading(data, fitting)])}"
        )
    if repeats := _law_of_repeats(chosen, table, data, fitting):
        print(f"Tokens are repeated in this table; the law of such runs:\n    {repeats}")
    tables.print_written(out)
    print_next(fitted, out, rejected=fitted.check()["rejected_by"])


def _usual(table, fitting):
    """Fit the usual formulas of a table: the fit of the best, and how the others predict by formula."""
    from ..inference.formulas.choose import fit_usual

    make = functools.partial(parsing.law_named, fitting=fitting)
    with warnings.catch_warnings(action="ignore", category=DiagnosticWarning):
        return fit_usual(table, make, **parsing.sampler_settings(fitting))


def _fitted(law, table, showing, settings):
    from ..inference import fit as fit_law

    return fit_law(law, table, progress=showing, **settings)


def _answer(fitted, showing):
    """Return the text of a fit, whose intervals depend on the check of its law."""
    from ..datasets.progress_messages import say
    from ..inference.fitted import VERDICT, results_of

    if VERDICT not in results_of(fitted):  # of a large table
        say("checking the law", showing)
        fitted.check()
    return fitted.text()


def _rivals(fitted, seed, showing):
    """Try what may fit better: other forms of a trend, or wider laws, of which it returns the entry."""
    from ..datasets.progress_messages import say
    from ..inference.checks.wider_laws import worth_trying
    from ..inference.fitted import record_of

    if forms := record_of(fitted).rival_forms:
        say("fitting other forms of the trend", showing)
        forms(fitted)
    elif worth_trying(fitted):
        others = fitted.wider_laws(most=2, seed=seed, progress=showing)
        return {"alternatives": list(others), "suggestion": others.suggestion}
    return {}


def _besides(answer, fitted):
    """Yield what was not printed yet: rivals, what the rows decide less than the prior, and how runs were tuned."""
    from ..inference.fitted import record_of

    yield from (sentence for sentence in fitted.text().sentences if sentence not in answer.sentences)
    yield from record_of(fitted).remarks(fitted)
    if confounded := fitted.record["law"]["reference"].get("confounded"):
        yield f"The runs cannot tell apart from other effects: {', '.join(confounded)}"


@contextlib.contextmanager
def _proposing(law, data, fitting, out):
    """Give a refusal of a law the command that fits what the rows carry in its place, where that works."""
    try:
        yield
    except InputError as error:
        ways = {what: fix for what, fix in error.ways.items() if fix.formula}
        if not ways or data is None:
            raise
        from ..datasets import KINDS
        from ..datasets.fixes import ANY
        from ..inference.formulas.choose import propose

        def attempt(fix):
            if "~" in fix.formula:
                of_runs = {name: None for name in parsing.OF_RUNS if name not in KINDS["columns"].options}
                plain = replace(fitting, **of_runs | {"perplexity": False, "measurement_error": False})
                table = parsing.read_table(KINDS["columns"], data, plain)
                name = propose(table)[0].formula if fix.formula == ANY else fix.formula
            else:
                plain, name = fitting, fix.formula
            made = parsing.law_named(name, plain)
            rows = parsing.table_for(made, data, plain)
            made.suited(rows).rows(rows)
            return name

        def words(fix, name):
            if "~" not in name:
                return ["fit", name, *(word for word in sys.argv[2:] if word != law)]
            return ["fit", name, *parsing.reading(data, fitting), *(["--out", out] if out else [])]

        told = parsing.tried(error, ways, attempt, words)
        raise (told if told.commands else error) from None


def _law_of_repeats(law, table, data, fitting):
    """Return the command that fits the law of repeated data to a table that has them, "" where there is none."""
    from .. import models
    from ..datasets import KINDS
    from ..datasets.columns import recognise
    from ..datasets.fixes import NOTHING

    made = models.law("data-constrained")
    if data is None or law.name == made.name or not any(recognise(name) == "unique_tokens" for name in table):
        return ""

    def attempt(fix):
        rows = made.rows(parsing.read_with(KINDS["runs"], data, asked, made.needed, fix))
        if not (rows["tokens"] > rows["unique_tokens"]).any():
            raise InputError("no tokens are repeated")

    def words(fix, _):
        return ["fit", made.name, *parsing.reading(data, fitting), *(word for pair in fix.pairs() for word in pair)]

    asked = {name: x for name, x in parsing.reader_options(fitting).items() if x}
    return parsing.tried(InputError(), {"": NOTHING}, attempt, words).commands.get("", "")


def _law_and_data(law, file, data):
    """Return the law and the table that words of a command name, in any order, or that `data` names."""
    from .. import models
    from ..datasets import catalogue
    from ..models import published

    def is_table(word):
        return bool(Path(word).suffix) or Path(word).exists() or word in set(catalogue()["name"])

    words = [word for word in (law, file) if word is not None]
    laws = [word for word in words if "~" in word or word in (*models.laws.names(), *published.laws())]
    if not laws:  # one that is misspelt is refused with the names of laws
        laws = [word for word in words if not is_table(word)]
    of_data = [word for word in words if word not in laws]
    if len(of_data) + (data is not None) > 1 or len(laws) > 1:
        raise InputError(f"{' '.join(words)}: give one law and one table, as FILE or with --data")
    return next(iter(laws), None), next(iter(of_data), data)

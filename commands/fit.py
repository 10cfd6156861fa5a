"""The command ``fit``: a law fitted to a table, checked, and saved."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, parsing, tables
from .show import print_next


@options.works
@options.shares(options.Fitting)
def fit(
    law: Annotated[
        str,
        Argument(metavar="LAW", help="A law, such as chinchilla. Beyond the runs the coupled law predicts best."),
    ] = "coupled",
    data: options.AnyTable = None,
    out: Annotated[Path | None, Option(help="Write the fit to this netCDF file.", metavar="FILE.nc")] = None,
    log_likelihood: Annotated[
        bool | None, Option(help="Save the log density of rows under draws; by default up to 20 million.")
    ] = None,
    *,
    fitting,
):
    """Fit a law to a table, by default the coupled one. What was fitted before is in the cache."""
    chosen, table = parsing.law_and_table(law, data, fitting, out)
    # These imports take long, so they follow the checks of the table.
    from ..inference.fitted import results_of
    from ..inference.record import origins
    from ..reports import results
    from ..reports.cache.stages import Stages

    settings = parsing.sampler_settings(fitting) | {"log_likelihood": log_likelihood}
    showing = tables.interactive(fitting.json)
    with Stages(["fit", "checks"], False, law=origins(chosen, table), **settings) as stage:
        with tables.verdict_later(unless=fitting.json):
            fitted = stage("fit", lambda: _fitted(chosen, table, showing, settings))
        computed, entry, text = stage("checks", lambda: _judged(fitted, fitting.seed, showing))
    if out:
        results_of(fitted).update(pickle.loads(computed))
        fitted.save(out)
    if fitting.json:
        tables.print_json({"law": law, "provenance": results.provenance({law: fitted.record}), **entry})
        return
    print(text)
    tables.print_written(out)
    print_next(fitted, out, rejected=entry["verdict"]["rejected_by"])


def _fitted(law, table, showing, settings):
    from ..inference import fit as fit_law

    return fit_law(law, table, progress=showing, **settings)


def _judged(fitted, seed, showing):
    """Check a fit and try laws that may fit better; returns what it computed, pickled, its entry and its text."""
    from ..inference.checks.wider_laws import suggestion, worth_trying
    from ..inference.fitted import light_results
    from ..inference.progress.trends import rival_forms
    from ..inference.progress_messages import say
    from ..reports.entries import fit_entry

    say("checking the fit: leave-one-out, robust errors, tests of misfit", showing)
    fitted.loo(progress=showing)
    entry = fit_entry(fitted, seed=seed)
    if fitted.law.kind == "values":
        say("fitting other forms of the trend", showing)
        rival_forms(fitted)
    elif worth_trying(fitted):
        say("fitting what may fit better", showing)
        others = fitted.wider_laws(most=2, seed=seed, progress=showing)
        entry |= {"alternatives": list(others), "suggestion": suggestion(fitted, others)}
    text = fitted.text()
    text = replace(text, sentences=(*text.sentences, *_besides(entry)))
    # What the fit computed is an object of ArviZ, whose import takes a second: a file alone needs it.
    return pickle.dumps(light_results(fitted)), entry, text


def _besides(entry):
    """Yield sentences on what the rows decide less than the prior, and on how the runs were tuned."""
    if sensitive := entry.get("prior_sensitive"):
        yield f"The prior still decides {', '.join(sensitive)} in part: vary it with --prior before you quote them"
    if "tuning" in entry:
        yield entry["tuning"]["sentence"]
    if entry.get("confounded"):
        yield f"The runs cannot tell apart from other effects: {', '.join(entry['confounded'])}"

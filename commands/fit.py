"""The command ``fit``: a law fitted to a table, checked, and saved."""

import pickle
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, parsing, tables


@options.works
@options.shares(options.Fitting)
def fit(
    law: Annotated[
        str,
        Argument(
            metavar="LAW",
            help="A law, such as chinchilla. In rollouts the coupled law predicts runs beyond the fitted ones best.",
        ),
    ] = "coupled",
    data: options.AnyTable = None,
    out: Annotated[Path | None, Option(help="Write the fit to this netCDF file.", metavar="FILE.nc")] = None,
    log_likelihood: Annotated[
        bool | None,
        Option(
            help="Save the log density of every row under every draw in the file, for ArviZ; by default up to 20 "
            "million.",
            show_default=False,
        ),
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
        computed, entry = stage("checks", lambda: _judged(fitted, fitting.seed, showing))
    if out:
        results_of(fitted).update(pickle.loads(computed))
        fitted.save(out)
    if fitting.json:
        tables.print_json({"law": law, "provenance": results.provenance({law: fitted.record}), **entry})
        return
    named = fitted.law.label if fitting.group or fitted.law != chosen else law
    title = f"{named} on {entry['data']}, {entry['rows']} rows, {fitted.law.noise} noise on {chosen.scale}"
    _print(title, entry, fitted.record["diagnostics"])
    tables.print_written(out)


def _fitted(law, table, showing, settings):
    from ..inference import fit as fit_law

    return fit_law(law, table, progress=showing, **settings)


def _judged(fitted, seed, showing):
    """Check a fit and try laws that may fit better; returns what the fit computed, pickled, and its entry."""
    from ..inference.checks.wider_laws import suggestion, worth_trying
    from ..inference.fitted import light_results
    from ..inference.progress_messages import say
    from ..reports.entries import fit_entry

    say("checking the fit: leave-one-out, robust errors, tests of misfit", showing)
    fitted.loo(progress=showing)
    entry = fit_entry(fitted, seed=seed)
    if worth_trying(fitted):
        say("fitting what may fit better", showing)
        others = fitted.wider_laws(most=2, seed=seed, progress=showing)
        entry |= {"alternatives": list(others), "suggestion": suggestion(fitted, others)}
    # What the fit computed is an object of ArviZ, whose import takes a second: a file alone needs it.
    return pickle.dumps(light_results(fitted)), entry


def _print(title, entry, diagnostics):
    """Print a law's parameters, its leave-one-out and the results of both checks, after lengths where it has them."""
    from ..inference.checks.chains import sentence
    from ..inference.checks.sensitivity import SENSITIVE

    if "lengths" in entry:
        _print_lengths(entry)
    robust = {name: tables.number(errors["robust_sd"]) for name, errors in entry["robust"].items()}
    shown, left_out = tables.few_levels(entry["parameters"])
    rows = [
        (*tables.summary_row(name, entry["parameters"][name]), *([robust.get(name, "-")] if robust else ()))
        for name in shown
    ]
    header = (*tables.SUMMARY_HEADER, *(["robust sd"] if robust else ()))
    tables.print_table(title, header, rows, least=("mean", "sd"))
    if left_out:
        print(left_out)
    forms = {"elpd_loo": ".1f", "elpd_se": ".1f", "pareto_k_max": ".2f"}
    elpd, se, k = (tables.number(entry[name], form) for name, form in forms.items())
    print(f"elpd_loo {elpd} (se {se}), largest Pareto k {k}, {entry['k_above_0.7']} above 0.7")
    print(sentence(diagnostics))
    if sensitive := entry.get("prior_sensitive"):
        reason = f"distance per doubling of its power above {SENSITIVE:g}"
        print(f"decided by the prior in part ({reason}): {_listed(sensitive)}")
    if driven := entry["verdict"]["prior_driven"]:
        print(f"barely informed by the rows (width over the prior's): {_listed(driven)}")
    print(entry["verdict"]["sentence"])
    if entry.get("trade_off"):
        print(entry["trade_off"])
    if "tuning" in entry:
        print(entry["tuning"]["sentence"])
    if "known_floor" in entry:
        print(entry["known_floor"]["sentence"])
    if entry.get("suggestion"):
        print(entry["suggestion"])


def _listed(figures):
    return ", ".join(f"{name} ({tables.number(x, '.2f')})" for name, x in figures.items())


def _print_lengths(entry):
    from ..reports.pages.arithmetic.entries import contrast_rows, lengths_rows

    header = ("", "accuracy", "2.5%", "50%", "97.5%", "P(none)")
    titles = {"typical": "digits, of the median run", "new": "digits, of a run with a new seed", "runs": "of each run"}
    for kind, title in titles.items():
        tables.print_table(title, header, lengths_rows(entry, kind))
    if entry["contrasts"]:
        title = "contrasts of embeddings: ratio of lengths, difference of accuracies"
        header = ("median runs", "", "2.5%", "50%", "97.5%", "P(first above)")
        tables.print_table(title, header, contrast_rows(entry))
    if entry["confounded"]:
        print(f"the runs cannot tell apart from other effects: {', '.join(entry['confounded'])}")

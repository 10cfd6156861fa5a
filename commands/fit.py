"""The command ``fit``: a law fitted to a table, checked, and saved."""

from . import options, parsing, tables


@options.works
@options.shares(options.Fitting)
def fit(
    law: options.LawOrCoupled = "coupled",
    data: options.AnyTable = None,
    out: options.FitOut = None,
    log_likelihood: options.LogLikelihood = None,
    *,
    fitting,
):
    """Fit a law, by default the coupled one, to a table of runs with NUTS."""
    from ..datasets.files import check_writable

    chosen = parsing.law_named(law, fitting)
    table = parsing.table_for(chosen, data, fitting)
    if out:
        check_writable(out)
    # Only now, for these take longer than reading a table that may have to be refused.
    from ..inference import fit as fit_law
    from ..inference.checks.chains import sentence
    from ..inference.checks.wider_laws import suggestion, worth_trying
    from ..inference.progress_messages import say
    from ..reports import results
    from ..reports.entries import fit_entry

    showing = tables.interactive(fitting.json)
    asked = parsing.sampler_settings(fitting) | {"log_likelihood": log_likelihood}
    with tables.verdict_later(unless=fitting.json):
        fitted = fit_law(chosen, table, progress=showing, **asked)
    say("judging the fit: leave-one-out, robust errors, tests of misfit", showing)
    fitted.loo(progress=showing)
    entry = fit_entry(fitted, seed=fitting.seed)
    if worth_trying(fitted):
        say("fitting what may fit better", showing)
        tries = {"most": 2, "seed": fitting.seed, "progress": showing}
        others = fitted.wider_laws(**tries)
        entry |= {"alternatives": others, "suggestion": suggestion(fitted, others)}
    if out:
        fitted.save(out)
    if fitting.json:
        tables.print_json({"law": law, "provenance": results.provenance({law: fitted}), **entry})
        return
    named = chosen.label if fitting.group else law
    title = f"{named} on {entry['data']}, {entry['rows']} rows, {chosen.noise} noise on {chosen.scale}"
    tables.print_fit(title, entry, sentence(fitted.record["diagnostics"]))
    tables.print_written(out)

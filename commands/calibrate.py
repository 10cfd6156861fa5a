"""The command ``calibrate``: a law fitted to tables simulated from it."""

from . import options, parsing, tables


@options.works
@options.shares(options.Fitting, draws=500, tune=500)
def calibrate(
    law: options.LawName,
    data: options.AnyTable = None,
    truth: options.Truth = "posterior",
    simulations: options.Simulations = 100,
    out: options.RanksOut = None,
    *,
    fitting,
):
    """Fit a law to tables simulated from it, to check that its intervals cover at their nominal rate."""
    from ..datasets.files import check_writable

    chosen = parsing.law_named(law, fitting)
    table = parsing.table_for(chosen, data, fitting)
    if out:
        check_writable(out)
    from ..inference import calibrate as calibrate_law
    from ..inference.checks.calibration import sentence
    from ..reports import results

    found = calibrate_law(
        chosen,
        table,
        truth=truth,
        simulations=simulations,
        out=out,
        progress=tables.interactive(fitting.json),
        **parsing.sampler_settings(fitting),
    )
    if fitting.json:
        tables.print_json({"law": law, **results.calibration_entry(found)})
        return
    summary = found.table()
    tables.print_calibration(f"{law}, {len(found['simulation'])} truths from the {truth}", summary)
    print(sentence(summary))
    tables.print_written(out)

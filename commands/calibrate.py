"""The command ``calibrate``: a law fitted to tables simulated from it."""

from pathlib import Path
from typing import Annotated

from typer import Option

from . import options, parsing, tables

HEADER = ("", "error in sd", "50% covers", "90% covers", "p uniform")


@options.works
@options.shares(options.Fitting, draws=500, tune=500)
def calibrate(
    law: options.LawName,
    data: options.AnyTable = None,
    truth: Annotated[str, Option(help="Distribution that truths are drawn from: posterior or prior.")] = "posterior",
    simulations: Annotated[int, Option(help="Tables to simulate and fit.")] = 100,
    out: Annotated[Path | None, Option(help="Write ranks to this file, which resumes.", metavar="FILE.nc")] = None,
    *,
    fitting,
):
    """Check that a law's intervals cover, on simulated tables. They are simulated from the law and fitted with it."""
    chosen, table = parsing.law_and_table(law, data, fitting, out)
    from ..inference import calibrate as calibrate_law
    from ..inference.checks.calibration import sentence
    from ..reports import results

    calibration = calibrate_law(
        chosen,
        table,
        truth=truth,
        simulations=simulations,
        out=out,
        progress=tables.interactive(fitting.json),
        **parsing.sampler_settings(fitting),
    )
    if fitting.json:
        tables.print_json({"law": law, **results.calibration_entry(calibration)})
        return
    summary = calibration.table()
    _print(f"{law}, {len(calibration['simulation'])} truths from the {truth}", summary)
    print(sentence(summary))
    tables.print_written(out)


def _print(title, summary):
    from ..datasets.wording import p_value

    shown, left_out = tables.few_levels(summary.index)
    rows = [
        (
            name,
            f"{row['error']:+.2f} ± {row['error_se']:.2f}",
            *(f"{row[column]:.0%}" for column in ("coverage_50", "coverage_90")),
            p_value(row["p_uniform"], ""),
        )
        for name, row in summary.loc[shown].iterrows()
    ]
    tables.print_table(title, HEADER, rows)
    if left_out:
        print(left_out)

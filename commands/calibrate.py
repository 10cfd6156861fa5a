"""The command ``calibrate``: a law fitted to tables simulated from it."""

from pathlib import Path
from typing import Annotated

from typer import Option

from . import options, parsing, tables


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
    document = {"law": law, **results.calibration_entry(calibration)}
    tables.print_result(calibration, document, fitting.json, out)

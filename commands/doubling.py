"""The command ``doubling``: doubling times of saved fits."""

import sys

from . import options, tables


def doubling(
    files: options.ProgressFiles,
    compute: options.RateCompute = None,
    year: options.RateYear = None,
    json: options.Json = False,
):
    """Print the months in which algorithmic progress doubles effective compute.

    They are at the evaluations' own sizes and dates, over all and by benchmark. With --compute or --year they are at a
    budget and a year, which may lie far from every evaluation.
    """
    from ..inference import storage
    from ..inference.progress.rate_at_optimum import COMPUTE, YEAR, doubling_times
    from ..inference.progress.rate_at_rows import gain_times
    from ..reports import results

    at = None
    if compute is not None or year is not None:
        at = {"compute": COMPUTE if compute is None else compute, "year": YEAR if year is None else year}
    names = tables.names_of(files, json)
    fits = {name: storage.open(path) for name, path in zip(names, files, strict=True)}
    by_fit = {name: doubling_times(fit, **at) if at else gain_times(fit) for name, fit in fits.items()}
    diagnostics = {name: fit.diagnostics for name, fit in fits.items()}
    if json:
        document = {
            name: {
                "at": at or "the evaluations",
                "doubling_months": results.doubling_entries(times),
                "diagnostics": diagnostics[name],
            }
            for name, times in by_fit.items()
        }
        tables.print_json(document)
        return
    tables.print_doubling(by_fit, at)
    for name, times in by_fit.items():
        tables.print_diagnostics(name, diagnostics[name])
        left_out = int(times["no_optimum"].sum()) if at else 0
        if left_out:
            print(f"warning: {name}: {left_out} draws have no optimum and are left out", file=sys.stderr)

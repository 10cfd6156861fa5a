"""What the command ``compare`` does. Imports that cost time happen inside."""

from . import console
from .errors import InputError


def of_files(files, weighting, json):
    """Compare saved fits of the same rows and print the verdict on the law of each."""
    from .inference import compare, open_fit
    from .reports import results

    if len(set(files)) < len(files):
        raise InputError("a file is named twice; name each fit once")
    fits = {str(path): open_fit(path) for path in files}
    table = compare(fits, weighting=weighting, progress=console.interactive(json))
    verdicts = {name: results.verdict_entry(fit) for name, fit in fits.items()}
    if json:
        console.print_json(results.comparison_document(table, weighting=weighting, verdict=verdicts))
        return
    console.print_comparison(f"leave-one-out, {weighting} weights", table)
    for name in table.index:
        print(f"{name}: {verdicts[name]['sentence']}")


def paper_grid(seed, json):
    """Print the paper's own penalised fits of every specification."""
    from .datasets import load
    from .inference.points.penalised import penalised_grid
    from .reports import results

    table = penalised_grid(load("lm_progress"), seed=seed, progress=console.interactive(json))
    if json:
        rows = [{name: results.finite(x) for name, x in row.items()} for row in table.to_dict("records")]
        console.print_json({"paper_grid": rows})
        return
    rows = [[console.number(x) for x in row] for row in table.to_numpy()]
    console.print_table("the paper's estimator", list(table.columns), rows)


def of_specifications(seed, json):
    """Fit all specifications to the built-in evaluations and print them by leave-one-out."""
    from .datasets import load
    from .inference import compare_progress, fit_progress, progress_fitter
    from .reports import results

    fitter = progress_fitter(load("lm_progress"))
    fits = fit_progress(fitter=fitter, seed=seed, progress=console.interactive(json))
    table, _ = compare_progress(fits, fitter=fitter, seed=seed, progress=console.interactive(json))
    if json:
        console.print_json(results.comparison_document(table))
    else:
        console.print_specifications(table)

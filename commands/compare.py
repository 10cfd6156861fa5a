"""The command ``compare``: fits of the same rows by leave-one-out, or the specifications of progress."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options, tables


@options.works(most=4)
def compare(
    files: Annotated[
        list[Path],
        Argument(help="Fits that 'bayescaling fit' wrote, or the word progress.", metavar="FILE.nc...|progress"),
    ],
    weighting: Annotated[
        str, Option(help="stacking, pseudo_bma or equal; rollout for predictions beyond the runs.")
    ] = "stacking",
    by: Annotated[
        str | None,
        Option(help="Column whose rows of one value are left out together, such as model.", metavar="COLUMN"),
    ] = None,
    seed: options.Seed = 1,
    json: options.Json = False,
):
    """Compare fits of the same rows by leave-one-out. The word progress fits and compares its 20 specifications.

    A fit and the name of a published law compare its posterior with the published constants.
    """
    from ..models.published import laws

    if [str(path) for path in files] == ["progress"]:
        of_specifications(seed, json)
    elif len(files) == 2 and str(files[1]) in laws():
        compare_published(*files, json)
    else:
        of_files(files, by, weighting, json)


def compare_published(file, name, json):
    """Compare the constants of a published law with the posterior of a fit of it, and print both errors of its rows."""
    from ..inference import published, storage

    table = published(str(name)).compare(storage.open(file))
    tables.print_result(table, {"constants": table.to_dict("index"), "errors": table.attrs["errors"]}, json)


def of_files(files, by, weighting, json):
    """Compare saved fits of the same rows and print the result of the checks of each law."""
    from ..inference import compare
    from ..reports import results

    fits = tables.open_fits(files, json)
    verdicts = {name: results.verdict_entry(fit) for name, fit in fits.items()}
    table = compare(fits, by=by, weighting=weighting, progress=tables.interactive(json))
    tables.print_result(table, results.comparison_document(table, weighting=weighting, verdict=verdicts), json)


def of_specifications(seed, json):
    """Fit all specifications to the built-in evaluations and print their leave-one-out comparison; fits are cached."""
    from ..datasets import load, sha256
    from ..inference.progress.compare import compare as compare_progress
    from ..inference.progress.fitting import fit_all, new_fitter
    from ..inference.workers import processes
    from ..models.progress.specifications import SPECIFICATIONS
    from ..reports import results
    from ..reports.cache.stages import Stages

    table, numbers = load("lm_progress"), list(SPECIFICATIONS)
    fitter, fits = new_fitter(table), {}
    # Each stage fits as many as there are processes.
    parts = [tuple(numbers[i : i + processes()]) for i in range(0, len(numbers), processes())]
    names = {part: f"specification {', '.join(map(str, part))}" for part in parts}
    key = {"module": __name__, "table": sha256(table), "seed": seed}
    with Stages([*names.values(), "leave-one-out"], not json, **key) as stage:
        for part, name in names.items():
            fits |= stage(name, lambda part=part: fit_all(fitter=fitter, specifications=part, seed=seed))
        table = stage("leave-one-out", lambda: compare_progress(fits, seed=seed)[0])
    tables.print_result(table, results.comparison_document(table), json)

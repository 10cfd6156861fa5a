"""What the command ``compare`` does. Imports that cost time happen inside."""

from ..errors import InputError
from . import options, tables


def of_files(files, weighting, json):
    """Compare saved fits of the same rows and print the verdict on the law of each."""
    from ..inference import compare, storage
    from ..reports import results

    if len(set(files)) < len(files):
        raise InputError("a file is named twice; name each fit once")
    fits = {name: storage.open(path) for name, path in zip(tables.names_of(files, json), files, strict=True)}
    table = compare(fits, weighting=weighting, progress=tables.interactive(json))
    verdicts = {name: results.verdict_entry(fit) for name, fit in fits.items()}
    if json:
        tables.print_json(results.comparison_document(table, weighting=weighting, verdict=verdicts))
        return
    tables.print_comparison(f"leave-one-out, {weighting} weights", table)
    if weighting != "rollout" and all(fit.law.kind == "runs" for fit in fits.values()):
        print("these weights are of predictions inside the runs; beyond them use --weighting rollout")
    for name in table.index:
        print(f"{name}: {verdicts[name]['sentence']}")


def paper_grid(seed, json):
    """Print the paper's own penalised fits of every specification."""
    from ..datasets import load
    from ..inference import intervals
    from ..inference.points.penalised import penalised_grid

    table = penalised_grid(load("lm_progress"), seed=seed, progress=tables.interactive(json))
    if json:
        rows = [{name: intervals.finite(x) for name, x in row.items()} for row in table.to_dict("records")]
        tables.print_json({"paper_grid": rows})
        return
    rows = [[tables.number(x) for x in row] for row in table.to_numpy()]
    tables.print_table("the paper's estimator", list(table.columns), rows)


def of_specifications(seed, json):
    """Fit all specifications to the built-in evaluations and print them by leave-one-out; what is done is kept."""
    from ..datasets import load, sha256
    from ..inference.progress.compare import compare as compare_progress
    from ..inference.progress.fitting import fit_all, new_fitter
    from ..inference.workers import processes
    from ..models import SPECIFICATIONS
    from ..reports import results
    from ..reports.cache.stages import Stages

    table, numbers = load("lm_progress"), list(SPECIFICATIONS)
    fitter, fits = new_fitter(table), {}
    # As many at a time as are fitted at once.
    parts = [tuple(numbers[i : i + processes()]) for i in range(0, len(numbers), processes())]
    names = {part: f"specification {', '.join(map(str, part))}" for part in parts}
    made = {"module": __name__, "table": sha256(table), "seed": seed}
    with Stages([*names.values(), "leave-one-out"], not json, **made) as stage:
        for part, name in names.items():
            fits |= stage(name, lambda part=part: fit_all(fitter=fitter, specifications=part, seed=seed))
        compared = stage("leave-one-out", lambda: compare_progress(fits, seed=seed)[0])
    if json:
        tables.print_json(results.comparison_document(compared))
    else:
        tables.print_specifications(compared)


@options.works(most=4)
def compare(
    files: options.FitFilesOrProgress,
    weighting: options.Weighting = "stacking",
    paper_grid: options.PaperGrid = False,
    seed: options.Seed = 1,
    json: options.Json = False,
):
    """Compare fits of the same rows by leave-one-out, or fit and compare all 20 specifications of progress."""
    if [str(path) for path in files] == ["progress"]:
        (paper_grid if paper_grid else of_specifications)(seed, json)
        return
    of_files(files, weighting, json)

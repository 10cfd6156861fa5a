"""The commands that check and compare: ``compare``, ``rollout``, ``calibrate``, ``points`` and ``reconcile``."""

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError, TableWarning
from . import options, parsing, tables

COUNTED = {"nonembedding": "without embeddings", "total": "all parameters"}


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
    paper_grid: Annotated[
        bool,
        Option("--paper-grid", help="With progress: the paper's own 20 x 6 penalised fits instead, minutes of work."),
    ] = False,
    seed: options.Seed = 1,
    json: options.Json = False,
):
    """Compare fits of the same rows by leave-one-out. The word progress fits and compares its 20 specifications."""
    if [str(path) for path in files] == ["progress"]:
        (of_paper if paper_grid else of_specifications)(seed, json)
    else:
        of_files(files, by, weighting, json)


def of_files(files, by, weighting, json):
    """Compare saved fits of the same rows and print the result of the checks of each law."""
    from ..inference import compare
    from ..reports import results

    fits = tables.open_fits(files, json)
    verdicts = {name: results.verdict_entry(fit) for name, fit in fits.items()}
    table = compare(fits, by=by, weighting=weighting, progress=tables.interactive(json))
    tables.print_result(table, results.comparison_document(table, weighting=weighting, verdict=verdicts), json)


def of_paper(seed, json):
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


@options.works
@options.shares(options.Fitting)
def rollout(
    law: options.LawName,
    below: Annotated[
        list[str], Option(help="Fit the rows below this: 1e20, '1 ZFLOP' or 2019-06-30. Repeatable.", metavar="CUTOFF")
    ],
    by: Annotated[
        str, Option(help="What to cut along: compute of runs, date of evaluations, or a column.", metavar="COLUMN")
    ] = "compute",
    data: options.AnyTable = None,
    figure: options.Figure = None,
    beyond: options.Beyond = "drift",
    *,
    fitting,
):
    """Fit a law below a cutoff, and score what it predicts. Each cutoff has a fit and a score."""
    from ..inference import rollout as roll_out
    from ..plots.with_matplotlib import check_format

    chosen, table = parsing.law_and_table(law, data, fitting, figure)
    if figure:
        check_format(figure)
    if by == "compute":
        below = [parsing.flop(text, "--below") for text in below]
    settings = parsing.sampler_settings(fitting) | {"progress": tables.interactive(fitting.json)}
    result = roll_out(chosen, table, by, below, beyond=beyond, **settings)
    if figure:
        tables.draw(figure, [partial(result.plot, cutoff=cutoff) for cutoff in result.scores.index])
    tables.print_result(result, {"law": law, "by": by, **result.document()}, fitting.json, figure)


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


@options.shares(options.Reading)
def points(
    data: Annotated[str, Option(help=f"A built-in table or a file of runs {options.FORMATS}")] = "chinchilla_runs",
    width: Annotated[float, Option(help="Width of an iso-FLOP group in decades of compute.", metavar="DECADES")] = 0.1,
    minimum_runs: Annotated[int | None, Option(help="Fewest runs of an iso-FLOP group: 8, with --by 4.")] = None,
    compute: Annotated[
        list[str] | None, Option(help=f"Compute of an iso-FLOP group: {options.FLOP}. Repeatable.", metavar="FLOP")
    ] = None,
    by: Annotated[str | None, Option(help="Column of the budgets of iso-FLOP groups.", metavar="COLUMN")] = None,
    *,
    reading,
):
    """Print the usual point estimates of a table. They are Huber fits, iso-FLOP parabolas and the frontier."""
    from ..datasets.kinds.runs import RUNS
    from ..datasets.printed import Text
    from ..reports.pages.chinchilla.estimators import point_estimates

    runs = parsing.read_table(RUNS, data, replace(reading, drop_highest=0))
    budgets = parsing.numbers(compute or [], "--compute") or None
    isoflop = {"width": width, "minimum_runs": minimum_runs, "compute": budgets, "by": by}
    estimates = point_estimates(runs, drop_highest=reading.drop_highest, **isoflop)
    if reading.json:
        tables.print_json({"data": runs.attrs.get("source", data), "point_estimates": estimates.to_dict()})
        return
    usable = (estimates.parametric | estimates.envelopes).items()
    print(*(estimate for name, estimate in usable if name not in estimates.missing), sep="\n\n")
    for name, reason in estimates.missing.items():
        print(f"\n{Text(f'{name}: not available: {reason}.')}")


def reconcile(
    file: Annotated[
        Path,
        Argument(
            metavar="FILE.nc|DIR",
            help="A fit of chinchilla, coupled, offsets or embedding-corrected; or the --out of bayescaling train.",
        ),
    ],
    vocabulary: options.Vocabulary = None,
    aspect_ratio: options.AspectRatio = None,
    json: options.Json = False,
):
    """Print the exponents that Kaplan's study would measure.

    Of the folder of a sweep, print those of the lower envelope of the curves of each scheme instead, next to table 1 of
    Pearce and Song (2024).
    """
    from ..inference import storage

    if file.is_dir():
        _of_schemes(file, json)
        return
    fit = storage.open(file)
    exponents = fit.study_exponents(vocabulary=vocabulary, aspect_ratio=aspect_ratio)
    tables.print_result(exponents, exponents.document(), json)


def _of_schemes(folder, json):
    """Print the exponent of the optimal size in compute of each scheme of a sweep, counted in both ways."""
    from ..datasets import load, read
    from ..inference.points.curves import curve_frontier

    published = load("published").set_index("quantity")["estimate"]
    paths = sorted(path for path in folder.glob("*.csv") if path.stem != "runs")
    if not paths:
        raise InputError(f"{folder}: there is no table of a scheme, such as scheme-1.csv; give the --out of a sweep")
    entries = {}
    for path in paths:
        with warnings.catch_warnings():
            # Readings of one run depend on each other, and make its curve.
            warnings.simplefilter("ignore", TableWarning)
            runs, key = read(path, unit={"parameters": 1}), path.stem.replace("-", "")
        for basis in COUNTED:
            paper = published.get(f"small_lm.exponent.{basis}.{key}")
            exponent = curve_frontier(runs, basis=basis)["exponent"]
            entries.setdefault(path.stem, {})[basis] = {"exponent": exponent, "published": paper}
    if json:
        tables.print_json({"exponents": entries})
        return
    rows = [
        (scheme, *(tables.number(entry[basis][name], ".2f") for basis in COUNTED for name in ("exponent", "published")))
        for scheme, entry in entries.items()
    ]
    header = ("scheme", *(text for basis in COUNTED for text in (COUNTED[basis], "published")))
    tables.print_table("exponent of the optimal size in compute; Pearce and Song (2024), table 1", header, rows)

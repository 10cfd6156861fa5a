"""The command line: ``bayescaling COMMAND``.

Results go to standard output (one JSON document with ``--json``), everything else to standard error. Input that cannot
be used is refused in one line with exit status 2. Imports that cost time happen inside the commands.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from . import __version__
from .console import (
    SUMMARY_HEADER,
    interactive,
    number,
    pairs,
    print_json,
    print_table,
    records,
    show_warning,
    summary_row,
    values,
)
from .errors import InputError

app = typer.Typer(
    help="Bayesian scaling laws of neural networks: posteriors, comparisons and decisions with their uncertainty.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document to standard output and nothing else.")]
Data = Annotated[str, typer.Option("--data", help="A built-in table or a file of runs (CSV, TSV, Parquet, netCDF).")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", help="Which column is which: loss=my_name. Repeatable.", metavar="NAME=COLUMN"),
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", help="A column to set aside. Repeatable.", metavar="COLUMN")
]
Perplexity = Annotated[bool, typer.Option("--perplexity", help="Convert a perplexity column to loss.")]
Vocabulary = Annotated[
    float | None, typer.Option(help="Rows of the embedding of the models asked about; 32000 by default.", metavar="V")
]
AspectRatio = Annotated[
    float | None, typer.Option(help="Their width over layers; that of Chinchilla's by default.", metavar="A")
]
Seed = Annotated[int, typer.Option(help="Seed of the draws.")]
Sampler = Annotated[str | None, typer.Option(help="nutpie, numpyro or pymc.")]
Draws = Annotated[int, typer.Option(help="Kept draws of each chain.")]
Tune = Annotated[int, typer.Option(help="Warm-up iterations of each chain.")]
Chains = Annotated[int, typer.Option()]
Cores = Annotated[int | None, typer.Option(help="Chains run at a time.")]
TargetAccept = Annotated[float | None, typer.Option(help="0.9, of progress-N and lengths 0.95.")]
LawName = Annotated[str, typer.Argument(metavar="LAW", help="Such as chinchilla.")]
AnyTable = Annotated[
    str | None, typer.Option("--data", help="A built-in table, or a file (CSV, TSV, Parquet, netCDF).")
]
Priors = Annotated[
    list[str] | None,
    typer.Option("--prior", help='Replace a prior: alpha="LogNormal(-1, 0.5)". Repeatable.', metavar="NAME=DIST"),
]
Noise = Annotated[
    str | None,
    typer.Option(help="student_t (default), normal or huber; of progress-N normal; of lengths beta_binomial."),
]
Scale = Annotated[str | None, typer.Option(help="Residuals on log_loss (default) or loss; of progress-N loss.")]
Threshold = Annotated[float | None, typer.Option(help="Threshold of the Huber noise, in units of its scale (1.345).")]
MeasurementError = Annotated[bool, typer.Option("--measurement-error", help="Use the column loss_halfwidth.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="An option of the law: transformer=exp of progress-N, shape=linear of lengths. Repeatable.",
        metavar="NAME=VALUE",
    ),
]


def _runs(data, columns, ignore, perplexity):
    from .datasets import catalogue, load, read

    if data in set(catalogue()["name"]) and not Path(data).exists():
        if columns or ignore or perplexity:
            raise InputError(f"--column, --ignore and --perplexity are for files, not for the built-in table {data!r}")
        return load(data)
    return read(data, columns=pairs(columns, "--column"), ignore=ignore or (), perplexity=perplexity)


def _table_for(law, data, columns, ignore, perplexity):
    from .models import Configurations, Lengths, Progress
    from .models.configurations import chinchilla_configurations, configurations_of

    if isinstance(law, Configurations):
        return configurations_of(_runs(data, columns, ignore, perplexity)) if data else chinchilla_configurations()
    if not isinstance(law, Lengths | Progress):
        return _runs(data or "chinchilla_runs", columns, ignore, perplexity)
    from .datasets import load, read_counts, read_evaluations

    built_in, reader = (
        ("arithmetic_runs", read_counts) if isinstance(law, Lengths) else ("lm_progress", read_evaluations)
    )
    if ignore or perplexity:
        raise InputError(f"--ignore and --perplexity are for tables of runs with losses, not for the law {law.name!r}")
    if data not in (None, built_in):
        return reader(data, columns=pairs(columns, "--column"))
    if columns:
        raise InputError(f"--column is for files, not for the built-in table {built_in!r}")
    return load(built_in)


def _law(name, prior, noise, scale, threshold, measurement_error, option):
    from . import models

    given = {"noise": noise, "scale": scale, "threshold": threshold, "measurement_error": measurement_error or None}
    options = {name: value for name, value in given.items() if value is not None} | values(option)
    return models.law(name, priors=pairs(prior, "--prior"), **options)


def _sampling(seed, sampler, draws, tune, chains, json, cores=None, target_accept=None):
    asked = {"cores": cores, "target_accept": target_accept}
    return {
        "seed": seed,
        "sampler": sampler,
        "draws": draws,
        "tune": tune,
        "chains": chains,
        "progress": interactive(json),
    } | {name: value for name, value in asked.items() if value is not None}


INTERRUPTED = 130


@app.command()
def fit(
    law: LawName,
    data: AnyTable = None,
    out: Annotated[Path | None, typer.Option(help="Write the fit to this netCDF file.", metavar="FILE.nc")] = None,
    prior: Priors = None,
    noise: Noise = None,
    scale: Scale = None,
    threshold: Threshold = None,
    measurement_error: MeasurementError = False,
    option: Options = None,
    sampler: Sampler = None,
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Chains = 4,
    cores: Cores = None,
    target_accept: TargetAccept = None,
    seed: Seed = 1,
    column: Columns = None,
    ignore: Ignore = None,
    perplexity: Perplexity = False,
    json: Json = False,
):
    """Fit a law to a table of runs with NUTS."""
    from . import models
    from .inference import fit as fit_law
    from .inference import metadata, save_fit
    from .inference.diagnostics import sentence
    from .inference.storage import check_writable
    from .reports import results
    from .reports.arithmetic.entry import lengths_entry

    chosen = _law(law, prior, noise, scale, threshold, measurement_error, option)
    runs = _table_for(chosen, data, column, ignore, perplexity)
    if out:
        check_writable(out)
    sampling = _sampling(seed, sampler, draws, tune, chains, json, cores, target_accept)
    fitted = fit_law(chosen, runs, **sampling)
    entry = results.law_entry(fitted)
    if isinstance(chosen, models.Lengths):
        entry |= lengths_entry(fitted, seed=seed)
    if out:
        save_fit(fitted, out)
    if json:
        print_json({"law": law, "provenance": results.provenance({law: fitted}), **entry})
        return
    if isinstance(chosen, models.Lengths):
        _print_lengths(entry)
    rows = [summary_row(name, q) for name, q in entry["parameters"].items() if "_run[" not in name]
    title = f"{law} on {entry['data']}, {entry['rows']} rows, {chosen.noise} noise on {chosen.scale}"
    print_table(title, SUMMARY_HEADER, rows)
    elpd, se, k = (
        number(entry["elpd_loo"], ".1f"),
        number(entry["elpd_se"], ".1f"),
        number(entry["pareto_k_max"], ".2f"),
    )
    print(f"elpd_loo {elpd} (se {se}), largest Pareto k {k}, {entry['k_above_0.7']} above 0.7")
    print(sentence(metadata(fitted)["diagnostics"]))
    if out:
        print(f"written to {out}")


def _print_lengths(entry):
    from .reports.arithmetic.entry import contrast_rows, lengths_rows

    header = ("", "accuracy", "2.5%", "50%", "97.5%", "P(none)")
    titles = {"typical": "digits, of the median run", "new": "digits, of a run with a new seed", "runs": "of each run"}
    for kind, title in titles.items():
        print_table(title, header, lengths_rows(entry, kind))
    if entry["contrasts"]:
        header = ("median runs", "", "2.5%", "50%", "97.5%", "P(first above)")
        print_table("contrasts of embeddings: ratio of lengths, difference of accuracies", header, contrast_rows(entry))
    if entry["confounded"]:
        print(f"the runs cannot tell apart from other effects: {', '.join(entry['confounded'])}")


@app.command()
def calibrate(
    law: LawName,
    data: AnyTable = None,
    truth: Annotated[str, typer.Option(help="Where truths are drawn from: posterior or prior.")] = "posterior",
    simulations: Annotated[int, typer.Option(help="Tables to simulate and fit.")] = 100,
    out: Annotated[
        Path | None,
        typer.Option(help="Write ranks to this netCDF file as they come; go on with what it holds.", metavar="FILE.nc"),
    ] = None,
    prior: Priors = None,
    noise: Noise = None,
    scale: Scale = None,
    threshold: Threshold = None,
    measurement_error: MeasurementError = False,
    option: Options = None,
    sampler: Sampler = None,
    draws: Draws = 500,
    tune: Tune = 500,
    chains: Chains = 4,
    cores: Cores = None,
    target_accept: TargetAccept = None,
    seed: Seed = 1,
    column: Columns = None,
    ignore: Ignore = None,
    perplexity: Perplexity = False,
    json: Json = False,
):
    """Fit a law to tables simulated from it, to see whether its intervals cover as often as they say."""
    from .inference import calibrate as calibrate_law
    from .inference import calibration_table
    from .inference.calibration import verdict
    from .inference.storage import check_writable
    from .reports import results

    chosen = _law(law, prior, noise, scale, threshold, measurement_error, option)
    table = _table_for(chosen, data, column, ignore, perplexity)
    if out:
        check_writable(out)
    found = calibrate_law(
        chosen,
        table,
        truth=truth,
        simulations=simulations,
        out=out,
        **_sampling(seed, sampler, draws, tune, chains, json, cores, target_accept),
    )
    summary = calibration_table(found)
    if json:
        print_json({"law": law, **results.calibration_entry(found)})
        return
    header = ("", "error in sd", "50% covers", "90% covers", "p uniform")
    rows = [
        (
            name,
            f"{row['error']:+.2f} ± {row['error_se']:.2f}",
            f"{row['coverage_50']:.0%}",
            f"{row['coverage_90']:.0%}",
            f"{row['p_uniform']:.3f}",
        )
        for name, row in summary.iterrows()
        if "_run[" not in name
    ]
    print_table(f"{law}, {len(found['simulation'])} truths from the {truth}", header, rows)
    print(verdict(summary))
    if out:
        print(f"written to {out}")


@app.command()
def compare(
    files: Annotated[
        list[Path],
        typer.Argument(help="Fits that 'bayescaling fit' wrote, or the word progress.", metavar="FILE.nc...|progress"),
    ],
    weighting: Annotated[str, typer.Option(help="stacking, pseudo_bma or equal.")] = "stacking",
    paper_grid: Annotated[
        bool,
        typer.Option(
            "--paper-grid", help="With progress: the paper's own 20 x 6 penalised fits instead, minutes of work."
        ),
    ] = False,
    seed: Seed = 1,
    json: Json = False,
):
    """Compare fits of the same rows by leave-one-out, or fit and compare all 20 specifications of progress."""
    if [str(path) for path in files] == ["progress"]:
        _paper_grid(seed, json) if paper_grid else _compare_progress(seed, json)
        return
    from .inference import compare as compare_fits
    from .inference import open_fit
    from .reports import results

    if len(set(files)) < len(files):
        raise InputError("a file is named twice; name each fit once")
    table = compare_fits({str(path): open_fit(path) for path in files}, weighting=weighting)
    if json:
        print_json({"weighting": weighting, "models": results.comparison_entries(table)})
        return
    shown = ("elpd", "se", "p", "elpd_diff", "dse", "weight", "pareto_k_max", "k_above_0.7", "r_hat_max", "divergences")
    rows = [
        (name, *(f"{row[c]:.3g}" if c == "weight" else number(row[c]) for c in shown)) for name, row in table.iterrows()
    ]
    print_table(f"leave-one-out, {weighting} weights", ("", *shown), rows)


def _paper_grid(seed, json):
    from .datasets import load
    from .inference.penalised import penalised_grid
    from .reports import results

    table = penalised_grid(load("lm_progress"), seed=seed, progress=interactive(json))
    if json:
        rows = [{name: results.finite(x) for name, x in row.items()} for row in table.to_dict("records")]
        print_json({"paper_grid": rows})
        return
    print_table(
        "the paper's estimator", list(table.columns), [[number(x, ".4g") for x in row] for row in table.to_numpy()]
    )


def _compare_progress(seed, json):
    from .datasets import load
    from .inference import ProgressFitter, compare_progress, fit_progress
    from .reports import results

    fitter = ProgressFitter(load("lm_progress"))
    fits = fit_progress(fitter=fitter, seed=seed, progress=interactive(json))
    table, _ = compare_progress(fits, fitter=fitter, seed=seed, progress=interactive(json))
    if json:
        print_json({"models": results.comparison_entries(table)})
        return
    shown = ("elpd", "se", "elpd_diff", "dse", "dse_by_paper", "loo_mse", "stacking", "by_paper_stacking",
             "pareto_k_max",
             "refitted", "r_hat_max", "ess_bulk_min", "divergences")  # fmt: skip
    rows = [(f"progress-{k}", *(number(row[c], ".3g") for c in shown)) for k, row in table.iterrows()]
    print_table("the 20 specifications by leave-one-out", ("", *shown), rows)


@app.command()
def doubling(
    files: Annotated[list[Path], typer.Argument(help="Fits of progress-N.", metavar="FILE.nc...")],
    compute: Annotated[
        float, typer.Option(help="FLOP at which exponents that change are taken.", metavar="FLOP")
    ] = 1e25,
    year: Annotated[float, typer.Option(help="Date, likewise.")] = 2023.0,
    json: Json = False,
):
    """Say in how many months algorithmic progress doubles effective compute."""
    from .inference import diagnose, doubling_times, open_fit
    from .reports import results

    fits = {str(path): open_fit(path) for path in files}
    found = {path: doubling_times(fit, compute=compute, year=year) for path, fit in fits.items()}
    if json:
        said = {
            path: {"doubling_months": results.comparison_entries(times), "diagnostics": diagnose(fits[path])}
            for path, times in found.items()
        }
        print_json(said)
        return
    shown = ("q2.5", "q50", "q97.5", "optimal_q2.5", "optimal_q50", "optimal_q97.5")
    header = ("", "", "P(progress)", "2.5%", "50%", "97.5%", "optimal scaling 2.5%", "50%", "97.5%")
    rows = [
        (
            path,
            label,
            f"{row['p_progress']:.3f}",
            *("never" if row[q] == float("inf") else f"{row[q]:.1f}" for q in shown),
        )
        for path, times in found.items()
        for label, row in times.iterrows()
    ]
    print_table("months in which effective compute doubles", header, rows)
    for path, fit in fits.items():
        _say_diagnostics(path, diagnose(fit))
        left_out = int(found[path]["no_optimum"].sum())
        if left_out:
            print(f"warning: {path}: {left_out} draws have no optimum and are left out", file=sys.stderr)


@app.command()
def allocate(
    file: Annotated[Path, typer.Argument(metavar="FILE.nc", help="A fit that 'bayescaling fit' wrote.")],
    compute: Annotated[list[float], typer.Option(help="Training budget in FLOP. Repeatable.", metavar="FLOP")],
    vocabulary: Vocabulary = None,
    aspect_ratio: AspectRatio = None,
    json: Json = False,
):
    """Say the compute-optimal parameters, tokens and loss at a budget C = 6 N_T D, N_T all parameters."""
    from .inference import allocate as allocate_fit
    from .inference import diagnose, law_of, open_fit
    from .reports import results

    fitted = open_fit(file)
    found = allocate_fit(fitted, compute, vocabulary=vocabulary, aspect_ratio=aspect_ratio)
    entries = results.allocation_entries(found, law_of(fitted).name)
    if json:
        print_json({"allocation": entries, "diagnostics": diagnose(fitted)})
        return
    for entry in entries:
        names = ("parameters", "parameters_nonembedding", "tokens", "tokens_per_parameter", "loss")
        beyond = entry["extrapolation"]
        note = f", {abs(beyond):.1f} decades {'above' if beyond > 0 else 'below'} the fitted runs" if beyond else ""
        print_table(
            f"{entry['law']} at {entry['compute']:.3g} FLOP{note}",
            SUMMARY_HEADER,
            [summary_row(n, entry[n]) for n in names],
        )
    _say_diagnostics(file, diagnose(fitted))


@app.command()
def reconcile(
    file: Annotated[Path, typer.Argument(metavar="FILE.nc", help="A fit of chinchilla or embedding-corrected.")],
    vocabulary: Vocabulary = None,
    aspect_ratio: AspectRatio = None,
    json: Json = False,
):
    """Say which exponents a study like Kaplan's would have measured, had a fitted law been true."""
    from .inference import diagnose, law_of, open_fit
    from .inference.reconciliation import KAPLAN_EXPONENT
    from .inference.reconciliation import reconcile as reconciled
    from .reports import results

    fitted = open_fit(file)
    found = reconciled(fitted, vocabulary=vocabulary, aspect_ratio=aspect_ratio)
    at_least = float((found["nonembedding"]["size"] >= KAPLAN_EXPONENT).mean())
    entries = {basis: {n: results.summary(x, ratio=True) for n, x in e.items()} for basis, e in found.items()}
    if json:
        print_json({"exponents": entries, "p_exponent_above_0.73": at_least, "diagnostics": diagnose(fitted)})
        return
    labels = {"size": "of the optimal size", "loss": "of the loss", "reducible_loss": "of the loss above E"}
    for basis, exponents in entries.items():
        counted = "without embeddings" if basis == "nonembedding" else "all parameters"
        rows = [summary_row(labels[name], q) for name, q in exponents.items()]
        print_table(f"{law_of(fitted).name}: exponents in compute, {counted}", SUMMARY_HEADER, rows)
    print(f"probability of an exponent of at least {KAPLAN_EXPONENT} without embeddings: {at_least:.3f}")
    _say_diagnostics(file, diagnose(fitted))


Out = Annotated[Path, typer.Option("--out", help="Folder for all that is written; a sweep there goes on.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of a Dask scheduler.", metavar="ADDRESS")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda or cuda:1.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds after which to save and stop.")]


@app.command()
def train(
    file: Annotated[Path, typer.Argument(help="A sweep of small language models.", metavar="FILE.toml")],
    out: Out,
    scheduler: Scheduler = None,
    device: Device = None,
    time_limit: TimeLimit = None,
    json: Json = False,
):
    """Train a sweep of small language models and write their losses as a table of runs."""
    from .training import train as train_sweep

    _, said = _trained(train_sweep, file, out, scheduler, device, time_limit, json)
    if json:
        print_json(said)
    else:
        _say_trained(said)


@app.command()
def arithmetic(
    file: Annotated[Path, typer.Argument(help="A sweep of arithmetic models.", metavar="FILE.toml")],
    out: Out,
    scheduler: Scheduler = None,
    device: Device = None,
    time_limit: TimeLimit = None,
    json: Json = False,
):
    """Train arithmetic models, judge them by operand lengths and write what they get right as a table."""
    from .training.arithmetic import accuracies
    from .training.arithmetic import train as train_sweep

    found, said = _trained(train_sweep, file, out, scheduler, device, time_limit, json)
    entries = [] if found is None else accuracies(found)
    if json:
        print_json(said | {"accuracies": entries})
        return
    if entries:
        regions = ("id", "ood", "ood100")
        rows = [
            (
                f"{e['task']} {e['train_digits']} {e['embedding']}",
                f"{e['architecture']} {e['layers']}x{e['recurrences']}",
                e["seed"],
                e["status"],
                *(number(e[region], ".3f") for region in regions),
            )
            for e in entries
        ]
        print_table("share of problems right", ("", "architecture", "seed", "status", *regions), rows)
    _say_trained(said)


def _trained(train_sweep, file, out, scheduler, device, time_limit, json):
    found = train_sweep(
        file, out, scheduler=scheduler, device=device, time_limit=time_limit, progress=interactive(json)
    )
    status = "paused" if found is None else found.attrs["status"]
    runs = 0 if found is None else found.sizes["run"]
    return found, {"status": status, "runs": runs, "table": str(out / "runs.csv")}


def _say_trained(said):
    again = "" if said["status"] == "finished" else "; the same command goes on"
    print(f"{said['runs']} runs, {said['status']}{again}; table {said['table']}")


def _say_diagnostics(name, verdict):
    from .inference.diagnostics import sentence

    if not verdict["ok"]:
        print(f"warning: {name}: {sentence(verdict)}", file=sys.stderr)


@app.command()
def points(
    data: Data = "chinchilla_runs",
    drop_highest: Annotated[int, typer.Option(help="Runs of highest loss to leave out of the parametric fits.")] = 0,
    column: Columns = None,
    ignore: Ignore = None,
    perplexity: Perplexity = False,
    json: Json = False,
):
    """Say what the usual point estimators make of a table: parametric Huber fits, iso-FLOP parabolas, the frontier."""
    from .reports.chinchilla import estimators

    runs = _runs(data, column, ignore, perplexity)
    parametric, envelopes = estimators.point_estimates(runs, drop_highest=drop_highest)
    if json:
        document = {name: e.to_dict() for name, e in (parametric | envelopes).items()}
        print_json({"data": runs.attrs.get("source", data), "point_estimates": document})
        return
    names = ("A", "B", "alpha", "beta", "E")
    rows = [
        (name, *(number(e.constants[n], ".5g") for n in names), e.rows, "yes" if e.converged else "NO")
        for name, e in parametric.items()
    ]
    print_table("parametric fits", ("", *names, "rows", "converged"), rows)
    rows = [(name, number(e.exponent), number(e.standard_error, ".2g"), len(e.points)) for name, e in envelopes.items()]
    print_table("exponent of the optimal size in compute", ("", "exponent", "standard error", "points"), rows)


@app.command()
def data(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A table.")] = None,
    notes: Annotated[bool, typer.Option("--notes", help="Show the notes on the table.")] = False,
    json: Json = False,
):
    """List the built-in tables, or show one."""
    from .datasets import catalogue, load
    from .datasets import notes as notes_on

    if name is None:
        if notes:
            raise InputError("--notes needs the name of a table")
        table = catalogue()
        if json:
            print_json({"tables": table.to_dict("records")})
            return
        print_table(
            "tables", ("name", "rows", "description"), table[["name", "rows", "description"]].to_numpy().tolist()
        )
        return
    table = load(name)
    if json:
        said = {"notes": notes_on(name)} if notes else {}
        print_json({"name": name, **said, "rows": records(table)})
    elif notes:
        print(notes_on(name))
    else:
        print(table.to_csv(index=False), end="")


@app.command()
def report(
    out: Annotated[Path, typer.Option(help="Folder to write to.", metavar="DIR")] = Path("report"),
    page: Annotated[
        list[str] | None, typer.Option(help="chinchilla or progress; all by default. Repeatable.", metavar="PAGE")
    ] = None,
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Chains = 4,
    sampler: Sampler = None,
    seed: Seed = 1,
    json: Json = False,
):
    """Do everything on the built-in tables and write an HTML report, results.json and the posteriors."""
    from .reports import report as make_report

    sampling = _sampling(seed, sampler, draws, tune, chains, json)
    document = make_report(out, **sampling, **({"pages": page} if page else {}))
    if json:
        print_json(document)
    else:
        print(f"written to {out / 'index.html'}, {out / 'results.json'} and {out / 'posteriors'}")


def _version(value):
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
):
    pass


def main():
    """Run the command line."""
    import warnings

    warnings.showwarning = show_warning
    try:
        status = app(standalone_mode=False)
    except InputError as error:
        status = _refuse(str(error))
    except (typer.Abort, KeyboardInterrupt):
        status = INTERRUPTED
    except BrokenPipeError:
        status = 141
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        status = _refuse(f"{error.format_message().rstrip('.')}; see {_command(error)} --help")
    if status == INTERRUPTED:
        print("interrupted", file=sys.stderr)
    sys.exit(status if isinstance(status, int) else 0)


def _command(error):
    return getattr(getattr(error, "ctx", None), "command_path", "bayescaling")


def _refuse(message):
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()

"""The command line: ``bayescaling COMMAND``.

Results go to standard output (one JSON document with ``--json``), everything else to standard error. Input that cannot
be used is refused in one line with exit status 2. Imports that cost time happen inside the commands.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from . import __version__
from .errors import DiagnosticWarning, InputError

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
Fits = Annotated[list[Path], typer.Argument(help="Fits that 'bayescaling fit' wrote.", metavar="FILE.nc...")]
Seed = Annotated[int, typer.Option(help="Seed of the draws.")]


def _interactive(json):
    return sys.stderr.isatty() and not json


def _pairs(items, option):
    pairs = {}
    for item in items or []:
        name, sign, value = item.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError(f"{option} {item!r}: write NAME=VALUE")
        if name.strip() in pairs:
            raise InputError(f"{option} {name.strip()!r} is given twice")
        pairs[name.strip()] = value.strip()
    return pairs


def _runs(data, columns, ignore, perplexity):
    from .datasets import catalogue, load, read

    if data in set(catalogue()["name"]) and not Path(data).exists():
        if columns or ignore or perplexity:
            raise InputError(f"--column, --ignore and --perplexity are for files, not for the built-in table {data!r}")
        return load(data)
    return read(data, columns=_pairs(columns, "--column"), ignore=ignore or (), perplexity=perplexity)


def _values(items):
    import json

    values = {}
    for name, text in _pairs(items, "--option").items():
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values


def _table_for(law, data, columns, ignore, perplexity):
    from .models import Progress

    if not isinstance(law, Progress):
        return _runs(data or "chinchilla_runs", columns, ignore, perplexity)
    from .datasets import load, read_evaluations

    if data in (None, "lm_progress"):
        return load("lm_progress")
    return read_evaluations(data, columns=_pairs(columns, "--column"))


def _console():
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120)


def _print_table(title, header, rows):
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, title_justify="left", header_style="bold")
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    _console().print(table)


def _number(x, form=".4g"):
    return "-" if x is None else format(x, form)


def _summary_row(name, q):
    return name, *(_number(q[key]) for key in ("mean", "sd", "q2.5", "q50", "q97.5"))


INTERRUPTED = 130
SUMMARY_HEADER = ("", "mean", "sd", "2.5%", "50%", "97.5%")


@app.command()
def fit(
    law: Annotated[str, typer.Argument(metavar="LAW", help="Such as chinchilla.")],
    data: Annotated[
        str | None, typer.Option("--data", help="A built-in table, or a file (CSV, TSV, Parquet, netCDF).")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the fit to this netCDF file.", metavar="FILE.nc")] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(help='Replace a prior: alpha="LogNormal(-1, 0.5)". Repeatable.', metavar="NAME=DIST"),
    ] = None,
    noise: Annotated[
        str | None, typer.Option(help="student_t (default), normal or huber; of progress-N normal.")
    ] = None,
    scale: Annotated[
        str | None, typer.Option(help="Residuals on log_loss (default) or loss; of progress-N loss.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Threshold of the Huber noise, in units of its scale (1.345).")
    ] = None,
    measurement_error: Annotated[
        bool, typer.Option("--measurement-error", help="Use the column loss_halfwidth.")
    ] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="An option of progress-N: transformer=exp, cutoff=2018, penalty=0.0025. Repeatable.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    sampler: Annotated[str | None, typer.Option(help="nutpie, numpyro or pymc.")] = None,
    draws: Annotated[int, typer.Option(help="Kept draws of each chain.")] = 1000,
    tune: Annotated[int, typer.Option(help="Warm-up iterations of each chain.")] = 1000,
    chains: Annotated[int, typer.Option()] = 4,
    cores: Annotated[int | None, typer.Option(help="Chains run at a time.")] = None,
    target_accept: Annotated[float | None, typer.Option(help="0.9, of progress-N 0.95.")] = None,
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

    given = {"noise": noise, "scale": scale, "threshold": threshold, "measurement_error": measurement_error or None}
    options = {name: value for name, value in given.items() if value is not None} | _values(option)
    chosen = models.law(law, priors=_pairs(prior, "--prior"), **options)
    runs = _table_for(chosen, data, column, ignore, perplexity)
    if out:
        check_writable(out)
    fitted = fit_law(
        chosen,
        runs,
        seed=seed,
        sampler=sampler,
        draws=draws,
        tune=tune,
        chains=chains,
        cores=cores,
        progress=_interactive(json),
        **({} if target_accept is None else {"target_accept": target_accept}),
    )
    entry = results.law_entry(fitted)
    if out:
        save_fit(fitted, out)
    if json:
        print(results.to_json({"law": law, "provenance": results.provenance({law: fitted}), **entry}), end="")
        return
    rows = [_summary_row(name, q) for name, q in entry["parameters"].items()]
    title = f"{law} on {entry['data']}, {entry['rows']} rows, {chosen.noise} noise on {chosen.scale}"
    _print_table(title, SUMMARY_HEADER, rows)
    elpd, se, k = (
        _number(entry["elpd_loo"], ".1f"),
        _number(entry["elpd_se"], ".1f"),
        _number(entry["pareto_k_max"], ".2f"),
    )
    print(f"elpd_loo {elpd} (se {se}), largest Pareto k {k}, {entry['k_above_0.7']} above 0.7")
    print(sentence(metadata(fitted)["diagnostics"]))
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
        print(results.to_json({"weighting": weighting, "models": results.comparison_entries(table)}), end="")
        return
    shown = ("elpd", "se", "p", "elpd_diff", "dse", "weight", "pareto_k_max", "k_above_0.7", "r_hat_max", "divergences")
    rows = [
        (name, *(f"{row[c]:.3g}" if c == "weight" else _number(row[c]) for c in shown))
        for name, row in table.iterrows()
    ]
    _print_table(f"leave-one-out, {weighting} weights", ("", *shown), rows)


def _paper_grid(seed, json):
    from .datasets import load
    from .inference.penalised import penalised_grid
    from .reports import results

    table = penalised_grid(load("lm_progress"), seed=seed, progress=_interactive(json))
    if json:
        rows = [{name: results.finite(x) for name, x in row.items()} for row in table.to_dict("records")]
        print(results.to_json({"paper_grid": rows}), end="")
        return
    _print_table(
        "the paper's estimator", list(table.columns), [[_number(x, ".4g") for x in row] for row in table.to_numpy()]
    )


def _compare_progress(seed, json):
    from .datasets import load
    from .inference import ProgressFitter, compare_progress, fit_progress
    from .reports import results

    fitter = ProgressFitter(load("lm_progress"))
    fits = fit_progress(fitter=fitter, seed=seed, progress=_interactive(json))
    table, _ = compare_progress(fits, fitter=fitter, seed=seed, progress=_interactive(json))
    if json:
        print(results.to_json({"models": results.comparison_entries(table)}), end="")
        return
    shown = ("elpd", "se", "elpd_diff", "dse", "dse_by_paper", "loo_mse", "stacking", "by_paper_stacking",
             "pareto_k_max",
             "refitted", "r_hat_max", "ess_bulk_min", "divergences")  # fmt: skip
    rows = [(f"progress-{k}", *(_number(row[c], ".3g") for c in shown)) for k, row in table.iterrows()]
    _print_table("the 20 specifications by leave-one-out", ("", *shown), rows)


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
        print(results.to_json(said), end="")
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
    _print_table("months in which effective compute doubles", header, rows)
    for path, fit in fits.items():
        _say_diagnostics(diagnose(fit))
        left_out = int(found[path]["no_optimum"].sum())
        if left_out:
            print(f"warning: {path}: {left_out} draws have no optimum and are left out", file=sys.stderr)


@app.command()
def allocate(
    file: Annotated[Path, typer.Argument(metavar="FILE.nc", help="A fit that 'bayescaling fit' wrote.")],
    compute: Annotated[list[float], typer.Option(help="Training budget in FLOP. Repeatable.", metavar="FLOP")],
    json: Json = False,
):
    """Say the compute-optimal parameters, tokens and loss at a budget C = 6 N D."""
    from .inference import allocate as allocate_fit
    from .inference import diagnose, law_of, open_fit
    from .reports import results

    fitted = open_fit(file)
    entries = results.allocation_entries(allocate_fit(fitted, compute), law_of(fitted).name)
    if json:
        print(results.to_json({"allocation": entries, "diagnostics": diagnose(fitted)}), end="")
        return
    for entry in entries:
        names = ("parameters", "tokens", "tokens_per_parameter", "loss")
        beyond = entry["extrapolation"]
        note = f", {abs(beyond):.1f} decades {'above' if beyond > 0 else 'below'} the fitted runs" if beyond else ""
        _print_table(
            f"{entry['law']} at {entry['compute']:.3g} FLOP{note}",
            SUMMARY_HEADER,
            [_summary_row(n, entry[n]) for n in names],
        )
    _say_diagnostics(diagnose(fitted))


def _say_diagnostics(verdict):
    from .inference.diagnostics import sentence

    if not verdict["ok"]:
        print(f"warning: {sentence(verdict)}", file=sys.stderr)


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
    from .reports import estimators, results

    runs = _runs(data, column, ignore, perplexity)
    parametric, envelopes = estimators.point_estimates(runs, drop_highest=drop_highest)
    if json:
        document = {name: e.to_dict() for name, e in (parametric | envelopes).items()}
        print(results.to_json({"data": runs.attrs.get("source", data), "point_estimates": document}), end="")
        return
    names = ("A", "B", "alpha", "beta", "E")
    rows = [
        (name, *(_number(e.constants[n], ".5g") for n in names), e.rows, "yes" if e.converged else "NO")
        for name, e in parametric.items()
    ]
    _print_table("parametric fits", ("", *names, "rows", "converged"), rows)
    rows = [
        (name, _number(e.exponent), _number(e.standard_error, ".2g"), len(e.points)) for name, e in envelopes.items()
    ]
    _print_table("exponent of the optimal size in compute", ("", "exponent", "standard error", "points"), rows)


@app.command()
def data(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A table.")] = None,
    notes: Annotated[bool, typer.Option("--notes", help="Show the notes on the table.")] = False,
    json: Json = False,
):
    """List the built-in tables, or show one."""
    from .datasets import catalogue, load
    from .datasets import notes as notes_on
    from .reports import results

    if name is None:
        if notes:
            raise InputError("--notes needs the name of a table")
        table = catalogue()
        if json:
            print(results.to_json({"tables": table.to_dict("records")}), end="")
            return
        _print_table(
            "tables", ("name", "rows", "description"), table[["name", "rows", "description"]].to_numpy().tolist()
        )
        return
    table = load(name)
    if json:
        said = {"notes": notes_on(name)} if notes else {}
        print(results.to_json({"name": name, **said, "rows": _records(table)}), end="")
    elif notes:
        print(notes_on(name))
    else:
        print(table.to_csv(index=False), end="")


def _records(table):
    dates = {column: table[column].dt.strftime("%Y-%m-%d") for column in table.select_dtypes("datetime")}
    plain = table.assign(**dates).astype(object)
    return plain.where(plain.notna(), None).to_dict("records")


@app.command()
def report(
    out: Annotated[Path, typer.Option(help="Folder to write to.", metavar="DIR")] = Path("report"),
    page: Annotated[
        list[str] | None, typer.Option(help="chinchilla or progress; all by default. Repeatable.", metavar="PAGE")
    ] = None,
    draws: Annotated[int, typer.Option(help="Kept draws of each chain.")] = 1000,
    tune: Annotated[int, typer.Option(help="Warm-up iterations of each chain.")] = 1000,
    chains: Annotated[int, typer.Option()] = 4,
    sampler: Annotated[str | None, typer.Option(help="nutpie, numpyro or pymc.")] = None,
    seed: Seed = 1,
    json: Json = False,
):
    """Do everything on the built-in tables and write an HTML report, results.json and the posteriors."""
    from .reports import report as make_report
    from .reports import results

    document = make_report(
        out,
        seed=seed,
        sampler=sampler,
        draws=draws,
        tune=tune,
        chains=chains,
        progress=_interactive(json),
        **({"pages": page} if page else {}),
    )
    if json:
        print(results.to_json(document), end="")
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


def _show_warning(message, category, *_, **__):
    if issubclass(category, DiagnosticWarning):
        print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)


def main():
    """Run the command line."""
    import warnings

    warnings.showwarning = _show_warning
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

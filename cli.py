"""The command line: ``bayescaling COMMAND``.

Results go to standard output (one JSON document with ``--json``), everything else to standard error. Input that cannot
be used is refused in one line with exit status 2. Imports that cost time happen inside the commands.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from . import (
    __version__,
    allocations,
    comparisons,
    console,
    inputs,
    options,
    reporting,
    rollouts,
    signals,
    since,
    sweeps,
)
from .errors import InputError

app = typer.Typer(
    help="Bayesian scaling laws of neural networks: posteriors, comparisons and decisions with their uncertainty.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.command()
@options.works
@options.shares(options.Fitting)
def fit(
    law: options.LawOrCoupled = "coupled",
    data: options.AnyTable = None,
    out: options.FitOut = None,
    log_likelihood: options.LogLikelihood = None,
    *,
    fitting,
):
    """Fit a law, by default the coupled one, to a table of runs with NUTS."""
    from .files import check_writable

    chosen = inputs.law_named(law, fitting)
    table = inputs.table_for(chosen, data, fitting)
    if out:
        check_writable(out)
    # Only now, for these take longer than reading a table that may have to be refused.
    from .inference import fit as fit_law
    from .inference.diagnostics import sentence
    from .inference.quantities.alternatives import suggestion, worth_trying
    from .inference.steps import say
    from .reports import results
    from .reports.entries import fit_entry

    showing = console.interactive(fitting.json)
    asked = inputs.sampler_settings(fitting) | {"log_likelihood": log_likelihood}
    with console.verdict_later(unless=fitting.json):
        fitted = fit_law(chosen, table, progress=showing, **asked)
    say("judging the fit: leave-one-out, robust errors, tests of misfit", showing)
    fitted.loo(progress=showing)
    entry = fit_entry(fitted, seed=fitting.seed)
    if worth_trying(fitted):
        say("fitting what may fit better", showing)
        tries = {"most": 2, "seed": fitting.seed, "progress": showing}
        others = fitted.alternatives(**tries)
        entry |= {"alternatives": others, "suggestion": suggestion(fitted, others)}
    if out:
        fitted.save(out)
    if fitting.json:
        console.print_json({"law": law, "provenance": results.provenance({law: fitted}), **entry})
        return
    named = chosen.label if fitting.group else law
    title = f"{named} on {entry['data']}, {entry['rows']} rows, {chosen.noise} noise on {chosen.scale}"
    console.print_fit(title, entry, sentence(fitted.record["diagnostics"]))
    console.print_written(out)


@app.command()
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
    from .files import check_writable

    chosen = inputs.law_named(law, fitting)
    table = inputs.table_for(chosen, data, fitting)
    if out:
        check_writable(out)
    from .inference import calibrate as calibrate_law
    from .inference import calibration_table
    from .inference.calibration.simulation import sentence
    from .reports import results

    found = calibrate_law(
        chosen,
        table,
        truth=truth,
        simulations=simulations,
        out=out,
        progress=console.interactive(fitting.json),
        **inputs.sampler_settings(fitting),
    )
    if fitting.json:
        console.print_json({"law": law, **results.calibration_entry(found)})
        return
    summary = calibration_table(found)
    console.print_calibration(f"{law}, {len(found['simulation'])} truths from the {truth}", summary)
    print(sentence(summary))
    console.print_written(out)


@app.command()
@options.works
@options.shares(options.Fitting)
def rollout(
    law: options.LawName,
    below: options.Cutoffs,
    by: options.CutBy = "compute",
    data: options.AnyTable = None,
    figure: options.Figure = None,
    beyond: options.Beyond = "drift",
    *,
    fitting,
):
    """Fit a law to the rows below each cutoff, predict the others, and say how well."""
    rollouts.run(law, data, by, below, figure, beyond, fitting)


@app.command()
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
        (comparisons.paper_grid if paper_grid else comparisons.of_specifications)(seed, json)
        return
    comparisons.of_files(files, weighting, json)


@app.command()
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
    from .inference import doubling_times, gain_times, storage
    from .inference.quantities.growth import COMPUTE, YEAR
    from .reports import results

    at = None
    if compute is not None or year is not None:
        at = {"compute": COMPUTE if compute is None else compute, "year": YEAR if year is None else year}
    names = console.names_of(files, json)
    fits = {name: storage.open(path) for name, path in zip(names, files, strict=True)}
    tables = {name: doubling_times(fit, **at) if at else gain_times(fit) for name, fit in fits.items()}
    diagnostics = {name: fit.diagnostics for name, fit in fits.items()}
    if json:
        document = {
            name: {
                "at": at or "the evaluations",
                "doubling_months": results.doubling_entries(times),
                "diagnostics": diagnostics[name],
            }
            for name, times in tables.items()
        }
        console.print_json(document)
        return
    console.print_doubling(tables, at)
    for name, times in tables.items():
        console.print_diagnostics(name, diagnostics[name])
        left_out = int(times["no_optimum"].sum()) if at else 0
        if left_out:
            print(f"warning: {name}: {left_out} draws have no optimum and are left out", file=sys.stderr)


@app.command("progress-since")
@options.shares(options.Since)
def progress_since(*, fitting):
    """Print how fast the compute of a capability falls, by scores of models: before and after a break, and over all."""
    since.run(fitting)


@app.command()
def allocate(
    file: options.FitFile,
    compute: options.Budgets = None,
    loss: options.Targets = None,
    demand: options.Demands = None,
    near_optimal: options.NearOptimal = None,
    vocabulary: options.Vocabulary = None,
    aspect_ratio: options.AspectRatio = None,
    plan: options.Plan = None,
    beyond: options.Beyond = "drift",
    robust: options.Robust = True,
    json: options.Json = False,
):
    """Print the best parameters, tokens and loss at a budget, or the cheapest to reach a loss.

    A budget is one for training, C = 6 N_T D, N_T all parameters. With --demand it is one for training and inference
    together, 6 N_T D + 2 N_T demand, and a loss is reached with the least of both.
    """
    planned = {"vocabulary": vocabulary, "aspect_ratio": aspect_ratio} | inputs.values(plan, "--plan")
    planned |= {"beyond": beyond, "robust": robust}
    allocations.run(file, compute, loss, demand, near_optimal, planned, json=json)


@app.command()
def reconcile(
    file: options.ReconciledFile,
    vocabulary: options.Vocabulary = None,
    aspect_ratio: options.AspectRatio = None,
    json: options.Json = False,
):
    """Print the exponents that a study like Kaplan's would have measured if a fitted law were true."""
    from .inference import intervals, storage
    from .inference.quantities.reconciliation import KAPLAN_EXPONENT
    from .inference.quantities.reconciliation import reconcile as reconciled

    fitted = storage.open(file)
    found = reconciled(fitted, vocabulary=vocabulary, aspect_ratio=aspect_ratio)
    at_least = float((found["nonembedding"]["size"] >= KAPLAN_EXPONENT).mean())
    entries = {basis: {n: intervals.summary(x, ratio=True) for n, x in e.items()} for basis, e in found.items()}
    if json:
        document = {"exponents": entries, "p_exponent_above_0.73": at_least, "diagnostics": fitted.diagnostics}
        console.print_json(document)
        return
    for basis, exponents in entries.items():
        console.print_exponents(fitted.law.name, basis, exponents)
    print(f"probability of an exponent of at least {KAPLAN_EXPONENT} without embeddings: {at_least:.3f}")
    console.print_diagnostics(file, fitted.diagnostics)


@app.command(cls=sweeps.helped(".training"))
@options.shares(options.Sweep)
def train(file: options.LanguageSweep = None, preset: options.LanguagePreset = None, *, sweep):
    """Train a sweep of small language models and write their losses as a table of runs."""
    from . import training

    sweeps.run(training, file, preset, sweep)


@app.command(cls=sweeps.helped(".training.arithmetic"))
@options.shares(options.Sweep)
def arithmetic(file: options.ArithmeticSweep = None, preset: options.ArithmeticPreset = None, *, sweep):
    """Train arithmetic models, test them by operand lengths and write their counts of right answers as a table."""
    from .training import arithmetic as training

    sweeps.run(training, file, preset, sweep, accuracies=training.accuracies)


@app.command("gpu-check")
def gpu_check(out: options.Out, minutes: options.Minutes = 9.0, device: options.Device = None):
    """Check a GPU: that it gives the results that it should, how fast, and then the runs that want one.

    It resumes: give the same command again until it says that it is finished.
    """
    from .training.check.runner import check

    found = check(out, minutes=minutes, device=device, told=lambda line: print(line, flush=True))
    if not all(each.get("ok", True) for group in ("agreement", "speed") for each in found[group].values()):
        raise typer.Exit(1)


@app.command()
@options.shares(options.Reading)
def points(
    data: options.Data = "chinchilla_runs",
    width: options.Width = 0.1,
    minimum_runs: options.MinimumRuns = 8,
    budget: options.LevelBudgets = None,
    *,
    reading,
):
    """Print the usual point estimates of a table: parametric Huber fits, iso-FLOP parabolas, the frontier."""
    from .reports.chinchilla.estimators import point_estimates

    runs = inputs.runs_from(data, reading)
    isoflop = {"width": width, "minimum_runs": minimum_runs, "budgets": budget or None}
    found = point_estimates(runs, drop_highest=reading.drop_highest, **isoflop)
    if reading.json:
        console.print_json({"data": runs.attrs.get("source", data), "point_estimates": found.to_dict()})
    else:
        console.print_estimates(found)


@app.command()
def data(name: options.TableName = None, notes: options.Notes = False, json: options.Json = False):
    """List the built-in tables, or show one."""
    from .datasets import load
    from .datasets import notes as notes_on

    if name is None:
        _list_tables(notes, json)
        return
    table = load(name)
    if json:
        document = {"name": name} | ({"notes": notes_on(name)} if notes else {})
        console.print_json(document | {"rows": console.records(table)})
    elif notes:
        print(notes_on(name))
    else:
        print(table.to_csv(index=False), end="")


def _list_tables(notes, json):
    from .datasets import catalogue

    if notes:
        raise InputError("--notes needs the name of a table")
    table = catalogue()
    if json:
        console.print_json({"tables": table.to_dict("records")})
    else:
        shown = ["name", "rows", "description"]
        console.print_table("tables", shown, table[shown].to_numpy().tolist())


@app.command()
@options.works(most=4)
@options.shares(options.Grouping)
def report(
    context: typer.Context,
    files: options.ReportFiles = None,
    out: options.ReportOut = Path("report"),
    data: options.OwnRuns = None,
    evaluations: options.OwnEvaluations = None,
    law: options.Laws = None,
    backdrop: options.Backdrop = False,
    page: options.Pages = None,
    draws: options.Draws = 1000,
    tune: options.Tune = 1000,
    chains: options.Chains = 4,
    sampler: options.Sampler = None,
    seed: options.Seed = 1,
    full: options.Full = False,
    fresh: options.Fresh = False,
    *,
    grouping,
):
    """Write an HTML report, results.json and the posteriors: on the built-in tables, a table of one's own, or fits."""
    from .reports import report as make_report
    from .reports.front import lines

    sampling = {"seed": seed, "sampler": sampler, "draws": draws, "tune": tune, "chains": chains}
    always = {"progress": not grouping.json, "fresh": fresh}
    if reporting.asked_for(options.given(context)):
        document = reporting.run(out, files, data, evaluations, law, grouping, backdrop=backdrop, **always, **sampling)
    else:
        document = make_report(out, pages=page, full=full, **always, **sampling)
    if grouping.json:
        console.print_json(document)
    else:
        for line in lines(document):
            print(line)
        print(f"written to {out / 'index.html'}, {out / 'results.json'} and {out / 'posteriors'}")


@app.command()
def cache(clear: options.Clear = False, json: options.Json = False):
    """Show what reports keep in the cache, so that they go on where they stopped, or delete it."""
    from .reports import kept

    console.print_kept(kept.folder(), kept.clear() if clear else kept.listed(), cleared=clear, json=json)


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

    warnings.showwarning = console.show_warning
    signals.open_streams()
    signals.listen()
    try:
        status = app(prog_name="bayescaling", standalone_mode=False)
        sys.stdout.flush()
        if status == signals.INTERRUPTED:  # how typer says that a command was
            status = signals.interrupted()
    except InputError as error:
        status = _refuse(str(error))
    except (typer.Abort, KeyboardInterrupt):
        status = signals.interrupted()
    except (BrokenPipeError, SystemExit):  # typer leaves so where a pipe is closed, and nothing else does
        status = signals.closed_pipe()
    except OSError as error:
        status = signals.full_disk(error)
    except MemoryError:
        status = _refuse("out of memory; ask for fewer draws, chains or processes, or a smaller table")
    except ImportError as error:  # where memory is short, too
        status = _refuse(f"{error}; free memory, or install the package again")
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        status = _refuse(f"{error.format_message().rstrip('.')}; see {_command(error)} --help")
    sys.exit(status if isinstance(status, int) else 0)


def _command(error):
    return getattr(getattr(error, "ctx", None), "command_path", "bayescaling")


def _refuse(message):
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()

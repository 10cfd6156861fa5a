"""What the commands that train a sweep have in common: help, outline, training, and what is said of a sweep."""

import importlib
import sys

from typer.core import TyperCommand

from ..errors import InputError
from . import exit_status, options, tables


def helped(package):
    """Make the class of a command whose help ends with the keys of a sweep's file.

    Parameters
    ----------
    package : str
        Of the kind of sweep, within this one; it is imported when help is asked for.
    """

    class Command(TyperCommand):
        def format_epilog(self, context, formatter):
            try:
                keys = importlib.import_module(package, __package__).sweep_keys()
            except InputError as error:
                formatter.write_paragraph()
                formatter.write_text(f"What FILE.toml may have is not listed here: {error}")
                return
            for table, rows in keys.groupby("table", sort=False):
                with formatter.section(f"{table} of FILE.toml" if table else "FILE.toml"):
                    formatter.write_dl(
                        [(_with_default(row), f"{row.meaning} Takes {row.takes}.") for row in rows.itertuples()]
                    )

    return Command


def _with_default(row):
    return f"{row.key} (needed)" if row.default == "needed" else f"{row.key} = {row.default}"


def run(training, file, preset, options, *, accuracies=None):
    """Train a sweep, or only say what it takes, and print what came of it.

    Parameters
    ----------
    training : module
        Of the kind of sweep, with `make_sweep`, `outline` and `train`.
    file : path or None
        The sweep's file.
    preset : str or None
        Its name, in place of a file.
    options : options.Sweep
    accuracies : callable, optional
        Gives what is printed of the runs besides, of what `train` gives.

    Raises
    ------
    InputError
        If the sweep is not named by one of both, or cannot be used.
    """
    if (file is None) == (preset is None):
        raise InputError(f"give a sweep's FILE.toml or --preset, not {'both' if file else 'neither'}; see --help")
    sweep = file if preset is None else training.make_sweep({"preset": preset})
    if options.dry_run:
        outline = training.outline(sweep, device=options.device)
        (tables.print_json if options.json else tables.print_outline)(outline)
        return
    found = _trained(training, sweep, options)
    path = options.out / "runs.csv"
    record = {
        "status": "paused" if found is None else found.attrs["status"],
        "runs": 0 if found is None else found.sizes["run"],
        "table": str(path) if path.exists() else None,
    }
    if accuracies is not None:
        record["accuracies"] = [] if found is None else accuracies(found)
    if options.json:
        tables.print_json(record)
        return
    if record.get("accuracies"):
        tables.print_accuracies(record["accuracies"])
    tables.print_sweep(record)


def _trained(training, sweep, options):
    try:
        return training.train(
            sweep,
            options.out,
            scheduler=options.scheduler,
            device=options.device,
            time_limit=options.time_limit,
            progress=not options.json,
        )
    except KeyboardInterrupt as interrupt:
        exit_status.taken(interrupt.args)
        kept = len(list((options.out / "runs").glob("*.nc")))
        print(
            f"{kept} finished runs and the checkpoint of the last are kept in {options.out}; the same command goes on",
            file=sys.stderr,
        )
        raise


@options.shares(options.Sweep)
def train(file: options.LanguageSweep = None, preset: options.LanguagePreset = None, *, sweep):
    """Train a sweep of small language models and write their losses as a table of runs."""
    from .. import training

    run(training, file, preset, sweep)


@options.shares(options.Sweep)
def arithmetic(file: options.ArithmeticSweep = None, preset: options.ArithmeticPreset = None, *, sweep):
    """Train arithmetic models, test them by operand lengths and write their counts of right answers as a table."""
    from ..training import arithmetic as training

    run(training, file, preset, sweep, accuracies=training.accuracies)

"""The command line: ``bayescaling COMMAND``.

Results go to standard output (one JSON document with ``--json``), everything else to standard error. Input that cannot
be used is refused in one line with exit status 2. Slow imports are inside the commands.
"""

import gc
import os
import sys
from typing import Annotated

import typer

from .. import __version__
from ..errors import InputError
from . import (
    allocate,
    ask,
    cache,
    calibrate,
    compare,
    curve,
    data,
    design,
    exit_status,
    fit,
    forecast,
    gpu_check,
    laws,
    plot,
    points,
    predict,
    reconcile,
    report,
    rollout,
    show,
    tables,
    train,
    worth,
)
from .help import Command, Group

GROUPS = {
    "Your runs": (fit.fit, ask.ask, show.show, allocate.allocate, predict.predict, design.design, worth.worth,
                  plot.plot, report.report, curve.curve),
    "Checks": (show.check, compare.compare, rollout.rollout, calibrate.calibrate, points.points, reconcile.reconcile),
    "Forecasts": (forecast.forecast, forecast.score_forecast),
    "Training": (train.train, train.train_sample, train.arithmetic, train.arithmetic_check, gpu_check.gpu_check),
    "Housekeeping": (data.data, laws.laws, cache.cache),
}  # fmt: skip

app = typer.Typer(
    help="Bayesian scaling laws over any columns: posteriors, comparisons and decisions with their uncertainty.",
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for group, commands in GROUPS.items():
    for command in commands:
        kind = train.SweepCommand if command in (train.train, train.arithmetic) else Command
        app.command(command.__name__.replace("_", "-"), cls=kind, rich_help_panel=group)(command)


def _version(value):
    if value:
        print(__version__)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
):
    if context.invoked_subcommand is None:
        print(context.get_help())


def main():
    """Run the command line."""
    import warnings

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices of a fit have few columns: more threads are slower
    warnings.showwarning = tables.show_warning
    exit_status.listen()
    try:
        status = app(prog_name="bayescaling", standalone_mode=False)
        print(end="", flush=True)
        if status == exit_status.INTERRUPTED:  # the status that typer returns
            status = exit_status.interrupted()
    except InputError as error:
        status = _refuse(error.sentence if error.commands else str(error))
        for what, command in error.commands.items():
            print(*([f"{what}:"] if what else []), f"    {command}", sep="\n", file=sys.stderr)
    except (typer.Abort, KeyboardInterrupt):
        status = exit_status.interrupted()
    except SystemExit as end:  # typer's, of status 0 after completion of a shell, else where a pipe is closed
        status = exit_status.closed_pipe() if end.code else 0
    except BrokenPipeError:
        status = exit_status.closed_pipe()
    except OSError as error:
        status = exit_status.full_disk(error)
    except MemoryError:
        status = _refuse("out of memory; use fewer draws, chains or processes, or a smaller table")
    except ImportError as error:  # also where memory is short
        status = _refuse(f"{error}; free memory, or install the package again")
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        command = getattr(getattr(error, "ctx", None), "command_path", "bayescaling")
        status = _refuse(f"{error.format_message().rstrip('.')}; see {command} --help")
    sys.exit(status if isinstance(status, int) else 0)


def _refuse(message):
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return 2


def run():
    """Run the command line as a process."""
    gc.set_threshold(100_000, 50, 100)  # what imports make stays
    if not any(word.startswith("--scheduler") for word in sys.argv):
        sys.modules.setdefault("dask", None)  # xarray would import it, in as long as it takes to import pandas
    main()


if __name__ == "__main__":
    run()

"""The command line: ``bayescaling COMMAND``.

Results go to standard output (one JSON document with ``--json``), everything else to standard error. Input that cannot
be used is refused in one line with exit status 2. Slow imports are inside the commands.
"""

import os
import sys
from typing import Annotated

import typer

from .. import __version__
from ..errors import InputError
from . import (
    allocate,
    cache,
    calibrate,
    compare,
    data,
    design,
    doubling,
    exit_status,
    fit,
    forecast,
    gpu_check,
    horizons,
    plot,
    points,
    progress_since,
    ranks,
    reconcile,
    report,
    rollout,
    tables,
    train,
    trend,
    worth,
)

app = typer.Typer(
    help="Bayesian scaling laws of neural networks: posteriors, comparisons and decisions with their uncertainty.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(fit.fit)
app.command()(calibrate.calibrate)
app.command()(rollout.rollout)
app.command()(compare.compare)
app.command()(doubling.doubling)
app.command("progress-since")(progress_since.progress_since)
app.command()(horizons.horizons)
app.command()(trend.trend)
app.command()(ranks.ranks)
app.command()(forecast.forecast)
app.command("score-forecast")(forecast.score_forecast)
app.command()(allocate.allocate)
app.command()(worth.worth)
app.command()(design.design)
app.command()(plot.plot)
app.command()(reconcile.reconcile)
app.command(cls=train.SweepCommand)(train.train)
app.command(cls=train.SweepCommand)(train.arithmetic)
app.command("train-sample")(train.train_sample)
app.command("arithmetic-check")(train.arithmetic_check)
app.command("gpu-check")(gpu_check.gpu_check)
app.command()(points.points)
app.command()(data.data)
app.command()(report.report)
app.command()(cache.cache)


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

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices of a fit have few columns: more threads are slower
    warnings.showwarning = tables.show_warning
    exit_status.open_streams()
    exit_status.listen()
    try:
        status = app(prog_name="bayescaling", standalone_mode=False)
        sys.stdout.flush()
        if status == exit_status.INTERRUPTED:  # the status that typer returns
            status = exit_status.interrupted()
    except InputError as error:
        status = _refuse(str(error))
    except (typer.Abort, KeyboardInterrupt):
        status = exit_status.interrupted()
    except (BrokenPipeError, SystemExit):  # typer raises SystemExit where a pipe is closed, and nothing else does
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


if __name__ == "__main__":
    main()

"""Output of the command line: JSON, tables and numbers, warnings, and paths of results."""

import math
import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from ..errors import DiagnosticWarning, SizeNote, TableNote, TableWarning

QUANTILES = {"q2.5": "2.5%", "q50": "50%", "q97.5": "97.5%"}
SUMMARY_HEADER = ("", "mean", "sd", *QUANTILES.values())
LABEL, NUMBER = 44, 24  # characters that a label and a number have at most
# Part of the names of parameters of single runs, which are too many to print.
OF_RUNS = "_run["
MOST_LEVELS = 20  # of a quantity that is printed level by level


def interactive(json):
    """Return whether to show progress: standard error is a terminal and the output is not JSON."""
    return sys.stderr.isatty() and not json


def print_table(title, header, rows, *, least=()):
    """Print a table to standard output, its first column to the left and the others to the right.

    No cell is cut. Where the terminal is too narrow, whole columns are left out and named below: first those that
    `least` names, in its order, then those at the right.
    """
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 120)
    console.on_broken_pipe = _broken_pipe
    rows = [[str(cell) for cell in row] for row in rows]
    shown = fitting_columns(header, rows, console.width, least)
    table = Table(title=title, title_justify="left", header_style="bold", box=box.HEAVY_HEAD)
    for i in shown:
        cells = [row[i] for row in rows]
        table.add_column(
            header[i],
            justify="left" if i == 0 else "right",
            overflow="fold",
            min_width=_least_width(i, header[i], cells),
            no_wrap=i == 0 and _unbroken(i, cells),
        )
    for row in rows:
        table.add_row(*(escape(row[i]) for i in shown))
    console.print(table)
    if len(shown) < len(header):
        left_out = [name or f"column {i + 1}" for i, name in enumerate(header) if i not in shown]
        console.print(f"left out for want of width: {', '.join(left_out)}", highlight=False, markup=False)


def _broken_pipe():
    """Raise the error for the command line to handle; rich would end with another exit status."""
    raise BrokenPipeError


def fitting_columns(header, rows, width, least=()):
    """Return the positions of the columns of a table that fit in a width without cutting a cell.

    Examples
    --------
    >>> fitting_columns(["", "mean", "sd"], [["alpha", "0.1234", "0.01"]], 20)
    [0, 1]
    """
    needed = [_least_width(i, name, [row[i] for row in rows]) for i, name in enumerate(header)]
    first = [i for name in least for i, other in enumerate(header) if i and other == name]
    order = first + [i for i in reversed(range(1, len(header))) if i not in first]
    shown = list(range(len(header)))
    # A column has a space on either side and a border.
    while len(shown) > 2 and sum(needed[i] + 3 for i in shown) + 1 > width:
        shown.remove(next(i for i in order if i in shown))
    return shown


def _unbroken(position, cells):
    """Return whether cells of a column stay on one line, as labels and numbers do unless they are long."""
    return max(map(len, cells), default=0) <= (LABEL if position == 0 else NUMBER)


def _least_width(position, name, cells):
    whole, broken = (cells, [name]) if _unbroken(position, cells) else ([], [name, *cells])
    width = max(map(len, [*whole, *(word for text in broken for word in text.split())]), default=0)
    return min(width, LABEL) if position == 0 else width


def names_of(files, json):
    """Return names of files: their paths for JSON, else the last parts by which their paths differ.

    Examples
    --------
    >>> names_of(["out/a/fit.nc", "out/b/fit.nc"], json=False), names_of(["out/fit.nc"], json=True)
    (['a/fit.nc', 'b/fit.nc'], ['out/fit.nc'])
    """
    paths = [Path(file) for file in files]
    for count in range(1, 1 if json else max(len(path.parts) for path in paths)):
        names = ["/".join(path.parts[-count:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            return names
    return [str(path) for path in paths]


def number(x, form=".4g"):
    """Return a number as text, one that is missing or not finite as a dash, and text unchanged."""
    return x if isinstance(x, str) else "-" if x is None or not math.isfinite(x) else format(x, form)


def summary_row(name, q):
    """Return the row of a table under `SUMMARY_HEADER`, of a quantity's mean, sd and quantiles."""
    return name, *(number(q[key]) for key in ("mean", "sd", *QUANTILES))


def few_levels(names):
    """Return the names of quantities that are printed, those with at most 20 levels, and a sentence on the others.

    Examples
    --------
    >>> few_levels(["alpha", *(f"capability[{i}]" for i in range(30))])
    (['alpha'], 'not shown for their number, but in --json and in the file: capability (30)')
    """
    names = [name for name in names if OF_RUNS not in name]
    counts = Counter(name.partition("[")[0] for name in names)
    many = [f"{name} ({count})" for name, count in counts.items() if count > MOST_LEVELS]
    shown = [name for name in names if counts[name.partition("[")[0]] <= MOST_LEVELS]
    return shown, f"not shown for their number, but in --json and in the file: {', '.join(many)}" if many else ""


@contextmanager
def verdict_later(*, unless):
    """Suppress the warning that chains did not converge, since the result is printed with this check."""
    with warnings.catch_warnings():
        if not unless:
            warnings.simplefilter("ignore", DiagnosticWarning)
        yield


def print_json(document):
    """Print one JSON document to standard output."""
    from ..reports import results

    print(results.to_json(document), end="")


def print_written(path):
    """Print where a result was written, if it was."""
    if path:
        from ..datasets.wording import printable

        print(f"written to {printable(path)}")


def print_diagnostics(name, diagnostics):
    """Print on standard error why a fit should not be trusted, where it should not."""
    from ..inference.checks.chains import sentence

    if not diagnostics["ok"]:
        print(f"warning: {name}: {sentence(diagnostics)}", file=sys.stderr)


def show_warning(message, category, *_, **__):
    """Print a warning of the package in one line on standard error and drop all others, for `warnings.showwarning`."""
    if issubclass(category, DiagnosticWarning | TableWarning | SizeNote):
        kind = "note" if issubclass(category, TableNote | SizeNote) else "warning"
        print(f"{kind}: {' '.join(str(message).split())}", file=sys.stderr)

"""What the command line reads from its options, NAME=VALUE, and how it prints: tables, numbers, JSON and warnings."""

import sys

from .errors import DiagnosticWarning, InputError

SUMMARY_HEADER = ("", "mean", "sd", "2.5%", "50%", "97.5%")


def pairs(items, option):
    """Texts NAME=VALUE of a repeatable option, as a dictionary."""
    found = {}
    for item in items or []:
        name, sign, value = item.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError(f"{option} {item!r}: write NAME=VALUE")
        if name.strip() in found:
            raise InputError(f"{option} {name.strip()!r} is given twice")
        found[name.strip()] = value.strip()
    return found


def values(items):
    """Texts NAME=VALUE of ``--option``, a value read as JSON where it is JSON."""
    import json

    found = {}
    for name, text in pairs(items, "--option").items():
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def interactive(json):
    """Whether to show progress: a terminal is watching and the output is for people."""
    return sys.stderr.isatty() and not json


def print_table(title, header, rows):
    """Print a table to standard output, its first column to the left and the others to the right."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, title_justify="left", header_style="bold")
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def number(x, form=".4g"):
    """Return a number as text, a missing one as a dash."""
    return "-" if x is None else format(x, form)


def summary_row(name, q):
    """Row of a table under `SUMMARY_HEADER`, of a quantity's mean, sd and quantiles."""
    return name, *(number(q[key]) for key in ("mean", "sd", "q2.5", "q50", "q97.5"))


def print_json(document):
    """Print one JSON document to standard output."""
    from .reports import results

    print(results.to_json(document), end="")


def records(table):
    """Rows of a table for JSON: dates as text, missing values as None."""
    dates = {column: table[column].dt.strftime("%Y-%m-%d") for column in table.select_dtypes("datetime")}
    plain = table.assign(**dates).astype(object)
    return plain.where(plain.notna(), None).to_dict("records")


def show_warning(message, category, *_, **__):
    """Print a warning of the package in one line on standard error and drop all others, for `warnings.showwarning`."""
    if issubclass(category, DiagnosticWarning):
        print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)

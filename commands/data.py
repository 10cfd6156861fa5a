"""The command ``data``: the built-in tables."""

from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
from . import options, tables

LISTED = ["name", "rows", "description"]


def data(
    name: Annotated[str | None, Argument(metavar="NAME", help="A table.")] = None,
    notes: Annotated[bool, Option("--notes", help="Show the notes on the table.")] = False,
    json: options.Json = False,
):
    """List the built-in tables, or show one."""
    from .. import datasets

    if name is None and notes:
        raise InputError("--notes needs the name of a table")
    if name is None:
        table = datasets.catalogue()
        if json:
            tables.print_json({"tables": table.to_dict("records")})
        else:
            tables.print_table("tables", LISTED, table[LISTED].to_numpy().tolist())
        return
    table = datasets.load(name)
    if json:
        document = {"name": name} | ({"notes": datasets.notes(name)} if notes else {})
        tables.print_json(document | {"rows": _records(table)})
    else:
        print(datasets.notes(name) if notes else table.to_csv(index=False), end="\n" if notes else "")


def _records(table):
    """Return the rows of a table for JSON: dates as text, missing values as None."""
    dates = {column: table[column].dt.strftime("%Y-%m-%d") for column in table.select_dtypes("datetime")}
    plain = table.assign(**dates).astype(object)
    return plain.where(plain.notna(), None).to_dict("records")

"""The commands ``data``, ``cache`` and ``gpu-check``: built-in tables, cached results, and this machine's training."""

from typing import Annotated

from typer import Argument, Exit, Option

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


def cache(clear: Annotated[bool, Option("--clear", help="Delete them.")] = False, json: options.Json = False):
    """Show or delete the cached results of reports and fits. An interrupted report resumes from them."""
    from ..datasets.printed import Text
    from ..datasets.wording import plural
    from ..reports.cache import store

    results = store.clear() if clear else store.listed()
    size = sum(count for _, _, count in results)
    if json:
        tables.print_json({"folder": str(store.folder()), "results": len(results), "bytes": size, "cleared": clear})
        return
    deleted = "deleted: " if clear else ""
    count = plural(len(results), "result")
    print(Text(f"{deleted}{count} of reports and fits, {size / 1e6:.1f} MB, in {store.folder()}"))


def gpu_check(
    out: options.Out,
    minutes: Annotated[float, Option(help="Minutes after which no step begins.")] = 9.0,
    device: options.Device = None,
):
    """Check the results and the speed of a GPU."""
    from ..training.check.runner import check

    results = check(out, minutes=minutes, device=device, announce=lambda line: print(line, flush=True))
    if not all(entry.get("ok", True) for group in ("agreement", "speed") for entry in results[group].values()):
        raise Exit(1)

"""The command ``data``: the built-in tables."""

from ..errors import InputError
from . import options, tables


def data(name: options.TableName = None, notes: options.Notes = False, json: options.Json = False):
    """List the built-in tables, or show one."""
    from ..datasets import load
    from ..datasets import notes as notes_on

    if name is None:
        _list_tables(notes, json)
        return
    table = load(name)
    if json:
        document = {"name": name} | ({"notes": notes_on(name)} if notes else {})
        tables.print_json(document | {"rows": tables.records(table)})
    elif notes:
        print(notes_on(name))
    else:
        print(table.to_csv(index=False), end="")


def _list_tables(notes, json):
    from ..datasets import catalogue

    if notes:
        raise InputError("--notes needs the name of a table")
    table = catalogue()
    if json:
        tables.print_json({"tables": table.to_dict("records")})
    else:
        shown = ["name", "rows", "description"]
        tables.print_table("tables", shown, table[shown].to_numpy().tolist())

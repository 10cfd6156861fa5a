"""The command ``cache``: cached results of reports and fits."""

from typing import Annotated

from typer import Option

from . import options, tables


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

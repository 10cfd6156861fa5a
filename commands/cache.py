"""The command ``cache``: cached results of reports."""

from . import options, tables


def cache(clear: options.Clear = False, json: options.Json = False):
    """Show what reports keep in the cache, so that they go on where they stopped, or delete it."""
    from ..reports.cache import store

    tables.print_kept(store.folder(), store.clear() if clear else store.listed(), cleared=clear, json=json)

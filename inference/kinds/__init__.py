"""The kinds of table, one a module of this folder: what answers need of each, imported when a fit of it asks."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from ...datasets import KINDS
from .record import KindAnswers

RECORDS: dict[str, KindAnswers] = {}


def register_answers(record: KindAnswers) -> None:
    """Register what answers need of a kind of table."""
    RECORDS[record.name] = record


def find_record(kind: str) -> KindAnswers:
    """Return what answers need of a kind of table; a kind without a record has the defaults.

    Examples
    --------
    >>> find_record("horizons").grows
    'time horizons'
    """
    module = f"{__name__}.{kind}"
    if kind not in RECORDS and kind in KINDS and find_spec(module):
        import_module(module)
    return RECORDS.get(kind) or KindAnswers(kind, f"this needs a fit of a law of {kind}")


def list_records(attribute: str) -> list[KindAnswers]:
    """Return the records of all kinds that have an attribute, such as `forecasts`."""
    return [record for record in map(find_record, KINDS) if getattr(record, attribute)]

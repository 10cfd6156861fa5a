"""A user's own table of counts right by operand lengths, read and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from . import storing
from .opening import opened
from .reading.alike import refuse_differences
from .reading.cells import as_numbers
from .reading.changes import with_origin
from .reading.faults import Fault, place, refuse
from .reading.names import nameless, names
from .schemas import COUNT_POSITIVE, COUNT_WHOLE, check
from .wording import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import pandas as pd

NEEDED = ("run", "embedding", "train_digits", "length_a", "length_b", "correct", "total")
SHAPE = ("layers", "recurrences", "d_model", "k_max")
OF_A_RUN = ("arm", "task", "embedding", "architecture", *SHAPE, "train_digits", "seed")
OPTIONAL = ("arm", "task", "architecture", *SHAPE, "seed", "parameters", "samples", "flop", "offset", "split")
TEXT = ("run", "arm", "task", "embedding", "architecture", "split")
OF_A_CELL = ("offset", "length_a", "length_b", "correct", "total", "split")
LONGEST_OOD = 100


def read_counts(
    source: str | PathLike[str] | pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    where: str | None = None,
    drop_missing: bool = False,
) -> pd.DataFrame:
    """Read a table of how many problems runs get right by operand lengths, and check it.

    Parameters
    ----------
    source : path or pandas.DataFrame
        As for `read`, a row a run and pair of lengths. Needed are the columns ``run`` (name or number), ``embedding``
        (such as abacus, fire, nope, rope, abacus+fire), ``train_digits`` (greatest length in training), ``length_a``,
        ``length_b``, ``correct`` and ``total`` (problems right and asked). Names are text as it is written, so that
        runs 7 and 007 are two. ``architecture`` is ``standard`` and
        ``recurrences`` 1 where they are not there; ``arm`` (what the run belongs to), ``task``, ``layers``,
        ``d_model``, ``k_max``, ``seed``, ``parameters``, ``samples`` and ``flop`` are kept where there are. ``offset``
        is that of Abacus embeddings at which a run was judged, 0 where it is not there; one run may have several.
        ``split``
        (id, ood or ood100) is derived where it is not there: in distribution where no length is above ``train_digits``,
        ood100 where one is above 100, else ood.
    columns : mapping of str to str, optional
        Column of the result to the column of the table that holds it. A column of the table whose name is so taken by
        another is left out.
    where : str, optional
    drop_missing : bool
        Rows to keep, as for `read`.

    Returns
    -------
    pandas.DataFrame
        The table, in the order of its rows, indexed from 0; names are text, lengths and counts int64.

    Raises
    ------
    InputError
        If the table cannot be read or used, in one line with the file, the line, the column, the value and the mend.

    Examples
    --------
    >>> import pandas as pd
    >>> run = {"run": "a", "embedding": "fire", "train_digits": 6, "length_a": [3, 9], "length_b": [3, 9]}
    >>> read_counts(pd.DataFrame(run | {"correct": [99, 12], "total": 100}))["split"].tolist()
    ['id', 'ood']
    """
    parts = {"needed": NEEDED, "optional": OPTIONAL, "text": TEXT, "aliases": {}}
    table, name, changes, _ = opened(source, columns, where, drop_missing, **parts)
    label = changes.label
    numbers = (*COUNT_WHOLE, *COUNT_POSITIVE, "offset")
    read, faults = as_numbers(table, [column for column in numbers if column in table])
    named = [column for column in TEXT if column in table]
    refuse(faults + [fault for column in named for fault in nameless(table[column])], table, label)
    table = table.assign(**{column: names(table[column]) for column in named}, **read)
    defaults = {"architecture": "standard", "recurrences": 1.0}
    table = table.assign(**{column: value for column, value in defaults.items() if column not in table})
    _refuse_fractions(table, label)
    table = check(table, "counts", label=label)
    _refuse_too_many_correct(table, label)
    refuse_differences(table, "run", OF_A_RUN, label)
    _refuse_duplicates(table, label)
    if "split" not in table:
        table = table.assign(split=split(table))
    storing.note_names(table, changes)
    return with_origin(table, name, changes)


def split(table):
    """Region of each cell: ``id``, ``ood`` or ``ood100``."""
    longest = np.maximum(table["length_a"], table["length_b"])
    return np.where(longest <= table["train_digits"], "id", np.where(longest <= LONGEST_OOD, "ood", "ood100"))


def _refuse_fractions(table, label):
    faults = []
    for column in (*COUNT_WHOLE, *SHAPE, "offset"):
        if column not in table:
            continue
        for row, found in table[column][table[column] != table[column].round()].items():
            fault = "nothing (a blank or NaN)" if np.isnan(found) else f"{quoted(found)}, which is no whole number"
            faults.append(Fault(row, column, f"found {fault}", "correct it or delete the row"))
    refuse(faults, table, label)


def _refuse_too_many_correct(table, label):
    faults = [
        Fault(row, "correct", f"found {correct} of {total} problems", "correct one of them or delete the row")
        for row, correct, total in table[["correct", "total"]].itertuples()
        if correct > total
    ]
    refuse(faults, table, label)


def _refuse_duplicates(table, label):
    wrong = table.duplicated([column for column in ("run", "offset", "length_a", "length_b") if column in table])
    if wrong.any():
        row = wrong.idxmax()
        raise InputError(
            f"{label}, {place(table, row)}: run {quoted(table.at[row, 'run'])} has lengths "
            f"{table.at[row, 'length_a']} and {table.at[row, 'length_b']} before; add their counts up or delete one"
        )

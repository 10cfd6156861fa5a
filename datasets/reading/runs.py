"""A user's own table of training runs, read and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ...errors import InputError
from .. import storing
from ..columns import ALIASES, RUN, SIZES, choice, likely, resolve, setting_aside
from ..schemas import check
from ..wording import listed, quoted, suggestion
from . import selection
from .cells import numbers
from .changes import Changes, with_origin
from .formats import open_table
from .possible import check_possible
from .repeats import warn_of_repeats
from .rising import warn_of_rising
from .sizes import check_agreement, check_at_most, completed
from .units import scaled, units_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike


def read(
    source: str | PathLike[str] | pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    perplexity: bool = False,
    ignore: str | Sequence[str] = (),
    unit: Mapping[str, float | str] | None = None,
    bytes_per_token: float | None = None,
    needed: str | Sequence[str] = (),
    where: str | None = None,
    drop_missing: bool = False,
    last_of: str | Sequence[str] | None = None,
    best_of: str | Sequence[str] | None = None,
    drop_highest: int = 0,
) -> pd.DataFrame:
    """Read a table of training runs and check it.

    Any two of parameters N, training tokens D and training FLOP C are needed, the third being C = 6ND, and a loss.
    Common names of columns are recognised whatever their case, spaces and punctuation: ``N``, ``params`` or
    ``Model Size``; ``D`` or ``training tokens``; ``C``, ``FLOPs`` or ``compute``; ``L``, ``val_loss`` or
    ``final loss``; and the like. A column that bears a name of the result exactly goes before others.

    Parameters
    ----------
    source : path or pandas.DataFrame
        A .csv (separated by commas, semicolons or tabs), .tsv, .jsonl or .parquet file, or a .nc file (netCDF-4: a data
        set or a DataTree with one-dimensional variables along one dimension; others are passed over), packed (.gz, .xz,
        .zst) or not; or a pattern such as ``runs-*.csv``, whose files are read as one table with a column ``file``.
        Text is UTF-8. Numbers separated by semicolons may have decimal commas.
    columns : mapping of str to str, optional
        Column of the result to the column of the table that holds it, such as ``{"loss": "my_loss"}``, before any
        recognition. A column of the table whose name is so taken by another is left out. ``run`` may be named too: rows
        of one value are readings of one run.
    perplexity : bool
        Take the loss as the natural logarithm of the table's perplexity.
    ignore : str or sequence of str
        Columns of the table to leave out, such as a compute that was counted another way than 6ND.
    unit : mapping of str to float or str, optional
        Units that columns are in, such as ``{"parameters": 1e9, "tokens": 1e12, "training_flop": 1e21}``; of ``loss``
        ``"bits"`` (per token) or ``"bits-per-byte"``. A unit in a header (``params_B``, ``tokens (T)``) is read by
        itself. A unit that is given, 1 for example, is believed, however strange the sizes.
    bytes_per_token : float, optional
        Mean bytes of a token in the text of the loss, for a loss in bits per byte.
    needed : str or sequence of str
        Columns besides sizes and loss that must be whole, such as ``law.needed``. Bad cells of others are kept.
    where : str, optional
        Keep the rows for which this holds, such as ``"experiment == 'a' and lr > 1e-4"``: columns of the table or of
        the result, between backticks if a name is no identifier, compared as in `pandas.DataFrame.query`.
    drop_missing : bool
        Leave out rows that lack a value in a needed column.
    last_of : str or sequence of str, optional
        Keep of each value of these columns, such as ``"run"``, the row of most tokens; of equal ones the last.
    best_of : str or sequence of str, optional
        Keep of each value of these columns, such as ``"parameters,tokens"``, the row of least loss.
    drop_highest : int
        Rows of highest loss to leave out, after all else.

    Returns
    -------
    pandas.DataFrame
        A row for each row that is kept, in the order of the table, indexed from 0. First ``parameters``, ``tokens``,
        ``training_flop`` (FLOP) and ``loss`` (nats per token), then those of ``perplexity`` (if asked for),
        ``loss_halfwidth`` (nats per token), ``d_model``, ``vocabulary``, ``parameters_nonembedding`` and
        ``unique_tokens`` (distinct training tokens, at most ``tokens``) that the table has, all float64; then every
        other column as it was. ``attrs["source"]`` is the name of the file; ``attrs["reading"]`` lists what options
        and headers took away or changed, which a fit's record keeps.

    Warns
    -----
    TableNote
        For each such change, with the number of rows.
    TableWarning
        If rows of the same sizes have losses more than 3% apart, or the loss rises with compute.

    Raises
    ------
    InputError
        If the table cannot be read or used. The message is one line with the file and, of the first ten cells that
        cannot be used, the line, the column, the value found and the mend. Lines of a text file count from its header,
        which is line 1.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"params": [1e9, 2e9], "training tokens": [2e10, 2e10], "val_loss": [2.9, 2.7]})
    >>> list(read(table).columns)
    ['parameters', 'tokens', 'training_flop', 'loss']
    """
    table, label, name = open_table(source)
    changes = Changes(label, table)
    table = _without(table, [ignore] if isinstance(ignore, str) else ignore, label)
    names = resolve(list(table.columns), columns or {}, label)
    _check_needed(table, names, perplexity, label)
    if not perplexity:
        names.pop("perplexity", None)
    units = units_of(names, unit, bytes_per_token, label)
    needed = list(dict.fromkeys([*SIZES, "loss", *(["perplexity"] if perplexity else []), *selection.names_in(needed)]))
    given, faults = _as_numbers(table, names, needed)
    runs = completed(scaled(given, units, names, changes), changes)
    recognised = [canonical for canonical in ALIASES if canonical in runs]
    runs = runs[recognised].join(table.drop(columns=[*names.values(), *recognised], errors="ignore"))
    if (run := (columns or {}).get(RUN, RUN)) != RUN:
        runs = runs.drop(columns=RUN, errors="ignore").rename(columns={run: RUN})
    known = selection.by_both_names(table, runs)
    runs = selection.where(runs, where, changes, known=known)
    faults = [fault for fault in faults if fault.row in runs.index]
    if drop_missing:
        unreadable = [fault.row for fault in faults]
        runs = selection.without_missing(runs, needed, changes, kept=runs.index.isin(unreadable))
    checked = [name for name in needed if name in recognised]
    check(runs[checked], "runs", label=label, names=names, faults=faults)
    check_agreement(runs, names, label)
    check_at_most("parameters_nonembedding", "parameters", "all parameters together", runs[checked], names, label)
    check_at_most("unique_tokens", "tokens", "the tokens seen", runs[checked], names, label)
    check_possible(runs, names, label, sure=tuple(unit or ()))
    if last_of is not None:
        runs = selection.last_of(runs, last_of, changes, known=known)
    if best_of is not None:
        runs = selection.best_of(runs, best_of, changes, known=known)
    runs = selection.without_highest(runs, drop_highest, changes)
    warn_of_rising(runs, label)
    warn_of_repeats(runs, ["parameters", "tokens", *needed[len(SIZES) + 1 :]], label)
    storing.note_names(runs, changes)
    return with_origin(runs, name, changes)


def _as_numbers(table, names, needed):
    """Recognised columns as numbers where they can be, and the faults of those that are needed."""
    given, faults = {}, []
    # Of three sizes any one can be done without.
    spare = "training_flop" if set(SIZES) <= set(names) else None
    for canonical, column in names.items():
        values, found = numbers(table[column], column)
        if not found or canonical in needed:
            given[canonical] = values
            faults += [] if canonical == spare else found
        else:
            given[canonical] = table[column]
    return pd.DataFrame(given, index=table.index), faults


def _without(table, ignored, label):
    for column in ignored:
        if column not in table:
            raise InputError(
                f"{label}: column {quoted(column)}, to be ignored, is not there; the columns are "
                f"{listed(table.columns)}{suggestion(column, table.columns)}"
            )
    return table.drop(columns=list(ignored))


def _check_needed(table, names, perplexity, label):
    sizes = [canonical for canonical in SIZES if canonical in names]
    if len(sizes) < 2:
        missing = [canonical for canonical in SIZES if canonical not in names]
        raise InputError(
            f"{label}: two of {listed(SIZES)} are needed and {listed(sizes)} found; the columns are "
            f"{listed(table.columns)}; name one with {choice(missing[0], likely(missing[0], table.columns))}"
        )
    if perplexity and "perplexity" not in names:
        raise InputError(
            f"{label}: no column for perplexity, which was to be converted, such as perplexity, ppl or val_ppl; the "
            f"columns are {listed(table.columns)}; name it with "
            f"{choice('perplexity', likely('perplexity', table.columns))}"
        )
    if perplexity and "loss" in names:
        raise InputError(
            f"{label}: the loss is in column {quoted(names['loss'])} and was also to come from "
            f"{quoted(names['perplexity'])}; leave one out with {setting_aside(names['loss'])} or by not asking for "
            "perplexity"
        )
    if "perplexity" in names and "loss" not in names and not perplexity:
        raise InputError(
            f"{label}: column {quoted(names['perplexity'])} is a perplexity and there is no column for loss; take the "
            "loss as its logarithm with perplexity=True (--perplexity)"
        )
    if "loss" not in names and not perplexity:
        raise InputError(
            f"{label}: no column for loss; the columns are {listed(table.columns)}; name it with "
            f"{choice('loss', likely('loss', table.columns))}"
        )

"""Tables of training runs."""

import numpy as np
import pandas as pd

from ...errors import InputError
from .. import selection
from ..cells import numbers
from ..checks import check_agreement, check_at_most, check_possible, warn_of_repeats, warn_of_rising
from ..columns import ALIASES, RUN, SIZES, choice, likely, resolve, setting_aside
from ..schemas import check
from ..units import scaled, units_of
from ..wording import listed, quoted, suggestion
from .kind import Kind


def parse(
    table,
    changes,
    columns,
    perplexity,
    ignore,
    unit,
    bytes_per_token,
    needed,
    where,
    drop_missing,
    last_of,
    best_of,
    drop_highest,
):
    """Check a table of runs, add what follows from its columns, and leave the rows that are wanted."""
    label = changes.label
    table = _without(table, [ignore] if isinstance(ignore, str) else ignore, label)
    names = resolve(list(table.columns), columns, label)
    _check_needed(table, names, perplexity, label)
    if not perplexity:
        names.pop("perplexity", None)
    units = units_of(names, unit, bytes_per_token, label)
    needed = list(dict.fromkeys([*SIZES, "loss", *(["perplexity"] if perplexity else []), *selection.names_in(needed)]))
    cells, faults = _as_numbers(table, names, needed)
    runs = _completed(scaled(cells, units, names, changes), changes)
    recognised = [canonical for canonical in ALIASES if canonical in runs]
    runs = runs[recognised].join(table.drop(columns=[*names.values(), *recognised], errors="ignore"))
    if (run := columns.get(RUN, RUN)) != RUN:
        runs = runs.drop(columns=RUN, errors="ignore").rename(columns={run: RUN})
    both = selection.by_both_names(table, runs)
    runs = selection.where(runs, where, changes, columns=both)
    faults = [fault for fault in faults if fault.row in runs.index]
    if drop_missing:
        unreadable = [fault.row for fault in faults]
        runs = selection.without_missing(runs, needed, changes, spared=runs.index.isin(unreadable))
    checked = [name for name in needed if name in recognised]
    check(runs[checked], "runs", label=label, names=names, faults=faults)
    check_agreement(runs, names, label)
    check_at_most("parameters_nonembedding", "parameters", "all parameters together", runs[checked], names, label)
    check_at_most("unique_tokens", "tokens", "the tokens seen", runs[checked], names, label)
    check_possible(runs, names, label, sure=tuple(unit or ()))
    if last_of is not None:
        runs = selection.last_of(runs, last_of, changes, more=both)
    if best_of is not None:
        runs = selection.best_of(runs, best_of, changes, more=both)
    runs = selection.without_highest(runs, drop_highest, changes)
    warn_of_rising(runs, label)
    warn_of_repeats(runs, ["parameters", "tokens", *needed[len(SIZES) + 1 :]], label)
    return runs


def _as_numbers(table, names, needed):
    """Return recognised columns as numbers where they can be, and the faults of those that are needed."""
    columns, faults = {}, []
    # Of three sizes any one can be done without.
    spare = "training_flop" if set(SIZES) <= set(names) else None
    for canonical, column in names.items():
        values, wrong = numbers(table[column], column)
        columns[canonical] = values if not wrong or canonical in needed else table[column]
        faults += wrong if canonical in needed and canonical != spare else []
    return pd.DataFrame(columns, index=table.index), faults


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


@np.errstate(all="ignore")
def _completed(table, changes):
    """Add what follows from other columns: the third size by C = 6ND, a loss, parameters outside the embeddings."""
    n, d, c = (table.get(name) for name in SIZES)
    derived = {
        "parameters": None if d is None or c is None else c / (6 * d),
        "tokens": None if n is None or c is None else c / (6 * n),
        "training_flop": None if n is None or d is None else 6 * n * d,
    }
    added = {name: derived[name] for name in SIZES if name not in table}
    if not added:
        added = {name: table[name].fillna(derived[name]) for name in SIZES}
        for name in SIZES:
            if count := int((table[name].isna() & added[name].notna()).sum()):
                sentence = f"{count} cells of {name} without a number are filled in by C = 6ND"
                changes.add("filled", sentence, column=name, cells=count)
    if "perplexity" in table:
        added["loss"] = np.log(table["perplexity"])
    table = table.assign(**added)
    if {"d_model", "vocabulary"} <= set(table) and "parameters_nonembedding" not in table:
        d_model, vocabulary = (pd.to_numeric(table[name], errors="coerce") for name in ("d_model", "vocabulary"))
        outside = table["parameters"] - d_model * vocabulary
        if outside.notna().any() and (outside.dropna() > 0).all():
            table = table.assign(parameters_nonembedding=outside)
    return table


RUNS = Kind(name="runs", built_in="chinchilla_runs", dimension="run", parse=parse, forms=("from_name", "from_file"))

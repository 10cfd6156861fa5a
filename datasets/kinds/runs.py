"""Tables of training runs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...errors import InputError
from .. import selection
from ..cells import numbers
from ..checks import check_agreement, check_at_most
from ..columns import ALIASES, RUN, SETTINGS, SIZES, find_roles, recognise, recognise_later, recognise_with_unit
from ..expressions import add_derived_columns
from ..meaning import rows
from ..meaning.facts import TableFacts, agree
from ..meaning.magnitudes import check_losses, check_sizes
from ..meaning.names import means
from ..meaning.problems import check_meaning, describe_fix_of_compute
from ..meaning.readings import check_readings
from ..panels import melted
from ..schemas import ABOVE_ONE, NONNEGATIVE, POSITIVE, SHARE, check
from ..units import check_factor, is_unit_of_flop, scale_columns
from ..wording import listed, quoted, suggestion
from .kind import Kind, register_kind

OPTIONAL = ("d_model", "vocabulary", "parameters_nonembedding", "unique_tokens")
USUAL_MULTIPLE = 6.0  # FLOP of training for each parameter and token


def parse(
    opened,
    changes,
    columns,
    perplexity,
    ignore,
    unit,
    bytes_per_token,
    flop_per_parameter_token,
    needed,
    where,
    drop_missing,
    keep_copies,
    last_of,
    best_of,
    drop_highest,
):
    """Check a table of runs, add what follows from its columns, and return the rows that are wanted."""
    label, sure = changes.label, dict(unit) if isinstance(unit, Mapping) else {}
    multiple = check_factor("flop_per_parameter_token: ", flop_per_parameter_token, "6 or 2")
    ignore = [ignore] if isinstance(ignore, str) else ignore
    opened = _without(opened, ignore, label)
    table, expressions = add_derived_columns(opened, columns, sure, changes)
    needed = selection.split_names(needed)
    names, several = find_roles(table, columns, label, needed)
    names = _numeric(names, table, columns)
    size = _only_size(needed)
    table, names = _without_spare_sizes(table, names, columns, size, changes)
    assumed = perplexity, multiple, size, several, last_of is not None
    facts = TableFacts(table, names, columns, sure, expressions, *assumed)
    check_meaning(facts, label)
    _set_aside_budget(facts, changes)
    if not perplexity:
        names.pop("perplexity", None)
    effects = RUN in needed
    sizes = (size,) if size in names and len(set(SIZES) & set(names)) == 1 else SIZES
    sizes = () if size == "" else sizes
    needed = list(dict.fromkeys([*sizes, "loss", *(["perplexity"] if perplexity else []), *needed]))
    needed = [name for name in needed if name != RUN]
    cells, faults = _as_numbers(table, names, needed)
    cells = scale_columns(cells, names, unit, bytes_per_token, changes, derived=expressions)
    runs = _completed(_of_training(cells, names, multiple, changes), changes)
    recognised = [canonical for canonical in (*ALIASES, *SETTINGS) if canonical in runs]
    runs = runs[recognised].join(table.drop(columns=[*names.values(), *recognised], errors="ignore"))
    if (run := columns.get(RUN, RUN)) != RUN:
        runs = runs.drop(columns=RUN, errors="ignore")
        plays = run in (*recognised, *names.values())
        runs = runs.assign(**{RUN: table[run]}) if plays else runs.rename(columns={run: RUN})
    both = selection.join_names(table, runs)
    runs = selection.select_rows(runs, where, changes, columns=both)
    faults = [rows.propose_leaving_out(fault) for fault in faults if fault.row in runs.index]
    rows.check_overflow(table.loc[runs.index], names, label)
    started = means(names.get("tokens"), "clock") or ("tokens" in runs and bool(runs["tokens"].eq(0).any()))
    if drop_missing:
        unusable = rows.find_unusable(runs, names, faults, needed)
        unreadable = [fault.row for fault in faults]
        runs = selection.drop_missing_rows(runs, needed, changes, spared=runs.index.isin(unreadable), unusable=unusable)
    runs = rows.leave_out_copies(runs, opened, keep_copies, changes)
    if last_of is not None:
        runs = selection.take_last(runs, last_of, changes, more=both, needed=needed)
    if best_of is not None:
        runs = selection.take_best(runs, best_of, changes, more=both)
    runs = selection.drop_highest_losses(runs, drop_highest, changes)
    headers = {name: header for name, header in names.items() if header not in expressions}
    separate = any(means(name, "name") for name in ignore) or bool(
        {"tokens", headers.get("tokens")} & {*selection.split_names(last_of or ())}
    )
    # A column of this very name, as sweeps write it, states what rows are, unless files were joined by it.
    declared = RUN in columns or (RUN in table and table.index.name != "place")
    check_readings(runs, headers, label, declared=declared, expected=effects, started=started, separate=separate)
    faults = [fault for fault in faults if fault.row in runs.index]
    checked = [name for name in needed if name in recognised]
    check(runs[checked], RUNS, label=label, names=names, faults=faults)
    check_sizes(runs, names, label, sure=sure, derived=expressions)
    if sizes == SIZES:
        check_agreement(runs, names, label, describe_fix_of_compute(facts))
    check_at_most("parameters_nonembedding", "parameters", "all parameters together", runs[checked], names, label)
    check_at_most("unique_tokens", "tokens", "the tokens seen", runs[checked], names, label)
    check_losses(runs, names, label, sure=sure)
    if sizes == SIZES:
        rows.check_lattice(runs, names, (*sure, *(["tokens"] if names.get("tokens") in expressions else [])), label)
        rows.note_derived(runs, names, expressions, multiple, sure, changes)
    rows.warn_of_experts(runs, names, label)
    if independent := sizes[:2]:
        rows.warn_of_outliers(runs, independent, names, label)
        rows.warn_of_repeats(runs, [*independent, *needed[len(sizes) + 1 :]], label)
    return runs


def _only_size(needed):
    """Return the size that a law of one size needs, None where others are needed too, "" where errors need none."""
    counts = [name for name in needed if name in (*SIZES, "parameters_nonembedding", "unique_tokens")]
    if "error" in needed and not counts:
        return ""
    return counts[0] if len(counts) == 1 and counts[0] in SIZES else None


def _without_spare_sizes(table, names, chosen, size, changes):
    """Return a table without columns of sizes that a law of one size does not need, where some cell is no size."""
    if size not in names:
        return table, names
    names = dict(names)
    for name in SIZES:
        if name == size or name not in names or name in chosen:
            continue
        values, faults = numbers(table[names[name]], names[name])
        if faults or not (np.isfinite(values) & (values > 0)).all():
            header = names.pop(name)
            changes.add("columns", f"column {quoted(header)} is left out: {name} are not needed", column=str(header))
            table = table.drop(columns=header)
    return table, names


def _of_training(table, names, multiple, changes):
    """Return a table whose FLOP are 6 for each parameter and token, from another number of them."""
    if multiple == USUAL_MULTIPLE:
        return table
    if "training_flop" not in table:
        raise InputError(
            f"{changes.label}: flop_per_parameter_token is for a column of FLOP and there is none; leave it out"
        )
    if table["training_flop"].dtype != "float64":
        return table
    sentence = (
        f"column {quoted(names['training_flop'])} has {multiple:g} FLOP a parameter and token, and is read as training "
        f"FLOP, 6 of them"
    )
    changes.add("flop_per_parameter_token", sentence, value=multiple)
    return table.assign(training_flop=table["training_flop"] * (USUAL_MULTIPLE / multiple))


def _set_aside_budget(facts, changes):
    """Leave a budget that is not 6ND out of the sizes where the table has one count of parameters and tokens."""
    header = facts.names.get("training_flop")
    later = header is not None and (recognise_later(header) is not None or is_unit_of_flop(header))
    if not later or "training_flop" in facts.chosen:
        return
    counts = facts.counts()
    if counts and not any(map(agree, counts)):
        span = f"{counts[0][1]:.3g} to {counts[0][2]:.3g}"
        changes.add("budget", f"column {quoted(header)} is {span} of 6ND: C = 6ND is used in its place", column=header)
        del facts.names["training_flop"]


def _numeric(names, table, chosen):
    """Return roles without columns of less common names that hold no numbers, such as ``size`` for small and large."""
    return {
        name: header
        for name, header in names.items()
        if name in chosen or recognise_later(header) is None or numbers(table[header], header)[0].notna().any()
    }


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


@np.errstate(all="ignore")
def _completed(table, changes):
    """Add what follows from other columns: the third size by C = 6ND, a loss, parameters outside the embeddings."""
    n, d, c = (table.get(name) for name in SIZES)
    derived = {
        "parameters": None if d is None or c is None else c / (6 * d),
        "tokens": None if n is None or c is None else c / (6 * n),
        "training_flop": None if n is None or d is None else 6 * n * d,
    }
    added = {name: x for name, x in derived.items() if name not in table and x is not None}
    if set(SIZES) <= set(table):
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


RUNS = Kind(
    name="runs",
    built_in="chinchilla_runs",
    dimension="run",
    parse=parse,
    cells=dict.fromkeys((*SIZES, "loss", *OPTIONAL, *SETTINGS), POSITIVE.spare)
    | {"loss_halfwidth": NONNEGATIVE.spare, "perplexity": ABOVE_ONE.spare, "error": SHARE.spare},
    dropped=(*SIZES, "loss", "perplexity"),
    recognisers=(recognise, recognise_with_unit, recognise_later),
    forms=("from_name", "from_file"),
    form=lambda frame, label, columns: melted(frame, label),
)
register_kind(RUNS)

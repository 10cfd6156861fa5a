"""Tables of how many problems runs get right, by operand lengths."""

import numpy as np

from ...errors import InputError
from ..cells import as_names, as_numbers, find_fractions
from ..checks import Fault, refuse, refuse_differences, refuse_duplicate_rows
from ..columns import Called, choose_one
from ..schemas import NONNEGATIVE, POSITIVE, check, one_of
from ..wording import quoted, shown
from .kind import Kind, register_kind

WHOLE = ("train_digits", "length_a", "length_b", "correct", "total")
SPLITS = ("id", "ood", "ood100")
SHAPE = ("layers", "recurrences", "d_model", "k_max")
SIZES = (*SHAPE, "parameters", "samples", "flop")
OF_A_RUN = ("arm", "task", "embedding", "architecture", *SHAPE, "train_digits", "seed")
CONDITION = "all"  # of a table that names none
DEFAULTS = {"architecture": "standard", "recurrences": 1.0, "embedding": CONDITION}
LONGEST_OOD = 100
# Columns that stand for two others, with their other names as in `Kind`.
JOINT = {
    "length": "length lengths ndigits numdigits digits operandlength operanddigits len testlength testlen nlen",
    "accuracy": "accuracy acc accuracies exactmatch shareright fractioncorrect",
}


def parse(table, changes, columns, where, drop_missing, trials=None):
    """Check a table of counts, and add the region of each cell where there is none."""
    label, columns = changes.label, dict(columns)
    table = _with_lengths(table, columns, changes)
    table, hint = _with_counts(table, columns, trials, changes)
    table, _ = COUNTS.select(table, changes, columns, where, drop_missing, hint)
    numbers, faults = as_numbers(table, COUNTS.present(table, (*WHOLE, *SIZES, "offset")))
    names, nameless = as_names(table, COUNTS.present(table, COUNTS.text))
    refuse(faults + nameless, table, label)
    table = table.assign(**names, **numbers)
    if "embedding" not in table:
        changes.add("embedding", "no column has the embedding: all runs are read as of one condition", value=CONDITION)
    table = table.assign(**{column: value for column, value in DEFAULTS.items() if column not in table})
    refuse(find_fractions(table, COUNTS.present(table, (*WHOLE, *SHAPE, "offset"))), table, label)
    table = check(table, COUNTS, label=label)
    refuse(_too_many_correct(table), table, label)
    refuse_differences(table, "run", OF_A_RUN, label)
    key, text = (
        ["run", "length_a", "length_b"],
        "run {} has lengths {} and {} before; add their counts up or delete one",
    )
    refuse_duplicate_rows(table, key, text, label, also=COUNTS.present(table, ["offset"]))
    longest = np.maximum(table["length_a"], table["length_b"])
    splits = np.where(longest <= table["train_digits"], "id", np.where(longest <= LONGEST_OOD, "ood", "ood100"))
    return table if "split" in table else table.assign(split=splits)


def _joint(table, columns, name, parts, label):
    """Return the column that stands for two others, chosen or of a common name; None where these are there."""
    chosen = columns.pop(name, None)
    if chosen is not None:
        if chosen not in table:
            raise InputError(f"{label}: column {quoted(chosen)}, chosen for {name}, is not there")
        return chosen
    if any(column in Called(parts, columns, COUNTS.aliases) for column in table):
        return None
    candidates = [column for column in table if column in Called((name,), {}, JOINT)]
    return choose_one(candidates, name, label, exact=False).get(name)


def _with_lengths(table, columns, changes):
    """Take one column of lengths for both operands."""
    parts = ("length_a", "length_b")
    column = _joint(table, columns, "length", parts, changes.label)
    if column is None:
        return table
    changes.add("length", f"{quoted(column)} is read as the length of both operands", column=str(column))
    return table.assign(**dict.fromkeys(parts, table[column]))


def _with_counts(table, columns, trials, changes):
    """Take shares of problems that are right, and the number of problems of each, for counts; return a hint too."""
    parts, label = ("correct", "total"), changes.label
    column = _joint(table, columns, "accuracy", parts, label)
    if column is None:
        if trials is not None:
            raise InputError(f"{label}: trials are for a table with a column of accuracies; leave them out")
        return table, ""
    if trials is None:
        hint = f"; {quoted(column)} is there: give the number of problems of each share with trials= (--trials 500)"
        return table, hint
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise InputError(f"trials is {shown(trials)}; give the number of problems of each accuracy, such as 500")
    shares, faults = as_numbers(table, [column])
    share = shares[column]
    scale = 100 if share.max() > 1 else 1
    wrong = share.index[~((share >= 0) & (share <= scale)) & share.notna()]
    problem = f"which is no share from 0 to {scale}"
    faults += [Fault(row, column, f"found {quoted(share[row])}, {problem}", "correct it") for row in wrong]
    refuse(faults, table, label)
    correct = (share / scale * trials).round()
    error = (correct / trials - share / scale).abs().fillna(0).max()
    percent = "percent" if scale == 100 else "a share"
    changes.add(
        "trials",
        f"{quoted(column)} is read as {percent} of {trials} problems each, which changes it by at most {error:.2g}",
        column=str(column),
        value=trials,
    )
    return table.assign(correct=correct, total=float(trials)), ""


def _too_many_correct(table):
    for row, correct, total in table[["correct", "total"]].itertuples():
        if correct > total:
            problem = f"found {correct} of {total} problems"
            yield Fault(row, "correct", problem, "correct one of them or delete the row")


COUNTS = Kind(
    name="counts",
    built_in="arithmetic_runs",
    dimension="cell",
    parse=parse,
    needed=("run", "train_digits", "length_a", "length_b", "correct", "total"),
    optional=(
        "embedding",
        "arm",
        "task",
        "architecture",
        *SHAPE,
        "seed",
        "parameters",
        "samples",
        "flop",
        "offset",
        "split",
    ),
    text=("run", "arm", "task", "embedding", "architecture", "split"),
    aliases={
        "run": "model modelname runid runname name checkpoint seedrun",
        "embedding": "embeddings positions positionembedding positionalembedding positional pe condition",
        "train_digits": "maxtrainlen maxtrainlength maxtraindigits trainlen trainlength traindigits trainingdigits",
        "correct": "ncorrect numcorrect right",
        "total": "ntotal problems questions nproblems",
        **JOINT,
    },
    cells=dict.fromkeys(WHOLE, POSITIVE.whole)
    | {"correct": NONNEGATIVE.whole, "offset": NONNEGATIVE.whole.spare, "split": one_of(SPLITS).spare}
    | dict.fromkeys(SIZES, POSITIVE.spare),
)
register_kind(COUNTS)

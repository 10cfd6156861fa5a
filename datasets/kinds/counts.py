"""Tables of how many problems runs get right, by operand lengths."""

import numpy as np

from ..cells import as_names, as_numbers
from ..checks import Fault, refuse, refuse_differences, refuse_duplicate_rows
from ..schemas import COUNT_POSITIVE, COUNT_WHOLE, check
from ..wording import quoted
from .kind import Kind

SHAPE = ("layers", "recurrences", "d_model", "k_max")
OF_A_RUN = ("arm", "task", "embedding", "architecture", *SHAPE, "train_digits", "seed")
DEFAULTS = {"architecture": "standard", "recurrences": 1.0}
LONGEST_OOD = 100


def parse(table, changes, columns, where, drop_missing):
    """Check a table of counts, and add the region of each cell where there is none."""
    table, _ = COUNTS.select(table, changes, columns, where, drop_missing)
    label = changes.label
    numbers, faults = as_numbers(table, COUNTS.present(table, (*COUNT_WHOLE, *COUNT_POSITIVE, "offset")))
    names, nameless = as_names(table, COUNTS.present(table, COUNTS.text))
    refuse(faults + nameless, table, label)
    table = table.assign(**names, **numbers)
    table = table.assign(**{column: value for column, value in DEFAULTS.items() if column not in table})
    refuse(_fractions(table), table, label)
    table = check(table, "counts", label=label)
    refuse(_too_many_correct(table), table, label)
    refuse_differences(table, "run", OF_A_RUN, label)

    def describe(run, a, b):
        return f"run {quoted(run)} has lengths {a} and {b} before; add their counts up or delete one"

    key = ["run", "length_a", "length_b"]
    refuse_duplicate_rows(table, key, describe, label, also=COUNTS.present(table, ["offset"]))
    return table if "split" in table else table.assign(split=_split(table))


def _split(table):
    longest = np.maximum(table["length_a"], table["length_b"])
    return np.where(longest <= table["train_digits"], "id", np.where(longest <= LONGEST_OOD, "ood", "ood100"))


def _fractions(table):
    for column in COUNTS.present(table, (*COUNT_WHOLE, *SHAPE, "offset")):
        for row, value in table[column][table[column] != table[column].round()].items():
            fault = "nothing (a blank or NaN)" if np.isnan(value) else f"{quoted(value)}, which is no whole number"
            yield Fault(row, column, f"found {fault}", "correct it or delete the row")


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
    needed=("run", "embedding", "train_digits", "length_a", "length_b", "correct", "total"),
    optional=("arm", "task", "architecture", *SHAPE, "seed", "parameters", "samples", "flop", "offset", "split"),
    text=("run", "arm", "task", "embedding", "architecture", "split"),
    group="run",
    of_rows=("offset", "length_a", "length_b", "correct", "total", "split"),
)

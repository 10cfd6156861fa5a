"""Rules of the rows of runs: copies, sizes that are steps, experts, outliers, rows that differ, cells of no number."""

import re
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd

from ...errors import InputError, TableNote, TableWarning
from ..cells import numbers
from ..checks import LEFT_OUT, place, refuse_first, warn
from ..columns import SIZES, is_setting
from ..fixes import Fix, setting_aside
from ..selection import hashable
from ..wording import listed, quoted, shorten_number
from .names import means

# Whole numbers below this are integers that overflowed, and one alone below the second.
WRAPPED, SURELY_WRAPPED = -1e6, -1e9

# Bounds on tokens per parameter.
FEW, MANY = 0.01, 1e7
MANY_IN_ALL = 3000  # parameters in thousands have as many in every row

# Fewer tokens in every row, as multiples of one number, are steps.
STEPS_BELOW = 1e7
LEAST_STEP = 10
FEW_TOKENS = 0.1  # a parameter, in the median


# Largest spread of losses of one size, as a share.
APART = 0.03

SETTINGS_SHOWN = 8
NOT_CAUSES = ("loss", "loss_halfwidth", "perplexity", "training_flop")
LEAST_ROWS = 10  # of which outliers are found

# An outlier is a loss this many times that of its neighbours, and so many spreads of the residuals away.
OUTLYING = 1.5
SPREADS = 8
OUTLIERS_SHOWN = 3
OUTLYING_ALONE, SPREADS_ALONE = 1.15, 20  # of one row, by the others
LARGEST_LEVERAGE = 0.6  # of that row: beyond, the function of the others is extrapolated to it


# Copies ---------------------------------------------------------------------------------------------------------------


def leave_out_copies(runs, table, keep, changes):
    """Return runs without exact copies of rows of `table`, as it was opened, with a note; all if wanted."""
    if keep or len(runs) < 2:
        return runs
    copies = table.loc[runs.index].apply(hashable).duplicated()
    if not copies.any():
        return runs
    count = int(copies.sum())
    sentence = f"{count} of {len(runs)} rows are exact copies of others and left out; keep_copies=True reads them too"
    changes.add("keep_copies", sentence, value=False, rows_before=len(runs), rows_left_out=count)
    return runs[~copies]


# Sizes ----------------------------------------------------------------------------------------------------------------


def check_overflow(table, names, label):
    """Refuse a column of tokens or FLOP some of whose whole numbers are integers that overflowed."""
    for canonical in ("tokens", "training_flop"):
        if canonical not in names:
            continue
        values, _ = numbers(table[names[canonical]], names[canonical])
        wrong = (values < WRAPPED) & np.isfinite(values) & (values % 1 == 0)
        if wrong.sum() > 1 or (values[wrong] < SURELY_WRAPPED).any():
            bits = 64 if values.min() < -(2**31) else 32
            found = f"a {bits}-bit integer that overflowed, so that positive cells may be wrong too"
            fix = f"write the column as 2.1e19, or leave it out with {setting_aside(names[canonical])}"
            describe = lambda row, values=values, found=found: f"{quoted(values[row])}, {found}"  # noqa: E731
            refuse_first(wrong, names[canonical], describe, fix, table, label)


@np.errstate(all="ignore")
def check_lattice(runs, names, sure, label):
    """Refuse tokens that are as few and as evenly spaced as steps are."""
    if "tokens" not in names or "tokens" in sure:
        return
    tokens = runs["tokens"]
    whole = tokens.unique()
    if len(whole) < 3 or tokens.max() >= STEPS_BELOW or (whole % 1 > 0).any():
        return
    step = np.gcd.reduce(whole.astype("int64"))
    few = (tokens / runs["parameters"]).median() < FEW_TOKENS
    if step >= LEAST_STEP and few and tokens.max() / step < 1e4:
        raise InputError(
            f"{label}: column {quoted(names['tokens'])}, taken for tokens, has multiples of {step} up to "
            f"{tokens.max():.4g}, as steps have; if they are steps, give the tokens of one as "
            f"{Fix(unit={'tokens': 5e5})}; if it counts tokens, tokens=1"
        )


def note_derived(runs, names, expressions, multiple, sure, changes):
    """Note the tokens per parameter where one of them is derived, and warn of those that no run has."""
    derived = next((name for name in ("parameters", "tokens") if names.get(name) in (None, *expressions)), None)
    with np.errstate(all="ignore"):  # a frame of NumPy would be the place of the warning
        ratio = runs["tokens"] / runs["parameters"]
    span = f"{_short(ratio.min())} to {_short(ratio.max())}"
    if derived is not None:
        by = names.get(derived, f"C = {multiple:g}ND")
        what = f"{span} per parameter" if derived == "tokens" else f"{span} tokens per parameter"
        warn(f"{changes.label}: derived {derived}: {what}, by {by}", TableNote)
    wrong = (ratio < FEW) | (ratio > (MANY if ratio.min() < MANY_IN_ALL else MANY_IN_ALL))
    if wrong.any() and not {*SIZES} & {*sure}:
        row = wrong.idxmax()
        warn(
            f"{changes.label}, {place(runs, row)}: {_short(ratio[row])} tokens per parameter, as strange in "
            f"{wrong.sum()} of {len(runs)} rows ({span}): are units and columns of the sizes right? Give them with "
            "unit= (--unit) and columns= (--column), or leave such rows out with where= (--where)",
            TableWarning,
        )


def _short(number):
    return f"{number:,.0f}" if 10 <= number < 1e5 else shorten_number(number, 2)


# Experts --------------------------------------------------------------------------------------------------------------


def warn_of_experts(runs, names, label):
    """Warn where models with experts differ in the total over the active parameters, which are the size."""
    if "activ" not in str(names.get("parameters", "")).lower():
        return
    counts = {header: numbers(runs[header], header)[0] for header in runs if means(header, "whole count")}
    counts = {header: x for header, x in counts.items() if (x >= runs["parameters"] * (1 - 1e-9)).all()}
    if not counts:
        return
    header, total = next(iter(counts.items()))
    ratio = (total / runs["parameters"]).round(3)
    if ratio.nunique() < 2:
        return
    experts = [x for x in runs if "expert" in str(x).lower() and 1 < runs[x].map(str).nunique() <= ratio.nunique()]
    fix = (
        f"pool the rows by {quoted(experts[0])} with --group {shlex.quote(str(experts[0]))}"
        if experts
        else "choose rows of one ratio with where= (--where)"
    )
    warn(
        f"{label}: column {quoted(header)} is {_short(ratio.min())} to {_short(ratio.max())} times the active "
        f"parameters, which are N here; experts lower the loss at equal N: {fix}; a law of N and D alone takes that "
        "for noise",
        TableWarning,
    )


# Losses that are far from others --------------------------------------------------------------------------------------


def warn_of_repeats(runs, sizes, label):
    """Warn where rows of the same sizes have losses further apart than 3%, naming the columns that vary there."""
    # Tokens that were derived from FLOP differ in the last digits.
    sizes = [name for name in sizes if name in runs]
    keys = [runs[name].map("{:.6g}".format) if runs[name].dtype == "float64" else runs[name] for name in sizes]
    grouped = runs.groupby(keys, sort=False)["loss"]
    spread = grouped.transform("max") / grouped.transform("min") - 1
    rows = runs[spread > APART]
    if rows.empty:
        return
    together = [key[rows.index] for key in keys]
    others = [name for name in runs.columns if name not in (*sizes, *NOT_CAUSES)]
    varied = [name for name in others if (rows[name].astype(str).groupby(together).nunique() > 1).any()]
    # A setting has few values; what was measured has many.
    varied.sort(key=lambda name: rows[name].astype(str).nunique())
    different = listed(varied, SETTINGS_SHOWN) if varied else "no other column"
    tuned = (
        "fit learning-rate or rate-and-batch, laws of such runs, or "
        if any(is_setting(name, "learning_rate_peak") for name in varied)
        else ""
    )
    worst = runs.loc[spread.idxmax()]
    example = ", ".join(f"{name} {worst[name]:.4g}" for name in sizes if runs[name].dtype == "float64")
    count = rows.groupby(together).ngroups
    warn(
        f"{label}: {count} size{'s come' if count > 1 else ' comes'} with losses more than {APART:.0%} apart, up to "
        f"{spread.max():.0%} (at {example}); such rows differ in {different}: a law of sizes takes that for noise; "
        f'{tuned}fit groups (--group COLUMN), or choose rows with where= (--where), best_of="parameters,tokens" '
        "(--best-of parameters,tokens) or last_of= (--last-of)",
        TableWarning,
    )


def warn_of_outliers(runs, sizes, names, label):
    """Warn of losses, or sizes, that are far from those of runs of near sizes.

    The logarithm of the loss is compared with a quadratic function of those of the sizes, fitted robustly. One row of
    which a size is wrong bends that function; it is compared with the function of the other rows.
    """
    if len(runs) < LEAST_ROWS:
        return
    loss = np.log(runs["loss"].to_numpy(float))
    design = _quadratic(np.log(runs[list(sizes)].to_numpy(float)))
    expected = _smooth(design, loss)
    residual = np.abs(loss - expected)
    wrong = residual > max(np.log(OUTLYING), SPREADS * 1.4826 * np.median(residual))
    what = "outliers"
    if not wrong.any():
        expected, spreads = _without_each(design, loss)
        wrong = (spreads > SPREADS_ALONE) & (np.abs(loss - expected) > np.log(OUTLYING_ALONE))
        what = "an outlier, or a size of that row is wrong"
    if not wrong.any() or wrong.mean() > 0.1:
        return
    rows = runs.index[wrong][:OUTLIERS_SHOWN]
    header = names.get("loss", "loss")
    texts = [
        f"{place(runs, row)} has {runs.at[row, 'loss']:.4g} where its neighbours suggest "
        f"{np.exp(expected[runs.index.get_loc(row)]):.3g}"
        for row in rows
    ]
    more = f" and {wrong.sum() - len(rows)} more" if wrong.sum() > len(rows) else ""
    highest = set(runs["loss"].nlargest(wrong.sum()).index) == set(runs.index[wrong])
    fix = f"drop_highest={wrong.sum()} (--drop-highest {wrong.sum()})" if highest else "where= (--where)"
    warn(
        f"{label}: column {quoted(header)} has {what}: {'; '.join(texts)}{more}; correct them or leave them out with "
        f"{fix}",
        TableWarning,
    )


def _quadratic(sizes):
    """Return the columns of a quadratic function of sizes."""
    spread = sizes.std(axis=0)
    z = (sizes - sizes.mean(axis=0))[:, spread > 1e-9] / spread[spread > 1e-9]
    return np.column_stack([np.ones(len(z)), z, z**2])


@np.errstate(all="ignore")
def _without_each(design, loss):
    """Return what the other rows predict for each by least squares, and its distance in standard errors, 0 far out."""
    q, _ = np.linalg.qr(design)
    free = 1 - (q**2).sum(axis=1)
    residual = loss - q @ (q.T @ loss)
    variance = ((residual**2).sum() - residual**2 / free) / (len(loss) - design.shape[1] - 1)
    distance = np.abs(residual) / np.sqrt(variance * free)
    return loss - residual / free, np.where(free > 1 - LARGEST_LEVERAGE, distance, 0.0)


def _smooth(design, loss):
    """Return a function of sizes, fitted by least absolute deviations with reweighting."""
    weight = np.ones(len(loss))
    for _ in range(30):
        root = np.sqrt(weight)
        coefficients = np.linalg.lstsq(design * root[:, None], loss * root, rcond=None)[0]
        weight = 1 / np.maximum(np.abs(loss - design @ coefficients), 1e-4)
    return design @ coefficients


# Cells that are no number ---------------------------------------------------------------------------------------------


def propose_leaving_out(fault):
    """Return a fault whose fix names the option that leaves its row out, unless the cell holds a number to correct."""
    if fault.fix.startswith("write it "):
        return fault
    return replace(fault, fix=f"{fault.fix}; {LEFT_OUT}")


def find_unusable(table, names, faults, needed):
    """Return the rows with no finite positive number in a needed column, by kind, such as ``loss "diverged"``.

    A cell that holds a number in another form, such as 1,000, is none of them: it can be corrected.
    """
    canonical = {header: name for name, header in names.items()}
    kinds = {}
    for fault in faults:
        if not fault.fix.startswith("write it "):
            text = re.sub(r"^found |, which is not a number$", "", fault.problem)
            kinds.setdefault(f"{canonical.get(fault.column, fault.column)} {text}", []).append(fault.row)
    for name in needed:
        if name in table and table[name].dtype == "float64":
            infinite = table.index[np.isinf(table[name])]
            least = (table[name] < 0) if name == "loss_halfwidth" else (table[name] <= 0)
            for kind, rows in (
                ("infinite", infinite),
                ("negative or zero", table.index[least & ~np.isinf(table[name])]),
            ):
                if len(rows):
                    kinds.setdefault(f"{kind} {name}", []).extend(rows)
    return {kind: pd.Index(rows) for kind, rows in kinds.items()}

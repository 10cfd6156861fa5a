"""Parameters, tokens and compute of runs: the third of them from the other two, and whether they agree."""

import numpy as np
import pandas as pd

from ...errors import InputError
from ..columns import SIZES, choice, setting_aside
from ..wording import quoted
from .faults import place
from .possible import compute_unit

DISAGREEMENT = 0.01
ROUNDING = 1e-12


def completed(given, changes):
    """Add what follows from other columns: the third size by C = 6ND, a loss, parameters outside the embeddings.

    Parameters
    ----------
    given : pandas.DataFrame
        Columns by canonical name, two sizes among them.
    changes : Changes
        Told of cells of the third size that were blank.

    Returns
    -------
    pandas.DataFrame
    """
    with np.errstate(all="ignore"):
        n, d, c = (given.get(name) for name in SIZES)
        derived = {
            "parameters": None if d is None or c is None else c / (6 * d),
            "tokens": None if n is None or c is None else c / (6 * n),
            "training_flop": None if n is None or d is None else 6 * n * d,
        }
        whole = {name: derived[name] for name in SIZES if name not in given}
        if not whole:
            whole = {name: given[name].fillna(derived[name]) for name in SIZES}
            filled = {name: int((given[name].isna() & whole[name].notna()).sum()) for name in SIZES}
            for name in SIZES:
                if filled[name]:
                    said = f"{filled[name]} cells of {name} without a number are filled in by C = 6ND"
                    changes.add("filled", said, column=name, cells=filled[name])
        if "perplexity" in given:
            whole["loss"] = np.log(given["perplexity"])
        given = given.assign(**whole)
        if {"d_model", "vocabulary"} <= set(given) and "parameters_nonembedding" not in given:
            d_model, vocabulary = (pd.to_numeric(given[name], errors="coerce") for name in ("d_model", "vocabulary"))
            counted = given["parameters"] - d_model * vocabulary
            if counted.notna().any() and (counted.dropna() > 0).all():
                given = given.assign(parameters_nonembedding=counted)
    return given


def check_agreement(runs, names, label):
    """Refuse a compute that is not 6ND, with what may be the matter."""
    counted = 6 * runs["parameters"] * runs["tokens"]
    ratio = runs["training_flop"] / counted
    wrong = (ratio - 1).abs() > DISAGREEMENT
    mend = compute_unit(ratio.median())
    if not mend and wrong.any():
        apart = setting_aside(names["training_flop"])
        mend = (
            "if the parameters count no embeddings, name them so with "
            f"{choice('parameters_nonembedding', names['parameters'])}; if the FLOP count attention or only part of "
            f"the run, leave them out with {apart}; else correct them"
        )
    _refuse(
        wrong,
        "training_flop",
        lambda row: f"where 6 x parameters x tokens is {quoted(counted[row])} (ratio {ratio[row]:.4g})",
        mend,
        runs,
        names,
        label,
    )


def check_at_most(part, whole, called, runs, names, label):
    """Refuse a part that is above the whole."""
    if part in runs and part in names:
        # Tokens that were derived from FLOP can be short of themselves in the last digit.
        _refuse(
            runs[part] > runs[whole] * (1 + ROUNDING),
            part,
            lambda row: f"where {called} are {quoted(runs.at[row, whole])}",
            f"correct it, or leave the column out with {setting_aside(names[part])}",
            runs,
            names,
            label,
        )


def _refuse(wrong, canonical, circumstance, mend, runs, names, label):
    if wrong.any():
        row = wrong.idxmax()
        others = f", and so in {wrong.sum() - 1} more rows" if wrong.sum() > 1 else ""
        raise InputError(
            f"{label}, {place(runs, row)}, column {quoted(names[canonical])}: found "
            f"{quoted(runs.at[row, canonical])} {circumstance(row)}{others}; {mend}"
        )

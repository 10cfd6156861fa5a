"""A user's own table of training runs, read and checked."""

import re

import numpy as np
import pandas as pd

from ..errors import InputError
from .columns import ALIASES, SIZES, choice, resolve, setting_aside
from .formats import open_table, place
from .schemas import check
from .wording import listed, quoted, suggestion

DISAGREEMENT = 0.01
ROUNDING = 1e-12
POWERS = {"k": 3, "m": 6, "g": 9, "b": 9, "t": 12}


def read(source, *, columns=None, perplexity=False, ignore=()):
    """Read a table of training runs and check it.

    Any two of parameters N, training tokens D and training FLOP C are needed, the third being C = 6ND, and a loss.
    Common names of columns are recognised whatever their case, spaces and punctuation: ``N``, ``params`` or
    ``Model Size``; ``D`` or ``training tokens``; ``C``, ``FLOPs`` or ``compute``; ``L``, ``val_loss`` or
    ``final loss``; and the like. A column that bears a name of the result exactly goes before others.

    Parameters
    ----------
    source : path or pandas.DataFrame
        A .csv (separated by commas, semicolons or tabs), .tsv or .parquet file, or a .nc file (netCDF-4: a data set or
        a DataTree with one-dimensional variables along one dimension; others are passed over). Text is UTF-8.
    columns : mapping of str to str, optional
        Column of the result to the column of the table that holds it, such as ``{"loss": "my_loss"}``, before any
        recognition. A column of the table whose name is so taken by another is left out.
    perplexity : bool
        Take the loss as the natural logarithm of the table's perplexity.
    ignore : str or sequence of str
        Columns of the table to leave out, such as a compute that was counted another way than 6ND.

    Returns
    -------
    pandas.DataFrame
        A row for each row of the table, in its order, indexed from 0. First ``parameters``, ``tokens``,
        ``training_flop`` (FLOP) and ``loss`` (nats per token), then those of ``perplexity`` (if asked for),
        ``loss_halfwidth`` (nats per token), ``d_model``, ``vocabulary``, ``parameters_nonembedding`` and
        ``unique_tokens`` (distinct training tokens, at most ``tokens``) that the table has, all float64; then every
        other column as it was. ``attrs["source"]`` is the name of the file.

    Raises
    ------
    InputError
        If the table cannot be read or used. The message is one line with the file, the line, the column, the value
        found and the mend. Lines of a text file count from its header, which is line 1.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"params": [1e9, 2e9], "training tokens": [2e10, 2e10], "val_loss": [2.9, 2.7]})
    >>> list(read(table).columns)
    ['parameters', 'tokens', 'training_flop', 'loss']
    """
    table, label, name = open_table(source)
    table = _without(table, [ignore] if isinstance(ignore, str) else ignore, label)
    names = resolve(list(table.columns), columns or {}, label)
    _check_needed(table, names, perplexity, label)
    if not perplexity:
        names.pop("perplexity", None)
    given = pd.DataFrame({canonical: numbers(table[column], column, label) for canonical, column in names.items()})
    runs = check(_completed(given), "runs", label=label, names=names)
    _check_agreement(runs, names, label)
    _check_at_most("parameters_nonembedding", "parameters", "all parameters together", runs, names, label)
    _check_at_most("unique_tokens", "tokens", "the tokens seen", runs, names, label)
    recognised = [canonical for canonical in ALIASES if canonical in runs]
    others = table.drop(columns=[*names.values(), *recognised], errors="ignore")
    result = runs[recognised].join(others).reset_index(drop=True)
    result.attrs["source"] = name
    return result


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
            f"{listed(table.columns)}; name one with {choice(missing[0], 'NAME')}"
        )
    if perplexity and "perplexity" not in names:
        raise InputError(
            f"{label}: no column for perplexity, which was to be converted; the columns are {listed(table.columns)}; "
            f"name it with {choice('perplexity', 'NAME')}"
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
            f"{choice('loss', 'NAME')}"
        )


def numbers(cells, column, label):
    """Cells of a column as float64, blanks as NaN; refuses text that is no number."""
    if pd.api.types.is_any_real_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
        return pd.Series(cells.to_numpy("float64", na_value=np.nan), index=cells.index)
    values = []
    for row, cell in cells.items():
        try:
            values.append(_number(cell))
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{label}, {place(cells, row)}, column {quoted(column)}: found {quoted(cell)}, which is not a number; "
                f"{_rewritten(str(cell))}"
            ) from None
    return pd.Series(values, index=cells.index, dtype="float64")


def _number(cell):
    if cell is None or cell is pd.NA or (isinstance(cell, str) and not cell.strip()):
        return np.nan
    # Python would read True as 1, 1_000 as 1000, bytes as their text, and digits of any script.
    if isinstance(cell, bool | np.bool_ | bytes) or "_" in str(cell) or not str(cell).isascii():
        raise ValueError
    return float(cell)


def _rewritten(text):
    text = text.strip()
    if scaled := re.fullmatch(r"(\d+\.?\d*) ?([kmgbt])", text, re.IGNORECASE):
        return f"write it out as {scaled[1]}e{POWERS[scaled[2].lower()]}"
    if re.fullmatch(r"\d{1,3}([ ,'_]\d{3})+(\.\d+)?", text):
        return f"write it without separators as {re.sub(r'[^0-9.]', '', text)}"
    if re.fullmatch(r"\d+,\d+", text):
        return f"write it with a decimal point as {text.replace(',', '.')}"
    return "write a plain number such as 2.5 or 7e9"


def _completed(given):
    with np.errstate(all="ignore"):
        derived = {}
        if "training_flop" not in given:
            derived["training_flop"] = 6 * given["parameters"] * given["tokens"]
        elif "tokens" not in given:
            derived["tokens"] = given["training_flop"] / (6 * given["parameters"])
        elif "parameters" not in given:
            derived["parameters"] = given["training_flop"] / (6 * given["tokens"])
        if "perplexity" in given:
            derived["loss"] = np.log(given["perplexity"])
        if {"d_model", "vocabulary"} <= set(given) and "parameters_nonembedding" not in given:
            counted = given.assign(**derived)["parameters"] - given["d_model"] * given["vocabulary"]
            if (counted > 0).all():
                derived["parameters_nonembedding"] = counted
    return given.assign(**derived)


def _check_agreement(runs, names, label):
    counted = 6 * runs["parameters"] * runs["tokens"]
    ratio = runs["training_flop"] / counted
    _refuse(
        (ratio - 1).abs() > DISAGREEMENT,
        "training_flop",
        lambda row: f"where 6 x parameters x tokens is {quoted(counted[row])} (ratio {ratio[row]:.4g})",
        runs,
        names,
        label,
    )


def _check_at_most(part, whole, called, runs, names, label):
    if part in runs:
        # Tokens that were derived from FLOP can be short of themselves in the last digit.
        _refuse(
            runs[part] > runs[whole] * (1 + ROUNDING),
            part,
            lambda row: f"where {called} are {quoted(runs.at[row, whole])}",
            runs,
            names,
            label,
        )


def _refuse(wrong, canonical, circumstance, runs, names, label):
    if wrong.any():
        row, column = wrong.idxmax(), names[canonical]
        raise InputError(
            f"{label}, {place(runs, row)}, column {quoted(column)}: found {quoted(runs.at[row, canonical])} "
            f"{circumstance(row)}; correct it, or leave the column out with {setting_aside(column)}"
        )

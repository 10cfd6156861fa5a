"""Expressions of columns, which run no code: conditions of rows, and columns that are arithmetic of others."""

import ast
import re

import numpy as np
import pandas as pd

from ..errors import InputError
from .cells import numbers
from .columns import recognise_with_unit
from .formula_nodes import NUMPY, evaluate, names_in
from .formulas import parse_expression
from .units import split_header
from .wording import listed, quoted, shown, suggestion

ALLOWED = (
    *(ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Invert, ast.USub, ast.UAdd, ast.Compare),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Name, ast.Load, ast.Constant),
    *(ast.List, ast.Tuple, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.BitAnd, ast.BitOr),
)
SHOWN = 10  # columns in a message
# Text between quotes, which may hold backticks, or a name between backticks.
PIECE = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`([^`]+)`""")


def evaluate_condition(expression, frame, label):
    """Return the rows of a table for which an expression holds, as bools; refuse one that runs code or names no column.

    Examples
    --------
    >>> frame = pd.DataFrame({"lr": [1e-4, 1e-3], "my name": ["a", "b"]})
    >>> evaluate_condition("lr > 5e-4 and `my name` == 'b'", frame, "the table").tolist()
    [False, True]
    """
    try:
        if not isinstance(expression, str) or not expression.strip():
            raise ValueError("write a condition such as \"loss < 4 and run == 'a'\"")
        columns = {str(column): column for column in frame.columns}
        code, names = _parse(expression, columns)
        result = _evaluate(code, {alias: frame[columns[name]] for alias, name in names.items()}, frame.index)
        if not (isinstance(result, pd.Series) and pd.api.types.is_bool_dtype(result)):
            raise ValueError("it is neither true nor false of a row; compare a column with a value")
    except ValueError as error:
        raise InputError(
            f"{label}: where {quoted(expression)}: {error}; the columns are {listed(frame.columns)}"
        ) from None
    return result.fillna(False).astype(bool)


def add_derived_columns(table, chosen, units, changes):
    """Return a table with a column for each chosen expression, such as steps*batch_size*seq_len, and their names.

    A column of that very name goes first, and an expression of no column at all is a mistyped name. Columns are in the
    units of their headers, unless the user gave a unit. A row with a cell that is no number holds that cell.
    """
    headers, derived = {str(column): column for column in table.columns}, []
    for canonical, text in chosen.items():
        if text in table.columns or not isinstance(text, str) or not re.search(r"[-+*/^()]", text):
            continue
        try:
            node = parse_expression(text, f"{changes.label}: {canonical} =")
        except InputError:
            if not {*re.findall(r"\w+", text)} & headers.keys():
                continue
            raise
        names = [name.name if not name.levels else str(name) for name in names_in(node)]
        if not {*names} & headers.keys():
            continue
        operands, wrong = {}, {}
        for name in names:
            if name not in headers:
                raise InputError(
                    f"{changes.label}: {quoted(text)}, chosen for {canonical}: there is no column {quoted(name)}"
                    f"{suggestion(name, headers) or ';'} the columns are {listed(headers, SHOWN)}"
                )
            operands[name], faults = numbers(table[headers[name]], name)
            wrong |= {fault.row: table.at[fault.row, headers[name]] for fault in faults}
            unit = split_header(name)[1] if canonical not in units and recognise_with_unit(name) else None
            operands[name] *= unit if isinstance(unit, float) else 1.0
        with np.errstate(all="ignore"):
            values = evaluate(node, lambda name, operands=operands: operands[name.name], NUMPY)
        if wrong:
            values = values.astype(object)
            values.loc[list(wrong)] = list(wrong.values())
        changes.add("columns", f"{canonical} is {text}", of=canonical, expression=text)
        table = table.assign(**{text: values})
        derived.append(text)
    return table, derived


def _parse(text, columns):
    """Return the code of an expression and the names of its columns by their aliases in it; refuse anything else."""
    between = {}

    def put_alias(piece):
        name = piece[1]
        return piece[0] if name is None else between.setdefault(name, f"between_backticks_{len(between)}")

    code = PIECE.sub(put_alias, text.strip())
    try:
        tree = ast.parse(code, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        hint = '; compare with "==", not "="' if re.search(r"(?<![<>=!])=(?!=)", code) else ""
        raise ValueError(f"it cannot be read ({getattr(error, 'msg', error)}){hint}") from None
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            called = {"Attribute": f"attribute access (.{getattr(node, 'attr', '')})", "Call": "a call"}
            name = type(getattr(node, "op", node)).__name__
            raise ValueError(
                f"{called.get(name, name)} is not allowed; use comparisons, in, and, or, not and + - * / % of columns "
                "and values"
            )
        if isinstance(node, ast.BinOp):  # text times a number may fill the memory
            sides = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
            if any(isinstance(value, str | bool) for value in sides):
                raise ValueError(f"there is no arithmetic of text such as {', '.join(map(quoted, sides))}")
        if isinstance(node, ast.Constant) and not isinstance(node.value, str | int | float):
            raise ValueError(f"{shown(node.value)} is not a value of a column")
    names = {node.id: node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = {alias: name for alias, name in names.items() if alias not in between.values()}
    names |= {alias: name for name, alias in between.items()}
    for name in names.values():
        if name not in columns:
            raise ValueError(f"there is no column {quoted(name)}{suggestion(name, columns)}")
    return code, names


def _evaluate(code, columns, index):
    try:
        with np.errstate(all="ignore"):
            return pd.DataFrame(columns, index=index).eval(code, engine="python")
    # pandas raises errors of many kinds where columns do not compare, such as text with numbers.
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"it cannot be worked out ({reason}); check that numbers meet numbers and text text") from None

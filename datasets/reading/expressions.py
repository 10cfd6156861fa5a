"""Conditions on rows, written as pandas' ``query`` takes them, and nothing that could run code."""

import ast
import re

import pandas as pd

from ...errors import InputError
from ..wording import listed, quoted, suggestion

ALLOWED = (
    *(ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Invert, ast.USub, ast.UAdd, ast.Compare),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Name, ast.Load, ast.Constant),
    *(ast.List, ast.Tuple, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.BitAnd, ast.BitOr),
)
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod)
# Text between quotes, which may hold backticks, or a name between backticks.
PIECE = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`([^`]+)`""")


def holds(expression, frame, label):
    """Rows of a table for which an expression holds.

    Parameters
    ----------
    expression : str
        Comparisons of columns, numbers, text and lists, ``in``, ``and``, ``or``, ``not`` and arithmetic. A name that
        is no identifier goes between backticks.
    frame : pandas.DataFrame
    label : str
        Name of the table in messages.

    Returns
    -------
    pandas.Series of bool

    Raises
    ------
    InputError
        If the expression cannot be read, holds anything else, names no column or is neither true nor false, naming it
        and the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"lr": [1e-4, 1e-3], "my name": ["a", "b"]})
    >>> holds("lr > 5e-4 and `my name` == 'b'", frame, "the table").tolist()
    [False, True]
    """
    try:
        return _evaluated(expression, frame)
    except ValueError as error:
        raise InputError(
            f"{label}: where {quoted(expression)}: {error}; the columns are {listed(frame.columns)}"
        ) from None


def _evaluated(expression, frame):
    if not isinstance(expression, str) or not expression.strip():
        raise ValueError("write a condition such as \"loss < 4 and run == 'a'\"")
    between = {}

    def placed(piece):
        name = piece[1]
        return piece[0] if name is None else between.setdefault(name, f"between_backticks_{len(between)}")

    text = PIECE.sub(placed, expression.strip())
    known = {str(column): column for column in frame.columns}
    meant = {alias: name for name, alias in between.items()} | {name: name for name in _names(text, between.values())}
    for name in meant.values():
        if name not in known:
            raise ValueError(f"there is no column {quoted(name)}{suggestion(name, known)}")
    used = pd.DataFrame({alias: frame[known[name]] for alias, name in meant.items()}, index=frame.index)
    try:
        found = used.eval(text, engine="python")
    # What pandas raises of columns that do not compare, such as text with numbers, is of many kinds.
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"it cannot be worked out ({reason}); check that numbers meet numbers and text text") from None
    if not (isinstance(found, pd.Series) and pd.api.types.is_bool_dtype(found)):
        raise ValueError("it is neither true nor false of a row; compare a column with a value")
    return found.fillna(False).astype(bool)


def _names(text, placeholders):
    """Names of columns in an expression that holds only what is allowed."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        hint = '; compare with "==", not "="' if re.search(r"(?<![<>=!])=(?!=)", text) else ""
        raise ValueError(f"it cannot be read ({getattr(error, 'msg', error)}){hint}") from None
    names = {}
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise ValueError(
                f"{_called(node)} is not allowed; use comparisons, in, and, or, not and + - * / % of columns and values"
            )
        if isinstance(node, ast.Constant) and not isinstance(node.value, str | int | float):
            raise ValueError(f"{node.value!r} is not a value of a column")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
            for side in (node.left, node.right):
                if isinstance(side, ast.Constant) and isinstance(side.value, str):
                    raise ValueError(f"there is no arithmetic of text such as {quoted(side.value)}")
        if isinstance(node, ast.Name) and node.id not in placeholders:
            names[node.id] = None
    return list(names)


def _called(node):
    if isinstance(node, ast.Attribute):
        return f"attribute access (.{node.attr})"
    return "a call" if isinstance(node, ast.Call) else type(node).__name__

"""Expressions of columns, which run no code: conditions of rows, and columns that are arithmetic of others."""

import ast
import re

import numpy as np
import pandas as pd

from ..errors import InputError
from .cells import numbers
from .columns import recognise_with_unit
from .units import split_header
from .wording import listed, quoted, shown, suggestion

ALLOWED = (
    *(ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Invert, ast.USub, ast.UAdd, ast.Compare),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Name, ast.Load, ast.Constant),
    *(ast.List, ast.Tuple, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.BitAnd, ast.BitOr, ast.Pow),
)
BASES = (2, 10)  # of logarithms: 10**log10_flops
SHOWN = 10  # columns in a message
LONGEST = 500  # characters of an expression in place of a column
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
        if text in table.columns or not isinstance(text, str) or not _seems_arithmetic(text, headers):
            continue
        try:
            code, names = _parse(text, headers)
            operands, wrong = {}, {}
            for alias, name in names.items():
                operands[alias], faults = numbers(table[headers[name]], name)
                wrong |= {fault.row: table.at[fault.row, headers[name]] for fault in faults}
                unit = split_header(name)[1] if canonical not in units and recognise_with_unit(name) else None
                operands[alias] *= unit if isinstance(unit, float) else 1.0
            values = _evaluate(code, operands, table.index)
            if not pd.api.types.is_float_dtype(values):
                raise ValueError("it is no number")
        except ValueError as error:
            raise InputError(
                f"{changes.label}: {quoted(text)}, chosen for {canonical}: {error}; write arithmetic of columns and "
                f"numbers, such as steps*batch_size*seq_len, 1-accuracy/100 or 10**log10_flops; the columns are "
                f"{listed(headers, SHOWN)}"
            ) from None
        if wrong:
            values = values.astype(object)
            values.loc[list(wrong)] = list(wrong.values())
        changes.add("columns", f"{canonical} is {text}", of=canonical, expression=text)
        table = table.assign(**{text: values})
        derived.append(text)
    return table, derived


def _seems_arithmetic(text, headers):
    """Return whether text has an operator and the name of a column, and so is no mistyped name such as eval/los."""
    code = PIECE.sub("x", text.strip())
    names = {piece[1] for piece in PIECE.finditer(text)} | {*re.findall(r"\w+", code)}
    if len(text) > LONGEST or not re.search(r"[-+*/%()]", code) or not names & headers.keys():
        return False
    try:
        return bool(ast.parse(code, mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


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
    functions = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_exponential(node):
            functions.add(node.func)
        elif not isinstance(node, ALLOWED) or (isinstance(node, ast.BinOp) and not _is_arithmetic(node)):
            called = {"Attribute": f"attribute access (.{getattr(node, 'attr', '')})", "Call": "a call"}
            name = type(getattr(node, "op", node)).__name__
            raise ValueError(
                f"{called.get(name, name)} is not allowed; use comparisons, in, and, or, not, + - * / %, exp(column) "
                "and 10**column of columns and values"
            )
        elif isinstance(node, ast.Constant) and not isinstance(node.value, str | int | float):
            raise ValueError(f"{shown(node.value)} is not a value of a column")
    names = {node.id: node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in functions}
    names = {alias: name for alias, name in names.items() if alias not in between.values()}
    names |= {alias: name for name, alias in between.items()}
    for name in names.values():
        if name not in columns:
            raise ValueError(f"there is no column {quoted(name)}{suggestion(name, columns)}")
    return code, names


def _is_arithmetic(node):
    """Return whether an operation is one of numbers, with no power but 2 or 10 to that of a column."""
    if isinstance(node.op, ast.Pow):
        base = node.left.value if isinstance(node.left, ast.Constant) else None
        return base in BASES and isinstance(node.right, ast.Name)  # a larger one may fill the memory
    sides = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
    if any(isinstance(value, str | bool) for value in sides):
        raise ValueError(f"there is no arithmetic of text such as {', '.join(map(quoted, sides))}")
    return True


def _is_exponential(call):
    return isinstance(call.func, ast.Name) and call.func.id == "exp" and len(call.args) == 1 and not call.keywords


def _evaluate(code, columns, index):
    try:
        with np.errstate(all="ignore"):
            return pd.DataFrame(columns, index=index).eval(code, engine="python")
    # pandas raises errors of many kinds where columns do not compare, such as text with numbers.
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"it cannot be worked out ({reason}); check that numbers meet numbers and text text") from None

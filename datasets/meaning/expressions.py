"""Columns that are worked out from others by arithmetic, which runs no code."""

import ast
import operator
import re

import numpy as np
import pandas as pd

from ...errors import InputError
from ..cells import numbers
from ..columns import recognise_with_unit
from ..selection import PIECE
from ..units import split_header
from ..wording import listed, quoted, suggestion

FUNCTIONS = {"exp": np.exp}  # of a column of natural logarithms
BASES = (2, 10)  # of logarithms: 10**log10_flops
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
SIGNS = {ast.USub: operator.neg, ast.UAdd: operator.pos}
LONGEST = 500  # characters of an expression


def derived(table, chosen, units, changes):
    """Return a table with a column for each chosen expression, such as steps*batch_size*seq_len, and their names.

    A column of that very name goes first. Columns are in the units of their headers, unless the user gave a unit. What
    is anything but columns, numbers, + - * /, exp(column) and 10**column is refused.
    """
    names = []
    for canonical, text in chosen.items():
        if text in table.columns or not isinstance(text, str):
            continue
        parsed = _parsed(text)
        if parsed is None:
            continue
        tree, between = parsed
        calls = {id(node.func) for node in ast.walk(tree) if _is_function(node)}
        names_ = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in calls]
        operands = {name: between.get(name, name) for name in names_}
        headers = {str(column): column for column in table.columns}
        absent = [name for name in operands.values() if name not in headers]
        # A name such as eval/loss that was mistyped is a name.
        if not operands or len(absent) == len(operands):
            continue
        if absent:
            raise InputError(
                f"{changes.label}: {quoted(text)}, chosen for {canonical}: there is no column {quoted(absent[0])}"
                f"{suggestion(absent[0], headers)}; the columns are {listed(headers)}"
            )
        try:
            values = _column(tree.body, table, {alias: headers[name] for alias, name in operands.items()},
                             scaled=canonical not in units)  # fmt: skip
        except (ValueError, OverflowError, RecursionError) as error:
            raise InputError(
                f"{changes.label}: {quoted(text)}, chosen for {canonical}: {error}; write arithmetic of columns and "
                "numbers, such as steps*batch_size*seq_len, 1-accuracy/100 or 10**log10_flops"
            ) from None
        changes.add("columns", f"{canonical} is {text}", of=canonical, expression=text)
        table = table.assign(**{text: values})
        names.append(text)
    return table, names


def _parsed(text):
    """Return the tree of an expression and its names between backticks, or None where the text is a mere name."""
    between = {}

    def placed(piece):
        return piece[0] if piece[1] is None else between.setdefault(piece[1], f"between_backticks_{len(between)}")

    code = PIECE.sub(placed, text.strip())
    if not re.search(r"[-+*/%()]", code) or len(code) > LONGEST:
        return None
    try:
        tree = ast.parse(code, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree, {alias: name for name, alias in between.items()}


def _column(node, table, headers, scaled):
    """Return the values of an expression; a row with a cell that is no number holds that cell."""
    operands, wrong = {}, {}
    for alias, header in headers.items():
        operands[alias], faults = numbers(table[header], header)
        wrong |= {fault.row: table.at[fault.row, header] for fault in faults}
        if scaled and recognise_with_unit(header):
            unit = split_header(header)[1]
            operands[alias] = operands[alias] * (unit if isinstance(unit, float) else 1.0)
    with np.errstate(all="ignore"):
        values = _evaluated(node, operands)
    if wrong:
        values = values.astype(object)
        values.loc[list(wrong)] = list(wrong.values())
    return pd.Series(values, index=table.index)


def _is_power(node):
    """Return whether a node is 2 or 10 to the power of a column, and no larger power that memory cannot hold."""
    power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Name)
    return power and isinstance(node.left, ast.Constant) and node.left.value in BASES


def _is_function(node):
    """Return whether a node is a function of one argument, such as exp(log_flops)."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
    return named and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)


def _evaluated(node, operands):
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = _evaluated(node.left, operands), _evaluated(node.right, operands)
        # Numbers alone divide by zero with an error.
        return OPERATORS[type(node.op)](left, np.float64(right) if isinstance(right, float) else right)
    if isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
        return SIGNS[type(node.op)](_evaluated(node.operand, operands))
    if _is_power(node):
        return np.float64(node.left.value) ** operands[node.right.id]
    if _is_function(node):
        return FUNCTIONS[node.func.id](_evaluated(node.args[0], operands))
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)
    if isinstance(node, ast.Name):
        return operands[node.id]
    names = {ast.Call: "a call", ast.Attribute: "attribute access"}
    what = names.get(type(node), type(getattr(node, "op", node)).__name__)
    raise ValueError(f"{what} is not allowed")

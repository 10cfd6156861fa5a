"""Numbers that remember how they were computed, so that a law written on arrays can be differentiated and compiled.

A law's array code runs on arrays of symbols. Axes of any length (rows, runs, papers) have length one there. Each
operation becomes a node of a graph, equal operations the same node. A symbol of an axis stands for all places along it.
Between axes values are picked by an index (``of_runs[..., run]``) and added up by one (`arrays.sum_by`).
"""

import functools
import math

import numpy as np

SUM, PICK = "sum", "pick"


class UntraceableError(Exception):
    """Something that symbols cannot express, such as an operation of rows and runs."""


class Symbol:
    """A number of a graph: an operation of arithmetic, a constant, a coordinate or data, a sum or a pick.

    Arguments are symbols; of leaves what they are of; of a sum or pick the symbol of another axis and the index that
    joins them. The axis is what it has a value for each of, None for a scalar.
    """

    __slots__ = ("arguments", "axis", "graph", "index", "operation")
    __array_ufunc__ = None  # NumPy leaves an operation with a symbol to the symbol
    shape, ndim = (), 0

    def __init__(self, graph, operation, arguments, axis):
        self.graph, self.operation, self.arguments, self.axis = graph, operation, arguments, axis
        self.index = len(graph.symbols)
        graph.symbols.append(self)

    def __getitem__(self, key):
        return np.array(self, dtype=object).view(Symbols)[key]

    def __bool__(self):
        raise UntraceableError("a branch that depends on a value; use `where`")

    def __neg__(self):
        return self.graph.node("neg", self)

    def __abs__(self):
        return self.graph.node("abs", self)

    def power(self, power):
        """Raise it to a power, a number or a symbol."""
        if isinstance(power, Symbol) or power not in (2, 0.5):
            return self.graph.node("exp", power * self.graph.node("log", self))
        return self * self if power == 2 else self.graph.node("sqrt", self)


def _binary(one):
    def method(self, other):
        if not isinstance(other, np.ndarray):
            return one(self, other)
        return _viewed(np.frompyfunc(lambda element: one(self, element), 1, 1)(other))

    return method


def _operator(operation):
    return lambda one, other: (one if isinstance(one, Symbol) else other).graph.node(operation, one, other)


_ARITHMETIC = {name: _operator(text) for name, text in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"))}
_ARITHMETIC["pow"] = lambda base, power: (
    base.power(power) if isinstance(base, Symbol) else power.graph.node("exp", math.log(base) * power)
)
for _name, _rule in _ARITHMETIC.items():
    setattr(Symbol, f"__{_name}__", _binary(_rule))
    setattr(Symbol, f"__r{_name}__", _binary(lambda self, other, rule=_rule: rule(other, self)))
for _name, _text in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    setattr(Symbol, f"__{_name}__", _binary(_operator(_text)))


class Symbols(np.ndarray):
    """An array of symbols and numbers; comparisons of NumPy's arrays of objects would need their truth values."""

    def __getitem__(self, key):
        *first, last = key if isinstance(key, tuple) else (key,)
        if holds(last):
            return functions.pick(super().__getitem__(tuple(first)), last)
        return super().__getitem__(key)


for _name, _compare in (("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal)):
    setattr(Symbols, f"__{_name}__", lambda self, other, compare=_compare: compare(self, other, dtype=object))


class Graph:
    """Symbols in the order in which they were made, each operation on the same arguments once."""

    def __init__(self):
        self.symbols, self._by_key = [], {}

    def leaf(self, operation, name, axis=None):
        """Return the symbol of a constant, a coordinate or an element of the data."""
        return self._symbol(operation, (name,), axis, (operation, name))

    def constant(self, value):
        """Return the symbol of a number; a symbol is returned unchanged."""
        return value if isinstance(value, Symbol) else self.leaf("constant", float(value))

    def node(self, operation, *arguments):
        """Return the symbol of an operation, or a simpler one of the same value."""
        arguments = tuple(map(self.constant, arguments))
        simpler = _simplified(operation, arguments)
        if simpler is not None:
            return self.constant(simpler)
        axes = {a.axis for a in arguments} - {None}
        if len(axes) > 1:
            raise UntraceableError(f"{operation} of {' and '.join(sorted(axes))}")
        key = (operation, *(a.index for a in arguments))
        return self._symbol(operation, arguments, next(iter(axes), None), key)

    def sum(self, symbol, code, counts):
        """Return the sum of a symbol over what has the same code."""
        symbol = self.constant(symbol)
        if symbol.axis is None:
            return symbol * counts
        return self._symbol(SUM, (symbol, code), counts.axis, (SUM, symbol.index, code.index, counts.axis))

    def pick(self, symbol, code):
        """Return the values of a symbol at the places of a code."""
        symbol = self.constant(symbol)
        if symbol.axis is None:
            return symbol
        return self._symbol(PICK, (symbol, code), code.axis, (PICK, symbol.index, code.index))

    def _symbol(self, operation, arguments, axis, key):
        if key not in self._by_key:
            self._by_key[key] = Symbol(self, operation, arguments, axis)
        return self._by_key[key]


def _simplified(operation, arguments):
    """Return the value of an operation that needs no node: on constants, by one, with nothing."""
    values = [a.arguments[0] if a.operation == "constant" else None for a in arguments]
    if None not in values and operation in NUMERIC:
        with np.errstate(all="ignore"):
            return float(NUMERIC[operation](*map(np.float64, values)))
    if operation == "*" and 1.0 in values:
        return arguments[1 - values.index(1.0)]
    if operation == "+" and 0.0 in values:
        return arguments[1 - values.index(0.0)]
    if operation == "log" and arguments[0].operation == "exp":
        return arguments[0].arguments[0]
    if (operation, *values[1:]) in (("-", 0.0), ("/", 1.0)):
        return arguments[0]
    if operation == "where" and values[0] is not None:
        return arguments[1] if values[0] else arguments[2]
    return None


NUMERIC = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "neg": np.negative,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "sinh": np.sinh,
    "arcsinh": np.arcsinh,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "logaddexp": np.logaddexp,
    "gammaln": math.lgamma,
    "where": np.where,
}


def holds(x):
    """Return whether something is a symbol or an array of symbols."""
    return isinstance(x, Symbol | Symbols)


def _wrapped(x):
    return np.array(x, dtype=object) if isinstance(x, Symbol) else x


def _viewed(x):
    return x.view(Symbols) if isinstance(x, np.ndarray) else x


def _elementwise(operation, count):
    def one(*arguments):
        graph = next((a.graph for a in arguments if isinstance(a, Symbol)), None)
        return NUMERIC[operation](*arguments) if graph is None else graph.node(operation, *arguments)

    every = np.frompyfunc(one, count, 1)

    def function(*arguments):
        if not any(isinstance(a, np.ndarray) for a in arguments):
            return one(*arguments)
        return _viewed(every(*map(_wrapped, arguments)))

    return function


class functions:
    """What laws call of an array library, for symbols."""

    exp, log, log1p, sinh, arcsinh, gammaln = (
        staticmethod(_elementwise(name, 1)) for name in ("exp", "log", "log1p", "sinh", "arcsinh", "gammaln")
    )
    maximum, minimum, logaddexp = (staticmethod(_elementwise(name, 2)) for name in ("maximum", "minimum", "logaddexp"))
    where = staticmethod(_elementwise("where", 3))

    @staticmethod
    def sum_by(x, codes, counts):
        """Add x up over what has the same code."""
        every = np.frompyfunc(lambda one, code, count: code.graph.sum(one, code, count), 3, 1)
        return _viewed(every(_wrapped(x), codes, counts))

    @staticmethod
    def pick(x, codes):
        """Return elements of x, along its last axis, at the places that codes give."""
        return _viewed(np.frompyfunc(lambda one, code: code.graph.pick(one, code), 2, 1)(x, codes))

    @staticmethod
    def spread(x, like):
        """Broadcast x to the shape that it has together with another array."""
        return _viewed(np.frompyfunc(lambda one, _: one, 2, 1)(_wrapped(x), _wrapped(like)))

    @staticmethod
    def stack(arrays, axis):
        """Join arrays of one shape along a new axis."""
        return _viewed(np.stack(arrays, axis))

    @classmethod
    def largest(cls, x):
        """Return the largest element along the last axis."""
        return functools.reduce(cls.maximum, np.moveaxis(x, -1, 0))

    @classmethod
    def clip(cls, x, low, high):
        """Return elements of x, those below `low` or above `high` replaced by them."""
        return cls.minimum(cls.maximum(x, low), high)


for _class in (Symbol, Symbols):
    setattr(_class, "functions", functions)  # noqa: B010 - what `models.arrays` applies to them; they are defined above

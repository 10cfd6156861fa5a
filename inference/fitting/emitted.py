"""One function of a log density and its gradient, written from the graph of its terms, with one loop over the rows."""

from ...models.symbols import GROUP, ROW, Symbol

TEXT = {
    "neg": "-{0}",
    "abs": "abs({0})",
    "exp": "math.exp({0})",
    "log": "math.log({0})",
    "log1p": "math.log1p({0})",
    "sqrt": "math.sqrt({0})",
    "sinh": "math.sinh({0})",
    "arcsinh": "math.asinh({0})",
    "gammaln": "math.lgamma({0})",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "logaddexp": "logaddexp({0}, {1})",
    "where": "({1} if {0} else {2})",
} | {operation: f"{{0}} {operation} {{1}}" for operation in ("+", "-", "*", "/", "<", "<=", ">", ">=")}
# What each argument's adjoint gains: {g} is the adjoint of the result {v}.
ADJOINTS = {
    "+": ("{g}", "{g}"),
    "-": ("{g}", "-{g}"),
    "*": ("{g} * {1}", "{g} * {0}"),
    "/": ("{g} / {1}", "-{g} * {v} / {1}"),
    "neg": ("-{g}",),
    "abs": ("({g} if {0} > 0 else -{g})",),
    "exp": ("{g} * {v}",),
    "log": ("{g} / {0}",),
    "log1p": ("{g} / (1 + {0})",),
    "sqrt": ("0.5 * {g} / {v}",),
    "sinh": ("{g} * math.cosh({0})",),
    "arcsinh": ("{g} / math.sqrt(1 + {0} * {0})",),
    "gammaln": ("{g} * digamma({0})",),
    "maximum": ("({g} if {0} >= {1} else 0.0)", "(0.0 if {0} >= {1} else {g})"),
    "minimum": ("({g} if {0} <= {1} else 0.0)", "(0.0 if {0} <= {1} else {g})"),
    "logaddexp": ("{g} * math.exp({0} - {v})", "{g} * math.exp({1} - {v})"),
    "where": (None, "({g} if {0} else 0.0)", "(0.0 if {0} else {g})"),
}
NOT_FINITE = 4, 3  # what the function returns for a value, and for a gradient, that is not


def source(graph, terms, coordinates, names, codes):
    """Write the function.

    Parameters
    ----------
    graph : Graph
    terms : list of Symbol
        What the log density is the sum of, those of rows and groups summed over them.
    coordinates : list of Symbol
    names : sequence of str
        Of the arrays, in the order in which their addresses are given.
    codes : str, optional
        Name of the array that says which group a row is of.

    Returns
    -------
    str
        A definition of ``density(dim, u, gradient, value, user)``: `user` holds the addresses of the arrays and then
        the numbers of rows and of groups. It returns 0, or one of `NOT_FINITE`.
    """
    return _Writer(graph, terms, coordinates, names, codes).text()


class _Writer:
    def __init__(self, graph, terms, coordinates, names, codes):
        self.terms, self.coordinates, self.names, self.codes = terms, coordinates, names, codes
        needed = _ancestors(terms)
        self.informed = set()  # what depends on the coordinates
        for symbol in graph.symbols:
            if symbol.operation == "coordinate" or any(a.index in self.informed for a in _symbols(symbol)):
                self.informed.add(symbol.index)
        self.of = {
            axis: [s for s in graph.symbols if s.index in needed and s.axis == axis] for axis in (None, ROW, GROUP)
        }
        self.segments = [s for s in self.of[GROUP] if s.operation == "segment"]
        crossing = {a.index: a for axis in (ROW, GROUP) for s in self.of[axis] for a in _symbols(s) if a.axis is None}
        self.crossing = [i for i in sorted(crossing) if i in self.informed]

    def text(self):
        lines = ["def density(dim, u, gradient, value, user):"]
        lines += [f"    d{k} = carray(address(user[{k}]), (1,), np.float64)" for k in range(len(self.names))]
        lines += [f"    rows, groups = user[{len(self.names)}], user[{len(self.names) + 1}]", "    total = 0.0"]
        lines += self._forward(None, "    ")
        lines += [f"    s{index} = 0.0" for index in self.crossing]
        lines += self._through_groups() if self.segments else self._through(ROW, {})
        lines += self._total(None, "    ")
        seeds = {index: f"s{index}" for index in self.crossing}
        for term in self._terms(None):
            seeds[term.index] = f"{seeds[term.index]} + 1.0" if term.index in seeds else "1.0"
        lines += self._backward(None, seeds, "    ")
        known = self.reached
        lines += [
            f"    gradient[{j}] = {f'a{c.index}' if c.index in known else 0.0}" for j, c in enumerate(self.coordinates)
        ]
        lines += ["    value[0] = total", "    if not math.isfinite(total):", f"        return {NOT_FINITE[0]}"]
        lines += [f"    for j in range({len(self.coordinates)}):", "        if not math.isfinite(gradient[j]):"]
        return "\n".join([*lines, f"            return {NOT_FINITE[1]}", "    return 0"])

    def _through(self, axis, seeds, *, forward=True):
        """Loop over rows or groups: values, what they add to the total, adjoints."""
        lines = [f"    for i in range({'rows' if axis == ROW else 'groups'}):", *self._forward(axis, " " * 8)]
        lines += self._total(axis, " " * 8) if forward else []
        seeds = seeds | {term.index: "1.0" for term in self._terms(axis)}
        lines += self._backward(axis, seeds, " " * 8)
        return lines if len(lines) > 1 else []

    def _through_groups(self):
        code = f"int(d{self.names.index(self.codes)}[i])"
        lines = [f"    {kind}{s.index} = np.zeros(groups)" for s in self.segments for kind in ("sum", "back")]
        lines += ["    for i in range(rows):", *self._forward(ROW, " " * 8), *self._total(ROW, " " * 8)]
        lines += [f"        sum{s.index}[{code}] += v{s.arguments[0].index}" for s in self.segments]
        lines += self._through(GROUP, {})
        lines += [f"        back{s.index}[i] = a{s.index}" for s in self.segments if s.index in self.reached]
        seeds = {}
        for s in self.segments:
            inner = s.arguments[0].index
            if s.index in self.reached and inner in self.informed:
                seeds[inner] = " + ".join(filter(None, [seeds.get(inner), f"back{s.index}[{code}]"]))
        return lines + self._through(ROW, seeds, forward=False)

    def _terms(self, axis):
        return [term for term in self.terms if term.axis == axis]

    def _total(self, axis, pad):
        return [f"{pad}total += v{term.index}" for term in self._terms(axis)]

    def _forward(self, axis, pad):
        return [f"{pad}v{symbol.index} = {self._value(symbol)}" for symbol in self.of[axis]]

    def _value(self, symbol):
        if symbol.operation == "constant":
            return repr(symbol.arguments[0]).replace("inf", "np.inf").replace("nan", "np.nan")
        if symbol.operation == "coordinate":
            return f"u[{symbol.arguments[0]}]"
        if symbol.operation == "data":
            array, width, place = symbol.arguments[0]
            return f"d{array}[{place if symbol.axis is None else f'i * {width} + {place}'}]"
        if symbol.operation == "segment":
            return f"sum{symbol.index}[i]"
        return TEXT[symbol.operation].format(*(f"v{a.index}" for a in symbol.arguments))

    def _backward(self, axis, seeds, pad):
        """Adjoints of the symbols of an axis, from those of its terms; `reached` then holds which have one."""
        lines = [f"{pad}a{index} = {text}" for index, text in seeds.items() if index in self.informed]
        self.reached = {index for index in seeds if index in self.informed}
        for symbol in reversed(self.of[axis]):
            if symbol.index not in self.reached or symbol.operation not in ADJOINTS:
                continue
            values = [f"v{a.index}" for a in symbol.arguments]
            for argument, rule in zip(symbol.arguments, ADJOINTS[symbol.operation], strict=True):
                if rule is None or argument.index not in self.informed:
                    continue
                gained = rule.format(*values, g=f"a{symbol.index}", v=f"v{symbol.index}")
                if argument.axis != axis:
                    lines.append(f"{pad}s{argument.index} += {gained}")
                elif argument.index in self.reached:
                    lines.append(f"{pad}a{argument.index} += {gained}")
                else:
                    lines.append(f"{pad}a{argument.index} = {gained}")
                    self.reached.add(argument.index)
        return lines


def _symbols(symbol):
    return [a for a in symbol.arguments if isinstance(a, Symbol)]


def _ancestors(terms):
    found, waiting = set(), list(terms)
    while waiting:
        symbol = waiting.pop()
        if symbol.index not in found:
            found.add(symbol.index)
            waiting += _symbols(symbol)
    return found

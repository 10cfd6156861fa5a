"""Write one function of a log density and its gradient, from the graph of its terms, with a loop along each axis.

Values are computed forward, adjoints backward; what crosses from axis to axis is stored in between.
"""

import graphlib

from .elementary import number
from .llvm import COMPARISONS, OPERATIONS, CodeLines, module
from .trace import PICK, SUM, Symbol, UntraceableError

NOT_FINITE = 4, 3  # what the function returns for a value, and for a gradient, that is not
HEAD = "define i64 @density(i64 %dim, ptr %u, ptr %gradient, ptr %value, ptr %user) {"
# Numbers stored on the way: the density, and what is not finite of the gradient. The other two hold nothing; they stand
# there so that the programs of all laws are those that `tests/golden.json` records.
PLACES = "total", "nonfinite", "none", "unused"


def source(graph, terms, coordinates, axes):
    """Write the function, as a module of LLVM with ``density(dim, u, gradient, value, user)``.

    The log density is the sum of the terms, those of an axis summed along it. `axes` has the axis, or None, of each
    array, in the order in which their addresses are given. `user` holds the addresses of the arrays, which lie along
    their axis place after place, then the lengths of the axes, in order of appearance. The function returns 0, or one
    of `NOT_FINITE`. Axes that depend on each other raise `UntraceableError`.
    """
    return _Writer(graph, terms, coordinates, axes).text()


class _Writer(CodeLines):
    def __init__(self, graph, terms, coordinates, axes):
        super().__init__()
        self.terms, self.coordinates = terms, coordinates
        self.arrays, self.sizes = len(axes), dict.fromkeys(axis for axis in axes.values() if axis is not None)
        needed = _ancestors([*terms, *coordinates])
        self.informed = set()  # what depends on the coordinates
        for symbol in graph.symbols:
            if symbol.operation == "coordinate" or any(a.index in self.informed for a in _symbols(symbol)):
                self.informed.add(symbol.index)
        used = [symbol for symbol in graph.symbols if symbol.index in needed]
        self.of = {axis: [symbol for symbol in used if symbol.axis == axis] for axis in (None, *self.sizes)}
        self.crossings = [symbol for symbol in used if symbol.operation in (SUM, PICK)]
        scalars = {a.index for s in used for a in _symbols(s) if a.axis is None and s.axis is not None}
        self.shared = sorted(scalars & self.informed)  # scalars that are used along an axis
        self.values = {}

    # The function ----------------------------------------------------------------------------------------------------

    def text(self):
        self.lines += [HEAD, "entry:", *(f"  %{name} = alloca double" for name in PLACES)]
        for name in PLACES:
            self.store("0.0", f"%{name}")
        user = [self.new(f"getelementptr i64, ptr %user, i64 {k}") for k in range(self.arrays + len(self.sizes))]
        self.arrays = [self.load(place, "ptr") for place in user[: self.arrays]]
        sizes = user[len(self.arrays) :]
        self.sizes = {a: self.load(place, "i64") for a, place in zip(self.sizes, sizes, strict=True)}
        order = self.order()
        self.forward(None)
        self.sums = {index: self.new("alloca double") for index in self.shared}
        for pointer in self.sums.values():
            self.store("0.0", pointer)
        self.reserve()
        for axis in order:
            if self.leaving(axis):
                self.loop(axis, self.up)
                self.add_up(axis, [s for s in self.leaving(axis) if s.operation == SUM], self.values_of)
        for axis in reversed(order):
            adjoints = self.loop(axis, self.down)
            picked = [s for s in self.arriving(axis) if s.operation == PICK and s.index in adjoints]
            self.add_up(axis, picked, self.adjoints_of)
        for pointer in (*self.values_of.values(), *self.adjoints_of.values(), *self.added.values()):
            self.lines.append(f"  call void @free(ptr {pointer})")
        self.add_terms(None)
        seeds = {index: self.load(pointer) for index, pointer in self.sums.items()}
        for term in self.terms_of(None):
            self.gain(seeds, term, number(1.0))
        self.write_gradient(None, self.backward(None, seeds))
        total = self.load("%total")
        self.store(total, "%value")
        code = self.new(f"select i1 {self.finite(self.load('%nonfinite'))}, i64 0, i64 {NOT_FINITE[1]}")
        code = self.new(f"select i1 {self.finite(total)}, i64 {code}, i64 {NOT_FINITE[0]}")
        return module([*self.lines, f"  ret i64 {code}", "}"])

    def order(self):
        """Return axes, each after those that its values come from."""
        before = {axis: set() for axis in self.sizes}
        for symbol in self.crossings:
            before[symbol.axis].add(symbol.arguments[0].axis)
        try:
            return list(graphlib.TopologicalSorter(before).static_order())
        except graphlib.CycleError as error:
            raise UntraceableError(f"{' and '.join(error.args[1][1:])} depend on each other") from error

    def leaving(self, axis):
        """List the sums and picks of an axis' symbols on other axes."""
        return [symbol for symbol in self.crossings if symbol.arguments[0].axis == axis]

    def arriving(self, axis):
        """List the sums and picks on an axis."""
        return [symbol for symbol in self.crossings if symbol.axis == axis]

    def reserve(self):
        """Reserve room for what crosses from axis to axis: by sum, and by symbol that is picked."""
        axes = {_crossed(symbol).index: _crossed(symbol).axis for symbol in self.crossings}
        self.values_of = {index: self.room(axis) for index, axis in axes.items()}
        self.adjoints_of = {index: self.room(axis) for index, axis in axes.items()}
        self.added = {s.index: self.room((s.arguments[0] if s.operation == SUM else s).axis) for s in self.crossings}

    def room(self, axis):
        return self.new(f"call ptr @calloc(i64 {self.sizes[axis]}, i64 8)")

    def finite(self, one):
        return self.new(f"fcmp olt double {self.call('abs', one)}, {number(float('inf'))}")

    def loop(self, axis, body):
        """Repeat what `body` writes all along an axis."""
        size, before = self.sizes[axis], self.block
        self.count += 1
        label, after, here = f"loop{self.count}", f"after{self.count}", f"%i{self.count}"
        some = self.new(f"icmp ugt i64 {size}, 0")
        self.lines.append(f"  br i1 {some}, label %{label}, label %{after}")
        self.begin(label)
        self.lines.append(f"  {here} = phi i64 [ 0, %{before} ], [ {here}.next, %{label} ]")
        self.here = here
        result = body(axis)
        self.lines.append(f"  {here}.next = add i64 {here}, 1")
        more = self.new(f"icmp ult i64 {here}.next, {size}")
        self.lines.append(f"  br i1 {more}, label %{label}, label %{after}")
        self.begin(after)
        return result

    def add_up(self, axis, symbols, places):
        """Add what an axis stored of some symbols at the places of an index, in a separate loop.

        Two elements may add to one place. The loops before are free of that, so that they run on several elements at
        once.
        """

        def add(axis):
            for s in symbols:
                self.values[s.arguments[1].index] = self.value(s.arguments[1])
                place = self.element(places[_crossed(s).index], self.code(s))
                self.add_to(place, self.load(self.element(self.added[s.index], self.here)))

        if symbols:
            self.loop(axis, add)

    def up(self, axis):
        """Store what other axes need."""
        self.forward(axis)
        for s in self.leaving(axis):
            place = self.values_of[_crossed(s).index] if s.operation == PICK else self.added[s.index]
            self.store(self.double(s.arguments[0]), self.element(place, self.here))

    def down(self, axis):
        """Add an axis' terms to the total, and hand adjoints back."""
        self.forward(axis)
        self.add_terms(axis)
        seeds = {}
        for term in self.terms_of(axis):
            self.gain(seeds, term, number(1.0))
        for index, s in {_crossed(s).index: s for s in self.leaving(axis)}.items():
            place = self.here if s.operation == PICK else self.code(s)
            self.gain(seeds, s.arguments[0], self.load(self.element(self.adjoints_of[index], place)))
        adjoints = self.backward(axis, seeds)
        for s in self.arriving(axis):
            if s.index in adjoints and s.operation == SUM:
                self.add_to(self.element(self.adjoints_of[s.index], self.here), adjoints[s.index])
            elif s.index in adjoints:
                self.store(adjoints[s.index], self.element(self.added[s.index], self.here))
        for index, pointer in self.sums.items():
            if index in adjoints:
                self.add_to(pointer, adjoints[index])
        self.write_gradient(axis, adjoints)
        return adjoints

    def write_gradient(self, axis, adjoints):
        for symbol in self.coordinates:
            if symbol.axis == axis:
                slope = adjoints.get(symbol.index, "0.0")
                self.store(slope, self.place_of(symbol, "%gradient"))
                excess = self.new(f"fsub double {slope}, {slope}")  # 0, or NaN where it is not finite
                self.store(self.new(f"fadd double {self.load('%nonfinite')}, {excess}"), "%nonfinite")

    def place_of(self, coordinate, array):
        offset, width, place = coordinate.arguments[0]
        if coordinate.axis is None:
            return self.element(array, offset + place)
        first = self.new(f"mul i64 {self.here}, {width}")
        return self.element(array, self.new(f"add i64 {first}, {offset + place}"))

    def code(self, symbol):
        return self.new(f"fptoui double {self.values[symbol.arguments[1].index]} to i64")

    # Values ----------------------------------------------------------------------------------------------------------

    def forward(self, axis):
        for symbol in self.of[axis]:
            self.values[symbol.index] = self.value(symbol)

    def value(self, symbol):
        operation, arguments = symbol.operation, symbol.arguments
        if operation == "constant":
            return number(arguments[0])
        if operation == "coordinate":
            return self.load(self.place_of(symbol, "%u"))
        if operation == "data":
            array, _width, place = arguments[0]
            return self.datum(array, place, symbol.axis)
        if operation in (SUM, PICK):
            place = self.here if operation == SUM else self.code(symbol)
            return self.load(self.element(self.values_of[_crossed(symbol).index], place))
        if operation == "where":
            return self.select(self.truth(arguments[0]), *map(self.double, arguments[1:]))
        one, *others = map(self.double, arguments)
        if operation in COMPARISONS:
            return self.compare(operation, one, *others)
        if operation in OPERATIONS:
            return self.arithmetic(operation, one, *others)
        if operation == "neg":
            return self.negative(one)
        if operation in ("maximum", "minimum"):
            return self.select(self.compare(">=" if operation == "maximum" else "<=", one, *others), one, *others)
        if operation == "logaddexp":
            return self.logaddexp(one, *others)
        return self.call(operation, one)

    def datum(self, array, place, axis):
        if axis is None:
            return self.load(self.element(self.arrays[array], place))
        first = self.new(f"mul i64 {self.sizes[axis]}, {place}")
        return self.load(self.element(self.arrays[array], self.new(f"add i64 {first}, {self.here}")))

    def logaddexp(self, one, other):
        larger = self.select(self.compare(">=", one, other), one, other)
        apart = self.negative(self.call("abs", self.arithmetic("-", one, other)))
        return self.arithmetic("+", larger, self.call("log1p", self.call("exp", apart)))

    def double(self, symbol):
        value = self.values[symbol.index]
        return self.new(f"uitofp i1 {value} to double") if symbol.operation in COMPARISONS else value

    def truth(self, symbol):
        value = self.values[symbol.index]
        return value if symbol.operation in COMPARISONS else self.new(f"fcmp une double {value}, 0.0")

    # Adjoints --------------------------------------------------------------------------------------------------------

    def terms_of(self, axis):
        return [term for term in self.terms if term.axis == axis]

    def add_terms(self, axis):
        for term in self.terms_of(axis):
            self.add_to("%total", self.double(term))

    def gain(self, adjoints, symbol, gained):
        """Add to the adjoint of a symbol, if it depends on the coordinates."""
        if symbol.index in self.informed:
            adjoint = adjoints.get(symbol.index)
            adjoints[symbol.index] = gained if adjoint is None else self.arithmetic("+", adjoint, gained)

    def backward(self, axis, adjoints):
        """Compute adjoints of the symbols of an axis and of the scalars that they are computed from."""
        for symbol in reversed(self.of[axis]):
            if symbol.index in adjoints and symbol.operation in ADJOINTS:
                for argument, rule in zip(symbol.arguments, ADJOINTS[symbol.operation], strict=True):
                    if rule is not None and argument.index in self.informed:
                        gained = rule(self, adjoints[symbol.index], self.values[symbol.index], *symbol.arguments)
                        self.gain(adjoints, argument, gained)
        return adjoints

    def times(self, one, symbol):
        return self.arithmetic("*", one, self.double(symbol))

    def over(self, one, other):
        return self.arithmetic("/", one, other)

    def chosen(self, operation, g, one, other):
        """Return `g` where a comparison of two symbols holds, else 0."""
        return self.select(self.compare(operation, self.double(one), self.double(other)), g, "0.0")


def _share(w, g, v, one):
    return w.arithmetic("*", g, w.call("exp", w.arithmetic("-", w.double(one), v)))


def _one_plus(w, x):
    return w.arithmetic("+", number(1.0), x)


# What the arguments' adjoints gain: functions of the writer, the adjoint g and value v of the result, the arguments.
ADJOINTS = {
    "+": (lambda w, g, v, x, y: g, lambda w, g, v, x, y: g),
    "-": (lambda w, g, v, x, y: g, lambda w, g, v, x, y: w.negative(g)),
    "*": (lambda w, g, v, x, y: w.times(g, y), lambda w, g, v, x, y: w.times(g, x)),
    "/": (
        lambda w, g, v, x, y: w.over(g, w.double(y)),
        lambda w, g, v, x, y: w.negative(w.over(w.arithmetic("*", g, v), w.double(y))),
    ),
    "neg": (lambda w, g, v, x: w.negative(g),),
    "abs": (lambda w, g, v, x: w.select(w.compare(">", w.double(x), "0.0"), g, w.negative(g)),),
    "exp": (lambda w, g, v, x: w.arithmetic("*", g, v),),
    "log": (lambda w, g, v, x: w.over(g, w.double(x)),),
    "log1p": (lambda w, g, v, x: w.over(g, _one_plus(w, w.double(x))),),
    "sqrt": (lambda w, g, v, x: w.over(w.arithmetic("*", g, number(0.5)), v),),
    "sinh": (lambda w, g, v, x: w.arithmetic("*", g, w.call("cosh", w.double(x))),),
    "arcsinh": (lambda w, g, v, x: w.over(g, w.call("sqrt", _one_plus(w, w.times(w.double(x), x)))),),
    "gammaln": (lambda w, g, v, x: w.arithmetic("*", g, w.call("digamma", w.double(x))),),
    "maximum": (lambda w, g, v, x, y: w.chosen(">=", g, x, y), lambda w, g, v, x, y: w.chosen(">", g, y, x)),
    "minimum": (lambda w, g, v, x, y: w.chosen("<=", g, x, y), lambda w, g, v, x, y: w.chosen("<", g, y, x)),
    "logaddexp": (lambda w, g, v, x, y: _share(w, g, v, x), lambda w, g, v, x, y: _share(w, g, v, y)),
    "where": (
        None,
        lambda w, g, v, c, x, y: w.select(w.truth(c), g, "0.0"),
        lambda w, g, v, c, x, y: w.select(w.truth(c), "0.0", g),
    ),
}


def _crossed(symbol):
    """Return whose values are stored for a sum or pick: the sum's, or those of what is picked."""
    return symbol if symbol.operation == SUM else symbol.arguments[0]


def _symbols(symbol):
    return [a for a in symbol.arguments if isinstance(a, Symbol)]


def _ancestors(terms):
    indices, waiting = set(), list(terms)
    while waiting:
        symbol = waiting.pop()
        if symbol.index not in indices:
            indices.add(symbol.index)
            waiting += _symbols(symbol)
    return indices

"""One function of a log density and its gradient, from the graph of its terms, with one loop over the rows.

It is written in the language of LLVM, which llvmlite compiles in the time that a compiler of Python takes to read it.
"""

import functools
import struct

from ...models.symbols import GROUP, ROW, Symbol

FAST = "reassoc nsz arcp contract"  # sums in any order; what is not finite stays so
OPERATIONS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
COMPARISONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}
INTRINSICS = {"exp": "llvm.exp.f64", "log": "llvm.log.f64", "sqrt": "llvm.sqrt.f64", "abs": "llvm.fabs.f64"}
OF_C = {"log1p": "log1p", "sinh": "sinh", "cosh": "cosh", "arcsinh": "asinh", "gammaln": "lgamma"}
FUNCTIONS = INTRINSICS | OF_C | {"digamma": "digamma"}
NOT_FINITE = 4, 3  # what the function returns for a value, and for a gradient, that is not
HEAD = "define i64 @density(i64 %dim, ptr %u, ptr %gradient, ptr %value, ptr %user) {"
COPY = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define i64 @copied(i64 %dim, i64 %size, ptr %u, ptr %out, ptr %user) {
  %bytes = mul i64 %size, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %u, i64 %bytes, i1 false)
  ret i64 0
}
"""
# By recurrence to x of at least 8, and there the asymptotic series in 1/x**2.
SERIES = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)


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
        A module of LLVM with ``density(dim, u, gradient, value, user)``: `user` holds the addresses of the arrays and
        then the numbers of rows and of groups. It returns 0, or one of `NOT_FINITE`.
    """
    return _Writer(graph, terms, coordinates, names, codes).text()


def copied():
    """Compile what copies coordinates, for a sampler that asks for a function of them: its address."""
    return address(COPY, "copied")


@functools.cache
def address(text, name="density"):
    """Compile a module, such as of `source`: the address of its function, which stays for as long as the process."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2)
    module = llvm.parse_assembly(text)
    module.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _ENGINES.append(engine)
    return engine.get_function_address(name)


_ENGINES = []  # a function is gone with its engine


def number(value):
    """Write a number with every digit."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


class _Writer:
    def __init__(self, graph, terms, coordinates, names, codes):
        self.terms, self.coordinates, self.names, self.codes = terms, coordinates, names, codes
        needed = _ancestors(terms)
        self.informed = set()  # what depends on the coordinates
        for symbol in graph.symbols:
            if symbol.operation == "coordinate" or any(a.index in self.informed for a in _symbols(symbol)):
                self.informed.add(symbol.index)
        used = [symbol for symbol in graph.symbols if symbol.index in needed]
        self.of = {axis: [symbol for symbol in used if symbol.axis == axis] for axis in (None, ROW, GROUP)}
        self.segments = [s for s in self.of[GROUP] if s.operation == "segment"]
        crossing = {a.index for axis in (ROW, GROUP) for s in self.of[axis] for a in _symbols(s) if a.axis is None}
        self.crossing = sorted(crossing & self.informed)
        self.lines, self.count, self.block, self.values = [], 0, "entry", {}

    # Lines -----------------------------------------------------------------------------------------------------------

    def new(self, text):
        """Name the result of an instruction."""
        self.count += 1
        self.lines.append(f"  %x{self.count} = {text}")
        return f"%x{self.count}"

    def arithmetic(self, operation, one, other):
        return self.new(f"{OPERATIONS[operation]} {FAST} double {one}, {other}")

    def call(self, name, one):
        return self.new(f"call double @{FUNCTIONS[name]}(double {one})")

    def select(self, condition, one, other):
        return self.new(f"select i1 {condition}, double {one}, double {other}")

    def compare(self, operation, one, other):
        return self.new(f"fcmp {COMPARISONS[operation]} double {one}, {other}")

    def negative(self, one):
        return self.new(f"fneg double {one}")

    def element(self, array, place):
        return self.new(f"getelementptr double, ptr {array}, i64 {place}")

    def load(self, pointer, kind="double"):
        return self.new(f"load {kind}, ptr {pointer}")

    def store(self, one, pointer):
        self.lines.append(f"  store double {one}, ptr {pointer}")

    def add_to(self, pointer, one):
        self.store(self.arithmetic("+", self.load(pointer), one), pointer)

    def begin(self, label):
        self.block = label
        self.lines.append(f"{label}:")

    # The function ----------------------------------------------------------------------------------------------------

    def text(self):
        self.lines += [HEAD, "entry:", "  %total = alloca double"]
        self.store("0.0", "%total")
        user = [self.new(f"getelementptr i64, ptr %user, i64 {k}") for k in range(len(self.names) + 2)]
        self.arrays = [self.load(place, "ptr") for place in user[:-2]]
        self.sizes = {axis: self.load(place, "i64") for axis, place in zip((ROW, GROUP), user[-2:], strict=True)}
        self.forward(None)
        self.sums = {index: self.new("alloca double") for index in self.crossing}
        for pointer in self.sums.values():
            self.store("0.0", pointer)
        if self.segments:
            self.through_groups()
        else:
            self.loop(ROW, self.rows)
        self.add_terms(None)
        seeds = {index: self.load(pointer) for index, pointer in self.sums.items()}
        for term in self.terms_of(None):
            one = number(1.0)
            seeds[term.index] = self.arithmetic("+", seeds[term.index], one) if term.index in seeds else one
        adjoints = self.backward(None, seeds)
        finite = [self.finite(adjoints[c.index]) for c in self.coordinates if c.index in adjoints]
        for j, coordinate in enumerate(self.coordinates):
            self.store(adjoints.get(coordinate.index, "0.0"), self.element("%gradient", j))
        total = self.load("%total")
        self.store(total, "%value")
        every = functools.reduce(lambda one, other: self.new(f"and i1 {one}, {other}"), finite, "true")
        found = self.new(f"select i1 {every}, i64 0, i64 {NOT_FINITE[1]}")
        found = self.new(f"select i1 {self.finite(total)}, i64 {found}, i64 {NOT_FINITE[0]}")
        declared = [f"declare double @{name}(double)" for name in (INTRINSICS | OF_C).values()]
        declared += ["declare ptr @calloc(i64, i64)", "declare void @free(ptr)"]
        return "\n".join([*declared, *_digamma(), *self.lines, f"  ret i64 {found}", "}"])

    def finite(self, one):
        return self.new(f"fcmp olt double {self.call('abs', one)}, {number(float('inf'))}")

    def loop(self, axis, body):
        """Repeat what `body` writes for each row or group, where there are any."""
        size, before = self.sizes[axis], self.block
        self.count += 1
        label, after, here = f"loop{self.count}", f"after{self.count}", f"%i{self.count}"
        some = self.new(f"icmp ugt i64 {size}, 0")
        self.lines.append(f"  br i1 {some}, label %{label}, label %{after}")
        self.begin(label)
        self.lines.append(f"  {here} = phi i64 [ 0, %{before} ], [ {here}.next, %{label} ]")
        self.here = here
        body()
        self.lines.append(f"  {here}.next = add i64 {here}, 1")
        more = self.new(f"icmp ult i64 {here}.next, {size}")
        self.lines.append(f"  br i1 {more}, label %{label}, label %{after}")
        self.begin(after)

    def rows(self):
        self.forward(ROW)
        self.add_terms(ROW)
        self.gather(self.backward(ROW, self.ones(ROW)))

    def through_groups(self):
        """Sum rows up, take groups forward and back, and the rows back."""
        sums, backs = ({s.index: self.zeros() for s in self.segments} for _ in range(2))

        def up():
            self.forward(ROW)
            self.add_terms(ROW)
            code = self.code()
            for s in self.segments:
                self.add_to(self.element(sums[s.index], code), self.double(s.arguments[0]))

        def over():
            for s in self.segments:
                self.values[s.index] = self.load(self.element(sums[s.index], self.here))
            self.forward(GROUP)
            self.add_terms(GROUP)
            adjoints = self.backward(GROUP, self.ones(GROUP))
            self.gather(adjoints)
            for s in self.segments:
                self.store(adjoints.get(s.index, "0.0"), self.element(backs[s.index], self.here))

        def down():
            self.forward(ROW)
            code, seeds = self.code(), self.ones(ROW)
            for s in self.segments:
                self.gain(seeds, s.arguments[0], self.load(self.element(backs[s.index], code)))
            self.gather(self.backward(ROW, seeds))

        for axis, body in ((ROW, up), (GROUP, over), (ROW, down)):
            self.loop(axis, body)
        for pointer in (*sums.values(), *backs.values()):
            self.lines.append(f"  call void @free(ptr {pointer})")

    def zeros(self):
        return self.new(f"call ptr @calloc(i64 {self.sizes[GROUP]}, i64 8)")

    def code(self):
        array = self.arrays[self.names.index(self.codes)]
        return self.new(f"fptoui double {self.load(self.element(array, self.here))} to i64")

    # Values ----------------------------------------------------------------------------------------------------------

    def forward(self, axis):
        for symbol in self.of[axis]:
            if symbol.operation != "segment":
                self.values[symbol.index] = self.value(symbol)

    def value(self, symbol):
        operation, arguments = symbol.operation, symbol.arguments
        if operation == "constant":
            return number(arguments[0])
        if operation == "coordinate":
            return self.load(self.element("%u", arguments[0]))
        if operation == "data":
            return self.datum(*arguments[0], symbol.axis)
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

    def datum(self, array, width, place, axis):
        if axis is None:
            return self.load(self.element(self.arrays[array], place))
        first = self.new(f"mul i64 {self.here}, {width}")
        return self.load(self.element(self.arrays[array], self.new(f"add i64 {first}, {place}")))

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

    def ones(self, axis):
        seeds = {}
        for term in self.terms_of(axis):
            self.gain(seeds, term, number(1.0))
        return seeds

    def gain(self, adjoints, symbol, gained):
        """Add to the adjoint of a symbol, if it depends on the coordinates."""
        if symbol.index in self.informed:
            known = adjoints.get(symbol.index)
            adjoints[symbol.index] = gained if known is None else self.arithmetic("+", known, gained)

    def gather(self, adjoints):
        """Add the adjoints of scalars up over a loop."""
        for index, pointer in self.sums.items():
            if index in adjoints:
                self.add_to(pointer, adjoints[index])

    def backward(self, axis, adjoints):
        """Adjoints of the symbols of an axis and of the scalars that they are computed from."""
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
        """Give `g` where a comparison of two symbols holds, else 0."""
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


def _digamma():
    """Write the derivative of the logarithm of the gamma function at x > 0."""
    series = ["  %s0 = fadd double 0.0, " + number(SERIES[-1])]
    for k, coefficient in enumerate(reversed(SERIES[:-1])):
        series += [f"  %p{k} = fmul double %s{k}, %f", f"  %s{k + 1} = fadd double %p{k}, {number(coefficient)}"]
    last = f"%s{len(SERIES) - 1}"
    return [
        "define internal double @digamma(double %given) {",
        "entry:",
        "  br label %check",
        "check:",
        "  %x = phi double [ %given, %entry ], [ %up, %raise ]",
        "  %low = phi double [ 0.0, %entry ], [ %lower, %raise ]",
        f"  %small = fcmp olt double %x, {number(8.0)}",
        "  br i1 %small, label %raise, label %end",
        "raise:",
        f"  %part = fdiv double {number(1.0)}, %x",
        "  %lower = fsub double %low, %part",
        f"  %up = fadd double %x, {number(1.0)}",
        "  br label %check",
        "end:",
        f"  %inverse = fdiv double {number(1.0)}, %x",
        "  %f = fmul double %inverse, %inverse",
        *series,
        f"  %tail = fmul double {last}, %f",
        "  %log = call double @llvm.log.f64(double %x)",
        f"  %half = fmul double {number(0.5)}, %inverse",
        "  %first = fsub double %log, %half",
        "  %both = fadd double %first, %tail",
        "  %found = fadd double %both, %low",
        "  ret double %found",
        "}",
    ]


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

"""The language of LLVM: instructions with names for their results, and modules compiled to functions in this process.

llvmlite compiles a density in the time that a compiler of Python takes to read it.
"""

import ctypes
import functools
import os

from . import elementary
from .trace import UntraceableError

FAST = "reassoc nsz arcp contract"  # sums in any order; what is not finite stays so
OPERATIONS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
COMPARISONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}
ELEMENTARY = {"exp": elementary.EXP, "log": elementary.LOG, "log1p": elementary.LOG1P}
ELEMENTARY |= {"gammaln": elementary.GAMMALN, "digamma": elementary.DIGAMMA}
INTRINSICS = {"sqrt": "llvm.sqrt.f64", "abs": "llvm.fabs.f64"}
OF_C = {"sinh": "sinh", "cosh": "cosh", "arcsinh": "asinh"}
MEMORY = {"calloc": "declare noalias ptr @calloc(i64, i64)", "free": "declare void @free(ptr)"}
FUNCTIONS = ELEMENTARY | INTRINSICS | OF_C
COPY = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define i64 @copied(i64 %dim, i64 %size, ptr %u, ptr %out, ptr %user) {
  %bytes = mul i64 %size, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %u, i64 %bytes, i1 false)
  ret i64 0
}
"""


def copied():
    """Compile what copies coordinates, for a sampler that requires a function of them: its address."""
    return address(COPY, "copied")


@functools.cache
def address(text, name="density"):
    """Compile a module: the address of one of its functions, which stays for as long as the process.

    It raises `UntraceableError` if this process lacks a function of the C library that it may call.
    """
    import llvmlite.binding as llvm

    _find_functions()
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


@functools.cache
def _find_functions():
    """Register the functions of the C library with LLVM, which would end the process over one that it does not find."""
    import llvmlite.binding as llvm

    library = ctypes.CDLL(None) if os.name == "posix" else ctypes.cdll.ucrtbase
    for name in (*OF_C.values(), *MEMORY):
        try:
            llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
        except AttributeError as error:
            raise UntraceableError(f"the C library of this process lacks {name}") from error


_ENGINES = []  # a function is gone with its engine


def module(function):
    """Write a module: a function, as lines, and what it may call."""
    declared = [f"declare double @{name}(double)" for name in (INTRINSICS | OF_C).values()]
    declared += MEMORY.values()
    return "\n".join([*declared, *elementary.functions(), *function])


class CodeLines:
    """Instructions of a function, in the order in which they are added; `block` is the label of the last block."""

    def __init__(self):
        self.lines, self.count, self.block = [], 0, "entry"

    def new(self, text):
        """Name the result of an instruction."""
        self.count += 1
        self.lines.append(f"  %x{self.count} = {text}")
        return f"%x{self.count}"

    def arithmetic(self, operation, one, other):
        """Add, subtract, multiply or divide."""
        return self.new(f"{OPERATIONS[operation]} {FAST} double {one}, {other}")

    def call(self, name, one):
        """Call a function of `FUNCTIONS`."""
        return self.new(f"call double @{FUNCTIONS[name]}(double {one})")

    def select(self, condition, one, other):
        """Take one number where a condition holds, else the other."""
        return self.new(f"select i1 {condition}, double {one}, double {other}")

    def compare(self, operation, one, other):
        """Compare two numbers."""
        return self.new(f"fcmp {COMPARISONS[operation]} double {one}, {other}")

    def negative(self, one):
        """Change the sign."""
        return self.new(f"fneg double {one}")

    def element(self, array, place):
        """Write a pointer to an element of an array."""
        return self.new(f"getelementptr double, ptr {array}, i64 {place}")

    def load(self, pointer, kind="double"):
        """Read what a pointer points to."""
        return self.new(f"load {kind}, ptr {pointer}")

    def store(self, one, pointer):
        """Write a number where a pointer points."""
        self.lines.append(f"  store double {one}, ptr {pointer}")

    def add_to(self, pointer, one):
        """Add a number to what a pointer points to."""
        self.store(self.arithmetic("+", self.load(pointer), one), pointer)

    def begin(self, label):
        """Begin a block."""
        self.block = label
        self.lines.append(f"{label}:")

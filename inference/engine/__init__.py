"""A compiler of log densities; see README.md. It imports nothing of the package, and has one door."""

from .compiled import Compiled, compile_density, flat
from .llvm import copied
from .trace import UntraceableError

__all__ = ["Compiled", "UntraceableError", "compile_density", "copied", "flat"]

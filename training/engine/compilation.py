"""Compiled functions: plain ones where nothing can be compiled, with a count of the calls that were not compiled."""

import functools
import warnings

import torch

from ...datasets.wording import shortened
from ...errors import DiagnosticWarning

# Most shapes for which one function is compiled, and all functions together. By default torch stops compiling after a
# few shapes, without a warning, but the grid of one arithmetic model has sixteen.
SHAPES, SHAPES_TOGETHER = 512, 4096
# The compiled functions of this process.
MADE = []
# Marks a function that is compiled once within another, however often that calls it, such as of layers that are alike.
nested = getattr(torch.compiler, "nested_compile_region", lambda function: function)


class Compiled:
    """A function that is compiled once for each shape of its arguments, by a backend and mode of `torch.compile`.

    `eager` counts the calls that ran without compiled code, because torch gave up compiling. Copies of a model share
    its compiled functions.
    """

    def __init__(self, function, backend="inductor", mode=None):
        import torch._dynamo

        config = torch._dynamo.config
        config.recompile_limit = max(SHAPES, config.recompile_limit)
        config.accumulated_recompile_limit = max(SHAPES_TOGETHER, config.accumulated_recompile_limit)
        self.eager = 0

        @functools.wraps(function)
        def counted(*arguments):
            # Compiled code does not have this branch.
            if not torch.compiler.is_compiling():
                self.eager += 1
            return function(*arguments)

        self._compiled = torch.compile(counted, dynamic=False, backend=backend, mode=mode)
        MADE.append(self)

    def __deepcopy__(self, copies):
        return self

    def __call__(self, *arguments):
        """Call the function."""
        return self._compiled(*arguments)


def eager_calls():
    """Count the calls of all compiled functions of this process that ran without compiled code."""
    return sum(compiled.eager for compiled in MADE)


@functools.cache
def can_compile(kind):
    """Check whether functions can be compiled on ``"cpu"`` or ``"cuda"``, by compiling one of a single line.

    Without a C compiler or Triton, or on a GPU too old for it, they cannot, and a warning is issued.
    """
    try:
        torch.compile(_one_line, dynamic=False)(torch.ones(8, device=kind))
    # The exception depends on what is missing.
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        warnings.warn(
            f"training: models cannot be compiled here ({shortened(lines[0])}); they are trained without, more slowly. "
            "Install a C compiler (and Triton, for a GPU), or give compile = false",
            DiagnosticWarning,
            stacklevel=2,
        )
        return False
    return True


def _one_line(numbers):
    return numbers.sin() + 1

"""Compiled functions, and plain ones where nothing can be compiled."""

import functools
import warnings

import torch

from ...datasets.wording import shortened
from ...errors import DiagnosticWarning

# Most shapes for which one function is compiled, and all functions together. By default torch stops compiling after a
# few shapes, and runs the rest plain without a warning.
SHAPES, SHAPES_TOGETHER = 512, 4096
# Marks a function that is compiled once within another, however often that calls it, such as of layers that are alike.
nested = getattr(torch.compiler, "nested_compile_region", lambda function: function)


def compiled(function, backend="inductor", mode=None):
    """Compile a function once for each shape of its arguments; with too many shapes it raises an error of torch."""
    import torch._dynamo

    config = torch._dynamo.config
    config.recompile_limit = max(SHAPES, config.recompile_limit)
    config.accumulated_recompile_limit = max(SHAPES_TOGETHER, config.accumulated_recompile_limit)
    config.fail_on_recompile_limit_hit = True
    return torch.compile(function, dynamic=False, backend=backend, mode=mode)


@functools.cache
def can_compile(kind):
    """Check whether functions can be compiled on ``"cpu"`` or ``"cuda"``, by compiling one of a single line.

    Without a C compiler or Triton, or on a GPU too old for it, they cannot, and a warning is issued.
    """
    try:
        torch.compile(lambda numbers: numbers.sin() + 1, dynamic=False)(torch.ones(8, device=kind))
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

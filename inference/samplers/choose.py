"""Choose a sampler, and make a law ready for it.

nutpie is the default on a CPU, NumPyro where JAX sees an accelerator; PyMC's sampler is there to check them. All three
return the same groups. nutpie samples the compiled density of a law, and NumPyro the same array code on JAX. PyMC
samples the law's PyMC model, as nutpie does where the density cannot be compiled.
"""

import importlib.util
import os
from contextlib import suppress
from pathlib import Path

from ...datasets.wording import check_choice
from ...errors import InputError
from ..engine import UntraceableError
from .numpyro import JaxProgram, accelerator
from .nutpie import DensityProgram
from .pymc import ModelProgram

SAMPLERS = ("nutpie", "numpyro", "pymc")


def _may_have_accelerator():
    return any(Path(p).exists() for p in ("/dev/nvidiactl", "/dev/kfd", "/dev/accel0")) or "TPU_NAME" in os.environ


def choose(sampler=None):
    """Return the name of the sampler to use, refusing one that is unknown or needs a package that is not installed."""
    if sampler is None:
        return "numpyro" if _may_have_accelerator() and accelerator() else "nutpie"
    check_choice("sampler", sampler, SAMPLERS)
    if sampler == "numpyro" and not importlib.util.find_spec("numpyro"):
        raise InputError("sampler 'numpyro' needs the packages numpyro and jax: pip install 'bayescaling[numpyro]'")
    return sampler


def compiled(law, rows, reference, density, sampler):
    """Return the `Program` of a law for a sampler from `choose`, with its density on the rows."""
    if sampler == "nutpie":
        with suppress(UntraceableError):
            return DensityProgram(density)
    if sampler == "numpyro":
        return JaxProgram()
    return ModelProgram(law.model(rows, reference), sampler)

"""nutpie: the default sampler on a CPU, which samples compiled densities.

nutpie imports all of ArviZ for an annotation, and Numba for models of PyMC: more than a second of the first fit of a
process. `nutpie` imports it with stand-ins that import these two when they are used. `model_of` fills private fields of
nutpie's model with the addresses of our compiled functions. `conda/nutpie-0.16.8.patch` offers nutpie lazy imports and
a constructor from addresses; with them both work-arounds can go.
"""

import copy
import dataclasses
import functools
import importlib
import sys
import time
import types

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.progress_messages import Bar
from ...errors import InputError
from ...models.draws import DRAWS, draw_coordinates
from ..engine import compile_density, copied, flat
from .program import NOT_FINITE, STATISTICS, Program, quiet
from .whitened import whitened

COORDINATE = "unconstrained_parameter"
NAMED, INTRINSIC = "InferenceData", "intrinsic"  # what nutpie's module takes of others
MOST_DOUBLINGS = 12  # of a trajectory: tables of two sizes need more than the usual 10 in a few iterations of thousands
EVERY_MS, PROGRESS = 200, "{{ total_finished_draws }} {{ total_draws }}"  # what nutpie reports of draws, and when
LATER = ("arviz", "numba", "numba.extending")


class _Later(types.ModuleType):
    """A module that is imported when something of it is called for."""

    def __getattr__(self, name):
        if name.startswith("__"):  # of the machinery of imports
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


@functools.cache
def nutpie():
    """Import nutpie, all of whose functions work as without this."""
    later = {name: _Later(name) for name in (() if "nutpie" in sys.modules else LATER) if name not in sys.modules}
    for module in later.values():
        vars(module).update({NAMED: type(NAMED, (), {}), INTRINSIC: lambda function: function})
    sys.modules.update(later)
    try:
        loaded = importlib.import_module("nutpie")
    finally:
        for name, module in later.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
    if "numba" in later:
        _compile_later(loaded.compile_pymc)
    return loaded


def _compile_later(module):
    """Let nutpie import Numba when it first compiles a model of PyMC with it."""
    compiled, plain = module._compile_pymc_model_numba, module.address_as_void_pointer

    @functools.wraps(compiled)
    def with_numba(*args, **options):
        module.intrinsic = importlib.import_module("numba.extending").intrinsic
        module.address_as_void_pointer = module.intrinsic(plain)
        module._compile_pymc_model_numba = compiled
        return compiled(*args, **options)

    module._compile_pymc_model_numba = with_numba


class DensityProgram(Program):
    """A law's density compiled for nutpie."""

    def __init__(self, density):
        start = time.perf_counter()
        with quiet():
            self._compiled = compile_density(density)
        self.seconds = time.perf_counter() - start

    def whitened(self, density, seed):
        """Return a program and a density of a large table; see `whitened`."""
        other = whitened(self._compiled, density, seed)
        return None if other is None else (DensityProgram(other), other)

    def _sample(self, density, settings, seed, progress):
        options = {"low_rank_modified_mass_matrix": density.low_rank, "return_raw_trace": True}
        z, stats = _arrays(sample(model_of(self._compiled, density), settings, seed, progress, **options))
        stats = xr.Dataset({name: (DRAWS, x) for name, x in stats.items()}, draw_coordinates(*z.shape[:2]))
        return density.named(z), stats


def model_of(compiled, density):
    """Make what nutpie samples of a compiled density and the data of one of its program."""
    of_nutpie = nutpie().compile_pymc.CompiledPyMCModel
    user, held = compiled.addresses(density)
    start = flat(density.start)
    n = len(start)
    values = {
        "_n_dim": n,
        "dims": {"z": (COORDINATE,)},
        "_coords": {COORDINATE: pd.RangeIndex(n)},
        "_shapes": {"z": (n,)},
        "compiled_logp_func": types.SimpleNamespace(address=compiled.address),
        "compiled_expand_func": types.SimpleNamespace(address=copied()),
        "initial_point_func": functools.partial(_start, start),
        "shared_data": held,
        "user_data": user,
        "n_expanded": n,
        "shape_info": (["z"], [slice(0, n)], [(n,)]),
    }
    needed = [f.name for f in dataclasses.fields(of_nutpie) if f.default is dataclasses.MISSING]
    return of_nutpie(**{name: values.get(name) for name in needed})


def _start(centre, seed=None):
    return centre + np.random.default_rng(seed).uniform(-1, 1, len(centre))


def sample(compiled, settings, seed, progress, **options):
    """Sample what nutpie compiled, or took for compiled, and return its trace."""
    with Bar(progress) as bar:
        run = nutpie().sample(
            _reporting(compiled, bar) if progress else compiled,
            **settings.asked,
            cores=settings.workers,
            maxdepth=MOST_DOUBLINGS,
            seed=seed,
            save_warmup=False,
            progress_bar=False,
            blocking=False,
            **options,
        )
        try:
            return run.wait()
        except BaseException as error:
            run.cancel()
            if "initialization points failed" in str(error):
                raise InputError(NOT_FINITE) from error
            raise


def _reporting(compiled, bar):
    """Return what nutpie compiled, such that a bar shows its draws, in place of nutpie's table of 110 characters."""
    bar.begin(1.0)

    def show(text):
        done, total = map(int, text.split())
        bar.move("draws", done / max(total, 1))

    def sampler(settings, start, cores, _, store):
        shown = nutpie()._lib.ProgressType.template_callback(EVERY_MS, PROGRESS, cores, show)
        return compiled._make_sampler(settings, start, cores, shown, store)

    reporting = copy.copy(compiled)
    object.__setattr__(reporting, "_make_sampler", sampler)
    return reporting


def _arrays(trace):
    """Return coordinates (chain, draw, z) of nutpie's draws after its warm-up, and statistics, (chain, draw)."""
    import pyarrow

    def column(batch, name):
        values = pyarrow.array(batch.column(name))
        return (values.flatten() if hasattr(values, "flatten") else values).to_numpy(zero_copy_only=False)

    draws, stats = trace.get_arrow_trace()
    masks = [~column(batch, "tuning").astype(bool) for batch in stats]
    z = np.stack([column(x, "z").reshape(x.num_rows, -1)[mask] for x, mask in zip(draws, masks, strict=True)])
    names = {field: ours for field, ours in STATISTICS.items() if field in stats[0].column_names}
    statistics = {
        ours: np.stack([column(x, field)[mask] for x, mask in zip(stats, masks, strict=True)])
        for field, ours in names.items()
    }
    return z, statistics

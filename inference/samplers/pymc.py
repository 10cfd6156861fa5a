"""A law's PyMC model under any of the samplers, for comparison with compiled densities and for laws without one."""

import importlib.util
import time
import warnings
from contextlib import suppress

import xarray as xr

from ...models.backend import pymc
from . import nutpie
from .program import STATISTICS, Program, quiet


def accelerator():
    """Whether JAX is installed and sees a GPU or TPU."""
    if not all(importlib.util.find_spec(name) for name in ("jax", "jaxlib", "numpyro")):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jax

        return any(device.platform != "cpu" for device in jax.devices())


class ModelProgram(Program):
    """A PyMC model made ready for one sampler.

    Parameters
    ----------
    model : pymc.Model
        With its data as `pymc.Data`.
    sampler : str
        From `choose`.
    low_rank : bool
        As `Effort` has it.
    """

    def __init__(self, model, sampler, low_rank=True):
        self.model = model
        self.sampler = sampler
        self._low_rank = low_rank
        self.names = [variable.name for variable in model.free_RVs]
        start = time.perf_counter()
        if sampler == "nutpie":
            from pytensor.graph.traversal import ancestors

            with quiet():
                self._nutpie = nutpie.nutpie().compile_pymc_model(model)
                self._used = {variable.name for variable in ancestors([model.logp()])}
        self.seconds = time.perf_counter() - start

    def _sample(self, density, settings, seed, progress):
        trace = getattr(self, f"_sample_{self.sampler}")(settings, seed, density.arrays, progress)
        tree = trace if isinstance(trace, xr.DataTree) else trace.to_datatree()
        posterior = tree["posterior"].to_dataset()[self.names]
        return posterior.drop_attrs(), _statistics(tree["sample_stats"].to_dataset())

    def _sample_nutpie(self, settings, seed, data, progress):
        used = {name: x for name, x in data.items() if name in self._used}
        compiled = self._nutpie.with_data(**used) if used else self._nutpie
        return nutpie.sample(compiled, settings, seed, progress, low_rank_modified_mass_matrix=self._low_rank)

    def _sample_pymc(self, settings, seed, data, progress):
        return self._sample_through_pymc(settings, seed, data, progress, nuts_sampler="pymc", cores=settings.workers)

    def _sample_numpyro(self, settings, seed, data, progress):
        return self._sample_through_pymc(
            settings,
            seed,
            data,
            progress,
            nuts_sampler="numpyro",
            nuts_sampler_kwargs={"chain_method": _prepare_jax(settings.workers)},
        )

    def _sample_through_pymc(self, settings, seed, data, progress, **kwargs):
        pm = pymc()

        with self.model:
            pm.set_data({name: x for name, x in data.items() if name in self.model.named_vars})
            return pm.sample(
                **settings.asked,
                random_seed=seed,
                progressbar=progress,
                compute_convergence_checks=False,
                **kwargs,
            )


def _prepare_jax(workers):
    """Keep compiled programs from one process to the next, and give each parallel chain a device on a CPU."""
    import jax
    from platformdirs import user_cache_path

    if jax.config.jax_compilation_cache_dir is None:
        jax.config.update("jax_compilation_cache_dir", str(user_cache_path("bayescaling") / "xla"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
    with suppress(RuntimeError):  # too late once JAX has started: chains then run one after another
        jax.config.update("jax_num_cpu_devices", workers)
    return "vectorized" if accelerator() else "parallel"


def _statistics(stats):
    """Per-draw statistics under ArviZ's names, whichever sampler made them."""
    kept = {}
    for theirs, ours in STATISTICS.items():
        if theirs in stats and ours not in kept and stats[theirs].dims == ("chain", "draw"):
            kept[ours] = stats[theirs].drop_attrs()
    return xr.Dataset(kept)

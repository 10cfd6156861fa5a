"""NumPyro: the default sampler where JAX sees an accelerator; it samples the array code of a density on JAX."""

import importlib.util
import warnings
from contextlib import suppress

import numpy as np
import xarray as xr

from ...errors import InputError
from ...models.draws import DRAWS, draw_coordinates
from ..engine import flat
from .program import NOT_FINITE, STATISTICS, Program

MOST_STEPS = 10  # doublings of a trajectory
FIELDS = ("diverging", "accept_prob", "num_steps", "adapt_state.step_size", "potential_energy", "energy")


def accelerator():
    """Return whether JAX is installed and sees a GPU or TPU."""
    if not all(importlib.util.find_spec(name) for name in ("jax", "jaxlib", "numpyro")):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jax

        return any(device.platform != "cpu" for device in jax.devices())


class JaxProgram(Program):
    """A density sampled by NumPyro; JAX compiles it when it is sampled."""

    seconds = 0.0

    def _sample(self, density, settings, seed, progress):
        import jax
        from numpyro.infer import MCMC, NUTS

        method, function = _prepare_jax(settings.workers), potential(density)
        centre = flat(density.start)
        starts = centre + np.random.default_rng(seed).uniform(-1, 1, (settings.chains, len(centre)))
        if not np.isfinite(jax.vmap(function)(starts)).all():
            raise InputError(NOT_FINITE)
        kernel = NUTS(
            potential_fn=function,
            target_accept_prob=settings.target_accept,
            max_tree_depth=MOST_STEPS,
        )
        run = MCMC(
            kernel,
            num_warmup=settings.tune,
            num_samples=settings.draws,
            num_chains=settings.chains,
            chain_method=method,
            progress_bar=progress,
        )
        run.run(
            jax.random.PRNGKey(seed),
            init_params=starts if settings.chains > 1 else starts[0],
            extra_fields=FIELDS,
        )
        z = np.asarray(run.get_samples(group_by_chain=True))
        stats = {name: np.asarray(x) for name, x in run.get_extra_fields(group_by_chain=True).items()}
        stats["lp"] = -stats.pop("potential_energy")
        named = {ours: stats[field] for field, ours in STATISTICS.items() if field in stats}
        sample_stats = xr.Dataset({name: (DRAWS, x) for name, x in named.items()}, draw_coordinates(*z.shape[:2]))
        return density.named(z), sample_stats


def potential(density):
    """Return minus the log density as a function of the coordinates, (coordinate,), on JAX."""
    import jax.numpy as jnp

    data = {name: jnp.asarray(x) for name, x in density.arrays.items()}
    ends = np.cumsum([block.size for block in density.start])[:-1]

    def function(z):
        parts = jnp.split(z, ends)
        blocks = tuple(part.reshape(block.shape) for part, block in zip(parts, density.start, strict=True))
        return -sum(jnp.sum(jnp.asarray(term)) for term in density.terms(blocks, data))

    return function


def _prepare_jax(workers):
    """Cache compiled programs from one process to the next, and give each parallel chain a device on a CPU."""
    import jax
    from platformdirs import user_cache_path

    jax.config.update("jax_enable_x64", True)
    if jax.config.jax_compilation_cache_dir is None:
        jax.config.update("jax_compilation_cache_dir", str(user_cache_path("bayescaling") / "xla"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
    with suppress(RuntimeError):  # too late once JAX has started: chains then run one after another
        jax.config.update("jax_num_cpu_devices", workers)
    return "vectorized" if accelerator() else "parallel"

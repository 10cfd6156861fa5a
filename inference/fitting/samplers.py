"""NUTS behind one interface: a model is compiled once, then sampled again on changed data.

nutpie is the default on a CPU, NumPyro where JAX sees an accelerator; PyMC's own sampler is there to check them. All
three return the same groups. They sample a law's PyMC model but for nutpie, which samples the law's own code where that
can be traced.
"""

import importlib.util
import os
import sys
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import xarray as xr

from ...datasets.wording import unknown
from ...errors import InputError
from ...models.backend import pymc
from ...models.draws import DRAWS, draw_coordinates
from ...models.symbols import UntraceableError
from .later import nutpie
from .traced import Traced

SAMPLERS = ("nutpie", "numpyro", "pymc")


def accelerator():
    """Whether JAX is installed and sees a GPU or TPU."""
    if not all(importlib.util.find_spec(name) for name in ("jax", "jaxlib", "numpyro")):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jax

        return any(device.platform != "cpu" for device in jax.devices())


def _may_have_accelerator():
    return any(Path(p).exists() for p in ("/dev/nvidiactl", "/dev/kfd", "/dev/accel0")) or "TPU_NAME" in os.environ


def choose(sampler=None):
    """Return the name of the sampler to use.

    Raises
    ------
    InputError
        If `sampler` is unknown, or needs a package that is not installed.
    """
    if sampler is None:
        return "numpyro" if _may_have_accelerator() and accelerator() else "nutpie"
    if sampler not in SAMPLERS:
        raise InputError(unknown("sampler", sampler, SAMPLERS))
    if sampler == "numpyro" and not importlib.util.find_spec("numpyro"):
        raise InputError("sampler 'numpyro' needs the packages numpyro and jax: pip install 'bayescaling[numpyro]'")
    return sampler


@contextmanager
def _quiet():
    """Silence warnings about the samplers' installation; `diagnostics` alone reports on convergence."""
    import logging

    # Matplotlib, which nutpie imports, says on a new machine that it looks for fonts.
    loggers = [logging.getLogger(name) for name in ("pymc", "matplotlib.font_manager")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*BLAS")
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", message=".*os.fork.*")
        warnings.filterwarnings("ignore", message=".*is faster on contiguous arrays.*")
        warnings.filterwarnings("ignore", message=".*not enough devices.*", category=UserWarning)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


def compiled(law, rows, reference, density, sampler):
    """Make a law ready for a sampler.

    Parameters
    ----------
    law : Law
    rows : DataFrame
    reference : dict
    density : Density
        That of the law on the rows.
    sampler : str
        From `choose`.

    Returns
    -------
    Program
    """
    if sampler == "nutpie":
        with suppress(UntraceableError):
            return OfLaw(density, law.effort.low_rank)
    return OfModel(law.model(rows, reference), sampler, law.effort.low_rank)


class Program:
    """Something compiled that can be sampled.

    Attributes
    ----------
    seconds : float
        Time that compilation took here; PyMC's own sampler and NumPyro compile when they sample.
    """

    def sample(self, density, settings, seed, progress=False):
        """Draw from the posterior.

        Parameters
        ----------
        density : Density
            One of the program that was compiled.
        settings : Settings
        seed : int
        progress : bool
            Show a progress bar on standard error.

        Returns
        -------
        posterior, sample_stats : Dataset
            Sampled quantities and the sampler's statistics, dims (chain, draw).
        seconds : float
            Wall time, compilation included for PyMC's own sampler and NumPyro.
        """
        start = time.perf_counter()
        with _quiet():
            found = self._sample(density, settings, int(seed), progress)
        return *found, time.perf_counter() - start

    def _sample(self, density, settings, seed, progress):
        """Return the posterior and the statistics, as `sample` does."""
        raise NotImplementedError


class OfLaw(Program):
    """A law's own code, traced and compiled for nutpie; see `Traced`."""

    def __init__(self, density, low_rank=True):
        start = time.perf_counter()
        self._low_rank = low_rank
        with _quiet():
            self._traced = Traced(density)
        self.seconds = time.perf_counter() - start

    def _sample(self, density, settings, seed, progress):
        model = self._traced.model(density)
        options = {"low_rank_modified_mass_matrix": self._low_rank, "return_raw_trace": True}
        z, stats = _arrays(_sample_with_nutpie(model, settings, seed, progress, **options))
        stats = xr.Dataset({name: (DRAWS, x) for name, x in stats.items()}, draw_coordinates(*z.shape[:2]))
        return density.named(z), stats


class OfModel(Program):
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

            with _quiet():
                self._nutpie = nutpie().compile_pymc_model(model)
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
        return _sample_with_nutpie(compiled, settings, seed, progress, low_rank_modified_mass_matrix=self._low_rank)

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


def _sample_with_nutpie(compiled, settings, seed, progress, **options):
    run = nutpie().sample(
        compiled,
        **settings.asked,
        cores=settings.workers,
        seed=seed,
        save_warmup=False,
        progress_bar=progress,
        blocking=False,
        **options,
    )
    try:
        trace = run.wait()
        if progress:  # its table ends without a line's end
            print(file=sys.stderr)
        return trace
    except BaseException as error:
        run.cancel()
        if "initialization points failed" in str(error):
            raise InputError("the density is not finite where sampling starts; check the priors") from error
        raise


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


_STATISTICS = {
    "diverging": "diverging",
    "acceptance_rate": "acceptance_rate",
    "mean_tree_accept": "acceptance_rate",
    "mean_acceptance_rate": "acceptance_rate",
    "n_steps": "n_steps",
    "tree_depth": "tree_depth",
    "depth": "tree_depth",
    "reached_max_treedepth": "reached_max_treedepth",
    "maxdepth_reached": "reached_max_treedepth",
    "step_size": "step_size",
    "lp": "lp",
    "logp": "lp",
    "energy": "energy",
}


def _arrays(trace):
    """Coordinates (chain, draw, z) of what nutpie sampled after its warm-up, and statistics by name, (chain, draw)."""
    import pyarrow

    def column(batch, name):
        values = pyarrow.array(batch.column(name))
        return (values.flatten() if hasattr(values, "flatten") else values).to_numpy(zero_copy_only=False)

    draws, stats = trace.get_arrow_trace()
    kept = [~column(batch, "tuning").astype(bool) for batch in stats]
    z = np.stack([column(x, "z").reshape(x.num_rows, -1)[own] for x, own in zip(draws, kept, strict=True)])
    names = {theirs: ours for theirs, ours in _STATISTICS.items() if theirs in stats[0].column_names}
    found = {
        ours: np.stack([column(x, theirs)[own] for x, own in zip(stats, kept, strict=True)])
        for theirs, ours in names.items()
    }
    return z, found


def _statistics(stats):
    """Per-draw statistics under ArviZ's names, whichever sampler made them."""
    kept = {}
    for theirs, ours in _STATISTICS.items():
        if theirs in stats and ours not in kept and stats[theirs].dims == ("chain", "draw"):
            kept[ours] = stats[theirs].drop_attrs()
    return xr.Dataset(kept)

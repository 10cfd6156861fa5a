"""What every sampler provides: something compiled, sampled again on changed data."""

import logging
import time
import warnings
from contextlib import contextmanager

NOT_FINITE = "the density is not finite where sampling starts; check the priors"
# Statistics of draws: the samplers' names, and those of ArviZ.
STATISTICS = {
    "diverging": "diverging",
    "acceptance_rate": "acceptance_rate",
    "mean_tree_accept": "acceptance_rate",
    "mean_acceptance_rate": "acceptance_rate",
    "accept_prob": "acceptance_rate",
    "n_steps": "n_steps",
    "num_steps": "n_steps",
    "tree_depth": "tree_depth",
    "depth": "tree_depth",
    "reached_max_treedepth": "reached_max_treedepth",
    "maxdepth_reached": "reached_max_treedepth",
    "step_size": "step_size",
    "adapt_state.step_size": "step_size",
    "lp": "lp",
    "logp": "lp",
    "energy": "energy",
}


@contextmanager
def quiet():
    """Silence warnings about the samplers' installation; `diagnostics` alone reports on convergence."""
    # Matplotlib, which nutpie imports, logs on a new machine that it looks for fonts.
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


class Program:
    """Something compiled that can be sampled.

    `seconds` is the time that compilation took here; PyMC's own sampler and NumPyro compile when they sample.
    """

    def sample(self, density, settings, seed, progress=False):
        """Draw from the posterior of a `Density` of the program that was compiled.

        The Datasets of sampled quantities and of the sampler's statistics, dims (chain, draw), are returned with the
        wall time in seconds, compilation included for PyMC's sampler and NumPyro.
        """
        start = time.perf_counter()
        with quiet():
            result = self._sample(density, settings, int(seed), progress)
        return *result, time.perf_counter() - start

    def whitened(self, density, seed):
        """Return a program and a density whose coordinates need little warm-up; None where there is none."""

    def _sample(self, density, settings, seed, progress):
        """Return the posterior and the statistics, as `sample` does."""

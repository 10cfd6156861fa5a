"""PyMC's own sampler, which checks the others; and PyMC models under nutpie, of laws that cannot be compiled."""

import time

import xarray as xr

from ...models.backend import pymc
from . import nutpie
from .program import STATISTICS, Program, quiet


class ModelProgram(Program):
    """A PyMC model, with its data as `pymc.Data`, made ready for one sampler of `choose`."""

    def __init__(self, model, sampler):
        self.model = model
        self.sampler = sampler
        self.names = [variable.name for variable in model.free_RVs]
        start = time.perf_counter()
        if sampler == "nutpie":
            from pytensor.graph.traversal import ancestors

            with quiet():
                self._nutpie = nutpie.nutpie().compile_pymc_model(model)
                self._used = {variable.name for variable in ancestors([model.logp()])}
        self.seconds = time.perf_counter() - start

    def _sample(self, density, settings, seed, progress):
        trace = (self._by_nutpie if self.sampler == "nutpie" else self._by_pymc)(settings, seed, density, progress)
        tree = trace if isinstance(trace, xr.DataTree) else trace.to_datatree()
        posterior = tree["posterior"].to_dataset()[self.names]
        return posterior.drop_attrs(), _statistics(tree["sample_stats"].to_dataset())

    def _by_nutpie(self, settings, seed, density, progress):
        used = {name: x for name, x in density.arrays.items() if name in self._used}
        compiled = self._nutpie.with_data(**used) if used else self._nutpie
        return nutpie.sample(compiled, settings, seed, progress, low_rank_modified_mass_matrix=density.low_rank)

    def _by_pymc(self, settings, seed, density, progress):
        pm = pymc()
        with self.model:
            pm.set_data({name: x for name, x in density.arrays.items() if name in self.model.named_vars})
            return pm.sample(
                **settings.asked,
                random_seed=seed,
                progressbar=progress,
                compute_convergence_checks=False,
                nuts_sampler="pymc",
                cores=settings.workers,
            )


def _statistics(stats):
    """Return per-draw statistics under ArviZ's names, whichever sampler made them."""
    statistics = {}
    for field, ours in STATISTICS.items():
        if field in stats and ours not in statistics and stats[field].dims == ("chain", "draw"):
            statistics[ours] = stats[field].drop_attrs()
    return xr.Dataset(statistics)

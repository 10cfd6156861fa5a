"""Check whether intervals cover as often as stated: a law is fitted to many tables simulated from it at a real design.

Truths are drawn from the prior (simulation-based calibration [1]_), drawn from the posterior of a table, or are known
values. If they come from a posterior, the simulated rows are fitted together with the rows of that table (posterior
calibration [2]_). Where fits are right, the place of a drawn truth among the draws of its fit is uniform, whatever the
law.

References
----------
.. [1] Talts, S. et al. (2018). Validating Bayesian inference algorithms with simulation-based calibration.
   arXiv:1804.06788.
.. [2] Saeilynoja, T. et al. (2025). Posterior SBC: simulation-based calibration checking conditional on data.
   arXiv:2502.03279.
.. [3] Modrak, M. et al. (2023). Simulation-based calibration checking for Bayesian computation: the choice of test
   quantities shapes sensitivity. Bayesian Analysis.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets import netcdf
from ...datasets.printed import Printed, PrintedTable, Text, drawn_by
from ...datasets.progress_messages import counted
from ...datasets.reader import TableSource, as_table
from ...datasets.wording import p_value, printable, unknown
from ...errors import DiagnosticWarning, InputError
from ...models.draws import flatten
from ...models.law import Law
from ...models.laws import as_law
from ..fitter import Fitter
from ..record import table_entry, versions
from ..samplers.choose import choose
from ..settings import seed_of, settings_of
from ..workers import mapped
from . import chains, uniformity
from .uniformity import RANKS, UNLIKELY, not_uniform, p_uniform

TRUTHS = ("posterior", "prior")
LEVELS = (0.5, 0.9)
MOST = 20  # quantities that are printed
OF_A_QUANTITY = ("truth", "median", "sd", "rank")
OF_A_FIT = ("divergences", "r_hat", "converged")
KEY = "bayescaling_calibration"
SHORT = {"draws": 500, "tune": 500}
LOG_LIKELIHOOD = "log_likelihood"


def calibrate(
    law: Law | str,
    table: TableSource,
    *,
    truth: str | Mapping[str, float] = "posterior",
    simulations: int = 100,
    seed: int = 1,
    sampler: str | None = None,
    fitter: Fitter | None = None,
    out: str | PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> Calibration:
    """Fit a law to many tables simulated from it and record where the truths lie among the draws.

    Parameters
    ----------
    law : Law or str
        A law or its name.
    table : DataFrame, path, str or mapping
        The design: rows as for `fit`. Its observations matter where truths are drawn from the posterior.
    truth : {"posterior", "prior"} or mapping of str to float
        Where truths come from. A mapping has the value of every free parameter of a law of losses or of scores. It is
        the same in every simulation, and simulated tables are then fitted alone. Models and benchmarks of a law of
        scores are drawn again each time.
    simulations : int
    seed : int
        Simulation s depends on this, the settings and s alone, so that more simulations begin with the same ones.
    sampler : str, optional
    fitter : Fitter, optional
        Of this law and table, compiled before.
    out : path-like, optional
        A netCDF file, written after every simulation. If it holds fewer simulations, the rest are added.
    progress : bool
        Show a progress bar on standard error.
    **settings
        As for `fit`, with 500 draws and 500 of warm-up.

    Returns
    -------
    Calibration
        A Dataset that prints its coverage; ``.table()`` sums it up. Dims are simulation and quantity: sampled and
        derived quantities, and the log likelihood of the simulated rows, which shows errors that the others hide [3]_.
        ``truth``, posterior ``median``, ``sd`` and ``rank`` have both dims. A rank counts the draws below the truth
        among 99 evenly spaced ones. ``divergences``, ``r_hat`` and ``converged`` are by simulation. Quantities that
        never vary are left out.

    Raises
    ------
    InputError
        If an option cannot be used, or `out` holds another calibration.

    Warns
    -----
    DiagnosticWarning
        If the chains that truths are drawn from did not converge; fits to simulated tables that failed are counted.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> law = bs.laws.Chinchilla(noise="normal")
    >>> calibration = bs.calibrate(law, runs, simulations=2, seed=1, draws=200, tune=300, chains=2)
    >>> calibration["rank"].sizes["simulation"]
    2
    """
    law = as_law(law)
    if not isinstance(truth, Mapping) and truth not in TRUTHS:
        raise InputError(unknown("truth", truth, TRUTHS))
    if not isinstance(simulations, int) or isinstance(simulations, bool) or simulations < 2:
        raise InputError(f"simulations is {simulations!r}; give a whole number of at least 2")
    law.check_calibration(truth)
    seed, settings = seed_of(seed), SHORT | settings
    sampling = settings_of(settings)
    needed = max(RANKS - 1, simulations if truth == "posterior" else 0)
    if sampling.draws * sampling.chains < needed:
        raise InputError(
            f"draws is {sampling.draws} with {sampling.chains} chains; {simulations} simulations and ranks need at "
            f"least {needed} in all"
        )
    if truth == "posterior" or not isinstance(table, pd.DataFrame) or law.observed in table:
        table = as_table(table, law.kind, law.needed)
    record = {
        "law": {"name": law.name, "options": law.options},
        "data": table_entry(table),
        "truth": dict(truth) if isinstance(truth, Mapping) else truth,
        "seed": seed,
        "sampler": choose(sampler),
        "settings": {name: value for name, value in settings.items() if name != "cores"},
    }
    done = _begun(out, record)
    if len(done) < simulations:
        if truth != "posterior" and law.observed not in table:  # which does not matter
            table = PrintedTable.of(table.assign(**{law.observed: 1.0}))
        fitter = fitter or Fitter(law, table, sampler=record["sampler"])
        shared = _Simulations(fitter, truth, _source(fitter, truth, seed, settings, progress), seed, settings)
        left, text = range(len(done), simulations), f"{law.label}: fitting simulated tables"
        fitted = mapped(_Simulations.fitted, shared, left)
        for one in counted(fitted, text, progress, total=simulations, done=len(done)):
            done.append(one)
            if out is not None:
                netcdf.write(_dataset(done, record), out)
    return _dataset(done[:simulations], record)


def _source(fitter, truth, seed, settings, progress):
    """Draw the posterior that truths come from, None where they come from elsewhere."""
    if isinstance(truth, Mapping) or truth == "prior":
        return None
    sampled = fitter.sample(seed=seed, progress=progress, least_ess=0, **settings)
    chains.warn(fitter.law, sampled.diagnostics)
    return sampled.posterior.assign(z=sampled.draws.real_line())


@dataclass(frozen=True)
class _Simulations:
    """What all simulations of a calibration follow from, each by its number."""

    fitter: Fitter
    truth: object
    posterior: xr.Dataset | None
    seed: int
    settings: dict

    def truth_of(self, s):
        """Return the truth of a simulation, `Draws` of one draw."""
        law, rows, reference = self.fitter.of()
        if isinstance(self.truth, Mapping):
            return law.prior_draws(np.random.default_rng([self.seed, 0, s]), reference, rows, truth=self.truth)
        if self.truth == "prior":
            return _prior_truth(self.fitter, np.random.default_rng([self.seed, 0, s]))
        chains, length = self.posterior.sizes["chain"], self.posterior.sizes["draw"]
        chosen = np.random.default_rng([self.seed, 0]).permutation(chains * length)[s]
        return law.draws(self.posterior.isel(chain=[chosen % chains], draw=[chosen // chains]), rows, reference)

    def fitted(self, s):
        """Simulate a table, fit it and place the truth among the draws."""
        law, rows, _ = self.fitter.of()
        truth = self.truth_of(s)
        replicated = truth.replicate(np.random.default_rng([self.seed, 1, s])).values[0, 0]
        simulated = law.with_observed(rows, replicated)
        fitted = law.join_simulated(rows, simulated) if self.truth == "posterior" else simulated
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticWarning)
            sampled = self.fitter.sample(fitted, seed=(self.seed + s) % 2**31, least_ess=0, **self.settings)
        true = _scalars(truth.named(), truth, simulated)
        columns = {}
        for name, x in _scalars(sampled.posterior, sampled.draws, simulated).items():
            flat = np.asarray(x, float).T.reshape(-1)
            if flat.min() == flat.max():
                continue
            thinned = flat[np.linspace(0, len(flat) - 1, RANKS - 1).round().astype(int)]
            value = float(np.ravel(true[name])[0])
            columns[name] = (value, np.median(flat), flat.std(ddof=1), int((thinned < value).sum()))
        diagnostics = sampled.diagnostics
        return {
            "columns": pd.DataFrame.from_dict(columns, orient="index", columns=OF_A_QUANTITY),
            "divergences": diagnostics["divergences"],
            "r_hat": diagnostics["r_hat_max"] if diagnostics["r_hat_max"] is not None else np.nan,
            "converged": diagnostics["ok"],
        }


def _prior_truth(fitter, rng):
    """Return a draw of the prior that can be simulated: draws that no table could state are drawn again."""
    law, rows, reference = fitter.of()
    while True:
        truth = law.prior_draws(rng, reference, rows)
        if truth.can_be_simulated:
            return truth


def _scalars(named, draws, simulated):
    """Return scalars by name, with the log likelihood of the simulated rows."""
    return flatten(named) | {LOG_LIKELIHOOD: draws.total_log_likelihood(simulated).values}


def _dataset(done, record):
    first = done[0]["columns"]
    dataset = xr.Dataset(
        {
            name: (("simulation", "quantity"), np.stack([one["columns"].loc[first.index, name] for one in done]))
            for name in first
        }
        | {name: ("simulation", [one[name] for one in done]) for name in OF_A_FIT},
        {"simulation": np.arange(len(done)), "quantity": list(first.index)},
    )
    dataset["rank"] = dataset["rank"].astype(int)
    return Calibration(dataset.data_vars, dataset.coords, {KEY: json.dumps(record | {"versions": versions()})})


def _begun(out, record):
    """Read the simulations that a file holds."""
    if out is None or not Path(out).exists():
        return []
    dataset = open_calibration(out)
    stored = dataset.record
    different = [name for name in record if json.loads(json.dumps(record[name])) != stored.get(name)]
    if different:
        raise InputError(
            f"{out}: holds a calibration with another {' and '.join(different)}; name another file or delete it"
        )
    by_quantity = dataset[list(OF_A_QUANTITY)].drop_vars("simulation")
    return [
        {"columns": by_quantity.isel(simulation=s).to_dataframe()}
        | {name: dataset[name].values[s] for name in OF_A_FIT}
        for s in range(dataset.sizes["simulation"])
    ]


def open_calibration(path):
    """Open what `calibrate` wrote, refusing a file that is missing or damaged, or is no calibration."""
    dataset = netcdf.read(path, xr.open_dataset)
    if KEY not in dataset.attrs or not {*OF_A_QUANTITY, *OF_A_FIT} <= {*dataset}:
        raise InputError(f"{printable(path)}: is no calibration; name a file that 'calibrate' wrote")
    return Calibration(dataset.data_vars, dataset.coords, dataset.attrs)


class Calibration(Printed, xr.Dataset):
    """What `calibrate` returns: a Dataset that prints whether intervals cover as often as stated."""

    __slots__ = ()

    plot = drawn_by("plot_calibration")

    @property
    def record(self):
        """What was calibrated: law, data, truth, seed, settings, versions."""
        return json.loads(self.attrs[KEY])

    tree = property(uniformity.tree)

    def table(self, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
        """Sum the simulations up, a row a quantity.

        Parameters
        ----------
        levels : sequence of float
            Of central intervals.

        Returns
        -------
        DataFrame
            ``error``, the mean over simulations of (median - truth)/sd, with its ``error_se``; ``coverage_50`` and the
            like, shares of simulations, by ranks; and ``p_uniform``. This is the probability of ranks as far from
            uniform as these, if they were uniform. With a truth that is the same in every simulation, ``truth``,
            ``bias`` (mean of median - truth), ``bias_se`` and ``sd`` (mean posterior standard deviation) come before.
            There is no probability then, for ranks of one truth are not uniform. ``attrs`` has ``simulations`` and
            ``not_converged``, those whose fit failed a diagnostic; they are counted with the rest.
        """
        simulations = self.sizes["simulation"]
        fixed = isinstance(self.record["truth"], dict)
        rows = {}
        for name in self["quantity"].values:
            one = self.sel(quantity=name)
            error = (one["median"] - one["truth"]).values
            row = {}
            if fixed and name != LOG_LIKELIHOOD:
                row = {"truth": float(one["truth"][0]), **_mean("bias", error), "sd": float(one["sd"].mean())}
            elif fixed:
                continue
            place = (one["rank"].values + 0.5) / RANKS
            row |= _mean("error", error / one["sd"].values)
            row |= {f"coverage_{100 * level:g}": float((abs(place - 0.5) < level / 2).mean()) for level in levels}
            rows[str(name)] = row if fixed else row | {"p_uniform": p_uniform(one["rank"].values)}
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.attrs |= {"simulations": simulations, "not_converged": int((~self["converged"].astype(bool)).sum())}
        return table

    def text(self):
        """Return what is printed; None of a part of it."""
        if KEY not in self.attrs or not {*OF_A_QUANTITY, *OF_A_FIT} <= {*self.data_vars}:
            return None
        table, truth = self.table(), self.record["truth"]
        cells = {"error in sd": [f"{row['error']:+.2f} ± {row['error_se']:.2f}" for _, row in table.iterrows()]}
        cells |= {f"{level:.0%} covers": table[f"coverage_{100 * level:g}"].map("{:.0%}".format) for level in LEVELS}
        if "p_uniform" in table:
            cells["p uniform"] = [p_value(p, "") for p in table["p_uniform"]]
        shown = pd.DataFrame(cells, table.index)
        source = "known values" if isinstance(truth, dict) else f"truths from the {truth}"
        title = f"{self.record['law']['name']} fitted to {table.attrs['simulations']} simulated tables, {source}"
        more = [f"The first {MOST} of {len(shown)} quantities; the table has all"] if len(shown) > MOST else []
        return Text(title, shown.head(MOST), (*more, *sentences(table)))


def sentences(table):
    """Return in sentences what `Calibration.table` shows, with the fits that failed a diagnostic."""
    simulations, failed, texts = table.attrs["simulations"], table.attrs["not_converged"], []
    if "p_uniform" in table and (names := not_uniform(table)):
        texts.append(f"Ranks are not uniform for {', '.join(names)}: intervals do not cover as often as they state")
    elif "p_uniform" in table:
        texts.append(f"No rank departs from uniform at {UNLIKELY:.0%} in {simulations} simulations, tested together")
    if failed:
        texts.append(f"{failed} of {simulations} fits failed a diagnostic and are counted with the rest")
    return texts


def _mean(name, values):
    return {name: float(values.mean()), f"{name}_se": float(values.std(ddof=1) / len(values) ** 0.5)}

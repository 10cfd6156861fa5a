"""What runs leave: an xarray data set of each, one of all, and tables that `bayescaling.read` takes as they are."""

import functools
import json
import math
import platform

import numpy as np
import pandas as pd
import torch
import xarray as xr

from ..datasets.wording import printable, shortened
from ..errors import InputError
from .files import written_whole
from .hardware import device_name

MEASURED = ("loss_train", "loss_eval", "loss_eval_se", "loss_oracle", "excess", "excess_se", "wall_seconds")
UNITS = {
    **dict.fromkeys(MEASURED[:-1], "nats per token"),
    "wall_seconds": "s",
    "tokens": "tokens",
    "flop": "FLOP",
    "parameters": "parameters, gains of norms apart",
    "parameters_nonembedding": "parameters, gains of norms apart",
}
COLUMNS = {
    "parameters": "parameters",
    "tokens": "tokens",
    "flop": "training_flop",
    "loss_eval": "loss",
    "d_model": "d_model",
    "vocabulary": "vocabulary",
    "parameters_nonembedding": "parameters_nonembedding",
    "loss_eval_se": "loss_se",
    "loss_oracle": "loss_oracle",
    "excess": "excess",
    "excess_se": "excess_se",
    "layers": "layers",
    "context": "context",
    "schedule": "schedule",
    "learning_rate_peak": "learning_rate_peak",
    "budget_fraction": "budget_fraction",
    "annealed": "annealed",
    "seed": "seed",
    "scheme": "scheme",
    "run": "run",
}
ENTROPY = {"entropy": "irreducible_loss", "entropy_se": "irreducible_loss_se"}


def record(configuration, outcome, device, precision):
    """Record of one run.

    Parameters
    ----------
    configuration : Run
    outcome : Outcome
        Finished or diverged; what a diverged run did not reach is NaN.
    device : torch.device
    precision : str

    Returns
    -------
    xarray.Dataset
        Dimensions run (of length 1) and step (updates). Variables loss_train (mean since the evaluation before),
        loss_eval and loss_eval_se, loss_oracle (the true law on the same tokens), excess (loss_eval - loss_oracle) and
        excess_se, in nats per token; learning_rate, tokens, flop (6 N_T D) and wall_seconds. What describes the run are
        coordinates along run. Attributes give versions, the configuration, and for a corpus of known law the entropy
        that no loss can be below, with its standard error.
    """
    found = {values["step"]: values for values in outcome.evaluations}
    steps = np.array(sorted(found))
    model, optimisation = configuration.model, configuration.optimisation
    variables = {name: [found[step].get(name, math.nan) for step in steps] for name in MEASURED}
    tokens = steps * configuration.batch_tokens
    variables |= {
        "learning_rate": [optimisation.rate(step - 1) for step in steps],
        "tokens": tokens.astype(float),
        "flop": model.training_flop(tokens.astype(float)),
    }
    described = {
        "parameters": model.parameters,
        "parameters_nonembedding": model.parameters_nonembedding,
        "d_model": model.d_model,
        "layers": model.layers,
        "vocabulary": model.vocabulary,
        "context": model.context,
        "learning_rate_peak": optimisation.learning_rate,
        "schedule": optimisation.schedule,
        "updates": optimisation.updates,
        "budget_fraction": configuration.budget_fraction,
        "seed": configuration.seed,
        "device": device_name(device),
        "precision": precision,
        "status": outcome.status,
        "scheme": "",
    }
    dataset = xr.Dataset(
        {name: (("run", "step"), [values]) for name, values in variables.items()},
        {"run": [configuration.name], "step": steps} | {name: ("run", [value]) for name, value in described.items()},
    )
    dataset.attrs = {
        "versions": versions(),
        "configuration": json.dumps(configuration.configuration, sort_keys=True),
        "configuration_sha256_16": configuration.name,
    }
    if hasattr(configuration.corpus, "irreducible_loss"):
        entropy, error = _entropy(configuration.corpus, model.context)
        dataset.attrs |= {"entropy": entropy, "entropy_se": error}
    for name, unit in UNITS.items():
        dataset[name].attrs["units"] = unit
    return dataset


def merged(datasets, schemes, attributes):
    """All runs in one data set, over the union of their steps.

    Parameters
    ----------
    datasets : sequence of xarray.Dataset
        As `record` gives them.
    schemes : mapping of str to str
        Name of a run to the schemes it is part of, separated by spaces; an empty string for a candidate that lost.
    attributes : mapping
        Of the sweep.

    Returns
    -------
    xarray.Dataset
        Dimensions run and step; NaN where a run was not evaluated. Attributes that all runs share are kept.
    """
    whole = xr.concat(datasets, "run", join="outer", combine_attrs="drop_conflicts", data_vars="all", coords="minimal")
    whole = whole.assign_coords(scheme=("run", [schemes[name] for name in whole["run"].values]))
    whole.attrs |= attributes
    return whole


def table(dataset, scheme=None, *, curves=False):
    """Table of runs L(N, D), as `bayescaling.read` takes it.

    Parameters
    ----------
    dataset : xarray.Dataset
        As `merged` gives it.
    scheme : str, optional
        Keep the runs of this scheme; by default those of any.
    curves : bool
        Keep what a schedule that anneals passed on its way, too. Otherwise such a run gives its last evaluation alone,
        while every evaluation of a run at a constant rate is a run of that many tokens.

    Returns
    -------
    pandas.DataFrame
        A row a run: parameters (N_T), tokens, training_flop (6 N_T D), loss (nats per token), d_model, vocabulary,
        parameters_nonembedding, then loss_se, loss_oracle, excess, excess_se and what describes the run. `annealed` is
        the share of the schedule that was done. For a corpus of known law irreducible_loss and irreducible_loss_se are
        the entropy that no loss can be below on average. Rows without a finite loss are left out.
    """
    rows = dataset.to_dataframe().reset_index()
    rows["annealed"] = rows["step"] / rows["updates"]
    wanted = rows["scheme"].str.split().map(lambda names: bool(names) if scheme is None else scheme in names)
    ended = (rows["schedule"] == "constant") | (rows["annealed"] == 1)
    rows = rows[np.isfinite(rows["loss_eval"]) & wanted & (ended | curves)]
    known = {column: dataset.attrs[name] for name, column in ENTROPY.items() if name in dataset.attrs}
    return rows[list(COLUMNS)].rename(columns=COLUMNS).assign(**known).reset_index(drop=True)


def write_dataset(dataset, path):
    """Write a data set as netCDF-4, whole or not at all.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    with written_whole(path) as partial:
        try:
            dataset.to_netcdf(partial, engine="h5netcdf")
        except (RuntimeError, ValueError) as error:
            raise OSError(None, shortened(str(error).splitlines()[0])) from error


def read_dataset(path):
    """Read a data set that `write_dataset` wrote, into memory.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    try:
        with xr.open_dataset(path, engine="h5netcdf", decode_timedelta=False) as dataset:
            return dataset.load()
    # What a damaged file raises depends on where the damage lies.
    except Exception as error:
        reason = shortened((str(error).splitlines() or [type(error).__name__])[0])
        raise InputError(f"{printable(path)}: the record is damaged ({reason}); delete it to train it again") from error


def write_table(rows, path):
    """Write a table as CSV, whole or not at all, with every digit.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    with written_whole(path) as partial:
        rows.to_csv(partial, index=False)


def versions():
    """Versions of Python and of what makes records, as JSON text."""
    found = {module.__name__: module.__version__ for module in (torch, np, pd, xr)}
    return json.dumps({"python": platform.python_version()} | found)


@functools.lru_cache(maxsize=16)
def _entropy(corpus, context):
    return corpus.irreducible_loss(context)

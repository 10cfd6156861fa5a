"""Records of runs of any kind: made, merged and read."""

import hashlib
import json
import math
import platform

import numpy as np
import pandas as pd
import torch
import xarray as xr

from ...datasets.wording import printable, shortened
from ...errors import InputError
from ..deviations import list_names
from ..engine.hardware import name_device


def record(run, outcome, counts, device, precision):
    """Make the record of one run, a dataset over run (of length 1), step (updates) and what `Run.counts` returned.

    A measured variable is NaN where a diverged run did not reach an evaluation.
    """
    evaluations = {values["step"]: values for values in outcome.evaluations}
    steps = np.array(sorted(evaluations))
    curves = {name: [evaluations[step].get(name, math.nan) for step in steps] for name in run.measured}
    curves |= {"learning_rate": [run.optimisation.rate(step - 1) for step in steps], **run.curves(steps)}
    coordinates = run.described | {
        "learning_rate_peak": run.optimisation.learning_rate,
        "seed": run.seed,
        "device": name_device(device),
        "precision": precision,
        "status": outcome.status,
        "deviations": "; ".join(list_names(run.deviations, run)),
    }
    dataset = counts.expand_dims(run=[run.name])
    dataset = dataset.assign({name: (("run", "step"), [values]) for name, values in curves.items()})
    coordinates = {name: ("run", [value]) for name, value in coordinates.items()}
    dataset = dataset.assign_coords({"step": steps} | coordinates)
    dataset.attrs = {
        "versions": versions(),
        "configuration": json.dumps(run.configuration, sort_keys=True),
        "configuration_sha256_16": run.name,
        **run.attributes,
    }
    for name, unit in run.units.items():
        dataset[name].attrs["units"] = unit
    return dataset


def merged(planned, results, groups, label):
    """Merge the records of planned runs, by name in `results`, over the union of their steps, by `xarray.concat`.

    `groups` has the names of the runs of each group, in order. The coordinate `label` along run gets the names of its
    groups, separated by spaces; it is empty if the run is in none. Where a run has no value of a variable, numbers are
    NaN, whole numbers 0 and texts empty. The result has the attributes that all runs share. ``sweep`` has the names of
    the groups, and ``sha256`` is a hash of the names of all planned runs.
    """
    planned = list(dict.fromkeys(run.name for run in planned))
    datasets = [results[name] for name in planned if name in results]
    types = {name: variable.dtype.kind for dataset in datasets for name, variable in dataset.data_vars.items()}
    options = {"combine_attrs": "drop_conflicts", "data_vars": "all", "coords": "minimal"}
    options["fill_value"] = {name: {"f": math.nan, "O": "", "U": ""}.get(kind, 0) for name, kind in types.items()}
    whole = xr.concat(datasets, "run", join="outer", **options)
    names = [" ".join(group for group, runs in groups.items() if name in runs) for name in whole["run"].values]
    whole = whole.assign_coords({label: ("run", names)})
    fingerprint = hashlib.sha256(json.dumps(sorted(planned)).encode()).hexdigest()
    whole.attrs |= {"sweep": json.dumps(list(groups)), "sha256": fingerprint}
    return whole


def read_dataset(path):
    """Read a data set that `netcdf.write` wrote, into memory; raise `InputError` if the file is damaged."""
    try:
        with xr.open_dataset(path, engine="h5netcdf", decode_timedelta=False) as dataset:
            return dataset.load()
    # The exception depends on which bytes are damaged.
    except Exception as error:
        reason = shortened((str(error).splitlines() or [type(error).__name__])[0])
        raise InputError(f"{printable(path)}: the record is damaged ({reason}); delete it to train it again") from error


def versions():
    """Return the versions of Python and of the libraries that make records, as JSON text."""
    libraries = {module.__name__: module.__version__ for module in (torch, np, pd, xr)}
    return json.dumps({"python": platform.python_version()} | libraries)

"""From the options of a command to names and values, a table, a law and the sampler's settings."""

import json
from pathlib import Path

from .errors import InputError


def pairs(items, option):
    """Texts NAME=VALUE of a repeatable option, as a dictionary."""
    found = {}
    for item in items or []:
        name, sign, value = item.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError(f"{option} {item!r}: write NAME=VALUE")
        if name.strip() in found:
            raise InputError(f"{option} {name.strip()!r} is given twice")
        found[name.strip()] = value.strip()
    return found


def values(items):
    """Texts NAME=VALUE of ``--option``, a value read as JSON where it is JSON."""
    found = {}
    for name, text in pairs(items, "--option").items():
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def runs_from(data, column, ignore, perplexity):
    """Read a table of runs: a built-in one, or a file with the options on its columns."""
    from .datasets import catalogue, load, read

    if data in set(catalogue()["name"]) and not Path(data).exists():
        if column or ignore or perplexity:
            raise InputError(f"--column, --ignore and --perplexity are for files, not for the built-in table {data!r}")
        return load(data)
    return read(data, columns=pairs(column, "--column"), ignore=ignore or (), perplexity=perplexity)


def table_for(law, data, fitting):
    """Read the table that a law is fitted to; without `data` the built-in one.

    Parameters
    ----------
    law : Law
    data : str or None
        A built-in table or a file.
    fitting : Fitting
    """
    from .models import Configurations, Lengths, Progress
    from .models.configurations import chinchilla_configurations, configurations_of

    column, ignore, perplexity = fitting.column, fitting.ignore, fitting.perplexity
    if isinstance(law, Configurations):
        return configurations_of(runs_from(data, column, ignore, perplexity)) if data else chinchilla_configurations()
    if not isinstance(law, Lengths | Progress):
        return runs_from(data or "chinchilla_runs", column, ignore, perplexity)
    from .datasets import load, read_counts, read_evaluations

    built_in, reader = (
        ("arithmetic_runs", read_counts) if isinstance(law, Lengths) else ("lm_progress", read_evaluations)
    )
    if ignore or perplexity:
        raise InputError(f"--ignore and --perplexity are for tables of runs with losses, not for the law {law.name!r}")
    if data not in (None, built_in):
        return reader(data, columns=pairs(column, "--column"))
    if column:
        raise InputError(f"--column is for files, not for the built-in table {built_in!r}")
    return load(built_in)


def law_named(name, fitting):
    """Make the law called `name` with the priors, the noise and the options that a `Fitting` holds."""
    from . import models

    noise = {
        "noise": fitting.noise,
        "scale": fitting.scale,
        "threshold": fitting.threshold,
        "measurement_error": fitting.measurement_error or None,
    }
    chosen = {option: value for option, value in noise.items() if value is not None} | values(fitting.option)
    return models.law(name, priors=pairs(fitting.prior, "--prior"), **chosen)


def sampler_settings(fitting):
    """Take the sampler's settings from a `Fitting`; those not given are left out."""
    always = {name: getattr(fitting, name) for name in ("seed", "sampler", "draws", "tune", "chains")}
    given = {name: getattr(fitting, name) for name in ("cores", "target_accept")}
    return always | {name: value for name, value in given.items() if value is not None}

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


def values(items, option="--option"):
    """Texts NAME=VALUE of a repeatable option, a value read as JSON where it is JSON."""
    found = {}
    for name, text in pairs(items, option).items():
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def runs_from(data, column, ignore, perplexity):
    """Read a table of runs: a built-in one, or a file with the options on its columns."""
    from .datasets import KINDS

    return _read(KINDS["runs"], data, column, ignore, perplexity)


def _read(kind, data, column, ignore, perplexity):
    """Read a table of a kind: a built-in one, or a file with the options that its reader takes."""
    from .datasets import catalogue, load

    asked = {"columns": pairs(column, "--column"), "ignore": ignore, "perplexity": perplexity}
    asked = {name: value for name, value in asked.items() if value}
    if data in set(catalogue()["name"]) and not Path(data).exists():
        if asked:
            raise InputError(f"--column, --ignore and --perplexity are for files, not for the built-in table {data!r}")
        return load(data)
    for name in asked:
        if name not in kind.options:
            raise InputError(f"--{name} is for tables of runs with losses, not for tables of {kind.name}")
    return kind.read(data, **asked)


def table_for(law, data, fitting):
    """Read the table that a law is fitted to; without `data` the law's usual one.

    Parameters
    ----------
    law : Law
    data : str or None
        A built-in table or a file.
    fitting : Fitting
    """
    from .datasets import KINDS

    asked = fitting.column, fitting.ignore, fitting.perplexity
    if data is None and any(asked):
        built_in = KINDS[law.kind].built_in
        raise InputError(
            f"--column, --ignore and --perplexity are for files, not for the built-in table {built_in!r}; name a file "
            "with --data"
        )
    return law.usual_table() if data is None else _read(KINDS[law.kind], data, *asked)


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

"""From the options of a command to names and values, a table, a law and the sampler's settings."""

import json
from pathlib import Path

from ..errors import InputError

# Parameters of a reader, and those that tell how to read columns of a file.
_OF_COLUMNS = ("columns", "ignore", "perplexity", "unit", "bytes_per_token")
MOST_NUMBERS = 1000  # in one range: more are a slip of the pen
_OPTION = {"columns": "--column"}
_READ = ("ignore", "perplexity", "bytes_per_token", "where", "drop_missing", "last_of", "best_of", "drop_highest")


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
        except (ValueError, RecursionError):
            found[name] = text
    return found


def numbers(texts, option):
    """Numbers of a repeatable option, each a number or a range LOW:HIGH:COUNT evenly spaced in logarithms.

    Examples
    --------
    >>> numbers(["1e20:1e22:3", "5e22"], "--compute")
    [1e+20, 1e+21, 1e+22, 5e+22]
    """
    return [x for text in texts for x in _numbers(text, option)]


def _numbers(text, option):
    parts = text.split(":")
    try:
        if len(parts) == 1:
            return [float(text)]
        low, high, count = float(parts[0]), float(parts[1]), int(parts[2])
        if len(parts) == 3 and 0 < low < high < float("inf") and 2 <= count <= MOST_NUMBERS:
            return [float(f"{low * (high / low) ** (i / (count - 1)):.12g}") for i in range(count)]
    except (ValueError, IndexError):
        pass
    raise InputError(
        f"{option} {text!r}: write a number, or LOW:HIGH:COUNT with 0 < LOW < HIGH and 2 to {MOST_NUMBERS} of them"
    )


def runs_from(data, reading):
    """Read a table of runs: a built-in one, or a file with the options on its columns; every row of highest loss too.

    Parameters
    ----------
    data : str
    reading : Reading
    """
    from ..datasets import KINDS

    return _read(KINDS["runs"], data, _asked(reading) | {"drop_highest": 0})


def _asked(reading):
    """Say what a reader is asked, by the names of its parameters."""
    return {
        "columns": pairs(reading.column, "--column"),
        "unit": values(reading.unit, "--unit"),
        **{name: getattr(reading, name) for name in _READ},
    }


def _read(kind, data, asked, needed=()):
    """Read a table of a kind: a built-in one, or a file, with the options that its reader takes."""
    from pandas import DataFrame

    from ..datasets import catalogue, load, read

    asked = {name: value for name, value in asked.items() if value not in (None, False, 0, (), [], {})}
    for name in asked:
        if name not in kind.options:
            raise InputError(f"{_option(name)} is for tables of runs with losses, not for tables of {kind.name}")
    if isinstance(data, str) and data in set(catalogue()["name"]) and not Path(data).exists():
        _refuse_columns(asked, data)
        data = load(data)
    if isinstance(data, DataFrame) and not asked:
        return data
    return read(data, kind.name, **asked, **({"needed": needed} if needed and "needed" in kind.options else {}))


def _option(name):
    return _OPTION.get(name, f"--{name.replace('_', '-')}")


def _refuse_columns(asked, built_in, mend=""):
    given = [_option(name) for name in _OF_COLUMNS if asked.get(name)]
    if given:
        raise InputError(f"{' and '.join(given)}: for files, not for the built-in table {built_in!r}{mend}")


def table_for(law, data, fitting):
    """Read the table that a law is fitted to; without `data` the law's usual one.

    Parameters
    ----------
    law : Law
    data : str or None
        A built-in table, or a file.
    fitting : Fitting
    """
    from ..datasets import KINDS

    kind, asked = KINDS[law.kind], _asked(fitting)
    if data is None:
        _refuse_columns(asked, kind.built_in, "; name a file with --data")
    return _read(kind, law.usual_table() if data is None else data, asked, law.needed)


def law_named(name, fitting, **options):
    """Make the law called `name` with the priors, the noise, the options and the groups that a `Fitting` holds.

    Other `options` stand where it does not give them.
    """
    noise = {
        "noise": fitting.noise,
        "scale": fitting.scale,
        "threshold": fitting.threshold,
        "measurement_error": fitting.measurement_error or None,
    }
    given = {option: value for option, value in noise.items() if value is not None} | values(fitting.option)
    return in_groups(name, options | given, pairs(fitting.prior, "--prior"), fitting)


def in_groups(name, chosen, priors, grouping):
    """Make the law called `name` with chosen options and priors, of groups where a `Grouping` names their column."""
    from .. import models

    grouped = grouping_options(grouping)
    if not grouped:
        return models.law(name, priors=priors, **chosen)
    return models.law("grouped", law={"name": name, "options": chosen}, priors=priors, **grouped)


def grouping_options(grouping):
    """Options of a grouped law, none without groups."""
    lists = {name: getattr(grouping, name) for name in ("pooled", "shared")}
    given = {
        name: [x.strip() for x in text.split(",") if x.strip()] for name, text in lists.items() if text is not None
    }
    if grouping.group is None:
        if given:
            raise InputError(f"--{next(iter(given))}: for groups of rows; name their column with --group")
        return {}
    return {"by": grouping.group} | given


def sampler_settings(fitting):
    """Take the sampler's settings from a `Fitting`; those not given are left out."""
    always = {name: getattr(fitting, name) for name in ("seed", "sampler", "draws", "tune", "chains")}
    given = {name: getattr(fitting, name) for name in ("cores", "target_accept")}
    return always | {name: value for name, value in given.items() if value is not None}

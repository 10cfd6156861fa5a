"""Readings of one run, which are no independent rows: of a column of runs, or of one size without such a column."""

import numpy as np
from pandas.api.types import is_hashable, is_numeric_dtype

from ...errors import InputError, TableWarning
from ..checks import warn
from ..columns import RUN, SIZES
from ..fixes import EFFECTS, Fix
from ..selection import hashable
from ..text import FORECAST
from ..wording import listed
from .names import means

MOST_OF_ROWS = 0.8  # share of the rows that belong to runs with several readings
READINGS = 3  # of such a run
# Readings of one size without a column of runs: a planned grid has fewer token counts, or spaces them by a ratio.
EVEN, EVEN_WITH_A_CLOCK = 7, 4  # evenly spaced in a row
MANY, WIDE = 8, 1e4  # of one size, nearer to even than to a ratio, or the most tokens so many times the fewest
ROUGHLY, EXACTLY = 0.5, 0.03  # variation of gaps


def check_readings(runs, names, label, *, declared=False, expected=False, started=False, separate=False):
    """Refuse rows that are readings of one run; warn where the column is `declared`, not where `expected`.

    `names` has the columns of the file by canonical name. `started` states that tokens count from the start of a run,
    and `separate` that the user takes rows of one size for separate runs.
    """
    sizes = [name for name in SIZES if name in runs]
    if (expected and RUN in runs) or "tokens" not in sizes or any(runs[name].dtype != "float64" for name in sizes):
        return
    runs = runs[np.isfinite(runs[sizes]).all(axis=1) & (runs["tokens"] > 0)]
    if not (keys := find_keys_of_runs(runs, started, separate)):
        return
    text = f"{describe_readings(runs, keys)}; take the last of each with {take_last_of(keys)}"
    if declared:
        warn(f"{label}: {text}, or {EFFECTS}", TableWarning)
        return
    column = names.get(keys[0], keys[0] if keys[0] in runs and keys[0] not in SIZES else None)
    effects = Fix(columns={RUN: str(column)}) + EFFECTS
    share = f", or let them share an effect with {effects}" if column and len(keys) == 1 else ""
    aside = take_last_of([*keys, "tokens"]) if "parameters" in keys else Fix(ignore=(keys[0],))
    ways = {"Take the last of each": take_last_of(keys)} | ({"Let them share an effect": effects} if share else {})
    raise InputError(
        f"{label}: {text}{share}, or forecast the end of a run with {FORECAST}; if each row is a run, {aside}",
        f"{label}: {describe_readings(runs, keys)}",
        ways | {"If each row is a run": aside},
    )


def find_keys_of_runs(runs, started=False, separate=False):
    """Return the columns whose values are runs with several readings: one that names runs, or sizes and settings."""
    for header in sorted(runs.columns, key=lambda name: name != RUN):
        sure = means(header, "run")
        named = sure or (means(header, "name") and not is_numeric_dtype(runs[header]))
        if named and _has_readings(runs, header, sure):
            return [header]
    separate = separate or any(
        means(x, "run") and runs[x].map(is_hashable).all() and runs[x].is_unique for x in runs.columns
    )
    if separate or "parameters" not in runs:
        return []
    settings = [
        header
        for header in runs.columns.difference([*SIZES, "loss"], sort=False)
        if 1 < hashable(runs[header]).nunique() <= len(runs) / READINGS
    ]
    clock = started or any(means(x, "clock") for x in runs)
    for keys in (["parameters"], *(["parameters", header] for header in settings), ["parameters", *settings]):
        if (groups := _rising(runs, keys)) is not None:
            seem = groups["tokens"].apply(lambda x: _seem_readings(np.sort(x.to_numpy()), clock))
            return keys if seem.mean() > 0.5 else []
    return []


def describe_readings(runs, keys):
    """Return how many readings of how many runs there are, by columns whose values are runs."""
    groups = runs.groupby([hashable(runs[key]) for key in keys], sort=False).size()
    named = f"column {listed(keys)} names" if len(keys) == 1 else f"columns {listed(keys)} name"
    count = f"{len(groups)} runs with {groups[groups > 1].median():.0f} rows each"
    return f"{named} {count} of one size and rising tokens: readings of one run are not independent"


def take_last_of(keys):
    """Return the fix that takes the last row of each value of columns."""
    return Fix(others={"last_of": ",".join(map(str, keys))})


def _has_readings(runs, header, sure):
    """Return whether most rows are readings of the runs that a column names.

    A column that may also name a size does so unless readings are evenly spaced or several names have one size.
    """
    if (groups := _rising(runs, [header])) is None:
        return False
    several = "parameters" in runs and groups.ngroups > 1.5 * runs["parameters"].nunique()
    return sure or several or groups["tokens"].apply(lambda x: _count_even(x) == len(x)).mean() > 0.5


def _rising(runs, keys):
    """Return the rows by group, if most are of groups of one size with several rows of different tokens, or None."""
    rows = runs[runs[keys].notna().all(axis=1)]
    groups = rows.groupby([hashable(rows[key]) for key in keys], sort=False)
    several = groups["tokens"].transform("size") >= READINGS
    sizes = groups["parameters" if "parameters" in rows else "tokens"]
    one_size = sizes.transform("max") <= sizes.transform("min") * (1 + 1e-6) if "parameters" in rows else True
    rising = ~rows.assign(group=groups.ngroup()).duplicated(["group", "tokens"], keep=False)
    return groups if len(rows) and (several & one_size & rising).sum() >= MOST_OF_ROWS * len(runs) else None


def _seem_readings(tokens, clock):
    """Return whether sorted tokens of one size are spaced as readings of a run are."""
    if len(tokens) < READINGS:
        return False
    gaps, ratios = np.diff(tokens), np.diff(np.log(tokens))
    roughly_even = gaps.std() / gaps.mean() < min(ROUGHLY, ratios.std() / ratios.mean())
    if len(tokens) >= MANY and (tokens[-1] > WIDE * tokens[0] or roughly_even):
        return True
    return _count_even(tokens) >= (EVEN_WITH_A_CLOCK if clock else EVEN)


def _count_even(tokens):
    """Return how many tokens in a row are evenly spaced, as readings are; runs of a study are spaced by a ratio."""
    gaps = np.diff(np.sort(tokens))
    longest = length = min(len(gaps), 1)
    for gap, before in zip(gaps[1:], gaps, strict=False):
        length = length + 1 if abs(gap - before) <= EXACTLY * before else 1
        longest = max(longest, length)
    return longest + 1

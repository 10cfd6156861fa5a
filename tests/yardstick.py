"""Print in what two report folders differ: ``python tests/yardstick.py BEFORE AFTER``.

Every number of ``results.json`` and every array of every posterior is compared to the last digit. What the clock
and the installation write (seconds, versions, dates) is left out. Exit status 0 where nothing differs, else 1.
"""

import json
import sys
from pathlib import Path

import numpy as np
import xarray as xr

LEFT_OUT = ("seconds", "versions", "created", "compile", "sample")
MOST = 20


def leaves(value, path=""):
    """Flatten nested dicts and lists: pairs of a path and a leaf."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in LEFT_OUT:
                yield from leaves(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{i}]")
    else:
        yield path, value


def compare_values(before, after):
    """Lines that say which leaves of two documents differ."""
    first, second = dict(leaves(before)), dict(leaves(after))
    for path in sorted(first.keys() | second.keys()):
        if path not in second:
            yield f"{path}: gone, was {first[path]!r}"
        elif path not in first:
            yield f"{path}: new, {second[path]!r}"
        elif first[path] != second[path]:
            yield f"{path}: {first[path]!r} -> {second[path]!r}"


def arrays(path):
    """Every array of a posterior by group and name, and the documents of its attributes."""
    with xr.open_datatree(path, engine="h5netcdf") as tree:
        tree = tree.load()
    variables = {f"{node.path}/{name}": x.values for node in tree.subtree for name, x in node.variables.items()}
    return variables, {name: json.loads(text) for name, text in tree.attrs.items()}


def same(one, other):
    """Whether two arrays are equal, missing values included."""
    if one.shape != other.shape:
        return False
    if one.dtype.kind in "fc" and other.dtype.kind in "fc":
        return np.array_equal(one, other, equal_nan=True)
    return np.array_equal(one.astype(str), other.astype(str))


def compare_posteriors(before, after):
    """Lines that say which arrays and attributes of two posteriors differ."""
    first, attributes = arrays(before)
    second, others = arrays(after)
    for name in sorted(first.keys() | second.keys()):
        if name not in second:
            yield f"{name}: gone"
        elif name not in first:
            yield f"{name}: new"
        elif not same(first[name], second[name]):
            numbers = first[name].dtype.kind in "fiu" and first[name].shape == second[name].shape
            by = f", by {np.nanmax(np.abs(first[name] - second[name])):.3g} at most" if numbers else ""
            yield f"{name}: differs{by}"
    yield from compare_values(attributes, others)


def main(before, after):
    """Print the differences of two report folders; return how many there are."""
    documents = [json.loads((Path(folder) / "results.json").read_text()) for folder in (before, after)]
    faults = {"results.json": list(compare_values(*documents))}
    folders = [Path(folder) / "posteriors" for folder in (before, after)]
    names = [{path.name for path in folder.glob("*.nc")} for folder in folders]
    for name in sorted(names[0] | names[1]):
        missing = [which for which, held in zip(("before", "after"), names, strict=True) if name not in held]
        faults[name] = (
            [f"not there {missing[0]}"] if missing else list(compare_posteriors(*(f / name for f in folders)))
        )
    for name, lines in faults.items():
        for line in lines[:MOST]:
            print(f"{name}: {line}")
        if len(lines) > MOST:
            print(f"{name}: and {len(lines) - MOST} more")
    total = sum(map(len, faults.values()))
    print(f"{total} differences in {sum(map(bool, faults.values()))} of {len(faults)} files")
    return total


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) > 0)

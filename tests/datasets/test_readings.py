"""Readings of one run: refused in every format, with or without a column of runs, and never a planned grid."""

import json
import re
import shlex
from itertools import product

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.commands import options, parsing
from bayescaling.errors import TableWarning

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
SIZES = (2e7, 1e8, 3e8, 1e9)
EVEN = np.arange(1, 13) * 1e9
POWERS = np.r_[2.0 ** np.arange(10), 1000, 3000, 13000, 143000] * 2e6
UNEVEN = np.cumsum(np.random.default_rng(1).uniform(0.7, 1.3, 20)) * 1e9


def law(sizes, tokens):
    return 1.8 + 450 / sizes**0.35 + 2000 / tokens**0.37


def table(sizes=SIZES, tokens=EVEN, **more):
    """Return a row of each size and number of tokens, with noise of 0.3%."""
    grid = pd.DataFrame(list(product(sizes, tokens)), columns=["params", "tokens"])
    noise = np.exp(0.003 * np.random.default_rng(2).standard_normal(len(grid)))
    return grid.assign(val_loss=law(grid["params"], grid["tokens"]) * noise, **more)


def steps(tokens):
    return np.tile(np.asarray(tokens) / 1e6, len(SIZES))


def proposals(message):
    """Return the words of a command line that a message names, each as options of `read`."""
    for words in re.findall(r"\((--(?:[^()']|'[^']*')*)\)", message):
        chosen = {}
        for name, value in (word.partition(" ")[::2] for word in re.split(r" (?=--)", words)):
            chosen.setdefault(name[2:].replace("-", "_"), []).extend(shlex.split(value) or [True])
        lists = ("column", "unit", "ignore", "option")
        fitting = options.Fitting(**{name: x if name in lists else x[0] for name, x in chosen.items()})
        read = {name: x for name, x in parsing.reader_options(fitting).items() if x not in (None, False, 0, {}, [])}
        # A law with effects of runs needs the column of runs.
        yield read | ({"needed": "run"} if fitting.option == ["run_effects=true"] else {})


def refused(source, **reading):
    with pytest.raises(bs.InputError) as error:
        bs.read(source, **reading)
    assert str(error.value).isprintable() and len(str(error.value)) <= 600
    return str(error.value)


READINGS = {
    "evenly spaced": (table(), "parameters", 4),
    "at powers of two": (table(tokens=POWERS), "parameters", 4),
    "about evenly spaced": (table(tokens=UNEVEN), "parameters", 4),
    "few, with steps": (table(tokens=EVEN[:5], step=steps(EVEN[:5])), "parameters", 4),
    "two rates": (pd.concat([table(lr=rate) for rate in (1e-3, 3e-4)], ignore_index=True), "parameters,lr", 8),
    "of files": (table(tokens=EVEN[:4], file=np.repeat(["a.csv", "b.csv", "c.csv", "d.csv"], 4)), "file", 4),
}


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableWarning")
@pytest.mark.parametrize("name", READINGS)
def test_readings_without_a_column_of_runs_are_refused_with_what_works(name):
    runs, keys, count = READINGS[name]
    message = refused(runs)
    assert "readings of one run are not independent" in message and f"--last-of {keys})" in message
    reads = [(reading, bs.read(runs, **reading)) for reading in proposals(message)]
    rows = [len(frame) for _, frame in reads]
    assert rows[0] == count and set(rows[1:]) == {len(runs)} and len(rows) == (3 if "," not in keys else 2)
    assert all(frame["run"].nunique() == count for reading, frame in reads if "columns" in reading)


GRIDS = [
    *(table(np.geomspace(1e7, 1e9, n), np.geomspace(1e9, r * 1e9, d)) for n, d, r in [(3, 3, 100), (6, 6, 30)]),
    *(table(np.geomspace(1e7, 1e9, n), np.geomspace(1e9, r * 1e9, d)) for n, d, r in [(6, 8, 5), (9, 17, 256)]),
    table(tokens=EVEN[:6] * 5, train_time=np.tile(EVEN[:6], 4) * np.repeat(SIZES, 6) / 1e14)[::-1],
    table(tokens=np.array([1, 2, 5, 10, 20, 50]) * 1e9, step=steps(np.array([1, 2, 5, 10, 20, 50]) * 1e9)),
    pd.concat([table(tokens=EVEN[:3] * 4, seed=seed) for seed in (0, 1)], ignore_index=True),
    pd.DataFrame([{"N": n, "D": k * n, "loss": law(n, k * n)} for n in SIZES for k in (5, 10, 20, 40, 80, 160)]),
    pd.DataFrame([{"N": n, "C": c, "loss": law(n, c / 6 / n)} for n in SIZES for c in np.geomspace(1e18, 1e21, 9)]),
    table(tokens=np.geomspace(1e9, 3e10, 6), file=np.repeat(["a.csv", "b.csv", "c.csv", "d.csv"], 6)),
]


@pytest.mark.parametrize("grid", GRIDS)
def test_planned_grids_are_no_readings(grid):
    assert len(bs.read(grid)) == len(grid)


def logs(folder, suffix):
    """Write a log of each size, with a first reading before training, and return their pattern."""
    for size in SIZES:
        tokens = np.r_[0, EVEN]
        log = pd.DataFrame({"iter": tokens / 1e6, "val_loss": law(size, np.maximum(tokens, 1e7)), "params": size})
        path = folder / f"{size / 1e6:.0f}_stats{suffix}"
        if suffix == ".json":
            path.write_text(json.dumps(log.to_dict("records")))
        elif suffix == ".jsonl":
            log.to_json(path, orient="records", lines=True)
        else:
            getattr(log, f"to_{suffix[1:]}")(path, index=False)
    return folder / f"*{suffix}"


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv", ".parquet"])
def test_logs_of_every_format_are_readings(suffix, tmp_path):
    source = logs(tmp_path, suffix)
    message = refused(source)
    assert '"file" names 4 runs with 12 rows each' in message and "--option run_effects=true" in message
    (first,) = proposals(message)
    runs = bs.read(source, **first)
    assert runs["run"].nunique() == 4 and len(runs) == 48 and first.pop("needed") == "run"
    with pytest.warns(TableWarning, match="readings of one run"):
        bs.read(source, **first)
    del first["columns"]["run"]
    assert "--last-of file" in refused(source, **first)
    assert len(bs.read(source, **first, last_of="file")) == 4


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableWarning")
def test_readings_are_refused_for_a_law_of_tokens_too():
    curve = table()[["tokens", "val_loss"]].assign(run_id=np.repeat(["a", "b", "c", "d"], len(EVEN)))
    message = refused(curve, needed="tokens")
    assert '"run_id" names 4 runs with 12 rows each' in message
    assert len(bs.read(curve, needed="tokens", last_of="run_id")) == 4
    assert len(bs.read(curve.drop(columns="run_id"), needed="tokens")) == len(curve)


def test_one_file_of_checkpoints_without_a_name_of_runs(tmp_path):
    log = table(tokens=EVEN).rename(columns={"tokens": "step"}).assign(step=steps(EVEN))
    path = tmp_path / "checkpoints.jsonl"
    log.to_json(path, orient="records", lines=True)
    (first,) = proposals(refused(path))
    assert first["columns"] == {"tokens": "step", "run": "params"}
    assert len(bs.read(path, **first)) == 48
    assert len(bs.read(path, columns={"tokens": "step"}, unit={"tokens": 1e6}, last_of="params")) == 4

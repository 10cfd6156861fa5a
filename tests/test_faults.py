"""Malformed input of every sort, made at random: each is read or refused in one line, and nothing else happens.

python tests/test_faults.py --seed 2 --count 10000      # as many of each sort; the tests make a few
"""

import argparse
import collections
import copy
import csv
import gzip
import io
import json
import lzma
import math
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling import training
from bayescaling.datasets import KINDS
from bayescaling.errors import TableWarning
from bayescaling.models.priors import DISTRIBUTIONS, Prior
from bayescaling.training import arithmetic

LIMIT = 10  # seconds of an attempt of `make faults`; a test must not depend on how busy the machine is
LONGEST = 4000  # characters of a message, which names up to ten faults of a table
FEW, FEW_FILES = 20, 10  # files are slow to make
# How many times as many of a sort are made as of others: what is quick, and what takes a process or seconds each.
SHARES = {
    "priors": 30,
    "priors of progress": 10,
    "sweeps": 10,
    "damaged": 4,
    "packed": 1,
}

NUMBERS = ["0", "-1", "1", "0.5", "3", "1e-5", "100", "1e15", "1e308", "-1e308", "1e999", "5e-324", "1e-320",
           "0.123456789012345", "1.0000000000000002"]  # fmt: skip
WORDS = ["", " ", "nan", "NaN", "inf", "-inf", "None", "True", "x", "'a'", "1j", "0x1", "1_000", "1,000", "1e", "--1",
         "٣", "１", "٢٠١٩-٠٢-١٤", "\x00", "\ud800", "\u2028", "[", "{[]: 1}", "*a", "**k", "lambda: 0", "(" * 3000,
         "9" * 5000, "2019-02-14", "2019-02", "2019-02-14T10:00Z", "2019-02-14 10:00+05:30", "0001-01-01", "1500-06-01",
         "9999-12-31", "2019-02-30", "007", "18446744073709551615", "18446744073709551610"]  # fmt: skip
VALUES = [None, True, -1, 0, 0.5, 1e308, math.nan, -math.inf, 10**30, "", "x", "٣", [], {}, [[1]], {"a": None},
          "[" * 10_000, b"1", b"\xff", pd.Timestamp("1500-01-01"), pd.Timestamp("2019-02-14", tz="Asia/Kolkata"),
          pd.NaT, np.float32(2.5), np.uint64(2**64 - 1), 1j]  # fmt: skip
PLAIN = VALUES[:17]


# Priors ---------------------------------------------------------------------------------------------------------------


def prior(rng, folder):
    """Parse an expression; what is read is written and read back."""
    name = rng.choice(list(DISTRIBUTIONS))
    names = DISTRIBUTIONS[name]
    arguments = [
        (f"{rng.choice(names)}=" if rng.random() < 0.1 else "") + rng.choice(NUMBERS if rng.random() < 0.8 else WORDS)
        for _ in range(len(names) + rng.choice([0] * 8 + [1, -1]))
    ]
    text = spoilt_text(rng, f"{name}({', '.join(arguments)})", 0.2)
    read = Prior.parse(text)
    assert Prior.parse(str(read)) == read
    quantiles = read.quantile([0.25, 0.5, 0.75])
    assert np.isfinite(quantiles).all() and quantiles[0] < quantiles[1] < quantiles[2]


def progress_prior(rng, folder):
    """Set a prior of a law of progress, as a pair or as text."""
    pair = rng.choice(PLAIN), rng.choice(PLAIN)
    text = f"LogNormal({rng.choice(NUMBERS)}, {rng.choice(NUMBERS + WORDS)})"
    bs.laws.Progress(7, priors={"elasticity_data": rng.choice([pair, text, rng.choice(PLAIN)])})


def spoilt_text(rng, text, share):
    """Insert or replace a character of a share of texts."""
    if rng.random() >= share:
        return text
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice("()=,.;\0\n e*['\"\t١") + text[place + rng.randrange(2) :]


# Tables ---------------------------------------------------------------------------------------------------------------


def text_table(kind):
    """Read a table as CSV with cells changed and characters inserted."""

    def attempt(rng, folder):
        table = small(kind).astype(str).astype(object)
        for _ in range(rng.randrange(1, 3)):
            table.iat[rng.randrange(len(table)), rng.randrange(table.shape[1])] = rng.choice(NUMBERS + WORDS)
        text = spoilt_text(rng, table.to_csv(index=False), 0.3)
        path = folder / "table.csv"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        used(bs.read(path, kind), kind)

    return attempt


def typed_table(kind):
    """Read a table whose cells are of any type: as a frame, as Parquet or as netCDF where these can hold it."""

    def attempt(rng, folder):
        table = small(kind).astype(object)
        for _ in range(rng.randrange(1, 3)):
            value, column = rng.choice(VALUES), rng.randrange(table.shape[1])
            rows = range(len(table)) if rng.random() < 0.5 else [rng.randrange(len(table))]
            table.isetitem(column, [value if row in rows else x for row, x in enumerate(table.iloc[:, column])])
        table = table.infer_objects()
        used(bs.read(rng.choice([as_frame, as_parquet, as_netcdf])(table, folder), kind), kind)

    return attempt


def as_frame(table, folder):
    return table


def as_parquet(table, folder):
    return written(folder / "table.parquet", lambda path: table.to_parquet(path, index=False), table)


def as_netcdf(table, folder):
    return written(folder / "table.nc", lambda path: table.to_xarray().to_netcdf(path, engine="h5netcdf"), table)


def written(path, write, otherwise):
    """Path of what could be written, and what there was otherwise."""
    path.unlink(missing_ok=True)
    try:
        write(path)
    except Exception:
        return otherwise
    return path


def damaged_table(rng, folder):
    """Read counts from a Parquet file with a byte changed or the end cut off."""
    path = folder / "damaged.parquet"
    path.write_bytes(damaged(rng, as_parquet(small("counts"), folder).read_bytes()))
    used(bs.read(path, "counts"), "counts")


SHAPES = ["array", "object with an array", "columns", "columns by index", "rows by name", "split", "lines",
          "one object", "history", "harness"]  # fmt: skip
ODD = [*PLAIN, [1, 2], [{}], {"a": {"b": [1]}}, {"a.b": 1, "a": {"b": 2}}, "70M", "~1.4B", "12,345", "yes", "x" * 200]


def json_table(rng, folder):
    """Read runs as JSON of some form, with values of any type anywhere and characters inserted."""
    rows = small("runs")[["parameters", "tokens", "loss"]].to_dict("records")
    for _ in range(rng.randrange(3)):
        row = rng.choice(rows)
        row[rng.choice([*row, "config", "a.b", " loss", "", "run"])] = rng.choice([x for x in ODD if x != b"1"])
    document, shape = shaped(rows, rng.choice(SHAPES))
    for _ in range(rng.randrange(2)):
        if entries := list(places(document)):
            holder, key = rng.choice(entries)
            holder[key] = copy.deepcopy(rng.choice(ODD))
    text = "\n".join(map(json.dumps, document)) if shape == "lines" else json.dumps(document)
    path = folder / rng.choice(["table.json", "table.json", "table.jsonl"])
    path.write_bytes(spoilt_text(rng, text, 0.3).encode("utf-8", "surrogatepass"))
    used(bs.read(path, rng.choice(["runs", "runs", "runs", "scores"])), "runs")


def shaped(rows, shape):
    """Rows as a document of one of the forms that are read."""
    names = list(rows[0])
    return {
        "array": rows,
        "lines": rows,
        "object with an array": {"runs": rows, "note": "x", "config": {"lr": 0.1}},
        "columns": {name: [row.get(name) for row in rows] for name in names},
        "columns by index": {name: {str(i): row.get(name) for i, row in enumerate(rows)} for name in names},
        "rows by name": {f"run {i}": row for i, row in enumerate(rows)},
        "split": {"columns": names, "data": [[row.get(name) for name in names] for row in rows]},
        "one object": rows[0],
        "history": {"log_history": [row | {"step": i // 2} for i, row in enumerate(rows)]},
        "harness": {"results": {f"task {i}": {"acc,none": 0.5} | row for i, row in enumerate(rows)}, "config": {}},
    }[shape], shape


NAMES = ["Group: 70M_1000step", "N1.4B", "1-4B_x", "a - b", "", " ", "run", "N٣", "x" * 400, "{}", "Step", "N12,345"]
METRICS = ["val/loss", "loss", "_step", "Step", "run", "", "parameters", "tokens"]
PATTERNS = ["{}{parameters}_{}", "N{parameters}", "{parameters}_x", "{}", "", "{tokens}{parameters}", "{", "{x}", "[",
            "{parameters}" * 2, "{}" * 9 + "{loss}", "(?P<a>{parameters})", "{}{}{parameters}{}{}", 3]  # fmt: skip
OTHERS = [["Wall time", "Step", "Value"], ["run_id", "key", "value", "step"], ["key", "value", "step"]]


def panel(rng, folder):
    """Read a panel of a tracker with names, cells and patterns of any sort."""
    few = rng.random() < 0.5
    names = [rng.choice(["70M_a", "1-4B_b", "2.5e9_c"] if few else NAMES) for _ in range(rng.randrange(1, 4))]
    metrics = [rng.choice(METRICS[:1] if few else METRICS) for _ in range(rng.randrange(1, 3))]
    ends = ["", "__MIN", "__MAX"][: rng.choice([1, 3])]
    headers = ["Step" if few else rng.choice(["Step", "tokens", "Wall time"])]
    headers += dict.fromkeys(f"{name} - {metric}{end}" for name in names for metric in metrics for end in ends)
    if rng.random() < 0.1:
        headers = rng.choice(OTHERS)
    some = ["", "4.5", "3.25"] if few else ["", "1e9", "2e7", "4.5", *rng.sample(WORDS, 1)]
    rows = [[rng.choice([str(10**i), "2e7"]), *(rng.choice(some) for _ in headers[1:])] for i in range(5, 10)]
    name = rng.choice(["panel.csv", "run-N70M-tag-loss.csv", "N70M.csv", "x1B_2.csv"])
    text = io.StringIO()
    csv.writer(text).writerows([headers, *rows])
    text = spoilt_text(rng, text.getvalue(), 0.2)
    (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    options = {
        "columns": {"tokens": "Step"} if few else rng.choice([{}, {"tokens": "Step"}]),
        "drop_missing": rng.random() < 0.5,
    }
    if few or rng.random() < 0.9:
        pattern = PATTERNS[0] if few else rng.choice(PATTERNS)
        options[rng.choice(["from_name", "from_name", "from_file"])] = pattern
    source = rng.choice([folder / name, folder / "*.csv"])
    try:
        used(bs.read(source, **options), "runs")
    finally:
        (folder / name).unlink()


ATOMS = ["parameters", "tokens", "loss", "training_flop", "`tokens`", "`a b`", "steps", "1", "1e9", "0", "2.5", "-1",
         "1e308", "9" * 400, "'a'", "None", "True", "1j", "x", "__import__", "(1)", "[1]", "{}", "lambda: 0", "~loss",
         "loss.values", "loss[0]", "print(1)", "loss if 1 else 2", "()", "`", "10**9", "@x", "٣"]  # fmt: skip
OPERATIONS = ["+", "-", "*", "/", "**", "%", "//", "@", "<<", "|", "<", "==", " and ", " in ", " if ", ":=", ",", "=="]
CANONICAL = ["parameters", "tokens", "training_flop", "loss", "perplexity", "run", "unique_tokens", "x"]


def expression_of(rng, canonical=None):
    """Write arithmetic of columns: of any sort, or of a column with a number."""
    if canonical is not None:
        number = rng.choice(["1", "1.0", "2.5", "(1+1)", "steps/steps", "`a b`"])
        return f"{rng.choice(['', '+'])}{canonical}{rng.choice('*/')}{number}"
    text = rng.choice(ATOMS)
    for _ in range(rng.choice([0, 1, 1, 2, 3, 40])):
        text = f"({text})" if rng.random() < 0.2 else text
        text += rng.choice(OPERATIONS) + rng.choice(ATOMS)
    return text if rng.random() < 0.98 else "(" * 200 + text + ")" * 200


def expression(rng, folder):
    """Read runs with columns and conditions that are arithmetic of any sort, and with one size alone."""
    table = small("runs")[["parameters", "tokens", "loss"]].assign(steps=range(1, 13), **{"a b": 2.0})
    if rng.random() < 0.2:
        table = table.astype(object)
        table.iat[rng.randrange(12), rng.randrange(5)] = rng.choice(VALUES)
    plain, options = rng.random() < 0.5, {"columns": {}}
    for name in rng.sample(["parameters", "tokens", "loss"] if plain else CANONICAL, rng.choice([1, 2])):
        options["columns"][name] = expression_of(rng, name if plain else None)
    if rng.random() < 0.3:
        condition = "loss*1" if plain else expression_of(rng)
        options["where"] = spoilt_text(rng, condition + " < 1e9", 0.3)
    if rng.random() < 0.2:
        options["unit"] = {rng.choice(CANONICAL[:4]): rng.choice([1e6, "nats", "bits", *PLAIN])}
    if rng.random() < 0.3:
        options["needed"] = rng.choice(CANONICAL[:3])
        table = table.drop(columns=rng.sample(["parameters", "tokens"], rng.randrange(3)))
    used(bs.read(table, **options), "runs")


def small(kind):
    """Some rows of the built-in table of a kind."""
    return KINDS[kind].load().head(12)


def used(table, kind):
    """Compute the fingerprint of a table and store it, as a fit does."""
    bs.datasets.sha256(table)
    KINDS[kind].to_dataset(table)


def damaged(rng, content):
    """Content with one bit of a byte changed, or cut."""
    place = rng.randrange(len(content))
    if rng.random() < 0.5:
        return content[:place]
    return content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]


def packed_table(rng, folder):
    """Read counts from a packed file with a byte changed or the end cut off."""
    suffix = rng.choice(["gz", "xz"])
    path = folder / f"counts.csv.{suffix}"
    path.write_bytes(damaged(rng, {"gz": gzip, "xz": lzma}[suffix].compress(small("counts").to_csv().encode())))
    used(bs.read(path, "counts"), "counts")


# Sweeps ---------------------------------------------------------------------------------------------------------------

SIZES = [2**31, 2**63, 10**30, 10**400, 1_000_000, 1e9]
OF_KEYS = ["unknown", "longest", "seeds", "name", "preset", "arms", "corpus", "model"]


def sweep(name):
    """Outline a sweep, some of whose values are changed."""

    kind = {"language": training, "arithmetic": arithmetic}[name]
    make, outline = kind.make_sweep, kind.outline  # which import torch, of no part of an attempt's time

    def attempt(rng, folder):
        tables = copy.deepcopy(TABLES[name])
        for _ in range(rng.randrange(1, 3)):
            holder, key = rng.choice(list(places(tables)))
            if rng.random() < 0.15:
                del holder[key]
                continue
            if isinstance(holder, dict) and rng.random() < 0.1:
                key = rng.choice(OF_KEYS)
            holder[key] = copy.deepcopy(rng.choice([x for x in PLAIN if x is not None] + SIZES))
        outline(make(tables), device="cpu")

    return attempt


def sweep_file(rng, folder):
    """Outline a sweep of a file, some of whose characters are changed."""
    text = f'[training]\nsamples = {rng.choice(NUMBERS)}\nbatch = 32\n[[arms]]\ntask = "addition"\nlengths = 2\n'
    text += 'embeddings = ["nope"]\narchitectures = ["1x1"]\n[evaluation]\nlongest = ' + rng.choice(NUMBERS + WORDS)
    path = folder / "sweep.toml"
    path.write_bytes(spoilt_text(rng, text, 0.5).encode("utf-8", "surrogatepass"))
    arithmetic.outline(path, device="cpu")


TABLES = {
    "language": {
        "corpus": {"kind": "synthetic", "vocabulary": 32, "exponent": 1.4, "backoff": [0.25, 0.35, 0.4]},
        "model": {"sizes": [[4, 1], [8, 1]], "heads": 2, "context": 8, "tied": True},
        "training": {"updates": [4, 6], "batch_tokens": 256, "evaluations": 4, "evaluation_tokens": 2048, "seeds": [0],
                     "betas": [0.9, 0.95], "clip": 0, "compile": "auto", "save_seconds": 60, "precision": "auto"},
        "stages": [{"name": "rates", "learning_rates": [0.003, 0.03]},
                   {"schedule": "cosine", "learning_rates": "best", "budgets": [0.5, 1.0], "keep": "all"}],
    },
    "arithmetic": {
        "model": {"d_model": 16, "heads": 2, "k_max": 3, "table_rows": 12, "noise": 0.02, "block": "post-norm"},
        "training": {"samples": 960, "batch": 32, "microbatch": 16, "ramp": 0.5, "learning_rate": 0.003, "seeds": [0],
                     "evaluations": 4, "evaluation_problems": 50, "masked": True, "buckets": True},
        "evaluation": {"longest": 3, "diagonal_to": 4, "count": 20, "offset": [0, 8], "diagonal": False},
        "arms": [{"name": "one", "task": "addition", "lengths": 2, "embeddings": ["abacus", "nope"],
                  "architectures": ["1x1", "1x2+injection"], "options": {"hints": "none"}, "model": {"heads": 1}}],
    },
}  # fmt: skip


def places(value):
    """Every entry of nested dictionaries and lists, as its holder and its key."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


# What must hold -------------------------------------------------------------------------------------------------------


def sorts():
    """Everything that is attempted, by name."""
    attempts = {"priors": prior, "priors of progress": progress_prior}
    kinds = [name for name, kind in KINDS.items() if kind.built_in]  # of any columns next to nothing is refused
    attempts |= {f"{kind} as text": text_table(kind) for kind in kinds}
    attempts |= {f"{kind} of any type": typed_table(kind) for kind in kinds}
    attempts |= {
        "damaged parquet": damaged_table,
        "runs as JSON": json_table,
        "panels of trackers": panel,
        "expressions": expression,
    }
    attempts |= {"packed counts, damaged": packed_table}
    attempts |= {f"sweeps of {name}": sweep(name) for name in TABLES} | {"sweeps as text": sweep_file}
    return attempts


SORTS = [
    "priors",
    "priors of progress",
    "runs as text",
    "evaluations as text",
    "counts as text",
    "scores as text",
    "horizons as text",
    "values as text",
    "curves as text",
    "runs of any type",
    "evaluations of any type",
    "counts of any type",
    "scores of any type",
    "horizons of any type",
    "values of any type",
    "curves of any type",
    "damaged parquet",
    "runs as JSON",
    "panels of trackers",
    "expressions",
    "packed counts, damaged",
    "sweeps of language",
    "sweeps of arithmetic",
    "sweeps as text",
]


def share(name):
    """How many of a sort are made, where one is usual."""
    return next((times for part, times in SHARES.items() if part == name), None) or next(
        (times for part, times in reversed(SHARES.items()) if part in name), 1
    )


def outcome(attempt, rng, folder, limit=math.inf):
    """Return ``read``, ``refused``, or the text of a fault, such as more seconds than a limit."""
    began = time.monotonic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", TableWarning)
            attempt(rng, folder)
        result = "read"
    except bs.InputError as error:
        result = "refused"
        if not str(error).isprintable() or len(str(error)) > LONGEST:
            result = f"a message that is not one short line: {str(error)[:LONGEST]!r}"
    except Exception:
        result = traceback.format_exc()
    return result if time.monotonic() - began < limit else f"took {time.monotonic() - began:.0f} seconds"


def outcomes(attempt, seed, count, folder, limit=math.inf):
    """Count the outcomes of attempts, each with a separate seed, and return the first seed of each fault."""
    counts, faults = collections.Counter(), {}
    for number in range(count):
        result = outcome(attempt, random.Random(f"{seed} {number}"), folder, limit)
        sort = result if result in ("read", "refused") else "fault"
        counts[sort] += 1
        if sort == "fault":
            faults.setdefault(result, number)
    return counts, faults


def test_every_sort_is_tested():
    assert sorted(sorts()) == sorted(SORTS)


@pytest.mark.parametrize("name", SORTS)
def test_what_is_malformed_is_read_or_refused_in_one_line(name, tmp_path):
    count = FEW_FILES if share(name) < 1 else FEW
    counts, faults = outcomes(sorts()[name], 1, count, tmp_path)
    assert not faults, "\n".join(f"attempt {number}: {fault}" for fault, number in faults.items())
    assert counts["refused"] >= count / 10


def main():
    """Attempt each sort as often as requested and print a table of counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--only", help="part of the name of a sort")
    asked = parser.parse_args()
    failed, totals, start = False, collections.Counter(), time.monotonic()
    print(f"{'sort':<30}{'read':>8}{'refused':>9}{'faults':>8}{'seconds':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, attempt in sorts().items():
            if asked.only and asked.only not in name:
                continue
            began = time.monotonic()
            count = max(1, round(share(name) * asked.count))
            counts, faults = outcomes(attempt, asked.seed, count, Path(folder), LIMIT)
            totals.update(counts)
            seconds = time.monotonic() - began
            print(f"{name:<30}{counts['read']:>8}{counts['refused']:>9}{counts['fault']:>8}{seconds:>9.1f}", flush=True)
            for fault, number in faults.items():
                failed = True
                print(f"attempt {number}: {fault}")
    seconds = time.monotonic() - start
    print(f"{'all':<30}{totals['read']:>8}{totals['refused']:>9}{totals['fault']:>8}{seconds:>9.1f}")
    sys.exit(failed)


if __name__ == "__main__":
    main()

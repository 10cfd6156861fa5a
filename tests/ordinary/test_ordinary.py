"""Ordinary tables go through every command, and their intervals hold the truth as often as they say."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from bayescaling.reports.cache import store
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent))
import designs
import other_tables
import takes

QUICK = "--draws 250 --tune 400 --chains 2"
# The smallest grid with an optimum, and tables whose law is another. Commands of `test_help` take the built-in ladders.
USUAL = ("grid-3x3", "one-size", "four-runs")
SEEDS = 40
NEVER = 1e-3  # probability of so few intervals that hold the truth, if they do so at their level


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "folder", lambda: tmp_path / "cache")
    return tmp_path


def taken(design, seed, folder):
    case = designs.planned(design, seed)
    return takes.faults("runs", case.table, folder, takes.numbers_of_runs(case.table), options=QUICK)


@pytest.mark.parametrize("design", USUAL)
def test_every_command_takes_a_table_of_runs_or_names_one_that_does(design, folder):
    assert taken(design, USUAL.index(design) + 1, folder) == []


@pytest.mark.parametrize("kind", other_tables.TABLES)
def test_every_command_takes_a_small_table_of_other_kinds(kind, folder):
    table = other_tables.TABLES[kind](np.random.default_rng(5))
    assert takes.faults(kind, table, folder, {}, options=QUICK) == []
    assert (folder / "fit.nc").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("design", designs.DESIGNS)
def test_every_command_takes_every_design(design, seed, folder):
    assert taken(design, seed, folder) == []


def shares_held(design, seeds):
    """Return how many 90% intervals of each quantity hold the truth, and of how many fits whose law is not rejected."""
    held, excused = {}, 0
    for seed in range(seeds):
        case = designs.planned(design, seed)
        fit = designs.fitted(case, law=designs.carried_by(case))
        inside = designs.held(case, fit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stated = fit.check()["verdict"] != "fits" or not fit.diagnostics["ok"]
        if stated and not all(inside.values()):  # the output states why
            excused += 1
            continue
        for name, holds in inside.items():
            held.setdefault(name, []).append(holds)
    return held, excused


def assert_held(held):
    """Check all but what another law than the truth gives, which is a matter of the law."""
    for name, inside in held.items():
        if name == "best size under another law":
            continue
        assert sum(inside) >= stats.binom.ppf(NEVER, len(inside), 0.9), (name, sum(inside), len(inside))


def test_intervals_of_the_smallest_grid_hold_the_truth():
    held, _ = shares_held("grid-2x4", 12)
    assert_held(held)


@pytest.mark.thorough
@pytest.mark.parametrize("design", designs.DESIGNS)
def test_intervals_hold_the_truth(design):
    held, excused = shares_held(design, SEEDS)
    assert excused < SEEDS / 2
    assert_held(held)

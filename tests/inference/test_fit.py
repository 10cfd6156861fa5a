"""A fit opens its parts once, computes each result once, and leaves its tree unchanged."""

import json
import pickle
import subprocess
import sys

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.datasets import KINDS
from bayescaling.errors import TableNote
from bayescaling.inference import standing, stored_answers
from bayescaling.inference.fitted import changed_fit, results_of
from bayescaling.inference.fitter import fitter_of
from bayescaling.inference.words import plain, sizes

SHORT = {"draws": 200, "tune": 300, "chains": 2}


@pytest.fixture
def fresh(fit_default):
    """The default fit without results."""
    return changed_fit(fit_default, {}, fit_default.record)


@pytest.fixture(scope="module")
def compared(runs):
    laws = {"chinchilla": bs.laws.Chinchilla(), "coupled": bs.laws.Coupled()}
    return {name: bs.fit(law, runs, seed=1, draws=300, tune=400) for name, law in laws.items()}


def said(result):
    """What a result prints, on one line."""
    return " ".join(str(result).split())


def quantiles(draws):
    return dict(zip(("q2.5", "q50", "q97.5"), draws.quantile([0.025, 0.5, 0.975]).values, strict=True))


def counted(patch, calls, place, name, counts=lambda *_: True):
    """Count the calls of a function that still does what it did, those whose arguments count."""
    original = getattr(place, name)

    def function(*arguments, **options):
        calls[name] = calls.get(name, 0) + counts(*arguments)
        return original(*arguments, **options)

    static = isinstance(vars(place).get(name), staticmethod)
    patch.setattr(place, name, staticmethod(function) if static else function)


def test_a_saved_fit_is_parsed_once_from_opening_to_its_summary(fresh, tmp_path, monkeypatch):
    fresh.save(tmp_path / "fit.nc")
    opened, calls = bs.open(tmp_path / "fit.nc"), {}
    law, again = opened.law, changed_fit(opened, {}, opened.record)
    counted(monkeypatch, calls, type(KINDS[law.kind]), "from_dataset")
    for result in (again.summary(), again.check(), again.allocate(1e23), again):
        assert str(result)
    assert calls == {"from_dataset": 1}
    assert again.draws is again.draws and again.rows is again.rows and again.law is law


def test_no_method_changes_the_tree(fresh, runs, quiet):
    before = fresh.tree.copy(deep=True)
    fresh.check()
    fresh.loo()
    fresh.loo(by="parameters", high_k="none")
    fresh.summary()
    fresh.robust(fresh["posterior"]["alpha"])
    fresh.predict(runs.head(3))
    fresh.allocate(1e23)
    fresh.law_tests()
    assert fresh.tree.identical(before)
    assert str(fresh)


def test_results_are_computed_once_and_go_with_the_fit(fresh, tmp_path, quiet):
    check, left_out = fresh.check(), fresh.loo(high_k="none")
    assert fresh.check()["tests"] is check["tests"] and fresh.loo(high_k="none") is left_out
    assert fresh.loo(high_k="none", seed=2) is not left_out
    other = pickle.loads(pickle.dumps(fresh))
    assert other.check() == check and other.loo(high_k="none").elpd == left_out.elpd
    assert not {"log_weights", "exchangeable"} & {*results_of(other)}
    fresh.save(tmp_path / "fit.nc")
    opened = bs.open(tmp_path / "fit.nc")
    assert opened.check() == check and opened.record == fresh.record


def test_a_fit_fits_again_with_the_fitter_that_made_it(fitter, runs, quiet):
    fit = fitter.fit(runs.iloc[::2].reset_index(drop=True), seed=1, **SHORT)
    assert fitter_of(fit) is fitter and fit.draws.reference == fitter.reference
    other = pickle.loads(pickle.dumps(fit))
    assert fitter_of(other) is not fitter and fitter_of(other).law == fitter.law and other.rows.equals(fit.rows)


def test_a_fit_prints_what_its_methods_return(fresh):
    text = str(fresh)
    assert text.startswith("chinchilla on 245 rows of chinchilla_runs")
    exponent = fresh.robust(fresh["posterior"]["exponent_parameters"])
    assert plain(quantiles(exponent)) in text and plain(quantiles(exponent)) in fresh.summary().quote[0]
    budget = 10 * fresh.rows["training_flop"].max()
    assert sizes(quantiles(fresh.allocate(budget)["parameters"])) in text
    assert "Converged: " in text and "The law misses its rows by" in text
    for line in text.split("\n"):
        cells = [cell for cell in line.split("  ") if cell]
        assert all(cell.strip().replace(">", "&gt;") in fresh._repr_html_() for cell in cells)


def test_a_fit_that_was_opened_prints_without_computing(compared, tmp_path):
    fit = compared["chinchilla"]
    fit.save(tmp_path / "fit.nc")
    expected, document = str(fit), stored_answers.document(fit)
    program = (
        "import sys, bayescaling as bs\n"
        "fit, entered = bs.open(sys.argv[1]), set()\n"
        "sys.setprofile(lambda frame, *_: entered.add(frame.f_code.co_filename))\n"
        "text = str(fit)\n"
        "sys.setprofile(None)\n"
        "folder = bs.__file__.removesuffix('__init__.py')\n"
        "own = [name for name in entered if name.startswith(folder) and 'site-packages' not in name]\n"
        "print(len(own), type(sys.modules.get('scipy.stats')).__name__ == 'module', fit)"
    )
    command = [sys.executable, "-c", program, tmp_path / "fit.nc"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    count, heavy, printed = run.stdout.split(" ", 2)
    assert 0 < int(count) <= 30 and heavy == "False"
    assert printed.strip() == expected
    opened = bs.open(tmp_path / "fit.nc")
    assert stored_answers.document(opened) == json.loads(json.dumps(document))
    assert expected.partition("\n")[0] in opened._repr_html_()


def test_a_fit_that_was_made_for_another_result_is_not_checked(fitter, quiet):
    fit = fitter.fit(seed=1, **SHORT)
    assert not {"verdict", "answers"} & {*results_of(fit)}
    unchecked = bs.fit("chinchilla", fitter.table, seed=1, check=False, **SHORT)
    assert not {"verdict", "answers"} & {*results_of(unchecked)}


def test_laws_that_predict_better_are_printed_when_they_were_tried(compared, quiet):
    fit = changed_fit(compared["chinchilla"], {}, compared["chinchilla"].record)
    assert "try coupled" not in said(fit)
    fit.wider_laws(most=1, draws=300, tune=400)
    assert "Try coupled: it predicts" in said(fit)


def test_a_fit_whose_check_takes_long_says_how_to_ask_for_it(fresh, monkeypatch):
    monkeypatch.setattr(standing, "QUICK_ROWS", 10)
    assert "call fit.check()" in said(fresh) and "exponent" not in said(fresh)
    assert standing.known_check(fresh) is None
    assert any("call fit.check()" in line for line in standing.lines(standing.standing(fresh)))
    fresh.check()
    assert not any("call fit.check()" in line for line in standing.lines(standing.standing(fresh)))
    assert "exponent" in said(fresh)


def test_a_comparison_prints_its_sentence_and_a_part_of_it_is_a_table(compared, quiet):
    table = bs.compare(compared)
    text = str(table)
    assert said(table).startswith(f"{table.attrs['sentence']}.")
    other = table.iloc[1]
    assert f"{other['elpd_diff']:.1f} ± {other['dse']:.1f}" in text
    assert str(table[["elpd", "weight"]]).startswith("2 rows\n\n           elpd weight\ncoupled")
    again = pickle.loads(pickle.dumps(table))
    assert str(again) == text and "±" in table._repr_html_()


def test_an_allocation_prints_its_intervals_and_tabulates_them(compared):
    allocation = compared["coupled"].allocate([1e21, 1e24], near_optimal=0.001)
    text, table = str(allocation), allocation.table()
    for budget, row in zip((1e21, 1e24), table.index, strict=True):
        q = quantiles(allocation["parameters"].sel(compute=budget))
        assert sizes(q) in text
        assert table.loc[row, "parameters"].to_dict() == pytest.approx(q)
    assert "at 1e24 FLOP" in text and "with the drift of the law" in text
    assert isinstance(allocation, xr.Dataset)
    part = allocation.isel(compute=0)
    assert "<xarray." in str(part) and part["parameters"].dims == ("chain", "draw")


def test_a_check_prints_its_tests_and_is_a_record(compared):
    check = compared["chinchilla"].check()
    text = str(check)
    for name, test in check["tests"].items():
        (line,) = (line for line in text.split("\n") if line.startswith(f"{name} "))
        assert ("rejected" in line) == (not test["fits"])
    assert json.loads(json.dumps(check)) == check
    assert check.table()["p"].is_monotonic_increasing


def test_exponents_print_the_intervals_that_are_quoted(compared):
    fit = compared["coupled"]
    exponents = fit.study_exponents()
    slopes = exponents["total"]["size"]
    assert plain(quantiles(slopes)) in str(exponents) and "The law misses its rows" in str(exponents)
    assert np.allclose(exponents.table().loc[("total", "size"), "q50"], float(slopes.median()))
    assert pickle.loads(pickle.dumps(exponents))["total"].identical(exponents["total"])


def test_alternatives_quote_the_interval_of_the_summary(compared, quiet):
    fit = compared["chinchilla"]
    laws = fit.wider_laws(most=1, draws=300, tune=400)
    quoted = fit.summary().quote[0]
    assert plain(quantiles(fit.robust(fit["posterior"]["exponent_parameters"]))) in quoted
    assert f"from {plain(quantiles(fit.robust(fit['posterior']['exponent_parameters'])), '{:.2f}')}" in said(laws)
    assert laws[0]["name"] == "coupled" and laws.table().loc[0, "law"] == laws[0]["law"]


def simulated(parameters, tokens, seed=0):
    """Runs of Chinchilla's law with a noise of 0.3%."""
    mean = bs.laws.Chinchilla.loss(parameters, tokens, E=1.7, A=406.0, B=411.0, alpha=0.34, beta=0.28)
    noise = np.exp(0.003 * np.random.default_rng(seed).standard_normal(len(parameters)))
    return pd.DataFrame({"parameters": parameters, "tokens": tokens, "loss": mean * noise})


def printed(fit):
    return " ".join(str(fit).split())


def test_rows_far_from_the_law_runs_of_one_budget_and_columns_that_go_with_size_are_named():
    sizes_of_ladder = np.repeat(np.geomspace(2e7, 1.3e9, 6), 4)
    ladder = simulated(sizes_of_ladder, sizes_of_ladder * np.tile([5.0, 10.0, 20.0, 40.0], 6))
    ladder["optimizer"] = ["adamw", "muon"] * 12
    fit = bs.fit("chinchilla", ladder, seed=1)
    assert not any(words in printed(fit) for words in ("Far from", "one budget", "goes with size"))
    ladder.loc[[5, 14], "loss"] *= 1.08
    ladder["tokenizer"] = np.where(sizes_of_ladder > 1e8, "new", "old")
    fit = bs.fit("chinchilla", ladder, seed=1)
    remark = printed(fit).partition("Far from the law")[2]
    assert "row 5 " in remark and "row 14 " in remark and remark.count("above") == 2
    assert "Column tokenizer goes with size (old from 2e7 to 4.61e7, new from 1.06e8 to 1.3e9)" in remark
    sizes_of_budget = np.geomspace(1e8, 4e9, 9)
    with pytest.warns(TableNote, match="noise=normal"):  # nine rows
        fit = bs.fit("chinchilla", simulated(sizes_of_budget, 1e20 / 6 / sizes_of_budget), seed=1)
    assert "All runs have one budget, 1e20 FLOP" in printed(fit)

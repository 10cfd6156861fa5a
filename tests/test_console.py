import pickle

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.commands import tables
from bayescaling.datasets import sha256
from bayescaling.datasets.printed import PrintedTable, Text, tabulated
from bayescaling.inference.checks.verdict import verdict_sentence

HEADER = ["elpd", "se", "elpd_diff", "dse", "weight", "pareto_k_max", "k_above_0.7", "r_hat_max", "divergences"]
ROWS = {f"a-fit-of-mine-{i}.nc": [f"{-1234.5678 - i - j / 10:.4f}" for j in range(len(HEADER))] for i in range(4)}


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_cell_of_a_table_is_cut_or_left_out(width):
    table = pd.DataFrame.from_dict(ROWS, orient="index", columns=HEADER)
    lines = tabulated(table, width)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert all(words.count(cell) == 1 for cell in [*table.to_numpy().ravel(), *HEADER])


def test_a_table_of_few_rows_is_turned_where_that_fits():
    lines = tabulated(pd.DataFrame.from_dict(ROWS, orient="index", columns=HEADER).head(2), 80)
    assert [line.split()[0] for line in lines[1:]] == HEADER


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_a_text_takes_the_width_of_its_terminal(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    sentence = "what a table holds in words that go on for longer than a narrow terminal is wide, as they may"
    text = str(Text(sentence, pd.DataFrame({"description": {"runs": sentence}}), (sentence,) * 2))
    assert max(map(len, text.split("\n"))) <= int(columns)
    assert " ".join(text.split()).count("longer than a narrow terminal") == 4


def test_a_table_and_a_selection_of_it_print_in_human_units_and_hold_their_numbers(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    runs = bs.load("chinchilla_runs")
    for part, first in ((runs, "245 rows of chinchilla_runs"), (runs[runs["parameters"] > 1e10], "6 rows of")):
        text = str(pickle.loads(pickle.dumps(part)))
        assert text.startswith(first) and text == str(part) and "e+" not in text
        assert max(map(len, text.split("\n"))) <= 80
    assert "6.8B" in str(runs.head(3)) and "235 further rows follow" in str(runs)
    for name in runs:
        assert name in str(runs), name
    assert type(runs.table()) is pd.DataFrame and sha256(runs.table()) == sha256(runs) == sha256(runs.copy())


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.iloc[:0],
        lambda table: table[[]],
        lambda table: table.T,
        lambda table: table.groupby("d_model").agg(["mean", "std"]),
        lambda table: pd.concat([table, table.astype(object).where(table > 1e9, None)], axis=1),
        lambda table: table.set_index(["d_model", "loss"]),
    ],
)
def test_what_is_made_of_a_table_prints(change):
    table = PrintedTable.of(change(bs.load("chinchilla_runs")))
    assert str(table).startswith(f"{len(table)} rows") and "<strong>" in table._repr_html_()


def test_what_a_fit_prints_is_as_wide_as_its_terminal(fit_default, monkeypatch):
    for columns in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        budgets = [1e20, 1e22, 1e24, 1e26]
        results = (fit_default, fit_default.check(), fit_default.allocate(budgets, near_optimal=0.01),
                   fit_default.predict(bs.load("chinchilla_runs").head(3)), fit_default.study_exponents(),
                   fit_default.summary())  # fmt: skip
        for result in results:
            assert max(map(len, str(result).split("\n"))) <= columns and "e+" not in str(result)


def test_what_compares_fits_states_what_holds_of_each_in_short_sentences(fit_default, fit_normal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    table = bs.compare({"default": fit_default, "normal": fit_normal})
    text = " ".join(str(table).split())
    for name, fit in (("default", fit_default), ("normal", fit_normal)):
        assert f"Fit {name}: {verdict_sentence(fit.check())}" in text
    sentences = [x for x in text.split("rollout. ")[1].split(". ") if not x.startswith("Tests that reject it")]
    assert max(len(sentence.split()) for sentence in sentences) <= 28
    assert max(map(len, str(table).split("\n"))) <= 80 and "e+" not in text
    assert type(table.table()) is pd.DataFrame and table.table().equals(pd.DataFrame(table))
    assert table.plot().table["x"].min() == table["elpd_diff"].min()


def test_tables_have_intervals_at_a_level(fit_default):
    allocation, exponents = fit_default.allocate(1e23), fit_default.study_exponents()
    sizes, losses = allocation.table(level=0.9)["parameters"], fit_default.predict(bs.load("chinchilla_runs").head(3))
    assert list(sizes) == ["q5", "q50", "q95"]
    np.testing.assert_allclose(sizes.iloc[0], np.quantile(allocation["parameters"], [0.05, 0.5, 0.95]))
    np.testing.assert_allclose(losses.table(0.9)["q5"], losses["loss"].quantile(0.05, ("chain", "draw")))
    total = exponents.table(0.5).loc[("total", "size")]
    assert total["q75"] == pytest.approx(float(exponents["total"]["size"].quantile(0.75)))
    with pytest.raises(bs.InputError, match=r"level must be a share between 0 and 1 such as 0\.95, not 95"):
        allocation.table(95)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["/far/away/fit.nc"], ["fit.nc"]),
        (["out/a/fit.nc", "out/b/fit.nc"], ["a/fit.nc", "b/fit.nc"]),
        (["fit.nc", "b/fit.nc"], ["fit.nc", "b/fit.nc"]),
        (["a/fit.nc", "a/fit.nc"], ["fit.nc", "fit.nc"]),
    ],
)
def test_files_are_named_by_as_little_as_tells_them_apart(files, names):
    assert tables.names_of(files, json=False) == names
    assert tables.names_of(files, json=True) == files

import io
import re
from contextlib import redirect_stdout

import pytest
from bayescaling.commands import tables

HEADER = ("", "elpd", "se", "elpd_diff", "dse", "weight", "pareto_k_max", "k_above_0.7", "r_hat_max", "divergences")
ROWS = [(f"a-fit-of-mine-{i}.nc", *(f"{-1234.5678 - i:.4f}" for _ in HEADER[1:])) for i in range(3)]


class Screen(io.StringIO):
    """A stream that reports to be a terminal."""

    def isatty(self):
        return True


def shown(width, header, rows, monkeypatch, **options):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    with redirect_stdout(Screen()) as out:
        tables.print_table("a title", header, rows, **options)
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert max(map(len, text.splitlines())) <= width
    return text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_number_is_cut_and_what_is_left_out_is_named(width, monkeypatch):
    text = shown(width, HEADER, ROWS, monkeypatch)
    assert "…" not in text and "..." not in text
    numbers = re.findall(r"-\d{4}[\d.]*", text)
    assert set(numbers) == {row[1] for row in ROWS}
    names = text.partition("left out for want of width: ")[2].split(", ")
    left_out = [name.strip() for name in names if name.strip()]
    assert len(numbers) == 3 * (len(HEADER) - 1 - len(left_out))
    assert (len(left_out) == 0) == (width == 200)
    assert left_out == list(HEADER[len(HEADER) - len(left_out) :])


def test_the_least_important_columns_go_first(monkeypatch):
    text = shown(100, HEADER, ROWS, monkeypatch, least=("se", "dse"))
    omitted = text.partition("left out for want of width: ")[2]
    assert "se" in omitted and "dse" in omitted and "elpd_diff" not in omitted


def test_a_sentence_is_broken_between_lines_and_none_of_it_lost(monkeypatch):
    sentence = "what a table holds in words that go on for longer than a narrow terminal is wide, as they may"
    text = shown(50, ("name", "rows", "description"), [("runs", "245", sentence)], monkeypatch)
    assert all(word in text for word in sentence.split())
    assert "left out" not in text


def test_a_long_label_is_broken_rather_than_a_number(monkeypatch):
    label = "/".join(["a-long-folder"] * 6)
    text = shown(60, HEADER, [(label, *ROWS[0][1:])], monkeypatch)
    assert ROWS[0][1] in text
    assert re.sub(r"[^a-z/-]", "", text).count("folder") >= 5


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

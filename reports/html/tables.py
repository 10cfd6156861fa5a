"""Tables of the report."""

import re
from dataclasses import dataclass
from html import escape

import pandas as pd

from ...inference.comparison.differences import MEANING
from ...inference.words import flop, ratios, sizes

MISSING = "–"
MINUS = re.compile(r"(?<![\w.\-])-(?=[\d.])")
ENDS = re.compile(r"\[([^\[\],]+), ([^\[\],]+)\]")
NUMERIC = re.compile(r"^[+\N{MINUS SIGN}]?[\d.,]+(e[+-]\d+)?%?$|^–$")
POWER = re.compile(r"(\d)e([+-]\d+)\b")
SUBSCRIPT = re.compile(r"\b([A-Z])_([A-Za-z])(?![A-Za-z_])")


@dataclass(frozen=True)
class Table:
    """A table to show.

    Cells and headers are HTML. `numeric` are the places of columns that hold only numbers. `fits` names the fit, or
    fits, of each row; `of` names the fit of the whole table. `recommended` is the place of the row to use.
    """

    header: tuple
    rows: tuple
    numeric: frozenset
    title: str | None = None
    note: str | None = None
    fits: tuple = ()
    of: str | None = None
    recommended: int | None = None


def html(rows, *, title=None, note=None, decimals=None, fits=None, recommended=None):
    """Return rows as a `Table` to show.

    Parameters
    ----------
    rows : DataFrame or list of dict
        The first column heads each row. Text is shown unchanged, whatever it holds.
    title, note : str, optional
        A note is HTML.
    decimals : dict of str to int, optional
        Decimals of numeric columns.
    fits : str or sequence, optional
        Name of the fit of the whole table, or of each row, by default its first cell; a tuple if a row has several
        fits. A name that is no fit of the report gets no mark.
    recommended : int, optional
        Place of the row to use.
    """
    frame = pd.DataFrame(rows)
    digits = decimals or {}
    shown = {name: [_cell(x, digits.get(name)) for x in frame[name]] for name in frame}
    numeric = frozenset(
        i for i, cells in enumerate(shown.values()) if i and all(NUMERIC.match(cell) for cell in cells) and cells
    )
    header = tuple(lowered(escape(str(name))) for name in shown)
    whole = fits if isinstance(fits, str) else None
    of = () if whole else tuple(frame.iloc[:, 0].astype(str) if fits is None else fits)
    return Table(header, tuple(zip(*shown.values(), strict=True)), numeric, title, note, of, whole, recommended)


def _cell(x, digits):
    """Write a cell as HTML: with the minus sign of numbers, a dash where there is nothing."""
    if isinstance(x, str):
        # No line breaks within an interval.
        whole = ENDS.sub("[\\1,\N{NO-BREAK SPACE}\\2]", MINUS.sub("\N{MINUS SIGN}", escape(x)))
        return POWER.sub("\\1e<span class='whole'>\\2</span>", lowered(whole)) if not NUMERIC.match(whole) else whole
    if x is None or pd.isna(x):
        return MISSING
    return MINUS.sub("\N{MINUS SIGN}", escape(str(x) if digits is None else f"{x:,.{digits}f}"))


def lowered(text):
    """Write the letter of a symbol such as N_x as a subscript, as HTML."""
    return SUBSCRIPT.sub("\\1<sub>\\2</sub>", text)


COMPARISON = {"elpd": ("elpd", 1), "elpd_diff": ("difference", 1), "dse": ("its se", 1),
              "weight": ("stacking weight", 2), "k_above_0.7": ("k > 0.7", 0), "flags": ("flags", None)}  # fmt: skip


def comparison(table, *, weights=False, title=None):
    """Return the result of `compare` on laws as a table, with the sentence to quote and the meaning of flags."""
    flags = [f"{flag}: {meaning}" for flag, meaning in MEANING.items() if table["flags"].str.contains(flag).any()]
    held = {"weight": weights, "flags": bool(flags)}
    shown = {name: column for name, column in COMPARISON.items() if held.get(name, True)}
    frame = table[list(shown)].rename(columns={name: title for name, (title, _) in shown.items()})
    decimals = {title: digits for title, digits in shown.values() if digits}
    sentences = [escape(f"{text}.") for text in (table.attrs["sentence"], "; ".join(flags)) if text]
    return html(frame.reset_index(names="fit"), decimals=decimals, note=" ".join(sentences), title=title)


def of_rows(header, rows, note=None, **more):
    """Return rows of text as a table, each headed by its first cell; `more` as for `html`."""
    return html(pd.DataFrame(rows, columns=header), note=note, **more)


def of_answer(table):
    """Return an `IntervalTable` as a table: the cells, the title and the note that it prints."""
    text = table.text()
    return html(text.table.reset_index(names="which"), title=text.title, note=table.attrs.get("note"))


def allocated(entries, *, title=None, fits=None):
    """Return the compute-optimal sizes at several budgets as a table, from entries of results.json."""
    rows = [
        ({"group": a["group"]} if "group" in a else {})
        | {
            "compute (FLOP)": flop(a["compute"]).partition(" ")[0],
            "parameters": sizes(a["parameters"]),
            "tokens": sizes(a["tokens"]),
            "tokens per parameter": ratios(a["tokens_per_parameter"]),
            "loss (nats/token)": interval(a["loss"], "{:.3f}"),
            "beyond the runs (decades)": {None: "unknown", 0.0: "within"}.get(
                a["extrapolation"], f"{a['extrapolation'] or 0:+.1f}"
            ),
        }
        for a in entries
    ]
    return html(rows, title=title, fits=fits)


def interval(q, form="{:.4g}"):
    """Return the median and 95% interval of an `intervals.summary` in words."""
    low, middle, high = (form.format(q[k]) if q[k] is not None else "never" for k in ("q2.5", "q50", "q97.5"))
    return f"{middle} [{low}, {high}]"

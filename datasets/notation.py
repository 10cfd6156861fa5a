"""Numbers as people write them, such as 70M, 12,345,678 or ~257M, and flags such as yes."""

import re
from collections import Counter

import numpy as np
import pandas as pd

from ..errors import InputError
from .units import FACTORS, split_header
from .wording import plural, quoted, shortened

MISSING = {"", "na", "n/a", "nan", "null", "none"}
FLAGS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0, "y": 1.0, "n": 0.0}
PLAIN_ONLY = ("loss", "loss_halfwidth", "perplexity", "score", "accuracy")  # columns in which 3.2M has no meaning
OF_PERCENT = ("loss", "score", "accuracy", "number")  # columns in which 45% has one
OF_MONEY = ("value", "low", "high", "halfwidth")
STATES_PERCENT = re.compile("%|percent(?!ile)|pct")  # in the name of a column
SPACES = " \u00a0\u2009\u202f"
SEPARATORS = {",": "commas", "'": "apostrophes", ".": "points"} | dict.fromkeys(SPACES, "spaces")
WORDS = "|".join(sorted(FACTORS, key=len, reverse=True))
NUMBER = re.compile(
    rf"(?P<about>[~≈])?\s*(?P<sign>[+-]?)"
    rf"(?P<digits>[0-9]{{1,3}}(?:(?P<separator>[,'{SPACES}])[0-9]{{3}})(?:(?P=separator)[0-9]{{3}})*(?P<fraction>\.[0-9]+)?"
    rf"|[0-9]{{1,3}}(?:\.[0-9]{{3}}){{2,}}|[0-9]+\.?[0-9]*|\.[0-9]+)"
    rf"(?:(?P<exponent>[eE][+-]?[0-9]{{1,3}})|\s*(?:x|X|×|\*|·)\s*10\s*(?:\^|\*\*)\s*(?P<power>[+-]?[0-9]{{1,3}})"
    rf"|\s*(?P<suffix>(?i:{WORDS})))?"
)
LONGEST = 60  # characters of a number
FEW = 3  # cells in a message
# What may stand around a number, with its name in a note; a unit that changes it, such as bits, is none of it.
AROUND = {
    "errors": re.compile(r"\s*(?:±|\+/-|\+-)\s*[0-9.]+$|\s*\([0-9.]+\)$"),
    "words": re.compile(
        r"\s*(?:params?|parameters|tokens?|nats?|FLOPs?)(?:/token| per token)?$|(?<=[0-9]),$", re.IGNORECASE
    ),
    "marks of footnotes or bold": re.compile(r"^\*{1,2}(?=[^*])|(?<=[^*])[*†‡§]{1,2}$"),
}
CURRENCY = r"(?:US ?\$|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY)"
MONEY = re.compile(rf"(?P<sign>[+-]?)(?P<before>{CURRENCY})?\s*(?P<amount>[^\s$€£¥₹].*?)\s*(?P<after>{CURRENCY})?")
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")
LONE_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
LEAST_COMMAS = 3  # cells that show that commas are decimal
# A number with a decimal comma or none, where points are between thousands, and one that can be nothing else.
EUROPEAN = re.compile(rf"[+-]?(?:[0-9]{{1,3}}(?:[.{SPACES}][0-9]{{3}})+|[0-9]+)(?:,[0-9]+)?")
SURELY_EUROPEAN = re.compile(
    rf"[+-]?(?:[0-9]{{1,3}}(?:[.{SPACES}][0-9]{{3}})+,[0-9]+|[0-9]+,(?:[0-9]{{1,2}}|[0-9]{{4,}}))"
)


def parsed(text):
    """Return the number that a text states, or None, and how it is written: marks, none of them for 2.5e9.

    Examples
    --------
    >>> parsed("70M"), parsed("3 x 10^9"), parsed("seven"), parsed("45%")
    ((70000000.0, {'suffix': 'M'}), (3000000000.0, {'power': '9'}), (None, {}), (0.45, {'percent': '%'}))
    """
    text, around = text.strip(), {}
    if len(text) > LONGEST:
        return None, {}
    if text.endswith("%"):
        number, marks = parsed(text[:-1]) if not text.endswith("%%") else (None, {})
        wrong = number is None or {"percent", "suffix"} & set(marks)
        return (None, {}) if wrong else (number / 100, marks | {"percent": "%"})
    for name, form in AROUND.items():
        if (inner := form.sub("", text)) != text:
            text, around[name] = inner, name
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda raised: "^" + raised[0].translate(RAISED), text)
    match = NUMBER.fullmatch(text)
    if match is None:
        return None, {}
    marks = around | {name: match[name] for name in ("about", "separator", "suffix", "power") if match[name]}
    digits = match["digits"]
    if match["separator"]:
        digits = digits.replace(match["separator"], "")
        if match["separator"] == "," and digits.startswith("0"):
            return None, {}  # 0,125 is a decimal comma
        marks["groups"] = "one" if match["digits"].count(match["separator"]) == 1 and not match["fraction"] else "many"
    elif digits.count(".") > 1:
        digits, marks["separator"], marks["groups"] = digits.replace(".", ""), ".", "many"
    exponent = match["exponent"] or ""
    if match["power"]:
        exponent = f"e{match['power']}"
    if match["suffix"]:
        exponent = f"e{round(np.log10(FACTORS[match['suffix'].lower()]))}"
    return float(f"{match['sign']}{digits}{exponent}"), marks


def as_written(table, canonicals, flags, units, changes):
    """Return a table with cells that people write as 70M, 12,345,678, ~257M or yes as numbers, and record it.

    `canonicals` has the columns that hold numbers with their canonical names, of which `flags` are 0 or 1. A cell that
    could mean two numbers, such as 12,345, is left for the check of its column. Suffixes with a unit are refused.
    """
    table = table.copy(deep=False)
    for column, canonical in canonicals.items():
        cells, sentence = table[column], ""
        if canonical in flags:
            cells, sentence = _read_flags(cells, column)
        elif cells.dtype == object or pd.api.types.is_string_dtype(cells):
            unit = units.get(canonical, split_header(column)[1])
            cells, sentence = _read_numbers(cells, column, canonical, unit, changes.label)
        if sentence:
            table[column] = cells
            changes.add("notation", sentence, column=str(column), what=sentence)
    return table


def _read_flags(cells, column):
    """Return cells with yes and true as 1, no and false as 0, and the sentence about it."""
    words = {cell: FLAGS.get(str(cell).strip().lower()) for cell in cells if isinstance(cell, str | bool | np.bool_)}
    values = {cell: value for cell, value in words.items() if value is not None}
    if not values:
        return cells, ""
    texts = ", ".join(f"{quoted(cell)} as {value:g}" for cell, value in list(values.items())[:4])
    read = [values.get(cell, cell) if isinstance(cell, str | bool | np.bool_) else cell for cell in cells]
    return _infer_numbers(pd.Series(read, cells.index, dtype=object)), f"{quoted(column)} is written in words: {texts}"


def _read_numbers(cells, column, canonical, unit, label):
    """Return cells with numbers in place of those that are written otherwise, and the sentence about it."""
    texts = {row: cell for row, cell in cells.items() if isinstance(cell, str)}
    amounts, currency = _strip_currency(texts, column, label) if canonical in OF_MONEY else (texts, "")
    european = _are_decimal(list(amounts.values()), canonical, currency)
    refused = {"suffix"} if canonical in PLAIN_ONLY else set()
    refused |= set() if canonical in OF_PERCENT else {"percent"}
    in_percent = canonical in ("score", "number") and (unit == "percent" or STATES_PERCENT.search(str(column).lower()))
    results = {}
    for row, text in amounts.items():
        plain = re.sub(rf"[.{SPACES}]", "", text).replace(",", ".") if european else text
        number, marks = parsed(plain)
        if plain != texts[row] and number is not None:
            marks |= ({"currency": currency} if currency else {}) | ({"decimal": ","} if european else {})
        if marks and np.isfinite(number) and not refused & set(marks):
            results[row] = (number * 100 if in_percent and "percent" in marks else number), marks
    # 12,345 has a separator of thousands if another cell is 1,234,567, and a decimal comma if one is 12,34.
    commas = [marks["groups"] for _, marks in results.values() if marks.get("separator") == ","]
    lone = [text for text in texts.values() if LONE_COMMA.fullmatch(text.strip())]
    rounded = len(lone) > 1 and canonical not in PLAIN_ONLY and all(text.strip().endswith("00") for text in lone)
    many = "many" in commas or rounded or (currency and currency not in ("€", "EUR", "CHF"))
    if "one" in commas and not (
        many and not any(LONE_COMMA.fullmatch(text.strip()) for row, text in texts.items() if row not in results)
    ):
        results = {
            row: (number, marks)
            for row, (number, marks) in results.items()
            if marks.get("separator") != "," or marks["groups"] == "many"
        }
    if not results:
        return cells, ""
    suffixes = list(dict.fromkeys(marks["suffix"] for _, marks in results.values() if "suffix" in marks))
    if suffixes and isinstance(unit, int | float) and unit != 1:
        raise InputError(
            f"{label}: column {quoted(column)} has cells with {_join(suffixes)}, such as "
            f"{quoted(next(texts[row] for row, (_, marks) in results.items() if 'suffix' in marks))}, "
            f"and a unit of {unit:g}; leave one of them out: write plain numbers, or take the unit from the header or "
            "the option unit (--unit)"
        )
    read = [
        results[row][0]
        if row in results
        else None
        if isinstance(cell, str) and cell.strip().lower() in MISSING
        else cell
        for row, cell in cells.items()
    ]
    return _infer_numbers(pd.Series(read, cells.index, dtype=object)), _describe(column, suffixes, results)


def _strip_currency(texts, column, label):
    """Return cells without a currency, and the currency; refuse several."""
    amounts, currencies = dict(texts), {}
    for row, text in texts.items():
        match = MONEY.fullmatch(text.strip())
        if match and (sign := match["before"] or match["after"]) and not (match["before"] and match["after"]):
            amounts[row] = match["sign"] + match["amount"]
            currencies.setdefault(sign.replace(" ", ""), text)
    if len(currencies) > 1:
        raise InputError(
            f"{label}: column {quoted(column)} has amounts in several currencies, such as "
            f"{_join(list(currencies.values())[:FEW])}; convert them into one"
        )
    return amounts, next(iter(currencies), "")


def _are_decimal(texts, canonical, currency=""):
    """Return whether every text has a decimal comma or none; 3,965 has one in a column of losses."""
    present = [text.strip().removesuffix("%").strip() for text in texts if text.strip().lower() not in MISSING]
    if not all(map(EUROPEAN.fullmatch, present)):
        return len(present) >= LEAST_COMMAS and all(map(COMMA.fullmatch, present))
    sure = [text for text in present if SURELY_EUROPEAN.fullmatch(text)]
    if any(re.search(rf"[.{SPACES}]", text) for text in sure) or (
        sure and (currency or any("%" in text for text in texts))
    ):
        return True
    plain = canonical in PLAIN_ONLY and all(len(text.partition(",")[0]) < 3 for text in present)
    return len(present) >= LEAST_COMMAS and all("," in text for text in present) and bool(plain or sure)


def _infer_numbers(cells):
    """Return cells as numbers where all are, else unchanged."""
    try:
        plain = [np.nan if cell is None or cell is pd.NA else cell for cell in cells]
        if any(isinstance(cell, str | bool | np.bool_ | bytes) for cell in plain):
            raise ValueError
        return pd.Series([float(cell) for cell in plain], index=cells.index, dtype="float64")
    except (TypeError, ValueError, OverflowError):
        return cells


def _describe(column, suffixes, results):
    marks = [marks for _, marks in results.values()]
    values = [f"{FACTORS[x.lower()]:.0e}".replace("e+0", "e").replace("e+", "e") for x in suffixes]
    separators = sorted({SEPARATORS[x["separator"]] for x in marks if "separator" in x})
    counts = Counter(name for x in marks for name in x)
    currency = next((x["currency"] for x in marks if "currency" in x), "")
    around = [name for name in AROUND if counts[name]]
    parts = (
        (suffixes, lambda: f"with {_join(suffixes)}, read as {_join(values)}"),
        (separators, lambda: f"with {_join(separators)} between thousands"),
        (counts["decimal"], lambda: "with decimal commas"),
        (currency, lambda: f"in {currency}"),
        (counts["percent"], lambda: "in percent"),
        (counts["power"], lambda: "with powers of ten"),
        (counts["about"], lambda: f"with ~ in {plural(counts['about'], 'cell')}, which is ignored"),
        (around, lambda: f"with {_join(around)}, which are left out"),
    )
    return f"{quoted(column)} is written {', '.join(say() for found, say in parts if found)}"


def _join(texts):
    texts = [shortened(text) for text in texts]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"

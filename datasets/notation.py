"""Numbers as people write them, such as 70M, 12,345,678 or ~257M, and flags such as yes."""

import re
from collections import Counter

import numpy as np
import pandas as pd

from ..errors import InputError
from .meaning.names import means
from .units import FACTORS, split_header
from .wording import plural, quoted, shortened

MISSING = {"", "na", "n/a", "nan", "null", "none"}
FLAGS = dict.fromkeys(str.split("yes true y t pass passed success correct solved"), 1.0)
FLAGS |= dict.fromkeys(str.split("no false n f fail failed failure incorrect wrong unsolved"), 0.0)
PLAIN_ONLY = ("loss", "loss_halfwidth", "perplexity", "score", "accuracy")  # columns in which 3.2M has no meaning
OF_PERCENT = ("loss", "score", "accuracy", "number")  # columns in which 45% has one
OF_MONEY = ("value", "low", "high", "halfwidth", "number")
OF_TIME = ("minutes", "estimated_minutes")
TIMES = {"seconds": 1 / 60, "minutes": 1.0, "hours": 60.0, "days": 480.0}  # in minutes; a working day has 8 hours
TIMES_OF_HEADERS = (("hour|hrs?(?![a-z])", "hours"), ("second|_secs?(?![a-z])|_s$", "seconds"), ("days", "days"))
OF_DAYS = re.compile(r"([0-9.]+)\s*(w|d)(?:eeks?|ays?)?(?![a-z])", re.IGNORECASE)
CLASS_OF_TIME = re.compile(r"\s*([0-9.]+)\s*([a-z]*)\s*(?:-|–|to)\s*([0-9.]+\s*[a-z]+)\s*", re.IGNORECASE)
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
MONEY = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>{CURRENCY})?\s*(?P<amount>[^\s$€£¥₹].*?)\s*(?P<after>{CURRENCY})?"
    r"(?P<per>\s*(?:/|per )\s*[^/]*[a-z][^/]*)?",
    re.IGNORECASE,
)
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
        elif canonical in OF_TIME or (canonical == "number" and means(column, "time")):
            cells, sentence = _read_times(cells, column, canonical, units.get(canonical))
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


def time_unit(header):
    """Return the unit that the name of a column of times states, None where it states none."""
    unit = next((unit for pattern, unit in TIMES_OF_HEADERS if re.search(pattern, str(header).lower())), None)
    return unit or ("minutes" if "min" in str(header).lower() else None)


def minutes_of(text):
    """Return the minutes that a text such as 45m or 1h 20m states, the geometric middle of 1-4 hours; else None.

    Examples
    --------
    >>> [minutes_of(text) for text in ("45m", "1h 20m", "0:45:12", "1-4 hours", "2 days", "<15 min", "45")]
    [45.0, 80.0, 45.2, 120.0, 960.0, None, None]
    """
    if match := CLASS_OF_TIME.fullmatch(text):
        low, high = minutes_of(match[1] + (match[2] or re.sub("[0-9. ]", "", match[3]))), minutes_of(match[3])
        return None if low is None or high is None else float(np.sqrt(low * high))
    iso = text.startswith("P")  # PT45M
    if not re.search("[a-z:]", text.lower()) or (not iso and re.search("[0-9] *M(?![A-Za-z])", text)):
        return None
    if ":" not in text:
        minutes = {"w": 5 * TIMES["days"], "d": TIMES["days"]}
        text = OF_DAYS.sub(lambda match: f"{float(match[1]) * minutes[match[2].lower()]} min", text)
    text = text if iso else re.sub(r"(hr|min|sec)s", r"\1", text.lower())
    time = pd.to_timedelta(text, errors="coerce")
    return None if pd.isna(time) else time.total_seconds() / 60


def _read_times(cells, column, canonical, unit):
    """Return cells with times in the unit of their column in place of 45m or 1h 20m, and the sentence about it."""
    factor = TIMES[unit or time_unit(column) or "minutes"]
    if pd.api.types.is_timedelta64_dtype(cells):
        return cells.dt.total_seconds() / 60 / factor, f"{quoted(column)} has durations, read in their own units"
    texts = {cell: minutes for cell in cells if isinstance(cell, str) and (minutes := minutes_of(cell)) is not None}
    if not texts:
        silent = unit or time_unit(column) or canonical == "number"
        plain = f"{quoted(column)} names no unit of time and is read in minutes; give another with --unit minutes=hours"
        return cells, "" if silent else plain
    read = [texts[cell] / factor if cell in texts else cell for cell in cells]
    examples = ", ".join(f"{quoted(cell)} as {x:.3g} minutes" for cell, x in list(texts.items())[:FEW])
    middles = "; a class of times takes its geometric middle" * any(map(CLASS_OF_TIME.fullmatch, texts))
    cells = _infer_numbers(pd.Series(read, cells.index, dtype=object))
    return cells, f"{quoted(column)} is written in times: {examples}{middles}"


def _read_numbers(cells, column, canonical, unit, label):
    """Return cells with numbers in place of those that are written otherwise, and the sentence about it."""
    texts = {row: cell for row, cell in cells.items() if isinstance(cell, str)}
    amounts, currency = (texts, "")
    if canonical in OF_MONEY:
        amounts, currency = _strip_currency(texts, column, label, canonical != "number")
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
    many = "many" in commas or rounded or (currency and not currency.startswith(("€", "EUR", "CHF")))
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


def _strip_currency(texts, column, label, needed):
    """Return cells without a currency and what it is per, such as /hr, and both; refuse several where `needed`."""
    amounts, found = dict(texts), {}
    for row, text in texts.items():
        match = MONEY.fullmatch(text.strip())
        if match and (sign := match["before"] or match["after"]) and not (match["before"] and match["after"]):
            amounts[row] = match["sign"] + match["amount"]
            per = re.sub(r"^\s*(?:/|per )\s*", "/", match["per"] or "", flags=re.IGNORECASE)
            found.setdefault((sign.replace(" ", ""), per.strip()), text)
    if len(found) > 1 and not needed:
        return texts, ""
    if len(found) > 1:
        what = "in several currencies" if len({currency for currency, _ in found}) > 1 else "of several things"
        raise InputError(
            f"{label}: column {quoted(column)} has amounts {what}, such as {_join(list(found.values())[:FEW])}; "
            "convert them into one"
        )
    return amounts, "".join(next(iter(found), ""))


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

"""Cells of a column as numbers, names or days."""

import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd
from dateutil.parser import parse as parse_date

from .checks import Fault, blank
from .notation import parsed
from .wording import listed, plural, quoted

DAYS = 365
FIRST_YEAR, LAST_YEAR = 1700, 2200  # within what nanoseconds since 1970 can represent
QUARTER = re.compile(r"(?P<year>[0-9]{4})[ -]?Q(?P<quarter>[1-4])|Q([1-4])[ /-]?([0-9]{4})")
# A date states its year in full; 2024.06 may be a part of a year, and -2020 is none.
FULL = re.compile(r"(?![-/]|[0-9]{4}\.[0-9]+$)(?=.*(?<![0-9])[0-9]{4}(?![0-9])|[0-9]{8}).*[^-/]", re.ASCII)
UNSTATED = datetime(2001, 1, 1), datetime(2002, 2, 2)  # what a date does not state differs between these
MONTHS_OF_A_YEAR = 12
ISO = re.compile(r"[0-9]{4}-?[0-9]{2}(?![0-9]{3})|[0-9]{4}$")  # the beginning of a date that needs no note
# 03/05/2024, of which the day may be 3 or 5.
IN_FIGURES = re.compile(r"(?<![0-9])([0-9]{1,2})([/. -])([0-9]{1,2})\2([0-9]{4})(?![0-9])")
# Jan-22, 5-Mar-24 and 1/10/22: what is before the year, and the year.
SHORT = re.compile(
    r"^([0-9]{1,2}[ -][A-Za-z]{3,9}\.?[ -]|[A-Za-z]{3,9}\.?(?:-| ?['\u2019/])|([0-9]{1,2})[/.-][0-9]{1,2}[/.-])"
    "([0-9]{2})(?=$|[ T])"
)
NINETIES = 70  # two digits of a year from which on it is of the last century
UNITS_OF_EPOCH = {"s": 3e8, "ms": 3e11, "us": 3e14, "ns": 3e17}  # since 1970, each with the least, in 1979
DECIMAL = re.compile(r"\s*([0-9]{4})(?:\.([0-9]+))?\s*")  # a year, and a part of it
HALFWIDTH = "halfwidth_days"  # ends the name of a column


def numbers(cells, column):
    """Return cells as float64, NaN where there is nothing or no number, and the faults of those that are no numbers."""
    if pd.api.types.is_any_real_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
        return pd.Series(cells.to_numpy("float64", na_value=np.nan), index=cells.index), []
    values, faults = [], []
    for row, cell in cells.items():
        try:
            values.append(_read_number(cell))
        except (TypeError, ValueError, OverflowError):
            values.append(np.nan)
            faults.append(Fault(row, column, f"found {quoted(cell)}, which is not a number", _propose(str(cell))))
    return pd.Series(values, index=cells.index, dtype="float64"), faults


def as_numbers(table, names):
    """Return columns of a table by name as `numbers` does, and the faults of all of them."""
    pairs = {name: numbers(table[name], name) for name in names}
    return {name: values for name, (values, _) in pairs.items()}, [x for _, faults in pairs.values() for x in faults]


def _read_number(cell):
    if cell is None or cell is pd.NA or (isinstance(cell, str) and not cell.strip()):
        return np.nan
    # Python would read True as 1, 1_000 as 1000, bytes as their text, and digits of any script.
    if isinstance(cell, bool | np.bool_ | bytes) or "_" in str(cell) or not str(cell).isascii():
        raise ValueError
    return float(cell)


# How to write a cell that is no plain number: whole without separators, or with a point for its comma.
FIXES = (
    (r"\d{1,3},\d{3}", "write it without separators as {whole}, or with a point as {point}"),
    (r"\d{1,3}([ ,'_]\d{3})+(\.\d+)?", "write it without separators as {whole}"),
    (r"\d+,\d+", "write it with a decimal point as {point}"),
    (r"\s*[<>≤≥].*", "write the number that it stands for"),
    (r"(?s).*", "write a plain number such as 2.5 or 7e9"),
)


def _propose(text):
    text = text.strip()
    number, marks = parsed(text)
    if "suffix" in marks and marks.get("groups") != "one":
        return f"write it out as {number:.12g}".replace("e+0", "e").replace("e+", "e")
    fix = next(fix for pattern, fix in FIXES if re.fullmatch(pattern, text))
    return fix.format(whole=re.sub(r"[^0-9.]", "", text), point=text.replace(",", "."))


def as_names(table, names, optional=()):
    """Return columns of a table by name as text, and the faults of cells that are no names.

    A whole number that blanks have made a float has no decimal point. A blank stays, and is no fault in `optional`.
    """
    faults = [fault for name in names for fault in find_nameless(table[name], name in optional)]
    text = {name: table[name].astype(object).map(_write_name, na_action="ignore").astype(object) for name in names}
    return text, faults


def find_nameless(cells, optional=False):
    """Yield the faults of cells that are no names: bytes, and blanks unless they are `optional`."""
    for row, cell in cells.items():
        if isinstance(cell, bytes):
            problem = f"found {quoted(cell)}, bytes where a name should be"
            yield Fault(row, cells.name, problem, "store the column as text")
        elif blank(cell) and not optional:
            yield Fault(row, cells.name, "found nothing (a blank)", "fill it in or delete the row")


def _write_name(cell):
    whole = isinstance(cell, float | np.floating) and np.isfinite(cell) and cell == np.floor(cell)
    return str(int(cell)) if whole else str(cell)


def others_than(choices, cells, *, optional=False):
    """Return the faults of cells that are none of the choices; a blank is no fault where it is `optional`."""
    faults, fix = [], ("correct it or leave it blank" if optional else "correct it or delete the row")
    for row, cell in cells[~cells.isin(choices)].items():
        if not (optional and blank(cell)):
            problem = "nothing (a blank)" if blank(cell) else f"{quoted(cell)}, which is none of {listed(choices)}"
            faults.append(Fault(row, cells.name, f"found {problem}", fix))
    return faults


def find_fractions(table, names):
    """Yield the faults of cells of columns that are no whole numbers."""
    for name in names:
        for row, value in table[name][table[name] != table[name].round()].items():
            fault = "nothing (a blank or NaN)" if np.isnan(value) else f"{quoted(value)}, which is no whole number"
            yield Fault(row, name, f"found {fault}", "correct it or delete the row")


def as_days(cells, changes=None, header=None, *, optional=False):
    """Return days, their half-widths in days and the faults of cells; a year, a quarter or a month takes its middle.

    A blank is no fault where it is `optional`. A form of days other than 2019-02-14, in the column `header` of the
    file, is recorded in `changes`. In 03/05/2024 the day is where cells such as 25/05/2024 have it, or it is a fault.
    Where one cell is a decimal year such as 2015.5, all are days, and 2015.0 is the first one of 2015. Numbers from
    3e8 on are seconds since 1970, or thousandths or less of them. A day with a time zone is the one that is written.

    Examples
    --------
    >>> as_days(pd.Series([2015.0, 2015.5]))[0].dt.strftime("%Y-%m-%d").tolist()
    ['2015-01-01', '2015-07-02']
    >>> days, halfwidths, faults = as_days(pd.Series(["2016", "Oct 2018", "2019-01-09", "Mar 05, 2024"]))
    >>> days.dt.strftime("%Y-%m-%d").tolist(), halfwidths.tolist(), faults
    (['2016-07-02', '2018-10-16', '2019-01-09', '2024-03-05'], [183.0, 15.5, 0.0, 0.0], [])
    """
    whole = {cell: _write_century(cell) for cell in set(map(str, cells))}
    day_first, texts = _find_day_first(whole.values()), set(map(str, cells[~cells.map(blank).astype(bool)]))
    read = {cell: _read_date(text, day_first) for cell, text in whole.items()}
    if _are_decimal_years(texts):
        read |= {cell: (_day_of(float(cell)), 0.0) for cell in texts}
    if unit := _unit_of_epoch(texts):
        read |= {cell: (pd.to_datetime(float(cell), unit=unit), 0.0) for cell in texts}
    if day_first and all(
        int(match[2] or 0) > MONTHS_OF_A_YEAR for text in texts if (match := SHORT.match(text.strip()))
    ):
        unsure = "in which the day or the year may be first"
        read |= {cell: unsure for cell, text in whole.items() if text != cell.strip() and IN_FIGURES.match(text)}
    dates = cells.map(lambda cell: read[str(cell)], na_action="ignore" if optional else None)
    faults = [
        Fault(row, cells.name, f"found {quoted(cells[row])}, {problem}", _propose_date(str(cells[row])))
        for row, problem in dates.items()
        if isinstance(problem, str)
    ]
    pairs = [date if isinstance(date, tuple) else (pd.NaT, 0.0) for date in dates]
    days = pd.Series([day for day, _ in pairs], index=cells.index).astype("datetime64[ns]")
    halfwidths = pd.Series([halfwidth for _, halfwidth in pairs], index=cells.index, dtype="float64")
    written = [str(cell).strip() for cell in cells]
    others = [i for i, text in enumerate(written) if pairs[i] != (pd.NaT, 0.0) and not re.match(ISO, text)]
    if changes is not None and (row := next((i for i in others if not pairs[i][1]), None)) is not None:
        sentence = f"{quoted(header)} is written as {written[row]}, read as {pairs[row][0].date()}"
        changes.add("date", sentence, column=str(header), what=sentence)
    return days, halfwidths.where(days.notna()), faults


def _write_century(text):
    """Return a date with its year in full, such as Jan-2022 for Jan-22."""
    return SHORT.sub(
        lambda match: f"{match[1]}{'19' if int(match[3]) >= NINETIES else '20'}{match[3]}", text.strip(), 1
    )


def _unit_of_epoch(texts):
    """Return the unit in which every text counts the time since 1970, None where some does not."""
    if not texts or not all(re.fullmatch(r"[0-9]{9,19}(\.[0-9]+)?", text.strip()) for text in texts):
        return None
    least, greatest = (extreme(map(float, texts)) for extreme in (min, max))
    return next((unit for unit, first in UNITS_OF_EPOCH.items() if first <= least and greatest < 20 * first), None)


def _find_day_first(texts):
    """Return whether the day is before the month in dates such as 25/05/2024, None where no cell or both show it."""
    matches = [match for text in texts if (match := IN_FIGURES.search(text))]
    firsts, seconds = (any(int(match[group]) > MONTHS_OF_A_YEAR for match in matches) for group in (1, 3))
    return None if firsts == seconds else firsts


def _are_decimal_years(texts):
    """Return whether texts are years with parts of them, which are not the months of 2024.01 to 2024.1 and .12."""
    matches = [DECIMAL.fullmatch(text) for text in texts]
    if not texts or not all(matches) or not all(FIRST_YEAR <= int(match[1]) <= LAST_YEAR for match in matches):
        return False
    parts = [match[2] for match in matches if (match[2] or "0").strip("0")]
    return any(part != "1" and (len(part) != len("01") or int(part) > MONTHS_OF_A_YEAR) for part in parts)


def _day_of(year):
    """Return the day of a decimal year, as `fractional_years` has it."""
    return pd.Timestamp(int(year), 1, 1) + pd.Timedelta(days=round(year % 1 * DAYS))


def _propose_date(text):
    match = IN_FIGURES.search(_write_century(text))
    if match is None or max(int(match[1]), int(match[3])) > MONTHS_OF_A_YEAR:
        return "write it as 2019-02-14"
    first, second = match[1].zfill(2), match[3].zfill(2)
    return f"write it as {match[4]}-{second}-{first} if the day is first, or {match[4]}-{first}-{second}"


def _read_date(text, day_first):
    """Return the day of a text, or the middle of a period, with its half-width in days; else what is wrong with it."""
    text = re.sub(r"(?<=[0-9])\.0$", "", text.strip()).replace(",", ", ")
    quarter, first = QUARTER.fullmatch(text), bool(day_first) and not text[:4].isdigit()
    if quarter:
        text = f"{quarter['year'] or quarter[4]}-{3 * int(quarter['quarter'] or quarter[3]) - 2:02}"
    forms = [(UNSTATED[0], first), (UNSTATED[1], first), (UNSTATED[0], not first)]
    try:
        day, other, swapped = (parse_date(text, default=x, dayfirst=y, tzinfos=_find_zone) for x, y in forms)
    except (ValueError, OverflowError):
        return "which is no date"
    if day.year != other.year or not FULL.fullmatch(text) or not text.isascii():
        return "which is no date"
    if day_first is None and swapped != day and not text[:4].isdigit():
        return "in which the day may be first or second"
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        return f"which is not of {FIRST_YEAR} to {LAST_YEAR}"
    day = day.replace(tzinfo=None)
    months = 3 if quarter else 12 if day.month != other.month else 1 if day.day != other.day else 0
    length = (pd.Timestamp(day) + pd.DateOffset(months=months) - pd.Timestamp(day)).days
    return pd.Timestamp(day) + pd.Timedelta(days=length // 2), length / 2


def _find_zone(name, offset):
    """Take any time zone for one; `dateutil` would warn of those that it does not know."""
    return None if name is offset is None else UTC


def with_halfwidths(table, name, header, halfwidths, changes):
    """Add the half-widths of dates as a column such as ``date_halfwidth_days`` where one is above 0, and record it."""
    wide = halfwidths[halfwidths > 0]
    column = f"{name}_{HALFWIDTH}"
    if wide.empty:
        return table
    dates = "date is a year, a quarter or a month and takes its" if len(wide) == 1 else (
        "dates are years, quarters or months and take their"
    )  # fmt: skip
    aside = "" if column in table else f"; column {quoted(column)} has the half-widths"
    sentence = (
        f"in {quoted(header)} {len(wide)} {dates} middle, with an error of up to {plural(round(wide.max()), 'day')}"
    )
    changes.add("date", sentence + aside, column=str(header), what=sentence)
    return table if column in table else table.assign(**{column: halfwidths})


def fractional_years(dates):
    """Return years of a Series of dates, with the days of each as their fraction.

    Examples
    --------
    >>> float(fractional_years(pd.Series(pd.to_datetime(["2019-01-01"]))).iloc[0])
    2019.0
    """
    return dates.dt.year + (dates.dt.day_of_year - 1) / DAYS

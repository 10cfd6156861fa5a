"""Parts of one-line messages."""

import difflib
import numbers
import shlex

from ..errors import InputError

LONGEST = 60


def command(*words):
    """Return words of the command line as a shell reads them.

    Examples
    --------
    >>> command("show", "my fit.nc")
    "bayescaling show 'my fit.nc'"
    """
    return shlex.join(["bayescaling", *map(str, words)])


def printable(text):
    """Return text on one line, escaped if a character does not print."""
    text = str(text)
    return text if text.isprintable() else repr(text)[1:-1]


def source_of(table):
    """Return how messages call a table: by its file or its name."""
    return table.attrs.get("source", "the table")


def shortened(text):
    """Return text on one line, cut if it is long."""
    text = printable(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def reason(error):
    """Return the first line of an error's text, or its class where it has none, short enough for a message."""
    return shortened((str(error).splitlines() or [""])[0] or type(error).__name__)


def quoted(value):
    """Return a value for a message: numbers bare, anything else between double quotes."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return f"{value:.10g}" if isinstance(value, float) else str(value)
    return f'"{shortened(value)}"'


def shorten_number(x, digits=3):
    """Return a number with a few digits, without the plus and the zeros of its exponent: 1e9."""
    return f"{x:.{digits}g}".replace("e+0", "e").replace("e+", "e")


def shown(value):
    """Return the `repr` of a value on one line, cut if it is long."""
    return shortened(repr(value))


def check_switch(option, value):
    """Refuse a value of an option that is on or off."""
    if not isinstance(value, bool):
        raise InputError(f"{option} must be true or false, not {shown(value)}")


def check_choice(kind, value, choices):
    """Refuse a value that is none of the choices; the message names the closest first."""
    if value not in list(choices):
        raise InputError(unknown(kind, value, choices))


def listed(names, most=None):
    """Return names in quotes, separated by commas: all, or at most so many and the number of the others.

    Examples
    --------
    >>> listed("ab"), listed("abcd", 2), listed([])
    ('"a", "b"', '"a", "b" and 2 more', 'none')
    """
    names = list(names)
    more = "" if most is None or len(names) <= most else f" and {len(names) - most} more"
    return (", ".join(quoted(name) for name in names[:most]) or "none") + more


def nearest(columns, words, shown):
    """Return names of columns for a message, those nearest to some words first."""

    def distance(name):
        return -max(difflib.SequenceMatcher(None, str(name).lower(), word).ratio() for word in words)

    return listed(columns if len(columns) <= shown else sorted(columns, key=distance), shown)


def unknown(kind, value, choices):
    """Return the message that refuses a value, with the closest choice first and then all choices.

    Of choices that differ in a number at their end, the first and the last stand for all.
    """
    near, by_stem = suggestion(value, choices) or ";", {}
    for choice in map(str, choices):
        by_stem.setdefault(choice.rstrip("0123456789"), []).append(choice)
    shown = [name for same in by_stem.values() for name in (same if len(same) < FEW else [f"{same[0]} to {same[-1]}"])]
    return f"{kind} {quoted(value)} is unknown{near} choose one of {', '.join(shown)}"


def suggestion(name, names, cutoff=0.6):
    """Return the question ``; did you mean "x"?`` with the name of `names` closest to `name`, or an empty text."""
    candidates = {str(candidate).lower(): candidate for candidate in names}
    closest = difflib.get_close_matches(str(name).lower(), candidates, n=1, cutoff=cutoff)
    return f"; did you mean {quoted(candidates[closest[0]])}?" if closest else ""


FEW = 4  # choices that differ in a number alone are listed below it
LEAST_P = 1e-16  # smaller p values are printed as less than this


def p_value(p, name="p"):
    """Return a p value as text, with one digit below 0.01 and two above; without a name it is a cell of a table.

    Examples
    --------
    >>> p_value(0.00642), p_value(4.2e-6), p_value(1e-20), p_value(0.468, "")
    ('p = 0.006', 'p = 4e-6', 'p < 1e-16', '0.47')
    """
    if p < LEAST_P:
        return f"{name} < {LEAST_P:.0e}".strip()
    text = f"{p:.2g}" if p >= 0.01 else f"{p:.1g}" if p >= 0.001 else f"{p:.0e}".replace("e-0", "e-")
    return f"{name} = {text}" if name else text


def plural(count, one, several=None):
    """Return a count with its noun, which takes an s unless it is one or another plural is named.

    Examples
    --------
    >>> plural(1, "warning"), plural(1200, "row"), plural(2, "row was", "rows were")
    ('1 warning', '1,200 rows', '2 rows were')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def size(x):
    """Write a number of parameters or tokens, with no more digits than its interval bears: 99B, 1.46T."""
    return si(x, lambda short: f"{short:.0f}" if abs(short) >= 10 else f"{short:.3g}")


def si(x, form="{:.3g}".format):
    """Write a number in the short form of model sizes: 70B, 1.4T; ``form`` writes what stands before the letter.

    Examples
    --------
    >>> si(70e9), si(1.4e12), si(999.9e6), si(1.3e17)
    ('70B', '1.4T', '1B', '1.3e17')
    """
    if abs(x) >= 0.9995e15:
        return f"{x:.3g}".replace("e+", "e")
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(x) >= 0.9995 * size:
            return f"{form(x / size)}{letter}"
    return form(x)


def number(x):
    """Write a cell of a table for a reader: sizes as 113B, others with three digits, dates, a dash for missing.

    Examples
    --------
    >>> number(1.129e11), number(2.97614), number(2023.886), number(1.92e19), number(3e-05), number(float("nan"))
    ('113B', '2.98', '2023.9', '1.92e19', '3e-5', '–')
    """
    if hasattr(x, "strftime") or not isinstance(x, numbers.Real) or isinstance(x, bool):
        return "–" if x is None or x != x else shortened(x.date() if hasattr(x, "date") else x)
    if isinstance(x, numbers.Integral) and abs(x) < 1e6:
        return str(x)
    if 1e3 <= abs(x) < 1e15:
        return size(x) if abs(x) >= 1e4 else f"{x:.5g}"
    return "–" if x != x else f"{x:.3g}".replace("e+", "e").replace("e-0", "e-")

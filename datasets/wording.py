"""Pieces of one-line messages."""

import difflib
import numbers

LONGEST = 60


def printable(text):
    """Text on one line: escaped if anything in it does not print."""
    text = str(text)
    return text if text.isprintable() else repr(text)[1:-1]


def shortened(text):
    """Text on one line, cut if it is long."""
    text = printable(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def quoted(value):
    """Value as it was found: numbers bare, anything else between double quotes."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return f"{value:.10g}" if isinstance(value, float) else str(value)
    return f'"{shortened(value)}"'


def shown(value):
    """Value as Python writes it, on one line, cut if it is long."""
    return shortened(repr(value))


def not_a_switch(option, value):
    """Sentence that refuses a value of an option that is on or off."""
    return f"{option} must be true or false, not {shown(value)}"


def listed(names):
    """Names in quotes, separated by commas."""
    return ", ".join(quoted(name) for name in names) or "none"


def unknown(kind, value, choices):
    """Sentence that refuses a value and names the choices, the closest first."""
    near = suggestion(value, choices) or ";"
    return f"{kind} {quoted(value)} is unknown{near} choose one of {', '.join(map(str, choices))}"


def suggestion(name, names):
    """Question ``; did you mean "x"?`` with the name of `names` closest to `name`, or nothing."""
    known = {str(candidate).lower(): candidate for candidate in names}
    closest = difflib.get_close_matches(str(name).lower(), known, n=1)
    return f"; did you mean {quoted(known[closest[0]])}?" if closest else ""

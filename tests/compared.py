"""Compare two outputs or pictures of one cell of the documentation, whose draws may differ."""

import collections
import math
import re
from xml.etree import ElementTree

from scipy.special import ndtri

LEAST = 400  # effective draws of a fit that converged: 100 of each of four chains
ALLOWED = 5.0  # standard errors of the difference of two runs
# Numbers, with human units, and months such as 2025-11; the digits of a name such as gpt-5.2 are of the word.
ONE = r"(?<![\w.-])[-+−]?(?:\d{4}-\d\d(?![\d-])|\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)(?:%|(?:[kMBT]| min| h)(?!\w))?"
WORDED = ("never", "no")
NUMBER = re.compile(rf"{ONE}|\bnever\b|\bno(?= other)")
UNITS = {"": 1.0, "%": 0.01, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "min": 1 / 60, "h": 1.0}
INTERVAL = re.compile(rf"({ONE})(?: [a-z]+)? \[({ONE}), (?:({ONE})|never|–)\]|({ONE}) ± ({ONE})")
# Of short chains, whose intervals are wider: grades and their reasons, the worst first, places far beyond the rows,
# what is the least or undertuned, and ends of intervals that there may not be.
OF_SHORT = re.compile(
    r"[\d.,]+ times the largest(?! run)|Strength of this fit alone, \w+: (?:[^.]|\.\d)*\.|\b(?:strong|fair|weak)\b"
    r"|\w+ (?=and [^;]*the least and the greatest)|(?s:\d+ of \d+ rungs are undertuned.*?\.\s)"
)
UNDERTUNED, NO_END = re.compile(r" +undertuned(?= )"), re.compile(r"–(?=\])")
ROW = re.compile(r"(?m)^(?=.*\S {2,}\S)")  # of a table, whose rows may change places
WHOLE = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})*|(?:19|20)\d\d)")  # 1330 has no comma: it has four digits of a float
COUNTS = re.compile(r"(?m) (?:similar|saves)$")  # last columns of whole numbers of the draws; marks inside, outside (8)
# Left out: how chains went, of which a fit warns; ratios of the ends of an interval; bounds; dates of fits; thin bands.
LEFT_OUT = re.compile(
    r"r_hat at most [\d.]+,?|(?:bulk|tail) ESS at least \d+,?|\d+ of \d+ draws distinct"
    r"|a factor of (?:about )?[\d.,e+]*\d(?: \([\d.]+ now\),?)?|[<>] (?=0\.\d)|(?:fits? of|drawn on) [\d-]{10}"
    r"|; some bands are thinner than their lines"
)


def differences(before, after, draws=LEAST):
    """Return in what two outputs differ, a list of str: words, and numbers beyond the error of effective draws."""
    if draws < LEAST:
        before, after = (OF_SHORT.sub("graded", UNDERTUNED.sub("", NO_END.sub("never", x))) for x in (before, after))
    (words, numbers), (words_now, numbers_now) = _read(before), _read(after)
    if words != words_now:
        return [f"'{' '.join(words - words_now)}' became '{' '.join(words_now - words)}'"]
    pairs = zip(numbers, numbers_now, strict=True)
    return [f"{' '.join(key)} {old} became {new}" for (key, old, span), (_, new, span_now) in pairs
            if not agree(old, new, max(span, span_now, key=_width), draws)]  # fmt: skip


def _width(span):
    return span[1] - span[0] if span else 0.0


def agree(old, new, span, draws):
    """Return whether two printed numbers differ by no more than rounding and the draws explain.

    From S effective draws, the end of an interval of width w has a standard error of 0.7 w / sqrt(S), and so has a
    standard deviation w. The difference of two runs has w / sqrt(S). Widths are those of the numbers or of their logs;
    of their logs alone, where the ends differ by a factor of ten. A number without an interval counts as a standard
    deviation. A p value comes from few draws or tables, so its normal quantile has an error of 0.1 to 0.2. Whole
    numbers are equal, but those of short chains.
    """
    if {old, new} & {*WORDED} or (draws >= LEAST and not span and WHOLE.fullmatch(old) and WHOLE.fullmatch(new)):
        return old == new or draws < LEAST
    (a, half_a), (b, half_b) = sorted((_parsed(old), _parsed(new)))
    a, b, limit = a + half_a, b - half_b, ALLOWED / math.sqrt(draws)
    if a >= b:
        return True
    if span:
        low, high = span
        scales = [*[float] * (low <= 0 or high < 10 * low), *[math.log] * (low > 0 and a > 0)]
        return any(scale(b) - scale(a) <= limit * (scale(high) - scale(low)) for scale in scales)
    digits = min(len(re.sub(r"e.*|\D", "", number).lstrip("0")) for number in (old, new))
    probable = 0 < a < b < 1 and digits < (4 if a > 0.3 else 3) and "%" not in old
    if probable and ndtri(b / 2) - ndtri(a / 2) <= 0.5:
        return True
    return b - a <= limit * max(abs(a), abs(b))


def _parsed(number):
    """Return the value of a printed number, and half a unit of its last digit."""
    mantissa, exponent, unit = re.fullmatch(r"([-+−\d.,]+)(?:e([-+]?\d+))? ?(\S*)", number).groups()
    if date := re.fullmatch(r"(\d{4})-(\d\d)", mantissa):
        return int(date[1]) + int(date[2]) / 12, 1 / 24
    mantissa, scale = mantissa.replace(",", "").replace("−", "-"), 10.0 ** int(exponent or 0) * UNITS[unit]
    return float(mantissa) * scale, 0.5 * scale * 10.0 ** -len(mantissa.partition(".")[2])


def _read(text):
    """Count the words of an output, with # for numbers, and sort its numbers by the three words before them.

    Rows and sentences may change places, since results order some.
    """
    text = re.sub(r"(?m)(\d)$", r"\1e0", text) if COUNTS.search(text) else text
    text = re.sub(r"(?<=side )\((\d+)\)", r"(\1e0)", LEFT_OUT.sub("", " ".join(ROW.sub("| ", text).split())))
    spans, numbers = _spans(text), []
    for match in NUMBER.finditer(text):
        before = NUMBER.sub("#", text[max(0, match.start() - 90) : match.start()]).rpartition("|")[2].split()[-3:]
        numbers.append((before, match[0], spans.get(match.start())))
    return collections.Counter(masked(text).split()), sorted(numbers, key=lambda number: number[0])


def masked(text):
    """Return a text with # for its numbers; a share has its unit too."""
    return NUMBER.sub(lambda match: "#%" if match[0].endswith("%") else "#", text)


def _spans(text):
    """Map the places of numbers that have an interval or an error to the ends of a 95% interval."""
    places = {}
    for match in INTERVAL.finditer(text):
        if match[4]:
            (value, _), (error, half) = map(_parsed, match.group(4, 5))
            places[match.start(4)] = (value - 2 * (error + half), value + 2 * (error + half))
        else:  # "never" counts as far from the middle as the other end, as a ratio
            middle, low = (_parsed(match[k])[0] for k in (1, 2))
            high = _parsed(match[3])[0] if match[3] else middle**2 / low if low else 2 * middle
            places |= {match.start(k): (low, high) for k in (1, 2, 3) if match[k]}
    return places


# Pictures ---------------------------------------------------------------------------------------------------------


def differences_of_pictures(before, after, draws=LEAST):
    """Return in what two SVG pictures differ: text, ticks but for one at an end, marks by more than 5% of a side."""
    (words, ticks, marks), (words_now, ticks_now, marks_now) = drawn(before), drawn(after)
    faults = differences(words, words_now, draws)
    for axis in sorted({*ticks, *ticks_now}):
        few, many = sorted((ticks.get(axis, []), ticks_now.get(axis, [])), key=len)
        if few not in (many, many[1:], many[:-1]):
            faults.append(f"ticks {ticks.get(axis)} became {ticks_now.get(axis)}")
    if len(marks) != len(marks_now):
        return [*faults, f"{len(marks)} marks became {len(marks_now)}"]
    far = max(map(_apart, marks, marks_now), default=0.0)
    return [*faults, f"a mark is {far:.0%} of a side from where it was"] if far > 0.05 else faults


def drawn(svg):
    """Return the words of a picture, the ticks of each axis, and the places of other marks as shares of the sides."""
    root, words, ticks, marks = ElementTree.fromstring(svg), [], {}, []
    sides = [float(side) for side in root.get("viewBox").split()[2:]]

    def walk(element, axis):
        axis = element.get("id") if "matplotlib.axis" in element.get("id", "") else axis
        kind = element.tag.rpartition("}")[2]
        if kind == "text":
            text = (element.text or "").strip() or "".join(part.text for part in element)  # 10 to a power is of parts
            (ticks.setdefault(axis, []) if axis and NUMBER.fullmatch(text) else words).append(text)
        if kind in ("path", "use") and not axis:
            places = re.findall(r"-?\d+(?:\.\d+)?", element.get("d") or f"{element.get('x')} {element.get('y')}")
            marks.append([float(place) / sides[k % 2] for k, place in enumerate(places)])
        for child in element if kind != "clipPath" else ():
            walk(child, axis)

    walk(root, "")
    return " ".join(words), ticks, marks


def _apart(old, new):
    """Return how far two marks are apart, or their boxes where they have other numbers of points."""
    if len(old) != len(new):
        old, new = ([edge for k in (0, 1) for edge in (min(x[k::2]), max(x[k::2]))] for x in (old, new))
    return max((abs(a - b) for a, b in zip(old, new, strict=True)), default=0.0)

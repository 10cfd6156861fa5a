"""The picture of the first screen, two panels of plain SVG that are there before any script."""

import math

from markupsafe import Markup

from ....inference.words import HIGH, LOW, MIDDLE, flop, months, plain
from ....models.loss.chinchilla import optimum as chinchilla_optimum
from ....plots.published import CONSTANTS, PREFIX
from ...drawing import optimum
from ...html.front import Panel
from ...laws import SPECIFICATIONS_STUDY
from .answers import beyond

WIDE, NARROW = 480, 330  # widths in the units of the text's 13
OURS, THEIRS, INK, FAINT, RULE = "var(--blue)", "var(--orange)", "var(--ink)", "var(--faint)", "var(--rule)"
FIRST, LAST = 1.0, 60.0  # months
RATIOS = (1.0, 300.0)
LABELS = 15  # least distance of labels


def panels(document):
    """Panels of what was made: doubling times, and tokens per parameter against compute."""
    drawn = []
    if "compute_equivalent_gain" in document:
        drawn.append(_doubling_panel(document))
    if "allocation" in document:
        drawn.append(_tokens_panel(document))
    return drawn


def _svg(width, height, *parts):
    return Markup('<svg viewBox="0 0 {} {}" aria-hidden="true" font-size="13">{}</svg>').format(
        width, round(height), Markup("").join(parts)
    )


def _text(x, y, text, *, anchor="start", fill=INK, size=13):
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}" font-size="{}">{}</text>').format(
        x, y, anchor, fill, size, text
    )


def _line(x0, y0, x1, y1, colour, *, width=1.0, dash="none"):
    return Markup(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}" stroke-dasharray="{}"/>'
    ).format(x0, y0, x1, y1, colour, width, dash)


def _path(points, colour, *, width=2.0, dash="none", fill="none", opacity=1.0):
    d = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return Markup(
        '<path d="{}" stroke="{}" stroke-width="{}" stroke-dasharray="{}" fill="{}" fill-opacity="{}"/>'
    ).format(d, colour, width, dash, fill, opacity)


def _doubling_rows(document):
    """Rows of the panel on doubling times: label, interval, and whether it is published."""
    gain, quoted = document["compute_equivalent_gain"], document["compute_equivalent_gain"]["quoted"]
    published = {c["claim"]: c["published"] for c in document["claims"]}
    rows = [(f"Specification {quoted['specification']}, quoted", quoted["doubling_months"], False)]
    by_median = sorted(
        ((k, rival["doubling_months"]) for k, rival in quoted["rivals"].items()),
        key=lambda pair: math.inf if pair[1][MIDDLE] is None else pair[1][MIDDLE],
    )
    ends = [by_median[0], by_median[-1]] if len(by_median) > 1 else by_median
    rows += [(f"Specification {k}, as good", q, False) for k, q in ends]
    rows.append(("Specifications mixed", gain["doubling_months"], False))
    for claim, label in (
        ("Doubling time, specification 7 (months)", "Ho et al. 2024, specification 7"),
        ("Doubling time, ten best specifications (months)", "Ho et al. 2024, ten best"),
    ):
        if estimate := published.get(claim):
            rows.append((label, _as_summary(estimate), True))
    return rows


def _as_summary(estimate):
    return {LOW: estimate["low"], MIDDLE: estimate["estimate"], HIGH: estimate["high"]}


def _doubling_panel(document):
    rows, study = _doubling_rows(document), document.get("studies", {}).get(SPECIFICATIONS_STUDY)
    dated = f"Our rows but the first are of {study['made']}, by {study['command']}. " if study else ""
    values = "; ".join(f"{label.removeprefix('… ')} {months(q)}" for label, q, _ in rows)
    return Panel(
        title=document["answers"][0]["answer"],
        caption="Months in which the compute for a given loss halves, median and 95% interval, at the sizes and dates "
        "of the evaluations. As good: the least and the greatest median of specifications that predict papers left out "
        f"about as well. Blue circles: ours; orange diamonds: published. An arrow: no progress at that end. {dated}"
        f"n = {document['compute_equivalent_gain']['rows']} "
        "evaluations of Ho et al. (2024).",
        alternative=f"Doubling times in months: {values}.",
        wide=_doubling(rows, WIDE),
        narrow=_doubling(rows, NARROW),
        rows=[["doubling time (months)", LOW, MIDDLE, HIGH]] + [[label, *_ends(q)] for label, q, _ in rows],
    )


def _ends(q):
    return [q[name] for name in (LOW, MIDDLE, HIGH)]


def _doubling(rows, width):
    step, top, left, right = 33, 8, 6, width - 22
    bottom = top + step * len(rows) + 6

    def across(x):
        span = math.log(LAST / FIRST)
        return left + (right - left) * math.log(min(max(x, FIRST), LAST) / FIRST) / span

    parts = []
    for tick in (1, 2, 5, 10, 20, 50):
        parts += [
            _line(across(tick), top, across(tick), bottom, RULE),
            _text(across(tick), bottom + 16, str(tick), anchor="middle", fill=FAINT, size=12),
        ]
    parts.append(_text(left, bottom + 34, "months to halve the compute for a given loss", fill=FAINT, size=12))
    for i, (label, q, published) in enumerate(rows):
        colour, y = THEIRS if published else OURS, top + step * i + 23
        parts += [_text(left, y - 9, label, size=12.5), _text(width - 4, y - 9, months(q), anchor="end", size=12.5)]
        end = right + 12 if q[HIGH] is None else across(q[HIGH])
        start = across(q[LOW]) if q[LOW] is not None else end
        parts.append(_line(start, y, end, y, colour, width=3, dash="5 3" if published else "none"))
        if q[HIGH] is None or q[HIGH] > LAST:
            parts.append(_path([(end, y - 5), (end + 8, y), (end, y + 5)], colour, width=0, fill=colour))
        if q[MIDDLE] is not None:
            parts.append(_mark(across(q[MIDDLE]), y, colour, published))
    return _svg(width, bottom + 42, *parts)


def _mark(x, y, colour, published):
    if published:
        return _path([(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)], colour, width=0, fill=colour)
    return Markup('<circle cx="{:.1f}" cy="{:.1f}" r="5" fill="{}"/>').format(x, y, colour)


def _tokens_panel(document):
    law = optimum.preferred(document)
    at = optimum.at_budget(document, optimum.BUDGET, law)
    ratio = at["tokens_per_parameter"]
    budget = flop(at["compute"])
    return Panel(
        title=f"At {budget}, {beyond(at)} the largest run, {plain(ratio, '{:.2g}')} tokens a parameter are best.",
        caption="Best training tokens per parameter against training compute. Blue: the "
        f"{optimum.NAMES[law]} law with its 95% band, and other laws of this report (dotted). "
        "Orange dashes: published. "
        f"n = {document['laws'][law]['rows']} runs of Hoffmann et al. (2022).",
        alternative=f"Tokens per parameter against compute: {plain(ratio, '{:.0f}')} at {budget} under the "
        f"{optimum.NAMES[law]} law. The largest run had {flop(optimum.largest_run(document))}.",
        wide=_tokens(document, WIDE),
        narrow=_tokens(document, NARROW),
        rows=_tokens_rows(document),
    )


def _tokens_rows(document):
    header = [["law", "compute (FLOP)", *(f"tokens per parameter, {name}" for name in (LOW, MIDDLE, HIGH))]]
    return header + [
        [name, a["compute"], *_ends(a["tokens_per_parameter"])]
        for name in optimum.planned(document)
        for a in optimum.budgets(document, name)
    ]


def _published_laws(document):
    """Constants of each source that gives all."""
    laws = {}
    for entry in document["published"]:
        laws.setdefault(entry["source"], {})[entry["quantity"].removeprefix(PREFIX)] = entry["published"]
    return {
        source: {name: constants[name] for name in CONSTANTS}
        for source, constants in laws.items()
        if set(CONSTANTS) <= set(constants)
    }


def _tokens(document, width):
    law = optimum.preferred(document)
    left, right, top, bottom = 34, width - 108, 10, 300
    entries = optimum.budgets(document, law)
    low, high = (math.log10(entries[i]["compute"]) for i in (0, -1))

    def across(compute):
        return left + (right - left) * (math.log10(compute) - low) / (high - low)

    def up(ratio):
        share = math.log(min(max(ratio, RATIOS[0]), RATIOS[1]) / RATIOS[0]) / math.log(RATIOS[1] / RATIOS[0])
        return bottom - (bottom - top) * share

    parts = []
    for tick in (1, 2, 5, 10, 20, 50, 100, 200):
        parts += [
            _line(left, up(tick), right, up(tick), RULE),
            _text(left - 5, up(tick) + 4, str(tick), anchor="end", fill=FAINT, size=12),
        ]
    for decade in range(math.ceil(low), math.floor(high) + 1, 2):
        x = across(10.0**decade)
        parts += [
            _line(x, bottom, x, bottom + 4, FAINT),
            _text(x, bottom + 18, f"1e{decade}", anchor="middle", fill=FAINT, size=12),
        ]
    parts.append(_text(6, bottom + 36, "training compute (FLOP); up: tokens per parameter", fill=FAINT, size=12))
    edge = across(optimum.largest_run(document))
    parts += [
        _line(edge, top, edge, bottom, FAINT, dash="2 3"),
        _text(edge + 4, bottom - 6, "runs end", fill=FAINT, size=12),
    ]
    band = [(across(a["compute"]), up(a["tokens_per_parameter"][LOW])) for a in entries]
    band += [(across(a["compute"]), up(a["tokens_per_parameter"][HIGH])) for a in reversed(entries)]
    parts.append(_path(band, "none", width=0, fill=OURS, opacity=0.18))
    ends = []
    for name in optimum.planned(document):
        points = [
            (across(a["compute"]), up(a["tokens_per_parameter"][MIDDLE])) for a in optimum.budgets(document, name)
        ]
        parts.append(_path(points, OURS, width=3 if name == law else 1.3, dash="none" if name == law else "1 3"))
        ends.append((points[-1][1], optimum.NAMES[name] + (" law" if name == law else ""), OURS))
    for (source, constants), dash in zip(_published_laws(document).items(), ("9 4", "9 3 2 3"), strict=False):
        budgets = [10 ** (low + (high - low) * i / 40) for i in range(41)]
        sizes = (chinchilla_optimum(c, **constants) for c in budgets)
        points = [(across(c), up(float(d / n))) for c, (n, d) in zip(budgets, sizes, strict=True)]
        parts.append(_path(points, THEIRS, width=2, dash=dash))
        ends.append((points[-1][1], source.replace(" et al.", ""), THEIRS))
    parts += [_text(right + 5, y + 4, label, fill=colour, size=12) for y, label, colour in _apart(ends, top, bottom)]
    return _svg(width, bottom + 42, *parts)


def _apart(labels, top, bottom):
    """Move labels so that none lies on another, within the panel."""
    placed = []
    for y, label, colour in sorted(labels):
        placed.append([max(y, placed[-1][0] + LABELS if placed else top), label, colour])
    floor = bottom
    for label in reversed(placed):
        label[0] = min(label[0], floor)
        floor = label[0] - LABELS
    return placed

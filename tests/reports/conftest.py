import contextlib
import html
import io
import json
import re
import sys
import warnings
from collections import OrderedDict
from html.parser import HTMLParser

import bayescaling as bs
import pytest
from bayescaling.commands.cli import main
from bayescaling.inference.fitting import fitter
from bayescaling.inference.samplers.choose import compiled as once
from bayescaling.reports import kept
from bayescaling.reports.chinchilla import analysis

SETTINGS = ("--draws", "200", "--tune", "300", "--chains", "2", "--seed", "3")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """Keep results of stages in a folder of each module's own: tests change what the code of a page says."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "folder", lambda: folder)
        yield folder


class Structure(HTMLParser):
    """Elements of a page in order: their tags, attributes and texts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "inside": [e["tag"] for e in self._open], "text": ""} | dict(attributes)
        self.elements.append(element)
        if tag not in ("meta", "link", "br", "img", "input", "hr", "col", "wbr"):
            self._open.append(element)

    def handle_endtag(self, tag):
        while self._open and self._open.pop()["tag"] != tag:
            pass

    def handle_data(self, data):
        for element in self._open:
            element["text"] += data

    def of(self, *tags, **having):
        """Elements of some tags whose attributes have some values."""
        return [
            e for e in self.elements if e["tag"] in tags and all(e.get(k.strip("_")) == v for k, v in having.items())
        ]


def check_page(text):
    """Refuse a page that a keyboard, a screen reader, a link or a slow machine cannot make use of."""
    page = Structure(text)
    ids = [e["id"] for e in page.elements if "id" in e]
    assert len(ids) == len(set(ids)) and all(re.fullmatch("[a-z0-9-]+", name) for name in ids)
    inner = [e["href"][1:] for e in page.of("a") if e["href"].startswith("#")]
    assert set(inner) <= set(ids) and "content" in inner and "top" in inner
    for heading in page.of("h2", "h3"):
        assert heading["id"] in inner and heading["text"].strip()
    plots = page.of("div", class_="plot")
    assert len(page.of("figcaption")) >= len(plots)
    assert all(e["role"] == "img" and len(e["aria-label"].split()) > 1 for e in plots)
    assert all(e["text"].strip() for e in page.of("figcaption", "caption", "th"))
    scrollers = page.of("div", class_="scroller")
    assert len(scrollers) == len(page.of("table"))
    assert all(e["tabindex"] == "0" and e["aria-label"] for e in scrollers)
    assert all(len(figure["text"].split()) > 2 for figure in page.of("figure"))
    # Nothing long stands before the text: a browser paints the page before it reads the script of figures.
    assert text.index("</main>") < text.index('id="plotly"') if plots else 'id="plotly"' not in text
    return page


@pytest.fixture(scope="session")
def well_made():
    """A function that checks how a page is made and returns its structure."""
    return check_page


def repeated_captions(text):
    """Captions of a page that several of its figures, or of its tables, have."""
    said = [" ".join(e["text"].split()) for e in Structure(text).of("figcaption")]
    plain = [re.sub(r"^(Figure|Table) \w+\. ", r"\1: ", caption) for caption in said]
    return sorted({caption for caption in plain if plain.count(caption) > 1})


@pytest.fixture(scope="session")
def said_again():
    """A function that returns the captions of a page that say the same of two figures or of two tables."""
    return repeated_captions


NUMBER = r"(?:[+\N{MINUS SIGN}-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d{1,3})?[kMBT%]?|never|none|–)"
INTERVAL = re.compile(rf"({NUMBER})\s+\[({NUMBER}),\s+({NUMBER})\]%?")
SCALES = {"k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


def printed_value(text):
    """A printed number and half a unit of its last digit; None where it is a word."""
    if not re.search(r"\d", text):
        return None
    text = text.replace("\N{MINUS SIGN}", "-").replace(",", "")
    scale = SCALES.get(text[-1], 1.0)
    digits, _, power = text.rstrip("kMBT%").partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2])) * scale
    return float(f"{digits}e{power or 0}") * scale, unit / 2


def intervals_of(content):
    """Every median or estimate of a document with its ends."""
    if isinstance(content, dict):
        for names in (("q50", "q2.5", "q97.5"), ("estimate", "low", "high")):
            if set(names) <= set(content):
                yield tuple(content[name] for name in names)
        content = list(content.values())
    if isinstance(content, list):
        for each in content:
            yield from intervals_of(each)


def is_rounded(printed, x, scale):
    if printed is None or x is None:
        return printed is None and not x
    return abs(x * scale - printed[0]) <= printed[1] * (1 + 1e-6) + 1e-9 * abs(printed[0])


def check_intervals(text, document):
    """Return those intervals of a page's text that are in no entry of its document, and how many there are."""
    body = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
    body = html.unescape(re.sub(r"<[^>]*>", " ", body))
    published = bs.load("published")[["estimate", "low", "high"]].dropna()
    known = [*intervals_of(document), *published.itertuples(index=False, name=None)]
    found, missing = list(INTERVAL.finditer(body)), []
    for interval in found:
        printed = [printed_value(part) for part in interval.groups()]
        scales = (1.0, 100.0) if "%" in interval.group() else (1.0,)
        if not any(all(map(is_rounded, printed, q, [scale] * 3)) for q in known for scale in scales):
            missing.append(body[max(0, interval.start() - 60) : interval.end()])
    return missing, len(found)


QUOTED = ("E", "alpha", "beta", "kappa", "exponent_parameters")
PLACES = ".3f"


def second_intervals(text, document):
    """Return constants of laws that a page prints with another interval than the quoted one, and how many it prints.

    A constant is known by its median to three decimals; another law may have the same median with another interval.
    """
    body = html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)))
    quoted = {}
    for law in document["laws"].values():
        for name, q in law["parameters"].items():
            if name.partition("[")[0] in QUOTED:
                middle, *ends = (format(q[end], PLACES) for end in ("q50", "q2.5", "q97.5"))
                quoted.setdefault(middle, set()).add(", ".join(ends))
    printed = [
        (m[1], f"{m[2]}, {m[3]}", m) for m in INTERVAL.finditer(body) if m[1] in quoted and len(m[2]) == len(m[1])
    ]
    second = [body[max(0, m.start() - 60) : m.end()] for middle, ends, m in printed if ends not in quoted[middle]]
    return second, len(printed)


@pytest.fixture(scope="session")
def with_two_intervals():
    """A function that returns the constants that a page prints with a second interval, and how many it prints."""
    return second_intervals


@pytest.fixture(scope="session")
def not_in_results():
    """A function that returns the intervals of a page that are not in results.json, and how many it prints."""
    return check_intervals


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Folder of a full report that the command line made with few draws and simulations, and what it printed.

    It was made without what takes long before, and again after, when that stays.
    Laws that sample slowly and that no sentence of the page needs are left out.
    """
    folder = tmp_path_factory.mktemp("made") / "deep" / "report"
    command = ["bayescaling", "report", "--out", str(folder), "--page", "chinchilla", *SETTINGS, "--json"]
    laws = {name: law for name, law in analysis.LAWS.items() if "reading error" not in name and "huber" not in name}
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("cache")
        patch.setattr(kept, "folder", lambda: cache)
        patch.setattr(analysis, "LAWS", laws)
        patch.setattr(analysis, "SIMULATIONS", 10)
        patch.setattr(warnings, "showwarning", warnings.showwarning)
        patch.setattr(fitter, "_KEPT", OrderedDict())
        compiled = []
        patch.setattr(fitter, "compiled", lambda law, *rest: compiled.append(law.label) or once(law, *rest))
        brief = json.loads(_printed(patch, command))
        printed = _printed(patch, [*command, "--full"])
        again = json.loads(_printed(patch, command))
    assert "calibration" not in brief and brief["extras"] == {"calibration": None}
    assert again == json.loads(printed)
    # Every law once, whatever is fitted to tables of it: refits without a row, simulated tables.
    assert sorted(compiled) == sorted(law.label for law in laws.values())
    return folder, printed


def _printed(patch, command):
    """Run the command line and return what it printed."""
    printed, said = io.StringIO(), io.StringIO()
    patch.setattr(sys, "argv", command)
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(said),
        warnings.catch_warnings(),
        pytest.raises(SystemExit) as left,
    ):
        warnings.simplefilter("default", bs.DiagnosticWarning)
        main()
    assert left.value.code == 0, said.getvalue()
    assert all(line.startswith("warning: ") for line in said.getvalue().splitlines())
    return printed.getvalue()

import contextlib
import html
import io
import itertools
import json
import re
import sys
import warnings
from collections import OrderedDict
from html.parser import HTMLParser

import bayescaling as bs
import pytest
from bayescaling.commands.cli import main
from bayescaling.inference import fitter
from bayescaling.inference.samplers.choose import compiled as once
from bayescaling.reports.cache import store
from bayescaling.reports.pages.chinchilla import page

SETTINGS = ("--draws", "200", "--tune", "300", "--chains", "2", "--seed", "3")


class Structure(HTMLParser):
    """Elements of a page in order: their tags, attributes and texts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        inside, folds = [e["tag"] for e in self._open], [id(e) for e in self._open if e["tag"] == "details"]
        element = {"tag": tag, "inside": inside, "folds": folds, "text": ""} | dict(attributes)
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
    """Refuse a page that a keyboard, a screen reader, a link or a slow machine cannot use."""
    page = Structure(text)
    ids = [e["id"] for e in page.elements if "id" in e]
    assert len(ids) == len(set(ids)) and all(re.fullmatch("[a-z][a-z0-9-]*", name) for name in ids)
    inner = [e["href"][1:] for e in page.of("a") if e["href"].startswith("#")]
    assert set(inner) <= set(ids) and "content" in inner
    contents = "contents" in [e.get("class") for e in page.of("nav")]
    for heading in page.of("h2", "h3"):
        assert heading["text"].strip() and (not contents or heading["id"] in inner)
    drawings = page.of("div", role="img")
    assert all(len(e["aria-label"].split()) > 1 for e in drawings)
    assert all(e["text"].strip() for e in page.of("figcaption", "caption", "th"))
    scrollers = page.of("div", class_="scroller")
    assert len(scrollers) == len(page.of("table"))
    assert all(e["tabindex"] == "0" and e["aria-label"] for e in scrollers)
    assert all(len(figure["text"].split()) > 2 for figure in page.of("figure"))
    # What is folded has more than its title.
    for fold in page.of("details"):
        if fold.get("class") == "folded":
            title = next(e["text"] for e in page.of("summary") if id(fold) in e["folds"])
            assert fold["text"].replace(title, "", 1).split(), f"empty fold: {title}"
    assert "Not made" not in text
    for kind in ("figure", "table"):
        names = [e["id"] for e in page.of("figure") if re.fullmatch(rf"{kind}-\d+", e["id"])]
        assert names == [f"{kind}-{i + 1}" for i in range(len(names))]
    return page


@pytest.fixture(scope="session")
def well_made():
    """A function that checks how a page is made and returns its structure."""
    return check_page


@pytest.fixture(scope="session")
def pages_of():
    """A function that returns the texts of the pages of a report by name, without what a reader does not see."""
    return lambda folder: {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.html"))}


def repeated_captions(text):
    """Captions of a page that several of its figures, or of its tables, have."""
    captions = [" ".join(e["text"].split()) for e in Structure(text).of("figcaption")]
    plain = [re.sub(r"^(Figure|Table) \w+\. ", r"\1: ", caption) for caption in captions]
    return sorted({caption for caption in plain if plain.count(caption) > 1})


@pytest.fixture(scope="session")
def said_again():
    """Return a function that lists the captions which two figures or two tables of a page share."""
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
        for start in (name.removesuffix("q50") for name in content if name.endswith("_q50")):  # of several in one row
            yield tuple(content[start + end] for end in ("q50", "q2.5", "q97.5"))
        content = list(content.values())
    if isinstance(content, list):
        for item in content:
            yield from intervals_of(item)


def is_rounded(printed, x, scale):
    if printed is None or x is None:
        return printed is None and not x
    return abs(x * scale - printed[0]) <= printed[1] * (1 + 1e-6) + 1e-9 * abs(printed[0])


def check_intervals(text, document):
    """Return those intervals of a page's text that are in no entry of its document, and how many there are."""
    body = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
    body = html.unescape(re.sub(r"<[^>]*>", " ", body))
    published = bs.load("published")[["estimate", "low", "high"]].dropna()
    quoted = [*intervals_of(document), *published.itertuples(index=False, name=None)]
    matches, missing = list(INTERVAL.finditer(body)), []
    for interval in matches:
        printed = [printed_value(part) for part in interval.groups()]
        scales = (1.0, 100.0) if "%" in interval.group() else (1.0,)
        if any(interval.group() in finding for finding in document.get("findings", ())):
            continue  # of a figure, whose numbers its function has
        if not any(all(map(is_rounded, printed, q, [scale] * 3)) for q in quoted for scale in scales):
            missing.append(body[max(0, interval.start() - 60) : interval.end()])
    return missing, len(matches)


@pytest.fixture(scope="session")
def not_in_results():
    """A function that returns the intervals of a page that are not in results.json, and how many it prints."""
    return check_intervals


# What the words about an interval name, by dimension: each value and its pattern. The nearest words count.
BUDGETS = ("5.76e23", "1e15", "1e18", *(f"1e{power}" for power in range(19, 28)))
WORDS = {
    "quantity": {
        "E less the truth": r"E less the truth|E minus the entropy",
        "E": r"[Ii]rreducible loss E\b|\bE is\b|\bE \(nats",
        "exponent of a study": r"study would have measured|[Ww]ithout embeddings|(?:counting )?all parameters$",
        "exponent": r"exponent a\b|[Ee]xponent of N\* in (?:C\b|compute)|exponent is|to the power|parameters grow as",
        "doubling": r"[Dd]oubling|halved every|halving time",
        "tokens per parameter": r"tokens per parameter|D\*/N\*",
        "N*": r"\bN\*(?! in| without)|^parameters$|optimum is|it says|FLOP, about",
        "D*": r"^tokens$|parameters on$",
        "loss": r"^loss \(nats/token\)$",
        "gain": r"^gain\b(?! at)|grew by|gains are|faster gains",
        "sums": r"[Hh]alf of the accuracy|95% left",
        "alpha": r"α(?=, exponent of p| is$)",
        "beta": r"β(?=, exponent of t)|and β$",
        None: r"[ασνωγκβ]\b|\b(?:spread|moves|times the length|effective compute|prior)\b|multiplied|compute buys",
    },
    "law": {
        "published": r"[Pp]ublished|(?<!of Ho )et al\.|Pearce and Song",
        "embedding-corrected": "embedding-corrected",
        "omega": r"embedding-weighted|ω (?:free|= 0)|omega 0",
        "coupled": "[Cc]oupled",
        "offsets": "[Oo]ffsets|other zeros",
        "kaplan": r"\bkaplan\b",
        "chinchilla": r"Chinchilla law|^chinchilla\b|Chinchilla's law|ω = 1",
        **{f"specification {k}": rf"[Ss]pecification {k}\b|^{k}(?=:? [a-z])|\b{k} has$" for k in range(1, 21)},
        "stacking": "stacking(?! by paper)",
        "mixed": "(?<!best specifications )mixed|stacking by paper",
        "ten best": "[Tt]en best|10 best",
        **{name: name for name in ("pseudo-BMA", "equal weights")},
    },
    "noise": {name: name for name in ("one sigma", "normal noise", "huber")}
    | {"rows": "without (?:random effects|effects of papers|paper effects)|rows independent|evaluations as the unit"}
    | {"papers": r"(?<!without )(?:effects? of papers?\b|random effects by paper)|paper effects|papers as the"},
    "place": {
        "evaluations": "own sizes|at the evaluations|sizes and dates|sizes of the evaluations",
        "2023": "1e25 FLOP in 2023|1025 FLOP in 2023",
        "another": "optimal scaling|nearer to the second|of the others|against$",
    }
    | {at: rf"\b{re.escape(at)} FLOP|^{re.escape(at)}$" for at in BUDGETS},
    "period": {"before": "until|to May|mid-2023|gains are$", "after": "since|from May|mid-2025|and by$|and$"},
    "form": {"break": "models as the unit|^break in May 2024$"}
    | {
        name: name
        for name in ("constant gain", "sampled date", "acceleration", "random walk",
                     "averaged", "slope of compute by", "effects of families", "families as the unit",
                     "known compute|reasoning models")
    },
    "scores": {
        "neither": "neither|(?:no|without) ceilings",
        "versions": ", versions within models",
        "ceilings": "(?<!no )(?<!without )ceilings of benchmarks(?! and)",
        "both": "ceilings of benchmarks and versions",
    },
    "of": {
        name: name
        for name in ("C4", "RedPajama", "RefinedWeb", "typical", "nobody", "all three",
                     *(f"[Ss]cheme.{k}" for k in "1234"), "small_lm_rates", "Abacus",
                     "FIRE", "no positions", "rotary", "wt103", "wt2", "ptb", "transformer")
    },
    "changed": {
        name: name
        for name in ("offset 8", r"seed \d", "new seed", "equal cost|after training", "second half", "smallest sizes",
                     "exact budgets", "envelope|replicated", "95% left", "compared",
                     "ocabulary (?:8|32),", "ocabulary 128,", "ocabulary 256,", "^width", "N.?x from",
                     "the smallest size$", "the largest size$", "nats lower", r"rate 0\.\d+", "best rates$",
                     "effects of sizes$")
    },
}  # fmt: skip
APART = ("Do exponents", "Do these", "Do Abacus")  # beginnings of the titles of parts whose tables no other part has
BINDING = re.compile(r"^[^.;(]*")


def named_in(pieces):
    """Return what the first of some pieces of text that names anything of a dimension names last, by dimension."""
    names = {}
    for dimension, patterns in WORDS.items():
        for piece in pieces:
            ends = {name: max((m.end() for m in re.finditer(p, piece)), default=-1) for name, p in patterns.items()}
            name = max(ends, key=ends.get)
            if ends[name] >= 0:
                names[dimension] = name
                break
    return names


def stated(text):
    """Return every interval of a page, folded parts too: its part, what it is of, its numbers and where it stands."""
    hidden = r"<(script|style|svg)\b.*?</\1>|</?su[bp]>|<span class='whole'>|<(?:a|span) class=\"dot.*?</(?:a|span)>"
    part = section = caption = ""
    statements, tables = [], []
    for element in Structure(re.sub(hidden, "", text, flags=re.DOTALL)).elements:
        words = " ".join(element["text"].split())
        if element["tag"] == "h2":
            part, section = words, ""
        elif element["tag"] in ("h3", "h4"):
            section = words
        elif element["tag"] == "figcaption":
            caption = words
        elif element["tag"] == "table":
            tables.append({"rows": [], "part": part, "about": [caption.partition(". ")[2], section], "name": caption})
        elif element["tag"] == "tr":
            tables[-1]["rows"].append([])
        elif element["tag"] in ("td", "th"):
            tables[-1]["rows"][-1].append(words)
        elif element.get("class") == "note":
            tables[-1]["about"].insert(1, words)
        elif element["tag"] in ("p", "li"):
            statements += _in_prose(words, part, section)
    return statements + [statement for table in tables for statement in _in_table(**table)]


def _in_prose(words, part, section):
    start, ends = 0, [m.start() for m in INTERVAL.finditer(words)][1:]
    for m, end in itertools.zip_longest(INTERVAL.finditer(words), ends):
        after = BINDING.match(words[m.end() : end]).group()
        if end and m.end() + len(after) == end:  # up to the next interval, whose own words follow the last comma
            after = re.split(r", (?=[^,]*$)| and (?=[^,]*$)", after)[0]
        sentence = max(words.rfind(". ", 0, m.start()), 0)
        before = [words[begin : m.start()].rstrip() for begin in (max(start, sentence), sentence, 0)]
        yield part, named_in([after, *before, section]), m.groups(), f"…{words[max(0, m.start() - 80) : m.end()]}"
        start = m.end()


def _in_table(rows, part, about, name):
    head, *rows = rows
    for row in rows:
        labels = " | ".join(c for c in row if not INTERVAL.search(c) and re.search(r"[a-zA-Z]{2}|^[\d.]+e\d", c))
        for cell, column in zip(row, head, strict=True):
            for m in INTERVAL.finditer(cell):
                names = named_in([column, row[0], labels, *about])
                yield part, names, m.groups(), f"{name}: {row[0]}, {column}, {m.group()}"


def same_quantity(part, names):
    """What an interval is of, to be compared with others; None where its words name no quantity of `WORDS`."""
    if names.get("quantity") is None or names.get("law") == "published":
        return None
    of_gains = ("period", "form", "scores")
    if names["quantity"] == "gain":
        names = {name: x for name, x in names.items() if name in ("quantity", *of_gains)}
        names = {"form": "break", "scores": "ceilings"} | names
    else:
        names = {name: x for name, x in names.items() if name not in of_gains}
    if names["quantity"] == "doubling":
        names = {"noise": "papers" if names.get("place") == "evaluations" else "rows"} | names
    return (part if part.startswith(APART) else "", *sorted(names.items()))


def _apart(one, other):
    """Whether two intervals are about one middle and yet are not the same, as far as they are printed."""
    pairs = [tuple(map(printed_value, pair)) for pair in zip(one, other, strict=True)]
    if any((p is None) != (q is None) for p, q in pairs):
        return pairs[0][0] is not None and pairs[0][1] is not None and _close(*pairs)
    # Printed to the same digit they are the same or not.
    far = [p and abs(p[0] - q[0]) > (p[1] + q[1]) * (1e-6 if p[1] == q[1] else 1 + 1e-6) for p, q in pairs]
    return any(far) and _close(*pairs)


def _close(middle, low, high):
    if None in middle:
        return False
    (a, half), (b, other) = middle
    widths = [top[0] - bottom[0] for bottom, top in zip(low, high, strict=True) if bottom and top]
    return abs(a - b) <= half + other + 0.1 * min(widths, default=a)


def second_intervals(text):
    """Return pairs of statements of a page that give one quantity two intervals, and how many have a known quantity.

    Two intervals are of one quantity if their words name the same and their middles lie within a tenth of their width.
    Rows of one table differ by their heads, which need not be words of the list.
    """
    by_quantity = {}
    for part, names, interval, where in stated(text):
        by_quantity.setdefault(same_quantity(part, names), []).append((interval, where))
    by_quantity.pop(None, None)
    pairs = [
        (one[1], other[1])
        for statements in by_quantity.values()
        for one, other in itertools.combinations(statements, 2)
        if _apart(one[0], other[0])
        and not (one[1].startswith("Table") and one[1].split(":")[0] == other[1].split(":")[0])
    ]
    return pairs, sum(map(len, by_quantity.values()))


@pytest.fixture(scope="session")
def card_counts():
    """A function that counts words and numbers of a card: years are no numbers."""

    def counts(answer):
        text = " ".join(answer[name] for name in ("question", "answer", "doubt", "strength"))
        words = [word for word in text.split() if re.search(r"\w", word)]
        return len(words), len(re.findall(r"(?<![\w.])(?!(?:19|20)\d\d\b)\d[\d.,]*", text))

    return counts


@pytest.fixture(scope="session")
def two_intervals():
    """A function that returns where a page gives one quantity two intervals, and how many statements it compared."""
    return second_intervals


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """Folder of a report that the command line made with few draws, and what it printed.

    It was made twice. Laws that no sentence of the page needs are left out.
    """
    folder = tmp_path_factory.mktemp("made") / "deep" / "report"
    command = ["bayescaling", "report", "--out", str(folder), "--page", "chinchilla", *SETTINGS, "--json"]
    laws = {name: law for name, law in page.LAWS.items() if "huber" not in name}
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("cache")
        patch.setattr(store, "folder", lambda: cache)
        patch.setattr(page, "LAWS", laws)
        patch.setattr(warnings, "showwarning", warnings.showwarning)
        patch.setattr(fitter, "_KEPT", OrderedDict())
        compiled = []
        patch.setattr(fitter, "compiled", lambda law, *rest: compiled.append(law.label) or once(law, *rest))
        printed = _printed(patch, command)
        again = json.loads(_printed(patch, command))
    assert again == json.loads(printed)
    # Every law once, whatever is fitted to tables of it, such as refits without a row. Earlier runs may need effects of
    # sizes.
    expected = sorted(law.label for law in laws.values())
    assert sorted(label for label in compiled if not label.endswith("size_effects")) == expected
    assert len(set(compiled)) == len(compiled)
    return folder, printed


def _printed(patch, command):
    """Run the command line and return what it printed."""
    printed, errors = io.StringIO(), io.StringIO()
    patch.setattr(sys, "argv", command)
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(errors),
        warnings.catch_warnings(),
        pytest.raises(SystemExit) as left,
    ):
        warnings.simplefilter("default", bs.DiagnosticWarning)
        main()
    assert left.value.code == 0, errors.getvalue()
    assert all(line.startswith("warning: ") for line in errors.getvalue().splitlines())
    return printed.getvalue()

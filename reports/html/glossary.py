"""The terms of a first screen, each explained where it stands and in the glossary of the page."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
INTERVAL = re.compile(r"\S+ \[[^\]]*\]")


@dataclass(frozen=True)
class Term:
    """A term: its name, what it means in one or two sentences, and the words of a text that stand for it."""

    name: str
    meaning: str
    words: str

    @property
    def anchor(self):
        """Return the name of its place."""
        return "term-" + re.sub(r"[^a-z]+", "-", self.name.lower()).strip("-")


TERMS = tuple(Term(**entry) for entry in tomllib.loads(TEXT)["terms"])
# Longer words first, so that "irreducible loss" is not taken for "loss".
ORDERED = sorted(enumerate(TERMS), key=lambda pair: -len(pair[1].words))
PATTERN = re.compile("|".join(rf"(?P<t{i}>\b(?:{term.words})\b)" for i, term in ORDERED))


def linked(text, explained=None, page=""):
    r"""Return text as HTML, its first interval set off and each term a link to the glossary at its first place.

    Parameters
    ----------
    text : str
    explained : set of str, optional
        Names of terms that are linked already; those that are linked here are added.
    page : str
        Name of the file that has the glossary, empty for the page itself.

    Examples
    --------
    >>> linked("10 [9, 11] months")
    Markup('<b class="number">10</b> <span class="interval">[9,\xa011]</span> months')
    >>> linked("more tokens, fewer tokens").count("<a ")
    1
    """
    explained = set() if explained is None else explained
    interval = INTERVAL.search(text)
    if interval is None:
        return _terms(text, explained, page)
    middle, _, ends = interval[0].partition(" ")
    number = Markup('<b class="number">{}</b> <span class="interval">{}</span>').format(
        middle, ends.replace(" ", "\xa0")
    )
    return _terms(text[: interval.start()], explained, page) + number + _terms(text[interval.end() :], explained, page)


def used(texts, unexplained=()):
    """Return the terms that `linked` links in some texts, in order, but for names that mean something else there."""
    explained = {*unexplained}
    for text in texts:
        linked(text, explained)
    return tuple(term for term in TERMS if term.name in explained - {*unexplained})


def names_among(words):
    """Return the names of terms that are among words, such as columns of a table of the user.

    Examples
    --------
    >>> names_among(["loss", "n_images"])
    ('loss',)
    """
    return tuple(term.name for term in TERMS if any(re.fullmatch(term.words, word) for word in words))


def _terms(text, explained, page):
    parts, last = [], 0
    for match in PATTERN.finditer(text):
        term = TERMS[int(match.lastgroup[1:])]
        if term.name in explained:
            continue
        explained.add(term.name)
        link = Markup('<a class="term" href="{}#{}" title="{}">{}</a>').format(
            page, term.anchor, term.meaning, match[0]
        )
        parts += [escape(text[last : match.start()]), link]
        last = match.end()
    return Markup("").join([*parts, escape(text[last:])])

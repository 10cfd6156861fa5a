"""The terms of a first screen, each explained where it stands and in the glossary of the page."""

import re
from dataclasses import dataclass

from markupsafe import Markup, escape

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


TERMS = (
    Term(
        "interval",
        "Numbers in brackets are the central 95% of the posterior. Where the rows reject the law, the interval is "
        "widened to what the rows show. Beyond the largest run it also holds the drift of laws.",
        "intervals?",
    ),
    Term("FLOP", "Floating-point operations of training: 6 for each parameter and training token.", "FLOP|budget"),
    Term(
        "parameters",
        "Weights of the model, embeddings included unless stated. k, M, B and T are thousands, millions, billions and "
        "trillions.",
        "parameters|best size",
    ),
    Term("tokens", "Units of the training text.", "tokens"),
    Term("loss", "Cross-entropy of the model on held-out text, in nats per token; less is better.", "loss"),
    Term("ceilings", "The highest mean score that each benchmark allows, below 1.", "ceilings"),
    Term("irreducible loss", "The loss that no model size and no amount of data reaches.", "irreducible loss|floor"),
    Term(
        "law",
        "A model of the table: mean, noise and priors. The coupled law joins the terms of Chinchilla's law by an outer "
        "exponent. The offsets law counts sizes and tokens from other zeros.",
        r"(?:coupled|offsets|Chinchilla) law|laws?",
    ),
    Term(
        "predict as well",
        "Within two standard errors, or 4 nats, of the best law in expected log predictive density (elpd) of rows that "
        "were left out of the fit.",
        "predicts?(?: about)? as well",
    ),
    Term(
        "largest run",
        "The run of most training FLOP in the table. Numbers beyond it are extrapolations.",
        "largest run|larger runs",
    ),
    Term(
        "exponent of the best size",
        "The power of compute with which the best number of parameters grows.",
        "exponent",
    ),
    Term(
        "without embeddings",
        "Parameters counted without the rows of the vocabulary's embedding.",
        "without embeddings",
    ),
    Term("logits", "Units of capability: 1 logit multiplies the odds of a right answer by 2.7.", "logits"),
    Term(
        "fixed compute",
        "Models of the same training FLOP are compared, so that growth of compute does not count.",
        "fixed(?: training)? compute",
    ),
    Term("Abacus", "Embeddings of digit positions by McLeish et al. (2024).", "Abacus"),
    Term(
        "ways of training",
        "One learning rate for all sizes; the best rate of each; the best rate, lowered to one budget or to six.",
        "ways of training",
    ),
    Term("probability", "The share of posterior draws for which a statement holds.", "[Pp]robability"),
    Term("never", "The growth rate at that end of the interval is zero or less.", "never"),
    Term(
        "strength",
        "Strong, fair or weak: the worst grade of seven facts, from convergence to extrapolation.",
        "strong|fair|weak",
    ),
)
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


def used(texts):
    """Return the terms that `linked` links in some texts, in order."""
    explained = set()
    for text in texts:
        linked(text, explained)
    return tuple(term for term in TERMS if term.name in explained)


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

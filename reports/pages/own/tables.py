"""The page of a table of any kind but runs: the answers, the figure and the tables of the record of the kind."""

import math
import re
from contextlib import suppress

from .... import plots
from ....datasets import KINDS
from ....datasets.printed import as_sentence
from ....datasets.wording import plural, printable
from ....errors import InputError
from ....inference.checks.verdict import NOT
from ....inference.fitted import record_of
from ....inference.words import HIGH, LOW, MIDDLE, probability
from ...html import tables
from ..front.answers import ratio, width

STEPS = []
MOST = 4  # cards
CITED = re.compile(r" \(\{of\}[^)]*\)|, \{of\}")  # what a sentence to quote is of, which the title of the page names


def ask(kind):
    """Return the question that the page answers."""
    return f"What do these {kind} show?"


def make_entry(fit):
    """Return what the entry of a law has here: its ``answers`` by label, and the rows of its ``tables`` by name."""
    record = record_of(fit)
    entry = {"answers": {one.label: one.value for one in record.answers(fit)}, "tables": {}}
    for name in record.tables:
        with suppress(InputError):  # such as dates that a law without a trend does not reach
            entry["tables"][name] = record.table(name)(fit).document()["rows"]
    return entry


def decide(fits, laws):
    """Return no decisions: laws of other tables have no budget."""
    return {}


def first_screen(custom, stage):
    """Answer by the sentences of the fit that may be quoted, and draw the figure of the kind, or else ranks."""
    record = record_of(custom.fit)
    answers = list(record.answers(custom.fit))
    quoted = sorted((one for one in answers if one.template), key=lambda one: not one.facts) or answers[:1]
    custom.document["answers"] = [_card(custom, one, answers) for one in quoted[:MOST]]
    figures = [getattr(plots, f"plot_{name}") for name in (record.figure, "ranks" if record.ranked_by else "") if name]
    return [next(filter(None, map(custom.draw, figures)), None)]


def _card(custom, one, answers):
    laws = [custom.document["laws"][name]["answers"] for name in (custom.best, *custom.rivals)]
    medians = [law[one.label][MIDDLE] for law in laws[1:] if one.label in law]
    chances = [law[of.label] for of in answers if of.form is probability for law in laws if of.label in law]
    forms, facts = _other_forms(custom.fit)
    if one.template:
        q = one.value
        rises = q[MIDDLE] is None or q[MIDDLE] > 0
        facts = {"sensitivity": ratio([q[MIDDLE], *medians])} | facts
        facts["width"] = width(q if rises else {LOW: -q[HIGH], HIGH: -q[LOW]})
        facts["direction"] = (min(chances), max(chances)) if chances else None
        facts |= one.facts
    text = one.form(one.value)
    label = printable(one.label)
    named = one.facts or " " not in label  # by the names of the table: a stays a, and is not A
    question = label if named else as_sentence(label).removesuffix(".")
    sentence = CITED.sub("", one.template).format(x=text, rivals="") or f"{question}: {text}."
    ends = dict.fromkeys(f"{x:.3g}" for x in (min(medians), max(medians))) if medians and None not in medians else {}
    others = [f"other laws: {' to '.join(ends)}"] if ends else []
    count = plural(len(custom.fit.rows), KINDS[custom.fit.law.kind].dimension)
    texts = {
        "question": question,
        "answer": printable(sentence),
        "number": text,
        "doubt": as_sentence("; ".join([count, *others, *filter(None, [forms])])),
    }
    return custom.answer(texts, facts)


def _other_forms(fit):
    """Return a sentence on other forms of the law that predict as well, and the facts that follow from them."""
    record = record_of(fit)
    if record.rival_forms is None:
        return "", {}
    forms, log = record.table("by_form")(fit), fit.law.linear_unit is None
    beaten = not forms["rival"][fit.law.trend]
    rivals = forms[forms["rival"] & forms["ok"]].drop(index=fit.law.trend, errors="ignore")
    rates = [math.log(x) if log else x for x in (forms[MIDDLE][fit.law.trend], *rivals[MIDDLE])]
    apart = ratio(map(abs, rates)) if min(rates) * max(rates) > 0 else math.inf
    return record.rival_forms(fit), {"sensitivity": apart} | ({"verdict": NOT} if beaten else {})


def sections(custom):
    """Return the sections of the page."""
    record, laws = record_of(custom.fit), custom.document["laws"]
    forms = {one.label: one.form for one in record.answers(custom.fit)}
    rows = [
        {"quantity": label} | {name: form(of["answers"][label]) for name, of in laws.items() if label in of["answers"]}
        for label, form in forms.items()
    ]
    blocks = {
        "answers": tables.html(rows, note="Medians and 95% intervals.", fits=custom.best),
        "tables": [tables.of_answer(record.table(name)(custom.fit)) for name in custom.entry["tables"]],
    }
    return custom.sections("tables.md.jinja", blocks)

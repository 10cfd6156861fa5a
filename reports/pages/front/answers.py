"""The questions of a report and their answers, as data: the page, the terminal and results.json show the same."""

import math
import textwrap
from dataclasses import asdict, dataclass

from ....inference.estimands.strength import (
    STRONG,
    WEAK,
    Facts,
    grade_of_direction,
    grades,
    reasons,
    strength,
    times_outside,
)
from ....inference.estimands.study_exponents import KAPLAN_EXPONENT
from ....inference.words import (
    HIGH,
    LOW,
    MIDDLE,
    digits,
    month,
    position,
)
from ...drawing import optimum
from ...html import prose
from ...laws import DEFAULT

COLUMNS = 80
WORDS = {
    "digits": digits,
    "position": position,
    "times_outside": times_outside,
    "KAPLAN_EXPONENT": KAPLAN_EXPONENT,
}


@dataclass(frozen=True)
class Answer:
    """One answer.

    Attributes
    ----------
    page : str
        Name of the page that says more.
    question, answer : str
        The answer in a sentence of its own.
    number : str
        The number with its interval, what it is of, and the rivals that predict as well.
    moves : str
        What else the data allow, and what would move the number.
    facts : Facts
        What the answer's strength follows from, by `strength`.
    rests_on : tuple of str
        Names of the fits that the number is of.
    """

    page: str
    question: str
    answer: str
    number: str
    moves: str
    facts: Facts
    rests_on: tuple


def answers(document):
    """Answer the questions whose pages were made.

    Parameters
    ----------
    document : dict
        The content of results.json.

    Returns
    -------
    list of dict
        As `Answer`, with ``facts`` as a dict, its ``grades``, the ``strength`` and ``because``, why it is not stronger.
    """
    made = {page: make(document) for key, (page, make) in ANSWERED.items() if key in document}
    if not made:
        return []
    named = {page.replace("-", "_"): names for page, (_, _, names) in made.items()}
    texts = prose.sections(__file__, {}, template="answers.md.jinja", **named, **WORDS)
    return [
        _graded(Answer(page, text["title"], *text["text"], facts, rests_on), document["diagnostics"])
        for (page, (facts, rests_on, _)), text in zip(made.items(), texts, strict=True)
    ]


def _graded(answer, diagnostics):
    """Grade an answer by the one rule of `strength`; its chains are those of all fits that it depends on."""
    facts = answer.facts._replace(chains=all(diagnostics[name]["ok"] for name in answer.rests_on))
    finite = {name: None if isinstance(x, float) and math.isinf(x) else x for name, x in facts._asdict().items()}
    why = "; ".join(reasons(facts)) or "nothing"
    return asdict(answer) | {
        "facts": finite,
        "grades": grades(facts),
        "strength": strength(facts),
        "because": why,
    }


def lines(document):
    """Write the answers for a terminal, within 80 columns."""
    indented = {"width": COLUMNS, "initial_indent": "  ", "subsequent_indent": "  ", "break_on_hyphens": False}
    return [
        line
        for each in document.get("answers", ())
        for line in (
            each["question"],
            *textwrap.wrap(each["answer"], **indented),
            *textwrap.wrap(f"{each['number']} Strength: {each['strength']}.", **indented),
        )
    ]


def _width(q):
    """Ratio of the ends of an interval; infinite where it has no finite positive ends."""
    low, high = q[LOW], q[HIGH]
    return high / low if low is not None and high is not None and low > 0 else math.inf


def _ratio(medians):
    """Ratio of the largest to the smallest of medians, None of one alone."""
    known = [x for x in medians if x is not None]
    return max(known) / min(known) if len(known) > 1 else None


def _of_law(verdict):
    return {key: verdict[key] for key in ("verdict", "p", "size")}


def _progress(document):
    gain = document["compute_equivalent_gain"]
    quoted = gain["quoted"]
    q, rivals = quoted["doubling_months"], quoted["rivals"].values()
    medians = [each["doubling_months"][MIDDLE] for each in rivals]
    sure = [quoted["p_progress"], *(each["p_progress"] for each in rivals)]
    facts = Facts(
        chains=True,
        width=_width(q),
        sensitivity=_ratio([q[MIDDLE], *medians]),
        decades=0.0,
        direction=(min(sure), max(sure)),
        **_of_law(quoted["verdict"]),
    )
    far = document["pooled_doubling_months"]["by_paper_stacking"]
    named = {"gain": gain, "far": far, "medians": [x for x in medians if x is not None]}
    return facts, (quoted["fit"],), named


def _since(document):
    entry = document["since"]
    gains, faster = entry["gains"], entry["p_faster"].values()
    ends = {"least": min(faster), "most": max(faster)}
    facts = Facts(
        chains=True,
        width=_width(gains["after"]),
        decades=0.0,
        direction=tuple(ends.values()),
        **_of_law(entry["laws"]["break"]["verdict"]),
    )
    named = {
        "gains": gains,
        "faster": ends,
        "analyses": len(faster),
        "sure": grade_of_direction(ends["least"]) != WEAK,
        "moment": month(entry["break_year"]),
        "factor": entry["periods"]["all"]["model"]["factor"],
    }
    return facts, ("since, linear", "since, break"), named


def _next_model(document):
    law, others = optimum.preferred(document), optimum.rivals(document)
    at = optimum.at_budget(document, optimum.BUDGET, law)
    rivals = {optimum.NAMES[name]: optimum.at_budget(document, optimum.BUDGET, name)["parameters"] for name in others}
    facts = Facts(
        chains=True,
        width=_width(at["parameters"]),
        sensitivity=_ratio([at["parameters"][MIDDLE], *(q[MIDDLE] for q in rivals.values())]),
        decades=at["extrapolation"],
        **_of_law(document["laws"][law]["verdict"]),
    )
    named = {"at": at, "rivals": rivals, "earlier": document["earlier_runs"], "law": optimum.NAMES[law]}
    named["beyond"] = times_outside(at["extrapolation"]) if at["extrapolation"] > 0 else "not above"
    return facts, (law, *others), named


def _embeddings(document):
    entry = document["reconciliation"]
    by_law, direction, decades = entry["by_law"], entry["direction"], entry["decades_beyond"]
    accepted = {name: by_law[name] for name in direction["laws"]}
    name = DEFAULT if DEFAULT in accepted else next(iter(accepted))
    without = {each: one["nonembedding"] for each, one in accepted.items()}
    sure = [each["p_rises"] for each in accepted.values()]
    facts = Facts(
        chains=True,
        width=_width(without[name]),
        sensitivity=_ratio([q[MIDDLE] for q in without.values()]),
        decades=decades,
        direction=(min(sure), max(sure)),
        **_of_law(accepted[name]["verdict"]),
    )
    named = {
        "rises": direction["rises"],
        "name": name,
        "counted": accepted[name]["total"],
        "without": without[name],
        "others": {other: q for other, q in without.items() if other != name},
        "medians": [each["nonembedding"][MIDDLE] for each in by_law.values()],
        "decades": decades,
    }
    return facts, tuple(each for each in accepted if each in document["diagnostics"]), named


def _arithmetic(document):
    entry = document["equal_cost"]
    further, abacus = entry["p_abacus_further"], entry["lengths"]["typical"]["abacus"]["0.5"]
    ends = (min(further.values()), max(further.values())) if further else (0.0, 1.0)
    named = {
        "abacus": abacus,
        "further": further,
        "sure": grade_of_direction(ends[0]) == STRONG,
        "trained": entry["train_digits"],
        "unable": [(name, share) for name, share in entry["confounded"].items() if share is not None],
    }
    return Facts(chains=True, width=_width(abacus), direction=ends), ("lengths, equal cost",), named


def _truth(document):
    entry = document["small_lm"]
    truth = entry["truth"]
    missed = {name: each["fitted"][MIDDLE] - each["known"] for name, each in truth.items() if not each["holds"]}
    named = {
        "truth": truth,
        "missed": missed,
        "coupled": sum(each["coupled"]["holds"] for each in truth.values()),
        "why_missed": entry["why_missed"],
    }
    facts = Facts(chains=True, direction=((len(truth) - len(missed)) / len(truth), 1.0))
    return facts, tuple(f"small models, {name}" for name in truth), named


# By the key of results.json that an answer is made of: the page that says more, and what gives the answer's facts, the
# names of the fits that it depends on, and what the template names.
ANSWERED = {
    "compute_equivalent_gain": ("progress", _progress),
    "since": ("since", _since),
    "allocation": ("chinchilla", _next_model),
    "reconciliation": ("embeddings", _embeddings),
    "equal_cost": ("arithmetic", _arithmetic),
    "small_lm": ("small-models", _truth),
}

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
    flop,
    month,
    months,
    plain,
    position,
    probability,
    size,
    sizes,
    yearly,
)
from ...drawing import optimum
from ...laws import DEFAULT

COLUMNS = 80


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
    made = [make(document) for key, make in ANSWERED.items() if key in document]
    return [_graded(answer, document["diagnostics"]) for answer in made]


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
    q, rivals = quoted["doubling_months"], quoted["rivals"]
    medians = [each["doubling_months"][MIDDLE] for each in rivals.values()]
    finite = [x for x in medians if x is not None]
    sure = [quoted["p_progress"], *(each["p_progress"] for each in rivals.values())]
    named = (
        f"{len(rivals)} others predict papers left out about as well; their medians are {min(finite):.1f} to "
        f"{max(finite):.1f} months"
        if finite
        else "no other predicts papers left out as well"
    )
    far = document["pooled_doubling_months"]["by_paper_stacking"]
    return Answer(
        page="progress",
        question="How fast do algorithms improve?",
        answer=f"The compute needed for a given loss halves every {q[MIDDLE]:.0f} months."
        if q[MIDDLE] is not None
        else "The evaluations do not show that algorithms improve.",
        number=f"{months(q)} months under specification {quoted['specification']}, over the {gain['rows']} evaluations "
        f"at their own sizes and dates; {named}.",
        moves="It is of algorithms alone; compute grows besides. At 1e25 FLOP in 2023, far from the evaluations, the "
        f"specifications mixed give {months(far)} months, which is not to be quoted.",
        facts=Facts(
            chains=True,
            width=_width(q),
            sensitivity=_ratio([q[MIDDLE], *medians]),
            decades=0.0,
            direction=(min(sure), max(sure)),
            **_of_law(quoted["verdict"]),
        ),
        rests_on=(quoted["fit"],),
    )


def _since(document):
    entry = document["since"]
    gains, faster, moment = entry["gains"], entry["p_faster"], month(entry["break_year"])
    least, most = min(faster.values()), max(faster.values())
    verdict = entry["laws"]["break"]["verdict"]
    one = entry["periods"]["all"]["model"]["factor"]
    return Answer(
        page="since",
        question="Did progress speed up after 2023?",
        answer="Probably: at fixed training compute, capabilities gain more a year since early 2024 than before."
        if grade_of_direction(least) != WEAK
        else "Not settled: some analyses show faster gains at fixed training compute since early 2024, others do not.",
        number=f"{plain(gains['before'], '{:.1f}')} logits a year until {moment}, {plain(gains['after'], '{:.1f}')} "
        f"since; P(faster) {_range(least, most)} over {len(faster)} analyses.",
        moves="Whether it changed at a date or gradually the scores do not say. Training by reinforcement and "
        f"distilled data are not counted. In compute for a given score that is {yearly(one)} at a constant rate.",
        facts=Facts(
            chains=True,
            width=_width(gains["after"]),
            decades=0.0,
            direction=(least, most),
            **_of_law(verdict),
        ),
        rests_on=("since, linear", "since, break"),
    )


def _range(least, most):
    low, high = probability(least), probability(most)
    return low if low == high else f"{low} to {high}"


def _next_model(document):
    law, others = optimum.preferred(document), optimum.rivals(document)
    at = optimum.at_budget(document, optimum.BUDGET, law)
    rivals = {name: optimum.at_budget(document, optimum.BUDGET, name)["parameters"] for name in others}
    verdict, earlier = document["laws"][law]["verdict"], document["earlier_runs"]
    known = " ".join(
        f"The {optimum.NAMES[name]} law, which predicts runs left out about as well, gives {sizes(q)}."
        for name, q in rivals.items()
    )
    before = ", ".join(size(each["parameters"][MIDDLE]) for each in earlier["earlier"])
    below = ", ".join(f"{each['below']:.0e}".replace("e+", "e") for each in earlier["earlier"])
    medians = [at["parameters"][MIDDLE], *(q[MIDDLE] for q in rivals.values())]
    return Answer(
        page="chinchilla",
        question="How big should the next model be?",
        answer=f"At {flop(at['compute'])}, about {size(at['parameters'][MIDDLE])} parameters on "
        f"{size(at['tokens'][MIDDLE])} tokens.",
        number=f"{sizes(at['parameters'])} parameters under the {optimum.NAMES[law]} law, {times_beyond(at)} the "
        f"largest run. {known}".strip(),
        moves=f"Sizes of {size(at['near_low'])} to {size(at['near_high'])} lose less than "
        f"{at['near_optimal']:.1%} of the loss. From runs below {below} FLOP it was {before} at "
        f"{flop(earlier['compute'])}; all runs give {size(earlier['all']['parameters'][MIDDLE])}.",
        facts=Facts(
            chains=True,
            width=_width(at["parameters"]),
            sensitivity=_ratio(medians),
            decades=at["extrapolation"],
            **_of_law(verdict),
        ),
        rests_on=(law, *others),
    )


def times_beyond(at):
    """Say how many times as large as the largest run a budget is."""
    return times_outside(at["extrapolation"]) if at["extrapolation"] > 0 else "not above"


def _embeddings(document):
    entry = document["reconciliation"]
    by_law, direction = entry["by_law"], entry["direction"]
    accepted = {name: by_law[name] for name in direction["laws"]}
    name = DEFAULT if DEFAULT in accepted else next(iter(accepted))
    without, counted = (accepted[name][basis] for basis in ("nonembedding", "total"))
    medians = [each["nonembedding"][MIDDLE] for each in accepted.values()]
    others = "; ".join(
        f"the {other} law, which predicts about as well, {plain(each['nonembedding'], '{:.2f}')}"
        for other, each in accepted.items()
        if other != name
    )
    spread = [each["nonembedding"][MIDDLE] for each in by_law.values()]
    sure = [each["p_rises"] for each in accepted.values()]
    beyond = entry["decades_beyond"]
    return Answer(
        page="embeddings",
        question="Do embeddings explain Kaplan against Chinchilla?",
        answer="In direction, yes: counting parameters without embeddings lifts the exponent of the optimal size."
        if direction["rises"]
        else "Not settled: not every law that the runs allow says so.",
        number=f"From {plain(counted, '{:.2f}')} to {plain(without, '{:.2f}')} under the {name} law"
        f"{'; ' + others if others else ''}. Kaplan et al. had {KAPLAN_EXPONENT}.",
        moves=f"By law and noise {min(spread):.2f} to {max(spread):.2f}. The sizes that Kaplan et al. studied begin "
        f"{times_outside(beyond)} {'above the largest' if beyond > 0 else 'below the smallest'} run in compute.",
        facts=Facts(
            chains=True,
            width=_width(without),
            sensitivity=_ratio(medians),
            decades=beyond,
            direction=(min(sure), max(sure)),
            **_of_law(document["laws"][name]["verdict"]),
        ),
        rests_on=tuple(each for each in accepted if each in document["diagnostics"]),
    )


def _arithmetic(document):
    entry = document["equal_cost"]
    typical = {name: of["0.5"] for name, of in entry["lengths"]["typical"].items()}
    further, trained = entry["p_abacus_further"], entry["train_digits"]
    abacus = typical["abacus"]
    sure = bool(further) and grade_of_direction(min(further.values())) == STRONG
    unable = ", ".join(
        f"{position(name)} {share:.0%}" for name, share in entry["confounded"].items() if share is not None
    )
    return Answer(
        page="arithmetic",
        question="Do Abacus embeddings generalise in length?",
        answer="Yes, in small models: further than every rival that learned to add."
        if sure
        else "Not settled at this scale.",
        number=f"Abacus has half of the sums right at {digits(abacus)} digits, after training on up to {trained}.",
        moves=f"At equal cost its rivals did not learn to add within the training lengths ({unable} right)."
        if not further
        else f"P(Abacus goes further than a rival that learned) is {_at_least(min(further.values()))}.",
        facts=Facts(
            chains=True,
            width=_width(abacus),
            direction=(min(further.values()), max(further.values())) if further else (0.0, 1.0),
        ),
        rests_on=("lengths, equal cost",),
    )


def _at_least(p):
    said = probability(p)
    return said if said[0] in "<>" else f"at least {said}"


def _truth(document):
    entry = document["small_lm"]
    truth = entry["truth"]
    held = [name for name, each in truth.items() if each["holds"]]
    missed = {name: each for name, each in truth.items() if not each["holds"]}
    coupled = sum(each["coupled"]["holds"] for each in truth.values())
    off = ", ".join(f"{_from_known(each)} ({name.replace('-', ' ')})" for name, each in missed.items())
    return Answer(
        page="small-models",
        question="Do these methods find what is known?",
        answer=f"The Chinchilla law finds the known floor of the loss in {len(held)} of {len(truth)} sets of runs, the "
        f"coupled law in {coupled}.",
        number=f"Where it is missed the median of E is {off}." if missed else "It is missed in none.",
        moves=entry["why_missed"] or "Read this before you trust the other answers.",
        facts=Facts(chains=True, direction=(len(held) / len(truth), 1.0)),
        rests_on=tuple(f"small models, {name}" for name in truth),
    )


def _from_known(each):
    """Write how far a fitted floor lies from the known one, without a sign."""
    difference = each["fitted"][MIDDLE] - each["known"]
    return f"{abs(difference):.2f} nats too {'low' if difference < 0 else 'high'}"


ANSWERED = {
    "compute_equivalent_gain": _progress,
    "since": _since,
    "allocation": _next_model,
    "reconciliation": _embeddings,
    "equal_cost": _arithmetic,
    "small_lm": _truth,
}

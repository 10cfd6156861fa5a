"""The questions of a report and their answers, as data: the page, the terminal and results.json show the same."""

import textwrap
from dataclasses import asdict, dataclass, replace

from ...inference.quantities.reconciliation import KAPLAN_EXPONENT
from ..drawing import optimum
from ..drawing.words import (
    HIGH,
    LOW,
    MIDDLE,
    NOISES,
    digits,
    factor,
    flop,
    in_words,
    month,
    months,
    plain,
    position,
    probability,
    size,
    sizes,
)

STRONG, FAIR, WEAK = "strong", "fair", "weak"
WEAKER = {STRONG: FAIR, FAIR: WEAK, WEAK: WEAK}
SURE = 0.975  # posterior probability from which a direction is taken as known
TENFOLD = 10  # the ratio of the ends of an interval from which a factor is hardly known
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
        The number with its interval, and what it is of.
    moves : str
        What else the data allow, and what would move the number.
    strength : str
        strong, fair or weak.
    because : str
        Why not stronger.
    rests_on : tuple of str
        Names of the fits that the number is of.
    """

    page: str
    question: str
    answer: str
    number: str
    moves: str
    strength: str
    because: str
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
        As `Answer`.
    """
    made = [make(document) for key, make in ANSWERED.items() if key in document]
    return [asdict(_judged(answer, document["diagnostics"])) for answer in made]


def _judged(answer, diagnostics):
    """Make an answer weaker where a fit that it rests on is not to be trusted."""
    bad = [name for name in answer.rests_on if not diagnostics[name]["ok"]]
    if not bad:
        return answer
    said = f"the fit {bad[0]!r} is" if len(bad) == 1 else f"{len(bad)} of {len(answer.rests_on)} fits are"
    because = f"{answer.because}; {said} not to be trusted"
    return replace(answer, strength=WEAKER[answer.strength], because=because)


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


def _progress(document):
    gain = document["compute_equivalent_gain"]
    q = gain["doubling_months"]
    own = {name: other for name, other in gain["by_noise"].items() if name != gain["noise"]}
    medians = _medians(document, gain["noise"])
    far = document["pooled_doubling_months"]["by_paper_stacking"]
    others = "; ".join(f"{NOISES[name]} {months(other)}" for name, other in own.items())
    known = q[HIGH] is not None
    low, high = min(medians.values()), max(medians.values())
    return Answer(
        page="progress",
        question="How fast do algorithms improve?",
        answer=f"The compute needed for a given loss halves every {q[MIDDLE]:.0f} months."
        if q[MIDDLE] is not None
        else "The evaluations do not show that algorithms improve.",
        number=f"{months(q)} months, over the {gain['rows']} evaluations at their own sizes and dates.",
        moves=f"{others[:1].upper()}{others[1:]}. Specifications one by one have medians of {low:.1f} to {high:.1f}. "
        f"Far beyond the data, at 1e25 FLOP in 2023, the mixture says {months(far)}.",
        strength=(STRONG if high / low < 1.2 else FAIR) if known else WEAK,
        because="that there is progress is sure, its pace hangs on the specification" if known else "it may be none",
        rests_on=tuple(f"progress-{k}{', paper effects' if gain['noise'] == 'paper effects' else ''}" for k in medians),
    )


def _medians(document, noise):
    """Medians by specification with progress, under the noise that the mixture has."""
    effects = noise == "paper effects"
    found = {
        k: document["paper_effects"][k]["doubling_months"]
        if effects
        else entry["compute_equivalent_gain"]["all"]["doubling_months"]
        for k, entry in document["progress"].items()
        if "compute_equivalent_gain" in entry
    }
    return {k: q[MIDDLE] for k, q in found.items() if q[MIDDLE] is not None}


def _since(document):
    entry = document["since"]
    before, after, change, one = (entry["periods"][name]["model"] for name in ("before", "after", "change", "all"))
    moment, p, points = month(entry["break_year"]), change["p_progress"], entry["least_squares"]
    verdict = entry["laws"]["break"]["verdict"]
    wide = max(each["factor"][HIGH] / each["factor"][LOW] for each in (before, after))
    return Answer(
        page="since",
        question="How fast since 2023?",
        answer=f"At fixed training compute, models get better faster since {moment} than before."
        if p > SURE
        else f"At fixed training compute, models may or may not get better faster since {moment}.",
        number=f"The compute of a given capability fell {factor(before['factor'])} times a year to {moment}, "
        f"{factor(after['factor'])} times a year since; P(faster) {probability(p)}.",
        moves=f"One pace throughout reads {factor(one['factor'])}. By what compute buys alone, published estimators "
        f"say {points['two stages']['factor']:.1f} and {points['one regression']['factor']:.0f} of one table. "
        "Compute of reinforcement learning is not counted.",
        strength=WEAK if verdict["verdict"] == "does not fit" or wide > TENFOLD else FAIR,
        because=f"rates hang on what compute buys; {in_words(verdict['sentence'])}",
        rests_on=("since, linear", "since, break"),
    )


def _next_model(document):
    law = optimum.preferred(document)
    at = optimum.at_budget(document, optimum.BUDGET, law)
    beside = "; ".join(
        f"{optimum.NAMES[name]} law {sizes(optimum.at_budget(document, optimum.BUDGET, name)['parameters'])} "
        f"({optimum.behind(document, name)})"
        for name in optimum.planned(document)
        if name != law
    )
    verdict = document["laws"][law]["verdict"]
    beyond = at["extrapolation"]
    return Answer(
        page="chinchilla",
        question="How big should the next model be?",
        answer=f"At {flop(at['compute'])}, {size(at['parameters'][MIDDLE])} parameters on {size(at['tokens'][MIDDLE])} "
        "tokens.",
        number=f"N* {sizes(at['parameters'])}, D* {sizes(at['tokens'])}, "
        f"{plain(at['tokens_per_parameter'], '{:.0f}')} tokens a parameter, under the {optimum.NAMES[law]} law, which "
        "predicts best.",
        moves=f"At the same budget: {beside}.",
        strength=WEAK if beyond > 1 or verdict["verdict"] == "does not fit" else FAIR if beyond > 0 else STRONG,
        because=f"{beyond:.1f} decades beyond the largest run; {in_words(verdict['sentence'])}",
        rests_on=(law,),
    )


def _embeddings(document):
    entry = document["reconciliation"]
    without, counted = (entry["local_exponent"][basis]["posterior"] for basis in ("nonembedding", "total"))
    p, omega, moved = entry["p_exponent_above_0.73"], entry["omega"], entry["moved"]
    rises = without[LOW] > counted[HIGH]
    change = f"{counted[MIDDLE]:.2f} becomes {without[MIDDLE]:.2f}"
    said = "more than enough" if p > SURE else "not enough" if p < 1 - SURE else "by enough"
    medians = [q[MIDDLE] for q in moved.values()]
    return Answer(
        page="embeddings",
        question="Do embeddings reconcile Kaplan and Chinchilla?",
        answer=f"Yes in direction, {'but' if p < 1 - SURE else 'and'} {said}: {change}."
        if rises
        else f"Not surely: {change}.",
        number=f"Exponent of N* {plain(without)} with embeddings left out, {plain(counted)} with all parameters; "
        f"Kaplan et al. had {KAPLAN_EXPONENT}.",
        moves=f"By sizes, vocabulary and shape {min(medians):.2f} to {max(medians):.2f}. An embedding parameter "
        f"counts {plain(omega['omega'], '{:.2f}')} of another, P(> ½) {probability(omega['p_above_half'])}.",
        strength=(STRONG if max(medians) - min(medians) < 0.05 else FAIR) if rises else WEAK,
        because="its direction is sure, its size hangs on the sizes studied and the vocabulary",
        rests_on=("embedding-corrected", "embedding-weighted"),
    )


def _arithmetic(document):
    entry = document["equal_cost"]
    typical = {name: of["0.5"] for name, of in entry["lengths"]["typical"].items()}
    abacus, trained = typical["abacus"], entry["train_digits"]
    others = {name: q for name, q in typical.items() if not name.startswith("abacus")}
    further = entry["p_abacus_further"]
    sure = min(further.values()) > SURE
    longer = abacus[LOW] is not None and abacus[LOW] > trained
    reach = "; ".join(f"{position(name)} {digits(q)}" for name, q in others.items())
    return Answer(
        page="arithmetic",
        question="Do Abacus embeddings generalise in length?",
        answer=f"Yes, in small models: to {abacus[MIDDLE] / trained:.1f} times the lengths of training."
        if longer
        else "Not that these small models show.",
        number=f"{digits(abacus)} digits at which half of the sums are right, after training on up to {trained}.",
        moves=f"At equal cost {reach} digits. P(Abacus goes further) {_at_least(min(further.values()))}. "
        "Nothing is said of large models.",
        strength=FAIR if longer and sure else WEAK,
        because="four seeds of small models, trained for minutes",
        rests_on=("lengths, equal cost",),
    )


def _at_least(p):
    said = probability(p)
    return said if said[0] in "<>" else f"≥ {said}"


ANSWERED = {
    "compute_equivalent_gain": _progress,
    "since": _since,
    "allocation": _next_model,
    "reconciliation": _embeddings,
    "equal_cost": _arithmetic,
}

"""What of a report can be quoted unchanged, and what cannot."""

from ....inference.words import MIDDLE, flop, months, plain, size
from ...drawing import optimum


def quotable(document):
    """Return sentences that carry all that a reader needs to repeat them."""
    sentences = [f"{each['answer']} {each['number']}" for each in document["answers"] if each["strength"] != "weak"]
    if "allocation" in document:
        law = optimum.preferred(document)
        a = document["laws"][law]["parameters"]["exponent_parameters"]
        others = [
            f"{optimum.NAMES[name]} {plain(document['laws'][name]['parameters']['exponent_parameters'])}"
            for name in optimum.rivals(document)
        ]
        known = f"; laws that predict about as well: {', '.join(others)}" if others else ""
        sentences.append(
            f"Compute-optimal parameters grow as compute to the power {plain(a)} (all parameters, "
            f"{optimum.NAMES[law]} law{known})."
        )
    return sentences


def not_quotable(document):
    """Return sentences on what is not to be repeated, and why."""
    sentences = [
        f"{each['question']} {each['answer']} It is weak: {each['because']}."
        for each in document["answers"]
        if each["strength"] == "weak"
    ]
    if "pooled_doubling_months" in document:
        far = document["pooled_doubling_months"]["by_paper_stacking"]
        sentences.append(
            f"A doubling time at 1e25 FLOP in 2023 ({months(far)} months mixed) without its specification, budget and "
            "date: there specifications differ."
        )
    if "allocation" in document:
        largest, last = optimum.largest_run(document), optimum.budgets(document, optimum.preferred(document))[-2]
        each = [
            optimum.at_budget(document, last["compute"], name)["parameters"][MIDDLE]
            for name in optimum.planned(document)
        ]
        sentences.append(
            f"One N* far beyond the largest run ({flop(largest)}): at {flop(last['compute'])} medians of the laws are "
            f"{size(min(each))} to {size(max(each))}."
        )
    if "equal_cost" in document:
        sentences.append("Digits of the small arithmetic models as if of large ones.")
    return sentences


def reading():
    """How the page is to be read."""
    return (
        "A number in brackets is an equal-tailed 95% interval of the posterior: 95 of 100 draws lie in it. Where the "
        "rows reject the law it is robust: as wide as the rows show, whatever the law. Beyond the largest run it "
        "carries the drift: how far laws missed later runs of ten public tables. Never: at that end of the interval "
        "there is no progress. P: posterior probability. elpd: how well a law predicts what it was not fitted to, in "
        "nats; more is better. Decades beyond: powers of ten above the largest run. Holds: the published estimate lies "
        "within our interval. Two marks stand after a fit: of its sampling, then of the fit of its law (● no "
        "fault, ▲ a fault, ○ not tested). Strength: strong, fair or weak, the worst grade of six facts, and why."
    )
